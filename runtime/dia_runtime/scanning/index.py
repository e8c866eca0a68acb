"""The prompts of a bundle as numbers of runs of words, each with the question that has it alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.scanning.words import Words

LEAST_WORDS = 5
MOST_RUNS = 1 << 21
LONGEST = 1 << 16  # this many characters of a prompt are compared as a whole
SHARED = -1  # runs that several templates have, such as the instructions around the task


@dataclass(slots=True)
class Text:
    """A text of a question: the question, the length of its words with a space after each, and its number."""

    question: int
    length: int
    number: int


@dataclass(slots=True)
class Runs:
    """All runs of one length, sorted by number: the text that has each, and where in that text it begins.

    `owners` has the index of the text if only one question has the run, -2 - t if only template t has it, otherwise -1.
    """

    words: int
    numbers: Any
    owners: Any
    offsets: Any
    sieve: Any
    shift: int

    def places_and_runs(self, numbers: Any) -> tuple[Any, Any]:
        """Return which of the numbers are among these runs, and which run each is."""
        import numpy

        maybe = numpy.flatnonzero(self.sieve[numbers >> numpy.uint64(self.shift)])
        places = numpy.searchsorted(self.numbers, numbers[maybe])
        places[places == len(self.numbers)] = 0
        is_same = self.numbers[places] == numbers[maybe]
        return maybe[is_same], places[is_same]


@dataclass(slots=True)
class Index:
    """What a scan looks for: questions and templates by name, their texts, and the runs of each length."""

    questions: list[str] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)
    template_of: list[int] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    runs: list[Runs] = field(default_factory=list)
    too_short: int = 0


def build_index(bundle: Bundle, words: int) -> Index:
    """Return the index of a bundle's prompts by runs of this many words; shorter prompts by all their words."""
    built, template_numbers, identities = Index(), dict[str, int](), set[tuple[int, int, int]]()
    collected: dict[int, _Collected] = {}
    for place, question in enumerate(bundle.questions()):
        built.questions.append(question["id"])
        template = template_numbers.setdefault(question["template"], len(template_numbers))
        built.template_of.append(template)
        texts = [Words(text.encode("utf-8", "replace")) for text in dict.fromkeys(question_texts(question))]
        built.too_short += not any(len(text.ends) >= LEAST_WORDS for text in texts)
        for text in texts:
            if len(text.ends) < LEAST_WORDS:
                continue
            entry = _text(text, place)
            identity = (template, entry.length, entry.number)
            if text is texts[-1] and identity in identities:
                continue  # instances that only differ in punctuation have the same text here
            identities.add(identity)
            size = min(words, len(text.ends))
            collected.setdefault(size, _Collected(size)).add(text, len(built.texts), template)
            built.texts.append(entry)
    built.templates = list(template_numbers)
    built.runs = [entry.sorted(built) for _, entry in sorted(collected.items())]
    return built


def question_texts(question: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a question: its messages, or those of its sessions."""
    stack = [question.get("messages") or question.get("sessions")]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, dict):
            for name, value in item.items():
                if isinstance(value, str) and name in ("content", "text", "user", "system", "assistant"):
                    yield value
                elif isinstance(value, (list, dict)):
                    stack.append(value)


def _text(words: Words, question: int) -> Text:
    import numpy

    length = min(len(words.clear), LONGEST)
    number = words.numbers(numpy.array([0]), numpy.array([length]))[0]
    return Text(question, length, int(number))


class _Collected:
    """Collects the runs of one length; if there are too many, every second one is dropped, by its number."""

    def __init__(self, words: int) -> None:
        self.words, self.step, self.count = words, 1, 0
        self.parts: list[tuple[Any, Any, Any, Any]] = []

    def add(self, text: Words, owner: int, template: int) -> None:
        """Add the runs of a text."""
        import numpy

        numbers = text.runs(self.words)
        offsets = text.starts[: len(numbers)].astype(numpy.int32)
        size = len(numbers)
        owners, templates = numpy.full(size, owner, numpy.int32), numpy.full(size, template, numpy.int32)
        self.parts.append(self._thinned((numbers, offsets, owners, templates)))
        self.count += len(self.parts[-1][0])
        while self.count > MOST_RUNS:
            self.step *= 2
            self.parts = [self._thinned(self._joined())]
            self.count = len(self.parts[0][0])

    def _thinned(self, part: tuple[Any, ...]) -> Any:
        import numpy

        if self.step == 1:
            return part
        is_kept = (part[0] >> numpy.uint64(20)) % numpy.uint64(self.step) == 0
        return tuple(column[is_kept] for column in part)

    def _joined(self) -> tuple[Any, ...]:
        import numpy

        return tuple(numpy.concatenate(columns) for columns in zip(*self.parts, strict=True))

    def sorted(self, index: Index) -> Runs:
        """Return the runs sorted by number, each once."""
        import numpy

        numbers, offsets, owners, templates = self._joined()
        order = numpy.argsort(numbers, kind="stable")
        numbers, offsets, owners, templates = (column[order] for column in (numbers, offsets, owners, templates))
        firsts = numpy.flatnonzero(numpy.concatenate(([True], numbers[1:] != numbers[:-1])))
        questions = numpy.array([text.question for text in index.texts], numpy.int32)[owners]
        is_own, is_of_one = (_is_one(column, firsts) for column in (questions, templates))
        whose = numpy.where(is_own, owners[firsts], numpy.where(is_of_one, -2 - templates[firsts], SHARED))
        bits = min(27, max(16, len(firsts).bit_length() + 4))
        sieve = numpy.zeros(1 << bits, dtype=bool)
        sieve[numbers[firsts] >> numpy.uint64(64 - bits)] = True
        return Runs(self.words, numbers[firsts], whose, offsets[firsts], sieve, 64 - bits)


def _is_one(values: Any, firsts: Any) -> Any:
    """Return for each group whether all its members are equal."""
    import numpy

    return numpy.minimum.reduceat(values, firsts) == numpy.maximum.reduceat(values, firsts)
