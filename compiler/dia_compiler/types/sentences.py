"""Parameter types of prose: sentence, paragraph.

A sentence is made of clauses, such as `the old baker quietly painted a chair near the bridge`, with a comma and a
conjunction between two. Each of its words is one of a category, and no word is of two categories that could stand in
the same place, so that a text has one reading and two choices never give one text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import Any

from dia_language.numbers.values import Value

from dia_compiler.types.base import Choose, Domain, ParameterType, option
from dia_compiler.types.lists import capped_power
from dia_compiler.types.plain_options import amount_option
from dia_compiler.types.word_lists import word_list

Shape = tuple[str, ...]
SHORTEST, LONGEST = 3, 40
USUAL = (6, 14)
MOST_SENTENCES = 100
SHAPES = 4096  # number of sentence shapes to cache

OWN_WORDS: dict[str, tuple[str, ...]] = {
    "determiner": (
        "a", "another", "each", "every", "her", "his", "my", "one", "our", "that", "the", "their", "this", "your",
    ),
    "preposition": (
        "above", "across", "against", "around", "behind", "below", "beneath", "beside", "beyond", "inside", "near",
        "opposite", "outside", "toward", "under",
    ),
    "conjunction": ("after", "although", "and", "because", "before", "but", "so", "until", "whereas", "while", "yet"),
}  # fmt: skip
LISTS: dict[str, tuple[str, ...]] = {
    "adjective": ("adjectives",), "adverb": ("adverbs",), "subject": ("animals", "people"), "object": ("things",),
    "place": ("places",), "transitive": ("past_transitive",), "intransitive": ("past_intransitive",),
}  # fmt: skip


@cache
def words_of(category: str) -> tuple[str, ...]:
    """Return the words of a category, in ascending order."""
    if category in OWN_WORDS:
        return OWN_WORDS[category]
    return tuple(sorted({word for name in LISTS[category] for word in word_list(name)}))


@cache
def places_of(category: str) -> dict[str, int]:
    """Return the index of each word of a category."""
    return {word: place for place, word in enumerate(words_of(category))}


def _phrases(noun: str) -> tuple[Shape, Shape]:
    return ("determiner", noun), ("determiner", "adjective", noun)


@cache
def clauses(size: int) -> tuple[Shape, ...]:
    """Return the shapes of clauses with this many words."""
    verbs: list[Shape] = [("intransitive",), *(("transitive", *phrase) for phrase in _phrases("object"))]
    ends: list[Shape] = [(), *(("preposition", *phrase) for phrase in _phrases("place"))]
    adverbs: list[Shape] = [(), ("adverb",)]
    parts = product(_phrases("subject"), adverbs, verbs, ends)
    shapes = (sum(phrases, ()) for phrases in parts)
    return tuple(shape for shape in shapes if len(shape) == size)


@cache
def shape_count(size: int) -> int:
    """Return the number of shapes of sentences with this many words."""
    longer = (len(clauses(first)) * shape_count(size - first - 1) for first in range(SHORTEST, size - SHORTEST))
    return len(clauses(size)) + sum(longer)


@cache
def sentence_count(size: int) -> int:
    """Return the number of sentences with this many words."""
    joints = len(words_of("conjunction"))
    longer = (
        clause_count(first) * joints * sentence_count(size - first - 1) for first in range(SHORTEST, size - SHORTEST)
    )
    return clause_count(size) + sum(longer)


@cache
def clause_count(size: int) -> int:
    """Return the number of clauses with this many words."""
    return sum(spellings(shape) for shape in clauses(size))


def spellings(shape: Shape) -> int:
    """Return the number of texts of one shape."""
    return prod(len(words_of(category)) for category in shape)


@lru_cache(maxsize=SHAPES)
def shape_at(size: int, index: int) -> Shape:
    """Return the shape with this number among those with this many words; single clauses come first."""
    single_clauses = clauses(size)
    if index < len(single_clauses):
        return single_clauses[index]
    index -= len(single_clauses)
    for first in range(SHORTEST, size - SHORTEST):
        followers = shape_count(size - first - 1)
        if index < len(clauses(first)) * followers:
            place, index = divmod(index, followers)
            return (*clauses(first)[place], "conjunction", *shape_at(size - first - 1, index))
        index -= len(clauses(first)) * followers
    raise IndexError(index)


@dataclass(frozen=True, slots=True)
class Form:
    """The data of a shape that each of its texts needs.

    The number of its texts, the words possible at each position (last position first), and the positions of its
    determiners and of its conjunctions.
    """

    texts: int
    choices: tuple[tuple[str, ...], ...]
    determiners: tuple[int, ...]
    conjunctions: tuple[int, ...]

    def sentence(self, index: int) -> str:
        """Return the text with that number."""
        words = []
        for category_words in self.choices:
            index, place = divmod(index, len(category_words))
            words.append(category_words[place])
        return self.written(words[::-1])

    def written(self, words: list[str]) -> str:
        """The sentence of the words, with `an` before vowels, commas before conjunctions, a capital and a full stop."""
        parts = list(words)
        for place in self.determiners:
            if words[place] == "a" and words[place + 1][0] in "aeiou":
                parts[place] = "an"
        for place in self.conjunctions:
            parts[place - 1] += ","
        text = " ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


@lru_cache(maxsize=SHAPES)
def form_at(size: int, index: int) -> Form:
    """Return the form of the shape with this number among those with this many words."""
    return form_of(shape_at(size, index))


@lru_cache(maxsize=SHAPES)
def form_of(shape: Shape) -> Form:
    """Return the form of a shape."""
    choices = tuple(words_of(category) for category in reversed(shape))
    places = [
        tuple(at for at, word_category in enumerate(shape) if word_category == name)
        for name in ("determiner", "conjunction")
    ]
    return Form(spellings(shape), choices, *places)


FOLLOWERS: dict[str, tuple[str, ...]] = {
    "conjunction": ("determiner",),
    "subject": ("adverb", "transitive", "intransitive"),
    "adverb": ("transitive", "intransitive"),
    "transitive": ("determiner",),
    "intransitive": ("preposition", "conjunction"),
    "object": ("preposition", "conjunction"),
    "preposition": ("determiner",),
    "place": ("conjunction",),
}
NOUNS = {"conjunction": "subject", "transitive": "object", "preposition": "place"}
ENDS = ("intransitive", "object", "place")


def read(text: str) -> Shape | None:
    """Return the shape of a sentence, or None if the text is not one."""
    words = text[:1].lower() + text[1:-1].replace(",", "")
    lowered = ["a" if word == "an" else word for word in words.split(" ")]
    shape = tuple(_categories(lowered))
    if len(shape) != len(lowered) or shape[-1] not in ENDS or form_of(shape).written(lowered) != text:
        return None
    return shape


def _categories(words: list[str]) -> Iterator[str]:
    """Yield the categories of the words, as long as they follow the grammar."""
    before, noun = "conjunction", "subject"
    for word in words:
        allowed = FOLLOWERS.get(before, ("adjective", noun) if before == "determiner" else (noun,))
        following = next((category for category in allowed if word in places_of(category)), None)
        if following is None:
            return
        before, noun = following, NOUNS.get(following, noun)
        yield following


class Sentences(Domain):
    """English sentences with a given number of words: a choice of the length, then of the shape, then of its text."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def draw(self, choose: Choose) -> Value:
        size = choose.between(self.low, self.high)
        form = form_at(size, choose.below(shape_count(size)))
        return form.sentence(choose.below(form.texts))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str) or len(value) > 50 * LONGEST:
            return False
        shape = read(value)
        return shape is not None and self.low <= len(shape) <= self.high

    @property
    def count(self) -> int:
        return sum(sentence_count(size) for size in range(self.low, self.high + 1))

    def boundary(self) -> list[Value]:
        """Return the first sentence of the shortest and the last of the longest shapes."""
        last = form_at(self.high, shape_count(self.high) - 1)
        return [form_at(self.low, 0).sentence(0), last.sentence(last.texts - 1)]


