"""Errors of files that are read line by line."""

from __future__ import annotations

from pathlib import Path

from dia_language.diagnostics import DiaError, Diagnostic, Position, visible


def input_error(
    code: str, message: str, path: Path, line: int = 1, column: int = 1, help: str | None = None
) -> DiaError:
    """Return the error at a position of a table."""
    return DiaError(Diagnostic(code, visible(message), Position(str(path), line, column), help))


def unreadable_file(path: Path, error: Exception) -> DiaError:
    """Return the error for a file that cannot be read at all."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DiaError(Diagnostic("E861", visible(f"`{path}` cannot be read: {why[:1].lower()}{why[1:]}")))
