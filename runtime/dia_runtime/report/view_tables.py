"""Tables of `dia questions` as text, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable

from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.tables import Table, as_markdown, as_rows, as_text
from dia_runtime.scoring.question_views import ViewsResult

SHOWN = 5  # different answers of a question that are shown


def _tables(result: ViewsResult) -> list[Table]:
    return [*_unanimous(result), _hardest(result), _same(result), *_agreement(result), _lengths(result)]


def _unanimous(result: ViewsResult) -> list[Table]:
    """Return the questions on which several models agree; with one model, there is nothing to compare."""
    models, every = len(result["models"]), result["questions"]
    if models < 2:
        return []
    rows = tuple(
        (
            name,
            ", ".join(agreed["questions"]) + (" ..." if agreed["count"] > len(agreed["questions"]) else ""),
            str(agreed["count"]),
        )
        for name, agreed in result["unanimous"].items()
    )
    title = f"Unanimous: of {every:,} questions, those with the same verdict for all {models} models"
    return [Table(title, ("verdict", "questions", "number"), rows, 2)]


def _hardest(result: ViewsResult) -> Table:
    rows = tuple(
        (
            question["question"],
            question["truth"],
            ", ".join(f"{answer} ({number:,})" for answer, number in list(question["said"].items())[:SHOWN]),
            *(str(question["counts"][verdict]) for verdict in Verdict),
        )
        for question in result["hardest"]
    )
    return Table("Hardest questions", ("question", "correct answer", "answers", *Verdict), rows, 3)


def _same(result: ViewsResult) -> Table:
    same = result["same_wrong"]
    rows = tuple(
        (answer["question"], answer["truth"], answer["said"], ", ".join(answer["models"]))
        for answer in same["questions"]
    )
    title = f"Questions with several wrong replies that all give the same answer: {same['count']:,}"
    return Table(title, ("question", "correct answer", "wrong answer", "models"), rows, 4)


def _agreement(result: ViewsResult) -> list[Table]:
    """Return the correlation (phi) of skips for each pair of models that skip."""
    rows = tuple(
        (
            *pair["models"],
            *(str(count) for count in (pair["both"], pair["first"], pair["second"], pair["neither"])),
            f"{pair['phi']:.2f}",
            _interval(pair["ci"]),
        )
        for pair in result["skip_agreement"]
        if pair["phi"] is not None
    )
    headings = ("first model", "second model", "both", "only first", "only second", "neither", "phi", "95 % interval")
    return [Table("Questions that the models of a pair skipped", headings, rows, 2)] if rows else []


def _interval(ends: list[float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"


def _lengths(result: ViewsResult) -> Table:
    rows = [
        (
            model["model"],
            verdict,
            str(length["n"]),
            *map(_number, (length["mean"], length["median"], length["mean_tokens"])),
        )
        for model in result["lengths"]
        for verdict, length in model["by_verdict"].items()
        if length["n"]
    ]
    headings = ("model", "verdict", "replies", "mean characters", "median", "mean tokens")
    return Table("Reply length", headings, tuple(rows), 2)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


FORMATS: dict[str, Callable[[ViewsResult], str]] = {
    "text": lambda result: as_text(_tables(result)),
    "markdown": lambda result: as_markdown(_tables(result)),
    "csv": lambda result: as_rows(_hardest(result)),
}
