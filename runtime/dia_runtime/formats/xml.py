"""The answer between <xml> and </xml>.

| chain | what is found |
|---|---|
| strict | the reply, without outer whitespace, is exactly one `<xml>...</xml>` (step `alone`), or one code fence of three backticks, with or without a language, that contains it (`fence`); if there is any text before or after it, or a second tag, nothing |
| standard | as strict; otherwise the last `<xml>...</xml>` in the reply with neither tag inside it (`last`), unless the format says `reasoning: false` |
| lenient | as strict; otherwise the last `<xml>...</xml>` in the reply with neither tag inside it (`last`), even with `reasoning: false`; otherwise an answer without its mark |
| compat | like the published evaluator of the DIA benchmark: the content of the first fence that opens with two or three backticks and `xml`, up to the next backticks, if it is `<xml>...</xml>` (`fenced`), otherwise the whole reply (`whole`). What is found must equal `<xml>correct answer</xml>` in every character |

An answer without its mark (only rules 2) is one word or number X. These steps look for one, in this order:
`said`, in the last line that ends with `the answer is X` or `Answer: X`; `sentence`, in the final line, if it is a
sentence such as `The sum of 3 and 4 is X.`; `equation`, in the only equation, such as `60 + 65 = X`; and `word`, in a
reply of one word. Lenient takes these steps if there is no marked answer, or if the marked one is not a value of the
answer's type.

Tags must be in lowercase. (Compat finds uppercase tags, too, but counts the answer as wrong.) If a reply has more than
a million characters, strict finds nothing, and standard, lenient and the step `fenced` search the first million.
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
