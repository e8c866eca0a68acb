"""The answer on the last line of the reply.

| step | chains | what is found |
|---|---|---|
| `last` | all | the last line that is not empty |
| `said`, `sentence`, `equation`, `word` | lenient | an answer without its mark |

In the step `last`, lenient removes `Answer:`, `Final answer:` or `The answer is` from the start of the line, and skips
a line that only closes a code fence. If the answer is a text, its full stop stays: `The answer is: red.` gives `red.`,
which equals `red` only with `punctuation: ignore` in the spec.
"""

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
