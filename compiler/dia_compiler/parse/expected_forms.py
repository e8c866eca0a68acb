"""How to write a value of the wrong kind, as its JSON Schema expects it: the help of errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dia_language.yaml_nodes import Node, Scalar, Sequence

LONGEST_FLOW = 40  # characters of a value that messages repeat
KEY_NAME = re.compile(r"[A-Za-z][\w-]*\Z")
UNSAFE = re.compile(r"[\[\]{},#:\"'\n]")  # characters with a meaning inside of braces


def form_of(schema: Mapping[str, Any], node: Node, path: tuple[Any, ...]) -> str | None:
    """Return how to write the value at a path, with what the author wrote as far as it fits; None if unclear."""
    key, text = str(path[-1]) if path else "", _flow_text(node)
    filler = "reason" if path[:1] == ("allow",) else "..."
    if schema.get("type") == "array" and isinstance(node, Scalar) and text:
        if key == "of" and "format" in path and node.text.startswith("="):
            return "write the labels out, as in [Monday, Tuesday]; a format takes no expressions"
        is_expression = key == "accept" and isinstance(node.value, str)  # in data, an expression needs a mark
        return f'write ["= {node.text}"]' if is_expression else f"write [{text}]"
    if schema.get("type") == "string" and isinstance(node, Scalar) and not node.text:
        return f"give it a value: `{key}: {filler}`"
    return _mapping_form(schema, node, text or "...", filler) if schema.get("type") == "object" else None


def _mapping_form(schema: Mapping[str, Any], node: Node, text: str, filler: str) -> str:
    """Return how to write a mapping: its required keys, else its first one, else names for it."""
    properties, required = schema.get("properties", {}), list(schema.get("required", []))
    if required:
        form = ", ".join(f"{name}: {text if name == required[0] else '...'}" for name in required)
        choices = {name: properties[name]["enum"] for name in required if "enum" in properties.get(name, {})}
        return f"write {{{form}}}" + "".join(f"; `{name}` is {or_of(words)}" for name, words in choices.items())
    if properties:
        return f"write {{{next(iter(properties))}: {text}}}; the keys are {', '.join(properties)}"
    entries = node.items if isinstance(node, Sequence) else (node,)
    names = [entry.text for entry in entries if isinstance(entry, Scalar) and KEY_NAME.match(entry.text)]
    if not names or len(names) < len(entries):
        return f"write {{name: {(_flow_text(entries[0]) if entries else '') or filler}}}"
    return f"write {{{', '.join(f'{name}: {filler}' for name in names[:3])}}}"


def _flow_text(node: Node) -> str:
    """Return a short scalar as it can be written inside of brackets or braces, or an empty text."""
    if not isinstance(node, Scalar) or not node.text or len(node.text) > LONGEST_FLOW:
        return ""
    return quoted(node.text) if UNSAFE.search(node.text) or node.style else node.text


def quoted(text: str) -> str:
    """Return the text in single quotes, as YAML reads it."""
    return "'" + text.replace("'", "''") + "'"


def or_of(words: Iterable[str]) -> str:
    """Return the words with a comma or an `or` between them.

    >>> or_of(["a", "b", "c"])
    'a, b or c'
    """
    *first, last = list(words)
    return f"{', '.join(first)} or {last}" if first else last
