"""The data files that the types row and rows name: each is found in the spec folder, read once, and cached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from dia_compiler.parse.discover import BENCHMARK_FILE, Folder, inside
from dia_compiler.parse.model import DataFile
from dia_compiler.parse.tables import FILE_BYTES, KINDS, READERS, Columns, read_rows
from dia_compiler.types.tables import Table
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position, did_you_mean
from dia_language.workers.pool import SingleWorker
from dia_language.yaml_nodes import Node, Scalar, data

UNPACKED = frozenset({".parquet"})  # compressed formats, in which a few bytes can mean gigabytes
SECONDS = 20.0


class DataFiles:
    """Reads the data files of one benchmark's folder; errors are collected until `take_diagnostics`."""

    def __init__(self, folder: Folder, files: dict[str, bytes]) -> None:
        self.folder, self.files = folder, files
        self.tables: dict[tuple[str, object], Table] = {}
        self.diagnostics: list[Diagnostic] = []
        self.bytes = 0

    def take_diagnostics(self) -> list[Diagnostic]:
        """Return what has been reported since the last call."""
        diagnostics, self.diagnostics = self.diagnostics, []
        return diagnostics

    def read(self, source: Node, columns: Node | None) -> DataFile | None:
        """Return the table of the file that `from` names, with the wanted columns; None after reporting errors."""
        try:
            return DataFile(self._table(source, columns), source.position)
        except DiaError as error:
            self.diagnostics += error.diagnostics
            return None

    def _table(self, source: Node, columns: Node | None) -> Table:
        if not isinstance(source, Scalar) or not isinstance(source.value, str):
            message = "`from` needs the path of a data file"
            raise DiaError(Diagnostic("E203", message, source.position, "write a path, such as data/questions.csv"))
        chosen_columns = _columns(columns)
        key = (source.text, tuple(chosen_columns.items()) if isinstance(chosen_columns, dict) else chosen_columns)
        if key not in self.tables:
            self.tables[key] = self._read(source, columns, chosen_columns)
        return self.tables[key]

    def _read(self, source: Scalar, columns: Node | None, chosen_columns: Columns) -> Table:
        path = inside(self.folder.path, source.text)
        if path is None:
            help = f"put it in the folder of `{BENCHMARK_FILE}`, and write its path relative to that folder"
            message = f"the path `{source.text}` leads outside the spec folder"
            raise DiaError(Diagnostic("E101", message, source.position, help))
        if not path.is_file():
            raise _no_file(path, self.folder.path, source)
        self.bytes += path.stat().st_size
        if self.bytes > FILE_BYTES:
            message = f"the data file{'s are' if self.tables else ' is'} larger than {FILE_BYTES // 1_000_000} MB"
            together = " together" if self.tables else ""
            help = "split the file, or make several benchmarks" if self.tables else "split it, or read fewer columns"
            raise DiaError(Diagnostic("E103", message + together, source.position, help))
        place = source.position if columns is None else columns.position
        read = _confined if path.suffix in UNPACKED else read_rows
        table, raw = read(path, path.as_posix(), source.position, chosen_columns, place)
        self.files[path.relative_to(self.folder.path).as_posix()] = raw
        return table


def _no_file(path: Path, folder: Path, source: Scalar) -> DiaError:
    """Return the error for a path without a file, with a suggestion from the data files of that folder."""
    if path.exists():
        return DiaError(Diagnostic("E101", f"`{path.as_posix()}` is not a file", source.position))
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    names = [other.relative_to(folder).as_posix() for other in beside if other.suffix in READERS and other.is_file()]
    message = f"no file `{path.as_posix()}`"
    return DiaError(Diagnostic("E101", message, source.position, did_you_mean(source.text, names)))


def _confined(
    path: Path, display_name: str, position: Position, columns: Columns, columns_position: Position
) -> tuple[Table, bytes]:
    """Return the table of a data file and its bytes, read in a process with limited memory. Raises DiaError."""
    with closing(SingleWorker(SECONDS)) as worker:
        try:
            outcome = worker.call(_table_or_error, path, display_name, position, columns, columns_position)
        except LanguageError as error:
            message = f"the data file cannot be read: {error.message}"
            help = "split the file, or write it as .jsonl"
            raise DiaError(Diagnostic("E103", message, position, help)) from None
    if isinstance(outcome, DiaError):
        raise outcome
    return outcome, path.read_bytes()


def _table_or_error(*arguments: Any) -> Iterator[Table | DiaError]:
    """Return the table, or the error with its position, which an error raised in a worker would lose."""
    try:
        yield read_rows(*arguments)[0]
    except DiaError as error:
        yield error


def _columns(node: Node | None) -> Columns:
    """Return the option `columns`: names, or for some names their kinds. Raises DiaError."""
    value = data(node) if node is not None else None
    if value is None:
        return None
    assert node is not None
    if isinstance(value, dict) and value and all(kind in KINDS for kind in value.values()):
        return dict(value)
    is_list = isinstance(value, list) and value and all(isinstance(name, str) for name in value)
    if is_list and len(set(value)) == len(value):
        return tuple(value)
    message = "`columns` must be a list of different names or, for .csv, a mapping from names to kinds"
    help = f"write [question, answer] or {{age: integer}}; the kinds are {', '.join(KINDS)}"
    raise DiaError(Diagnostic("E403", message, node.position, help))
