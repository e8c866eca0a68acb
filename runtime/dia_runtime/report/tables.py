"""Scores as tables: for terminals, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dia_language.diagnostics import counted, visible

from dia_runtime.grading.flags import FLAGS, REPLY_FLAGS
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.pictures.figures import names
from dia_runtime.scoring.figures import FIGURES, Figure
from dia_runtime.scoring.results import (
    Block,
    Estimate,
    Respondent,
    Score,
    figure_of,
    groups_by,
    has_figure,
    is_default_chain,
    respondents,
    unknown,
)  # fmt: skip

SKIP_HEADINGS = ("all skipped", "some skipped")
SKIP_NOTE = """\
n: number of items.
NMS@k: near misses, the number of items with at least 80 %, but not all, of their instances correct.
The columns from correct to error are numbers of questions, each counted once.
all skipped, some skipped: numbers of items of which a model skipped all instances, or some but not all."""
SKIP_NOTE_OVER_ATTEMPTS = (
    SKIP_NOTE.replace("questions", "attempts").replace("items", "questions").replace("instances", "attempts")
)
SKIPPED_SESSIONS = """
skipped: also conversations that their template counts as skipped, for example because a reply could not be read."""
FLAGS_NOTE = " The columns after error count flags,\nwhich a reply with any verdict may have."
UNASKED = "not asked"
EXPLAINED_TITLE = "Wrong replies explained by named mistakes (replies to templates that name no mistakes count, too)"
GROUPS = ("category", "domain", "level", "variant")  # default tables, if there are several groups
PLUS_MINUS = " +- "
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows of text; the first `labels` columns are names, the others numbers.

    In text, each column in `breaks` starts a new part below, with the names repeated. `figures` are columns whose
    numbers have a standard error after ` +- ` and an interval in brackets. `note` explains headings in the lines
    below the table.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int
    breaks: tuple[int, ...] = ()
    figures: frozenset[int] = frozenset()
    note: str = ""


def with_own_names(result: Score) -> Score:
    """Return the result with unique model names: the name of the run is added where a name occurs twice."""
    pairs = zip(result["models"], names(result), strict=True)
    return {**result, "models": [{**model, "model": name} for model, name in pairs]}


def score_tables(result: Score, by: Sequence[str] = ()) -> list[Table]:
    """Return the tables of a score: all models, then by the labels, or by default by those with several values."""
    models = sorted(respondents(result), key=_rank)
    flags = occurring_flags(models)
    overall = _table(title(result), ("model",), [((model["model"],), model) for model in models], flags)
    if has_unasked(models):
        rows = tuple((*row, str(model["missing"])) for row, model in zip(overall.rows, models, strict=True))
        overall = replace(overall, headings=(*overall.headings, UNASKED), rows=rows)
    note = SKIP_NOTE_OVER_ATTEMPTS if result.get("over") == "attempts" else SKIP_NOTE
    note = note.replace("each counted once.", f"each counted once.{FLAGS_NOTE}") if flags else note
    note += SKIPPED_SESSIONS if any(model.get("sessions") for model in result["models"]) else ""
    tables = [replace(overall, note=note)]
    for label in by or [label for label in GROUPS if not repeats_categories(models, label)]:
        pairs = [((name, model["model"]), block) for model in models for name, block in groups_by(model, label).items()]
        if pairs and (by or label == "variant" or len({name for (name, _), _ in pairs}) > 1):
            tables.append(_table(f"By {label}", (label, "model"), sorted(pairs, key=lambda pair: pair[0][0]), flags))
    return tables


def repeats_categories(models: Sequence[Respondent], label: str) -> bool:
    """Return whether the figures by domain are those by category: a template without a domain has its category's."""
    return label == "domain" and all(groups_by(model, "domain") == groups_by(model, "category") for model in models)


def ladder_tables(result: Score) -> list[Table]:
    """Return Pass@j and Pass^j of every model, if items have several instances."""
    models = sorted(result["models"], key=_rank)
    tables = []
    which = ", for items with at least j instances" if result.get("k_varies") else ""
    ladders = (
        ("Pass@j: at least one of j instances correct, %", [model["pass_at_j"] for model in models]),
        ("Pass^j: all j instances correct, %", [model["pass_hat_j"] for model in models]),
    )
    for heading, ladder in ladders:
        steps = list(dict.fromkeys(j for of_model in ladder for j in of_model))
        if len(steps) > 1:
            rows = [
                (model["model"], *(figure_text(of_model.get(j, unknown()), 100, 2) for j in steps))
                for model, of_model in zip(models, ladder, strict=True)
            ]
            tables.append(Table(heading + which, ("model", *(f"j = {j}" for j in steps)), tuple(rows), 1))
    return tables


def occurring_flags(blocks: Iterable[Block]) -> list[str]:
    """Return the flags of replies that are no full answers which any of the blocks has."""
    counts = [block["flags"] for block in blocks]
    return [name for name in REPLY_FLAGS if any(flags.get(name, 0) for flags in counts)]


def has_unasked(models: Iterable[Respondent]) -> bool:
    """Return whether any of the models was not asked all questions, so that tables have a column for their number."""
    return any(model["missing"] for model in models)


