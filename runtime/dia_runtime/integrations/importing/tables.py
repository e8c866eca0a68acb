"""Import tables of replies and correct answers as a run, completely or not at all."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.bundle.atomic_output import temporary_sibling
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.input_errors import input_error
from dia_runtime.bundle.merkle import MerkleTree, leaf_hash
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.integrations.importing.fields import Cells, Columns
from dia_runtime.integrations.importing.sorted_rows import SortedRows
from dia_runtime.integrations.readers import reader_of
from dia_runtime.integrations.reading.base import Reader, Row, UnusableRow
from dia_runtime.store.schema import StoredQuestion
from dia_runtime.store.store import Store, open_store

MOST_ERRORS = 20
MOST_EQUAL = 1_000  # errors after which a file is not read further, even if all are the same
MOST_PLACES = 5  # listed positions of one error
BATCH = 1_000
ENDINGS = re.compile(r"(?:\.(?:jsonl|ndjson|json|csv|parquet|gz|zst))+$")
TOP = ("template", "item", "instance", "variant", "category", "domain", "level", "adversarial", "number")


@dataclass(frozen=True, slots=True)
class Source:
    """A file, its reader, and the model whose replies it contains if no column says so."""

    path: Path
    reader: Reader
    model: str


@dataclass(frozen=True, slots=True)
class Form:
    """The answer format and the points of the imported questions, and the name of the benchmark."""

    format: Mapping[str, Any]
    points: Mapping[str, Any]
    benchmark: str
    points_told: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """The contents of the new run: the number of items and questions, and of replies of each model."""

    path: Path
    questions_root: str
    items: int
    questions: int
    k: int
    models: Mapping[str, int]
    faults: Sequence[Diagnostic] = ()
    missing: int = 0


class RowErrors:
    """Errors in files, reported together: up to 20 different ones at once, unless valid rows are kept."""

    def __init__(self, keep: bool) -> None:
        self.keep, self.diagnostics_so_far, self.exit_code = keep, list[Diagnostic](), 2
        self.different: set[tuple[str, str]] = set()
        self.raised: DiaError | None = None

    def add(self, *errors: DiaError) -> None:
        """Add an error. Raises DiaError when there are too many and valid rows are not kept."""
        for error in errors:
            self.diagnostics_so_far.extend(error.diagnostics)
            self.different |= {(entry.code, entry.message) for entry in error.diagnostics}
            self.exit_code = max(self.exit_code, error.exit_code)
        if not self.keep and (len(self.different) >= MOST_ERRORS or len(self.diagnostics_so_far) >= MOST_EQUAL):
            self.require_none(is_complete=False)

    def require_none(self, is_complete: bool = True) -> None:
        """Raise DiaError if there are errors and valid rows are not kept."""
        if self.diagnostics_so_far and not self.keep:
            self.raised = DiaError(grouped(self.diagnostics_so_far, is_complete)[:MOST_ERRORS], self.exit_code)
            raise self.raised


def grouped(entries: Sequence[Diagnostic], is_complete: bool = True) -> list[Diagnostic]:
    """Return each different error once, at its first place, with the number of rows that have it and a few more places.

    Errors that differ in more than their place stay as they are. Unless the files were read to their end, there may
    be more rows.
    """
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for entry in entries:
        groups.setdefault((entry.code, entry.message), []).append(entry)
    return [_with_count(group, is_complete) for group in groups.values()]


def _with_count(group: Sequence[Diagnostic], is_complete: bool) -> Diagnostic:
    first, *others = group
    if not others:
        return first
    positions = [entry.position for entry in group if entry.position is not None]
    in_one_file = len({position.file for position in positions}) == 1
    places = [str(each.line) if in_one_file else f"{each.file}:{each.line}" for each in positions[:MOST_PLACES]]
    number = f"{len(group):,} rows" if is_complete else f"at least {len(group):,} rows"
    where = f": {'lines ' if in_one_file else ''}{', '.join(places)}" if places else ""
    more = ", ..." if len(positions) > MOST_PLACES else ""
    return replace(first, message=f"{first.message} (in {number}{where}{more})")


def each_row(
    sources: Sequence[Source], faults: RowErrors, begin: Callable[[Source], None]
) -> Iterator[tuple[Source, Row]]:
    """Yield every row of every file, and report unreadable ones; `begin` is called with each file before its rows."""
    for source in sources:
        begin(source)
        count, before = 0, len(faults.diagnostics_so_far)
        try:
            for row in source.reader(source.path):
                if isinstance(row, DiaError):
                    faults.add(row)
                    continue
                count += 1
                yield source, row
        except DiaError as error:
            if error is faults.raised:
                raise
            faults.add(error)
        if not count and len(faults.diagnostics_so_far) == before:
            faults.add(input_error("E861", "the file has no rows", source.path))


def source(path: Path, kind: str, model: str | None) -> Source:
    """Return the file as a source; by default, the model's name is that of the file."""
    return Source(path, reader_of(kind), model or ENDINGS.sub("", path.name) or path.name)


