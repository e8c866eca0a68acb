r"""The answer in \boxed{}, as mathematics models write it.

| step | chains | what is found |
|---|---|---|
| `only` | all | the content of the box, if the reply has exactly one `\boxed{...}` |
| `last` | standard, lenient | the content of the last `\boxed{...}`, `\fbox{...}` or `boxed{...}` |
| `said`, `sentence`, `equation`, `word` | lenient | an answer without its mark |

Braces inside a box must match. From a marked answer, lenient removes dollar signs and wrappers such as `\text{...}`.
Standard removes only the wrappers, and only in the step `last`.
"""

from __future__ import annotations

import re

from dia_runtime.formats.base import CHARACTERS, Format, FormatRecord, skip_sentence
from dia_runtime.formats.unmarked import UNMARKED

BOX = r"\boxed{"
BOXES = re.compile(r"\\?\b(?:boxed|fbox)[ \t]?\{")
BRACES = re.compile(r"\\[{}\\]|[{}]")
WORDS = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|operatorname)[ \t]?\{")


def only(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the only box in the reply."""
    text = reply[-CHARACTERS:]
    start = text.find(BOX)
    if start < 0 or text.find(BOX, start + 1) >= 0:
        return None
    return braced(text, start + len(BOX))


def last(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the last closed box in the reply."""
    text = reply[-CHARACTERS:]
    opened = list(BOXES.finditer(text))
    content = braced(text, opened[-1].end()) if opened else None
    return None if content is None else bare(content)


def braced(text: str, start: int) -> str | None:
    """Return the text from this position to the brace that closes the one before it; None if it is never closed."""
    depth = 1
    for mark in BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return text[start : mark.start()]
    return None


def bare(text: str) -> str:
    """Return the text without surrounding dollar signs and without one purely typographic command."""
    text = text.strip().strip("$").strip()
    command = WORDS.match(text)
    if command and text.endswith("}") and braced(text, command.end()) == text[command.end() : -1]:
        return text[command.end() : -1]
    return text


class Boxed(Format):
    r"""The answer in \boxed{}."""

    chains = {
        "standard": (("only", only), ("last", last)),
        "strict": (("only", only),),
        "lenient": (("only", lambda r, f: _bared(only(r, f))), ("last", last), *UNMARKED),
    }

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f"Give your final answer in \\boxed{{}}, and use \\boxed{{}} only once: {answer_phrase}.",
            skip_sentence(self.wrap(str(format.get("skip")), format), format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return f"{BOX}{text}}}"


def _bared(text: str | None) -> str | None:
    return None if text is None else bare(text)


BOXED = Boxed()
