"""The parameter type words: words of a list, joined with single spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_language.diagnostics import did_you_mean
from dia_language.numbers.values import Value

from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, between, option, written
from dia_compiler.types.plain_options import amount_option, texts_option
from dia_compiler.types.word_lists import WORD_LISTS, word_list

MOST_WORDS = 1_000
LIST_WORDS = 100_000


class Words(Domain):
    """A number of words of a list, each as likely as any other; one choice among all texts of that many words."""

    __slots__ = ("high", "low", "word_set", "words")

    def __init__(self, words: Sequence[str], low: int, high: int) -> None:
        self.words, self.low, self.high = words, low, high
        self.word_set = frozenset(words)

    def draw(self, choose: Choose) -> Value:
        size = choose.between(self.low, self.high)
        return self.spelled(size, choose.below(len(self.words) ** size))

    def spelled(self, size: int, index: int) -> str:
        """Return the text of that many words with that number, in the order of the list."""
        words = []
        for _ in range(size):
            index, place = divmod(index, len(self.words))
            words.append(self.words[place])
        return " ".join(reversed(words))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str):
            return False
        words = value.split(" ")
        return self.low <= len(words) <= self.high and self.word_set.issuperset(words)

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, str):
            return None
        unknown = next((word for word in value.split(" ") if word not in self.word_set), None)
        if unknown is None:
            return f"{written(value)} does not have {between(self.low, self.high)} words"
        return f"`{unknown}` is not one of the {len(self.words):,} words of the list"

    @property
    def count(self) -> int:
        return int(sum(len(self.words) ** size for size in range(self.low, self.high + 1)))

    def boundary(self) -> list[Value]:
        ends = ((size, index) for size in (self.low, self.high) for index in (0, len(self.words) ** size - 1))
        return list(dict.fromkeys(self.spelled(size, index) for size, index in ends))


def words_option(options: Mapping[str, Any]) -> Sequence[str]:
    """Return the option `from` as a shipped list by its name, or as a list of own words. Raises OptionFault."""
    source = "nouns" if options.get("from") is None else options["from"]
    if isinstance(source, str):
        if source not in WORD_LISTS:
            help = did_you_mean(source, WORD_LISTS) or f"the word lists are {', '.join(WORD_LISTS)}"
            help += f"; for a list of the spec, write {{from: {source}}}" if source.isidentifier() else ""
            raise OptionFault("from", f"unknown word list `{source[:40]}`", help)
        return word_list(source)
    words = texts_option(options, "from", LIST_WORDS) or []
    spaced = next((word for word in words if any(map(str.isspace, word))), None)
    if spaced is not None:
        message = f"`{spaced[:40]}` contains a space, so it is more than one word"
        raise OptionFault("from", message, "use the type `choice` for texts with spaces")
    return words


class WordsType(ParameterType):
    summary = "one text of words, separated by single spaces; for separate words, use a `list` of `words`"
    word_lists = frozenset(WORD_LISTS)  # narrowed to what `from` names, where it names one
    options = {
        "from": option(
            "data",
            "the name of a built-in word list (default nouns), a list [...], or {from: NAME} for a list of the spec",
        ),
        "count": option("data", "number of words, or {min, max} (default 1)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return Words(words_option(options), *amount_option(options, "count", (1, 1), 1, MOST_WORDS))