class SentenceType(ParameterType):
    summary = "an English sentence"
    word_lists = frozenset(name for lists in LISTS.values() for name in lists)
    options = {"words": option("data", "number of words, 3 to 40, or {min, max} (default 6 to 14)")}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return Sentences(*amount_option(options, "words", USUAL, SHORTEST, LONGEST))


class Paragraphs(Domain):
    """Several sentences, each drawn separately, joined with single spaces."""

    __slots__ = ("high", "low", "of")

    def __init__(self, of: Sentences, low: int, high: int) -> None:
        self.of, self.low, self.high = of, low, high

    def draw(self, choose: Choose) -> Value:
        size = choose.between(self.low, self.high)
        return " ".join(self.of.draw(choose) for _ in range(size))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str) or not value.endswith("."):
            return False
        sentences = [f"{part}." for part in value[:-1].split(". ")]
        return self.low <= len(sentences) <= self.high and all(map(self.of.contains, sentences))

    @property
    def count(self) -> int:
        return sum(capped_power(self.of.count, size) for size in range(self.low, self.high + 1))

    def boundary(self) -> list[Value]:
        first, last = self.of.boundary()
        return [" ".join([first] * self.low), " ".join([last] * self.high)]


class ParagraphType(ParameterType):
    summary = "several English sentences, separated by single spaces"
    word_lists = SentenceType.word_lists
    options = {
        "sentences": option("data", "number of sentences, or {min, max} (default 3 to 6)"),
        "words": option("data", "number of words per sentence, 3 to 40, or {min, max} (default 6 to 14)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        of = Sentences(*amount_option(options, "words", USUAL, SHORTEST, LONGEST))
        return Paragraphs(of, *amount_option(options, "sentences", (3, 6), 1, MOST_SENTENCES))
