"""How the edges of a graph are drawn: by number, by probability, as a tree, or around a spanning tree."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, permutations

from dia_compiler.types.base import VAST, Choose
from dia_compiler.types.connected import Pair, tree_of
from dia_compiler.types.ranks import capped_choices, drawn_apart, drawn_places


@lru_cache(maxsize=64)
def pairs_of(size: int, is_directed: bool, parts: tuple[int, ...]) -> tuple[Pair, ...]:
    """Return all pairs of nodes that an edge can join, ascending; with parts, only pairs from different parts."""
    pairs = permutations(range(size), 2) if is_directed else combinations(range(size), 2)
    if not parts:
        return tuple(pairs)
    part = [number for number, length in enumerate(parts) for _ in range(length)]
    return tuple((a, b) for a, b in pairs if part[a] != part[b])


class Edges:
    """How the edges of a graph are drawn: a subset of the pairs, as ascending numbers."""

    is_counted = True

    def __init__(self, pairs: int, low: int, high: int) -> None:
        self.pairs, self.low, self.high = pairs, low, high

    def draw(self, choose: Choose) -> list[int]:
        """Draw the number of edges, then which pairs."""
        return drawn_places(choose, self.pairs, choose.between(self.low, self.high))

    def number(self, length: int) -> int:
        """Return the number of ways to choose this many edges."""
        return capped_choices(self.pairs, length)

    def usual(self) -> int:
        """Return the smallest number of edges, or, if edges are random, their mean number."""
        return self.low


class ChanceEdges(Edges):
    """Each pair is an edge with the same probability; for 1/2, a single choice among all sets of edges."""

    def __init__(self, pairs: int, chance: Fraction) -> None:
        super().__init__(pairs, 0, pairs)
        self.weights = (chance.denominator - chance.numerator, chance.numerator)

    def draw(self, choose: Choose) -> list[int]:
        if self.weights == (1, 1):
            number = choose.below(1 << self.pairs)
            return [place for place in range(self.pairs) if number >> place & 1]
        if self.is_vast:
            choose.vast()
        return [place for place in range(self.pairs) if choose.weighted(self.weights)]

    def usual(self) -> int:
        return self.pairs * self.weights[1] // sum(self.weights)

    @cached_property
    def is_vast(self) -> bool:
        """Whether two draws are equal with probability at most 2**-128."""
        absent, present = self.weights
        pairs = min(self.pairs, 8192)
        return bool((absent**2 + present**2) ** pairs * VAST <= (absent + present) ** (2 * pairs))


class TreeEdges(Edges):
    """The edges of a tree: one choice among all labelled trees, by Pruefer code."""

    def __init__(self, size: int) -> None:
        super().__init__(size * (size - 1) // 2, size - 1, size - 1)
        self.size = size

    def draw(self, choose: Choose) -> list[int]:
        return tree_of(choose.below(self.number(self.low)), self.size)

    def number(self, length: int) -> int:
        return int(self.size ** max(0, self.size - 2))


class SpannedEdges(Edges):
    """The edges of a large, sparse connected graph: a random tree plus random further edges.

    Drawing until all nodes are connected would take too long. Drawn from the stream, and only if a clash of two draws
    is less likely than 2**-128. Graphs with more spanning trees are more likely.
    """

    def __init__(self, size: int, low: int, high: int) -> None:
        super().__init__(size * (size - 1) // 2, low, high)
        self.size = size

    def draw(self, choose: Choose) -> list[int]:
        length = choose.between(self.low, self.high)
        if length == self.size - 1:
            return tree_of(choose.below(self.size ** max(0, self.size - 2)), self.size)
        if not self.is_spanned(length):
            return drawn_places(choose, self.pairs, length)
        choose.vast()
        tree = tree_of(choose.below(self.size ** (self.size - 2)), self.size)
        return sorted(drawn_apart(choose, self.pairs, length, tree))

    def is_spanned(self, length: int) -> bool:
        """Whether a random graph with this many edges is rarely connected, and one built on a tree rarely drawn twice.

        A graph has at most (2m / (n - 1))**(n - 1) / n spanning trees (Grimmett, 1976).
        """
        size, more = self.size, length - self.size + 1
        if size < 2 or 2 * length >= size * size.bit_length():
            return False
        built = size ** (size - 1) * capped_choices(self.pairs - size + 1, more) * (size - 1) ** (size - 1)
        return bool(built >= VAST * (2 * length) ** (size - 1))
