"""The published schemas of a bundle's records, as functions that find the first error of a record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from dia_language.answers import answer_type
from dia_language.diagnostics import LanguageError

from dia_runtime.data import data_folder

SCHEMAS = {"questions": "question", "answers": "answer", "templates": "template-record", "commitments": "commitment"}
UNTYPED = ("accept_if", "share", "unanswerable")  # parts of a comparison that the answer type does not read


def schema_error(record: Mapping[str, Any], kind: str) -> str | None:
    """Return the first error of a record according to its published schema; None if it is valid.

    `kind` is questions, answers, templates or commitments. The comparison of an answer must also give an answer type.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(SCHEMAS[kind])(record)
    except JsonSchemaValueException as error:
        return _in_words(error.message)
    except RecursionError:
        return "it is nested too deeply"
    return _comparison_error(record["comparison"]) if kind == "answers" else None


@cache
def _validator(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    text = (data_folder() / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    validate: Callable[[Any], Any] = fastjsonschema.compile(json.loads(text), use_default=False)
    return validate


def _in_words(message: str) -> str:
    """Return the validator's message about `data.points.wrong` as one about `points.wrong`."""
    place, verb, rest = message.partition(" must ") if " must " in message else message.partition(" cannot ")
    name = place.removeprefix("data").removeprefix(".")
    whose = f"its `{name}`" if name else "it"
    if verb == " cannot ":
        return f"{whose} has none of the allowed forms"
    if lacks := re.fullmatch(r"contain \[(.*)\] properties", rest):
        return f"{whose} needs {lacks[1].replace(chr(39), chr(96))}"
    return f"{whose} must {rest.replace('smaller than or equal to', 'at most')[:300]}"


def _comparison_error(comparison: Mapping[str, Any]) -> str | None:
    if comparison.get("type") == "sessions":  # judged by the record's `truth`
        return None
    kind = {name: value for name, value in comparison.items() if name not in UNTYPED}
    return _type_error(json.dumps(kind, sort_keys=True))


@lru_cache(maxsize=1024)
def _type_error(comparison: str) -> str | None:
    try:
        answer_type(json.loads(comparison))
    except LanguageError as error:
        return f"its `comparison` is not valid: {error.message}"
    return None
