"""Errors and warnings with their positions, and how they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from dia_language.counts import counted as counted  # commands import it from here, together with the diagnostics


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a source file; line and column count from 1, columns in code points."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error or warning: where it is, what is wrong and how to fix it."""

    code: str
    message: str
    position: Position | None = None
    help: str | None = None
    severity: str = "error"

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that `--format json` prints."""
        place = self.position
        return {
            "path": place.file if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "help": self.help,
        }


class DiaError(Exception):
    """An expected failure: one or more diagnostics and an exit code."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic], exit_code: int = 2) -> None:
        entries = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("; ".join(entry.message for entry in entries))
        self.diagnostics = entries
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[Any, ...]:
        return DiaError, (self.diagnostics, self.exit_code)


class LanguageError(Exception):
    """A failed evaluation whose position in a spec is not known yet."""

    def __init__(self, message: str, help: str | None = None, code: str = "E501") -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return LanguageError, (self.message, self.help, self.code)


@dataclass(slots=True)
class Diagnostics:
    """Collects the diagnostics of a stage, so that one run reports them all."""

    entries: list[Diagnostic] = field(default_factory=list)

    def error(self, code: str, message: str, position: Position | None, help: str | None = None) -> None:
        """Add an error."""
        self.entries.append(Diagnostic(code, message, position, help))

    def warn(self, code: str, message: str, position: Position | None, help: str | None = None) -> None:
        """Add a warning."""
        self.entries.append(Diagnostic(code, message, position, help, "warning"))

    @property
    def errors(self) -> list[Diagnostic]:
        """Return the errors among the entries."""
        return [entry for entry in self.entries if entry.severity == "error"]

    def ordered(self, files: Iterable[str] = ()) -> list[Diagnostic]:
        """Return the entries by file (in the order of `files`, then by name), line and column, without repeats."""
        rank = {name: number for number, name in enumerate(files)}
        unique = list(dict.fromkeys(self.entries))

        def key(entry: Diagnostic) -> tuple[int, str, int, int]:
            place = entry.position
            if place is None:
                return (len(rank) + 1, "", 0, 0)
            return (rank.get(place.file, len(rank)), place.file, place.line, place.column)

        return sorted(unique, key=key)


LONGEST_NAME = 100  # that is compared with others


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, or None if none is near; names in another case are near.

    >>> closest("lenght", ["length", "least"]), closest("path_length", ["bit_length", "shortest_path_length"])
    ('length', 'shortest_path_length')
    >>> closest("NEXT_PRIM", ["next_prime"]), closest("totl", ["Total", "total"])
    ('next_prime', 'total')
    >>> closest("hamming_distance", ["indel_distance"])
    """
    if len(name) > LONGEST_NAME:
        return None  # comparing long names takes quadratic time
    known_names = sorted({one for one in names if len(one) <= LONGEST_NAME})
    by_folded = {one.casefold(): one for one in known_names}
    near = _closest_in_case(name, known_names)
    if near is None and (name.casefold() != name or by_folded.keys() != set(known_names)):
        near = by_folded.get(_closest_in_case(name.casefold(), sorted(by_folded)) or "")
    return near


def _closest_in_case(name: str, known_names: list[str]) -> str | None:
    for near in get_close_matches(name, known_names, n=5, cutoff=0.6):
        if _is_part(name, near) or edits(name, near) <= (min(len(name), 7) + 1) // 3:
            return near
    words = set(name.split("_"))
    longer = [near for near in known_names if words <= set(near.split("_")) and len(near) <= 2 * len(name)]
    shorter = [near for near in known_names if words >= set(near.split("_")) and len(name) <= 2 * len(near)]
    return min(longer, key=len, default=None) or max(shorter, key=len, default=None)


def _is_part(name: str, near: str) -> bool:
    """Return whether one name begins with the other, or abbreviates it, as `idx` does `index`."""
    letters = iter(near)
    return name.startswith(near) or (name[:1] == near[:1] and all(letter in letters for letter in name))


def edits(one: str, other: str) -> int:
    """Return how many letters differ: added, left out, replaced, or two swapped (optimal string alignment)."""
    before, last = list(range(len(other) + 1)), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter_of_other in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != letter_of_other))
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 1] + other[j - 2] and letter != letter_of_other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """Return the help for an unknown name, or None when no name is similar."""
    near = closest(name, names)
    return f"did you mean `{near}`?" if near else None


def names_help(name: str, names: Iterable[str], most: int = 12) -> str | None:
    """Return the help for an unknown name: the most similar name, or else all names if there are few."""
    names = sorted(set(names))
    few = f"available names: {', '.join(names)}" if 0 < len(names) <= most else None
    return did_you_mean(name, names) or few


def unknown_name(what: str, name: str, names: Iterable[str]) -> LanguageError:
    """Return the error for a text argument that must be one of a few names.

    >>> unknown_name("encoding", "base46", ["base16", "base45"]).help, unknown_name("encoding", "hex", ["base45"]).help
    ('did you mean `base45`?', 'available names: base45')
    """
    names = list(names)
    return LanguageError(f"unknown {what} `{name[:LONGEST_NAME]}`", names_help(name, names, most=len(names)))


def install_extra(name: str) -> str:
    """Return the help for a missing extra of the project, which is installed from a clone.

    >>> install_extra("parquet")
    "run `pip install '.[parquet]'` in a clone of dia"
    """
    return f"run `pip install '.[{name}]'` in a clone of dia"


def first_repeat(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice, or None."""
    earlier: set[str] = set()
    for name in names:
        if name in earlier:
            return name
        earlier.add(name)
    return None


def visible(text: str) -> str:
    """Return the text with control, escape and bidirectional characters made visible, for terminals.

    >>> print(visible("a" + chr(27) + "[31mb"))
    a\\x1b[31mb
    """
    return text.translate({ord(char): _escaped(char) for char in set(text) if not _is_shown(char)})


def _is_shown(char: str) -> bool:
    return char in "\n\t" or (char.isprintable() and ord(char) not in BIDIRECTIONAL)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


BIDIRECTIONAL = frozenset([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def render_diagnostic(entry: Diagnostic, sources: Mapping[str, str]) -> str:
    """Return the diagnostic as terminals show it: message, source line, caret and help."""
    place = f"{entry.position}: " if entry.position else ""
    parts = [f"{place}{entry.severity}[{entry.code}]: {entry.message}".replace("\n", "\\n")]
    text = sources.get(entry.position.file) if entry.position else None
    if entry.position and text:
        parts += _excerpt(text, entry.position)
    if entry.help:
        parts.append(f"  help: {entry.help}".replace("\n", "\\n"))
    return visible("\n".join(parts))


def _excerpt(text: str, place: Position, width: int = 100) -> list[str]:
    lines = text.split("\n")
    if not 1 <= place.line <= len(lines):
        return []
    line = lines[place.line - 1].rstrip("\r").replace("\t", " ")
    start = max(0, place.column - 1 - width * 3 // 4)
    excerpt = line[start : start + width]
    margin = f"{place.line:>5} | "
    return [margin + excerpt, " " * (len(margin) - 2) + "| " + " " * (place.column - 1 - start) + "^"]
