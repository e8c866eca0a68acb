"""One of a fixed set of labels, on the last line of the reply.

| step | chains | what is found |
|---|---|---|
| `line` | all | the last line that is not empty, if it is exactly a label or the abstention token |
| `bare` | standard, lenient | the label on this line, in upper or lower case; `Answer:` may come before it, and quotes, asterisks, brackets or full stops around it, but nothing else |
| `single` | lenient | the only label that occurs in the reply as a word |
"""  # noqa: E501 - a table

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dia_language.numbers.values import described

from dia_runtime.formats.base import CHARACTERS, Format, FormatOption, FormatRecord, rules_of, skip_sentence
from dia_runtime.formats.last_line import last, unmarked
from dia_runtime.formats.patterns import compiled

LONGEST, MOST = 200, 1_000
AROUND = "*_\"'`()[]{}. \t"


def words_of(format: FormatRecord) -> list[str]:
    """Return the labels and the skip token."""
    return [*format["of"], *([format["skip"]] if format.get("skip") else [])]


def line(reply: str, format: FormatRecord) -> str | None:
    """Return the label if it is the last line."""
    last_line = (last(reply, format) or "").strip()
    return last_line if last_line in words_of(format) else None


def bare(reply: str, format: FormatRecord) -> str | None:
    """Return the only label that equals the last line, ignoring case and surrounding marks."""
    last_line = unmarked((last(reply, format) or "")[-2 * LONGEST :]).strip(AROUND).casefold()
    same = [word for word in words_of(format) if word.strip(AROUND).casefold() == last_line]
    return same[0] if len(same) == 1 else None


def bare_if_second_rules(reply: str, format: FormatRecord) -> str | None:
    """Return what `bare` finds, under rules 2."""
    return bare(reply, format) if rules_of(format) > 1 else None


def single(reply: str, format: FormatRecord) -> str | None:
    """Return the only label that occurs in the reply as a word."""
    pattern = _pattern(tuple(words_of(format)))
    labels = {match[1] for match in pattern.finditer(reply[-CHARACTERS:])}
    return labels.pop() if len(labels) == 1 else None


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> Any:
    """Return the labels as words, the longest first."""
    import re2

    alternatives = "|".join(re2.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
    return compiled(rf"(?:^|[^\pL\pN_])({alternatives})(?:[^\pL\pN_]|$)")


class Label(Format):
    """One of fixed labels."""

    options = {"of": FormatOption("alternatives", "The labels.", required=True, example=["AGREE", "DISAGREE"])}
    chains = {
        "standard": (("line", line), ("bare", bare_if_second_rules)),
        "strict": (("line", line),),
        "lenient": (("line", line), ("bare", bare), ("single", single)),
    }

    def faults(self, format: FormatRecord) -> list[str]:
        faults, of = super().faults(format), format.get("of")
        if not isinstance(of, list) or not 2 <= len(of) <= MOST:
            return [*faults, f"the format label needs 2 to {MOST:,} labels, as in `of: [AGREE, DISAGREE]`"]
        others = [word for word in of if not isinstance(word, str)]
        if others:
            faults.append(f"a label of the format label is {described(others[0])}, not text: write it in quotes")
        elif not all(is_label(word) for word in of):
            faults.append(f"a label of the format label must be one line of 1 to {LONGEST:,} characters")
        elif len(set(of)) < len(of):
            faults.append("the labels of the format label must be different")
        elif format.get("skip") in of:
            faults.append(f"the skip token `{format['skip']}` is one of the labels of the format label")
        return faults

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        parts = [
            f"End your reply with a line that contains only one of these: {', '.join(format['of'])}.",
            skip_sentence(f"{format.get('skip')} on that line", format),
        ]
        return " ".join(filter(None, parts))

    def wrap(self, text: str, format: FormatRecord) -> str:
        return text


def is_label(word: str) -> bool:
    """Return whether the word is one line that can be found again."""
    return 0 < len(word) <= LONGEST and word == word.strip() and len(word.splitlines()) == 1


LABEL = Label()
