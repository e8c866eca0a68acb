"""Templates without loops and conditions as a row of pieces, which are joined in a third of Jinja's time.

Only trees that `templates` has rewritten come here: what is printed is a name, or a call of one of our own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dia_language.numbers.values import Value, plain
from jinja2 import nodes

Values = Mapping[str, Value]
# From what the template sees, and what own functions see, to the value of an expression
Evaluate = Callable[[Values, Values], Value]


class Piece(NamedTuple):
    """Text, then what is printed behind it (nothing at the end of a template), on a line of the template.

    `name` is the name whose value is printed, where it is not computed with.
    """

    text: str
    value: Evaluate | None
    line: int
    name: str | None = None


class Failed(Exception):
    """A piece that cannot be printed: its line, and why."""

    def __init__(self, line: int, error: Exception) -> None:
        self.line, self.error = line, error


def straight(tree: nodes.Template, known: Mapping[str, Any]) -> tuple[Piece, ...] | None:
    """The template's pieces; None for one with a loop, a condition or a literal. `known` are the names of calls."""
    pieces, text = [], ""
    for output in tree.body:
        if not isinstance(output, nodes.Output):
            return None
        for node in output.nodes:
            if isinstance(node, nodes.TemplateData):
                text += node.data
                continue
            value = _evaluate(node, known) if isinstance(node, (nodes.Name, nodes.Call)) else None
            if value is None:
                return None
            pieces.append(Piece(text, value, node.lineno, node.name if isinstance(node, nodes.Name) else None))
            text = ""
    return (*pieces, Piece(text, None, 1))


def joined(pieces: tuple[Piece, ...], values: Values, scope: Values) -> str:
    """The rendered text. Raises Failed."""
    parts = []
    for text, evaluate, line, name in pieces:
        parts.append(text)
        if evaluate is not None:
            try:
                value = evaluate(values, scope) if name is None else values[name]
                parts.append(value if type(value) is str else plain(value))
            except Exception as error:
                raise Failed(line, error) from None
    return "".join(parts)


def around(pieces: tuple[Piece, ...], name: str, values: Values) -> list[str]:
    """The texts before, between and behind the places where the value of a name is printed, found without that value.

    Raises Failed where the name is used otherwise.
    """
    texts, start = [], 0
    for place, piece in enumerate(pieces):
        if piece.name == name or piece.value is None:
            texts.append(joined((*pieces[start:place], Piece(piece.text, None, piece.line)), values, values))
            start = place + 1
    return texts


def _evaluate(node: nodes.Node, known: Mapping[str, Any]) -> Evaluate | None:
    """The expression as a function; None for one that is not a name, a constant or a call of them."""
    if isinstance(node, nodes.Const):
        constant = node.value
        return lambda values, scope: constant
    if isinstance(node, nodes.Name):
        return _name(node.name, known)
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in known:
        return _call(known[node.node.name], [_evaluate(argument, known) for argument in node.args])
    return None


def _name(name: str, known: Mapping[str, Any]) -> Evaluate | None:
    if name == "_s":
        return lambda values, scope: scope
    return None if name in known else lambda values, scope: values[name]


def _call(function: Callable[..., Value], arguments: list[Evaluate | None]) -> Evaluate | None:
    found = [argument for argument in arguments if argument is not None]
    if len(found) < len(arguments):
        return None
    return lambda values, scope: function(*[argument(values, scope) for argument in found])
