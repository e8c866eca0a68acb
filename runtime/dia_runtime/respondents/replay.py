"""`replay:FILE` and `replay:FILE#NAME`: recorded replies from a run, an export of a run, or JSON Lines."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dia_language.diagnostics import DiaError, Diagnostic, Position, did_you_mean, visible

from dia_runtime.bundle.compressed import read_lines
from dia_runtime.respondents.reply_records import reply_from_record, reply_key
from dia_runtime.respondents.respondent import LocalRespondent, Reply, RequestError
from dia_runtime.respondents.turn_request import TurnPlace, TurnRequest
from dia_runtime.store.schema import is_sqlite
from dia_runtime.store.store import Store, read_store, require_root
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, read_transcript

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions

MOST_FAULTS = 10
Record = Mapping[str, Any]


class ReplySource(Protocol):
    """Recorded replies of one respondent."""

    left_out: Mapping[str, str]
    """Question -> why the respondent was not asked."""

    def record(self, question: str, attempt: int) -> Record | None: ...
    def turn(self, question: str, attempt: int, place: TurnPlace) -> Record | None: ...
    def close(self) -> None: ...


class Replay(LocalRespondent):
    """A respondent that repeats the replies in a file, whatever the settings are."""

    def __init__(self, name: str, argument: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError: exit 2 if the file does not have such replies, exit 3 for replies to other questions."""
        path, respondent = _split_name(argument)
        root = None if options.bundle is None else options.bundle.questions_root
        try:
            is_run = is_sqlite(path)
        except OSError as error:
            raise _replay_error(path, error.strerror or str(error)) from None
        super().__init__(name, f"replay:{argument}")
        self.path = path
        self.source: ReplySource = (
            _RunReplies(path, respondent, root) if is_run else _JsonLinesReplies(path, respondent, root)
        )

    @property
    def reason_not_asked(self) -> Callable[[Mapping[str, Any]], str | None] | None:
        """Return a function that says why a question was not asked when the replies were recorded; None if all were."""
        reasons = self.source.left_out
        return (lambda question: reasons.get(question["id"])) if reasons else None

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the recorded reply. Raises RequestError if there is none."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        if isinstance(question, TurnRequest):
            return self._turn(question, attempt)
        record = self.source.record(question["id"], attempt)
        if record is None:
            raise self._missing_reply("this question", attempt)
        return reply_from_record(record)

    async def whole(self, question: Mapping[str, Any], attempt: int) -> Reply | None:
        """Return the recorded transcript of a conversation; None if there is no complete one."""
        await asyncio.sleep(0)
        record = self.source.record(question["id"], attempt)
        if record is None or record.get("text") is None:
            return None
        with suppress(ValueError):
            read_transcript(str(record["text"]))
            return reply_from_record(record)
        return None

    def _turn(self, turn: TurnRequest, attempt: int) -> Reply:
        """Return the reply to a turn, from the transcript or from the stored turns of an unfinished question."""
        record = self.source.record(turn["id"], attempt)
        session, recorded_reply = (
            (None, None) if record is None or record.get("text") is None else _recorded_turn(str(record["text"]), turn)
        )
        if (
            recorded_reply is not None
            and (recorded_reply.text is not None or recorded_reply.finish_reason is not None)
            and recorded_reply.error is None
        ):
            if session is not None and not _is_same_conversation(session.messages, turn):
                raise self._missing_reply(
                    f"the current prompt at {_turn_text(turn)}: the conversation before it was different", attempt
                )
            return Reply(
                recorded_reply.text,
                None,
                recorded_reply.finish_reason,
                recorded_reply.prompt_tokens,
                recorded_reply.tokens,
                recorded_reply.cost,
                recorded_reply.seconds,
                reasoning_tokens=recorded_reply.reasoning_tokens,
            )
        stored_turn = self.source.turn(turn["id"], attempt, turn.place)
        if (
            stored_turn is None
            or stored_turn.get("error") is not None
            or not _is_same_last_message(stored_turn["messages"], turn)
        ):
            raise self._missing_reply(f"{_turn_text(turn)} of this question", attempt)
        return reply_from_record(stored_turn)

    def _missing_reply(self, what: str, attempt: int) -> RequestError:
        which = "" if attempt == 1 else f" at attempt {attempt}"
        return RequestError("request", visible(f"{self.path.name} has no reply to {what}{which}"))

    async def close(self) -> None:
        """Close the file."""
        self.source.close()


