"""Views of questions as text, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.tables import Table, as_markdown, as_rows, as_text

Result = Mapping[str, Any]
SAID = 5  # different answers of a question that are shown


def _tables(result: Result) -> list[Table]:
    return [_unanimous(result), _hardest(result), _same(result), *_agreement(result), _lengths(result)]


def _unanimous(result: Result) -> Table:
    models, every = len(result["models"]), result["questions"]
    rows = tuple(
        (
            name,
            ", ".join(held["questions"]) + (" ..." if held["count"] > len(held["questions"]) else ""),
            str(held["count"]),
        )
        for name, held in result["unanimous"].items()
    )
    return Table(f"Unanimous: all {models} models alike, of {every} questions", ("all", "which", "questions"), rows, 2)


def _hardest(result: Result) -> Table:
    rows = tuple(
        (
            held["question"],
            held["truth"],
            ", ".join(f"{said} {number}x" for said, number in list(held["said"].items())[:SAID]),
            *(str(held["counts"][verdict]) for verdict in Verdict),
        )
        for held in result["hardest"]
    )
    return Table("Hardest questions", ("question", "truth", "said", *Verdict), rows, 3)


def _same(result: Result) -> Table:
    held = result["same_wrong"]
    rows = tuple((one["question"], one["truth"], one["said"], ", ".join(one["models"])) for one in held["questions"])
    title = f"The same wrong answer and no other wrong one: {held['count']} questions"
    return Table(title, ("question", "truth", "said", "models"), rows, 4)


def _agreement(result: Result) -> list[Table]:
    """Phi of each two models that skip at all."""
    rows = tuple(
        (*held["models"], *(str(held[key]) for key in COUNTS), f"{held['phi']:.2f}", _interval(held["ci"]))
        for held in result["skip_agreement"]
        if held["phi"] is not None
    )
    headings = ("model", "and", "both skip", "the first", "the second", "neither", "phi", "95 % interval")
    return [Table("Skips of two models", headings, rows, 2)] if rows else []


COUNTS = ("both", "first", "second", "neither")


def _interval(ends: list[float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"


def _lengths(result: Result) -> Table:
    rows = [
        (held["model"], verdict, str(one["n"]), *(_number(one[key]) for key in ("mean", "median", "mean_tokens")))
        for held in result["lengths"]
        for verdict, one in held["by_verdict"].items()
        if one["n"]
    ]
    headings = ("model", "verdict", "replies", "mean characters", "median", "mean tokens")
    return Table("Length of replies", headings, tuple(rows), 2)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


FORMATS: dict[str, Callable[[Result], str]] = {
    "text": lambda result: as_text(_tables(result)),
    "markdown": lambda result: as_markdown(_tables(result)),
    "csv": lambda result: as_rows(_hardest(result)),
}
