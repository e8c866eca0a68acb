"""The answer type expression: equal if proven to be the same function or number."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from dia_language.answers.base import Comparison, Mode, Types, Undecided, Unreadable, unfit, within
from dia_language.answers.formula_parser import LENGTH, parse_formula
from dia_language.answers.formulas import (
    MINUS,
    Node,
    NodeBuilder,
    added,
    multiplied,
    node_of,
    ordered,
    sympy_of,
)
from dia_language.answers.interval_bounds import differs, is_defined, is_zero_algebraic
from dia_language.answers.normal_form import is_zero
from dia_language.answers.options import variable_faults, variables_of
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value, is_symbolic, normal, plain


class ExpressionAnswer(WordAnswer):
    """A mathematical expression in `variables` (by default none), such as `2*sqrt(3)*x + pi`.

    Two expressions are equal if they have the same real value wherever both are defined. Equality is proven with a
    normal form or, if roots of numbers occur, by showing that the difference is too small to be anything but zero.
    Inequality is proven with bounds on both values at one point. If neither can be proven, the comparison is undecided.
    At compile time, this is an error; in scoring, the reply is wrong and flagged.

    An expression consists of numbers, variables, pi, e, + - * / ^ ** and brackets; sqrt, cbrt, exp, log (natural, or
    with the base as second argument), ln, log2, log10, abs, sin, cos, tan, cot, sec, csc, asin, acos, atan (also arcsin
    ...), sinh, cosh, tanh. Lenient also accepts products without an operator (2x), typographic operators and LaTeX.
    """

    name = "expression"
    options = frozenset({"variable", "variables"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.variables = variables_of(comparison)
        self.variable_set = frozenset(self.variables)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        return variable_faults(comparison)

    def settle(self, value: Value) -> Value:
        value = normal(value)
        is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
        if not is_number and not is_symbolic(value):
            raise unfit(self.name, value, "give a number or a symbolic expression, or declare another `type`")
        try:
            if not is_defined(self.node(value), list(self.variables)):
                message = "no real value of the answer could be computed at any of the tested points"
                raise LanguageError(message, "declare another `type`")
            is_readable = bool(self.node(plain(value))) and self.equal(plain(value), value)
        except Unreadable as error:
            help = "declare its `variables`, or another `type`"
            raise LanguageError(f"the answer's type is expression, but its value contains {error}", help) from None
        assert is_readable, "sympy writes what our grammar reads otherwise"
        return value

    def node(self, value: Value) -> Node:
        """The tree of an expression given as a sympy object, a number, or in the stored form. Raises Unreadable."""
        if type(value) is str:
            tree: Node = parse_formula(value, NodeBuilder(self.variables), "strict")
            return tree
        return node_of(value, self.variable_set)

    def holds(self, value: Value) -> bool:
        if isinstance(value, bool):
            return False
        try:
            return bool(self.node(value))
        except Unreadable:
            return False

    def write(self, value: Value) -> str:
        return within(plain(value), LENGTH)

    def read(self, text: str, mode: Mode) -> Value:
        return normal(sympy_of(parse_formula(text, NodeBuilder(self.variables), mode)))

    def equal(self, reply: Value, truth: Value) -> bool:
        try:
            left, right = ordered(self.node(reply)), ordered(self.node(truth))
            return left == right or are_equal(left, right, sorted(self.variables))
        except Unreadable as error:
            raise Undecided(f"two expressions cannot be compared: {error}") from None

    def key(self, value: Value) -> Hashable | None:
        return None

    def describe(self) -> str:
        what = f" in {' and '.join(self.variables)}" if self.variables else ""
        return f"an expression{what}, such as {self.samples()[0]}"

    def samples(self) -> list[Value]:
        last = self.variables[-1] if self.variables else "pi"
        return [f"2*sqrt(3)*{last} + 1/2", f"{last}**2", f"sin({last})"]


def are_equal(left: Node, right: Node, variables: list[str]) -> bool:
    """Return whether two expressions have the same real value wherever both have one. Raises Undecided."""
    if differs(left, right, variables):
        return False
    difference = added(left, multiplied(MINUS, right))
    if is_zero(difference) and is_defined(added(left, right), variables):
        return True
    is_zero_number = is_zero_algebraic(difference)
    if is_zero_number is None:
        raise Undecided("it could not be proven whether two expressions are equal")
    return is_zero_number
