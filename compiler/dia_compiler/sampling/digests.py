"""Find equal digests among millions: by sorting, in runs on disk if they are many."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

RUN = 100_000
NUMBER = 8


class Group(NamedTuple):
    """Rows that share a digest: how many, and the numbers of the first two."""

    size: int
    first: int
    second: int


def groups(digests: Iterable[bytes], run: int = RUN) -> Iterator[Group]:
    """Yield the rows of equal digests, in the order of the digests; rows are numbered in the given order."""
    marked = (digest + number.to_bytes(NUMBER, "big") for number, digest in enumerate(digests))
    for _, rows in groupby(_sorted(marked, run), key=lambda row: row[:-NUMBER]):
        numbers = [int.from_bytes(row[-NUMBER:], "big") for row in islice(rows, 2)]
        yield Group(len(numbers) + sum(1 for _ in rows), numbers[0], numbers[-1])


def _sorted(rows: Iterator[bytes], run: int) -> Iterator[bytes]:
    """Yield the rows in ascending order; only one run is in memory."""
    first_batch = sorted(islice(rows, run))
    if len(first_batch) < run:
        yield from first_batch
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dia-digests-")))
        runs = [_written(folder / "0", first_batch)]
        while batch := sorted(islice(rows, run)):
            runs.append(_written(folder / str(len(runs)), batch))
        del first_batch[:], batch
        yield from heapq.merge(*map(_read, runs))


def _written(path: Path, rows: list[bytes]) -> tuple[Path, int]:
    path.write_bytes(b"".join(rows))
    return path, len(rows[0])


def _read(run: tuple[Path, int]) -> Iterator[bytes]:
    path, size = run
    with path.open("rb") as file:
        while row := file.read(size):
            yield row
