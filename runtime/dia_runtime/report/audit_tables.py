"""Audits as text, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dia_language.diagnostics import visible

from dia_runtime.report.tables import ABSTENTION, EMPTY, RELIABILITY, Table, as_markdown, as_rows, as_text, figure_text

Result = Mapping[str, Any]
LONGEST = 240


def as_plain(result: Result) -> str:
    """The figures as a table, and each reply with what was read from it."""
    return "\n".join([as_text([_figures(result)]), *(_told(row) for row in result["rows"])])


def _told(row: Mapping[str, Any]) -> str:
    widths = [max(len(_short(held[key])) for held in row["readings"].values()) for key in ("reading", "step")]
    head = f"{visible(row['question'])} ({visible(row['model'])}), attempt {row['attempt']}"
    lines = [f"{head}, truth {visible(_short(row['truth']))}"]
    name = max(map(len, row["readings"]))
    for chain, held in row["readings"].items():
        reading, step = (visible(_short(held[key])) for key in ("reading", "step"))
        lines.append(f"  {chain:{name}}  {reading:{widths[0]}}  {step:{widths[1]}}  {held['verdict']}")
    return "\n".join([*lines, f"  | {visible(row['reply'] or '').replace(chr(10), ' / ')}", ""])


def _short(text: str | None) -> str:
    shown = "-" if text is None else text.replace("\n", " ")
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def as_tables(result: Result) -> str:
    """Both tables in Markdown."""
    return as_markdown([_figures(result), _rows(result)])


def as_comma(result: Result) -> str:
    """The replies as CSV."""
    return as_rows(_rows(result))


def _figures(result: Result) -> Table:
    """A row for each figure of each model that the choice of the chain changes, and for the share of correct ones."""
    rows = []
    first, second = result["chains"]
    for model in result["models"]:
        rows.append((model["model"], "replies that differ", "", "", f"{model['differing']} of {model['replies']}"))
        for key, (heading, factor, places) in (RELIABILITY | ABSTENTION).items():
            held = model["figures"][key]
            if held["difference"]["value"] != 0 or key == "trad_score":
                cells = (figure_text(held.get(name, EMPTY), factor, places) for name in (first, second, "difference"))
                rows.append((model["model"], heading, *cells))
    name = " ".join(str(result[key]) for key in ("benchmark", "version") if result[key] is not None)
    title = f"{name}: {result['differing']} of {result['replies']} replies differ between {first} and {second}"
    return Table(title, ("model", "figure", first, second, "difference"), tuple(rows), 2)


def _rows(result: Result) -> Table:
    chains = result["chains"]
    headings = (
        "model",
        "question",
        "attempt",
        "truth",
        *(f"{chain} {key}" for chain in chains for key in KEYS),
        "reply",
    )
    rows = tuple(
        (
            row["model"],
            row["question"],
            str(row["attempt"]),
            row["truth"] or "",
            *(str(row["readings"][chain][key] or "") for chain in chains for key in KEYS),
            row["reply"] or "",
        )
        for row in result["rows"]
    )
    return Table("Replies", headings, rows, len(headings))


def agreement_tables(result: Result) -> list[Table]:
    """How far the verdicts of each model agree with the labels, and the table of both."""
    models = [model for model in result["models"] if model["labelled"]]
    rows = [
        (
            model["model"],
            str(model["labelled"]),
            figure_text(model["agreement"], 100, 1),
            "" if model["kappa"] is None else f"{model['kappa']:.3f}",
        )
        for model in models
    ]
    whole = Table("Agreement with labelled replies", ("model", "labelled", "agreement %", "kappa"), tuple(rows), 1)
    verdicts = list(dict.fromkeys(name for model in models for held in model["table"].values() for name in held))
    cells = [
        (model["model"], label, *(str(held.get(verdict, 0)) for verdict in verdicts))
        for model in models
        for label, held in model["table"].items()
    ]
    return [whole, Table("Labels and verdicts", ("model", "label", *verdicts), tuple(cells), 2)]


AGREEMENT_FORMATS: dict[str, Callable[[Result], str]] = {
    "text": lambda result: as_text(agreement_tables(result)),
    "csv": lambda result: "\n".join(map(as_rows, agreement_tables(result))),
    "markdown": lambda result: as_markdown(agreement_tables(result)),
}
KEYS = ("reading", "step", "verdict")
FORMATS: dict[str, Callable[[Result], str]] = {"text": as_plain, "csv": as_comma, "markdown": as_tables}
