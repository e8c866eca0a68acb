"""Edits that repair what a diagnostic reports: the intended name, and quotes around a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dia_compiler.authoring.editor.cursor import TOP_LEVEL
from dia_compiler.authoring.editor.texts import Lines
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.yaml_nodes import parse

MEANT = re.compile(r"did you mean `([^`]+)`\?")
UNKNOWN = re.compile(r"`(\w[\w-]*)`")
ADVICE = "quote the "  # how the help begins for errors that quotes may fix
BEFORE_VALUE = re.compile(r": +|(?<![^\s])- +|, *|\[ *|(?<!\{)\{(?![{%]) *")
MOST_STARTS = 12  # candidates for the value to quote


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit of a text: the characters from `start` to `end` are replaced."""

    title: str
    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        """Return the text with the edit."""
        return text[: self.start] + self.text + text[self.end :]


def fixes(text: str, entry: Diagnostic) -> list[Fix]:
    """Return the known fixes for a diagnostic of this text; none if it has no position."""
    if entry.position is None or not entry.help:
        return []
    lines = Lines(text)
    return [*_of_name(text, lines, entry), *_of_quotes(text, lines, entry)]


def _of_name(text: str, lines: Lines, entry: Diagnostic) -> Iterator[Fix]:
    """Yield the fix that replaces an unknown name by the intended one."""
    suggestion = MEANT.search(entry.help or "")
    if suggestion is None or entry.position is None:
        return
    start, end = lines.word_span(entry.position.line, entry.position.column)
    names = UNKNOWN.findall(entry.message)
    name = max((name for name in names if _is_word(text, name, start)), key=len, default="")
    if not name and text[start:end] in entry.message and re.fullmatch(r"\w+", text[start:end]):
        name = text[start:end]
    if not name and names:  # the position is that of a tag or a folded text, so search nearby
        name, line_end = names[0], lines.offset(entry.position.line, 1 << 30)
        in_line = [at for at in range(start, line_end) if _is_word(text, name, at)]
        places = in_line or [match.start() for match in re.finditer(re.escape(name), text)]
        places = [at for at in places if _is_word(text, name, at)]
        if len(places) != 1:
            return
        start = places[0]
    if name:
        yield Fix(f"Change to `{suggestion[1]}`", start, start + len(name), suggestion[1])


def _is_word(text: str, name: str, at: int) -> bool:
    """Return whether a whole name starts at this place of a text."""
    around = text[at - 1 : at] + "." + text[at + len(name) : at + len(name) + 1]
    return text.startswith(name, at) and re.search(r"\w", around, re.ASCII) is None


def _of_quotes(text: str, lines: Lines, entry: Diagnostic) -> Iterator[Fix]:
    """Yield fixes that put the smallest value in quotes that makes the text parse beyond that value."""
    if not (entry.help or "").startswith(ADVICE) or entry.position is None:
        return
    error = lines.offset(entry.position.line, entry.position.column)
    heads = [match.start() for match in TOP_LEVEL.finditer(text)]
    part_start = max((head for head in heads if head <= error), default=0)
    part = text[part_start : min((head for head in heads if head > error), default=len(text))]
    for start in sorted(_starts(part, error - part_start), reverse=True)[:MOST_STARTS]:
        best: tuple[float, int, str] = (0, 0, "")
        for end in _ends(part, start):
            quoted = _quoted(part[start:end])
            longer = len(quoted) - (end - start)
            reached = _error_offset(part[:start] + quoted + part[end:]) - longer
            if reached > max(best[0], end, error - part_start):
                best = (reached, end, quoted)
                if _is_in_flow(part[:start]):
                    break  # a longer value would include the values after it
        if best[2]:
            yield Fix("Put the value in quotes", part_start + start, part_start + best[1], best[2])
            return


def _starts(part: str, error: int) -> Iterator[int]:
    """Yield where a value may begin, up to an error: after `: `, `- `, a comma or an opening bracket."""
    for match in BEFORE_VALUE.finditer(part):
        if match.end() <= error and match.end() < len(part) and part[match.end()] not in "|>\n":
            yield match.end()


def _is_in_flow(before: str) -> bool:
    """Return whether a value is inside brackets, by the text before it."""
    plain = re.sub(r"\{\{|\}\}|\{%|%\}", "", before)
    return sum(plain.count(char) for char in "[{") > sum(plain.count(char) for char in "]}")


def _ends(part: str, start: int) -> Iterator[int]:
    """Yield where a value may end: before a comma or closing bracket, at a comment, and at the end of each line."""
    depth, at = 0, start
    while at < len(part):
        char = part[at]
        depth += (char in "([{") - (char in ")]}")
        is_end = (depth == 0 and (char in ",\n" or part.startswith(" #", at))) or depth < 0
        if is_end and part[start:at].strip():
            yield start + len(part[start:at].rstrip())
        elif depth == 0 and part.startswith(("}", "]"), at + 1):
            yield at + 1
        if depth < 0 or part.startswith(" #", at):
            return
        at += 1
    yield start + len(part[start:].rstrip())


def _quoted(value: str) -> str:
    """Return a value in quotes. Line breaks stay; YAML folds them as it does without quotes."""
    if "'" not in value and ("\\" in value or '"' in value):
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _error_offset(text: str) -> float:
    """Return the position of the first parse error, in characters; infinity if the text can be parsed."""
    try:
        parse(text, "")
    except DiaError as error:
        place = error.diagnostics[0].position
        return Lines(text).offset(place.line, place.column) if place is not None else 0
    return float("inf")
