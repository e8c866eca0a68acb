"""A run: all replies, stored safely in one SQLite file.

The file is laid out for several respondents and several processes at once. While it is written it is in
WAL mode with every commit flushed; a clean close leaves one plain file, readable from a read-only medium.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.formats.base import RULES, rules_fault, rules_of
from dia_runtime.store.file_starts import Key, database_closed, database_opened
from dia_runtime.store.schema import (
    APPLICATION_ID,
    COLUMN_NAMES_OF_4,
    FACT_TYPES,
    FIRST_WITH_LEFT_OUT,
    FIRST_WITH_TOOLS,
    FIRST_WITH_TURNS,
    INSERT_REPLY,
    INSERT_TURN,
    LONGEST_TEXT,
    QUESTION_COLUMNS,
    REPLY_COLUMNS,
    REPLY_RECORD_NAMES,
    REPLY_TEXT,
    SCHEMA,
    SCHEMAS,
    SELECT_REPLY_OF_VERSION,
    STORED_TURN_COLUMNS,
    UPGRADES,
    VERSION,
    ModelVersion,
    Reply,
    RequestChange,
    StoredQuestion,
    StoredReply,
    StoredRespondent,
    StoredTurn,
    not_a_run,
    read_header,
    storable,
)
from dia_runtime.store.tool_transcripts import has_calls

BUSY_SECONDS = 30
SYNCHRONOUS = "FULL"  # what was written survives a power failure
OF_SESSIONS = '{"kind":"sessions"'  # how the format of a question of sessions begins in a run
LARGEST_VALUE = 1 << 27  # bytes of a value, and of all values in a row
QUESTION_ROW = attrgetter(*QUESTION_COLUMNS)  # dataclasses.astuple copies deeply, and is ten times slower
UNCLAIM = "DELETE FROM claim WHERE respondent = ? AND question = ? AND attempt = ?"


class Store:
    """An open run. Every method that changes it returns when the change is on the disk."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._key: Key | None = database_opened(path)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the run; it becomes one plain file when no other process has it open."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._key is not None:
            database_closed(self._key)
            self._key = None
        with suppress(OSError):
            if not self.path.stat().st_size:  # nothing was written: leave no file
                self.path.unlink()

    @property
    def is_empty(self) -> bool:
        """Return whether the run has no questions yet."""
        return not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts that the run stores about its bundle. Raises DiaError (exit 3) if one has another type."""
        facts = {key: self.parsed(value) for key, value in self.rows("SELECT key, value FROM meta")}
        for name, value in facts.items():
            if value is not None and type(value) not in FACT_TYPES.get(name, (str,)):
                raise self.damaged(f"its fact `{visible(name)}` has the wrong type")
        return facts

    def initialize(self, facts: Mapping[str, Any], questions: Iterable[StoredQuestion]) -> None:
        """Write the schema, the facts and all questions, or nothing."""
        with self.sqlite_errors(), self.transaction():
            if not self.is_empty:  # another process was quicker
                return
            for statement in SCHEMA:
                self._connection.execute(statement)
            encoded = [(key, json.dumps(value, sort_keys=True)) for key, value in facts.items()]
            self._connection.executemany("INSERT INTO meta VALUES (?, ?)", encoded)
            marks = ", ".join("?" * len(QUESTION_COLUMNS))
            self._connection.executemany(f"INSERT INTO question VALUES ({marks})", map(QUESTION_ROW, questions))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._connection.execute(f"PRAGMA user_version = {VERSION}")
        self.begin_writing()

    def begin_writing(self) -> None:
        """Allow fast writes with concurrent reads; if the file system refuses, writing is only slower."""
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA journal_mode = WAL")

    def upgrade(self) -> None:
        """Upgrade a run of an older version, or change nothing."""
        with self.sqlite_errors(), self.transaction():
            while self.version < VERSION:
                for statement in UPGRADES[self.version]:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {self.version + 1}")

    @property
    def version(self) -> int:
        """Return the version of the file's tables."""
        return int(self.rows("PRAGMA user_version")[0][0])

    def schema(self) -> frozenset[str]:
        """Return the statements that created the file's tables, indexes, views and triggers."""
        query = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        return frozenset(str(sql) for (sql,) in self.rows(query))

    def respondent(self, name: str, model: str, settings: Mapping[str, Any]) -> int:
        """Return the respondent's number in this run. Raises DiaError if its name has other settings."""
        encoded = json.dumps(settings, sort_keys=True)
        with self.sqlite_errors(), self.transaction():
            insert = "INSERT INTO respondent (name, model, settings) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            self._connection.execute(insert, (name, model, encoded))
            stored = next(entry for entry in self.respondents() if entry.name == name)
        if (stored.model, stored.settings) != (model, encoded):
            earlier = {"model": stored.model, **self.parsed(stored.settings)}
            why = _differing(earlier, {"model": model, **settings})
            message = visible(f"`{self.path}` has replies from `{name}` with other settings: {why}")
            raise DiaError(Diagnostic("E805", message, None, "choose another `--out`, or use the same settings"))
        return stored.id

    def respondents(self) -> list[StoredRespondent]:
        """Return the respondents in the order in which they were added."""
        query = "SELECT id, name, model, settings FROM respondent ORDER BY id"
        return [StoredRespondent(*row) for row in self.rows(query)]

    def save(self, respondent: int, replies: Sequence[tuple[int, int, Reply]]) -> None:
        """Write (question's position, attempt, reply) to disk in one commit."""
        rows = [
            (respondent, position, attempt, *(storable(getattr(reply, name)) for name in REPLY_COLUMNS))
            for position, attempt, reply in replies
        ]
        with self.sqlite_errors(), self.transaction():
            self._connection.executemany(INSERT_REPLY, rows)
            self._connection.executemany(UNCLAIM, (row[:3] for row in rows))

    def save_turns(self, respondent: int, turns: Sequence[tuple[int, StoredTurn]]) -> None:
        """Write (attempt, turn) to disk in one commit."""
        rows = [
            (respondent, turn.question, attempt, *(storable(getattr(turn, name)) for name in STORED_TURN_COLUMNS[1:]))
            for attempt, turn in turns
        ]
        with self.sqlite_errors(), self.transaction():
            self._connection.executemany(INSERT_TURN, rows)

    def leave_out(self, respondent: int, positions: Iterable[int], reasons: Mapping[int, str]) -> None:
        """Write which of the questions at these positions cannot be asked, and why, to disk in one commit.

        Errors of earlier requests for such questions are removed, because they will not be asked again.
        """
        values = [(respondent, position, storable(why)) for position, why in reasons.items()]
        if not values and not self.rows("SELECT 1 FROM left_out WHERE respondent = ? LIMIT 1", respondent):
            return
        with self.sqlite_errors(), self.transaction():
            keys = [(respondent, position) for position in positions]
            self._connection.executemany("DELETE FROM left_out WHERE respondent = ? AND question = ?", keys)
            self._connection.executemany("INSERT INTO left_out VALUES (?, ?, ?)", values)
            removal = "DELETE FROM reply WHERE respondent = ? AND question = ? AND error IS NOT NULL"
            self._connection.executemany(removal, (row[:2] for row in values))

    def left_out(self, respondent: int, of_base: bool = False) -> list[tuple[str, str]]:
        """Return the questions that have no reply because they could not be asked, each with the reason.

        `of_base` leaves out the questions of variants.
        """
        if self.version < FIRST_WITH_LEFT_OUT:
            return []
        query = (
            "SELECT question.id, left_out.why FROM left_out JOIN question ON left_out.question = question.position"
            " WHERE left_out.respondent = ?1 AND NOT EXISTS (SELECT 1 FROM reply"
            " WHERE reply.respondent = ?1 AND reply.question = left_out.question)"
            f"{' AND question.variant IS NULL' if of_base else ''} ORDER BY left_out.question"
        )
        return [(str(id), str(why)) for id, why in self.rows(query, respondent)]

    def reason_left_out(self, respondent: int, position: int) -> str | None:
        """Return why a question could not be asked; None if it was asked, or nothing is known."""
        if self.version < FIRST_WITH_LEFT_OUT:
            return None
        query = (
            "SELECT why FROM left_out WHERE respondent = ?1 AND question = ?2 AND NOT EXISTS"
            " (SELECT 1 FROM reply WHERE respondent = ?1 AND question = ?2)"
        )
        rows = self.rows(query, respondent, position)
        return str(rows[0][0]) if rows else None

    def categories(self) -> dict[str, str]:
        """Return the category of each item that has one."""
        query = "SELECT DISTINCT item, category FROM question WHERE category IS NOT NULL"
        return {str(item): str(category) for item, category in self.rows(query)}

    def mean_completion_tokens(self, respondent: int) -> float | None:
        """Return the mean completion tokens of a respondent's replies; None if none is known."""
        query = "SELECT avg(completion_tokens) FROM reply WHERE respondent = ? AND error IS NULL"
        mean = self.rows(query, respondent)[0][0]
        return None if mean is None else float(mean)

    def left_out_reasons(self, respondent: int, of_base: bool = False) -> dict[str, int]:
        """Return the reasons why questions could not be asked, with the number of questions, as `left_out` does."""
        return dict(Counter(why for _, why in self.left_out(respondent, of_base)))

    def request_changes(self, respondent: int) -> list[RequestChange]:
        """Return what client libraries changed in requests to a respondent, with the numbers of replies."""
        if self.version < FIRST_WITH_LEFT_OUT:
            return []
        query = (
            "SELECT change, count(*) AS replies FROM ("
            "SELECT request_changes AS change FROM reply WHERE respondent = ?1 AND request_changes IS NOT NULL "
            "UNION ALL SELECT request_changes FROM turn WHERE respondent = ?1 AND request_changes IS NOT NULL"
            ") GROUP BY change ORDER BY replies DESC, change"
        )
        return [{"change": str(change), "replies": number} for change, number in self.rows(query, respondent)]

    def model_versions(self, respondent: int) -> list[ModelVersion]:
        """Return the models that the provider says it asked, with the numbers of replies; none for conversations.

        A fingerprint after the name is left out, since it differs between servers of one model.
        """
        query = (
            "SELECT substr(model_version, 1, instr(model_version || ' ', ' ') - 1) AS version, count(*) AS replies"
            " FROM reply JOIN question ON question.position = reply.question"
            " WHERE respondent = ? AND model_version IS NOT NULL AND error IS NULL AND format NOT LIKE ?"
            " GROUP BY version ORDER BY replies DESC, version"
        )
        rows = self.rows(query, respondent, f"{OF_SESSIONS}%")
        return [{"version": str(version), "replies": number} for version, number in rows]

    def replies_with_tool_calls(self, respondent: int) -> int:
        """Return the number of replies and turns of a respondent before which tools were called."""
        if self.version < FIRST_WITH_TOOLS:
            return 0
        query = (
            "SELECT tool_transcript FROM reply WHERE respondent = ?1 AND tool_transcript IS NOT NULL"
            " UNION ALL SELECT tool_transcript FROM turn WHERE respondent = ?1 AND tool_transcript IS NOT NULL"
        )
        return sum(has_calls(text) for (text,) in self.rows(query, respondent))

    def turns(self, respondent: int, attempt: int, scope: str) -> list[StoredTurn]:
        """Return the stored turns of a question, or of a shared session, in the order in which they were added.

        Runs of versions without turns have none.
        """
        if self.version < FIRST_WITH_TURNS:
            return []
        query = (
            f"SELECT {self._turn_columns()} FROM turn WHERE respondent = ? AND attempt = ? AND scope = ? ORDER BY id"
        )
        return [StoredTurn(*row) for row in self.rows(query, respondent, attempt, scope)]

    def all_turns(self, respondent: int) -> Iterator[tuple[int, StoredTurn]]:
        """Yield all turns of a respondent, each with its attempt, in the order in which they were added."""
        if self.version < FIRST_WITH_TURNS:
            return
        query = f"SELECT attempt, {self._turn_columns()} FROM turn WHERE respondent = ? ORDER BY id"
        for attempt, *row in self._iterate(query, respondent):
            yield attempt, StoredTurn(*row)

    def _turn_columns(self) -> str:
        """Return the columns of a turn; NULL for those that a run of version 3 does not have."""
        missing = COLUMN_NAMES_OF_4 if self.version < VERSION else ()
        return ", ".join("NULL" if name in missing else name for name in STORED_TURN_COLUMNS)

    def attempts_with_turns(self, respondent: int, position: int) -> set[int]:
        """Return the attempts at a question that have stored turns; none in runs of versions without turns."""
        if self.version < FIRST_WITH_TURNS:
            return set()
        query = "SELECT DISTINCT attempt FROM turn WHERE respondent = ? AND question = ? AND scope = ?"
        return {attempt for (attempt,) in self.rows(query, respondent, position, str(position))}

    def position(self, question: str) -> int | None:
        """Return the position of a question; None if the id is unknown."""
        rows = self.rows("SELECT position FROM question WHERE id = ?", question)
        return int(rows[0][0]) if rows else None

    def find_question(self, id: str) -> tuple[str, int] | None:
        """Return the full id and the position of a question; the name of the benchmark may be omitted."""
        id = id.encode("utf-8", "replace").decode()  # SQLite refuses unpaired surrogates
        for name in (id, f"{self.facts.get('benchmark')}/{id}"):
            position = self.position(name)
            if position is not None:
                return name, position
        return None

    def answered(self, respondent: int, position: int) -> set[int]:
        """Return the attempts at a question that need no further try."""
        query = "SELECT attempt FROM reply WHERE respondent = ? AND question = ? AND error IS NULL"
        return {attempt for (attempt,) in self.rows(query, respondent, position)}

    def count(self, respondent: int, attempts: int, questions: int, first: int = 0, step: int = 1) -> int:
        """Return how many of the first attempts at these questions need no further try."""
        query = (
            "SELECT count(*) FROM reply WHERE respondent = ? AND attempt <= ? AND question < ? AND question % ? = ?"
            " AND error IS NULL"
        )
        return int(self.rows(query, respondent, attempts, questions, step, first)[0][0])

    @property
    def size(self) -> int:
        """Return the number of questions."""
        return int(self.rows("SELECT count(*) FROM question")[0][0])

    def leaf(self, position: int) -> bytes | None:
        """Return the leaf digest of the question at a position, which reveals a changed question."""
        rows = self.rows("SELECT leaf FROM question WHERE position = ?", position)
        return rows[0][0] if rows else None

    def grading(self, question: str) -> dict[str, Any] | None:
        """Return the grading record of a question; None in a run of a sealed bundle."""
        rows = self.rows("SELECT grading FROM question WHERE id = ?", question)
        return self.record(rows[0][0]) if rows and rows[0][0] is not None else None

    def texts(self, item: str) -> dict[int, str]:
        """Return the canonical answers by instance, for the instances of an item whose grading records are known."""
        query = "SELECT instance, grading FROM question WHERE item = ? AND grading IS NOT NULL"
        return {instance: self.record(grading)["text"] for instance, grading in self.rows(query, item)}

    def questions(self) -> Iterator[StoredQuestion]:
        """Yield all questions in order."""
        query = f"SELECT {self._question_columns()} FROM question ORDER BY position"
        return (StoredQuestion(*row) for row in self._iterate(query))

    def _question_columns(self) -> str:
        """Return the columns of a question; runs of version 1 have no skills."""
        missing = {"skills": "'[]'"} if self.version == 1 else {}
        return ", ".join(missing.get(name, f"question.{name}") for name in QUESTION_COLUMNS)

    def replies(self, respondent: int, attempt: int | None = 1) -> Iterator[tuple[StoredQuestion, StoredReply]]:
        """Yield the questions that the respondent was asked, each with its reply at one or all attempts, in order."""
        wide = len(QUESTION_COLUMNS)
        reasoning = "reply.reasoning_tokens" if self.version >= FIRST_WITH_LEFT_OUT else "NULL"
        # CROSS JOIN walks the questions in their order, so that nothing is sorted however many replies there are.
        query = (
            f"SELECT {self._question_columns()},"
            f" {REPLY_TEXT}, reply.error, reply.finish_reason, reply.attempt, reply.completion_tokens,"
            f" reply.prompt_tokens, {reasoning}, reply.cost, reply.seconds"
            " FROM question CROSS JOIN reply ON reply.question = question.position"
            " WHERE reply.respondent = ?1 AND (?2 IS NULL OR reply.attempt = ?2)"
            " ORDER BY question.position, reply.attempt"
        )
        for row in self._iterate(query, respondent, attempt):
            self._require_short(row[wide])
            yield StoredQuestion(*row[:wide]), StoredReply(*row[wide:])

    def sizes(self) -> tuple[int, int, int, int]:
        """Return the number of items and of questions without a variant, and the smallest and largest k of an item."""
        query = (
            "SELECT count(*), total(k), min(k), max(k) FROM"
            " (SELECT count(*) AS k FROM question WHERE variant IS NULL GROUP BY item)"
        )
        items, questions, least, most = self.rows(query)[0]
        return items, int(questions), least or 0, most or 0

    def has_variants(self) -> bool:
        """Return whether questions have several wordings."""
        return bool(self.rows("SELECT 1 FROM question WHERE variant IS NOT NULL LIMIT 1"))

    def distinct_points(self, most: int = 20) -> list[str]:
        """Return the different points (JSON) of the questions, up to a maximum number."""
        return [text for (text,) in self.rows("SELECT DISTINCT points FROM question LIMIT ?", most)]

    @property
    def has_answers(self) -> bool:
        """Return whether the run contains answers; one of a sealed bundle does not."""
        return bool(self.rows("SELECT 1 FROM question WHERE grading IS NOT NULL LIMIT 1"))

    def answers(self) -> Iterator[tuple[str, str | None]]:
        """Yield the questions whose answer the run contains, by their ids, with the canonical texts of the answers."""
        query = (
            "SELECT id, CASE WHEN json_valid(grading) THEN json_extract(grading, '$.text') END"
            " FROM question WHERE grading IS NOT NULL ORDER BY id"
        )
        return ((str(id), text) for id, text in self._iterate(query))

    def rules(self, source: Bundle | None = None) -> int:
        """Return the edition of the rules by which replies are read; all questions of a bundle have the same.

        A question of sessions has a format for each reply, in its answer, which may be in the bundle alone. Without
        answers, they are the current rules.
        """
        rows = self.rows("SELECT format FROM question WHERE format NOT LIKE ? LIMIT 1", f"{OF_SESSIONS}%")
        if rows:
            return _edition([self.parsed(rows[0][0])])
        rows = self.rows("SELECT grading FROM question WHERE grading IS NOT NULL LIMIT 1")
        answer = self.parsed(rows[0][0]) if rows else next(source.answers(), None) if source else None
        replies = answer.get("replies") if isinstance(answer, dict) else None
        if not isinstance(replies, dict):
            return RULES if self.size and answer is None else 1
        return _edition([reply.get("format") for reply in replies.values() if isinstance(reply, dict)])

    def attempts(self) -> int:
        """Return the largest number of attempts at a question."""
        return int(self.rows("SELECT coalesce(max(attempt), 0) FROM reply")[0][0])

    def replies_of(self, respondent: int) -> Iterator[dict[str, Any]]:
        """Yield every reply of the respondent with all its facts, in the order of questions and attempts."""
        query = (
            f"{SELECT_REPLY_OF_VERSION[self.version]} WHERE reply.respondent = ? ORDER BY reply.question, reply.attempt"
        )
        return map(self._reply_record, self._iterate(query, respondent))

    def reply(self, respondent: int, question: str, attempt: int) -> dict[str, Any] | None:
        """Return all facts of one reply; None if there is none."""
        select = SELECT_REPLY_OF_VERSION[self.version]
        query = f"{select} WHERE reply.respondent = ? AND question.id = ? AND reply.attempt = ?"
        rows = self.rows(query, respondent, question, attempt)
        return self._reply_record(rows[0]) if rows else None

    def _reply_record(self, row: Sequence[Any]) -> dict[str, Any]:
        record = dict(zip(REPLY_RECORD_NAMES, row, strict=True))
        self._require_short(record["text"])
        return record

    def _require_short(self, text: str | None) -> None:
        if text is not None and len(text) > LONGEST_TEXT:
            raise self.damaged(f"it has a reply of more than {LONGEST_TEXT:,} characters")

    def tool_transcript(self, respondent: int, position: int, attempt: int) -> str | None:
        """Return the calls of tools before a reply, as JSON; None if there are none."""
        if self.version < FIRST_WITH_TOOLS:
            return None
        query = "SELECT tool_transcript FROM reply WHERE respondent = ? AND question = ? AND attempt = ?"
        rows = self.rows(query, respondent, position, attempt)
        return rows[0][0] if rows else None

    def tool_transcript_characters(self, most: int, attempt: int | None) -> int:
        """Return the length of all transcripts of calls, of each at most this many characters."""
        if self.version < FIRST_WITH_TOOLS:
            return 0
        query = "SELECT coalesce(sum(min(length(tool_transcript), ?1)), 0) FROM reply WHERE ?2 IS NULL OR attempt = ?2"
        return int(self.rows(query, most, attempt)[0][0])

    def tool_users(self) -> set[int]:
        """Return the respondents that have replies with calls of tools."""
        if self.version < FIRST_WITH_TOOLS:
            return set()
        query = "SELECT DISTINCT respondent FROM reply WHERE tool_transcript IS NOT NULL"
        return {number for (number,) in self.rows(query)}

    def parsed(self, text: str) -> Any:
        """Return the value of a JSON text in the run."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise self.damaged("a stored record is not JSON") from None

    def damaged(self, why: str) -> DiaError:
        """Return the error for a run whose content cannot be used."""
        return DiaError(Diagnostic("E803", f"`{self.path}` is damaged: {why}"), 3)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with self.sqlite_errors():
            return self._connection.execute(query, _bindings(query, values)).fetchall()

    def _iterate(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        with self.sqlite_errors():
            # `yield from` would also close the cursor. If a reader gives up and the run is closed first, that fails.
            for row in self._connection.execute(query, _bindings(query, values)):  # noqa: UP028
                yield row

    def record(self, text: str) -> dict[str, Any]:
        """Return a grading record as it was stored."""
        record = self.parsed(text)
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise self.damaged("a grading record has no answer")
        return record

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction: completely or not at all, without writes of other processes."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def relaxed_sync(self) -> Iterator[None]:
        """Within the block, writes survive the end of the process, but not necessarily a power failure."""
        self._connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")

    @contextmanager
    def sqlite_errors(self) -> Iterator[None]:
        """Turn SQLite errors into errors of this run."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise _unusable(f"`{self.path}` cannot be used: {error}") from None
        except sqlite3.DataError:
            raise self.damaged(f"it has a value of more than {LARGEST_VALUE >> 20} MiB") from None
        except sqlite3.DatabaseError as error:
            raise self.damaged(str(error)) from None


