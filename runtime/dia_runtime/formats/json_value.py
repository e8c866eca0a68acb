"""The answer as a value in a JSON object, under a key of your choice (by default `answer`).

| step | chains | what is found |
|---|---|---|
| `alone` | strict, standard, lenient | the value of the key, if the reply is exactly one JSON object |
| `fence` | strict, standard, lenient | the value of the key, if the reply is one code fence that contains exactly one JSON object |
| `last` | standard, lenient | the value in the last outermost JSON object that has the key (ignoring case) |
| `said`, `sentence`, `equation`, `word` | lenient | an answer without its mark |

The chain compat searches these parts of the reply for the value, like the published evaluator of the Self-Execution
Benchmark:

| step of compat | part of the reply |
|---|---|
| `fence` | the first code fence marked `json` |
| `braces` | everything from the first `{` to the last `}` |
| `any` | each `{...}` without braces inside, until one has the key |
| `pair` | the text in quotes after the key and a colon, as in `"answer": "42"` |

Numbers are taken as written: `1.50` stays `1.50`. If the value is a list or an object, its JSON text is the answer.
`NaN`, objects with duplicate keys, and values with more than 100 levels are not accepted.
"""  # noqa: E501 - a table

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, FormatRecord, skip_sentence
from dia_runtime.formats.tagged import fenced_body
from dia_runtime.formats.unmarked import UNMARKED

RESTARTS, TRIES, DEPTH = 3, 100, 100
SEARCHED = 300_000
MARKS = re.compile(r'\\.|[{}"]', re.DOTALL)
FENCED = re.compile(r"```json")
FLAT = re.compile(r"\{[^{}]*\}")


class _Number(str):
    """A number in its original spelling."""

    __slots__ = ()


def alone(reply: str, format: FormatRecord) -> str | None:
    """Return the value if the whole reply is an object."""
    return value_in(reply, _key(format)) if len(reply) <= CHARACTERS else None


def fence(reply: str, format: FormatRecord) -> str | None:
    """Return the value if the whole reply is one code fence with an object."""
    body = fenced_body(reply)
    return None if body is None else value_in(body, _key(format))


def last(reply: str, format: FormatRecord) -> str | None:
    """Return the value in the last object in the reply that has the key."""
    for text in reversed(deque(objects(reply[-SEARCHED:]), TRIES)):
        value = value_in(text, _key(format), True)
        if value is not None:
            return value
    return None


def objects(text: str) -> Iterator[str]:
    """Yield the outermost pairs of braces, respecting quotes; a brace that is never closed is skipped."""
    place = -1
    for _ in range(RESTARTS):
        place = text.find("{", place + 1)
        if place < 0:
            return
        start, depth, is_text = -1, 0, False
        for mark in MARKS.finditer(text, place):
            if mark[0] == '"':
                is_text = depth > 0 and not is_text
            elif mark[0] == "{" and not is_text:
                start, depth = (start if depth else mark.start()), depth + 1
            elif mark[0] == "}" and depth and not is_text:
                depth -= 1
                if depth == 0:
                    yield text[start : mark.end()]
        if depth == 0:
            return
        place = start


def value_in(text: str, key: str, is_folded: bool = False) -> str | None:
    """Return the value of the key as the answer's text; None if the text is not a JSON object with this key."""
    try:
        value = json.loads(
            text, object_pairs_hook=require_unique_keys, parse_constant=_refused, parse_int=_Number, parse_float=_Number
        )
        if not isinstance(value, dict):
            return None
        if is_folded and key not in value:
            keys = [name for name in value if name.casefold() == key.casefold()]
            key = keys[0] if len(keys) == 1 else key
        return _text(value[key]) if value.get(key) is not None else None
    except (ValueError, RecursionError):
        return None


def require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs. Raises ValueError for a duplicate key."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key twice")
    return record


def _refused(word: str) -> None:
    raise ValueError(word)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str) else _inner(value, DEPTH)


def _inner(value: Any, depth: int) -> str:
    """Return the value as JSON, with numbers in their original spelling. Raises ValueError if it is nested too deep."""
    if not depth:
        raise ValueError("too deep")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(name)}: {_inner(item, depth - 1)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inner(item, depth - 1) for item in value) + "]"
    return str(value) if isinstance(value, _Number) else _quoted(value)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_fence(reply: str, format: FormatRecord) -> str | None:
    """Return the value in the first fence marked as JSON."""
    text = reply[:CHARACTERS]
    start = FENCED.search(text)
    end = text.find("```", start.end()) if start else -1
    return value_in(text[start.end() : end], _key(format)) if start and end >= 0 else None


def braces(reply: str, format: FormatRecord) -> str | None:
    """Return the value in the text between the first and the last brace."""
    text = reply[:CHARACTERS]
    return value_in(text[max(text.find("{"), 0) : text.rfind("}") + 1], _key(format))


def flat(reply: str, format: FormatRecord) -> str | None:
    """Return the value in the first innermost braces that contain it."""
    for candidate in islice(FLAT.finditer(reply[:CHARACTERS]), 10 * TRIES):
        value = value_in(candidate[0], _key(format))
        if value is not None:
            return value
    return None


def pair(reply: str, format: FormatRecord) -> str | None:
    """Return the quoted text after the quoted key."""
    pattern = rf'"{re.escape(_key(format))}"\s*:\s*"([^"]*)"'
    match = re.search(pattern, reply[:CHARACTERS])
    return match[1] if match else None


def _key(format: FormatRecord) -> str:
    return str(format.get("key", "answer"))


STRICT = (("alone", alone), ("fence", fence))


class Json(Format):
    """The answer as a value in a JSON object."""

    options = {
        "key": FormatOption("text", "The key of the answer (default `answer`).", default="answer", example="result")
    }
    chains = {
        "standard": (*STRICT, ("last", last)),
        "strict": STRICT,
        "lenient": (*STRICT, ("last", last), *UNMARKED),
        "compat": (("fence", json_fence), ("braces", braces), ("any", flat), ("pair", pair)),
    }

    def faults(self, format: FormatRecord) -> list[str]:
        key = format.get("key", "answer")
        is_key = isinstance(key, str) and 0 < len(key) <= 100
        return super().faults(format) + ([] if is_key else ["`key` must be a text of at most 100 characters"])

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f'End your reply with a JSON object that holds your final answer as text under the key "{_key(format)}",'
            f" such as {self.wrap('...', format)}. The answer is {answer_phrase}.",
            skip_sentence(self.wrap(str(format.get("skip")), format), format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return json.dumps({_key(format): text}, ensure_ascii=False)


JSON = Json()
