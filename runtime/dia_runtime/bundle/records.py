"""The records of a bundle: their required fields, and what the questions' root covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.merkle import leaf_hash

Record = Mapping[str, Any]
Shape = Mapping[str, tuple[type, ...]]

TEXT, WHOLE, NOTHING = (str,), (int,), (type(None),)
ANYTHING: tuple[type, ...] = ()
TEXT_OR_NOTHING = TEXT + NOTHING

QUESTION: Shape = {
    "id": TEXT,
    "template": TEXT,
    "item": TEXT,
    "instance": WHOLE,
    "variant": TEXT_OR_NOTHING,
    "category": TEXT_OR_NOTHING,
    "domain": TEXT_OR_NOTHING,
    "level": TEXT_OR_NOTHING,
    "format": (dict,),
    "points": (dict,),
}
ANSWER: Shape = {
    "id": TEXT,
    "template": TEXT,
    "answer": ANYTHING,
    "text": TEXT,
    "comparison": (dict,),
    "accept": (list,),
    "mistakes": (dict,),
}
GRADING: Shape = {name: kinds for name, kinds in ANSWER.items() if name not in ("id", "template")}
TEMPLATE: Shape = {"template": TEXT}


def question_core(question: Record) -> dict[str, Any]:
    """Return the part of a question that `questions_root` covers: its content, format and points."""
    core = {name: question[name] for name in core_names(question)}
    return core | {"assets": asset_hashes(question.get("assets", ()))}


def core_names(question: Record) -> tuple[str, ...]:
    """Return the names of the fields that `questions_root` covers, except the assets."""
    return "id", "sessions" if "sessions" in question else "messages", "format", "points"


def leaf(question: Record) -> bytes:
    """Return the question's leaf in the tree whose root is `questions_root`."""
    return leaf_hash(canonical_line(question_core(question)))


def leaf_or_none(question: Record) -> bytes | None:
    """Return the question's leaf; None for an untrusted question without a canonical form."""
    try:
        return leaf(question)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def question_id(benchmark: str, question: Record) -> str:
    """Return the id that follows from the question's fields: `benchmark/item/instance`, then `/variant` if any."""
    base = f"{benchmark}/{question['item']}/{question['instance']}"
    return f"{base}/{question['variant']}" if question["variant"] is not None else base


def shape_error(record: Any, keys: Shape) -> str | None:
    """Return the error in the shape of a record, or None."""
    if not isinstance(record, dict):
        return "it is not an object"
    for name, kinds in keys.items():
        if name not in record:
            return f"it lacks `{name}`"
        if kinds and type(record[name]) not in kinds:
            return f"its `{name}` has the wrong type"
    return _asks_nothing(record) if keys is QUESTION else None


def is_gradable(record: Any) -> bool:
    """Return whether a stored record contains everything that grading needs."""
    return shape_error(record, GRADING) is None


def _asks_nothing(question: Record) -> str | None:
    if not isinstance(question.get("assets", []), list):
        return "its `assets` are not a list"
    if "sessions" in question:
        return None if isinstance(question["sessions"], (dict, list)) else "its `sessions` have the wrong type"
    messages = question.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return "it has neither `messages` nor `sessions`"
    return None


def is_listed(asset: Any, files: Mapping[str, Any]) -> bool:
    """Return whether the manifest lists the file of an asset, with the digest that the question names."""
    listed = files.get(str(asset.get("path"))) if isinstance(asset, Mapping) else None
    return isinstance(listed, Mapping) and listed.get("sha256") == asset.get("sha256")


def asset_hashes(assets: Sequence[Any]) -> list[str]:
    """Return the digests of a question's assets."""
    return [str(asset["sha256"]) if isinstance(asset, Mapping) else str(asset) for asset in assets]