def open_store(path: str | os.PathLike[str], questions_root: str) -> Store:
    """Open the run in a file for writing; a missing file becomes an empty run.

    Raises DiaError: exit 2 for a file that is no run, exit 3 for a run of other questions.
    """
    place = Path(path)
    refuse_special_file(place)
    _roll_back_journal(place)
    if place.exists() and place.stat().st_size:
        read_header(place)
    else:
        _make_folder(place)
    store = _connect(place, f"file:{quote(str(place.absolute()))}?mode=rwc")
    try:
        if not store.is_empty:
            _require_schema(store)
            require_root(store, questions_root)
            store.begin_writing()
            store.upgrade()
    except BaseException:
        store.close()
        raise
    return store


def _bindings(query: str, values: tuple[Any, ...]) -> tuple[Any, ...] | dict[str, Any]:
    """Return the values by number for a statement that numbers them, as Python 3.14 requires: `?1` is a name there."""
    return {str(number): value for number, value in enumerate(values, 1)} if "?1" in query else values


def _roll_back_journal(place: Path) -> None:
    """Roll back the changes of a killed process, and wait for those of a running one."""
    if place.is_file() and Path(f"{place}-journal").exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(place, timeout=BUSY_SECONDS)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()


def _make_folder(place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(f"`{place}` cannot be created: {error.filename}: {error.strerror}") from None


def _unusable(message: str) -> DiaError:
    help = "check the path, its permissions and the free disk space, or choose another `--out`"
    return DiaError(Diagnostic("E804", visible(message), None, help))


def _differing(stored: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the settings in which two respondents differ, such as `temperature 0, not 0.5`."""
    names = [name for name in {**stored, **new} if stored.get(name) != new.get(name)]
    return "; ".join(f"{name} {_shown(stored, name)}, not {_shown(new, name)}" for name in names)


def _shown(settings: Mapping[str, Any], name: str) -> str:
    value = settings.get(name)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "unset" if value is None else text[:60] + "..." * (len(text) > 60)


def read_store(path: str | os.PathLike[str]) -> Store:
    """Open the run in a file for reading. Raises DiaError (exit 2) if it is not a run."""
    place = Path(path)
    header = read_header(place)
    # A killed run has its last replies in a second file: SQLite must be allowed to merge them.
    unfinished = header[18] == 2 or any(Path(f"{place}{end}").exists() for end in ("-wal", "-journal"))
    store = _connect(place, f"file:{quote(str(place.absolute()))}?mode={'rw' if unfinished else 'ro'}")
    try:
        _require_schema(store)
    except BaseException:
        store.close()
        raise
    return store


def _edition(formats: Sequence[Any]) -> int:
    """Return the newest edition of the rules in the formats."""
    readable = [one for one in formats if isinstance(one, dict) and not rules_fault({"kind": "", **one})]
    return max(map(rules_of, readable), default=1)


def require_answers_of(store: Store, bundle: Bundle) -> None:
    """Check that a bundle has the answers that the run stored. Raises DiaError (exit 3) otherwise.

    A run of a sealed bundle stored none, and a bundle may have none.
    """
    digest = store.facts.get("bundle_id")
    if digest in (None, bundle.id) or not bundle.has_answers or not store.has_answers:
        return
    digests = f"its digest is {bundle.id}, the run was made with {digest}"
    message = f"`{bundle.path}` has the questions of `{store.path}`, but is another bundle: {digests}"
    fix = (
        "leave out `--bundle`, because the run contains its answers; to grade the replies with the answers of this "
        f"bundle, use `dia run {bundle.path} --model replay:{store.path}`"
    )
    raise DiaError(Diagnostic("E802", visible(message), None, visible(fix)), 3)


def require_root(store: Store, questions_root: str, first: Store | None = None) -> None:
    """Check that the run has replies to exactly these questions: those of a bundle, or of the `first` run.

    Raises DiaError (exit 3) otherwise.
    """
    root = store.facts.get("questions_root")
    if root != questions_root:
        whose = "the bundle" if first is None else f"`{first.path}`"
        roots = f"the hash of its questions (questions root) is {root}, and that of {whose} is {questions_root}"
        message = f"`{store.path}` is a run of other questions: {roots}"
        help = "name only runs of the same questions"
        if first is None:
            help = (
                "name the bundle from which the run was made; "
                "to ask the questions of another bundle, use another run file: `dia run BUNDLE -o FILE`"
            )
        raise DiaError(Diagnostic("E802", visible(message), None, help), 3)


def _connect(place: Path, address: str) -> Store:
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        for setting in (f"synchronous = {SYNCHRONOUS}", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.OperationalError as error:
        raise _unusable(f"`{place}` cannot be used: {error}") from None
    except sqlite3.Error as error:
        raise not_a_run(place, str(error)) from None
    return Store(place, connection)


def _require_schema(store: Store) -> None:
    """Check that the tables are exactly ours, so that no foreign trigger or view can act."""
    if store.schema() != SCHEMAS.get(store.version):
        raise store.damaged("its tables are not those of a run")


def bundle_facts(store: Store) -> dict[str, Any]:
    """Return the facts that the run stores about its questions. Raises DiaError (exit 3) if they are missing."""
    facts = store.facts
    if not {"bundle_id", "questions_root", "benchmark", "version", "k"} <= facts.keys():
        raise store.damaged("it does not name its bundle")
    return facts
