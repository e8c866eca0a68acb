"""Sums, remainders and comparisons of whole numbers, as Python does them by itself: a third of the time of guards.

Where every value of such a tree is an integer, no operator in it can fail or grow out of bounds, so that one look at
the values stands for a guard at each operator. What is no integer goes through the guards as everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

MOST_VALUES = 4  # more would be looked at for nothing wherever one is no integer
LONGEST_CHAIN = 8  # comparisons; a chain is asked about again without its first, so that long ones took their square
SAFE = (ast.Add, ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
DIVIDING = (ast.Mod, ast.FloorDiv)
COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
INTEGER = "_int"

LookUp = Callable[[ast.Name], ast.expr | None]


def unguarded(node: ast.BinOp | ast.Compare, look_up: LookUp) -> tuple[ast.expr, ast.expr] | None:
    """The test whether all values are integers, and the tree without guards; None for a tree with anything else in it.

    `look_up` gives the expression that a name stands for, None where it has no value.
    """
    if not _is_whole(node, is_root=True):
        return None
    divisors = {name.id for name in _divisors(node)}
    names: dict[str, ast.Name] = {}
    for part in _names(node):
        names.setdefault(part.id, part)  # what has no value is told where it stands first
    values = {name: look_up(part) for name, part in names.items()}
    if not values or len(values) > MOST_VALUES or None in values.values() or not _asks_for_all(node):
        return None
    tests: list[ast.expr] = []
    for name in names:
        tests.append(at_place_of(names[name], _is_integer(_seen(look_up, names[name]))))
        if name in divisors:
            tests.append(_seen(look_up, names[name]))
    return (tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)), _plain(node, look_up)


def _is_whole(node: ast.expr, is_root: bool = False) -> bool:
    """Whether the tree holds nothing but names, whole numbers and operators that cannot fail among them."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.BinOp) and isinstance(node.op, SAFE):
        return _is_whole(node.left) and _is_whole(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, DIVIDING):
        return _is_whole(node.left) and _is_divisor(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift):
        return _is_whole(node.left) and _is_count(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and not is_root and _is_whole(node.operand)
    if isinstance(node, ast.Compare) and is_root and len(node.ops) <= LONGEST_CHAIN:
        return all(isinstance(op, COMPARING) for op in node.ops) and all(map(_is_whole, (node.left, *node.comparators)))
    return False


def _is_divisor(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Constant) and type(node.value) is int and node.value != 0
    )


def _is_count(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int  # a sign would be an operator


def _names(node: ast.expr) -> Iterator[ast.Name]:
    """The names from left to right, in the order in which guards would ask for their values."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.BinOp):
        yield from _names(node.left)
        yield from _names(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _names(node.operand)
    elif isinstance(node, ast.Compare):
        first, *others = node.comparators
        parts = (first, node.left, *others) if others else (node.left, first)  # guards share the middle of a chain
        for part in parts:
            yield from _names(part)


def _asks_for_all(node: ast.BinOp | ast.Compare) -> bool:
    """Whether guards would ask for every value: the end of `a < b < c` is not looked at where `a < b` is false."""
    if isinstance(node, ast.BinOp):
        return True
    first, *others = node.comparators
    asked = {name.id for part in (node.left, first) for name in _names(part)}
    return all(name.id in asked for part in others for name in _names(part))


def _divisors(node: ast.expr) -> Iterator[ast.Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, DIVIDING) and isinstance(part.right, ast.Name):
            yield part.right


def _seen(look_up: LookUp, name: ast.Name) -> ast.expr:
    found = look_up(name)
    assert found is not None
    return at_place_of(name, found)


def _is_integer(value: ast.expr) -> ast.expr:
    kind = ast.Attribute(value, "__class__", ast.Load())
    return ast.Compare(kind, [ast.Is()], [ast.Name(INTEGER, ast.Load())])


def _plain(node: ast.expr, look_up: LookUp) -> ast.expr:
    """The tree with its names looked up."""
    if isinstance(node, ast.Name):
        return _seen(look_up, node)
    if isinstance(node, ast.BinOp):
        return at_place_of(node, ast.BinOp(_plain(node.left, look_up), node.op, _plain(node.right, look_up)))
    if isinstance(node, ast.UnaryOp):
        return at_place_of(node, ast.UnaryOp(node.op, _plain(node.operand, look_up)))
    if isinstance(node, ast.Compare):
        left, *others = (_plain(part, look_up) for part in (node.left, *node.comparators))
        return at_place_of(node, ast.Compare(left, node.ops, others))
    return node


def at_place_of(node: ast.AST, made: ast.expr) -> ast.expr:
    """What has been made of a node, at the node's place: `ast.copy_location` for expressions, but quicker."""
    held, given = made.__dict__, node.__dict__
    for name in PLACE:
        if name in given:
            held[name] = given[name]
    return made


PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
