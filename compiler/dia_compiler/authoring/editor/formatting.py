"""Format a spec file: its indentation and spaces; comments and values do not change.

Keys are indented by two spaces, and so are the dashes of lists. Multi-line scalars and flow collections are moved as a
whole. A file that would mean something else afterwards is not formatted.
"""

from __future__ import annotations

import re

from dia_language.diagnostics import DiaError
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, parse

STEP = 2
AFTER_KEY = re.compile(r"^((?:- +)*(?:[A-Za-z_][\w, ()]*|\"[^\"]*\"|'[^']*'):) {2,}(?=[^\s#])")
AFTER_DASH = re.compile(r"^((?:- )*-) {2,}(?=[^\s#])")


def formatted(text: str) -> str | None:
    """Return the formatted text; None if it cannot be parsed, or would mean something else."""
    text = text.replace("\r\n", "\n")
    try:
        root = parse(text, "")
        layout = _Layout(text)
        layout.place(root, 0)
        new = layout.written()
        is_same = _plain(parse(new, "")) == _plain(root)
    except (DiaError, ValueError):
        return None
    return new if is_same else None


def _plain(node: Node) -> object:
    """Return the content of a node, without positions."""
    if isinstance(node, Scalar):
        return (node.text, node.style, node.value)
    if isinstance(node, Sequence):
        return ("list", node.is_flow, [_plain(item) for item in node.items])
    return ("mapping", node.is_flow, [(key.text, key.style, _plain(value)) for key, value in node.pairs])


class _Layout:
    """The lines that begin a key or an item, and how far each is moved."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.indents: dict[int, int] = {}  # of lines that begin a key or an item, counted from 1
        self.inside: set[int] = set()  # lines within a scalar, which move as a whole
        self.shifts: dict[int, int] = {}  # how far lines of a block of text are moved

    def place(self, node: Node, indent: int) -> None:
        """Record the indents of a node and its children."""
        if isinstance(node, Scalar):
            self.inside.update(range(node.position.line + 1, node.end_line + 1))
            if node.style in ("|", ">"):
                self.place_block(node.position.line, indent)
        elif isinstance(node, Mapping):
            for key, value in node.pairs:
                if not node.is_flow and self.begins(key.position.line, key.position.column):
                    self.indents[key.position.line] = indent
                self.place(value, indent + STEP)
        else:
            for item in node.items:
                if not node.is_flow:
                    line = item.position.line
                    if not self.lines[line - 1].lstrip().startswith("-"):
                        raise ValueError("a dash on a separate line")
                    self.indents.setdefault(line, indent)
                self.place(item, indent + STEP)

    def place_block(self, line: int, indent: int) -> None:
        """Record the lines of a block of text: those below its key that are empty or as deep as its first line."""
        width = 0
        for number in range(line + 1, len(self.lines) + 1):
            content = self.lines[number - 1]
            depth = len(content) - len(content.lstrip(" "))
            if content.strip():
                width = width or depth
                if depth < width:
                    return
            self.inside.add(number)
            self.shifts[number] = indent - width if width else 0

    def begins(self, line: int, column: int) -> bool:
        return len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip(" ")) == column - 1

    def written(self) -> str:
        """Return the text with the new indents."""
        moved, shift, blank = [], 0, 0
        for number, line in enumerate(self.lines, 1):
            stripped = line.lstrip(" ")
            width = len(line) - len(stripped)
            if number in self.inside and number not in self.indents:
                content = line if stripped.strip() else ""
                moved.append(_shifted(content, self.shifts.get(number, shift)))
                continue
            if not stripped.strip():
                blank += 1
                if blank == 1 and moved:
                    moved.append("")
                continue
            blank = 0
            if number in self.indents:
                shift = self.indents[number] - width
                stripped = AFTER_KEY.sub(r"\1 ", AFTER_DASH.sub(r"\1 ", stripped))
            elif stripped.startswith("#"):
                following = self.following(number)
                shift = self.indents[following] - width if following else shift
            moved.append(" " * max(0, width + shift) + stripped.rstrip())
        while moved and not moved[-1]:
            moved.pop()
        return "\n".join(moved) + "\n"

    def following(self, number: int) -> int | None:
        """Return the next line that begins a key or item, if a comment with the same indent is directly before it."""
        width = len(self.lines[number - 1]) - len(self.lines[number - 1].lstrip(" "))
        for later in range(number + 1, len(self.lines) + 1):
            line = self.lines[later - 1]
            if later in self.indents:
                return later if len(line) - len(line.lstrip(" ")) == width else None
            if line.strip() and not line.lstrip().startswith("#"):
                return None
        return None


def _shifted(line: str, shift: int) -> str:
    """Return a line moved to the right, or to the left as far as it has spaces."""
    if shift >= 0:
        return " " * shift + line if line else ""
    return line[min(-shift, len(line) - len(line.lstrip(" "))) :]
