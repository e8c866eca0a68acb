"""The data files that the types row and rows name: each is found in the spec folder, read once, and kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from dia_compiler.parse.discover import BENCHMARK_FILE, Folder, inside
from dia_compiler.parse.model import DataFile
from dia_compiler.parse.tables import FILE_BYTES, KINDS, READERS, Columns, read_rows
from dia_compiler.parse.yaml_reader import Node, Scalar, data
from dia_compiler.types.tables import Table
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position, did_you_mean
from dia_language.workers.pool import Servant

UNPACKED = frozenset({".parquet"})  # a few bytes of them may stand for gigabytes
SECONDS = 20.0


class DataFiles:
    """Reads the data files of one benchmark's folder; what is wrong with them gathers in `told` until it is taken."""

    def __init__(self, folder: Folder, files: dict[str, bytes]) -> None:
        self.folder, self.files = folder, files
        self.held: dict[tuple[str, object], Table] = {}
        self.told: list[Diagnostic] = []
        self.bytes = 0

    def taken(self) -> list[Diagnostic]:
        """What has been told since the last time."""
        found, self.told = self.told, []
        return found

    def read(self, source: Node, columns: Node | None) -> DataFile | None:
        """The table of the file that `from` names, with the wanted columns, or None after telling why not."""
        try:
            return DataFile(self._table(source, columns), source.position)
        except DiaError as error:
            self.told += error.diagnostics
            return None

    def _table(self, source: Node, columns: Node | None) -> Table:
        if not isinstance(source, Scalar) or not isinstance(source.value, str):
            message = "`from` names a data file"
            raise DiaError(Diagnostic("E203", message, source.position, "write its path, such as data/questions.csv"))
        wanted = _columns(columns)
        key = (source.text, tuple(wanted.items()) if isinstance(wanted, dict) else wanted)
        if key not in self.held:
            self.held[key] = self._read(source, columns, wanted)
        return self.held[key]

    def _read(self, source: Scalar, columns: Node | None, wanted: Columns) -> Table:
        path = inside(self.folder.path, source.text)
        if path is None:
            mend = f"keep it in the folder of `{BENCHMARK_FILE}`, and write its path from there"
            message = f"the path `{source.text}` leaves the spec folder"
            raise DiaError(Diagnostic("E101", message, source.position, mend))
        if not path.is_file():
            raise _no_file(path, self.folder.path, source)
        self.bytes += path.stat().st_size
        if self.bytes > FILE_BYTES:
            message = f"the data file{'s are' if self.held else ' is'} larger than {FILE_BYTES // 1_000_000} MB"
            together = " together" if self.held else ""
            mend = "split the file, or make several benchmarks" if self.held else "split it, or leave columns out"
            raise DiaError(Diagnostic("E103", message + together, source.position, mend))
        place = source.position if columns is None else columns.position
        read = _confined if path.suffix in UNPACKED else read_rows
        table, raw = read(path, path.as_posix(), source.position, wanted, place)
        self.files[path.relative_to(self.folder.path).as_posix()] = raw
        return table


def _no_file(path: Path, folder: Path, source: Scalar) -> DiaError:
    """The fault of a path where no file lies, with the data file beside it that was meant."""
    if path.exists():
        return DiaError(Diagnostic("E101", f"`{path.as_posix()}` is not a file", source.position))
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    names = [other.relative_to(folder).as_posix() for other in beside if other.suffix in READERS and other.is_file()]
    message = f"no file `{path.as_posix()}`"
    return DiaError(Diagnostic("E101", message, source.position, did_you_mean(source.text, names)))


def _confined(
    path: Path, shown: str, position: Position, columns: Columns, columns_position: Position
) -> tuple[Table, bytes]:
    """The table of a data file and its bytes, read in a process of its own whose memory is bounded. Raises DiaError."""
    with closing(Servant(SECONDS)) as servant:
        try:
            found = servant.ask(_told, path, shown, position, columns, columns_position)
        except LanguageError as error:
            message = f"the data file cannot be read: {error.message}"
            mend = "split the file, or write it as .jsonl"
            raise DiaError(Diagnostic("E103", message, position, mend)) from None
    if isinstance(found, DiaError):
        raise found
    return found, path.read_bytes()


def _told(*arguments: Any) -> Iterator[Table | DiaError]:
    """The table, or the fault that keeps it from being read: with its place, which a fault of a worker has not."""
    try:
        yield read_rows(*arguments)[0]
    except DiaError as error:
        yield error


def _columns(node: Node | None) -> Columns:
    """The option `columns`: names, or for some names their kinds. Raises DiaError."""
    wanted = data(node) if node is not None else None
    if wanted is None:
        return None
    assert node is not None
    if isinstance(wanted, dict) and wanted and all(kind in KINDS for kind in wanted.values()):
        return dict(wanted)
    is_list = isinstance(wanted, list) and wanted and all(isinstance(name, str) for name in wanted)
    if is_list and len(set(wanted)) == len(wanted):
        return tuple(wanted)
    message = "`columns` is a list of names that differ, or for .csv a mapping from names to kinds"
    mend = f"write [question, answer] or {{age: integer}}; the kinds are {', '.join(KINDS)}"
    raise DiaError(Diagnostic("E403", message, node.position, mend))
