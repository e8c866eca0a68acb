"""The tables of a run, and their rows.

Version 2 added what processes that ask at once hold (`worker`, `claim`), how many tries a reply took, and the skills
of questions. Version 3 added the turns of conversations (`turn`), and who is asking what questions share
(`share_claim`). Version 4 added what replies and turns gained since (`COLUMNS_OF_4`), such as calls of tools, and why
questions were not asked (`left_out`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypedDict

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.json_schema import Keywords

from dia_runtime.store.file_starts import file_start

# Types of what a run stores about its bundle in `meta`; all others are texts. Any of them can be null.
FACT_TYPES: dict[str, tuple[type, ...]] = {
    "k": (int,),
    "version": (str, int),  # manifests may have either
    "seed": (str, int),
    "counts": (dict,),
    "points": (dict,),
    "steering": (dict,),
    "points_told": (bool,),
}
APPLICATION_ID = 0x64696172  # "diar"
VERSION = 4
FIRST_WITH_TURNS, FIRST_WITH_TOOLS, FIRST_WITH_LEFT_OUT = 3, 4, 4
HEADER = 100
SURROGATE = re.compile("[\ud800-\udfff]")
MAGIC = b"SQLite format 3\x00"
FIRST_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE respondent (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, model TEXT NOT NULL,"
    " settings TEXT NOT NULL) STRICT",
    "CREATE TABLE question (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, leaf BLOB NOT NULL,"
    " template TEXT NOT NULL, item TEXT NOT NULL, instance INTEGER NOT NULL, variant TEXT, category TEXT,"
    " domain TEXT, level TEXT, adversarial TEXT, number ANY, format TEXT NOT NULL, points TEXT NOT NULL,"
    " grading TEXT) STRICT",
    "CREATE INDEX question_item ON question (item)",
    "CREATE TABLE reply (id INTEGER PRIMARY KEY, respondent INTEGER NOT NULL REFERENCES respondent (id),"
    " question INTEGER NOT NULL REFERENCES question (position), attempt INTEGER NOT NULL, text TEXT,"
    " error TEXT, finish_reason TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost TEXT,"
    " seconds TEXT, model_version TEXT, asked_at TEXT, UNIQUE (respondent, question, attempt)) STRICT",
)
# Upgrades a run of version 1; SQLite adds a new column after the last one in the table's statement.
UPGRADE_TO_2 = (
    "ALTER TABLE question ADD COLUMN skills TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE reply ADD COLUMN tries INTEGER",
    "CREATE TABLE worker (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, process INTEGER NOT NULL,"
    " start TEXT NOT NULL, seen INTEGER NOT NULL) STRICT",
    "CREATE TABLE claim (respondent INTEGER NOT NULL REFERENCES respondent (id),"
    " question INTEGER NOT NULL REFERENCES question (position), attempt INTEGER NOT NULL,"
    " worker INTEGER NOT NULL REFERENCES worker (id) ON DELETE CASCADE,"
    " PRIMARY KEY (respondent, question, attempt)) STRICT, WITHOUT ROWID",
    "CREATE INDEX claim_worker ON claim (worker)",
)
# Upgrades a run of version 2. A turn is stored under the question that asked it; its `scope` is that position, or
# for what questions share the names of template and session and the key. What is not repeated has item or step -1.
UPGRADE_TO_3 = (
    "CREATE TABLE turn (id INTEGER PRIMARY KEY, respondent INTEGER NOT NULL REFERENCES respondent (id),"
    " question INTEGER NOT NULL REFERENCES question (position), attempt INTEGER NOT NULL, scope TEXT NOT NULL,"
    " session TEXT NOT NULL, item INTEGER NOT NULL, turn INTEGER NOT NULL, step INTEGER NOT NULL, name TEXT,"
    " role TEXT NOT NULL, model TEXT NOT NULL, messages TEXT NOT NULL, settings TEXT NOT NULL, text TEXT,"
    " error TEXT, finish_reason TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost TEXT, seconds TEXT,"
    " model_version TEXT, asked_at TEXT, tries INTEGER,"
    " UNIQUE (respondent, attempt, scope, session, item, turn, step)) STRICT",
    "CREATE TABLE share_claim (respondent INTEGER NOT NULL REFERENCES respondent (id), attempt INTEGER NOT NULL,"
    " scope TEXT NOT NULL, worker INTEGER NOT NULL REFERENCES worker (id) ON DELETE CASCADE,"
    " PRIMARY KEY (respondent, attempt, scope)) STRICT, WITHOUT ROWID",
)
# Upgrades a run of version 3: new columns of replies and of turns
COLUMNS_OF_4 = ("tool_transcript TEXT", "request_changes TEXT", "reasoning_tokens INTEGER")
TABLES_OF_4 = (
    "CREATE TABLE left_out (respondent INTEGER NOT NULL REFERENCES respondent (id),"
    " question INTEGER NOT NULL REFERENCES question (position), why TEXT NOT NULL,"
    " PRIMARY KEY (respondent, question)) STRICT, WITHOUT ROWID",
)
UPGRADE_TO_4 = (
    *(f"ALTER TABLE {table} ADD COLUMN {column}" for table in ("reply", "turn") for column in COLUMNS_OF_4),
    *TABLES_OF_4,
)
UPGRADES = {1: UPGRADE_TO_2, 2: UPGRADE_TO_3, 3: UPGRADE_TO_4}
SECOND_SCHEMA = (
    *FIRST_SCHEMA[:2],
    FIRST_SCHEMA[2].replace(" grading TEXT)", " grading TEXT, skills TEXT NOT NULL DEFAULT '[]')"),
    FIRST_SCHEMA[3],
    FIRST_SCHEMA[4].replace(" asked_at TEXT,", " asked_at TEXT, tries INTEGER,"),
    *UPGRADE_TO_2[2:],
)
THIRD_SCHEMA = (*SECOND_SCHEMA, *UPGRADE_TO_3)
SCHEMA = (
    *(
        statement.replace(" tries INTEGER,", " tries INTEGER," + "".join(f" {column}," for column in COLUMNS_OF_4))
        for statement in THIRD_SCHEMA
    ),
    *TABLES_OF_4,
)
SCHEMAS = {
    1: frozenset(FIRST_SCHEMA), 2: frozenset(SECOND_SCHEMA), 3: frozenset(THIRD_SCHEMA), 4: frozenset(SCHEMA),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: its text, or an error after which a retry may succeed.

    A text of None without an error is final: `finish_reason` gives the reason (`content_filter`,
    `over_context`). Cost and seconds are decimal text, since no float is stored. `tries` counts the requests that it
    took: none for a reply out of the cache. `tool_transcript` is the JSON of the calls of tools before the reply, as
    `tool_transcripts.py` describes it; tokens, cost and seconds then include those of all requests. `request_changes`
    says which settings of the request a client library changed, as `request_changes.py` words it.
    `reasoning_tokens` are the part of `completion_tokens` that was spent on reasoning.
    """

    text: str | None
    error: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: str | None = None
    seconds: str | None = None
    model_version: str | None = None
    asked_at: str | None = None
    tries: int | None = None
    tool_transcript: str | None = None
    request_changes: str | None = None
    reasoning_tokens: int | None = None


