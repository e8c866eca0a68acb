"""Mathematical expressions as small trees, converted from text and from and to sympy.

A node is ("number", Fraction), ("symbol", name), ("pi",), ("+", node, ...), ("*", node, ...), ("**", base, exponent)
or ("call", name, argument). sympy is never handed text, and never asked to evaluate what a reply says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from dia_language.answers.base import Unreadable
from dia_language.numbers.radix import integer_of

Node: TypeAlias = tuple[Any, ...]

DIGITS, NODES, EXPONENT, BITS = 1_000, 400, 1_000, 20_000
ONE, HALF = Fraction(1), Fraction(1, 2)
MINUS: Node = ("number", Fraction(-1))
E: Node = ("call", "exp", ("number", ONE))
# The functions in trees, by the names that text can use
FUNCTIONS = {
    "exp": "exp", "log": "log", "ln": "log", "sin": "sin", "cos": "cos", "atan": "atan", "arctan": "atan",
    "asin": "asin", "arcsin": "asin", "acos": "acos", "arccos": "acos",
}  # fmt: skip


def number(value: Fraction | int) -> Node:
    """Return the node of a rational number. Raises Unreadable if it has too many digits."""
    exact = Fraction(value)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > BITS:
        raise Unreadable("too many digits")
    return ("number", exact)


def added(left: Node, right: Node) -> Node:
    """Return the sum of two nodes."""
    if left[0] == right[0] == "number":
        return number(left[1] + right[1])
    return ("+", *(left[1:] if left[0] == "+" else (left,)), *(right[1:] if right[0] == "+" else (right,)))


def multiplied(left: Node, right: Node) -> Node:
    """Return the product of two nodes."""
    if left[0] == right[0] == "number":
        return number(left[1] * right[1])
    return ("*", *(left[1:] if left[0] == "*" else (left,)), *(right[1:] if right[0] == "*" else (right,)))


def raised(base: Node, exponent: Node) -> Node:
    """Return the power of two nodes. Raises Unreadable for a division by zero and for huge powers."""
    if exponent[0] == "number" and abs(exponent[1]) > EXPONENT:
        raise Unreadable("a huge power")
    if base[0] == "**" and _is_whole(exponent) and _is_whole(base[2]):
        return raised(base[1], number(base[2][1] * exponent[1]))
    if base[0] == exponent[0] == "number" and exponent[1].denominator == 1:
        power = int(exponent[1])
        if power < 0 and not base[1]:
            raise Unreadable("a division by zero")
        size = max(base[1].numerator.bit_length(), base[1].denominator.bit_length())
        if size * abs(power) > BITS:
            raise Unreadable("too many digits")
        return number(base[1] ** power)
    return ("**", base, exponent)


def _is_whole(node: Node) -> bool:
    return bool(node[0] == "number" and node[1].denominator == 1)


def divided(left: Node, right: Node) -> Node:
    """Return the quotient of two nodes."""
    return multiplied(left, raised(right, MINUS))


def ordered(node: Node) -> Node:
    """Return the tree with the terms and factors in a fixed order and their numbers combined."""
    if node[0] in ("number", "symbol", "pi"):
        return node
    if node[0] == "call":
        return ("call", node[1], ordered(node[2]))
    parts = [ordered(part) for part in node[1:]]
    if node[0] == "**":
        return ("**", *parts)
    neutral = number(int(node[0] == "*"))
    total, rest = neutral, [part for part in parts if part[0] != "number"]
    for part in parts:
        if part[0] == "number":
            total = (added if node[0] == "+" else multiplied)(total, part)
    rest.sort(key=repr)
    operands = rest if total == neutral and rest else [total, *rest]
    return operands[0] if len(operands) == 1 else (node[0], *operands)


def _call(name: str) -> Callable[[Node], Node]:
    return lambda node: ("call", name, node)


def _exponential(sign: int) -> Callable[[Node], Node]:
    """cosh for 1, sinh for -1."""
    return lambda node: multiplied(
        ("number", HALF),
        added(("call", "exp", node), multiplied(number(sign), ("call", "exp", multiplied(MINUS, node)))),
    )


def _quotient(top: Callable[[Node], Node], bottom: Callable[[Node], Node]) -> Callable[[Node], Node]:
    return lambda node: divided(top(node), bottom(node))


SIN, COS, COSH, SINH = _call("sin"), _call("cos"), _exponential(1), _exponential(-1)
ROOTED: dict[str, Callable[[Node], Node]] = {
    "sqrt": lambda node: raised(node, ("number", HALF)),
    "cbrt": lambda node: raised(node, ("number", Fraction(1, 3))),
    "abs": lambda node: raised(raised(node, number(2)), ("number", HALF)),
    "tan": _quotient(SIN, COS),
    "cot": _quotient(COS, SIN),
    "sec": lambda node: raised(COS(node), MINUS),
    "csc": lambda node: raised(SIN(node), MINUS),
    "cosh": COSH,
    "sinh": SINH,
    "tanh": _quotient(SINH, COSH),
    "log2": lambda node: divided(("call", "log", node), ("call", "log", number(2))),
    "log10": lambda node: divided(("call", "log", node), ("call", "log", number(10))),
}
ROOTED["Abs"] = ROOTED["abs"]


class NodeBuilder:
    """Builds nodes from a formula with these variables."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = frozenset(variables)
        self.count = 0

    def _counted(self, node: Node) -> Node:
        self.count += 1
        if self.count > NODES:
            raise Unreadable("an expression of too many parts")
        return node

    def number(self, digits: str) -> Node:
        if len(digits) > DIGITS:
            raise Unreadable("too many digits")
        whole, _, places = digits.partition(".")
        return self._counted(number(Fraction(integer_of(whole + places), 10 ** len(places))))

    def name(self, name: str) -> Node:
        if name in self.variables:
            return self._counted(("symbol", name))
        if name in ("pi", "e", "E"):
            return self._counted(("pi",) if name == "pi" else E)
        raise Unreadable("an unknown variable")

    def call(self, name: str, arguments: list[Node]) -> Node:
        if name in self.variables or len(arguments) not in (1, 2):
            raise Unreadable("a variable before brackets, or too many arguments")
        if len(arguments) == 2:
            if name != "log":
                raise Unreadable("too many arguments")
            return self._counted(divided(("call", "log", arguments[0]), ("call", "log", arguments[1])))
        if name in FUNCTIONS:
            return self._counted(("call", FUNCTIONS[name], arguments[0]))
        if name not in ROOTED:
            raise Unreadable("an unknown function")
        self.count += 4
        return self._counted(ROOTED[name](arguments[0]))

    def negative(self, value: Node) -> Node:
        return self._counted(multiplied(MINUS, value))

    def binary(self, operator: str, left: Node, right: Node) -> Node:
        if operator == "-":
            return self._counted(added(left, multiplied(MINUS, right)))
        combine = {"+": added, "*": multiplied, "/": divided, "**": raised}[operator]
        return self._counted(combine(left, right))


