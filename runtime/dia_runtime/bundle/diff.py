"""The differences between two bundles, question by question, with one question of each in memory at a time."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from dia_runtime.bundle.canonical import ENCODER
from dia_runtime.bundle.manifest import PROVENANCE
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.records import question_core

LISTED = 100
SHOWN = 200
# The fields of an answer that decide how replies are graded; the last four are those of sessions.
GRADED = ("answer", "text", "comparison", "accept", "truth", "replies", "figures", "presets")
ASKED = ("messages", "sessions")
# Entries of a manifest that other lines of the comparison report
COMPARED_ELSEWHERE = frozenset({"files", "checksum", "questions_root", "templates", "counts"})
TABLE = "CREATE TABLE old (id TEXT PRIMARY KEY, asked BLOB, facts BLOB, graded BLOB, text TEXT) WITHOUT ROWID"


class Change(TypedDict):
    """A question that was added, removed or changed; if its answer changed, the answer's text before and after."""

    id: str
    old: NotRequired[str | None]
    new: NotRequired[str | None]


class ChangesRecord(TypedDict):
    """The changes of one kind as `dia diff --json` prints them."""

    count: int
    listed: list[Change]


class FactChange(TypedDict):
    """A fact of the manifests, or the version of a library, that differs."""

    name: str
    old: Any
    new: Any


@dataclass(slots=True)
class Changes:
    """The changes of one kind: their number, and the first ones."""

    count: int = 0
    listed: list[Change] = field(default_factory=list)

    def add(self, change: Change) -> None:
        """Count a change, and list it if few are listed so far."""
        self.count += 1
        if len(self.listed) < LISTED:
            self.listed.append(change)

    def as_json(self) -> ChangesRecord:
        """Return the mapping that `dia diff --json` prints."""
        return {"count": self.count, "listed": self.listed}


@dataclass(slots=True)
class Difference:
    """The differences between two bundles.

    `alarming` are unchanged questions with a different answer, or with an answer that is compared differently;
    `answers` are questions of which question and answer changed; `relabelled` those of which only category, level,
    parameters, named mistakes or similar fields changed.
    """

    old: Bundle
    new: Bundle
    alarming: Changes = field(default_factory=Changes)
    answers: Changes = field(default_factory=Changes)
    questions: Changes = field(default_factory=Changes)
    relabelled: Changes = field(default_factory=Changes)
    added: Changes = field(default_factory=Changes)
    removed: Changes = field(default_factory=Changes)

    @property
    def is_equal(self) -> bool:
        """Return whether the two bundles are the same."""
        return self.old.id == self.new.id

    @property
    def manifest(self) -> list[FactChange]:
        old, new = _facts(self.old), _facts(self.new)
        return [_pair(name, old, new) for name in sorted({*old, *new}) if old.get(name) != new.get(name)]

    @property
    def templates(self) -> dict[str, list[str]]:
        """Return the templates that only one of the bundles has."""
        return _sides(_templates(self.old), _templates(self.new))

    @property
    def specs(self) -> dict[str, list[str]]:
        """Return the files of the specs that were added, removed or changed."""
        old, new = _specs(self.old), _specs(self.new)
        changed = [name for name in old if name in new and old[name] != new[name]]
        return {**_sides(list(old), list(new)), "changed": sorted(changed)}

    @property
    def versions(self) -> list[FactChange]:
        """Return the libraries whose versions differ between the compiles of the answers."""
        old, new = _versions(self.old), _versions(self.new)
        return [_pair(name, old, new) for name in sorted({*old, *new}) if old.get(name) != new.get(name)]


def compare(old: Bundle, new: Bundle) -> Difference:
    """Return all differences. Raises DiaError (exit 3) if a bundle's files do not match its manifest."""
    difference = Difference(old, new)
    with tempfile.TemporaryDirectory(prefix="dia-diff-") as folder, closing(_opened(Path(folder))) as store:
        store.executemany("INSERT OR REPLACE INTO old VALUES (?, ?, ?, ?, ?)", _rows(old))
        for row in _rows(new):
            _compare(difference, store, row)
        for (id,) in store.execute("SELECT id FROM old ORDER BY id"):
            difference.removed.add({"id": id})
    return difference


def _opened(folder: Path) -> sqlite3.Connection:
    """Return an empty database on disk for the rows of the old bundle."""
    store = sqlite3.connect(folder / "old", isolation_level=None)
    for command in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", TABLE, "BEGIN"):
        store.execute(command)
    return store


def _compare(difference: Difference, store: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    id, content, facts, graded, text = row
    before = store.execute("SELECT asked, facts, graded, text FROM old WHERE id = ?", (id,)).fetchone()
    if before is None:
        difference.added.add({"id": id})
        return
    store.execute("DELETE FROM old WHERE id = ?", (id,))
    can_tell = graded is not None and before[2] is not None  # unless one of the two has no answers
    if can_tell and graded != before[2]:
        changes = difference.alarming if content == before[0] else difference.answers
        changes.add({"id": id, "old": before[3], "new": text})
    if content != before[0]:
        difference.questions.add({"id": id})
    elif facts != before[1]:
        difference.relabelled.add({"id": id})


def _rows(bundle: Bundle) -> Iterator[tuple[Any, ...]]:
    """Yield each question's id, the digests of its content, other facts and answer, and the answer's text."""
    answers = bundle.answers() if bundle.has_answers else None
    for question in bundle.questions():
        answer = next(answers, None) if answers else None
        facts = [_without(question, ASKED), None if answer is None else _without(answer, GRADED)]
        graded = None if answer is None else _digest({name: answer.get(name) for name in GRADED})
        text = None if answer is None else str(answer["text"])[:SHOWN]
        yield str(question["id"]), _digest(question_core(question)), _digest(facts), graded, text
    for _ in answers or ():  # read to its end, where the file is compared with the manifest
        pass


def _without(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _digest(record: Any) -> bytes:
    return hashlib.sha256(ENCODER.encode(record).encode("utf-8", "surrogatepass")).digest()


def _facts(bundle: Bundle) -> dict[str, Any]:
    facts = {name: value for name, value in bundle.manifest.items() if name not in COMPARED_ELSEWHERE}
    return facts | {f"counts.{name}": value for name, value in bundle.manifest["counts"].items()}


def _pair(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> FactChange:
    return {"name": name, "old": old.get(name), "new": new.get(name)}


def _sides(old: list[str], new: list[str]) -> dict[str, list[str]]:
    return {"added": sorted(set(new) - set(old)), "removed": sorted(set(old) - set(new))}


def _templates(bundle: Bundle) -> list[str]:
    return [str(record["template"]) for record in bundle.templates()]


def _specs(bundle: Bundle) -> dict[str, str]:
    files = bundle.manifest["files"]
    return {name: entry["sha256"] for name, entry in files.items() if name.startswith("specs/")}


def _versions(bundle: Bundle) -> dict[str, str]:
    """Return the versions that the bundle names, which its digest does not cover; none if they cannot be read."""
    try:
        record = json.loads((bundle.path / PROVENANCE).read_bytes())
        return {"python": str(record["python"]), **{str(name): str(item) for name, item in record["libraries"].items()}}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
