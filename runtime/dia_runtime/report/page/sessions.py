"""The section on sessions: questions that are conversations, and models' predictions about themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from dia_runtime.report.page.cells import DASH, Cell, Column, Grid, count, figure, grid, number, word
from dia_runtime.report.page.panels import Section
from dia_runtime.report.session_tables import LEDGER, accuracies, composite_title, ledger_counts
from dia_runtime.scoring.results import (
    AcrossModels,
    Composite,
    Correlation,
    DeclaredFigure,
    Estimate,
    PrintedFigure,
    Respondent,
    Score,
    SessionBlock,
    session_figure,
)  # fmt: skip
from dia_runtime.scoring.sessions.tally import DENOMINATORS

# Key of a figure -> heading, factor and decimals.
FIGURES: dict[str, tuple[str, int, int]] = {
    "macro_accuracy": ("mean over questions %", 100, 1),
    "precision": ("precision %", 100, 1),
    "recall": ("recall %", 100, 1),
    "f1": ("F1 %", 100, 1),
    "positive_rate": ("predicted positive %", 100, 1),
    "over_niceness": ("over-niceness %", 100, 1),
    "exact": ("exact order %", 100, 1),
    "tokens": ("tokens per question", 1, 0),
}
EXPLAINED = {
    "over_niceness": "Over-niceness is the share of wrong predictions that are “no”, for example that the model will "
    "decline a request that it then answers.",
    "exact": "Exact order is the share of valid rankings that are entirely right.",
}
Row = tuple[str, str, SessionBlock]  # template, model, figures
CompositeRow = tuple[Respondent, Composite]


def sessions(score: Score, models: Sequence[Respondent]) -> Section | None:
    """Return the section with the figures of session templates, if there are any."""
    rows = [(name, model["model"], block) for model in models for name, block in model.get("sessions", {}).items()]
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    lead = (
        "Questions that consist of conversations (sessions). A question is answered if every reply that the grading "
        "uses was given, readable or not, and valid if every reply could be read. If a later session or turn needs a "
        "reply that could not be read, it is not asked, so the question is not answered. Accuracy is given over all "
        "questions (or decisions, if a question has several), over answered ones, and over valid ones that are not "
        "skipped. The table of outcomes counts each question once: as valid, or by its problem, which is unread (a "
        "reply, also a judge's, could not be read; sessions and turns that need it are then not asked), absent (a "
        "reply is missing, but not because another was unread or a request failed), broken (grading the replies ended "
        "in an error) or error (a request failed)."
    )
    lead += "".join(f" {words}" for name, words in EXPLAINED.items() if any(name in block for _, _, block in rows))
    if any(block.get("paper") for _, _, block in rows):
        lead += " The column for the paper has the accuracy computed as in the published study."
    tables = [
        _figures(rows),
        *_composites(models),
        *_across(score),
        _ledger(rows),
        *_declared(rows),
        *_companions(rows),
    ]
    return Section("sessions", "Sessions", lead, (), tuple(tables))


def _figures(rows: Sequence[Row]) -> Grid:
    heads = _names()
    heads += [(f"accuracy, {name} %", _accuracy_column(at)) for at, name in enumerate(DENOMINATORS)]
    if any(block.get("paper") for _, _, block in rows):
        heads.append(("the paper's %", lambda row: _of_paper(row[2].get("paper"))))
    heads += [(FIGURES[name][0], _figure_column(name)) for name in FIGURES if any(name in row[2] for row in rows)]
    return grid("Figures of sessions", heads, rows, 2, True)


def _accuracy_column(at: int) -> Callable[[Row], Cell]:
    return lambda row: figure(accuracies(row[2])[at], 100)


def _figure_column(name: str) -> Callable[[Row], Cell]:
    _, factor, places = FIGURES[name]
    return lambda row: figure(session_figure(row[2], name), factor, places)


def _ledger_column(at: int) -> Callable[[Row], Cell]:
    return lambda row: count(ledger_counts(row[2])[at])


def _ledger(rows: Sequence[Row]) -> Grid:
    heads: list[Column[Row]] = [*_names(), ("questions", lambda row: count(row[2]["questions"]))]
    heads += [(state, _ledger_column(at)) for at, state in enumerate(LEDGER)]
    return grid("Outcomes of the questions", heads, rows, 2, True)


def _declared(rows: Sequence[Row]) -> list[Grid]:
    """Return the figures that templates declare themselves, one table per template."""
    tables = []
    for template in dict.fromkeys(row[0] for row in rows):
        of_template = [row for row in rows if row[0] == template]
        names = list(dict.fromkeys(name for row in of_template for name in row[2].get("figures", ())))
        heads: list[Column[Row]] = [("model", lambda row: word(row[1]))]
        heads += [(name, _declared_column(name)) for name in names]
        if names:
            tables.append(grid(f"Figures that {template} defines", heads, of_template, 1, True))
    return tables


def _declared_column(name: str) -> Callable[[Row], Cell]:
    return lambda row: _value(row[2].get("figures", {}).get(name))


OF_PAPER = {"written": "of keys written", "all": "of all", "valid": "of valid rankings"}


def _of_paper(printed: PrintedFigure | None) -> Cell:
    """Return the figure that a study prints, and what it counts."""
    if not printed or printed["value"] is None:
        return Cell(DASH)
    return Cell(number(printed["value"], 100), OF_PAPER[printed["over"]], printed["value"])


def _composites(models: Sequence[Respondent]) -> list[Grid]:
    """Return the mean of the accuracies, if it is one of several."""
    rows = [(model, mean) for model in models if (mean := model.get("composite")) and len(mean["of"]) > 1]
    if not rows:
        return []
    names = list(dict.fromkeys(name for _, mean in rows for name in mean["of"]))
    heads: list[Column[CompositeRow]] = [("model", lambda row: word(row[0]["model"]))]
    heads.append(("composite %", lambda row: figure(cast(Estimate, row[1]), 100)))
    heads += [(f"{name} %", _part_column(name)) for name in names]
    if any("composite" in model.get("published", {}) for model, _ in rows):
        paper = "the paper's %"
        heads.append((paper, lambda row: _share(row[0].get("published", {}).get("composite", {}).get("accuracy"))))
    return [grid(composite_title(models, names), heads, rows, 1, True)]


def _part_column(name: str) -> Callable[[CompositeRow], Cell]:
    return lambda row: _share(row[1]["of"].get(name))


def _share(value: float | None) -> Cell:
    return Cell(DASH) if value is None else Cell(number(value, 100), key=value)


def _across(score: Score) -> list[Grid]:
    """Return the correlations over models, if there are enough models."""
    present = [entry for entry in score["correlations"] if entry["r"] is not None]
    heads: list[Column[AcrossModels]] = [
        ("accuracy of", lambda entry: word(entry["a"])),
        ("with", lambda entry: word(entry["b"])),
    ]
    heads += [("models", lambda entry: count(entry["n"])), ("r", _correlation)]
    return [grid("Correlations over models", heads, present, 2, True)] if present else []


def _companions(rows: Sequence[Row]) -> list[Grid]:
    """Return the correlation of agreement with tokens and declared numbers, within each model."""
    present = [row for row in rows if row[2].get("rank_correlations")]
    names = list(dict.fromkeys(name for row in present for name in row[2]["rank_correlations"]))
    heads = _names()
    heads += [(name, _correlation_column(name)) for name in names]
    caption = (
        "Rank correlation over items, within each model: accuracy with tokens or figures that the template defines"
    )
    return [grid(caption, heads, present, 2, True)] if present else []


def _correlation_column(name: str) -> Callable[[Row], Cell]:
    return lambda row: _correlation(row[2]["rank_correlations"].get(name))


def _correlation(correlation: Correlation | None) -> Cell:
    if correlation is None:
        return figure(None)
    return figure({"value": correlation["r"], "se": None, "ci": correlation["ci"]}, 1, 2)


def _value(declared: DeclaredFigure | None) -> Cell:
    if declared is None or declared["value"] is None:
        return figure(None)
    places = 3 if abs(declared["value"]) < 10 else 1
    if "ci" in declared:
        return figure(cast(Estimate, declared), 1, places)
    return Cell(number(declared["value"], 1, places), key=declared["value"])


def _names() -> list[Column[Row]]:
    return [("template", lambda row: word(row[0])), ("model", lambda row: word(row[1]))]
