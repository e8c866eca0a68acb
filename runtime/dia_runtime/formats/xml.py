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
from typing import ClassVar

from dia_runtime.formats.base import CHARACTERS, FormatOption, FormatRecord
from dia_runtime.formats.tagged import Tagged

OPEN = "<xml>"
# The published rule is one pattern; as two searches it finds the same place in linear time, because the first
# beginning with an end behind it is the first beginning of all or none.
COMPAT_START = re.compile(r"`{2,3}\s*xml\s*(?=<xml>)", re.IGNORECASE)
COMPAT_END = re.compile(r"</xml>(?=\s*`{2,3})", re.IGNORECASE)


def fenced(reply: str, format: FormatRecord) -> str | None:
    """The tags, with what they hold, in the first place that the published evaluator takes."""
    text = reply[:CHARACTERS]
    start = COMPAT_START.search(text)
    end = COMPAT_END.search(text, start.end() + len(OPEN)) if start else None
    return text[start.end() : end.end()] if start and end else None


def whole(reply: str, format: FormatRecord) -> str | None:
    """The reply itself."""
    return reply


class Xml(Tagged):
    """The answer between <xml> and </xml>."""

    options: ClassVar[Mapping[str, FormatOption]] = {}
    chains = {**Tagged.chains, "compat": (("fenced", fenced), ("whole", whole))}
    verbatim = frozenset({"compat"})


XML = Xml()
