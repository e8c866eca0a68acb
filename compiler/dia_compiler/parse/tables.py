"""Read data files into tables: JSON Lines, CSV and Parquet. Values are exact; errors name the line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any

from dia_compiler.types.tables import Table, line_of
from dia_language.diagnostics import DiaError, Diagnostic, Position, counted, did_you_mean, first_repeat, install_extra
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record, Value, decimal

BOM = b"\xef\xbb\xbf"
FILE_BYTES = 100_000_000
LINE_BYTES = 4_000_000
MOST_ROWS = 500_000
MOST_VALUES = 2_500_000
MOST_COLUMNS = 10_000
DEPTH = 32
DIGITS = 4_000
KINDS = ("integer", "decimal", "boolean", "text")
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE]([+-]?[0-9]+))?", re.ASCII)
INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)
PARQUET_MISSING = "reading .parquet needs the extra `parquet`"
INSTALL = install_extra("parquet")

Columns = tuple[str, ...] | Mapping[str, str] | None
Numbered = Iterator[tuple[int, Record]]


class _Refused(Exception):
    """Why a row or a cell cannot be read, and the fix."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message, self.help = message, help


def read_rows(
    path: Path, display_name: str, position: Position, columns: Columns = None, columns_position: Position | None = None
) -> tuple[Table, bytes]:
    """Return the table of a data file, and its bytes; `columns` are those wanted, or for CSV the kinds of some.

    Raises DiaError, at the row that cannot be read, at `columns_position`, or at `position` (where the spec names the
    file).
    """
    reader = READERS.get(path.suffix)
    if reader is None:
        help = did_you_mean(path.suffix, READERS) or f"data files are {', '.join(READERS)}"
        raise _fault("E111", f"`{path.name}` is not a supported data file", position, help)
    raw = _bytes(path, position)
    place = columns_position or position
    if isinstance(columns, Mapping) and path.suffix != ".csv":
        message = f"`columns` with kinds is only for .csv: a {path.suffix} file already has typed values"
        raise _fault("E403", message, place, "write a list: `columns: [a, b]`")
    names, lines = _stored(reader(raw, display_name, position, columns), columns, display_name, place)
    return Table(path.name, names, lines), raw


def _fault(code: str, message: str, position: Position, help: str | None = None) -> DiaError:
    return DiaError(Diagnostic(code, message, position, help))


def _bytes(path: Path, position: Position) -> bytes:
    try:
        if not path.is_file():
            raise _fault("E101", f"no file `{path.as_posix()}`", position)
        with path.open("rb") as file:
            raw = file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        message = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
        raise _fault("E101", message, position) from None
    if len(raw) > FILE_BYTES:
        message = f"the data file is larger than {FILE_BYTES // 1_000_000} MB"
        raise _fault("E103", message, position, "split it, or read fewer columns")
    return raw


def _stored(rows: Numbered, columns: Columns, display_name: str, position: Position) -> tuple[tuple[str, ...], bytes]:
    """Return the columns and the rows as lines. Raises DiaError for a duplicate row."""
    chosen = columns if isinstance(columns, tuple) else None
    column_order: dict[str, int] = {}
    order = {name: place for place, name in enumerate(chosen)} if chosen is not None else column_order
    digests: set[bytes] = set()
    lines = io.BytesIO()  # returns its bytes without a copy
    before: tuple[str, ...] = ()
    names: list[str] = []
    for line, row in rows:
        if (row_names := tuple(row)) != before:
            column_order.update((name, len(column_order)) for name in row if name not in column_order)
            if len(column_order) > MOST_COLUMNS:
                raise _fault("E111", f"more than {MOST_COLUMNS:,} columns", Position(display_name, line, 1))
            before, names = row_names, sorted((name for name in row if name in order), key=order.__getitem__)
        written = line_of({name: row[name] for name in names})
        mark = blake2b(written, digest_size=16).digest()
        if mark in digests:
            _check_columns(column_order, columns, True, position)
            help = "remove it, or read a column that distinguishes the rows"
            raise _fault("E111", "this row is the same as an earlier one", Position(display_name, line, 1), help)
        digests.add(mark)
        lines.write(written)
    _check_columns(column_order, columns, bool(digests), position)
    return (chosen if chosen is not None else tuple(column_order)), lines.getvalue()


