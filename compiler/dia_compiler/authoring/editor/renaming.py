"""Renaming a parameter or let value wherever a template uses it: in expressions, templates, examples and names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dia_compiler.authoring.editor.checking import FileCheck, TextChecker
from dia_compiler.authoring.editor.cursor import KeyPath
from dia_compiler.authoring.editor.expressions import loop_names, names_in_tags
from dia_compiler.authoring.editor.shape import EXPRESSION, TEMPLATE, Shape, shift
from dia_compiler.authoring.editor.symbols import Symbol, local_names
from dia_compiler.authoring.editor.texts import Lines
from dia_compiler.parse.model import Snippet
from dia_language.diagnostics import DiaError
from dia_language.expressions.syntax import parse as parse_expression
from dia_language.templates.templates import parse_template
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, parse

RENAMED = ("parameter", "let value")
NAMES_PARAMETERS = ("balance", "each", "redraw")  # keys whose values are names
NEW_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)


class RenameError(Exception):
    """Why a name cannot be renamed, in words for the author."""


def occurrences(text: str, shape: Shape, symbol: Symbol) -> list[int]:
    """Return where the text of a template names a parameter or let value, in characters.

    Raises RenameError if the text cannot be read, or contains the name where it cannot be located.
    """
    if symbol.kind not in RENAMED:
        raise RenameError(f"`{symbol.name}` is a {symbol.kind}; parameters and let values can be renamed")
    try:
        root = parse(text, "")
    except DiaError:
        raise RenameError("fix the errors of this file first") from None
    finder = _Finder(root, text, shape, symbol.name)
    return sorted(set(finder.find(root, ())))


def renamed(text: str, places: list[int], old: str, new: str) -> str:
    """Return the text with another name at these places."""
    for place in sorted(places, reverse=True):
        text = text[:place] + new + text[place + len(old) :]
    return text


def require_name(new: str) -> None:
    """Raise RenameError if a text is not a name."""
    if not NEW_NAME.fullmatch(new):
        raise RenameError(
            f"`{new}` is not a valid name: a name consists of letters, digits and _, and starts with a letter"
        )


def require_same_uses(new_text: str, shape: Shape, symbol: Symbol, places: list[int], new: str) -> None:
    """Raise RenameError unless the new name is used where the old one was, and nowhere else."""
    longer = len(new) - len(symbol.name)
    moved = [place + number * longer for number, place in enumerate(places)]
    if occurrences(new_text, shape, replace(symbol, name=new)) != moved:
        raise RenameError(f"`{new}` has another meaning in this file; choose another name")


def require_no_new_errors(checker: TextChecker, path: Path, unsaved: dict[Path, bytes], new_text: str) -> None:
    """Raise RenameError if the new text has an error that the current text does not have."""
    before = checker.check(path, unsaved)
    after = checker.check(path, {**unsaved, path: new_text.encode("utf-8", "surrogatepass")})
    added = _errors(after) - _errors(before)
    for entry in after.diagnostics:
        if entry.severity == "error" and entry.code in added:
            raise RenameError(entry.message + (f"; {entry.help}" if entry.help else ""))


def _errors(check: FileCheck) -> Counter[str]:
    return Counter(entry.code for entry in check.diagnostics if entry.severity == "error")


class _Finder:
    """Finds a name in the nodes of a template."""

    def __init__(self, root: Node, text: str, shape: Shape, name: str) -> None:
        self.root, self.shape, self.name, self.lines = root, shape, name, Lines(text)

    def find(self, node: Node, path: KeyPath) -> Iterator[int]:
        """Yield the places in a node."""
        if isinstance(node, Mapping):
            for key, value in node.pairs:
                if key.text == self.name and _declares(path):
                    yield self.place(key, 0)
                yield from self.find(value, (*path, key.text))
        elif isinstance(node, Sequence):
            for at, item in enumerate(node.items):
                yield from self.find(item, (*path, at))
        else:
            yield from self.in_scalar(node, path)

    def in_scalar(self, scalar: Scalar, path: KeyPath) -> Iterator[int]:
        """Yield the places in a value."""
        if self.name not in scalar.text:
            return
        if path[0] in NAMES_PARAMETERS or (path[0] == "variants" and "redraw" in path):
            if scalar.text == self.name:
                yield self.place(scalar, 0)
            return
        kind = self.shape.kind(self.root, path, scalar.text)
        if kind in (EXPRESSION, TEMPLATE) and self.name not in local_names(self.root, path):
            offsets = self.in_expression(scalar) if kind == EXPRESSION else self.in_template(scalar)
            yield from (self.place(scalar, offset) for offset in offsets)

    def in_expression(self, scalar: Scalar) -> list[int]:
        start = shift(scalar.text, EXPRESSION)
        try:
            parsed = parse_expression(Snippet(scalar.text[start:], scalar, start))
        except DiaError as error:
            raise self.unreadable(scalar, error) from None
        return [use.offset + start for use in parsed.names if use.name == self.name]

    def in_template(self, scalar: Scalar) -> list[int]:
        try:
            parsed = parse_template(Snippet(scalar.text, scalar))
        except DiaError as error:
            raise self.unreadable(scalar, error) from None
        if self.name not in {use.name for use in parsed.names}:
            return []
        if self.name in loop_names(scalar.text):
            line = scalar.position.line
            raise RenameError(f"line {line} uses `{self.name}` also as the variable of a loop; rename that one first")
        return names_in_tags(scalar.text, self.name)

    @staticmethod
    def unreadable(scalar: Scalar, error: DiaError) -> RenameError:
        entry = error.diagnostics[0]
        line = entry.position.line if entry.position is not None else scalar.position.line
        return RenameError(f"fix line {line} first: {entry.message}")

    def place(self, scalar: Scalar, offset: int) -> int:
        """Return the position of a character of a scalar in the file. Raises RenameError if that cannot be found."""
        position = scalar.place(offset)
        place = self.lines.offset(position.line, position.column)
        if self.is_name(place):
            return place
        raise RenameError(f"`{self.name}` cannot be found in line {position.line}; write the value after `|`")

    def is_name(self, place: int) -> bool:
        """Return whether the name, as a whole word, is at this place of the file."""
        start, end = self.lines.word_at(place)
        return start == place and self.lines.text[start:end] == self.name


def _declares(path: KeyPath) -> bool:
    """Return whether a key under this path is the name of a parameter or let value."""
    return path in (("params",), ("let",)) or (len(path) == 3 and path[0] == "examples" and path[2] == "params")