def _turn_text(turn: TurnRequest) -> str:
    return f"turn {turn['turn'] + 1} of `{turn['session']}`"


def _is_same_conversation(recorded: Sequence[Mapping[str, Any]], turn: TurnRequest) -> bool:
    """Return whether the recording begins like the current conversation; judgements of other replies are not used.

    A conversation that was not recorded matches. A shared session is asked once, by any question that needs it.
    """
    if not recorded or turn["key"] is not None:
        return True
    sent = [(message["role"], message["content"]) for message in turn["messages"]]
    recorded_messages = [(message["role"], message["content"]) for message in recorded[: len(sent)]]
    if turn["prefill"] and len(recorded_messages) == len(sent):  # it continues the prefilled beginning
        *recorded_messages, (role, content) = recorded_messages
        *sent, (begun_by, beginning) = sent
        return recorded_messages == sent and role == begun_by and content.startswith(beginning)
    return recorded_messages == sent


def _is_same_last_message(messages: str, turn: TurnRequest) -> bool:
    """Return whether a stored turn added the same messages to the conversation as now."""
    added = [message["content"] for message in json.loads(messages) if message["role"] == "user"]
    now = [message["content"] for message in turn["messages"] if message["role"] == "user"]
    return turn["key"] is not None or not added or added[-1:] == now[-1:]


def _recorded_turn(text: str, turn: TurnRequest) -> tuple[TranscriptSession, TranscriptReply] | tuple[None, None]:
    """Return the reply to a turn in a transcript, and its conversation; None if there is none."""
    session, item, number, step = turn.place
    for recorded_session in _transcript_sessions(text):
        is_it = (
            recorded_session.shared == turn["key"]
            if turn["key"] is not None
            else recorded_session.item == (None if item < 0 else item)
        )
        if recorded_session.name == session and is_it:
            for reply in recorded_session.replies:
                if (reply.turn, reply.item) == (number, None if step < 0 else step):
                    return recorded_session, reply
    return None, None


@lru_cache(maxsize=8)  # the turns of a question are asked for one after the other
def _transcript_sessions(text: str) -> tuple[TranscriptSession, ...]:
    try:
        return tuple(read_transcript(text))
    except ValueError:
        return ()


def _split_name(argument: str) -> tuple[Path, str | None]:
    """Return the file, and the respondent after `#`; names of files may contain `#` too."""
    for at in [len(argument), *(place for place, letter in enumerate(argument) if letter == "#")]:
        if os.path.isfile(argument[:at]):  # noqa: PTH113 - says no to what cannot be a name, where pathlib raises
            return Path(argument[:at]), argument[at + 1 :] or None
    raise DiaError(Diagnostic("E841", visible(f"file not found: `{argument}`"), None, "write replay:FILE"))


def _choose_respondent(path: Path, names: list[str], name: str | None) -> str:
    """Return the chosen respondent. Raises DiaError if the choice is ambiguous."""
    listed = ", ".join(f"`{only}`" for only in names[:MOST_FAULTS]) + (" ..." if len(names) > MOST_FAULTS else "")
    if not names:
        raise _replay_error(path, "it has no replies")
    if name is None and len(names) > 1:
        raise _replay_error(path, f"it has replies from {listed}", f"choose one: replay:{path}#{names[0]}")
    if name is not None and name not in names:
        fix = did_you_mean(name, names) or f"it has those of {listed}"
        raise _replay_error(path, f"it has no replies from `{name}`", fix)
    return names[0] if name is None else name


def _replay_error(path: Path, why: str, help: str | None = None) -> DiaError:
    message, fix = visible(f"`{path}` cannot be replayed: {why}"), None if help is None else visible(help)
    return DiaError(Diagnostic("E841", message, None, fix))


