"""Find canaries and prompts of a benchmark in a corpus."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from dia_runtime.bundle.canary import GUID, MARK
from dia_runtime.bundle.open import Bundle
from dia_runtime.scanning.corpus import Piece, pieces
from dia_runtime.scanning.index import SHARED, Index, Runs, build_index
from dia_runtime.scanning.words import SPACE, Unescaped, Words, normalized_words, unescaped

WORDS = 13
NEAR = 50  # prompts that begin before a position and may extend beyond it
MARK_WORDS = normalized_words(MARK.encode())
HEX = re.compile(rb"[0-9a-f]{8} [0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{12} ")
OnProgress = Callable[[str, int], None]


class Location(TypedDict):
    """Where in a file a match was found."""

    offset: int
    line: int
    length: int


class Match(Location):
    """A match, and the question or template that it belongs to."""

    file: str
    question: NotRequired[str | None]
    template: NotRequired[str | None]
    runs: NotRequired[int]


class MatchesRecord(TypedDict):
    """The matches of one kind as `dia scan --json` prints them: how many, of how much, and the first ones."""

    count: int
    at: list[Match]
    questions: NotRequired[int]
    templates: NotRequired[int]
    canary: NotRequired[str]


class FileSize(TypedDict):
    """The number of bytes read of a file."""

    file: str
    bytes: int


class ScanResult(TypedDict):
    """What `dia scan --json` prints."""

    bundle: str | None
    questions_root: str | None
    questions: int
    too_short: int
    words: int
    files: list[FileSize]
    bytes: int
    canaries: list[MatchesRecord]
    exact: MatchesRecord
    partial: MatchesRecord


@dataclass(slots=True)
class Matches:
    """Matches of one kind: their number, and the first ones."""

    limit: int
    count: int = 0
    listed: list[Match] = field(default_factory=list)

    def add(self, facts: Mapping[str, object], where: Callable[[], Location]) -> None:
        """Count a match, and list it with its facts and its location if few are listed so far."""
        self.count += 1
        if len(self.listed) < self.limit:
            self.listed.append(cast("Match", {**facts, **where()}))

    def as_json(self) -> MatchesRecord:
        """Return the matches as `dia scan --json` prints them."""
        return {"count": self.count, "at": self.listed}


def scan(
    files: Sequence[Path],
    bundle: Bundle | None = None,
    canaries: Iterable[str] = (),
    words: int = WORDS,
    limit: int = 100,
    tell: OnProgress | None = None,
) -> ScanResult:
    """Return what `dia scan --json` prints. Raises DiaError (exit 2) for a file that cannot be read.

    `tell` is called with each file's name and the number of bytes read so far.
    """
    names = [*canaries, *([bundle.manifest["canary"]] if bundle and bundle.manifest["canary"] else [])]
    index = build_index(bundle, words) if bundle else Index()
    scanner = _Scanner(index, dict.fromkeys(map(_guid_of, names)), limit)
    sizes: list[FileSize] = [{"file": str(path), "bytes": scanner.read(path, tell)} for path in files]
    return {
        "bundle": bundle.id if bundle else None,
        "questions_root": bundle.questions_root if bundle else None,
        "questions": len(index.questions),
        "too_short": index.too_short,
        "words": words,
        "files": sizes,
        "bytes": sum(entry["bytes"] for entry in sizes),
        "canaries": [{"canary": canary, **matches.as_json()} for canary, matches in scanner.canaries.items()],
        "exact": {"questions": len(scanner.exact_questions), **scanner.exact.as_json()},
        "partial": {
            "questions": len(scanner.partial_questions),
            "templates": len(scanner.templates),
            **scanner.partial.as_json(),
        },
    }


def _guid_of(canary: str) -> str:
    """Return the GUID of a canary, which is searched for; the whole text if it has none."""
    match = GUID.search(canary)
    return match[0].lower() if match else canary


class _View:
    """A chunk with its words and their positions in the file."""

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.inner = unescaped(piece.text) if piece.is_json else Unescaped(piece.text)
        self.words = Words(self.inner.text)
        is_last = piece.cut == len(piece.text)
        self.cut = len(self.words.clear) if is_last else self.words.before(self.inner.place(piece.cut))

    def where(self, at: int, end: int) -> Location:
        """Return offset, line and length in the file of a part of the words."""
        first, last = self.span(at, end)
        line = self.piece.line + self.piece.text.count(b"\n", 0, first - self.piece.offset)
        return {"offset": first, "line": line, "length": last - first}

    def span(self, at: int, end: int) -> tuple[int, int]:
        """Return where a part of the words begins and ends in the file."""
        first, last = (self.inner.offset(self.words.place(place)) for place in (at, end - 1))
        return self.piece.offset + first, self.piece.offset + last + 1


class _Scanner:
    """Reads the pieces of files, and collects the matches in them."""

    def __init__(self, index: Index, canaries: Collection[str], limit: int) -> None:
        import numpy

        self.index, self.limit = index, limit
        self.named = frozenset(canaries)  # those of the caller, which are found without their sentence, too
        self.canaries = {canary: Matches(limit) for canary in canaries}
        self.exact, self.partial = Matches(limit), Matches(limit)
        self.exact_questions, self.partial_questions, self.templates = set[int](), set[int](), set[int]()
        self.lengths = numpy.array([text.length for text in index.texts], numpy.int64)
        self.numbers = numpy.array([text.number for text in index.texts], numpy.uint64)
        self.told_until = 0  # the end of the last reported match

    def read(self, path: Path, tell: OnProgress | None) -> int:
        """Read a file, collect its matches, and return its decompressed size."""
        size = self.told_until = 0
        for piece in pieces(path):
            self._look(str(path), _View(piece))
            size = piece.offset + piece.cut
            if tell is not None:
                tell(str(path), size)
        return size

    def _look(self, file: str, view: _View) -> None:
        for canary, at, end in self._canaries(view):
            matches = self.canaries.setdefault(canary, Matches(self.limit))
            matches.add({"file": file}, partial(view.where, at, end))
        for runs in self.index.runs:
            places, which = runs.places_and_runs(view.words.runs(runs.words))
            if len(places):
                wholes = self._wholes(file, view, runs, places, which)
                self._parts(file, view, runs, places, which, wholes)

    def _canaries(self, view: _View) -> Iterator[tuple[str, int, int]]:
        """Yield each canary, those of the bundle and others in the sentence that dia writes, with its position."""
        clear = view.words.clear
        for canary in self.named:
            phrase = normalized_words(canary.encode("utf-8", "replace"))
            yield from ((canary, at, at + len(phrase)) for at in _places(clear, phrase, view.cut))
        for at in _places(clear, MARK_WORDS, view.cut):
            guid = HEX.match(clear, at + len(MARK_WORDS))
            name = guid[0].strip().replace(b" ", b"-").decode() if guid else None
            if guid and name and name not in self.named:
                yield name, guid.start(), guid.end()

    def _wholes(self, file: str, view: _View, runs: Runs, places: Any, which: Any) -> list[tuple[int, int]]:
        """Report complete prompts, and yield where they begin and end."""
        import numpy

        is_own = runs.owners[which] >= 0
        texts = runs.owners[which][is_own]
        begins = view.words.starts[places[is_own]] - runs.offsets[which][is_own]
        ends = begins + self.lengths[texts]
        is_inside = (begins >= 0) & (begins < view.cut) & (ends <= len(view.words.clear))
        begins, ends, texts = begins[is_inside], ends[is_inside], texts[is_inside]
        is_whole = view.words.numbers(begins, ends) == self.numbers[texts]
        keys = numpy.unique(begins[is_whole] * len(self.lengths) + texts[is_whole])  # by position, each once
        pairs = [divmod(key, len(self.lengths)) for key in keys.tolist()]
        return [self._whole(file, view, begin, text) for begin, text in pairs]

    def _whole(self, file: str, view: _View, begin: int, text: int) -> tuple[int, int]:
        """Report a complete prompt, and return where it begins and ends."""
        entry = self.index.texts[text]
        end, name = begin + entry.length, self.index.questions[entry.question]
        self.exact_questions.add(entry.question)
        self.exact.add({"question": name, "file": file}, partial(view.where, begin, end - 1))
        return begin, end

    def _parts(
        self, file: str, view: _View, runs: Runs, places: Any, which: Any, wholes: Sequence[tuple[int, int]]
    ) -> None:
        """Report fragments of prompts, except those within complete prompts."""
        import numpy

        bounds = numpy.flatnonzero(numpy.diff(places) > runs.words) + 1
        for group, owners in zip(numpy.split(places, bounds), numpy.split(which, bounds), strict=True):
            begin, end = int(view.words.starts[group[0]]), int(view.words.ends[group[-1] + runs.words - 1])
            if begin >= view.cut:
                return
            first, last = view.span(begin, end)
            is_told, self.told_until = first < self.told_until, max(self.told_until, last)
            if not is_told and not _lies_in((begin + end) // 2, wholes):
                whose = {**self._whose(runs.owners[owners]), "runs": len(group), "file": file}
                self.partial.add(whose, partial(view.where, begin, end))

    def _whose(self, owners: Any) -> dict[str, str | None]:
        """Return the question, or else the template, that most of the runs belong to."""
        import numpy

        own = owners[owners >= 0]
        question = template = None
        if len(own):
            question = self.index.texts[int(numpy.bincount(own).argmax())].question
            template = self.index.template_of[question]
            self.partial_questions.add(question)
        elif len(of_templates := -2 - owners[owners < SHARED]):
            template = int(numpy.bincount(of_templates).argmax())
        if template is not None:
            self.templates.add(template)
        return {
            "question": None if question is None else self.index.questions[question],
            "template": None if template is None else self.index.templates[template],
        }


def _lies_in(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a position is in one of the spans, which are sorted by their beginnings."""
    following = bisect_right(spans, (place, 1 << 62))
    return any(first <= place < last for first, last in spans[max(0, following - NEAR) : following])


def _places(clear: bytes, phrase: bytes, cut: int) -> Iterator[int]:
    """Yield the positions of the words, as whole words, before the cut."""
    at = clear.find(phrase) if phrase else -1
    while 0 <= at < cut:
        if at == 0 or clear[at - 1] == SPACE:
            yield at
        at = clear.find(phrase, at + 1)