def import_tables(
    sources: Sequence[Source], columns: Columns, form: Form, out: Path, force: bool = False, keep: bool = False
) -> Imported:
    """Import the files as a run `out`, which only appears when it is complete.

    Raises DiaError (exit 2) with up to 20 different errors in rows, or if the file already exists. With `keep`, invalid
    rows are left out and reported.
    """
    faults = RowErrors(keep)
    with publishing(out, force) as folder, closing(SortedRows(folder)) as sorted_rows:
        _fill(sorted_rows, sources, columns, faults)
        done = _run(sorted_rows, form, folder / "run")
    return Imported(out, *done, faults.diagnostics_so_far)


@contextmanager
def publishing(out: Path, force: bool) -> Iterator[Path]:
    """Yield a private folder; the file `run` that is created in it becomes `out` if there is no error."""
    refuse_special_file(out)
    if not force and out.exists():
        raise _exists_error(out)
    with temporary_sibling(out) as folder:
        yield folder
        _publish(folder / "run", out, force)


def _fill(sorted_rows: SortedRows, sources: Sequence[Source], columns: Columns, faults: RowErrors) -> None:
    for source, row in each_row(sources, faults, lambda source: sorted_rows.files.append(source.path)):
        try:
            sorted_rows.add(row.line, columns.graded_row(row, source.model))
        except UnusableRow as error:
            faults.add(row_error(source.path, row, columns, error))
    faults.require_none()
    if not sorted_rows.models():
        raise DiaError(grouped(faults.diagnostics_so_far)[:MOST_ERRORS], faults.exit_code)


def row_error(path: Path, row: Row, columns: Cells, error: UnusableRow) -> DiaError:
    """Return the error for a row that cannot be used, at the position of its cell."""
    column = columns.of.get(error.field or "")
    place = row.column_of(column) if column is not None and column in row.cells else 1
    return input_error("E862", error.message, path, row.line, place, error.help)


def _run(sorted_rows: SortedRows, form: Form, path: Path) -> tuple[str, int, int, int, dict[str, int]]:
    root, sizes = _root_and_sizes(sorted_rows, form)
    k = max(sizes.values())
    facts = {"bundle_id": None, "questions_root": root, "benchmark": form.benchmark, "version": None, "k": k}
    with open_store(path, root) as store:
        store.initialize({**facts, "points_told": form.points_told}, _questions(sorted_rows, form))
        replies = {model: _save(store, sorted_rows, model) for model in sorted_rows.models()}
    return root, len(sizes), sizes.total(), k, replies


def _root_and_sizes(sorted_rows: SortedRows, form: Form) -> tuple[str, Counter[str]]:
    """Return the digest of the questions, which does not depend on their order in the files, and the k of each item."""
    tree, sizes = MerkleTree(), Counter[str]()
    for id, labels, grading in sorted_rows.questions():
        tree.add(_leaf(id, labels, grading, form))
        sizes[labels.get("item", id)] += 1
    return tree.root(), sizes


def _leaf(id: str, labels: Mapping[str, Any], grading: str, form: Form) -> bytes:
    question = {"id": id, "item": labels.get("item", id), "grading": grading}
    return leaf_hash(canonical_line({**question, "format": dict(form.format), "points": dict(form.points)}))


def _questions(sorted_rows: SortedRows, form: Form) -> Iterator[StoredQuestion]:
    format, points = (
        json.dumps(dict(record), ensure_ascii=False, sort_keys=True) for record in (form.format, form.points)
    )
    sizes = Counter[str]()
    for position, (id, labels, grading) in enumerate(sorted_rows.questions()):
        item = labels.get("item", id)
        values: dict[str, Any] = {"template": form.benchmark, "item": item, "instance": sizes[item], **labels}
        sizes[item] += 1
        labelled: dict[str, Any] = {name: values.get(name) for name in TOP}
        yield StoredQuestion(
            position=position,
            id=id,
            leaf=_leaf(id, labels, grading, form),
            **labelled,
            format=format,
            points=points,
            grading=grading,
            skills=json.dumps(labels.get("skills", []), ensure_ascii=False),
        )


def _save(store: Store, sorted_rows: SortedRows, model: str) -> int:
    """Save the replies of the model and return their number. Both sides are ordered by id."""
    number, count = store.respondent(model, model, {}), 0
    ids = enumerate(id for id, _, _ in sorted_rows.questions())
    position, at = next(ids)
    batch = []
    for id, attempt, reply in sorted_rows.replies(model):
        while at != id:
            position, at = next(ids)
        batch.append((position, attempt, reply))
        count += 1
        if len(batch) >= BATCH:
            store.save(number, batch)
            batch = []
    store.save(number, batch)
    return count


def _publish(run: Path, out: Path, force: bool) -> None:
    """Move the run to its target. Raises DiaError if a file was created there meanwhile."""
    if force:
        for end in ("-wal", "-shm", "-journal"):  # of the run that existed
            Path(f"{out}{end}").unlink(missing_ok=True)
        run.replace(out)
        return
    try:
        os.link(run, out)
    except FileExistsError:
        raise _exists_error(out) from None
    except OSError:  # a file system without links
        run.rename(out)


def _exists_error(out: Path) -> DiaError:
    return DiaError(
        Diagnostic(
            "E863", f"`{out}` already exists", None, "use `--force` to replace it, or choose another file with `--out`"
        )
    )
