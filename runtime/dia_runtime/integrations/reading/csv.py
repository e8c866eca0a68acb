"""CSV (RFC 4180): the first row contains the names of the columns, every cell is text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from dia_language.diagnostics import DiaError, counted, first_repeat
from dia_runtime.bundle.compressed import LONGEST_LINE, read_lines
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.integrations.reading.base import Row

BOM = b"\xef\xbb\xbf"
COLUMNS = 10_000
LINES_OF_A_ROW = 1_000_000  # a compressed file could have far more in one quoted cell
QUOTING = 'quote cells that contain a comma, a quote or a line break, and write "" for a quote inside'


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of the file, which may be compressed. Raises DiaError at a malformed row."""
    text = _Lines(path)
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        yield from _rows(path, text)
    except csv.Error as error:
        raise input_error("E861", f"not CSV: {error}", path, text.start, 1, QUOTING) from None
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None
    finally:
        csv.field_size_limit(before)


def _rows(path: Path, text: _Lines) -> Iterator[Row]:
    reader = csv.reader(text, strict=True)
    header = next(reader, [])
    _check_header(path, header)
    text.next_row()
    for cells in reader:
        if len(cells) != len(header):
            if cells:
                message = (
                    f"the row has {counted(len(cells), 'cell')}, but the header has {counted(len(header), 'column')}"
                )
                raise input_error("E861", message, path, text.start, 1, QUOTING)
        else:
            yield Row(text.start, dict(zip(header, cells, strict=True)), lambda name: text.column(header.index(name)))
        text.next_row()


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise input_error("E861", "the file has no header", path, 1, 1, "name the columns on the first line")
    if len(header) > COLUMNS:
        raise input_error("E861", f"more than {COLUMNS:,} columns", path)
    twice = first_repeat(header)
    if twice is not None:
        raise input_error("E861", f"two columns are named `{twice[:40]}`", path, 1)


class _Lines:
    """The lines of the file as text; remembers those of the current row."""

    def __init__(self, path: Path) -> None:
        self.path, self.start, self.number, self.size = path, 1, 0, 0
        self.first = ""
        self.lines = read_lines(path, ends=True)

    def __iter__(self) -> Iterator[str]:
        for number, raw in self.lines:
            self.number = number
            raw = raw.removeprefix(BOM) if number == 1 else raw
            if b"\0" in raw:
                raise input_error(
                    "E861",
                    "the file contains a zero byte",
                    self.path,
                    number,
                    raw.index(b"\0") + 1,
                    "save the file as text",
                )
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise input_error("E861", "not UTF-8", self.path, number, error.start + 1, "save it as UTF-8") from None
            self.first = line if number == self.start else self.first
            self.size += len(line)
            if self.size > LONGEST_LINE:
                raise self._too_long(f"{LONGEST_LINE >> 20} MiB")
            if number - self.start >= LINES_OF_A_ROW:
                raise self._too_long(f"{LINES_OF_A_ROW:,} lines")
            yield line

    def _too_long(self, most: str) -> DiaError:
        return input_error("E861", f"a row of more than {most}", self.path, self.start, 1, QUOTING)

    def next_row(self) -> None:
        """Start the next row."""
        self.start, self.size = self.number + 1, 0

    def column(self, number: int) -> int:
        """Return the column where the cell begins in the first line of its row, or 1 if it begins in a later line."""
        within, count = False, 0
        for place, sign in enumerate(self.first):
            if count == number:
                return place + 1
            within ^= sign == '"'
            count += sign == "," and not within
        return 1
