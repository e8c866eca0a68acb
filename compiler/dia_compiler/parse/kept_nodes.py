"""The nodes of files that are parsed again and again while somebody writes them."""

from __future__ import annotations

from dia_language.yaml_nodes import Node, parse


class KeptNodes:
    """A parser that caches the nodes of each file until its text changes."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[str, Node]] = {}

    def __call__(self, text: str, name: str) -> Node:
        """Return the root node of a file. Raises DiaError if it is not YAML."""
        entry = self.nodes.get(name)
        if entry is None or entry[0] != text:
            entry = self.nodes[name] = (text, parse(text, name))
        return entry[1]
