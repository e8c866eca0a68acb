"""Parts of expressions and texts that are valid, but that probably do not do what their author means."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dia_language.expressions.syntax import ParsedExpression
from dia_language.functions import library
from dia_language.yaml_nodes import Scalar

COMMENT = re.compile(r"[ \t]#")  # most authors put two spaces before a comment that is meant as one
# A name, with fields or an index, in single braces, which is neither a tag nor a part of LaTeX
BRACED = re.compile(r"(?<![{\\^_}\w])\{ *([A-Za-z_]\w*)((?:\.\w+|\[[^\[\]{}]*\])*) *\}(?!\})")
SEARCHES = frozenset({"replace", "matches", "split", "contains", "program"})  # functions whose texts may have braces
POWERS = range(2, 11)
# The types of Python that functions of the library return, in the words of messages
RETURNED = {"str": "text", "bytes": "bytes", "int": "an integer", "Number": "a number", "Rational": "a number",
            "Matrix": "a list", "Record": "a record", "Expression": "a symbolic expression"}  # fmt: skip


def is_cut_by_comment(scalar: Scalar) -> bool:
    """Return whether a text without quotes ends where YAML reads a comment."""
    return scalar.style == "" and COMMENT.match(scalar.rest_of_line) is not None


def never_true_or_false(
    tree: ast.expr, own_functions: Collection[str], kinds: Mapping[str, str]
) -> tuple[ast.expr, str] | None:
    """Return the part of a condition that is certainly not true or false, and what it is; None if there is none.

    `kinds` says in words what names are that cannot be true or false.
    """
    if isinstance(tree, ast.BoolOp):
        return next((part for value in tree.values if (part := never_true_or_false(value, own_functions, kinds))), None)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return never_true_or_false(tree.operand, own_functions, kinds)
    if isinstance(tree, ast.IfExp):
        return never_true_or_false(tree.body, own_functions, kinds) or never_true_or_false(
            tree.orelse, own_functions, kinds
        )
    word = kinds.get(tree.id, "") if isinstance(tree, ast.Name) else _word(tree, own_functions)
    return (tree, word) if word else None


def _word(tree: ast.expr, own_functions: Collection[str]) -> str:
    if isinstance(tree, ast.JoinedStr) or (isinstance(tree, ast.Constant) and isinstance(tree.value, str)):
        return "text"
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)) and not isinstance(tree.value, bool):
        return "a number"
    if isinstance(tree, ast.BinOp) and not isinstance(tree.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return "a result of arithmetic"
    if isinstance(tree, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
        return "a list"
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id not in own_functions:
        function = library().get(tree.func.id)
        returned = str(function.raw.__annotations__.get("return")) if function is not None else ""
        return "a list" if returned.startswith("list[") and "|" not in returned else RETURNED.get(returned, "")
    return ""


def literal_braces(parsed: ParsedExpression, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the offset of each text with one of the names in single braces, and these: an `f` is probably missing."""
    text = parsed.source.text
    if "{" not in text and "\\" not in text:  # a text can also have a brace as an escape
        return
    for node, offset in _texts(parsed.tree, parsed):
        for match in BRACED.finditer(node.value):
            if match[1] in names:
                yield offset, match[0]


def _texts(tree: ast.AST, parsed: ParsedExpression) -> Iterator[tuple[Any, int]]:
    """Yield the texts of an expression that are values themselves: not of f-strings, keys or searches."""
    if isinstance(tree, ast.JoinedStr):
        for part in tree.values:
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value, parsed)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree, parsed.offset(tree)
    elif not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in SEARCHES):
        for child in ast.iter_child_nodes(tree):
            yield from _texts(child, parsed)


def powers_by_xor(parsed: ParsedExpression) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of each `x ^ 2`, the exclusive or; bits of an element, `x[0] ^ 2`, are meant."""
    for node in ast.walk(parsed.tree) if "^" in parsed.source.text else ():
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitXor):
            continue
        if isinstance(node.left, (ast.Name, ast.BinOp)) and isinstance(node.right, ast.Constant):
            exponent = node.right.value
            if type(exponent) is int and exponent in POWERS:
                yield parsed.offset(node), f"^ {exponent}"