def _rank(model: Respondent) -> tuple[bool, float]:
    value = figure_of(model, "rs")["value"]
    return value is None, -(value or 0)


def title(result: Score) -> str:
    """Return what was measured, and how, if that is unusual."""
    items = counted(result["n"], "question" if result.get("over") == "attempts" else "item")
    largest = max((model["n"] for model in result["models"]), default=0)
    items = f"{largest:,} of {items} asked" if 0 < largest < result["n"] else items
    name = " ".join(str(result[key]) for key in ("benchmark", "version") if result[key] is not None)
    parts = [f"{name}: {items}, k = {result['k']}"]
    if not is_default_chain(result):
        parts.append(f"chain {result['chain']}")
    if result.get("points"):
        parts.append("points " + " ".join(f"{verdict}={value}" for verdict, value in result["points"].items()))
    return ", ".join(parts)


def _table(
    title: str, labels: tuple[str, ...], rows: Sequence[tuple[tuple[str, ...], Block]], flags: Sequence[str]
) -> Table:
    columns = [
        figure
        for figure in FIGURES.values()
        if figure.in_tables and (figure.is_compared or any(has_figure(block, figure.name) for _, block in rows))
    ]
    plain = (*labels, "n", *Verdict, *(FLAGS[name].heading for name in flags))
    headings = (*plain, *(figure.heading for figure in columns), *SKIP_HEADINGS)
    cells = tuple((*names, *_cells(block, columns, flags)) for names, block in rows)
    figures = frozenset(range(len(plain), len(plain) + len(columns)))
    breaks = tuple(headings.index(figure.heading) for figure in columns if figure.begins_part)
    return Table(title, headings, cells, len(labels), breaks, figures)


def _cells(block: Block, figures: Sequence[Figure], flags: Sequence[str]) -> Iterable[str]:
    yield str(block["n"])
    yield from (str(block["counts"][verdict]) for verdict in Verdict)
    yield from (str(block["flags"].get(name, 0)) for name in flags)
    for figure in figures:
        yield figure_text(figure_of(block, figure.name), figure.unit.factor, figure.unit.places)
    yield str(block["completely_skipped"])
    yield str(block["partly_skipped"])


def figure_text(estimate: Estimate, factor: int, places: int) -> str:
    """Return the figure with standard error and interval, or its range while errors remain.

    >>> figure_text({"value": 0.8383838, "se": 0.0262232, "ci": [0.7857, 0.8891]}, 100, 2)
    '83.84 +- 2.62 [78.6, 88.9]'
    """
    ends = estimate.get("bounds", [estimate["value"]])
    text = " to ".join(_number(end, factor, places) for end in ends)
    error = _number(estimate["se"], factor, max(places, 1))
    return f"{text}{PLUS_MINUS}{error}{_interval(estimate['ci'], factor, max(places - 1, 1))}" if error else text


def _interval(ends: Sequence[float] | None, factor: int, places: int) -> str:
    """Return the interval after a figure, with a leading space; empty if there is none."""
    return "" if ends is None else f" [{', '.join(_number(end, factor, places) for end in ends)}]"


def _number(value: float | None, factor: int, places: int) -> str:
    return "" if value is None else f"{round(factor * value, places) + 0.0:.{places}f}"  # no negative zero


def as_text(tables: Sequence[Table]) -> str:
    """Return the tables in aligned columns, without columns and tables that are empty in every row."""
    return "\n\n".join(_aligned(table) for table in tables if _has_values(table)) + "\n"


def _has_values(table: Table) -> bool:
    """Return whether a cell other than labels has a value; a table may have only labels, or no rows."""
    cells = [cell for row in table.rows for cell in row[table.labels :]]
    return not cells or any(cell not in EMPTY for cell in cells)


def _aligned(table: Table) -> str:
    parts = [_columns(rows, table.labels) for part in _parts(table) if (rows := _filled(part, table.labels))]
    parts += [table.note] if table.note else []
    return "\n".join([_one_line(table.title), *(f"\n{part}" for part in parts)])


def _filled(rows: Sequence[tuple[str, ...]], labels: int) -> list[tuple[str, ...]]:
    """Return the headings and rows without the columns that are empty in every row; nothing if all are."""
    if len(rows) == 1 or len(rows[0]) == labels:
        return list(rows)
    columns = [at for at in range(len(rows[0])) if at < labels or any(row[at] not in EMPTY for row in rows[1:])]
    return [tuple(row[at] for at in columns) for row in rows] if len(columns) > labels else []


def _parts(table: Table) -> Iterator[list[tuple[str, ...]]]:
    """Yield the headings and rows, in several parts if the table is wide."""
    rows = [table.headings, *table.rows]
    for start, end in pairwise((table.labels, *table.breaks, len(table.headings))):
        yield [(*row[: table.labels], *row[start:end]) for row in rows]


