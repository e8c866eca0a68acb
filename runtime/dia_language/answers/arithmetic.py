"""The answer type arithmetic: a tree of operators and integers, not its value."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from dia_language.answers.base import LENIENT, Comparison, Mode, Types, Unreadable, unfit, within
from dia_language.answers.formula_parser import LENGTH, parse_formula
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.radix import integer_of
from dia_language.numbers.values import Record, Value

OPERATORS = ("+", "-", "*", "/", "**")
DEFAULT = ("+", "-", "*", "/")
DIGITS, NUMBERS, DEPTH = 1_000, 200, 90


class _Part(NamedTuple):
    tree: Value
    depth: int
    numbers: int


class _TreeBuilder:
    """Builds trees with the allowed operators."""

    def __init__(self, operators: frozenset[str]) -> None:
        self.operators = operators

    def number(self, digits: str) -> _Part:
        if not digits.isdigit() or len(digits) > DIGITS:
            raise Unreadable("a number that is not an integer, or is too long")
        return _Part(integer_of(digits), 0, 1)

    def name(self, name: str) -> _Part:
        raise Unreadable("a name instead of a number")

    def call(self, name: str, arguments: list[_Part]) -> _Part:
        raise Unreadable("a function call")

    def binary(self, operator: str, left: _Part, right: _Part) -> _Part:
        if operator not in self.operators:
            raise Unreadable("an operator that is not allowed")
        depth, numbers = max(left.depth, right.depth) + 1, left.numbers + right.numbers
        if depth > DEPTH or numbers > NUMBERS:
            raise Unreadable("arithmetic that is too long or too deep")
        return _Part(Record(op=operator, args=[left.tree, right.tree]), depth, numbers)

    def negative(self, value: _Part) -> _Part:
        if "-" not in self.operators or value.depth >= DEPTH:
            raise Unreadable("an operator that is not allowed, or too deep nesting")
        if type(value.tree) is int:
            return _Part(-value.tree, 0, value.numbers)
        return _Part(Record(op="neg", args=[value.tree]), value.depth + 1, value.numbers)


class ArithmeticAnswer(WordAnswer):
    """An arithmetic expression of integers and `operators` (default + - * /).

    Give the correct answer (`value`) as a text, or as the tree that the function `arithmetic` returns. A reply is
    parsed into such a tree, and two expressions are equal if their trees are the same. Use `accept_if` to accept more,
    for example `evaluate(reply, {}) == target`. Strict accepts numbers, the operators + - * / and brackets. Lenient
    also accepts typographic operators such as ×, products without an operator, and a result after an equals sign.
    """

    name = "arithmetic"
    options = frozenset({"operators"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.operators = tuple(comparison.get("operators", DEFAULT))
        self.builder = _TreeBuilder(frozenset(self.operators))

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        operators = comparison.get("operators", DEFAULT)
        is_list = isinstance(operators, list | tuple) and operators
        if not is_list or not all(sign in OPERATORS for sign in operators) or len(set(operators)) < len(operators):
            return [f"`operators` must be a list of operators from {' '.join(OPERATORS)}"]
        return []

    def settle(self, value: Value) -> Value:
        if type(value) not in (str, Record, int):
            raise unfit(self.name, value, 'give a tree, such as `arithmetic("1 + 2")`, or arithmetic as text')
        try:
            return self.read(value if type(value) is str else self._text(value), "strict")
        except Unreadable as error:
            help = f"it may contain integers, brackets and {' '.join(self.operators)}"
            raise LanguageError(f"the answer's type is arithmetic, but its value does not fit: {error}", help) from None

    def _text(self, value: Value) -> str:
        from dia_language.functions.notation import written

        return written(value)

    def holds(self, value: Value) -> bool:
        try:
            return type(value) in (Record, int) and bool(self.settle(value) == value)
        except LanguageError:
            return False

    def write(self, value: Value) -> str:
        return within(self._text(value), LENGTH)

    def read(self, text: str, mode: Mode) -> Value:
        if mode in LENIENT:
            left, sign, right = text.partition("=")
            text = left if sign and right.strip().lstrip("-").replace(".", "", 1).isdigit() else text
        part: _Part = parse_formula(text, self.builder, mode)
        return part.tree

    def key(self, value: Value) -> Hashable | None:
        return self.write(value)

    def describe(self) -> str:
        return f"an expression with integers, parentheses and {' '.join(self.operators)}, such as {self._example}"

    @property
    def _example(self) -> str:
        return self.write(self.samples()[0])

    def samples(self) -> list[Value]:
        first, last = self.operators[0], self.operators[-1]
        inner = Record(op=first, args=[2, 3])
        whole: Any = Record(op=last, args=[inner, 4])
        return [whole, inner, 5]
