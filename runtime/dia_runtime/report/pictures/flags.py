"""Flags and failures of every model."""

from __future__ import annotations

from collections.abc import Sequence

from dia_language.diagnostics import counted

from dia_runtime.grading.flags import FLAGS as REGISTRY
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.pictures.axes import SMALL
from dia_runtime.report.pictures.drawing import Drawing, Mark, Text
from dia_runtime.report.pictures.figures import LABELS, PictureData, cell, name_at, ranked, require, units
from dia_runtime.report.pictures.palette import heat, on
from dia_runtime.scoring.results import Respondent

WIDE, TALL, TOP = 92, 26, 26
# Count -> its heading
FLAGS: dict[str, str] = {
    **{verdict: verdict.plural for verdict in (Verdict.UNPARSED, Verdict.ERROR)},
    **{flag.name: flag.heading for flag in REGISTRY.values()},
}


def count(model: Respondent, name: str) -> int:
    """Return how many of a model's questions have the flag or verdict with that name."""
    return model["counts"].get(name, 0) or model["flags"].get(name, 0)


def occurring(models: Sequence[Respondent]) -> dict[str, str]:
    """Return the headings of the flags that a reply has, by name, and of unparsed and error in any case."""
    return {
        name: heading
        for name, heading in FLAGS.items()
        if name not in REGISTRY or any(count(model, name) for model in models)
    }


def flags(data: PictureData) -> Drawing:
    """Draw models in rows, flags and failures in columns."""
    models = ranked(data["score"])
    require(models, "the runs have no replies")
    marks: list[Mark] = []
    headings = occurring(models)
    for column, heading in enumerate(headings.values()):
        marks.append(Text(LABELS + (column + 0.5) * WIDE, TOP - 10, heading, SMALL, "middle", "muted"))
    for row, model in enumerate(models):
        y = TOP + row * TALL
        marks.append(name_at(model["model"], y + TALL / 2))
        total = sum(model["counts"].values()) or 1
        for column, name in enumerate(headings):
            number = count(model, name)
            colour = heat((number / total) ** 0.5) if number else "shade"
            tip = f"{model['model']}: {number} of {total} {headings[name]}"
            ink = on(colour) if number else "muted"
            marks += cell(LABELS + column * WIDE, y + 1, WIDE - 2, TALL - 2, colour, f"{number:,}", ink, tip)
    height = TOP + TALL * len(models) + 6
    words = (
        f"Flags and failures of {counted(len(models), 'model')}. A stronger colour marks a larger share of the "
        f"{units(data['score'])}."
    )
    return Drawing("Flags and failures", words, LABELS + WIDE * len(headings), height, tuple(marks))
