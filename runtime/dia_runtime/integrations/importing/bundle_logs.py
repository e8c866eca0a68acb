"""Import logs about a bundle: replies are matched to its questions by id and graded with its answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_runtime.bundle.input_errors import input_error
from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.importing.fields import Cells, ReplyRow
from dia_runtime.integrations.importing.sorted_rows import storable
from dia_runtime.integrations.importing.tables import (
    BATCH,
    MOST_ERRORS,
    Imported,
    RowErrors,
    Source,
    each_row,
    grouped,
    publishing,
    row_error,
)
from dia_runtime.integrations.reading.base import Row, UnusableRow
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.load_questions import load_questions
from dia_runtime.store.store import Store, open_store

SEEN = (
    "CREATE TABLE seen (model INTEGER, attempt INTEGER, position INTEGER, file INTEGER, line INTEGER,"
    " PRIMARY KEY (model, attempt, position)) WITHOUT ROWID"
)
MOST_MODELS = 1_000
CLOSE = 2_000  # questions among which a similar id is looked for


class JoinedReplies:
    """Writes replies to the run of a bundle. A file in a private folder records which ones have been seen."""

    def __init__(self, store: Store, bundle: Bundle, folder: Path) -> None:
        self.store, self.bundle, self.size = store, bundle, store.size
        self.seen_replies = sqlite3.connect(folder / "seen", isolation_level=None)
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", SEEN, "BEGIN"):
            self.seen_replies.execute(statement)
        self.files: list[Path] = []
        self.numbers: dict[str, int] = {}
        self.waiting: dict[str, list[tuple[int, int, Reply]]] = {}
        self.replies: dict[str, int] = {}
        self.unknown_ids = 0

    def close(self) -> None:
        """Close the file, so that the folder can be removed."""
        self.seen_replies.close()

    def add(self, line: int, reply_row: ReplyRow) -> None:
        """Add a row of the last file. Raises UnusableRow if it matches no question or is a duplicate."""
        position, number = self._position(reply_row.id), self._number(reply_row.model)
        key = (number, reply_row.attempt, position)
        row = (*key, len(self.files) - 1, line)
        if not self.seen_replies.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?, ?)", row).rowcount:
            query = "SELECT file, line FROM seen WHERE model = ? AND attempt = ? AND position = ?"
            file, before = self.seen_replies.execute(query, key).fetchone()
            help = "use `--field attempt=COLUMN` for several attempts, or `--model` for several models"
            raise UnusableRow(f"the id `{reply_row.id[:200]}` also occurs in {self.files[file]}:{before}", help, "id")
        self._save(reply_row, position)

    def _position(self, id: str) -> int:
        rows = self.store.rows("SELECT position FROM question WHERE id = ?", storable(id))
        if not rows:
            self.unknown_ids += 1
            raise UnusableRow(f"the bundle has no question `{id[:200]}`", self._similar_id(id[:200]), "id")
        return int(rows[0][0])

    def _similar_id(self, id: str) -> str | None:
        """Return the question with the most similar id, for the errors that are shown."""
        if self.unknown_ids > MOST_ERRORS:
            return None
        return did_you_mean(id, [name for (name,) in self.store.rows("SELECT id FROM question LIMIT ?", CLOSE)])

    def _number(self, model: str) -> int:
        if model not in self.numbers:
            if len(self.numbers) == MOST_MODELS:
                raise UnusableRow(f"more than {MOST_MODELS:,} models", None, "model")
            self.numbers[model] = self.store.respondent(storable(model), storable(model), {})
        return self.numbers[model]

    def _save(self, reply_row: ReplyRow, position: int) -> None:
        batch = self.waiting.setdefault(reply_row.model, [])
        batch.append((position, reply_row.attempt, reply_row.reply))
        self.replies[reply_row.model] = self.replies.get(reply_row.model, 0) + 1
        if len(batch) >= BATCH:
            self.flush(reply_row.model)

    def flush(self, model: str) -> None:
        """Write the waiting replies of a model to the run."""
        self.store.save(self.numbers[model], self.waiting.pop(model, []))

    def gaps(self) -> Iterator[tuple[str, int, int]]:
        """Yield each model and attempt with the number of questions without a reply."""
        names = {number: model for model, number in self.numbers.items()}
        for number, attempt, count in self.seen_replies.execute(
            "SELECT model, attempt, count(*) FROM seen GROUP BY 1, 2"
        ):
            if count < self.size:
                yield names[number], attempt, self.size - count

    def open(self, model: str, attempt: int) -> Iterator[str]:
        """Yield the ids of the questions without a reply, in order."""
        query = "SELECT position FROM seen WHERE model = ? AND attempt = ? ORDER BY position"
        there = (position for (position,) in self.seen_replies.execute(query, (self.numbers[model], attempt)))
        at = next(there, None)
        for position in range(self.size):
            if position == at:
                at = next(there, None)
            else:
                yield str(self.store.rows("SELECT id FROM question WHERE position = ?", position)[0][0])


def import_joined(
    sources: Sequence[Source], columns: Cells, bundle: Bundle, out: Path, force: bool = False, keep: bool = False
) -> Imported:
    """Import the files as a run `out` of the bundle, which only appears when it is complete.

    Raises DiaError with up to 20 different errors: rows that match no question of the bundle, duplicates, and missing
    replies. The exit code is 3 if a row has another `questions_root`, and otherwise 2. With `keep`, the replies that
    match are imported and the errors reported.
    """
    faults = RowErrors(keep)
    with (
        publishing(out, force) as folder,
        open_store(folder / "run", bundle.questions_root) as store,
        ExitStack() as stack,
    ):
        load_questions(store, bundle)
        joined = stack.enter_context(closing(JoinedReplies(store, bundle, folder)))
        for source, row in each_row(sources, faults, lambda source: joined.files.append(source.path)):
            _join(joined, source, row, columns, faults)
        if not joined.replies:
            raise DiaError(grouped(faults.diagnostics_so_far)[:MOST_ERRORS], faults.exit_code)
        for model in list(joined.waiting):
            joined.flush(model)
        missing = _missing(joined, faults)
        (items, _, _, k), questions = store.sizes(), store.size
    return Imported(out, bundle.questions_root, items, questions, k, joined.replies, faults.diagnostics_so_far, missing)


def _join(joined: JoinedReplies, source: Source, row: Row, columns: Cells, faults: RowErrors) -> None:
    try:
        reply_row = columns.reply_row(row, source.model)
        if reply_row.root is not None and reply_row.root != joined.bundle.questions_root:
            root = joined.bundle.questions_root
            message = (
                f"the reply is to other questions: their root is {reply_row.root[:64]}, that of the bundle is {root}"
            )
            faults.add(DiaError(input_error("E802", message, source.path, row.line).diagnostics, 3))
            return
        joined.add(row.line, reply_row)
    except UnusableRow as error:
        faults.add(row_error(source.path, row, columns, error))


def _missing(joined: JoinedReplies, faults: RowErrors) -> int:
    """Report the first missing replies, and return their number."""
    count = reported = 0
    advice = None if faults.keep else "use `--keep` to import the existing replies"
    for model, attempt, number in list(joined.gaps()):
        count += number
        for id in islice(joined.open(model, attempt), MOST_ERRORS - reported):
            reported += 1
            which = f" (attempt {attempt})" if attempt > 1 else ""
            message = visible(f"`{model}` has no reply{which} to `{id}` (missing in total: {number})")
            faults.add(DiaError(Diagnostic("E865", message, None, advice)))
    faults.require_none()
    return count
