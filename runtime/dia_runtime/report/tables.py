"""Scores as tables: for terminals, as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dia_runtime.language.diagnostics import visible

VERDICTS = ("correct", "skipped", "wrong", "unparsed", "error")
# Key of a figure -> heading, factor and decimals: shares are printed in percent.
FIGURES = {
    "rs": ("RS@k", 1, 1),
    "conf": ("Conf@k %", 100, 1),
    "nms": ("NMS@k", 1, 0),
    "pass_at_k": ("Pass@k %", 100, 1),
    "trad_score": ("trad %", 100, 1),
    "idk_score": ("idk %", 100, 1),
    "idk_freq": ("abstained %", 100, 1),
}
SHARE = {"share": ("marks %", 100, 1)}  # only where an answer gives partial marks
GROUPS = {"by_category": "category", "by_domain": "domain", "by_variant": "variant"}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows of text; the first `labels` columns are names, the others numbers."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int


def score_tables(result: Mapping[str, Any]) -> list[Table]:
    """The tables of a score: all models, then by category, domain and variant where there are several."""
    models = sorted(result["models"], key=_rank)
    tables = [_table(_title(result), ("model",), [((model["model"],), model) for model in models])]
    for key, label in GROUPS.items():
        rows = [((name, model["model"]), block) for model in models for name, block in model[key].items()]
        if len({name for (name, _), _ in rows}) > 1 or (rows and key == "by_variant"):
            tables.append(_table(f"By {label}", (label, "model"), sorted(rows, key=lambda row: row[0][0])))
    return tables


def _rank(model: Mapping[str, Any]) -> tuple[bool, float]:
    value = model["rs"]["value"]
    return value is None, -(value or 0)


def _title(result: Mapping[str, Any]) -> str:
    return f"{result['benchmark']} {result['version']}: {result['n']} items, k = {result['k']}"


def _table(title: str, labels: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], Mapping[str, Any]]]) -> Table:
    rows = list(rows)
    shown = FIGURES | (SHARE if any("share" in block for _, block in rows) else {})
    figures = [heading for heading, _, _ in shown.values()]
    headings = (*labels, "n", *VERDICTS, figures[0], "SE", *figures[1:])
    return Table(title, headings, tuple((*names, *_cells(block, shown)) for names, block in rows), len(labels))


def _cells(block: Mapping[str, Any], figures: Mapping[str, tuple[str, int, int]]) -> Iterable[str]:
    yield str(block["n"])
    yield from (str(block["counts"][verdict]) for verdict in VERDICTS)
    for key, (_, factor, places) in figures.items():
        yield _figure(block.get(key, {"value": None}), factor, places)
        if key == "rs":
            yield _number(block[key]["se"], factor, places)


def _figure(figure: Mapping[str, Any], factor: int, places: int) -> str:
    """The figure, or its two ends while errors leave it open."""
    ends = figure.get("bounds", [figure["value"]])
    return " to ".join(_number(end, factor, places) for end in ends)


def _number(value: float | None, factor: int, places: int) -> str:
    return "" if value is None else f"{factor * value:.{places}f}"


def as_text(tables: Sequence[Table]) -> str:
    """The tables in aligned columns."""
    return "\n\n".join(map(_aligned, tables)) + "\n"


def _aligned(table: Table) -> str:
    rows = [[visible(cell) for cell in row] for row in (table.headings, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_padded(row, widths, table.labels)).rstrip() for row in rows]
    return "\n".join([visible(table.title), "", *lines])


def _padded(row: Sequence[str], widths: Sequence[int], labels: int) -> Iterator[str]:
    """The cells as wide as their columns, names to the left and numbers to the right."""
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blanks = " " * (width - _width(cell))
        yield cell + blanks if at < labels else blanks + cell


def _width(cell: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in cell
    )


def as_markdown(tables: Sequence[Table]) -> str:
    """The tables in Markdown."""
    return "\n\n".join(map(_markdown, tables)) + "\n"


def _markdown(table: Table) -> str:
    rule = ["---" if at < table.labels else "---:" for at in range(len(table.headings))]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in (table.headings, rule, *table.rows)]
    return "\n".join([f"**{_escaped(table.title)}**", "", *lines])


def _escaped(cell: str) -> str:
    shown = visible(cell).replace("\n", " ").replace("\\", "\\\\").replace("|", "\\|")
    return shown.replace("<", "&lt;").replace("`", "\\`")


def as_csv(tables: Sequence[Table]) -> str:
    """All tables as one, with the columns `by` and `group` before the model."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["by", "group", *tables[0].headings])
    for table in tables:
        for row in table.rows:
            by, group = (table.headings[0], row[0]) if table.labels == 2 else ("", "")
            model, numbers = row[table.labels - 1], row[table.labels :]
            writer.writerow([by, *map(_harmless, (group, model)), *numbers])
    return out.getvalue()


def _harmless(cell: str) -> str:
    """The name, quoted where a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


FORMATS = {"text": as_text, "csv": as_csv, "markdown": as_markdown}
