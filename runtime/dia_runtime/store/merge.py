"""Merge runs of the same questions into one; after a contradiction nothing is written."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.atomic_output import temporary_sibling, why_not_written
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.store.schema import REPLY_COLUMNS, Reply, StoredRespondent
from dia_runtime.store.store import Store, open_store, read_store, require_root

BATCH = 1_000
CONTENT_COLUMNS = ("text", "error", "finish_reason")  # what makes two replies different
Place = str | os.PathLike[str]


class MergedRespondent(TypedDict):
    """A respondent of a merged run: in how many of the runs it was, its replies, and how many of these are errors."""

    respondent: str
    runs: int
    replies: int
    errors: int


class MergedRun(TypedDict):
    """The new run, as `dia merge --json` prints it in `run`."""

    path: str
    questions_root: str
    benchmark: Any
    runs: int
    questions: int
    replies: int
    respondents: list[MergedRespondent]


def merge_runs(runs: Sequence[Place], out: Place, force: bool = False) -> MergedRun:
    """Merge runs into a new one at `out`, and return what it contains.

    Equal replies of several runs become one, and a reply replaces an error. Raises DiaError: exit 2 for replies or
    settings that contradict each other and for an output that already exists, exit 3 for runs of other questions or
    answers.
    """
    target = Path(out)
    refuse_special_file(target)
    if target.exists() and not force:
        raise DiaError(Diagnostic("E601", visible(f"`{target}` already exists"), None, "use --force to replace it"))
    with ExitStack() as stack:
        stores = [stack.enter_context(read_store(path)) for path in dict.fromkeys(map(Path, runs))]
        root = str(stores[0].facts.get("questions_root"))
        for store in stores:
            require_root(store, root, stores[0])
        _require_same_settings(stores)
        _require_same_answers(stores)
        stack.enter_context(_write_errors(target))
        new_file = stack.enter_context(temporary_sibling(target)) / target.name
        with open_store(new_file, root) as merged:
            benchmark, respondents = _fill(stores, merged)
            questions = merged.size
        new_file.replace(target)
    return {
        "path": target.as_posix(),
        "questions_root": root,
        "benchmark": benchmark,
        "runs": len(stores),
        "questions": questions,
        "replies": sum(entry["replies"] for entry in respondents),
        "respondents": respondents,
    }


@contextlib.contextmanager
def _write_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = visible(f"`{target}` cannot be written: {why_not_written(error)}")
        raise DiaError(Diagnostic("E804", message, None, "choose another location with `-o`")) from None


def _require_same_settings(stores: Sequence[Store]) -> None:
    """Check that a name refers to the same respondent in all runs. Raises DiaError (exit 2) otherwise."""
    first_seen: dict[str, tuple[Store, StoredRespondent]] = {}
    for store in stores:
        for entry in store.respondents():
            first_store, first_entry = first_seen.setdefault(entry.name, (store, entry))
            if (first_entry.model, first_entry.settings) != (entry.model, entry.settings):
                message = f"`{first_store.path}` and `{store.path}` asked `{entry.name}` with different settings"
                fix = "merge only runs with the same settings; `dia score` accepts several runs"
                raise DiaError(Diagnostic("E612", visible(message), None, fix))


def _require_same_answers(stores: Sequence[Store]) -> None:
    """Check that the runs have the same answers, by which the new run will be graded. Raises DiaError (exit 3).

    Runs of a sealed bundle have none.
    """
    first, *others = [store for store in stores if store.has_answers] or [stores[0]]
    for store in others:
        for (question, text), (_, other_text) in zip(first.answers(), store.answers(), strict=False):
            if text != other_text:
                message = f"`{first.path}` and `{store.path}` have different answers to `{question}`"
                fix = "find out which bundle is right, and ask again with it or score the runs separately"
                raise DiaError(Diagnostic("E802", visible(message), None, fix), 3)


def _fill(stores: Sequence[Store], merged: Store) -> tuple[Any, list[MergedRespondent]]:
    """Fill the new run. Return its benchmark and its respondents."""
    base = next((store for store in stores if store.has_answers), stores[0])
    merged.initialize(base.facts, base.questions())
    numbers: dict[str, int] = {}
    runs: Counter[str] = Counter()
    for store in stores:
        for entry in store.respondents():
            number = merged.respondent(entry.name, entry.model, store.parsed(entry.settings))
            _copy(store, entry, merged, number)
            numbers[entry.name] = number
            runs[entry.name] += 1
    for name, number in numbers.items():
        _copy_left_out(stores, name, merged, number)
    for store in reversed(stores):  # of turns that several runs have, the first is kept
        for entry in store.respondents():
            for turns in _batches(store.all_turns(entry.id)):
                merged.save_turns(numbers[entry.name], turns)
    respondents = [_respondent(merged, name, number, runs[name]) for name, number in numbers.items()]
    return base.facts.get("benchmark"), respondents


def _respondent(merged: Store, name: str, number: int, runs: int) -> MergedRespondent:
    query = "SELECT count(*), count(error) FROM reply WHERE respondent = ?"
    replies, errors = merged.rows(query, number)[0]
    return {"respondent": name, "runs": runs, "replies": replies, "errors": errors}


def _copy(store: Store, entry: StoredRespondent, merged: Store, number: int) -> None:
    """Add the replies of a respondent. Raises DiaError (exit 2) for one that contradicts another."""
    for rows in _batches(store.replies_of(entry.id)):
        replies = []
        for row in rows:
            position = merged.position(row["question"])
            if position is None:
                raise store.damaged("it has a reply to an unknown question")
            there = merged.reply(number, row["question"], row["attempt"])
            if there is None or _is_error(there):
                replies.append((position, row["attempt"], _reply(row)))
            elif not _is_error(row) and any(there[name] != row[name] for name in CONTENT_COLUMNS):
                raise _contradiction(store, entry, row)
        merged.save(number, replies)


def _copy_left_out(stores: Sequence[Store], name: str, merged: Store, number: int) -> None:
    """Add the questions that a respondent could not be asked; the first of several reasons is kept."""
    reasons: dict[int, str] = {}
    for store in stores:
        for entry in store.respondents():
            for question, why in store.left_out(entry.id) if entry.name == name else ():
                position = merged.position(question)
                if position is None:
                    raise store.damaged("it leaves out an unknown question")
                if merged.reply(number, question, 1) is None:
                    reasons.setdefault(position, why)
    merged.leave_out(number, reasons, reasons)


def _is_error(row: dict[str, Any]) -> bool:
    return row["error"] is not None


def _reply(row: dict[str, Any]) -> Reply:
    return Reply(**{name: row[name] for name in REPLY_COLUMNS})


def _contradiction(store: Store, entry: StoredRespondent, row: dict[str, Any]) -> DiaError:
    what = f"the reply of `{entry.name}` to `{row['question']}` (attempt {row['attempt']})"
    message = f"{what} differs between `{store.path}` and an earlier run"
    return DiaError(Diagnostic("E614", visible(message), None, "leave out one of the runs"))


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
