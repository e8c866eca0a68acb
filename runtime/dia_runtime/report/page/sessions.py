"""The section on sessions: questions that are conversations, and what models foretell of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_runtime.report.page.cells import DASH, Cell, Grid, count, figure, grid, number, word
from dia_runtime.report.page.shown import Model, Score, Section

# Key of a figure -> heading, factor and decimals.
FIGURES = {
    "macro_accuracy": ("mean over questions %", 100, 1),
    "precision": ("precision %", 100, 1),
    "recall": ("recall %", 100, 1),
    "f1": ("F1 %", 100, 1),
    "positive_rate": ("foretold positive %", 100, 1),
    "over_niceness": ("over-niceness %", 100, 1),
    "exact": ("very order %", 100, 1),
    "tokens": ("tokens a question", 1, 0),
}
STATES = ("valid", "unread", "absent", "broken", "error")
Row = tuple[str, str, Mapping[str, Any]]


def sessions(score: Score, models: Sequence[Model]) -> Section | None:
    """The figures of templates of sessions, where there are any."""
    rows = [(name, model["model"], held) for model in models for name, held in (model.get("sessions") or {}).items()]
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    lead = (
        "Questions that are conversations. Accuracy is over all decisions, over those whose replies came, and over "
        "those whose replies could be read."
    )
    if any(held.get("paper") for _, _, held in rows):
        lead += " What a published study prints as its accuracy stands beside them as the paper's."
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
    for name in ("all", "answered", "valid"):
        heads.append((f"accuracy, {name} %", lambda row, name=name: figure(row[2]["accuracy"][name], 100)))
    if any(held.get("paper") for _, _, held in rows):
        heads.append(("the paper's %", lambda row: _of_paper(row[2].get("paper"))))
    for key, (heading, factor, places) in FIGURES.items():
        if any(key in held for _, _, held in rows):
            heads.append((heading, lambda row, key=key, how=(factor, places): figure(row[2].get(key), *how)))
    return grid("Figures of sessions", heads, rows, 2, True)


def _ledger(rows: Sequence[Row]) -> Grid:
    heads = [*_names(), ("questions", lambda row: count(row[2]["questions"]))]
    heads += [(state, lambda row, state=state: count(row[2]["ledger"][state])) for state in STATES]
    return grid("What became of the questions", heads, rows, 2, True)


def _declared(rows: Sequence[Row]) -> list[Grid]:
    """The figures that templates declare themselves, a table a template."""
    tables = []
    for template in dict.fromkeys(row[0] for row in rows):
        held = [row for row in rows if row[0] == template]
        found = list(dict.fromkeys(name for row in held for name in row[2].get("figures") or ()))
        heads: list[Any] = [("model", lambda row: word(row[1]))]
        heads += [(name, lambda row, name=name: _value((row[2].get("figures") or {}).get(name))) for name in found]
        if found:
            tables.append(grid(f"Figures that {template} declares", heads, held, 1, True))
    return tables


OF_PAPER = {"written": "of keys written", "all": "of all", "valid": "of valid rankings"}


def _of_paper(found: Mapping[str, Any] | None) -> Cell:
    """What a study prints, and of what it is."""
    if not found or found["value"] is None:
        return Cell(DASH)
    return Cell(number(found["value"], 100), OF_PAPER[found["over"]], found["value"])


def _composites(models: Sequence[Model]) -> list[Grid]:
    """The mean of the accuracies, where it is one of several."""
    held = [model for model in models if len((model.get("composite") or {}).get("of", ())) > 1]
    if not held:
        return []
    names = list(dict.fromkeys(name for model in held for name in model["composite"]["of"]))
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads.append(("composite %", lambda model: figure(model["composite"], 100)))
    heads += [(f"{name} %", lambda model, name=name: _of_whole(model["composite"]["of"].get(name))) for name in names]
    if any("composite" in model.get("published", {}) for model in held):
        paper = "the paper's %"
        heads.append((paper, lambda model: _of_whole(model.get("published", {}).get("composite", {}).get("accuracy"))))
    return [grid("Composite score: the mean of accuracies of all questions", heads, held, 1, True)]


def _of_whole(value: float | None) -> Cell:
    return Cell(DASH) if value is None else Cell(number(value, 100), key=value)


def _across(score: Score) -> list[Grid]:
    """The correlations over models, where they are enough for one."""
    known = [entry for entry in score.get("correlations", ()) if entry["r"] is not None]
    heads: list[Any] = [("accuracy of", lambda entry: word(entry["a"])), ("with", lambda entry: word(entry["b"]))]
    heads += [("models", lambda entry: count(entry["n"])), ("r", _correlation)]
    return [grid("Correlations over models", heads, known, 2, True)] if known else []


def _companions(rows: Sequence[Row]) -> list[Grid]:
    """How far agreement goes with tokens and declared numbers, within each model."""
    held = [row for row in rows if row[2].get("rank_correlations")]
    names = list(dict.fromkeys(name for row in held for name in row[2]["rank_correlations"]))
    heads = _names()
    heads += [(name, lambda row, name=name: _correlation(row[2]["rank_correlations"].get(name))) for name in names]
    caption = "Rank correlation of a question's agreement with what it took, within each model"
    return [grid(caption, heads, held, 2, True)] if held else []


def _correlation(found: Mapping[str, Any] | None) -> Cell:
    return figure(found and {"value": found["r"], "se": None, "ci": found["ci"]}, 1, 2)


def _value(found: Mapping[str, Any] | None) -> Cell:
    if found is None or found["value"] is None:
        return figure(None)
    places = 3 if abs(found["value"]) < 10 else 1
    return (
        figure({"se": None, "ci": None, **found}, 1, places)
        if "ci" in found
        else Cell(number(found["value"], 1, places), key=found["value"])
    )


def _names() -> list[Any]:
    return [("template", lambda row: word(row[0])), ("model", lambda row: word(row[1]))]