def _columns(cells: Sequence[Sequence[str]], labels: int) -> str:
    rows = [[_one_line(cell) for cell in row] for row in cells]
    widths = [max(map(displayed_width, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_padded(row, widths, labels)).rstrip() for row in rows)


def _padded(row: Sequence[str], widths: Sequence[int], labels: int) -> Iterator[str]:
    """Yield the cells padded to their columns, names to the left and numbers to the right."""
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blanks = " " * (width - displayed_width(cell))
        yield cell + blanks if at < labels else blanks + cell


def displayed_width(cell: str) -> int:
    """Return how many columns of a terminal the text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in cell
    )


def as_markdown(tables: Sequence[Table]) -> str:
    return "\n\n".join(map(_markdown, tables)) + "\n"


def _markdown(table: Table) -> str:
    parts = []
    for headings, *rows in _parts(table):
        rule = ["---" if at < table.labels else "---:" for at in range(len(headings))]
        parts.append("\n".join(f"| {' | '.join(map(_escaped, row))} |" for row in (headings, rule, *rows)))
    parts += [_escaped(table.note)] if table.note else []
    return "\n\n".join([f"**{_escaped(table.title)}**", *parts])


def _escaped(cell: str) -> str:
    text = _one_line(cell).replace("\\", "\\\\").replace("|", "\\|").replace("](", "]\\(")  # no link, no image
    return text.replace("<", "&lt;").replace("`", "\\`")


def as_latex(tables: Sequence[Table]) -> str:
    """Return the tables for LaTeX; they need no package."""
    return "\n\n".join(map(_latex, tables)) + "\n"


def _latex(table: Table) -> str:
    lines = [f"% {_one_line(table.title)}"]
    for headings, *rows in _parts(table):
        body = [f"{' & '.join(map(_tex, row))} \\\\" for row in rows]
        columns = "l" * table.labels + "r" * (len(headings) - table.labels)
        head = f"{' & '.join(map(_tex, headings))} \\\\"
        lines += [f"\\begin{{tabular}}{{{columns}}}", "\\hline", head, "\\hline", *body, "\\hline", "\\end{tabular}"]
    lines += [f"% {line}" for line in table.note.splitlines()]
    return "\n".join(lines)


SIGNS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _tex(cell: str) -> str:
    """Return the cell for LaTeX: numbers in math mode, special characters escaped."""
    if NUMBER.fullmatch(cell):
        return "$" + cell.replace(PLUS_MINUS, r" \pm ").replace(" [", r"\;[") + "$"
    text = _one_line(cell)
    first = "{}" if text.lstrip().startswith(("[", "*")) else ""  # else an option of the line break before it
    return first + "".join(SIGNS.get(sign, sign) for sign in text)


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ")


NUMBER = re.compile(r"-?[0-9.]+(?: \+- [0-9.]+)?(?: \[-?[0-9.]+, -?[0-9.]+\])?")
WHOLE = re.compile(r"(.*?)(?: \+- ([0-9.]+))?(?: \[(-?[0-9.]+), (-?[0-9.]+)\])?")


def as_csv(tables: Sequence[Table]) -> str:
    """Return all tables as one, with the columns `by` and `group` before the model.

    Standard errors and the ends of intervals have their own columns.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    first = tables[0]
    writer.writerow(["by", "group", *_split(first, first.headings, _names_of_parts)])
    for table in tables:
        for row in table.rows:
            by, group = (table.headings[0], row[0]) if table.labels == 2 else ("", "")
            cells = list(_split(table, row, _parts_of_figure))
            names = map(_harmless, (group, row[table.labels - 1]))
            writer.writerow([by, *names, *map(_plain, cells[table.labels :])])
    return out.getvalue()


def as_rows(table: Table) -> str:
    """Return one table as CSV; standard errors and the ends of intervals have their own columns."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_harmless, _split(table, table.headings, _names_of_parts)))  # a heading may be a label
    for row in table.rows:
        cells = list(_split(table, row, _parts_of_figure))
        writer.writerow([*map(_harmless, cells[: table.labels]), *map(_plain, cells[table.labels :])])
    return out.getvalue()


def _names_of_parts(name: str) -> tuple[str, ...]:
    return name, f"{name} SE", f"{name} low", f"{name} high"


def _parts_of_figure(cell: str) -> tuple[str, ...]:
    """Return value, error and the two ends of a figure; empty if there is none."""
    match = WHOLE.fullmatch(cell)
    return tuple(part or "" for part in match.groups()) if match else (cell, "", "", "")


def _split(table: Table, row: Sequence[str], parts: Callable[[str], tuple[str, ...]]) -> Iterator[str]:
    for at, cell in enumerate(row):
        yield from parts(cell) if at in table.figures else (cell,)


UNKNOWN = "\N{EM DASH}"  # in tables for people
EMPTY = frozenset({"", UNKNOWN})
GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _plain(cell: str) -> str:
    """Return a cell as programs read it: numbers without separators, and nothing for an unknown value."""
    if cell == UNKNOWN:
        return ""
    return cell.replace(",", "") if GROUPED.fullmatch(cell) else cell


def _harmless(cell: str) -> str:
    """Return the name with visible characters, quoted if a spreadsheet would read it as a formula."""
    return visible(f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell)


FORMATS = {"text": as_text, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