class _RunReplies:
    """The replies in another run."""

    def __init__(self, path: Path, respondent: str | None, root: str | None) -> None:
        self.store: Store = read_store(path)
        try:
            if root is not None:
                require_root(self.store, root)
            numbers = {entry.name: entry.id for entry in self.store.respondents()}
            self.respondent = numbers[_choose_respondent(path, list(numbers), respondent)]
            self.left_out: Mapping[str, str] = dict(self.store.left_out(self.respondent))
        except BaseException:
            self.store.close()
            raise

    def record(self, question: str, attempt: int) -> Record | None:
        """Return the reply as the run stores it. Raises DiaError (exit 3) if the run is damaged."""
        record = self.store.reply(self.respondent, question, attempt)
        try:
            reply_from_record(record or {"text": ""})
        except ValueError as error:
            raise self.store.damaged(f"a reply cannot be read: {error}") from None
        return record

    def turn(self, question: str, attempt: int, place: TurnPlace) -> Record | None:
        """Return a stored turn of an unfinished question."""
        position = self.store.position(question)
        turns = [] if position is None else self.store.turns(self.respondent, attempt, str(position))
        return next((asdict(turn) for turn in turns if (turn.session, turn.item, turn.turn, turn.step) == place), None)

    def close(self) -> None:
        self.store.close()


class _JsonLinesReplies:
    """The replies in a file of JSON Lines, indexed by SQLite, which limits the memory that they need."""

    def __init__(self, path: Path, respondent: str | None, root: str | None) -> None:
        self.path, self.root = path, root
        self.left_out: Mapping[str, str] = {}  # the format has no such lines
        self.table = sqlite3.connect("", isolation_level=None)  # private, and deleted when it is closed
        for statement in (
            "PRAGMA journal_mode = OFF",
            "CREATE TABLE reply (respondent TEXT, question TEXT, attempt INTEGER, is_error INTEGER, line BLOB,"
            " PRIMARY KEY (respondent, question, attempt)) WITHOUT ROWID",
            "BEGIN",
        ):
            self.table.execute(statement)
        try:
            self.fill()
            names = [name for (name,) in self.table.execute("SELECT DISTINCT respondent FROM reply ORDER BY 1")]
            self.respondent = _choose_respondent(path, names, respondent)
        except BaseException:
            self.close()
            raise

    def record(self, question: str, attempt: int) -> Record | None:
        query = "SELECT line FROM reply WHERE respondent = ? AND question = ? AND attempt = ?"
        row = self.table.execute(query, (self.respondent, question, attempt)).fetchone()
        return None if row is None else _parse_record(row[0])

    def turn(self, question: str, attempt: int, place: TurnPlace) -> Record | None:
        """Do nothing, because lines contain whole conversations."""
        return None

    def close(self) -> None:
        """Discard the replies."""
        self.table.close()

    def fill(self) -> None:
        """Read every line. Raises DiaError with the first malformed lines."""
        faults = []
        for number, why in self._faults():
            faults.append(Diagnostic("E841", visible(why), Position(str(self.path), number, 1)))
            if len(faults) == MOST_FAULTS:
                break
        if faults:
            raise DiaError(faults)

    def _faults(self) -> Iterator[tuple[int, str]]:
        try:
            for number, line in read_lines(self.path):
                if not line.strip():
                    continue
                try:
                    self._insert(line, number)
                except ValueError as error:
                    yield number, f"the line is not a reply: {error}"
        except (OSError, ValueError) as error:
            raise _replay_error(self.path, getattr(error, "strerror", None) or str(error)) from None

    def _insert(self, line: bytes, number: int) -> None:
        record = _parse_record(line)
        key, reply = reply_key(record), reply_from_record(record)
        root = record.get("questions_root")
        if root is not None and self.root is not None and root != self.root:
            message = (
                f"the reply is to other questions: their root is {str(root)[:64]}, that of the bundle is {self.root}"
            )
            raise DiaError(Diagnostic("E802", visible(message), Position(str(self.path), number, 1)), 3)
        query = (
            "INSERT INTO reply VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET is_error = excluded.is_error, line = excluded.line WHERE reply.is_error"
        )
        # A later line replaces an error, as continuing a run does.
        if self.table.execute(query, (*key, reply.error is not None, line)).rowcount == 0:
            raise ValueError(f"an earlier line already replies to `{key[1]}`, attempt {key[2]}")


def _parse_record(line: bytes) -> dict[str, Any]:
    """Return the object on a line. Raises ValueError."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(record, dict):
        raise ValueError("it is not an object")
    return record
