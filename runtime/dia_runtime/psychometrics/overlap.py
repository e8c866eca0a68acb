"""Find questions of a bundle that also occur in a validation set, verbatim or in large part.

The own texts of questions are compared, without the wrapper and the instructions of the answer format, in lowercase
without punctuation. A question counts as found if a text of the set contains it, or a large enough share of its runs
of several words (shingles).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.compressed import read_lines
from dia_runtime.bundle.open import open_bundle
from dia_runtime.psychometrics.question_text import OwnTexts

WORD = re.compile(r"\w+")
MOST_WORDS = 20_000  # of one text; further ones are ignored
MOST_TEXTS = 1_000_000
COMMON = 1000  # texts that are listed for one shingle; further ones are ignored


@dataclass(frozen=True, slots=True)
class Hit:
    """A question, the most similar text of the set, and the share of its shingles that occur there."""

    question: str
    text: str
    share: float
    exact: bool


@dataclass(frozen=True, slots=True)
class OverlapResult:
    """The hits and where they were searched; the fields are the keys of `dia overlap --json`."""

    checked: int
    texts: int
    size: int
    least: float
    exact: int
    shingles: int
    hits: list[Hit]


def overlap(
    bundle: Path, sets: Sequence[Path], size: int = 5, least: float = 0.5, items: frozenset[str] | None = None
) -> OverlapResult:
    """Return the questions that also occur in the sets; `items` restricts them to those of a bank."""
    texts = [entry for path in sets for entry in _texts(path)]
    if len(texts) > MOST_TEXTS:
        raise DiaError(Diagnostic("E891", f"the validation set has more than {MOST_TEXTS:,} texts"))
    searched = _Texts([(name, " ".join(_words(text))) for name, text in texts])
    checked, hits = 0, []
    for names, text in _questions(bundle):
        if items is not None and not items & set(names):
            continue
        checked += 1
        hit = searched.most_similar(names[0], _words(text), size)
        if hit and (hit.exact or hit.share >= least):
            hits.append(hit)
    hits.sort(key=lambda hit: (not hit.exact, -hit.share, hit.question))
    exact_hits = sum(hit.exact for hit in hits)
    return OverlapResult(checked, len(texts), size, least, exact_hits, len(hits) - exact_hits, hits)


class _Texts:
    """The texts of the sets, as words with spaces between, by their shingles of each length that is asked for."""

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        self.texts = texts
        self.equal = {text: name for name, text in texts}
        self.index = cache(self._index)

    def most_similar(self, question: str, words: list[str], size: int) -> Hit | None:
        """Return the text that contains the question's words, or else most of its shingles."""
        same = self.equal.get(" ".join(words))
        if same is not None and words:
            return Hit(question, same, 1.0, True)
        size = min(size, len(words))  # all words of a short question
        shingles = _shingles(words, size)
        index = self.index(size)
        shared = Counter(number for shingle in shingles for number in index.get(shingle, ()))
        if not shared:
            return None
        most = max(shared.values())
        numbers = sorted(number for number, count in shared.items() if count == most)
        if most == len(shingles):
            run = f" {' '.join(words)} "
            for number in numbers:
                if run in f" {self.texts[number][1]} ":
                    return Hit(question, self.texts[number][0], 1.0, True)
        return Hit(question, self.texts[numbers[0]][0], most / len(shingles), False)

    def _index(self, size: int) -> dict[int, list[int]]:
        """Return the numbers of the texts that have each shingle."""
        index: dict[int, list[int]] = defaultdict(list)
        for number, (_, text) in enumerate(self.texts):
            for shingle in _shingles(text.split(), size):
                if len(index[shingle]) < COMMON:
                    index[shingle].append(number)
        return index


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())[:MOST_WORDS]


def _shingles(words: list[str], size: int) -> set[int]:
    """Return hashes of the runs of so many words; none if there are too few."""
    if not size:
        return set()
    return {hash(tuple(words[at : at + size])) for at in range(len(words) - size + 1)}


def _questions(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the names that a question has in banks, its own first, and its own texts."""
    bundle = open_bundle(path)
    own_texts = OwnTexts(bundle)
    for question in bundle.questions():
        names = [question["id"], question["item"], question["template"], question["id"].partition("/")[0]]
        yield names, "\n".join(own_texts.of(question))


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each entry of a set: a bundle, JSON Lines (all texts of an object), or a text file."""
    if path.is_dir():
        for names, text in _questions(path):
            yield names[0], text
        return
    try:
        for number, raw in read_lines(path):
            text = raw.decode("utf-8").strip()
            if text:
                yield f"{path.name}:{number}", _texts_of_line(text)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        message = visible(f"`{path}` cannot be read: {why}")
        raise DiaError(Diagnostic("E861", message, None, "name a bundle, a JSON Lines file or a text file")) from None


def _texts_of_line(line: str) -> str:
    """Return the texts of a JSON value, or the line itself."""
    if not line.startswith(("{", "[", '"')):
        return line
    try:
        return " ".join(_strings([json.loads(line)]))
    except (ValueError, RecursionError):
        return line


def _strings(values: Iterable[Any]) -> Iterator[str]:
    stack = list(values)
    while stack:
        value = stack.pop(0)
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack[:0] = value.values()
        elif isinstance(value, list):
            stack[:0] = value