def node_of(value: Any, variables: frozenset[str], depth: int = 0) -> Node:
    """Return the tree of a number or a sympy object. Raises Unreadable for anything that trees do not support."""
    if depth > 200:
        raise Unreadable("an expression that nests too deep")
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return number(value)
    import sympy

    if not isinstance(value, sympy.Expr):
        raise Unreadable("not an expression")
    if value.is_Rational:
        return number(Fraction(int(value.p), int(value.q)))
    if value.is_Symbol:
        if value.name not in variables:
            raise Unreadable(f"the variable `{value.name}`, which is not declared")
        return ("symbol", value.name)
    if value is sympy.pi or value is sympy.E:
        return ("pi",) if value is sympy.pi else E
    parts = [node_of(part, variables, depth + 1) for part in value.args]
    if value.is_Add or value.is_Mul:
        node = parts[0]
        for part in parts[1:]:
            node = added(node, part) if value.is_Add else multiplied(node, part)
        return node
    if value.is_Pow:
        return raised(*parts)
    name = type(value).__name__
    if len(parts) == 1 and (name in FUNCTIONS or name in ROOTED):
        return ("call", FUNCTIONS[name], parts[0]) if name in FUNCTIONS else ROOTED[name](parts[0])
    raise Unreadable(f"`{name}`, which expressions do not support")


def sympy_of(node: Node) -> Any:
    """Return the sympy object of a tree, unevaluated except for rational numbers."""
    import sympy

    kind = node[0]
    if kind == "number":
        return sympy.Rational(node[1].numerator, node[1].denominator)
    if kind == "symbol":
        return sympy.Symbol(node[1])
    if kind == "pi":
        return sympy.pi
    if kind == "call":
        if node == E:
            return sympy.E
        return getattr(sympy, node[1])(sympy_of(node[2]), evaluate=False)
    combine = {"+": sympy.Add, "*": sympy.Mul, "**": sympy.Pow}[kind]
    return combine(*map(sympy_of, node[1:]), evaluate=False)
