"""The whole reply is the answer.

| step | chains | what is found |
|---|---|---|
| `fence` | lenient | the content of the code fence, if the reply is one |
| `whole` | all | the reply, unless it is empty |
"""

from __future__ import annotations

from dia_runtime.formats.base import Format, FormatRecord, skip_sentence
from dia_runtime.formats.tagged import fenced_body


def whole(reply: str, format: FormatRecord) -> str | None:
    """Return the reply, unless it is empty."""
    return reply if reply and not reply.isspace() else None


def fence(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the code fence, if the whole reply is one."""
    return fenced_body(reply)


class Whole(Format):
    """The whole reply."""

    chains = {"strict": (("whole", whole),), "lenient": (("fence", fence), ("whole", whole))}

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f"Reply with your answer and nothing else: {answer_phrase}.",
            skip_sentence(f"{format.get('skip')} and nothing else", format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return text


WHOLE = Whole()
