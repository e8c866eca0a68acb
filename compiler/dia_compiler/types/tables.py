"""A table read from a data file: its rows, kept as lines of text until needed."""

from __future__ import annotations

import json
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Record, Value, decode, encode

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Table:
    """Rows in file order. Each is a record of all columns; a missing value is none.

    The rows are one text of bytes, a line of JSON each, so that many of them stay small, and they travel to workers
    packed, since one of these may not hold them twice.
    """

    __slots__ = ("columns", "lines", "name", "packed", "starts")

    def __init__(self, name: str, columns: Sequence[str], lines: bytes) -> None:
        self.name, self.columns, self.lines = name, tuple(columns), lines
        self.starts = array("Q", [0, *_ends(lines)])
        self.packed: bytes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        self.packed = self.packed or zlib.compress(self.lines, 1)
        return _unpacked, (self.name, self.columns, self.packed)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    def at(self, number: int) -> Record:
        """Return the row at this position in the file, counted from 0."""
        row = json.loads(self.lines[self.starts[number] : self.starts[number + 1]])
        return Record((column, decode(row.get(column))) for column in self.columns)

    def column(self, name: str) -> Iterator[Value]:
        """Yield the values of a column, row by row."""
        for start, end in pairwise(self.starts):
            yield decode(json.loads(self.lines[start:end]).get(name))

    def find(self, row: Value) -> int | None:
        """Return the position of the first row that equals the record; None if there is none."""
        if not isinstance(row, Mapping) or set(row) != set(self.columns):
            return None
        try:
            line = line_of({column: row[column] for column in self.columns})
        except LanguageError:
            return None
        if self.lines.startswith(line):
            return 0
        before = self.lines.find(b"\n" + line)
        return bisect_left(self.starts, before + 1) if before >= 0 else None


def _unpacked(name: str, columns: Sequence[str], packed: bytes) -> Table:
    return Table(name, columns, zlib.decompress(packed))


def line_of(row: Mapping[str, Value]) -> bytes:
    """Return the row as a line of JSON without none values. Raises LanguageError for a value that cannot be stored."""
    stored = {name: value if type(value) is str else encode(value) for name, value in row.items() if value is not None}
    return (ENCODER.encode(stored) + "\n").encode()


def _ends(lines: bytes) -> Iterator[int]:
    at = lines.find(b"\n") + 1
    while at:
        yield at
        at = lines.find(b"\n", at) + 1
