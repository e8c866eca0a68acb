"""The data files that the types row and rows name: each is found in the spec folder, read once, and kept."""

from __future__ import annotations

from dia_runtime.language.diagnostics import DiaError, Diagnostic, did_you_mean

from dia_compiler.discover import BENCHMARK_FILE, Folder, inside
from dia_compiler.read import Node, Scalar, data
from dia_compiler.rows import KINDS, READERS, Columns, read_rows
from dia_compiler.spec import DataFile
from dia_compiler.types.tables import Table


class DataFiles:
    """Reads the data files of one benchmark's folder; what is wrong with them gathers in `told` until it is taken."""

    def __init__(self, folder: Folder, files: dict[str, bytes]) -> None:
        self.folder, self.files = folder, files
        self.held: dict[tuple[str, object], Table] = {}
        self.told: list[Diagnostic] = []

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
        if not path.is_file() and path.parent.is_dir():
            beside = sorted(other for other in path.parent.iterdir() if other.suffix in READERS)
            near = did_you_mean(source.text, [other.relative_to(self.folder.path).as_posix() for other in beside])
            raise DiaError(Diagnostic("E101", f"no file `{path.as_posix()}`", source.position, near))
        place = source.position if columns is None else columns.position
        table, raw = read_rows(path, path.as_posix(), source.position, wanted, place)
        self.files[path.relative_to(self.folder.path).as_posix()] = raw
        return table


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
