"""Formulas and arithmetic as text in four styles, and parsing text into trees.

Text from `written` is parsed back into the same tree if no operator has more than two operands and all numbers have
finite decimals (1/3 is parsed as a division). Brackets are written where precedence needs them and where a reader might
be unsure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.argument_types import Tree
from dia_language.functions.logic import DEPTH, STEPS, parts
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers import operators
from dia_language.numbers.radix import integer_of, integer_text
from dia_language.numbers.values import Record, decimal, decimal_text, has_finite_decimals, is_symbolic

# The sign of each operator in each style
STYLES: dict[str, dict[str, str]] = {
    "python": {
        "and": "and", "or": "or", "not": "not ", "xor": "!=", "implies": "<=", "iff": "==", "true": "True",
        "false": "False", "+": "+", "-": "-", "*": "*", "/": "/", "**": "**", "neg": "-",
    },
    "c": {
        "and": "&&", "or": "||", "not": "!", "xor": "!=", "implies": "<=", "iff": "==", "true": "1", "false": "0",
        "+": "+", "-": "-", "*": "*", "/": "/", "neg": "-",
    },
    "symbols": {
        "and": "∧", "or": "∨", "not": "¬", "xor": "⊕", "implies": "→", "iff": "↔", "true": "⊤", "false": "⊥",
        "+": "+", "-": "−", "*": "×", "/": "÷", "**": "^", "neg": "−",
    },
    "words": {
        "and": "and", "or": "or", "not": "not ", "xor": "xor", "implies": "implies", "iff": "if and only if",
        "true": "true", "false": "false", "+": "plus", "-": "minus", "*": "times", "/": "divided by",
        "**": "to the power of", "neg": "minus ",
    },
}  # fmt: skip

# Precedence of the operators that can be chained; others need brackets.
LEVELS = {"and": 5, "or": 3, "+": 3, "-": 3, "*": 4, "/": 4}
CHAINS = LEVELS.keys()
NEGATED, COMPARED, TIGHT = 5, 7, 8  # precedence of unary minus, of == != <=, of ! and ¬
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED = {"and", "or", "not", "xor", "implies", "iff", "if", "only", "true", "false", "True", "False",
            "plus", "minus", "times", "divided", "by", "to", "the", "power", "of"}  # fmt: skip


@lru_cache(maxsize=64)
def _is_name(text: str) -> bool:
    return NAME.fullmatch(text) is not None and text not in RESERVED


@library_function
def written(tree: Tree, style: str = "python") -> str:
    """The text of a formula or arithmetic tree, with brackets where needed.

    `style` is python, c, symbols or words. The styles python and c write xor, implies and iff as `!=`, `<=` and `==`.
    Raises an error for a power in C, which has no operator for it. `parse_logic` and `arithmetic` can read the result.

    Examples:
        written(parse_logic("a ∧ b ∨ ¬c")) -> "a and b or not c"
        written(parse_logic("a ∧ b ∨ ¬c"), "c") -> "a && b || !c"
        written(parse_logic("a and b or not c"), "symbols") -> "a ∧ b ∨ ¬c"
        written(arithmetic("2 * (x - 3 - -1)")) -> "2 * (x - 3 - (-1))"
    """
    if style not in STYLES:
        raise LanguageError("`style` must be python, c, symbols or words", did_you_mean(style, STYLES))
    return _Writer(style).text(tree, 0)[0]


@dataclass(frozen=True, slots=True)
class _Writer:
    style: str

    def text(self, tree: Tree, depth: int) -> tuple[str, str]:
        """The text and its outermost operator (empty for a name or an unsigned number)."""
        if type(tree) is str and depth <= DEPTH and _is_name(tree):
            charge(STEPS)
            return tree, ""
        operator, operands = parts(tree, depth)
        if operator is None:
            return self.leaf(tree)
        sign = STYLES[self.style].get(operator)
        if sign is None:
            raise LanguageError(f"C has no operator for `{operator}`", "use the style python, symbols or words")
        texts = [self.text(operand, depth + 1) for operand in operands]
        if operator in ("not", "neg"):
            inner, top = texts[0]
            return sign + (inner if self.fits_prefix(operator, top, operands[0]) else f"({inner})"), operator
        pieces = [
            inner if top == "" or self.fits(operator, top, at) else f"({inner})"
            for at, (inner, top) in enumerate(texts)
        ]
        text = f" {sign} ".join(pieces)
        charge(len(text) // 64)
        if len(text) > TEXT_LENGTH:
            raise LanguageError(f"the text would exceed {TEXT_LENGTH:,} characters", code="E502")
        return text, operator

    def fits_prefix(self, operator: str, inner: str, operand: Tree) -> bool:
        """Whether the operand of a prefix operator needs no brackets; `-3` is a number, `-(3)` its negation."""
        if operator == "not":
            return inner in ("", "not")
        return inner == "**" or (inner == "" and isinstance(operand, str))

    def fits(self, operator: str, inner: str, at: int) -> bool:
        """Whether the operand at this position, given its outermost operator, needs no brackets."""
        if inner == "not":
            return self.style != "python" or operator in ("and", "or")
        if inner == "neg":
            return at == 0 and operator != "**"
        if operator == "**":
            return inner == "**" and at == 1 and self.style != "words"
        if inner == "**":
            return self.style != "words"
        if operator not in CHAINS or inner not in CHAINS:
            return False
        if self.style == "words":
            return at == 0 and inner == operator
        return LEVELS[inner] > LEVELS[operator] or (at == 0 and LEVELS[inner] == LEVELS[operator])

    def leaf(self, leaf: Tree) -> tuple[str, str]:
        signs = STYLES[self.style]
        if isinstance(leaf, bool):
            return signs["true" if leaf else "false"], ""
        if isinstance(leaf, str):
            if not _is_name(leaf):
                raise LanguageError(
                    "the name of a variable must consist of letters, digits and underscores and must not be an operator"
                )
            return leaf, ""
        if is_symbolic(leaf):
            raise LanguageError("a symbolic number in a tree cannot be written", "use a variable instead")
        return self.number(leaf)

    def number(self, number: Fraction | int) -> tuple[str, str]:
        size = abs(Fraction(number))
        minus = STYLES[self.style]["neg"] if number < 0 else ""
        if has_finite_decimals(size):
            text = decimal_text(size) if size.denominator > 1 else integer_text(size.numerator)
            return minus + text, "neg" if minus else ""
        sign = STYLES[self.style]["/"]
        return f"{minus}{integer_text(size.numerator)} {sign} {integer_text(size.denominator)}", "/"


# Sign -> operator and precedence, for infix and for prefix operators
LOGIC_BETWEEN = {
    "or": ("or", 3), "||": ("or", 3), "∨": ("or", 3), "and": ("and", 5), "&&": ("and", 5), "∧": ("and", 5),
    "xor": ("xor", 4), "⊕": ("xor", 4), "implies": ("implies", 2), "→": ("implies", 2), "iff": ("iff", 1),
    "if and only if": ("iff", 1), "↔": ("iff", 1), "!=": ("xor", COMPARED), "<=": ("implies", COMPARED),
    "==": ("iff", COMPARED),
}  # fmt: skip
LOGIC_BEFORE = {"not": 6, "!": TIGHT, "¬": TIGHT}
TRUTHS = {"true": True, "True": True, "⊤": True, "1": True, "false": False, "False": False, "⊥": False, "0": False}
ARITHMETIC_BETWEEN = {
    "+": ("+", 3), "plus": ("+", 3), "-": ("-", 3), "−": ("-", 3), "minus": ("-", 3), "*": ("*", 4), "×": ("*", 4),
    "times": ("*", 4), "/": ("/", 4), "÷": ("/", 4), "divided by": ("/", 4), "**": ("**", 6), "^": ("**", 6),
    "to the power of": ("**", 6),
}  # fmt: skip
MINUS = {"-", "−", "minus"}
TOKEN = re.compile(
    r"\s*(if\s+and\s+only\s+if\b|divided\s+by\b|to\s+the\s+power\s+of\b|[A-Za-z][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?"
    r"|\*\*|&&|\|\||[!<=]=|[()!¬∧∨⊕→↔⊤⊥+\-−*×/÷^])"
)
DIGITS = 10_000
BRACKETS = 100


@library_function
def parse_logic(text: str) -> Tree:
    """The tree of the formula in `text`, in any style of `written`.

    `!` and `¬` bind most tightly, then `==`, `!=` and `<=` (iff, xor and implies in Python and C), then `not`, `and`,
    `xor`, `or`, `implies` and `iff`, in this order. Only `and` and `or` can be repeated without brackets: a and b and c
    is a formula, a → b → c is an error. Raises an error if the text is not a formula, for more than 100 nested
    brackets, and for more than 200 operators in a chain.

    Examples:
        parse_logic("a and not b") -> {op: "and", args: ["a", {op: "not", args: ["b"]}]}
        written(parse_logic("a ∧ (b ∨ ¬c)"), "python") -> "a and (b or not c)"
    """
    return _Reader(text, "formula").whole()


@library_function
def arithmetic(text: str) -> Tree:
    """The tree of the arithmetic expression in `text`: numbers, names, + - * / ** and brackets.

    Also reads × ÷ − ^ and the words that `written` uses. Powers associate to the right, all other operators to the
    left. A minus sign before a number is part of the number, but -2**2 is -(2**2). Raises an error for any other text,
    for more than 100 nested brackets, and for more than 200 operators in a chain.

    Examples:
        arithmetic("2 + 3 * x") -> {op: "+", args: [2, {op: "*", args: [3, "x"]}]}
    """
    return _Reader(text, "arithmetic").whole()


class _Reader:
    """A precedence-climbing parser: an operand, then all operators that bind as tightly as requested or tighter."""

    def __init__(self, text: str, what: str) -> None:
        charge(len(text) // 4)
        self.what, self.place = what, 0
        self.between = LOGIC_BETWEEN if what == "formula" else ARITHMETIC_BETWEEN
        self.tokens = self.cut(text)

    def cut(self, text: str) -> list[str]:
        """The tokens, followed by an empty text."""
        tokens = TOKEN.findall(text)
        joined = "".join(tokens).split()  # one piece, unless there are operators of several words
        if "".join(joined) != "".join(text.split()):  # some characters are not part of any token
            at = 0
            while token := TOKEN.match(text, at):
                at = token.end()
            raise self.fault(f"`{text[at:].strip()[:1]}` is not an operator or bracket")
        return [*(tokens if len(joined) == 1 else [" ".join(sign.split()) for sign in tokens]), ""]

    def fault(self, reason: str) -> LanguageError:
        return LanguageError(f"the text is not {'a formula' if self.what == 'formula' else self.what}: {reason}")

    @property
    def next(self) -> str:
        return self.tokens[self.place]

    def take(self) -> str:
        """The next token. Nothing reads past the final empty text, because no rule accepts it."""
        self.place += 1
        return self.tokens[self.place - 1]

    def whole(self) -> Tree:
        tree = self.expression(0, 0)
        if self.next:
            raise self.fault(f"`{self.next}` is unexpected after the end")
        return tree

    def expression(self, least: int, depth: int) -> Tree:
        if depth > BRACKETS:
            raise LanguageError(f"the text nests more than {BRACKETS} brackets", code="E502")
        tree, before, height = self.operand(least, depth), 0, 0
        between, tokens = self.between, self.tokens
        while (infix := between.get(tokens[self.place])) is not None and infix[1] >= least:
            operator, level = infix
            if level == before and operator not in CHAINS:
                raise self.fault(f"add brackets to show how `{self.next}` groups its operands")
            self.place += 1
            right = self.expression(level if operator == "**" else level + 1, depth + 1)
            tree, before, height = Record(op=operator, args=[tree, right]), level, height + 1
            if depth + height > DEPTH:
                raise LanguageError(f"the text chains more than {DEPTH} operators", code="E502")
        return tree

    def operand(self, least: int, depth: int) -> Tree:
        token = self.take()
        if token == "(":
            tree = self.expression(0, depth + 1)
            if self.take() != ")":
                raise self.fault("a bracket is not closed")
            return tree
        if self.what == "formula":
            return self.logical(token, least, depth)
        if token in MINUS:
            return self.negated(depth)
        return self.number(token) if token[:1].isdigit() else self.name(token)

    def logical(self, token: str, least: int, depth: int) -> Tree:
        if _is_name(token):
            return token
        level = LOGIC_BEFORE.get(token)
        if level is not None and level >= least:
            return Record(op="not", args=[self.expression(level, depth + 1)])
        return TRUTHS[token] if token in TRUTHS else self.name(token)

    def negated(self, depth: int) -> Tree:
        """A signed number, or the negation of what follows; powers bind more tightly."""
        following = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else ""
        if self.next[:1].isdigit() and self.between.get(following, ("", 0))[0] != "**":
            return operators.negate(self.number(self.take()))
        return Record(op="neg", args=[self.expression(NEGATED, depth + 1)])

    def number(self, token: str) -> Tree:
        whole, _, places = token.partition(".")
        if len(token) > DIGITS:
            raise LanguageError(f"a number exceeds {DIGITS:,} digits", code="E502")
        return decimal(Fraction(integer_of(whole + places), 10 ** len(places)))

    def name(self, token: str) -> Tree:
        if not _is_name(token):
            raise self.fault(f"`{token}` appears where a value is expected" if token else "it ends too early")
        return token
