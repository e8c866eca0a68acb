"""The answer as a value in a JSON object, under a key of your choice (by default `answer`).

| chain | what is found |
|---|---|
| strict | the value of the key, if the reply is exactly one JSON object (step `alone`) or one code fence that contains it (`fence`) |
| standard | as strict; otherwise the value in the last `{...}` that is JSON and has the key, in upper or lower case (`last`) |
| lenient | as standard; otherwise an answer without its mark |
| compat | like the published evaluator of the Self-Execution Benchmark: the first fence marked `json`, then everything from the first `{` to the last `}`, then any `{...}` without braces inside, then the text after `"key":` (`fence`, `braces`, `any`, `pair`) |

An answer without its mark (only rules 2) is one word or number X. These steps look for one, in this order:
`said`, in the last line that ends with `the answer is X` or `Answer: X`; `sentence`, in the final line, if it is a
sentence such as `The sum of 3 and 4 is X.`; `equation`, in the only equation, such as `60 + 65 = X`; and `word`, in a
reply of one word. Lenient takes these steps if there is no marked answer, or if the marked one is not a value of the
answer's type.

A text value is the answer itself; a number keeps its digits; a list or object is the answer as JSON. Objects with a
duplicate key, nesting deeper than 100 levels, and NaN are not valid JSON. The step `last` searches only the last 300,000 characters. In a reply of more than a million characters, strict finds
nothing, and compat searches only the first million. In a bundle, the format of a question is
`{"key": "result", "kind": "json", "rules": 2, "skip": "I-DO-NOT-KNOW"}`, without `key` for the default.
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
