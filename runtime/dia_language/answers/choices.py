"""The answer type choice: one of fixed labels, such as the letter of an option."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_language.answers.base import LENIENT, Comparison, Mode, Types, Unreadable, unfit
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.numbers.values import Value, plain

LABELS, LONGEST, TEXT = 1_000, 200, 10_000
MARK = re.compile(r"\**(?:(?:the|my) )?(?:final )?answer(?: is)?\**\s?[:=]?\**\s", re.IGNORECASE)
AROUND = "*_\"'`()[]{}.:,; \t\n"
BEHIND = re.compile(r"\s*[).:\]-]+\s*")


class ChoiceAnswer(WordAnswer):
    """One of the labels in `of`, which is a list of labels, or maps each label to the full text of its option.

    Strict accepts the label exactly as written. (The answer formats named `label` and `letter` treat upper and lower
    case in their own way.) Lenient also accepts the label in upper or lower case, after `Answer:`, in quotes, brackets
    or asterisks, or with a full stop; and the full text of the option, alone or after the label. A reply that could be
    two different labels is wrong.
    """

    name = "choice"
    options = frozenset({"of"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        of = comparison["of"]
        self.labels = [plain(label) for label in of]
        self.texts = {plain(label): str(text) for label, text in of.items()} if isinstance(of, Mapping) else {}
        self.label_set = frozenset(self.labels)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        of = comparison.get("of")
        if not isinstance(of, list | tuple | Mapping) or not 2 <= len(of) <= LABELS:
            return [f"answers of type choice need `of`, from 2 to {LABELS:,} labels, such as [GET, POST]"]
        if not all(is_label(label) for label in of):
            return [
                f"each label of `of` must be an integer or a text of 1 to {LONGEST:,} characters without outer spaces"
            ]
        if len({plain(label) for label in of}) < len(of):
            return ["the labels of `of` must be different"]
        if isinstance(of, Mapping) and not all(isinstance(text, str) and len(text) <= TEXT for text in of.values()):
            return ["the options of `of` must be texts"]
        return []

    def settle(self, value: Value) -> Value:
        if type(value) is not str and type(value) is not int:
            raise unfit(self.name, value, "give one of its labels")
        label = plain(value)
        if label in self.label_set:
            return label
        excerpt = label if len(label) <= 60 else label[:60] + "..."
        help = did_you_mean(label, self.labels) or f"the labels are {', '.join(self.labels[:20])}"
        raise LanguageError(f"the answer `{excerpt}` is not one of the labels", help)

    def holds(self, value: Value) -> bool:
        return type(value) is str and value in self.label_set

    def read(self, text: str, mode: Mode) -> Value:
        text = text.strip()
        if text in self.label_set:
            return text
        label = self._label_of(text) if mode in LENIENT and len(text) <= TEXT else None
        if label is None:
            raise Unreadable("not one of the labels")
        return label

    def _label_of(self, text: str) -> str | None:
        """Return the only label that a text can mean, if it is not written exactly like the label."""
        begin = MARK.match(text)
        choice = text[begin.end() :] if begin else text
        for candidates in (
            [label for label in self.labels if label.strip(AROUND).casefold() == choice.strip(AROUND).casefold()],
            [label for label, option in self.texts.items() if folded(option) == folded(choice)],
            [label for label in self.texts if self._is_both(label, choice)],
        ):
            if candidates:
                return candidates[0] if len(candidates) == 1 else None
        return None

    def _is_both(self, label: str, choice: str) -> bool:
        """Return whether the text is the label followed by its option."""
        choice = choice.lstrip("*([ ")
        behind = BEHIND.match(choice, len(label)) if choice[: len(label)].casefold() == label.casefold() else None
        return behind is not None and bool(folded(choice[behind.end() :]) == folded(self.texts[label]))

    def describe(self) -> str:
        return f"one of {', '.join(self.labels)}"

    def samples(self) -> list[Value]:
        return [self.labels[0], self.labels[1], self.labels[-1]]


def is_label(label: Any) -> bool:
    """Return whether the label is an integer, or a text that replies can contain unchanged."""
    if type(label) is int:
        return bool(abs(label) < 10**LONGEST)
    return isinstance(label, str) and 0 < len(label) <= LONGEST and label == label.strip() and "\n" not in label


def folded(text: str) -> str:
    """Return the text as options are compared: without case, repeated whitespace, and surrounding marks."""
    return " ".join(text.casefold().split()).strip(AROUND)