LONGEST_TEXT = 10_000_000  # characters of a reply
# A text with more bytes than the longest can have is not loaded: zeros take its place, which are too long as well.
REPLY_TEXT = (
    f"CASE WHEN length(CAST(reply.text AS BLOB)) > {4 * LONGEST_TEXT} THEN zeroblob({LONGEST_TEXT + 1}) "
    "ELSE reply.text END"
)
REPLY_COLUMNS = tuple(column.name for column in fields(Reply))
# A reply with all that is known of it. Runs of older versions, which are read as they are, lack some.
REPLY_RECORD_NAMES = ("question", "attempt", *REPLY_COLUMNS)
SELECT_REPLY = (
    f"SELECT question.id, reply.attempt, {REPLY_TEXT}, {', '.join(f'reply.{name}' for name in REPLY_COLUMNS[1:])}"
    " FROM reply JOIN question ON reply.question = question.position"
)
COLUMN_NAMES_OF_4 = tuple(column.partition(" ")[0] for column in COLUMNS_OF_4)


def _without(statement: str, *columns: str) -> str:
    """Return the statement with NULL for columns of replies that an older run does not have."""
    for column in columns:
        statement = statement.replace(f"reply.{column}", "NULL")
    return statement


SELECT_REPLY_OF_VERSION = {
    1: _without(SELECT_REPLY, "tries", *COLUMN_NAMES_OF_4),
    2: _without(SELECT_REPLY, *COLUMN_NAMES_OF_4),
    3: _without(SELECT_REPLY, *COLUMN_NAMES_OF_4),
    4: SELECT_REPLY,
}
# An existing reply stays; only an error, after which a retry may succeed, is replaced.
INSERT_REPLY = (
    f"INSERT INTO reply (respondent, question, attempt, {', '.join(REPLY_COLUMNS)})"
    f" VALUES (?, ?, ?{', ?' * len(REPLY_COLUMNS)})"
    " ON CONFLICT (respondent, question, attempt) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in REPLY_COLUMNS)
    + " WHERE reply.error IS NOT NULL"
)
PLACE_COLUMNS = ("session", "item", "turn", "step")
TURN_COLUMNS = (*PLACE_COLUMNS, "name", "role", "model", "messages", "settings")
# A turn that is asked again, because it was an error or what it was asked has changed, takes the place of the old one.
INSERT_TURN = (
    f"INSERT INTO turn (respondent, question, attempt, scope, {', '.join((*TURN_COLUMNS, *REPLY_COLUMNS))})"
    f" VALUES (?, ?, ?, ?{', ?' * (len(TURN_COLUMNS) + len(REPLY_COLUMNS))})"
    " ON CONFLICT (respondent, attempt, scope, session, item, turn, step) DO UPDATE SET "
    + ", ".join(
        f"{name} = excluded.{name}" for name in ("question", *TURN_COLUMNS[len(PLACE_COLUMNS) :], *REPLY_COLUMNS)
    )
)


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question as a run knows it; `format`, `points`, `grading` and `skills` are JSON."""

    position: int
    id: str
    leaf: bytes
    template: str
    item: str
    instance: int
    variant: str | None
    category: str | None
    domain: str | None
    level: str | None
    adversarial: str | None
    number: int | str | None
    format: str
    points: str
    grading: str | None
    skills: str = "[]"


@dataclass(frozen=True, slots=True)
class StoredRespondent:
    """A respondent of a run: a model with its settings (JSON)."""

    id: int
    name: str
    model: str
    settings: str


class RequestChange(TypedDict):
    """What a client library changed in requests, and the number of replies to such requests."""

    change: Annotated[str, "What was changed, such as `max_tokens`."]
    replies: Annotated[int, Keywords(minimum=1), "Replies to requests with this change."]


class ModelVersion(TypedDict):
    """The model that the provider says it asked, and the number of its replies."""

    version: Annotated[str, "The name of the model, as the provider reports it."]
    replies: Annotated[int, Keywords(minimum=1), "Replies of this model."]


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What scoring needs of a reply."""

    text: str | None
    error: str | None
    finish_reason: str | None
    attempt: int = 1
    completion_tokens: int | None = None
    prompt_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: str | None = None
    seconds: str | None = None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn of a conversation: its position, who was asked what, and the reply with all its facts.

    `question` is the position of the question that asked it, `scope` whose turn it is (see THIRD); item and step are -1
    where nothing is repeated. `messages` (JSON) is what the turn added to the conversation, `settings` (JSON) are those
    of the session.
    """

    question: int
    scope: str
    session: str
    item: int
    turn: int
    step: int
    name: str | None
    role: str
    model: str
    messages: str
    settings: str
    text: str | None
    error: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: str | None = None
    seconds: str | None = None
    model_version: str | None = None
    asked_at: str | None = None
    tries: int | None = None
    tool_transcript: str | None = None
    request_changes: str | None = None
    reasoning_tokens: int | None = None


STORED_TURN_COLUMNS = ("question", "scope", *TURN_COLUMNS, *REPLY_COLUMNS)
QUESTION_COLUMNS = tuple(entry.name for entry in fields(StoredQuestion))


def read_header(place: Path) -> bytes:
    """Return the file's header. Raises DiaError (exit 2) if the file is not a run."""
    try:
        header = file_start(place, HEADER)
    except FileNotFoundError:
        raise _other_than_a_run(place, "does not exist") from None
    except IsADirectoryError:
        if (place / "manifest.json").is_file():
            help = f"ask a model first: `dia run {place} --model NAME` writes a run"
            raise _other_than_a_run(place, "is a bundle, not a run", help) from None
        raise _other_than_a_run(place, "is a folder, not a run") from None
    except OSError as error:
        raise _other_than_a_run(place, f"cannot be read: {str(error.strerror).lower()}") from None
    if len(header) < HEADER or not header.startswith(MAGIC):
        raise not_a_run(place, "it is not an SQLite file")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise not_a_run(place, "it is a database of another program")
    if int.from_bytes(header[60:64], "big") > VERSION:
        raise not_a_run(place, "it was written by a newer version of dia")
    return header


def is_sqlite(path: Path) -> bool:
    """Return whether the file is an SQLite file, as runs are. Raises OSError if it cannot be read."""
    return file_start(path, len(MAGIC)) == MAGIC


def storable(value: Any) -> Any:
    """Return the value; in texts, lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) and not value.isascii() else value


def not_a_run(place: Path, why: str) -> DiaError:
    """Return the error for a file that is not a run."""
    return _other_than_a_run(place, f"is not a run: {why}")


def _other_than_a_run(place: Path, what: str, help: str | None = None) -> DiaError:
    fix = help or "name a file that `dia run` or `dia import` wrote"
    return DiaError(Diagnostic("E801", visible(f"`{place}` {what}"), None, visible(fix)))
