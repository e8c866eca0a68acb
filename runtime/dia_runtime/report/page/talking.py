"""The section on sessions: questions that are conversations, and what models foretell of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_runtime.report.page.cells import Cell, Grid, count, figure, grid, number, word
from dia_runtime.report.page.shown import Model, Section

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


def sessions(models: Sequence[Model]) -> Section | None:
    """The figures of templates of sessions, where there are any."""
    rows = [(name, model["model"], held) for model in models for name, held in (model.get("sessions") or {}).items()]
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    lead = (
        "Questions that are conversations. Accuracy is over all decisions, over those whose replies came, and over "
        "those whose replies could be read."
    )
    tables = [_figures(rows), _ledger(rows), *_declared(rows)]
    return Section("sessions", "Sessions", lead, (), tuple(tables))


def _figures(rows: Sequence[Row]) -> Grid:
    heads = _names()
    for name in ("all", "answered", "valid"):
        heads.append((f"accuracy, {name} %", lambda row, name=name: figure(row[2]["accuracy"][name], 100)))
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
