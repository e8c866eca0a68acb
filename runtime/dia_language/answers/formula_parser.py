"""A parser for formulas in text, with one small grammar. A builder decides what they become; nothing runs as code.

    sum     = ["+" | "-"] product {("+" | "-") product}
    product = factor {("*" | "/") factor}                 lenient: 2x, 3 sqrt(2), (x + 1)(x - 1); never after a "/"
    factor  = ["-" | "+"] factor | power
    power   = atom [("**" | "^") factor]
    atom    = number | name | name "(" sum {"," sum} ")" | "(" sum ")"

Square brackets are as good as round ones. Lenient adds the signs of typesetters and of LaTeX: × · ÷ − π √, and
backslash with frac, sqrt, cdot, times, div, left, right, pi and the names of functions, braces as brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Protocol

from dia_language.answers.base import LENIENT, Mode, Unreadable

LENGTH: Final = 100_000
TOKENS: Final = 20_000
DEPTH: Final = 60
TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)|([A-Za-z][A-Za-z0-9_]*)|(\*\*|[-+*/^()\[\],{}])|\\([A-Za-z]+))"
)
SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "π": " pi ", "√": " sqrt "})
COMMANDS = {"cdot": "*", "times": "*", "div": "/", "left": "", "right": "", "dfrac": "frac", "tfrac": "frac"}
CLOSING = {"(": ")", "[": "]", "{": "}"}
BEGINNINGS = frozenset("([{")


class Builder(Protocol):
    """Turns the parts of a formula into values; each method may raise Unreadable."""

    def number(self, digits: str) -> Any:
        """Return a number in digits, with or without a decimal point."""

    def name(self, name: str) -> Any:
        """Return a variable or a constant."""

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Return a function call."""

    def binary(self, operator: str, left: Any, right: Any) -> Any:
        """Return a sum, difference, product, quotient or power: + - * / **."""

    def negative(self, value: Any) -> Any:
        """Return a negated value."""


class _Token(NamedTuple):
    kind: str
    text: str


def parse_formula(text: str, builder: Builder, mode: Mode) -> Any:
    """The builder's value for the formula. Raises Unreadable for a text that is not a formula, too long or too deep."""
    if len(text) > LENGTH:
        raise Unreadable("a formula that is too long")
    if mode in LENIENT:
        text = text.strip().strip("$").translate(SIGNS)
    parser = _Parser(list(_tokens(text, mode)), builder, mode)
    formula = parser.sum()
    if parser.peek().kind != "end":
        raise Unreadable("text after the formula")
    return formula


def _tokens(text: str, mode: Mode) -> Iterator[_Token]:
    place, count, text = 0, 0, text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None or (mode not in LENIENT and (match[4] or match[3] in ("{", "}"))) or count > TOKENS:
            raise Unreadable("not a formula")
        place, count = match.end(), count + 1
        if match[4]:
            command = COMMANDS.get(match[4], match[4])
            if command:
                yield _Token("sign" if not command.isalpha() else "command" if command == "frac" else "name", command)
        else:
            yield _Token("number" if match[1] else "name" if match[2] else "sign", match[match.lastindex or 0])
    yield _Token("end", "")


class _Parser:
    """One pass over the tokens."""

    def __init__(self, tokens: list[_Token], builder: Builder, mode: Mode) -> None:
        self.tokens, self.builder, self.is_lenient = tokens, builder, mode in LENIENT
        self.place = self.depth = 0

    def peek(self) -> _Token:
        """Return the next token."""
        return self.tokens[self.place]

    def take(self, *signs: str) -> str | None:
        """Return the next token, if it is one of these."""
        token = self.peek()
        if token.kind != "sign" or token.text not in signs:
            return None
        self.place += 1
        return token.text

    def sum(self) -> Any:
        """Return a sum; counts its depth."""
        self.depth += 1
        if self.depth > DEPTH:
            raise Unreadable("a formula that nests too deep")
        result = self.product()
        while sign := self.take("+", "-"):
            result = self.builder.binary(sign, result, self.product())
        self.depth -= 1
        return result

    def product(self) -> Any:
        result, is_quotient = self.factor(), False
        while True:
            sign = self.take("*", "/")
            if sign is None and not self._is_factor_next():
                return result
            if sign is None and (is_quotient or not self.is_lenient):
                raise Unreadable("a product without its sign")
            is_quotient = sign == "/"
            result = self.builder.binary(sign or "*", result, self.factor())

    def _is_factor_next(self) -> bool:
        token = self.peek()
        return token.kind in ("number", "name", "command") or (token.kind == "sign" and token.text in BEGINNINGS)

    def factor(self) -> Any:
        """Return a power, with prefix signs."""
        is_negative = False
        while sign := self.take("+", "-"):
            is_negative ^= sign == "-"
        result = self.power()
        return self.builder.negative(result) if is_negative else result

    def power(self) -> Any:
        """Return an atom, optionally with an exponent; powers associate to the right."""
        base = self.atom()
        if not self.take("**", "^"):
            return base
        self.depth += 1
        if self.depth > DEPTH:
            raise Unreadable("a formula that nests too deep")
        exponent = self.factor()
        self.depth -= 1
        return self.builder.binary("**", base, exponent)

    def atom(self) -> Any:
        """Return a number, a name, a call, or a formula in brackets."""
        token = self.peek()
        self.place += 1
        if token.kind == "number":
            return self.builder.number(token.text)
        if token.kind == "command":
            return self.builder.binary("/", self.group(), self.group())
        if token.kind == "name":
            return self._named(token.text)
        if token.text in BEGINNINGS and token.kind == "sign":
            result = self.sum()
            self._close(token.text)
            return result
        raise Unreadable("not a formula")

    def _named(self, name: str) -> Any:
        opened = self.take("(", "{")
        if not opened:
            is_root = name == "sqrt" and self.is_lenient and self.peek().kind in ("number", "name")
            return self.builder.call(name, [self.atom()]) if is_root else self.builder.name(name)
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self._close(opened)
        return self.builder.call(name, arguments)

    def group(self) -> Any:
        """Return a formula in braces."""
        if not self.take("{"):
            raise Unreadable("missing braces")
        result = self.sum()
        self._close("{")
        return result

    def _close(self, opened: str) -> None:
        if not self.take(CLOSING[opened]):
            raise Unreadable("brackets that do not match")
