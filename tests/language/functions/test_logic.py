"""Trees against Python's own operators and sympy's logic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy.logic.boolalg as known
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.numbers.values import Record
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Symbol
from sympy.logic.inference import satisfiable, valid

NAMES = ["a", "b", "c"]


def tree(operator: str, *operands: Any) -> Record:
    return Record(op=operator, args=list(operands))


def joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.builds(tree, st.sampled_from(["and", "or", "xor", "implies", "iff"]), inner, inner)
    return (
        pairs
        | st.builds(tree, st.just("not"), inner)
        | st.builds(tree, st.sampled_from(["and", "or"]), inner, inner, inner)
    )


FORMULAS = st.recursive(st.sampled_from([*NAMES, True, False]), joined, max_leaves=8)


def in_sympy(formula: Any) -> Any:
    if not isinstance(formula, Record):
        return Symbol(formula) if isinstance(formula, str) else known.true if formula else known.false
    names = {
        "and": known.And,
        "or": known.Or,
        "not": known.Not,
        "xor": known.Xor,
        "implies": known.Implies,
        "iff": known.Equivalent,
    }
    return names[formula["op"]](*map(in_sympy, formula["args"]))


@settings(deadline=None)
@given(FORMULAS)
def test_formulas_have_the_values_that_sympy_gives(formula: Any) -> None:
    held = in_sympy(formula)
    rows = [dict(zip(NAMES, bits, strict=True)) for bits in product([False, True], repeat=3)]
    wanted = [bool(held.subs(row)) for row in rows]
    assert call("truth_table", formula, NAMES) == wanted
    assert [call("evaluate", formula, Record(row)) for row in rows] == wanted
    assert call("is_satisfiable", formula) is bool(satisfiable(held))
    assert call("is_tautology", formula) is bool(valid(held))
    assert call("equivalent", formula, tree("not", formula)) is False
    assert call("equivalent", formula, tree("and", formula, tree("or", "d", tree("not", "d")))) is True


def test_the_first_name_is_the_most_significant_digit() -> None:
    assert [call("truth_table", name, NAMES) for name in NAMES] == [
        [bool(row & weight) for row in range(8)] for weight in (4, 2, 1)
    ]
    assert call("truth_table", True, []) == [True]


def arithmetic(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.builds(tree, st.sampled_from(["+", "-", "*"]), inner, inner)
    quotients = st.builds(lambda a, n: tree("/", a, n), inner, st.integers(1, 9))
    return pairs | quotients | st.builds(tree, st.just("neg"), inner) | st.builds(lambda a: tree("**", a, 2), inner)


SUMS = st.recursive(st.integers(-9, 9) | st.sampled_from(["x", "y"]), arithmetic, max_leaves=8)


def with_fractions(held: Any, values: dict[str, Fraction]) -> Fraction:
    if not isinstance(held, Record):
        return values[held] if isinstance(held, str) else Fraction(held)
    operands = [with_fractions(operand, values) for operand in held["args"]]
    if held["op"] == "neg":
        return -operands[0]
    a, b = operands
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1), "**": a**2}[held["op"]]


@settings(deadline=None)
@given(SUMS, st.fractions(-5, 5, max_denominator=4), st.fractions(-5, 5, max_denominator=4))
def test_arithmetic_has_the_value_that_fractions_give(held: Any, x: Fraction, y: Fraction) -> None:
    assert call("evaluate", held, Record(x=x, y=y)) == with_fractions(held, {"x": x, "y": y})


def test_variables_and_numbers_are_found_from_left_to_right() -> None:
    held = tree("-", tree("*", "y", 3), tree("/", tree("neg", 3), tree("+", "x", tree("*", "y", -4))))
    assert call("variables_of", held) == ["y", "x"]
    assert call("numbers_in", held) == [3, 3, 4]
    assert call("variables_of", tree("and", True, "q")) == ["q"]
    assert call("numbers_in", Fraction(-1, 2)) == [Fraction(1, 2)]


def test_what_is_no_tree_is_refused() -> None:
    values = Record(x=2, p=True)
    wrong = [tree("nand", "p", "p"), tree("and", "p"), tree("not", "p", "p"), tree("+", "x", "p"), tree("and", "x", "p"),
             tree("neg", "p"), "z", tree("and", "p", [1]), Record(op="and", args="pp"), tree("xor", "p", "p", "p")]  # fmt: skip
    for held in wrong:
        assert code("evaluate", held, values) == "E501"
    assert code("evaluate", tree("/", 1, tree("-", "x", 2)), values) == "E504"
    assert code("truth_table", tree("+", 1, 2), []) == code("truth_table", "q", ["p"]) == "E501"
    assert code("truth_table", "p", ["p", "p"]) == code("is_tautology", 3) == "E501"
    with pytest.raises(LanguageError, match="`evaluate` needs a tree"):
        call("evaluate", Record(x=1), values)


def test_hostile_trees_are_refused_early() -> None:
    deep: Any = "p"
    for _ in range(300):
        deep = tree("not", deep)
    wide: Any = "p"
    for _ in range(60):  # 2**60 leaves, of sixty records
        wide = tree("and", wide, wide)
    for name, *others in (
        ["is_tautology"],
        ["variables_of"],
        ["numbers_in"],
        ["written"],
        ["evaluate", Record(p=True)],
    ):
        assert code(name, deep, *others) == "E502"
        reset(100_000)
        with pytest.raises(LanguageError, match="more than 100,000 steps"):
            library()[name].call(wide, *others)
    many = [f"p{number}" for number in range(21)]
    assert code("truth_table", "p0", many[:17]) == code("is_satisfiable", tree("or", *many)) == "E502"
    assert call("is_tautology", tree("or", *many[:20])) is False
    power = tree("**", tree("**", 9, tree("**", 9, 9)), 9)
    assert code("evaluate", power, Record()) == "E502"
