"""What a foreign format gives: rows, each with its place in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dia_language.diagnostics import DiaError, Diagnostic, Position, visible


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its line (or number, where there are no lines), its cells, and where each of these begins."""

    line: int
    cells: Mapping[str, Any]
    column_of: Callable[[str], int]


Found: TypeAlias = Iterator[Row | DiaError]  # a fault stands in the place of a row that cannot be read
Reader: TypeAlias = Callable[[Path], Found]


class Number(str):
    """A number with a point or an exponent as it is written, since no binary float is exact."""

    __slots__ = ()


class Unfit(Exception):
    """Why a cell or a row is none that can be used, and the mend."""

    def __init__(self, message: str, help: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.message, self.help, self.field = message, help, field


def first_repeat(names: Iterable[str]) -> str | None:
    """The first name that comes a second time, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def fault(code: str, message: str, path: Path, line: int = 1, column: int = 1, help: str | None = None) -> DiaError:
    """The error at a place of a table."""
    return DiaError(Diagnostic(code, visible(message), Position(str(path), line, column), help))


def unreadable(path: Path, error: Exception) -> DiaError:
    """The error for a file that cannot be read at all."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DiaError(Diagnostic("E861", visible(f"`{path}` cannot be read: {why[:1].lower()}{why[1:]}")))
