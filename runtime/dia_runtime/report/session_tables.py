"""Figures of session questions as tables: one a template, and those of a published study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dia_runtime.report.tables import Table, figure_text

DENOMINATORS = ("all", "answered", "valid")
OF_DECISIONS = {
    "macro_accuracy": "by question %",
    "recall": "recall %",
    "precision": "precision %",
    "positive_rate": "positive %",
    "f1": "F1 %",
    "over_niceness": "over-niceness %",
}
OF_RANKINGS = {"exact": "exact %"}
MORE = {"decisions": OF_DECISIONS, "ranking": OF_RANKINGS, "grade": {}}
LEDGER = ("valid", "unread", "absent", "broken", "error")
COUNTS = ("tp", "fp", "fn", "tn")


def session_tables(result: Mapping[str, Any]) -> list[Table]:
    """The tables of every template of sessions: figures by denominators, then what became of its questions."""
    models = result["models"]
    templates = dict.fromkeys(name for model in models for name in model.get("sessions", {}))
    found: list[Table] = []
    for template in templates:
        blocks = [(model["model"], model["sessions"][template]) for model in models if template in model["sessions"]]
        found += [_figures(template, blocks), _ledger(template, blocks), *_declared(template, blocks)]
    return found + list(_published(models))


def _figures(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Table:
    kind = blocks[0][1]["truth"]
    more = MORE[kind]
    headings = ["model", *(f"{name} %" for name in DENOMINATORS), *more.values()]
    rows = []
    for model, block in blocks:
        figures = [*(block["accuracy"][name] for name in DENOMINATORS), *(block[name] for name in more)]
        cells = [figure_text(figure, 100, 1) for figure in figures]
        if kind == "decisions":
            cells += [_share(block["baselines"][name]) for name in ("always", "never")]
        rows.append((model, *cells))
    if kind == "decisions":
        headings += ['always "yes" %', 'always "no" %']
    title = f"{template}: {TITLES[kind]}"
    positive = blocks[0][1].get("positive")
    title += f" (positive: {positive})" if positive else ""
    breaks = (4,) if more else ()
    return Table(title, tuple(headings), tuple(rows), 1, breaks, frozenset(range(1, 4 + len(more))))


TITLES = {
    "decisions": "what was foretold and came, of all decisions, of those in answered questions, of valid ones",
    "ranking": "share of pairs in the right order, of all rankings, of those that came, of valid ones",
    "grade": "share of right ones, of all questions, of answered ones, of valid ones",
}


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _ledger(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Table:
    """What became of the questions; the numbers of a row add up to the first one."""
    counted = COUNTS if blocks[0][1]["truth"] == "decisions" else ()
    headings = ("model", "questions", *LEDGER, *map(str.upper, counted))
    rows = [
        (
            model,
            str(block["questions"]),
            *(str(block["ledger"][state]) for state in LEDGER),
            *(str(block["counts"][name]) for name in counted),
        )
        for model, block in blocks
    ]
    return Table(f"{template}: what became of the questions", headings, tuple(rows), 1)


def _declared(template: str, blocks: list[tuple[str, Mapping[str, Any]]]) -> Iterable[Table]:
    """The figures that the template declares."""
    names = list(dict.fromkeys(name for _, block in blocks for name in block.get("figures", {})))
    if names:
        rows = [(model, *(_value(block.get("figures", {}).get(name)) for name in names)) for model, block in blocks]
        yield Table(f"{template}: declared figures", ("model", *names), tuple(rows), 1)


def _value(figure: Mapping[str, Any] | None) -> str:
    """A share, mean or median as a number, a count with what it is of, a survival as its steps."""
    if figure is None:
        return ""
    if "steps" in figure:
        return " ".join(f"{step:.2f}" for step in figure["steps"])
    if "of" in figure:
        return "" if figure["value"] is None else f"{figure['value']:g} of {figure['of']}"
    return figure_text(figure, 1, 3)


def _published(models: Iterable[Mapping[str, Any]]) -> Iterable[Table]:
    """The figures of a study, one table an experiment."""
    every = [(model["model"], model.get("published", {})) for model in models]
    for study in dict.fromkeys(name for _, held in every for name in held):
        names = list(dict.fromkeys(name for _, held in every for name in held.get(study, {})))
        rows = [(model, *(_plain(held.get(study, {}).get(name)) for name in names)) for model, held in every]
        table = Table(f"As published: {study}", ("model", *names), tuple(rows), 1)
        yield _turned(table)


def _turned(table: Table) -> Table:
    """The table with its rows as columns, since a study has more figures than a line has room."""
    columns = list(zip(table.headings, *table.rows, strict=True))
    return Table(table.title, columns[0], tuple(columns[1:]), 1)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
