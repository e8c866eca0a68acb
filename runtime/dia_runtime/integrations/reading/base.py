"""The output of readers: rows, each with its position in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dia_language.diagnostics import DiaError


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its line (or number, if there are no lines), its cells, and where each of these begins."""

    line: int
    cells: Mapping[str, Any]
    column_of: Callable[[str], int]


RowsOrErrors: TypeAlias = Iterator[Row | DiaError]  # an unreadable row is replaced by its error
Reader: TypeAlias = Callable[[Path], RowsOrErrors]


class Number(str):
    """A number with a point or an exponent as it is written, because binary floats are not exact."""

    __slots__ = ()


class UnusableRow(Exception):
    """Why a cell or a row cannot be used, and how to fix it."""

    def __init__(self, message: str, help: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.message, self.help, self.field = message, help, field
