"""What a rule sees of a prompt: its text, tokens, lines, and counts of them."""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

LONGEST_TEXT = 20_000  # characters that are read; longer prompts are mostly encoded files
MOST_TOKENS = 3_000
MOST_LINES = 400
USUAL = 0.1  # share of the answers that must have a pattern; rarer patterns would just be memorised
SHARED = 0.9  # of the prompts in which a token must appear to count as a keyword

ENCODED = re.compile(r"(?:[A-Za-z0-9+/]{60,}\n?)+[A-Za-z0-9+/]*={0,2}")
PRINTABLE = re.compile(rb"[ -~]{4,}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
TOKENIZERS: dict[str, re.Pattern[str]] = {
    "number": NUMBER,
    "word": re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*"),
    "token": re.compile(r"[^\s\"'`,;:()\[\]{}<>]+(?:[:,][^\s\"'`,;:()\[\]{}<>]+)*"),
    "quoted text": re.compile(r"(?<=[\"'`])[^\"'`\n]{1,200}(?=[\"'`])"),
    "entry": re.compile(r"[^,;|\n]+"),
    "line": re.compile(r"[^\n]+"),
}
EDGES = " \t\r.,;:!?()[]{}\"'`<>|"


class Token(NamedTuple):
    """A piece of the text, and where it begins."""

    text: str
    start: int


def trimmed(text: str) -> str:
    """Return the text without the punctuation around it."""
    return text.strip(EDGES)


def number_in(text: str) -> float | None:
    """Return the first number in the text as a float, None if it has none."""
    match = NUMBER.search(text)
    return float(match[0]) if match else None


def pattern_of(text: str) -> str:
    """Return the kinds of characters of the text, in order and without repeats: `ab-12` gives `a-9`."""
    kinds = ["9" if char.isdigit() else "a" if char.islower() else "A" if char.isupper() else char for char in text]
    return "".join(kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind)


def decoded(text: str) -> str:
    """Return the text with each long block of Base64 as the printable strings in its bytes, a line each.

    This is what `base64 -d | strings` prints.
    """

    def strings(block: re.Match[str]) -> str:
        encoded = block[0].replace("\n", "")
        content = base64.b64decode(encoded[: len(encoded) // 4 * 4])
        printable = [match[0].decode("ascii") for match in PRINTABLE.finditer(content)]
        return "\n".join(["", *printable, ""])

    return ENCODED.sub(strings, text)


class Prompt:
    """One prompt as a rule sees it."""

    def __init__(self, text: str) -> None:
        self.text = decoded(text)[:LONGEST_TEXT]
        self._tokens: dict[str, list[Token]] = {}
        self.memory: dict[object, Any] = {}  # cached results of rules, by function

    def tokens(self, kind: str) -> list[Token]:
        """Return the tokens of a kind in order, without the punctuation around them."""
        if kind not in self._tokens:
            matches = TOKENIZERS[kind].finditer(self.text)
            pieces = (Token(trimmed(match[0]) or match[0].strip(), match.start()) for match in matches)
            self._tokens[kind] = [piece for piece in pieces if piece.text][:MOST_TOKENS]
        return self._tokens[kind]

    @cached_property
    def rows(self) -> list[list[str]]:
        """The fields of each line that is not empty."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        return [[trimmed(field) or field for field in line.split()] for line in lines[:MOST_LINES]]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not empty."""
        return [line.strip() for line in self.text.splitlines() if line.strip()][:MOST_LINES]

    @cached_property
    def counts(self) -> list[float]:
        """The counts and extremes that a decision tree sees, in the order of COUNTS."""
        numbers = [float(token.text) for token in self.tokens("number") if len(token.text) < 300] or [0.0]
        return [count(self, numbers) for count in COUNTS.values()]


def _digits(prompt: Prompt, numbers: Sequence[float]) -> float:
    return sum(map(str.isdigit, prompt.text))


COUNTS: dict[str, Callable[[Prompt, Sequence[float]], float]] = {
    "characters": lambda prompt, numbers: len(prompt.text),
    "lines": lambda prompt, numbers: len(prompt.lines),
    "words": lambda prompt, numbers: len(prompt.tokens("word")),
    "distinct words": lambda prompt, numbers: len({token.text for token in prompt.tokens("word")}),
    "entries": lambda prompt, numbers: len(prompt.tokens("entry")),
    "digits": _digits,
    "capitals": lambda prompt, numbers: sum(map(str.isupper, prompt.text)),
    "numbers": lambda prompt, numbers: len(numbers),
    "distinct numbers": lambda prompt, numbers: len(set(numbers)),
    "largest number": lambda prompt, numbers: max(numbers),
    "smallest number": lambda prompt, numbers: min(numbers),
    "sum of numbers": lambda prompt, numbers: sum(numbers),
    "mean of numbers": lambda prompt, numbers: sum(numbers) / len(numbers),
    "first number": lambda prompt, numbers: numbers[0],
    "second number": lambda prompt, numbers: numbers[1] if len(numbers) > 1 else 0.0,
    "last number": lambda prompt, numbers: numbers[-1],
    "odd numbers": lambda prompt, numbers: sum(number % 2 == 1 for number in numbers),
    "repeats of the commonest number": lambda prompt, numbers: max(Counter(numbers).values()),
    "repeats of each number": lambda prompt, numbers: len(numbers) / len(set(numbers)),
    "numbers that appear once": lambda prompt, numbers: sum(n == 1 for n in Counter(numbers).values()),
    "zeros": lambda prompt, numbers: prompt.text.count("0"),
    "ones": lambda prompt, numbers: prompt.text.count("1"),
    "minus signs": lambda prompt, numbers: prompt.text.count("-"),
    "longest line": lambda prompt, numbers: max(map(len, prompt.lines), default=0),
    "longest word": lambda prompt, numbers: max((len(token.text) for token in prompt.tokens("word")), default=0),
}


@dataclass(frozen=True)
class Shape:
    """What the answers look like: their lengths, characters and patterns."""

    shortest: int
    longest: int
    characters: frozenset[str]
    patterns: frozenset[str]

    @classmethod
    def of(cls, answers: Iterable[str]) -> Shape:
        texts = list(answers)
        kinds = frozenset("9" if char.isdigit() else char.lower() if char.isalpha() else char
                          for text in texts for char in text)  # fmt: skip
        patterns = Counter(map(pattern_of, texts))
        usual = frozenset(pattern for pattern, number in patterns.items() if number >= USUAL * len(texts))
        return cls(min(map(len, texts)), max(map(len, texts)), kinds, usual)

    def has_length(self, text: str) -> bool:
        """Return whether a text is as long as answers are, and made of characters that they have."""
        if not self.shortest <= len(text) <= self.longest:
            return False
        return all(("9" if char.isdigit() else char.lower()) in self.characters for char in text)

    def has_pattern(self, text: str) -> bool:
        """Return whether a text is also built like one of the answers."""
        return self.has_length(text) and pattern_of(text) in self.patterns


def without_shared_ends(texts: Sequence[str]) -> list[str]:
    """Return the texts without the lines with which all of them begin and end, mostly instructions."""
    split = [text.splitlines() for text in texts]
    shortest = min(map(len, split))
    first = 0
    while first < shortest - 1 and len({lines[first] for lines in split}) == 1:
        first += 1
    last = 0
    while last < shortest - first - 1 and len({lines[-1 - last] for lines in split}) == 1:
        last += 1
    return ["\n".join(lines[first : len(lines) - last]) for lines in split]


def keywords(prompts: Sequence[Prompt], most: int) -> list[str]:
    """Return the tokens and lines that nearly all prompts have, those that are rare in a prompt first."""
    counts: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for prompt in prompts:
        pieces = prompt.text.split() + prompt.lines
        counts.update(set(pieces))
        total.update(pieces)
    common = [piece for piece, number in counts.items() if number >= SHARED * len(prompts) and len(piece) <= 200]
    return sorted(common, key=lambda piece: (total[piece], -len(piece), piece))[:most]


def after(tokens: Sequence[Token], place: int) -> Token | None:
    """Return the first token that begins at or after a place."""
    number = bisect_left(tokens, place, key=lambda token: token.start)
    return tokens[number] if number < len(tokens) else None


def before(tokens: Sequence[Token], place: int) -> Token | None:
    """Return the last token that begins before a place."""
    number = bisect_left(tokens, place, key=lambda token: token.start)
    return tokens[number - 1] if number else None
