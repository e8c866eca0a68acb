"""Write rows as a Parquet file, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, install_extra

ROWS = 10_000
TEXT, INTEGER, TEXTS = "string", "int64", "texts"
Record = Mapping[str, Any]
Columns = Mapping[str, "str | Mapping[str, str]"]


def parquet(columns: Columns, rows: Iterable[Record], instead: str) -> Iterator[bytes]:
    """Yield the bytes of the file, in pieces. Raises DiaError (exit 2) if pyarrow is missing.

    A column contains texts, integers, lists of texts, or lists of records.
    """
    try:
        import pyarrow
        from pyarrow import parquet as form
    except ImportError:
        help = f"{install_extra('parquet')}, or export to {instead}"
        raise DiaError(Diagnostic("E845", "Parquet needs pyarrow, which is not installed", None, help)) from None
    schema = pyarrow.schema([(name, _kind(pyarrow, kind)) for name, kind in columns.items()])
    return _pieces(pyarrow, form, schema, iter(rows))


def _kind(pyarrow: Any, kind: str | Mapping[str, str]) -> Any:
    if isinstance(kind, Mapping):
        return pyarrow.list_(pyarrow.struct([(name, _kind(pyarrow, member)) for name, member in kind.items()]))
    kinds = {TEXT: pyarrow.string(), INTEGER: pyarrow.int64(), TEXTS: pyarrow.list_(pyarrow.string())}
    return kinds[kind]


def _pieces(pyarrow: Any, form: Any, schema: Any, rows: Iterator[Record]) -> Iterator[bytes]:
    sink = _Sink()
    with form.ParquetWriter(pyarrow.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        while batch := [dict(row) for row in islice(rows, ROWS)]:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            yield sink.take()
    yield sink.take()


class _Sink:
    """A file that returns what was written to it."""

    closed = False

    def __init__(self) -> None:
        self.buffered: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self.buffered.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Do nothing, because everything is in memory."""

    def take(self) -> bytes:
        pieces, self.buffered = self.buffered, []
        return b"".join(pieces)
