"""A question as one flat row of texts for other harnesses, with everything that grading needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import read_sessions
from dia_runtime.grading.sessions.judging import truth_of
from dia_runtime.integrations.exporting.base import Record, instruction, json_text, origin, pairs, reply_with_answer

GRADED_BY = ("answer", "accept", "text", "comparison")
JUDGED_BY = ("truth", "figures", "replies", "comparison")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,99}")
ROWS = "questions.jsonl"
ASSETS = "assets"  # what an exporter may support in addition to texts
TURNS = "turns"
SESSIONS = "sessions"
OTHERWISE = "run it with `dia run`, or export it to `inspect`"
MODULE = '''"""Made by `dia export`: {what}. Grades and figures are those of dia-spec itself."""

{before}try:
    from dia_runtime.harnesses.{module} import {names}
except ImportError as error:
    raise SystemExit(f"this task is graded by dia-spec: run `pip install .` in a clone of dia ({{error}})") from None
'''


def task_module(what: str, name: str, names: tuple[str, ...], before: str = "", behind: str = "") -> bytes:
    """Return a module for an exported folder: it imports functions of this package, or reports that it is missing."""
    head = MODULE.format(what=what, module=name, names=", ".join(names), before=before)
    return f"{head}\n{behind}".encode() if behind else head.encode()


def rows(bundle: Bundle, target: str, holds: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """Yield the rows of all questions. Raises DiaError (exit 2) for a question that the target does not support."""
    for question, answer in pairs(bundle, SESSIONS in holds):
        if SESSIONS in question:
            yield session_row(bundle, question, answer, target)
        else:
            require_held(question, target, holds)
            yield row(bundle, question, answer)


def session_row(bundle: Bundle, question: Record, answer: Record, target: str) -> dict[str, Any]:
    """Return a question of sessions with its truth. Raises DiaError (exit 2) if it cannot be run."""
    if any(asset["deliver"] == "file" for asset in question["assets"]):
        raise _cannot(question, target, "has sessions and a file for a model with tools", "deliver it in the messages")
    try:
        read_sessions(question)
        truth_of(answer)
    except ValueError as error:
        why = f"has sessions that cannot be run ({error})"
        raise _cannot(question, target, why, "compile the bundle again") from None
    return origin(bundle, question) | {
        "category": question["category"],
        "domain": question["domain"],
        "level": question["level"],
        "sessions": question["sessions"],
        "format": json_text(question["format"]),
        "points": json_text(question["points"]),
        "grading": json_text({name: answer.get(name, {}) for name in JUDGED_BY}),
        "assets": question["assets"],
    }


def session_record(bundle: Bundle, question: Record, answer: Record | None) -> dict[str, Any]:
    """Return a question of sessions as data: what is asked in which order, and how replies are graded.

    `grading` is None if the answers are withheld.
    """
    return origin(bundle, question) | {
        "sessions": question["sessions"],
        "points": question["points"],
        "grading": None if answer is None else {name: answer.get(name, {}) for name in JUDGED_BY},
        "assets": question["assets"],
    }


def row(bundle: Bundle, question: Record, answer: Record) -> dict[str, Any]:
    return origin(bundle, question) | {
        "category": question["category"],
        "domain": question["domain"],
        "level": question["level"],
        "messages": [{"role": str(message["role"]), "content": message["content"]} for message in question["messages"]],
        "target": reply_with_answer(question, answer),
        "answer": answer["text"],
        "skip": question["format"].get("skip") or "",
        "format_instruction": instruction(question, answer),
        "format": json_text(question["format"]),
        "points": json_text(question["points"]),
        "grading": json_text({name: answer[name] for name in GRADED_BY}),
        "assets": question["assets"],
    }


def prompt(row: Record) -> tuple[str, str]:
    """Return the system prompt, empty if there is none, and the user's message, of a question of one turn."""
    *before, last = row["messages"]
    return "".join(message["content"] for message in before), last["content"]


def require_held(question: Record, target: str, holds: frozenset[str]) -> None:
    """Raise DiaError (exit 2) if the target does not support the question."""
    if question["assets"] and ASSETS not in holds:
        raise _cannot(question, target, "has pictures or files")
    roles = [message.get("role") for message in question["messages"]]
    if not all(isinstance(message.get("content"), str) for message in question["messages"]):
        raise _cannot(question, target, "has content that is not text")
    if TURNS not in holds and roles not in (["user"], ["system", "user"]):
        raise _cannot(question, target, "is a conversation of several turns")


def require_one_turn(question: Record, target: str) -> None:
    """Raise DiaError (exit 2) if there are messages of other roles, such as a system prompt."""
    if len(question["messages"]) > 1:
        raise _cannot(question, target, "has a system prompt")


def _cannot(question: Record, target: str, why: str, help: str = OTHERWISE) -> DiaError:
    message = visible(f"`{question['id']}` {why}, which `{target}` does not support")
    return DiaError(Diagnostic("E714", message, None, help))


def task_name(bundle: Bundle) -> str:
    """Return the benchmark's name as the task's name: a valid Python identifier that no harness uses itself.

    Raises DiaError (exit 3) for a name that the compiler would not accept.
    """
    benchmark = bundle.manifest["benchmark"]
    if not NAME.fullmatch(benchmark):
        raise DiaError(Diagnostic("E702", visible(f"`{benchmark[:80]}` is not a valid benchmark name"), None), 3)
    name = benchmark.replace("-", "_")
    return name if name.startswith("dia_") else f"dia_{name}"
