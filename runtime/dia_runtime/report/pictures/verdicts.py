"""Outcomes of the questions: bars of correct, skipped and wrong, for all questions and by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dia_language.diagnostics import counted

from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.report.pictures.axes import SMALL, legend
from dia_runtime.report.pictures.drawing import Drawing, Mark, Rect, Text, clipped, moved, text_width
from dia_runtime.report.pictures.figures import NARROW, PictureData, name_at, ranked, require, room
from dia_runtime.scoring.results import Block, Score, groups_by

WIDTH, PANEL, ROW = 720, 350, 20
NAMES, NUMBERS = 118, 40  # pixels of a panel for names on the left, for numbers on the right
MOST_GROUPS = 60
Blocks = Sequence[tuple[str, Block]]  # name of a model -> its figures


def verdicts(data: PictureData) -> Drawing:
    """Draw one bar per model, of all its questions."""
    models = ranked(data["score"])
    require(models, "the runs have no replies")
    width, names = room(data, WIDTH)
    blocks = [(model["model"], model) for model in models]
    drawn = bars("", blocks, width, names, 26)
    left = 0 if width < NARROW else names
    key, height = legend([(name, name) for name in _explained_verdicts(blocks)], left, drawn.height + 8, width - left)
    words = f"Verdicts of {counted(len(models), 'model')}. {_words(blocks)}"
    return Drawing("Verdicts", words, width, drawn.height + 12 + height, (*drawn.marks, *key))


def bars(title: str, blocks: Blocks, width: float = PANEL, names: float = NAMES, row: float = ROW) -> Drawing:
    """Return a panel with one bar per model, as long as all its questions, in the colours of the verdicts."""
    marks: list[Mark] = []
    top = 4.0
    if title:
        marks.append(Text(0, 14, clipped(title, width, 13), 13, bold=True))
        top = 24
    wide = width - names - NUMBERS
    for at, (name, block) in enumerate(blocks):
        y = top + at * row
        marks.append(name_at(name, y + row / 2, names))
        marks += _bar(name, block["counts"], names, y + 2, wide, row - 5)
        marks.append(Text(width, y + row / 2 + 4, f"{sum(block['counts'].values()):,}", SMALL, "end", "muted"))
    return Drawing(title or "Verdicts", _words(blocks), width, top + row * len(blocks) + 4, tuple(marks))


def _bar(name: str, counts: Mapping[str, int], x: float, y: float, wide: float, height: float) -> list[Mark]:
    marks: list[Mark] = []
    total = sum(counts.values())
    for verdict in Verdict:
        if number := counts[verdict]:
            width = number / total * wide
            gap = 1 if width > 3 else 0
            tip = f"{name}: {number} of {total} {verdict}"
            marks.append(Rect(x, y, width - gap, height, verdict.colour, tip=tip))
            if text_width(str(number), SMALL) + 6 < width:
                marks.append(
                    Text(x + width / 2, y + height / 2 + 4, str(number), SMALL, "middle", f"on-{verdict.colour}")
                )
            x += width
    return marks


def groups(score: Score, label: str) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Return, by value of a label, the blocks of the models that have it, in the models' order."""
    blocks: dict[str, list[tuple[str, Block]]] = {}
    for model in ranked(score):
        for name, block in groups_by(model, label).items():
            blocks.setdefault(name, []).append((model["model"], block))
    return sorted(blocks.items())


def by_label(score: Score, label: str) -> Drawing:
    """Return a panel for each value of the label, two per row."""
    grouped = groups(score, label)
    require(grouped, f"no question has a {label}")
    panels = [bars(name, blocks) for name, blocks in grouped[:MOST_GROUPS]]
    marks: list[Mark] = []
    top = 0.0
    for at in range(0, len(panels), 2):
        pair = panels[at : at + 2]
        for side, panel in enumerate(pair):
            marks += [moved(mark, side * (WIDTH - PANEL), top) for mark in panel.marks]
        top += max(panel.height for panel in pair) + 12
    key, height = legend(
        [(name, name) for name in _explained_verdicts([block for _, blocks in grouped for block in blocks])],
        0,
        top + 4,
        WIDTH,
    )
    hidden = len(grouped) - len(panels)
    if hidden:
        marks.append(Text(0, top + height + 20, f"and {hidden} more", SMALL, fill="muted"))
    every = ", ".join(name for name, _ in grouped[:MOST_GROUPS])
    words = f"Shares of the verdicts of every model in {counted(len(grouped), 'group')}: {every}."
    return Drawing(f"Verdicts by {label}", words, WIDTH, top + height + (30 if hidden else 8), (*marks, *key))


def domains(data: PictureData) -> Drawing:
    return by_label(data["score"], "domain")


def categories(data: PictureData) -> Drawing:
    return by_label(data["score"], "category")


def _explained_verdicts(blocks: Blocks) -> list[str]:
    """Return the verdicts in the legend: the three usual ones, and others that occur."""
    return [name for name in Verdict if name in WITH_POINTS or any(block["counts"][name] for _, block in blocks)]


def _words(blocks: Blocks) -> str:
    """Return the shares of the first models in words; those of each add up to 100 %."""
    words, explained = [], _explained_verdicts(blocks)
    for name, block in blocks[:12]:
        numbers = [block["counts"][verdict] for verdict in explained]
        counts = ", ".join(f"{number:,} {verdict}" for verdict, number in zip(explained, numbers, strict=True))
        words.append(f"{name}: {counts} of {sum(numbers):,}")
    return "; ".join(words) + "."
