"""Texts by line and column, and the words in them. Offsets count characters from 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

WORD = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True)
class Lines:
    """A text and its lines, which end at LF or CR LF."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(at + 1 for at, char in enumerate(self.text) if char == "\n")]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, from 0."""
        before = self.text[: max(0, offset)]
        line = before.count("\n")
        return line, min(len(before) - self.starts[line], len(self.lines[line]))

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position that counts from 1, as diagnostics do; the nearest there is."""
        if not 1 <= line <= len(self.lines):
            return len(self.text) if line > 1 else 0
        return self.starts[line - 1] + max(0, min(column - 1, len(self.lines[line - 1])))

    def word_at(self, offset: int) -> tuple[int, int]:
        """Return where the word around an offset begins and ends; both are the offset if there is none."""
        start = end = offset
        while start > 0 and WORD.match(self.text[start - 1]):
            start -= 1
        while end < len(self.text) and WORD.match(self.text[end]):
            end += 1
        return start, end

    def word_span(self, line: int, column: int) -> tuple[int, int]:
        """Return what to underline for a position of a diagnostic: the word that begins there, or one character."""
        start = self.offset(line, column)
        match = WORD.match(self.text, start)
        if match:
            return start, match.end()
        if start < len(self.text) and self.text[start] not in "\r\n":
            return start, start + 1
        return max(start - 1, self.starts[min(line, len(self.starts)) - 1]), start