def _check_columns(known_columns: Mapping[str, int], columns: Columns, has_rows: bool, position: Position) -> None:
    if not has_rows:
        raise _fault("E111", "the data file has no rows", position)
    unknown = next((name for name in columns or () if name not in known_columns), None)
    if unknown is not None:
        help = did_you_mean(unknown, known_columns) or f"its columns are {', '.join(list(known_columns)[:20])}"
        raise _fault("E111", f"the data file has no column `{unknown}`", position, help)


class _Tally:
    """Counts rows and values. Raises _Refused if they are too many."""

    def __init__(self) -> None:
        self.rows = self.values = 0

    def add(self, values: int) -> None:
        """Add a row of this many values."""
        self.rows += 1
        self.values += values
        if self.rows > MOST_ROWS:
            raise _Refused(f"more than {MOST_ROWS:,} rows", "split the file")
        if self.values > MOST_VALUES:
            raise _Refused(f"more than {MOST_VALUES:,} values", "split the file, or read fewer columns")


def _lines(raw: bytes, display_name: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 text with their ends, one at a time, to keep a large file in memory only once."""
    start = len(BOM) if raw.startswith(BOM) else 0
    number = 1
    while start < len(raw):
        end = raw.find(b"\n", start) + 1 or len(raw)
        if end - start > LINE_BYTES:
            help = "put each row on its own line; shorten long texts"
            raise _fault("E111", f"a line has more than {LINE_BYTES:,} bytes", Position(display_name, number, 1), help)
        try:
            yield raw[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            place, message = (
                Position(display_name, number, error.start + 1),
                f"not UTF-8: byte {start + error.start} of the file",
            )
            raise _fault("E102", message, place, "save the file as UTF-8") from None
        start, number = end, number + 1


# JSON Lines


def _json_lines(raw: bytes, display_name: str, position: Position, columns: Columns) -> Numbered:
    """Return the objects of a file with one per line; empty lines are skipped."""
    tally = _Tally()
    for number, line in enumerate(_lines(raw, display_name), 1):
        if line.strip(" \t\r\n"):
            try:
                row = _object(line)
                tally.add(_counted(row))
            except _Refused as error:
                raise _fault("E111", error.message, Position(display_name, number, 1), error.help) from None
            yield number, row


def _object(line: str) -> Record:
    try:
        row = json.loads(
            line, parse_int=_integer, parse_float=_number, parse_constant=_constant, object_pairs_hook=_record
        )
    except json.JSONDecodeError as error:
        raise _Refused(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})") from None
    except RecursionError:
        raise _Refused(f"nested more than {DEPTH} levels deep") from None
    if not isinstance(row, Record):
        raise _Refused("this line is not an object", 'write {"column": value, ...} on every line')
    return row


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise _Refused(f"a number has more than {DIGITS:,} digits", "write it as text")
    return int(text)


def _number(text: str) -> Value:
    """Return the exact number that the text represents."""
    match = NUMBER.fullmatch(text)
    power = match[1] if match else None
    if match is None or len(text) > DIGITS or (power is not None and abs(int(power)) > DIGITS):
        raise _Refused(f"a number has more than {DIGITS:,} digits", "write it as text")
    return decimal(Fraction(text))


def _constant(text: str) -> Value:
    raise _Refused(f"`{text}` is not a number", "write null for a missing value")


def _record(pairs: list[tuple[str, Value]]) -> Record:
    record = Record(pairs)
    if len(record) != len(pairs):
        twice = first_repeat(name for name, _ in pairs) or ""
        raise _Refused(f"duplicate key `{twice[:40]}` in one object")
    return record


def _counted(value: Value, depth: int = 0) -> int:
    """Return the number of values in a value. Raises _Refused if it is nested too deeply or contains invalid text."""
    if depth > DEPTH:
        raise _Refused(f"nested more than {DEPTH} levels deep")
    if isinstance(value, str):
        _check_text(value)
        return 1
    if isinstance(value, Mapping):
        for name in value:
            _check_text(name)
        return 1 + sum(_counted(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(_counted(item, depth + 1) for item in value)
    return 1


def _check_text(text: str) -> None:
    if len(text) > TEXT_LENGTH:
        raise _Refused(f"a text has more than {TEXT_LENGTH:,} characters")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise _Refused("half of a surrogate pair, which is not valid text")


# CSV


def _csv(raw: bytes, display_name: str, position: Position, columns: Columns) -> Numbered:
    """Return the rows of a file with a header (RFC 4180); cells are text unless `columns` gives their kind."""
    before = csv.field_size_limit(TEXT_LENGTH)
    try:
        yield from _csv_rows(csv.reader(_without_zeros(raw, display_name), strict=True), display_name, columns)
    finally:
        csv.field_size_limit(before)


def _without_zeros(raw: bytes, display_name: str) -> Iterator[str]:
    """Yield the lines of the file. Raises DiaError at a zero byte, which text files do not contain."""
    has_zeros = b"\0" in raw
    for number, line in enumerate(_lines(raw, display_name), 1):
        if has_zeros and "\0" in line:
            raise _fault(
                "E111",
                "the file contains a zero byte",
                Position(display_name, number, line.index("\0") + 1),
                "save it as text",
            )
        yield line


def _csv_rows(reader: Any, display_name: str, columns: Columns) -> Numbered:
    kinds = columns if isinstance(columns, Mapping) else {}
    tally, line = _Tally(), 1
    try:
        header: list[str] = next(reader, [])
        _check_header(header)
        line = reader.line_num + 1
        for cells in reader:
            if len(cells) > 1 and sum(map(len, cells)) > LINE_BYTES:
                raise _Refused(f"a row has more than {LINE_BYTES:,} characters", "shorten long texts")
            tally.add(len(cells))
            yield line, _row(header, cells, kinds)
            line = reader.line_num + 1
    except _Refused as error:
        raise _fault("E111", error.message, Position(display_name, line, 1), error.help) from None
    except csv.Error as error:
        raise _fault("E111", f"not CSV: {_csv_words(str(error))}", Position(display_name, line, 1), QUOTING) from None


def _csv_words(problem: str) -> str:
    return next((ours for words, ours in CSV_WORDS if words in problem), problem)


# Python's words -> ours
CSV_WORDS = (
    ("unexpected end of data", "a quote is not closed"),
    ("expected after", "there is text after the quote that ends a cell"),
    ("field limit", f"a cell has more than {TEXT_LENGTH:,} characters"),
    ("new-line character", "there is a carriage return within a line"),
)
QUOTING = 'quote cells that contain a comma, a quote or a line break, and write "" for a quote inside'


def _check_header(header: Sequence[str]) -> None:
    if not header:
        raise _Refused("the file has no header", "name the columns in the first line")
    if "" in header:
        raise _Refused(f"column {header.index('') + 1} has no name")
    if len(header) > MOST_COLUMNS:
        raise _Refused(f"more than {MOST_COLUMNS:,} columns")
    twice = first_repeat(header)
    if twice is not None:
        raise _Refused(f"two columns are named `{twice[:40]}`")


def _row(header: Sequence[str], cells: Sequence[str], kinds: Mapping[str, str]) -> Record:
    if not cells:
        raise _Refused("an empty line", "remove it")
    if len(cells) != len(header):
        raise _Refused(
            f"the row has {counted(len(cells), 'cell')}, but the header has {counted(len(header), 'column')}", QUOTING
        )
    return Record((name, _cell(name, text, kinds.get(name, "text"))) for name, text in zip(header, cells, strict=True))


def _cell(name: str, text: str, kind: str) -> Value:
    """Return the cell as a value of its kind; an empty cell is none, unless its kind is text."""
    if kind == "text":
        return text
    if text == "":
        return None
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    pattern = {"integer": INTEGER, "decimal": DECIMAL}.get(kind)
    if pattern is None or len(text) > DIGITS or not pattern.fullmatch(text):
        raise _Refused(f"`{text[:40]}` in the column `{name}` is not a valid {kind}")
    return int(text) if kind == "integer" else decimal(Fraction(text))


# Parquet


def _parquet(raw: bytes, display_name: str, position: Position, columns: Columns) -> Numbered:
    """Return the rows of a Parquet file, read by pyarrow; a row's line is its number, from 1 on."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise _fault("E206", PARQUET_MISSING, position, INSTALL) from None
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        yield from _parquet_rows(file, columns)
    except _Refused as error:
        raise _fault("E111", error.message, position, error.help) from None
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise _fault("E111", f"not Parquet: {str(error).splitlines()[0][:200]}", position) from None


def _check_size(file: Any, columns: int) -> None:
    """Raise _Refused for a table that is too large, before it is unpacked."""
    metadata, tally = file.metadata, _Tally()
    tally.rows = metadata.num_rows - 1
    tally.add(metadata.num_rows * columns)
    if sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups)) > 5 * FILE_BYTES:
        raise _Refused(f"the file unpacks to more than {5 * FILE_BYTES // 1000000} MB", "split the file")


