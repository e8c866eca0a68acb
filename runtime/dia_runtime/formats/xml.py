"""The answer between <xml> and </xml>.

| step | chains | what is found |
|---|---|---|
| `alone` | strict, standard, lenient | the content of the tags, if the reply is exactly one `<xml>...</xml>` |
| `fence` | strict, standard, lenient | the content of the tags, if the reply is one code fence that contains exactly one `<xml>...</xml>` |
| `last` | standard, lenient | the content of the last `<xml>...</xml>` in the reply |
| `said`, `sentence`, `equation`, `word` | lenient | an answer without its mark |
| `fenced` | compat | `<xml>...</xml>`, with the tags, if it is all that a code fence marked `xml` contains |
| `whole` | compat | the reply |

Tags are case-sensitive. If text outside the tags is forbidden (`reasoning: false`), only lenient takes the step `last`.
Compat compares texts, like the published evaluator of the DIA benchmark: what is found must equal
`<xml>correct answer</xml>` in every character.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from dia_runtime.formats.base import CHARACTERS, FormatOption, FormatRecord
from dia_runtime.formats.tagged import REASONING, Tagged

OPEN = "<xml>"
# The published rule is one pattern. Two searches find the same place in linear time, because the first
# start that is followed by an end is either the very first start or does not exist.
COMPAT_START = re.compile(r"`{2,3}\s*xml\s*(?=<xml>)", re.IGNORECASE)
COMPAT_END = re.compile(r"</xml>(?=\s*`{2,3})", re.IGNORECASE)


def fenced(reply: str, format: FormatRecord) -> str | None:
    """Return the tags and their content at the first place that the published evaluator accepts."""
    text = reply[:CHARACTERS]
    start = COMPAT_START.search(text)
    end = COMPAT_END.search(text, start.end() + len(OPEN)) if start else None
    return text[start.end() : end.end()] if start and end else None


def whole(reply: str, format: FormatRecord) -> str | None:
    """Return the reply itself."""
    return reply


class Xml(Tagged):
    """The answer between <xml> and </xml>."""

    options: ClassVar[Mapping[str, FormatOption]] = {"reasoning": REASONING}
    chains = {**Tagged.chains, "compat": (("fenced", fenced), ("whole", whole))}
    verbatim = frozenset({"compat"})


XML = Xml()
