"""A table of scores: a row for each model, a column for each item; an empty cell is missing.

A cell is a share of full marks (0, 1, 0.625) or a count of trials (3/5). The first column contains names if its header
is model, respondent, name or id, or if one of its cells is not a number.
"""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, counted, first_repeat, install_extra, visible
from dia_runtime.bundle.compressed import LONGEST_LINE, read_lines
from dia_runtime.bundle.input_errors import input_error, unreadable_file

NAMES = ("model", "respondent", "name", "id")
MISSING = ("", "NA")
COUNT = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)
MOST_CELLS = 50_000_000
MOST_COLUMNS = 1_000_000
NAN = math.nan
BOM = b"\xef\xbb\xbf"
HELP = "a cell must be a share from 0 to 1, a count such as 3/5, or empty if it is missing"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Names of models and items; each model's scores (NaN if missing), and trials if any cell is a count."""

    models: tuple[str, ...]
    items: tuple[str, ...]
    scores: list[array[float]]
    trials: list[array[float]] | None


Row = tuple["array[float]", "array[float] | None"]


def read_matrix(path: Path) -> Matrix:
    """Return the table in a CSV or Parquet file, which may be compressed. Raises DiaError (exit 2) for other files."""
    if not path.is_file():
        message = visible(f"`{path}` is not a file")
        raise DiaError(Diagnostic("E861", message, None, "name runs, or one table of scores"))
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        header, rows = _parquet(path) if is_parquet else _separated(path)
        return _matrix(path, header, rows)
    except (OSError, csv.Error) as error:
        raise unreadable_file(path, error) from None


def _separated(path: Path) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
    text = _text(path)
    before = csv.field_size_limit(LONGEST_LINE)
    header_line = next(text, "")
    csv.field_size_limit(before)
    comma = next((sign for sign in ("\t", ";") if sign in header_line and "," not in header_line), ",")
    header = next(csv.reader([header_line], delimiter=comma), [])
    return [name.strip() for name in header], _rows(text, comma)


def _rows(text: Iterator[str], comma: str) -> Iterator[tuple[int, Sequence[str]]]:
    reader = csv.reader(text, delimiter=comma)
    for cells in reader:
        if cells:
            yield reader.line_num + 1, cells


def _text(path: Path) -> Iterator[str]:
    try:
        for number, raw in read_lines(path, ends=True):
            yield (raw.removeprefix(BOM) if number == 1 else raw).decode("utf-8")
    except UnicodeDecodeError:
        raise input_error("E861", "not UTF-8", path, number, 1, "save it as UTF-8") from None
    except ValueError as error:
        raise unreadable_file(path, error) from None


def _parquet(path: Path) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        help = install_extra("parquet")
        raise DiaError(Diagnostic("E861", "reading Parquet needs the extra `parquet`", None, help)) from None
    try:
        file = parquet.ParquetFile(path)
        _require_size(path, file.metadata.num_rows, file.metadata.num_columns)
        table = file.read()
    except (pyarrow.ArrowException, ValueError) as error:
        raise unreadable_file(path, error) from None
    columns = [column.to_pylist() for column in table.columns]
    return list(table.schema.names), enumerate(zip(*columns, strict=True), 1)


def _require_size(path: Path, rows: int, columns: int) -> None:
    if columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
        raise input_error("E861", f"more than {MOST_CELLS:,} cells", path)


def _matrix(path: Path, header: list[str], rows: Iterator[tuple[int, Sequence[Any]]]) -> Matrix:
    if len(header) < 2:
        raise input_error(
            "E861", "the table has fewer than two columns", path, 1, 1, "name the items on the first line"
        )
    firsts: list[tuple[int, Any]] = []
    scored: list[Row] = []
    for line, cells in rows:
        if len(cells) != len(header):
            raise input_error(
                "E861",
                f"the row has {counted(len(cells), 'cell')}, but the header has {counted(len(header), 'column')}",
                path,
                line,
            )
        firsts.append((line, cells[0]))
        scored.append(_row(path, line, header[1:], cells[1:]))
        _require_size(path, len(scored), len(header))
    named = header[0].lower() in NAMES or not all(_is_number(cell) for _, cell in firsts)
    if not named:
        scored = [
            _joined(_row(path, line, header[:1], [cell]), rest)
            for (line, cell), rest in zip(firsts, scored, strict=True)
        ]
    models = tuple(str(cell) if named else f"row {number}" for number, (_, cell) in enumerate(firsts, 1))
    items = tuple(header[named:])
    for what, names in (("columns", items), ("rows", models)):
        twice = first_repeat(names)
        if twice is not None:
            raise input_error("E861", f"two {what} are named `{twice[:40]}`", path)
    has_counts = any(tries is not None for _, tries in scored)
    trials = [tries or array("d", [1.0]) * len(items) for _, tries in scored] if has_counts else None
    return Matrix(models, items, [row for row, _ in scored], trials)


def _joined(first: Row, rest: Row) -> Row:
    tries = None
    if first[1] is not None or rest[1] is not None:
        tries = (first[1] or array("d", [1.0])) + (rest[1] or array("d", [1.0]) * len(rest[0]))
    return first[0] + rest[0], tries


def _is_number(cell: Any) -> bool:
    if cell is None or str(cell).strip() in MISSING or COUNT.fullmatch(str(cell).strip()):
        return True
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _row(path: Path, line: int, items: Sequence[str], cells: Sequence[Any]) -> Row:
    """Return the scores of a row, and its trials if any cell is a count."""
    tries: array[float] | None = None
    try:
        row = array("d", map(float, cells))
    except (TypeError, ValueError):
        pairs = [_score(path, line, name, cell) for name, cell in zip(items, cells, strict=True)]
        row = array("d", [score for score, _ in pairs])
        if any(most != 1 for _, most in pairs):
            tries = array("d", [most for _, most in pairs])
    for at, score in enumerate(row):
        if not 0 <= score <= (tries[at] if tries else 1.0) and not math.isnan(score):
            raise _refused(path, line, items[at], cells[at])
    return row, tries


def _score(path: Path, line: int, name: str, cell: Any) -> tuple[float, float]:
    """Return the successes and trials of one cell."""
    text = "" if cell is None else str(cell).strip()
    if text in MISSING:
        return NAN, 1.0
    count = COUNT.fullmatch(text)
    if count:
        return (float(count[1]), float(count[2])) if int(count[2]) else (NAN, 1.0)
    try:
        return float(text), 1.0
    except ValueError:
        raise _refused(path, line, name, cell) from None


def _refused(path: Path, line: int, name: str, cell: Any) -> DiaError:
    return input_error("E891", f"`{str(cell)[:40]}` in the column `{name[:40]}` is not a score", path, line, 1, HELP)
