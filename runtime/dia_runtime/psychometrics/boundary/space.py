"""The possible instances of a template: levels of ordered parameters, and a set of skills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A parameter with levels of increasing difficulty, from 0 to `size` - 1; a search begins at `start`."""

    name: str
    size: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class Skill:
    """Something that an instance may require; an instance requires at most one skill of each `group`."""

    name: str
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A level of each dimension, and the numbers of the skills in ascending order."""

    levels: tuple[int, ...]
    skills: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Space:
    """All cells: levels of the dimensions, and from `fewest` to `most` of the skills."""

    dimensions: tuple[Dimension, ...]
    skills: tuple[Skill, ...] = ()
    fewest: int = 0
    most: int = 0

    @property
    def is_fixed(self) -> bool:
        """Return whether there is only one cell."""
        return all(dimension.size < 2 for dimension in self.dimensions) and (not self.skills or self.most < 1)

    def contains(self, cell: Cell) -> bool:
        if len(cell.levels) != len(self.dimensions) or not self.allows(cell.skills):
            return False
        return all(0 <= level < dimension.size for level, dimension in zip(cell.levels, self.dimensions, strict=True))

    def allows(self, skills: Sequence[int]) -> bool:
        """Return whether an instance can require these skills together."""
        groups = [self.skills[at].group for at in skills if self.skills[at].group is not None]
        return self.fewest <= len(skills) <= self.most and len(set(groups)) == len(groups)

    def draw(self, generator: np.random.Generator) -> Cell:
        """Return a random cell: all levels, and all numbers of skills, are equally likely."""
        levels = tuple(int(generator.integers(dimension.size)) for dimension in self.dimensions)
        return Cell(levels, self.draw_skills(generator, int(generator.integers(self.fewest, self.most + 1))))

    def draw_skills(self, generator: np.random.Generator, number: int) -> tuple[int, ...]:
        """Draw this many compatible skills; fewer if their groups do not allow more."""
        return self.fill_up((), generator.permutation(len(self.skills)).tolist(), number)

    def fill_up(self, skills: Sequence[int], candidates: Sequence[int], number: int) -> tuple[int, ...]:
        """Return the skills plus the first others that can be added, up to a total number."""
        chosen = list(skills)
        groups = {self.skills[at].group for at in chosen} - {None}
        for at in candidates:
            group = self.skills[at].group
            if len(chosen) < number and at not in chosen and (group is None or group not in groups):
                chosen.append(at)
                groups |= set() if group is None else {group}
        return tuple(sorted(chosen))

    def end(self, is_hardest: bool, weights: Sequence[float] = ()) -> Cell:
        """Return the hardest or the easiest cell; `weights` has the difficulty of each skill."""
        order = sorted(range(len(self.skills)), key=lambda at: -weights[at] if len(weights) else 0.0)
        number = self.most if is_hardest else self.fewest
        levels = tuple(dimension.size - 1 if is_hardest else 0 for dimension in self.dimensions)
        return Cell(levels, self.fill_up((), order if is_hardest else order[::-1], number))

    def is_end(self, cell: Cell, is_hardest: bool) -> bool:
        """Return whether all levels are the last (or first), and there are as many (or few) skills as possible."""
        ends = tuple(dimension.size - 1 if is_hardest else 0 for dimension in self.dimensions)
        return cell.levels == ends and len(cell.skills) == (self.most if is_hardest else self.fewest)

    def begin(self) -> Cell:
        """Return the cell where a search begins: at the start of each dimension, with half of the skills."""
        levels = tuple(dimension.start for dimension in self.dimensions)
        return Cell(levels, self.fill_up((), range(len(self.skills)), (self.fewest + self.most) // 2))

    def steps(self, cell: Cell, is_harder: bool) -> Iterator[Cell]:
        """Yield the cells that differ in one level or one skill and should be harder (or easier)."""
        direction = 1 if is_harder else -1
        for at, (level, dimension) in enumerate(zip(cell.levels, self.dimensions, strict=True)):
            for length in (1, 2, 4, 8):
                if 0 <= level + direction * length < dimension.size:
                    yield replace(cell, levels=(*cell.levels[:at], level + direction * length, *cell.levels[at + 1 :]))
        for at in range(len(self.skills)):
            skills = tuple(dimension for dimension in cell.skills if dimension != at)
            moved = tuple(sorted((*skills, at))) if is_harder else skills
            if (at in cell.skills) != is_harder and self.allows(moved):
                yield replace(cell, skills=moved)

    def between(self, first: Cell, second: Cell) -> Cell | None:
        """Return the cell halfway from one to the other; None if they are neighbours."""
        levels = tuple((a + b) // 2 for a, b in zip(first.levels, second.levels, strict=True))
        shared = [at for at in first.skills if at in second.skills]
        apart = sorted({*first.skills, *second.skills} - set(shared))
        number = min(max((len(first.skills) + len(second.skills)) // 2, self.fewest), self.most)
        cell = Cell(levels, self.fill_up(shared, apart, number))
        return cell if cell not in (first, second) and self.contains(cell) else None

    def features(self, cells: Sequence[Cell]) -> Features:
        """Return the cells as features: dimensions from -1 to 1, skills 0 or 1."""
        table = np.zeros((len(cells), len(self.dimensions) + len(self.skills)))
        for row, cell in enumerate(cells):
            for at, (level, dimension) in enumerate(zip(cell.levels, self.dimensions, strict=True)):
                table[row, at] = 2 * level / (dimension.size - 1) - 1 if dimension.size > 1 else 0.0
            table[row, [len(self.dimensions) + at for at in cell.skills]] = 1.0
        return table
