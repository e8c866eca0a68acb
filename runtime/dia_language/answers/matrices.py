"""The answer type matrix: rows of equal length."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

from dia_language.answers.base import LENIENT, AnswerType, Comparison, Mode, Types, Unreadable, unfit, within
from dia_language.answers.list_parsing import is_bracketed
from dia_language.answers.lists import INHERITED, ListAnswer
from dia_language.answers.text import BRACKETS, QUOTES, quoted
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value, is_symbolic

LATEX = re.compile(r"\\begin\{([bpvBV]?matrix)\}(.*)\\end\{\1\}", re.DOTALL)
ROW_ENDS = re.compile(r"\n|;")
SEPARATING = re.compile(r"[\s;]")


class MatrixAnswer(AnswerType):
    """A matrix: rows of equal length whose elements have the type `of` (by default rational).

    The canonical form is `[[1, 2], [3, 4]]`. Strict accepts this form, or one row per line with elements separated by
    commas or spaces, with or without brackets around each row and around the whole matrix. Lenient also accepts
    semicolons between rows, and LaTeX matrices.
    """

    name = "matrix"
    options = frozenset({"of"}) | INHERITED

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.rows = ListAnswer(_nested(comparison, ","), types)
        self.blank_row = ListAnswer({**_nested(comparison, " ")["of"]}, types)
        self.separators = self.rows.separators
        self.row = ListAnswer({**_nested(comparison, ",")["of"]}, types)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        if isinstance(comparison.get("of"), list | tuple):
            return ["the elements of a matrix all have one type"]
        messages = types.faults(_nested(comparison, ","))
        return messages or types.faults(_nested(comparison, " ")["of"])

    def settle(self, value: Value) -> Value:
        if is_symbolic(value) and hasattr(value, "tolist"):
            value = value.tolist()
        if type(value) is not list or not all(type(row) is list for row in value):
            raise unfit(self.name, value, "give a list of rows, each a list")
        rows: list[list[Value]] = self.rows.settle(value)
        if not _is_matrix(rows):
            raise LanguageError("the rows of a matrix must have the same length and must not be empty")
        return rows

    def holds(self, value: Value) -> bool:
        return self.rows.holds(value) and _is_matrix(value)

    def write(self, value: Value) -> str:
        if self.has_quotes and len(value) == len(value[0]) == 1:
            return within(f"[[{self._only_element(value[0][0])}]]")
        return self.rows.write(value)

    def _only_element(self, value: Value) -> str:
        """Return the text of the only element of a matrix, which no comma separates from others.

        Spaces, semicolons and line breaks would separate elements and rows, so a text that has any is quoted.
        """
        text = self.row.of[0].write_inside(value, ",")
        if text[0] in BRACKETS:
            return text
        if text[0] not in QUOTES and SEPARATING.search(text):
            text = quoted(text)
        return text.replace(";", "\\u003b") if text[0] in QUOTES else text

    def read(self, text: str, mode: Mode) -> Value:
        rows = self._rows(text.strip(), mode)
        if not _is_matrix(rows):
            raise Unreadable("rows of different lengths")
        return rows

    def _rows(self, text: str, mode: Mode) -> list[Any]:
        latex = LATEX.fullmatch(text.strip("$ \n")) if mode in LENIENT else None
        if latex:
            rows = [row.replace("&", ",") for row in latex[2].split("\\\\")]
            return [self.row.read(row, mode) for row in rows if row.strip()]
        has_commas = "," in text or not is_bracketed(text)
        first, second = (self.rows.read, self._from_lines) if has_commas else (self._from_lines, self.rows.read)
        try:
            return list(first(text, mode))
        except Unreadable:
            return list(second(text, mode))

    def _from_lines(self, text: str, mode: Mode) -> list[Any]:
        lines = _lines(_without_outer(text, mode), mode)
        return [self._line(line, mode) for line in lines]

    def _line(self, line: str, mode: Mode) -> Value:
        return self.row.read(line, mode) if "," in line else self.blank_row.read(line, mode)

    def equal(self, reply: Value, truth: Value) -> bool:
        return self.rows.equal(reply, truth)

    def key(self, value: Value) -> Hashable | None:
        return self.rows.key(value)

    def describe(self) -> str:
        return f"a matrix, row by row, such as {self.write(self.samples()[0])}"

    def samples(self) -> list[Value]:
        first, second, third = self.row.of[0].samples()
        return [[[first, second], [third, first]], [[second, third]], [[third], [second]]]

    @property
    def has_quotes(self) -> bool:
        return self.rows.has_quotes

    def read_inside(self, piece: str, mode: Mode) -> Value:
        if not is_bracketed(piece):
            raise Unreadable("a matrix inside a list without brackets")
        return self.read(piece, mode)


def _nested(comparison: Comparison, separator: str) -> dict[str, Any]:
    """Return the matrix as a list of lists."""
    inherited = {name: comparison[name] for name in sorted(INHERITED & comparison.keys())}
    row = {"type": "list", "of": comparison.get("of", "rational"), "separator": separator, **inherited}
    return {"type": "list", "of": row}


def _is_matrix(rows: Sequence[Sequence[Any]]) -> bool:
    return bool(rows) and all(len(row) == len(rows[0]) > 0 for row in rows)


def _without_outer(text: str, mode: Mode) -> str:
    """Return the text without the brackets around all rows, if it has them in addition to those of the rows."""
    if not is_bracketed(text):
        return text
    inner = text[1:-1].strip()
    is_open = len(_lines(inner, mode)) > 1 and not all(map(is_bracketed, _lines(text, mode)))
    return inner if is_bracketed(inner) or is_open else text


def _lines(text: str, mode: Mode) -> list[str]:
    """Return the rows of a text, without empty rows and trailing commas."""
    rows = ROW_ENDS.split(text) if mode in LENIENT else text.split("\n")
    return [row.strip().removesuffix(",").rstrip() for row in rows if row.strip()]
