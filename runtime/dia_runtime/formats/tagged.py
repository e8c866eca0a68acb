"""The answer between two tags of your choice, by default <answer> and </answer>.

| step | chains | what is found |
|---|---|---|
| `alone` | all | the content of the tags, if the reply is exactly one `<answer>...</answer>` |
| `fence` | all | the content of the tags, if the reply is one code fence that contains exactly one `<answer>...</answer>` |
| `last` | standard, lenient | the content of the last `<answer>...</answer>` in the reply |
| `said`, `sentence`, `equation`, `word` | lenient | an answer without its mark |

Tags are case-sensitive. If text outside the tags is forbidden (`reasoning: false`), only lenient takes the
step `last`.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, FormatRecord, skip_sentence
from dia_runtime.formats.unmarked import UNMARKED

FENCE = "```"
LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]*")
TAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")


def tags(format: FormatRecord) -> tuple[str, str]:
    """Return the opening and the closing tag."""
    return _tags("xml" if format["kind"] == "xml" else format.get("tag", "answer"))


@lru_cache(maxsize=64)
def _tags(name: str) -> tuple[str, str]:
    return f"<{name}>", f"</{name}>"


def alone(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the tags, if the reply is exactly one pair of them."""
    opening, closing = tags(format)
    text = reply.strip()
    if not (text.startswith(opening) and text.endswith(closing)) or len(text) > CHARACTERS:
        return None
    content = text[len(opening) : -len(closing)]
    return None if "<" in content and (opening in content or closing in content) else content


def fence(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the tags, if the reply is exactly one pair of them in a code fence."""
    body = fenced_body(reply)
    return None if body is None else alone(body, format)


def fenced_body(reply: str) -> str | None:
    """Return the content of a reply that is one code fence, without the language; None for other replies."""
    text = reply.strip()
    if not (text.startswith(FENCE) and text.endswith(FENCE)) or not 6 < len(text) <= CHARACTERS:
        return None
    body = text[len(FENCE) : -len(FENCE)]
    word = LANGUAGE.match(body)
    return body[word.end() :] if word else body


def last(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the last pair of tags."""
    opening, closing = tags(format)
    text = reply[:CHARACTERS]
    opened = text.rfind(opening, 0, max(text.rfind(closing), 0))
    return None if opened < 0 else text[opened + len(opening) : text.find(closing, opened)]


def last_if_allowed(reply: str, format: FormatRecord) -> str | None:
    """Return the content of the last pair of tags, unless the prompt forbids text outside of them."""
    return None if format.get("reasoning") is False else last(reply, format)


STRICT = (("alone", alone), ("fence", fence))
STANDARD_STEPS = (*STRICT, ("last", last_if_allowed))
REASONING = FormatOption(
    "flag",
    "Whether the reply may contain text outside the tags (default true). If false, the prompt forbids it, and "
    "standard rejects it. Strict always rejects it, lenient always accepts it.",
    default=True,
    example=None,
)


class Tagged(Format):
    """The answer between two tags."""

    options: ClassVar[Mapping[str, FormatOption]] = {
        "tag": FormatOption("text", "The name of the tag (default `answer`).", default="answer", example="result"),
        "reasoning": REASONING,
    }
    chains = {"standard": STANDARD_STEPS, "strict": STRICT, "lenient": (*STRICT, ("last", last), *UNMARKED)}

    def faults(self, format: FormatRecord) -> list[str]:
        messages = super().faults(format)
        tag = format.get("tag", "answer")
        if not (isinstance(tag, str) and TAG.fullmatch(tag)):
            messages.append("`tag` must start with a letter and have at most 32 letters, digits, - and _")
        if not isinstance(format.get("reasoning", True), bool):
            messages.append("`reasoning` must be true or false")
        return messages

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        opening, closing = tags(format)
        parts = [
            f"Reply with your final answer inside {opening} and {closing} tags, and write nothing outside these tags."
            if format.get("reasoning") is False
            else f"You may reason first. End your reply with your final answer inside {opening} and {closing} tags.",
            f"Put only the answer between the tags: {answer_phrase}.",
            skip_sentence(self.wrap(str(format.get("skip")), format), format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        opening, closing = tags(format)
        return f"{opening}{text}{closing}"


TAGGED = Tagged()
