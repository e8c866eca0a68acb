"""Text and booleans."""

from __future__ import annotations

import re
from collections.abc import Hashable
from unicodedata import category, combining, normalize

from dia_language.answers.base import AnswerType, Comparison, Mode, Types, Unreadable, unfit, within
from dia_language.answers.options import CHOICES, choice_faults
from dia_language.numbers.values import Value, normal

BRACKETS = {"[": "]", "(": ")", "{": "}"}
QUOTES = "\"'"
SPECIAL = frozenset([*BRACKETS, *BRACKETS.values(), *QUOTES])

# More consecutive combining characters than any language uses: normalising n of them takes n**2 steps
COMBINING = 100

ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "'": "'", "/": "/"}
WRITTEN = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def is_no_punctuation(char: str) -> bool:
    """Return whether the character is not in the Unicode categories P."""
    return category(char)[0] != "P"


UNPUNCTUATED = {ord(char): char if is_no_punctuation(char) else None for char in map(chr, range(128))}  # ASCII


class WordAnswer(AnswerType):
    """A text of one kind, such as a date: in lists it may be in quotes."""

    def holds(self, value: Value) -> bool:
        return type(value) is str

    def write(self, value: Value) -> str:
        return within(value)

    @property
    def has_quotes(self) -> bool:
        return True

    def write_inside(self, value: Value, separator: str) -> str:
        return quoted_if_needed(self.write(value), separator)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        return self.read(unquoted(piece), mode)


class TextAnswer(WordAnswer):
    """Text, compared exactly unless an option says otherwise.

    Leading and trailing whitespace is ignored, except inside the quotes of a quoted list element, such as `" a "`. The
    quotes themselves are dropped.

    These options apply in this order, to both the reply and the correct answer:

    - `unicode: fold` compares after NFKC normalisation, so that full-width forms, ligatures and similar variants are
      equal. (A text with more than 100 consecutive combining characters is compared as it is.)
    - `case: fold` compares without case (Unicode case folding).
    - `punctuation: ignore` removes all characters in the Unicode categories P (not symbols such as + or $).
    - `whitespace: fold` makes each whitespace character a space, `whitespace: collapse` makes each run of whitespace
      one space, and `whitespace: ignore` removes all whitespace.
    """

    name = "text"
    options = frozenset(CHOICES)

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.whitespace: str = comparison.get("whitespace", "exact")
        self.folds_case = comparison.get("case", "exact") == "fold"
        self.folds_unicode = comparison.get("unicode", "exact") == "fold"
        self.drops_punctuation = comparison.get("punctuation", "exact") == "ignore"
        folds = self.folds_case or self.folds_unicode
        self.is_exact = self.whitespace == "exact" and not (folds or self.drops_punctuation)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        return choice_faults(comparison, CHOICES)

    def settle(self, value: Value) -> Value:
        if type(value) is not str:
            raise unfit(self.name, value, "convert it with `str` or an f-string, or declare another `type`")
        return value

    def read(self, text: str, mode: Mode) -> Value:
        return text.strip()

    def equal(self, reply: Value, truth: Value) -> bool:
        if self.is_exact:
            return bool(reply.strip() == truth.strip())
        return self.compared(reply).strip() == self.compared(truth).strip()

    def compared(self, text: str) -> str:
        if self.is_exact:
            return text
        if self.folds_unicode:
            text = normalized(text)
        if self.folds_case:
            text = text.casefold()
            text = normalized(text) if self.folds_unicode else text
        if self.drops_punctuation:
            text = text.translate(UNPUNCTUATED) if text.isascii() else "".join(filter(is_no_punctuation, text))
        if self.whitespace == "fold":
            text = "".join(" " if char.isspace() else char for char in text)
        elif self.whitespace != "exact":
            text = ("" if self.whitespace == "ignore" else " ").join(text.split())
        return text

    def describe(self) -> str:
        return "exactly the requested text, without quotes around it"

    def samples(self) -> list[Value]:
        return ["a", "b", "c"]

    def write_inside(self, value: Value, separator: str) -> str:
        return quoted_if_needed(value, separator)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        return unquoted(piece)

    def equal_inside(self, reply: Value, truth: Value) -> bool:
        return self.compared(reply) == self.compared(truth)

    def key(self, value: Value) -> Hashable | None:
        return self.compared(value)


def quoted_if_needed(text: str, separator: str) -> str:
    """Return the text as an element of a list, in quotes if it could be misread."""
    is_bare = text and text == text.strip() and separator not in text and SPECIAL.isdisjoint(text)
    return text if is_bare else quoted(text)


def quoted(text: str) -> str:
    """Return the text in double quotes, as `unquoted` reads it."""
    return f'"{text.translate(WRITTEN)}"'


def unquoted(piece: str) -> str:
    """Return the text of an element, which can be in quotes. Raises Unreadable."""
    if not piece:
        raise Unreadable("an empty element")
    if piece[0] not in QUOTES:
        return piece
    if len(piece) < 2 or piece[-1] != piece[0]:
        raise Unreadable("a quote that is not closed")
    return unescaped(piece[1:-1])


def normalized(text: str) -> str:
    """Return the text in normal form NFKC, or unchanged if that would take too long."""
    if text.isascii():
        return text
    marks = "".join(char for char in set(text) if combining(normalize("NFKD", char)[0]))
    if marks and re.search(rf"[{re.escape(marks)}]{{{COMBINING + 1}}}", text):
        return text
    return normalize("NFKC", text)


def unescaped(text: str) -> str:
    r"""Return the text between quotes, with \n, \r, \t, \\, \", \', \/ and \uXXXX replaced.

    A backslash before any other character is kept, as in Python. Raises Unreadable for half a surrogate pair.
    """
    if "\\" not in text:
        return text
    replaced = ESCAPE.sub(_character, text)
    try:
        return replaced.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise Unreadable("half a surrogate pair") from None


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else ESCAPES.get(escape, f"\\{escape}")


class BooleanAnswer(AnswerType):
    """True or False; case does not matter. The chain `lenient` also accepts yes and no."""

    name = "boolean"

    def settle(self, value: Value) -> Value:
        value = normal(value)
        if type(value) is not bool:
            raise unfit(self.name, value, "make it a condition, such as `x == 1`, or declare another `type`")
        return value

    def holds(self, value: Value) -> bool:
        return type(value) is bool

    def write(self, value: Value) -> str:
        return "True" if value else "False"

    def read(self, text: str, mode: Mode) -> Value:
        # Folding non-ASCII letters would turn a long s into an s.
        word = text.strip()
        word = word.lower() if len(word) <= 5 and word.isascii() else ""
        if word in BOOLEANS and (mode == "lenient" or word in STRICT):
            return BOOLEANS[word]
        raise Unreadable("neither true nor false")

    def describe(self) -> str:
        return "True or False"

    def samples(self) -> list[Value]:
        return [True, False, True]


BOOLEANS = {"true": True, "false": False, "yes": True, "no": False}
STRICT = ("true", "false")
