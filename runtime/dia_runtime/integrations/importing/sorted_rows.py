"""The rows of all files, sorted on disk before a run is made of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from dia_runtime.integrations.importing.fields import GradedRow
from dia_runtime.integrations.reading.base import UnusableRow
from dia_runtime.respondents.respondent import Reply

COLUMNS = tuple(entry.name for entry in fields(Reply))
OF_REPLY = attrgetter(*COLUMNS)
TABLES = (
    "CREATE TABLE question (id TEXT PRIMARY KEY, labels TEXT NOT NULL, grading TEXT NOT NULL, file INTEGER NOT NULL,"
    " line INTEGER NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE reply (model TEXT NOT NULL, question TEXT NOT NULL, attempt INTEGER NOT NULL, file INTEGER NOT NULL,"
    f" line INTEGER NOT NULL, {', '.join(COLUMNS)}, PRIMARY KEY (model, question, attempt)) WITHOUT ROWID",
    "CREATE TABLE model (name TEXT PRIMARY KEY, at INTEGER NOT NULL)",
)
SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class SortedRows:
    """A temporary database in a private folder."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "stage", isolation_level=None)
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *TABLES, "BEGIN"):
            self._connection.execute(statement)
        self.files: list[Path] = []
        self._models: set[str] = set()

    def close(self) -> None:
        """Close the file, so that the folder can be removed."""
        self._connection.close()

    def add(self, line: int, graded_row: GradedRow) -> None:
        """Add a row of the last file. Raises UnusableRow if it contradicts an earlier one or is a duplicate."""
        file = len(self.files) - 1
        if graded_row.model not in self._models:
            self._connection.execute("INSERT INTO model VALUES (?, ?)", (storable(graded_row.model), len(self._models)))
            self._models.add(graded_row.model)
        question = (storable(graded_row.id), storable(graded_row.labels), storable(graded_row.grading))
        added = self._connection.execute(
            "INSERT OR IGNORE INTO question VALUES (?, ?, ?, ?, ?)", (*question, file, line)
        )
        if not added.rowcount:
            self._require_same(*question)
        marks = ", ".join("?" * (5 + len(COLUMNS)))
        key = (storable(graded_row.model), storable(graded_row.id), graded_row.attempt)
        row = (*key, file, line, *map(storable, OF_REPLY(graded_row.reply)))
        if not self._connection.execute(f"INSERT OR IGNORE INTO reply VALUES ({marks})", row).rowcount:
            query = "SELECT file, line FROM reply WHERE model = ? AND question = ? AND attempt = ?"
            place = self._place(*self._connection.execute(query, key).fetchone())
            help = "use `--field attempt=COLUMN` for several attempts, or `--field model=COLUMN` for several models"
            raise UnusableRow(f"the id `{graded_row.id[:60]}` also occurs in {place}", help, "id")

    def _require_same(self, id: str, labels: str, grading: str) -> None:
        query = "SELECT labels, grading, file, line FROM question WHERE id = ?"
        before, graded, file, line = self._connection.execute(query, (id,)).fetchone()
        if graded != grading:
            raise UnusableRow(f"the gold answer of `{id[:60]}` is different in {self._place(file, line)}", None, "gold")
        if before != labels:
            raise UnusableRow(f"`{id[:60]}` has different labels in {self._place(file, line)}", None, "id")

    def _place(self, file: int, line: int) -> str:
        return f"{self.files[file]}:{line}"

    def models(self) -> list[str]:
        """Return the models that replied, in the order in which they first occur."""
        return [name for (name,) in self._connection.execute("SELECT name FROM model ORDER BY at")]

    def questions(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield id, labels and grading record (JSON) of each question, in the order of the ids."""
        for id, labels, grading in self._connection.execute("SELECT id, labels, grading FROM question ORDER BY id"):
            yield id, json.loads(labels), grading

    def replies(self, model: str) -> Iterator[tuple[str, int, Reply]]:
        """Yield the question's id, the attempt and the reply, in the order of the questions."""
        query = f"SELECT question, attempt, {', '.join(COLUMNS)} FROM reply WHERE model = ? ORDER BY question, attempt"
        for id, attempt, *columns in self._connection.execute(query, (model,)):
            yield id, attempt, Reply(*columns)


def storable(value: Any) -> Any:
    """Return the value; in texts, lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    return value.translate(SURROGATES) if isinstance(value, str) and not value.isascii() else value
