"""The answer on the last line of the reply.

| chain | what is found |
|---|---|
| strict | the last line that is not empty (step `last`) |
| standard | as strict |
| lenient | the last line, without a leading `Answer:`, `Final answer:`, `The answer is:` or `The answer is`; a line that only closes a code fence is skipped (`last`); if it cannot be read as the answer's type, an answer in a sentence or equation |

Under rules 2, if the last line is not a value of the answer's type, `lenient` looks in the whole reply for an answer of
one word or number X: in the last of the lines that end with `the answer is X` or `Answer: X` (step `said`), in the final
line of the reply, if it is a sentence such as `The sum of 3 and 4 is X.` (`sentence`), and in the only equation, such as `60 + 65 = X`
(`equation`). A text answer keeps the full stop of its line:
`The answer is: red.` is correct only if the answer has `punctuation: ignore`.

If a reply has more than a million characters, only the last million is searched. In a bundle, the format of a question
is `{"kind": "last_line", "rules": 2, "skip": "I-DO-NOT-KNOW"}`.
"""  # noqa: E501 - a table

from __future__ import annotations

import re

from dia_runtime.formats.base import CHARACTERS, Format, FormatRecord, skip_sentence
from dia_runtime.formats.unmarked import UNMARKED

MARK = re.compile(
    r"\**(?:(?:the|my) )?(?:final )?answer(?: is)?\**[:=]\**|\**(?:the|my) (?:final )?answer is\** ", re.I
)


def last(reply: str, format: FormatRecord) -> str | None:
    """Return the last line that is not empty."""
    text = reply[-CHARACTERS:].rstrip()
    return text[max(text.rfind("\n"), text.rfind("\r")) + 1 :] or None


def marked(reply: str, format: FormatRecord) -> str | None:
    """Return the last line that is not empty and does not close a fence, without a leading answer mark."""
    text = reply[-CHARACTERS:].rstrip()
    line = last(text.removesuffix("```"), format)
    return None if line is None else unmarked(line)


def unmarked(line: str) -> str:
    """Return the line without `Answer:` before it and asterisks around it."""
    line = line.strip()
    mark = MARK.match(line)
    line = line[mark.end() :].strip() if mark else line
    if line.startswith("**") and line.endswith("**") and len(line) > 4:
        line = line[2:-2].strip()
    return line


class LastLine(Format):
    """The answer on the last line."""

    chains = {"strict": (("last", last),), "lenient": (("last", marked), *UNMARKED)}

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f"Give your final answer on the last line of your reply, with nothing else on that line: {answer_phrase}.",
            skip_sentence(f"{format.get('skip')} on the last line", format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return text


LAST_LINE = LastLine()
