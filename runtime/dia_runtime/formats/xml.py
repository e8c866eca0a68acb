"""The answer between <xml> and </xml>.

| chain | what is found |
|---|---|
| strict | the reply, without outer white space, is exactly one `<xml>...</xml>` (step `alone`), or that in one code fence of three backticks with or without a language word (`fence`); a word before or behind it, or a second tag, and nothing is found |
| lenient | that, else the last `<xml>...</xml>` anywhere that holds neither tag itself (`last`) |
| compat | as the published evaluator of the DIA benchmark: the first place with two or three backticks, the word `xml`, one `<xml>...</xml>` and two or three backticks, white space or none between (`fenced`), else the whole reply (`whole`); compared as a string, nothing stripped |

The tags are in lower case (compat finds them in any case, and then calls the other cases wrong). Of a reply longer
than a million characters strict finds nothing, lenient searches the first million, and so does compat for its place.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_runtime.formats.base import Format

OPEN, CLOSE, FENCE = "<xml>", "</xml>", "```"
CHARACTERS = 1_000_000

LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]*")
# The published rule is one pattern; as two searches it finds the same place in linear time, because the first
# beginning with an end behind it is the first beginning of all or none.
COMPAT_START = re.compile(r"`{2,3}\s*xml\s*(?=<xml>)", re.IGNORECASE)
COMPAT_END = re.compile(r"</xml>(?=\s*`{2,3})", re.IGNORECASE)


def alone(reply: str) -> str | None:
    """What stands in the tags, if the reply is exactly one pair of them."""
    text = reply.strip()
    if not (text.startswith(OPEN) and text.endswith(CLOSE)) or len(text) > CHARACTERS:
        return None
    inner = text[len(OPEN) : -len(CLOSE)]
    return None if OPEN in inner or CLOSE in inner else inner


def fence(reply: str) -> str | None:
    """What stands in the tags, if the reply is exactly one pair of them in a code fence."""
    text = reply.strip()
    if not (text.startswith(FENCE) and text.endswith(FENCE)) or not 6 < len(text) <= CHARACTERS:
        return None
    body = text[len(FENCE) : -len(FENCE)]
    word = LANGUAGE.match(body)
    return alone(body[word.end() :] if word else body)


def last(reply: str) -> str | None:
    """What stands in the last pair of tags."""
    text = reply[:CHARACTERS]
    opened = text.rfind(OPEN, 0, max(text.rfind(CLOSE), 0))
    return None if opened < 0 else text[opened + len(OPEN) : text.find(CLOSE, opened)]


def fenced(reply: str) -> str | None:
    """The tags, with what they hold, in the first place that the published evaluator takes."""
    text = reply[:CHARACTERS]
    start = COMPAT_START.search(text)
    end = COMPAT_END.search(text, start.end() + len(OPEN)) if start else None
    return text[start.end() : end.end()] if start and end else None


def whole(reply: str) -> str | None:
    """The reply itself."""
    return reply


STRICT = (("alone", alone), ("fence", fence))


class Xml(Format):
    """The answer between <xml> and </xml>."""

    chains = {
        "strict": STRICT,
        "lenient": (*STRICT, ("last", last)),
        "compat": (("fenced", fenced), ("whole", whole)),
    }
    verbatim = frozenset({"compat"})

    def instruction(self, format: Mapping[str, Any], answer_phrase: str) -> str:
        skip = format.get("skip")
        parts = [
            f"Give your final answer once, between {OPEN} and {CLOSE}, and write nothing outside these tags.",
            f"Between them stands the answer alone: {answer_phrase}.",
            f"To skip the question instead, write {self.wrap(skip, format)}." if skip else "",
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: Mapping[str, Any]) -> str:
        return f"{OPEN}{text}{CLOSE}"


XML = Xml()
