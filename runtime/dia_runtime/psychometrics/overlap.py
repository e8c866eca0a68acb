"""Find questions of a bundle that also occur in a validation set, verbatim or in large part.

Texts are compared in lowercase without punctuation. A question counts as found if a text of the set contains a large
enough share of its runs of several words (shingles).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.compressed import read_lines
from dia_runtime.bundle.open import open_bundle

WORD = re.compile(r"\w+")
MOST_SHINGLES = 20_000  # of one text
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
    exact = {" ".join(_words(text)): name for name, text in texts}
    index: dict[int, list[int]] = defaultdict(list)
    for number, (_, text) in enumerate(texts):
        for shingle in _shingles(text, size):
            if len(index[shingle]) < COMMON:
                index[shingle].append(number)
    checked, hits = 0, []
    for names, text in _questions(bundle):
        if items is not None and not items & set(names):
            continue
        checked += 1
        hit = _hit(names[0], text, exact, index, texts, size)
        if hit and (hit.exact or hit.share >= least):
            hits.append(hit)
    hits.sort(key=lambda hit: (not hit.exact, -hit.share, hit.question))
    exact_hits = sum(hit.exact for hit in hits)
    return OverlapResult(checked, len(texts), size, least, exact_hits, len(hits) - exact_hits, hits)


def _hit(
    name: str, text: str, exact: dict[str, str], index: dict[int, list[int]], texts: list[tuple[str, str]], size: int
) -> Hit | None:
    same = exact.get(" ".join(_words(text)))
    if same is not None:
        return Hit(name, same, 1.0, True)
    shingles = _shingles(text, size)
    shared = Counter(number for shingle in shingles for number in index.get(shingle, ()))
    if not shared or not shingles:
        return None
    number, count = min(shared.items(), key=lambda entry: (-entry[1], entry[0]))
    return Hit(name, texts[number][0], count / len(shingles), False)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def _shingles(text: str, size: int) -> set[int]:
    """Return hashes of runs of words; a single one of all words if there are too few."""
    words = _words(text)[:MOST_SHINGLES]
    runs = (tuple(words[at : at + size]) for at in range(max(1, len(words) - size + 1)))
    return {hash(run) for run in runs if run}


def _questions(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the names that a question has in banks, its own first, and its texts."""
    for question in open_bundle(path).questions():
        names = [question["id"], question["item"], question["template"], question["id"].partition("/")[0]]
        yield names, "\n".join(_message_texts(question.get("messages") or question.get("sessions")))


def _message_texts(value: Any) -> Iterator[str]:
    """Yield every text of messages or sessions."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _message_texts(value.get("content", list(value.values())))
    elif isinstance(value, list):
        for part in value:
            yield from _message_texts(part)


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
