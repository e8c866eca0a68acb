"""The YAML key or value at a position in a text that may be half-typed.

A mark is inserted at the position, and the text is parsed with the compiler's parser. If that fails, open brackets and
quotes are closed, and later lines are left out, until it succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dia_language.diagnostics import DiaError
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, parse

MARK = "\ue000"  # a private-use character, which has no meaning in any spec
CLOSING = {"{": "}", "[": "]"}
TOP_LEVEL = re.compile(r"^[A-Za-z_]", re.MULTILINE)

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a key or value: the keys and numbers that lead to it, and the text around it without the mark.

    `path` leads to the value; for a key, to the mapping that has it. `key` is that of the value, if it has one.
    """

    root: Node
    path: KeyPath
    scalar: Scalar
    is_key: bool
    key: Scalar | None

    @property
    def text(self) -> str:
        """The text of the key or value."""
        return self.scalar.text.replace(MARK, "")

    @property
    def offset(self) -> int:
        """Characters of the text before the place."""
        return self.scalar.text.index(MARK)

    @property
    def before(self) -> str:
        """The text before the place."""
        return self.scalar.text[: self.offset]

    @property
    def may_be_key(self) -> bool:
        """Whether the position is a key, or where the first key of a mapping could be written, on a separate line."""
        if self.is_key:
            return True
        is_word = self.scalar.style == "" and re.fullmatch(rf"[\w{MARK}-]*", self.scalar.text) is not None
        has_line = self.key is None or self.scalar.position.line > self.key.position.line
        return is_word and has_line


def cursor_at(text: str, offset: int) -> Cursor | None:
    """Return the key or value at a place; None in a comment, or if the text cannot be parsed."""
    for number, candidate in enumerate(_candidates(text, offset)):
        try:
            root = parse(candidate, "")
        except DiaError:
            continue
        cursor = _marked(root, root, (), None)
        if cursor is not None or number == 0:
            return cursor
    return None


def _candidates(text: str, offset: int) -> Iterator[str]:
    """Yield texts with the mark, from the complete text to shorter and shorter ones."""
    head, tail = text[:offset], text[offset:]
    following = tail.partition("\n")[2]
    inserts = (MARK, f"{MARK}: ")
    yield from (head + insert + tail for insert in inserts)
    closers = list(_closers(head))
    for before in (head, _without_broken_parts(head)):
        for later in (following, ""):
            for insert in inserts:
                yield from (f"{before}{insert}{closer}\n{later}" for closer in closers)


def _without_broken_parts(head: str) -> str:
    """Return the text without the top-level sections that cannot be parsed, except the last one."""
    starts = [match.start() for match in TOP_LEVEL.finditer(head)]
    if not starts:
        return head
    parts = [head[start:end] for start, end in zip(starts, [*starts[1:], len(head)], strict=True)]
    return "".join([part for part in parts[:-1] if _is_readable(part)] + parts[-1:])


def _is_readable(text: str) -> bool:
    try:
        parse(text, "")
    except DiaError:
        return False
    return True


def _closers(head: str) -> Iterator[str]:
    """Yield texts that may close the brackets and quotes that are open at the end of a text."""
    starts = [match.start() for match in TOP_LEVEL.finditer(head)]
    quote, brackets = "", ""
    last = " "
    for char in head[starts[-1] :] if starts else head:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and last in " [{,(\n":
            quote = char
        elif char in CLOSING:
            brackets = CLOSING[char] + brackets
        elif brackets and char == brackets[0]:
            brackets = brackets[1:]
        last = char
    yield from dict.fromkeys((quote + brackets, brackets, '"' + brackets, "'" + brackets, ""))


def _marked(node: Node, root: Node, path: KeyPath, key: Scalar | None) -> Cursor | None:
    if isinstance(node, Scalar):
        return Cursor(root, path, node, False, key) if MARK in node.text else None
    if isinstance(node, Sequence):
        cursors = (_marked(item, root, (*path, at), None) for at, item in enumerate(node.items))
        return next((cursor for cursor in cursors if cursor is not None), None)
    for name, value in node.pairs:
        if MARK in name.text:
            return Cursor(root, path, name, True, None)
        cursor = _marked(value, root, (*path, name.text), name)
        if cursor is not None:
            return cursor
    return None


def node_at(root: Node, path: KeyPath) -> Node | None:
    """Return the node that a path leads to."""
    node: Node | None = root
    for part in path:
        if isinstance(node, Mapping) and isinstance(part, str):
            node = node.get(part)
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            return None
    return node
