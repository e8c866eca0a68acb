"""Parquet, read by pyarrow in batches; a row's line is its number, from 1."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, install_extra
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.integrations.reading.base import Number, Row

BATCH = 256
GROUP_BYTES = 1 << 30  # of one decompressed row group


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of the file. Raises DiaError if it is not Parquet."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        help = install_extra("parquet")
        raise DiaError(Diagnostic("E861", "reading Parquet needs the extra `parquet`", None, help)) from None
    try:
        with parquet.ParquetFile(path) as file:
            yield from _rows(path, file)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise unreadable_file(path, error) from None


def _rows(path: Path, file: Any) -> Iterator[Row]:
    metadata = file.metadata
    if any(metadata.row_group(at).total_byte_size > GROUP_BYTES for at in range(metadata.num_row_groups)):
        help = "write it with smaller row groups"
        raise input_error("E861", f"a row group of more than {GROUP_BYTES >> 30} GiB", path, 1, 1, help)
    number = 0
    names = list(file.schema_arrow.names)
    for batch in file.iter_batches(batch_size=BATCH):
        for cells in batch.to_pylist():
            number += 1
            yield Row(number, {name: _cell(value) for name, value in cells.items()}, lambda name: names.index(name) + 1)


def _cell(value: Any) -> Any:
    """Return the cell as JSON has it: numbers with a point keep their spelling."""
    if isinstance(value, float | Decimal):
        return Number(str(value))
    return value