def _parquet_rows(file: Any, columns: Columns) -> Numbered:
    names = file.schema_arrow.names
    _check_header(names)
    chosen = [name for name in names if columns is None or name in columns]
    _check_size(file, len(chosen))
    tally, number = _Tally(), 0
    for batch in file.iter_batches(batch_size=100, columns=chosen):
        for cells in batch.to_pylist():
            number += 1
            row = Record((name, _value(name, value)) for name, value in cells.items())
            tally.add(_counted(row))
            yield number, row


def _value(name: str, value: Any) -> Value:
    """Return the value of a cell in the spec language."""
    if isinstance(value, Mapping):
        return Record((str(key), _value(name, part)) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return [_value(name, item) for item in value]
    if value is None or type(value) in (bool, int, str, bytes):
        return value
    convert = next((convert for kind, convert in CONVERSIONS if isinstance(value, kind)), None)
    if convert is None:
        raise _Refused(
            f"the column `{name}` contains a {type(value).__name__}, which the spec language does not support"
        )
    return convert(value)


def _float(value: float) -> Value:
    """Return the number that the shortest decimal text of a float represents: 0.1 is 1/10."""
    if not isfinite(value):
        raise _Refused(f"`{value}` is not a number", "write null for a missing value")
    return _number(repr(value))


def _decimal(value: Decimal) -> Value:
    if not value.is_finite():
        raise _Refused(f"`{value}` is not a number")
    return _number(f"{value:f}")


def _moment(value: datetime) -> str:
    """Return the moment in UTC; a moment without a time zone is in UTC already."""
    moved = value.astimezone(UTC) if value.tzinfo else value
    return f"{moved.replace(tzinfo=None).isoformat()}Z"


CONVERSIONS: tuple[tuple[type, Callable[[Any], Value]], ...] = (
    (float, _float),
    (Decimal, _decimal),
    (datetime, _moment),
    (date, date.isoformat),
)

READERS: dict[str, Callable[[bytes, str, Position, Columns], Numbered]] = {
    ".jsonl": _json_lines,
    ".csv": _csv,
    ".parquet": _parquet,
}
