"""The fields of a value that a piece reads.

A bundle's questions contain only these, because others may reveal the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dia_language.expressions.syntax import ParsedExpression
from dia_language.numbers.values import Record, Value
from dia_language.templates.templates import ParsedTemplate
from jinja2 import nodes

WHOLE = "*"
ALL = frozenset({WHOLE})
Fields = dict[str, frozenset[str]]


def fields_of(tree: ParsedExpression | ParsedTemplate) -> Fields:
    """Return the fields that are read of each name; WHOLE if a name is used in any other way."""
    pairs = _in_template(tree.tree) if isinstance(tree, ParsedTemplate) else _in_expression(tree.tree)
    fields: Fields = {}
    for name, field in pairs:
        fields[name] = fields.get(name, frozenset()) | {field}
    return fields


def merged(one: Fields, other: Fields) -> Fields:
    """Merge the fields that two pieces read."""
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {**one, **other}}


def narrowed(value: Value, fields: frozenset[str]) -> Value:
    """Return the record with only the fields that are read.

    Other values, and records that are used whole, are unchanged.
    """
    if type(value) is not Record or WHOLE in fields:
        return value
    return Record((name, field_value) for name, field_value in value.items() if name in fields)


def _in_expression(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, node.attr
    elif isinstance(node, ast.Name):
        yield node.id, WHOLE
    else:
        for child in ast.iter_child_nodes(node):
            yield from _in_expression(child)


def _in_template(node: nodes.Node) -> Iterator[tuple[str, str]]:
    """Yield the tree has been rewritten by our reader: `a.b` is a call of `_field`."""
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "_field":
        whole, field = node.args
        if isinstance(whole, nodes.Name) and isinstance(field, nodes.Const):
            yield whole.name, str(field.value)
            return
    if isinstance(node, nodes.Name):
        yield node.name, WHOLE
    for child in node.iter_child_nodes():
        yield from _in_template(child)
