"""What is quicker than the plain way says the same as the plain way."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from math import prod
from operator import add, mul, sub

import pytest
import sympy
from dia_language import budgets
from dia_language.diagnostics import DiaError, LanguageError, Position
from dia_language.expressions import syntax
from dia_language.expressions.expressions import compile_expression
from dia_language.expressions.namespace import Namespace
from dia_language.functions import library
from dia_language.functions.analysis import definite_integral
from dia_language.functions.number_theory import factor
from dia_language.functions.ordering import ascending, compare, order
from dia_language.numbers import certified, operators
from dia_language.numbers.rounding import write_number
from dia_language.numbers.values import (
    Entry,
    ExactDecimal,
    Record,
    Value,
    has_finite_decimals,
    without_fives,
)
from hypothesis import given
from hypothesis import strategies as st


@dataclass(frozen=True)
class Text:
    text: str

    def place(self, offset: int) -> Position:
        return Position("x", 1, offset + 1)


def refuses(text: str) -> bool:
    try:
        syntax._check_brackets(Text(text))
    except DiaError:
        return True
    return False


@given(st.lists(st.sampled_from([2, 3, 1_048_573, 1_048_571, 65_537, 999_983]), min_size=1, max_size=9))
def test_factors_of_large_numbers_are_those_that_were_multiplied(primes: list[int]) -> None:
    number = prod(primes) * 1_048_583 * (2**89 - 1)
    assert factor(number) == [[p, n] for p, n in sorted(Counter([*primes, 1_048_583, 2**89 - 1]).items())]


def test_an_integral_that_is_known_costs_the_steps_of_one_that_is_not() -> None:
    x, spent = sympy.Symbol("x"), []
    certified._INTEGRALS.clear()
    for _ in range(2):
        budgets.reset(10_000)
        held = definite_integral(sympy.exp(-(x**2)), x, 0, 1)
        bounds = certified.interval(held, certified.SPARE_DIGITS)
        spent.append((budgets.left(), bounds))
    assert spent[0] == spent[1] and spent[0][0] < 10_000
    budgets.reset(20)
    with pytest.raises(LanguageError, match="steps"):
        certified.interval(held, certified.SPARE_DIGITS)
    budgets.reset()


def test_few_integrals_are_kept() -> None:
    x = sympy.Symbol("x")
    for end in range(1, 9):
        definite_integral(sympy.exp(-(x**2)), x, 0, end)
    assert len(certified._INTEGRALS) <= certified.CACHED_INTEGRALS


def value_of(text: str, made: Namespace) -> tuple[object, int]:
    budgets.reset(1000)
    compiled = compile_expression(syntax.parse(Text(text)), made, values=frozenset({"n"}))
    return compiled.call({"n": 2}), budgets.left()


def test_a_call_with_plain_arguments_is_made_once_and_costs_its_steps_each_time() -> None:
    made, calls = Namespace(), []

    def slow(scope: object, *given: object) -> object:
        calls.append(given)
        budgets.charge(100)
        return len(calls)

    made.add("slow", 1, slow, is_pure=True)
    made.add("loose", 1, slow)
    assert value_of("slow(5)", made) == value_of("slow(5)", made) == (1, 900)
    assert (
        value_of("slow('5')", made)[0] == 2 and value_of("slow(n)", made)[0] == 3 and value_of("slow(2)", made)[0] == 4
    )
    assert value_of("loose(5)", made)[0] == 5 and value_of("loose(5)", made)[0] == 6
    made.add("slow", 1, slow)
    assert value_of("slow(5)", made)[0] == 7


def test_a_call_that_fails_is_made_again() -> None:
    made, tries = Namespace(), []

    def failing(scope: object, *given: object) -> object:
        tries.append(given)
        raise LanguageError("no")

    made.add("f", 1, failing, is_pure=True)
    for _ in range(2):
        with pytest.raises(LanguageError):
            value_of("f(1)", made)
    assert len(tries) == 2


RATIONALS = st.one_of(st.integers(), st.fractions(), st.decimals(-99, 99, places=3).map(ExactDecimal))


@given(RATIONALS, RATIONALS)
def test_rational_numbers_are_ordered_as_fractions(a: Fraction | int, b: Fraction | int) -> None:
    found = [
        compare(a, b) for compare in (operators.less, operators.less_equal, operators.greater, operators.greater_equal)
    ]
    assert found == [Fraction(a) < b, Fraction(a) <= b, Fraction(a) > b, Fraction(a) >= b]


@given(
    st.lists(RATIONALS | st.integers(-3, 3) | st.sampled_from((Fraction(1, 2), ExactDecimal(1, 2), Fraction(-3, 4))))
)
def test_lists_of_rational_numbers_are_ordered_as_fractions(values: list[Fraction | int]) -> None:
    assert order(values) == sorted(range(len(values)), key=lambda place: Fraction(values[place]))


@given(st.lists(st.lists(st.integers(-2, 2), max_size=3)) | st.lists(st.lists(st.text("ab", max_size=2), max_size=3)))
def test_plain_lists_are_sorted_as_element_by_element(values: list[Value]) -> None:
    key = cmp_to_key(compare)
    assert ascending(values) == sorted(values, key=key)
    assert order(values) == sorted(range(len(values)), key=lambda place: key(values[place]))


def test_lists_of_mixed_elements_are_not_sorted() -> None:
    with pytest.raises(LanguageError):
        ascending([[1, "a"], [1, 2]])
    with pytest.raises(LanguageError):
        ascending([[True], [1]])


@given(RATIONALS, RATIONALS)
def test_decimals_are_computed_as_fractions_are(a: Fraction, b: Fraction) -> None:
    for quick, plainly in ((operators.add, add), (operators.subtract, sub), (operators.multiply, mul)):
        found, wanted = quick(a, b), Fraction(plainly(a, b))
        is_decimal = ExactDecimal in (type(a), type(b)) and has_finite_decimals(wanted)
        assert found == wanted
        assert type(found) is (int if wanted.denominator == 1 else ExactDecimal if is_decimal else Fraction)


EDGES = [2**53, -(2**53), 2**14_001, -(2**14_001), True, ExactDecimal(1, 2), "7"]


ITEMS = [1, True, Fraction(1, 2), ExactDecimal(1, 2), "1", b"1", None, [1], [True], sympy.sqrt(8), 2 * sympy.sqrt(2)]
LISTS = st.lists(st.sampled_from(ITEMS), max_size=3)


@given(LISTS, LISTS)
def test_lists_are_equal_at_once_as_one_by_one(a: list[Value], b: list[Value]) -> None:
    try:
        found = len(a) == len(b) and all(map(operators._equal_inside, a, b))
    except LanguageError:  # a text and a number
        with pytest.raises(LanguageError):
            operators.equal(a, b)
    else:
        assert operators.equal(a, b) == found


@given(st.integers(0, 3000), st.integers(1, 10**30))
def test_fives_are_counted_by_powers_as_one_by_one(fives: int, rest: int) -> None:
    while rest % 5 == 0:
        rest //= 5
    assert without_fives(5**fives * rest) == (fives, rest)


def test_many_decimals_take_no_time() -> None:
    value = Fraction(1, 10**99_999)
    assert has_finite_decimals(value) and not has_finite_decimals(value / 3)
    assert write_number(value) == "0." + "0" * 99_998 + "1"


@pytest.mark.parametrize(("name", "missing"), [("round_to", "places"), ("pad_left", "width")])
def test_what_is_missing_is_told_by_its_own_name(name: str, missing: str) -> None:
    with pytest.raises(TypeError, match=f"'{missing}'"):
        library()[name].call("7" if name == "pad_left" else 7)


ENTRIES = st.builds(
    Entry,
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.dictionaries(st.sampled_from("mn"), st.sampled_from([1, 2, True, "1"])).map(Record),
)


@given(ENTRIES, ENTRIES)
def test_entries_are_the_same_if_all_of_their_parts_are(one: Entry, other: Entry) -> None:
    parts = [(entry.catalog, entry.name, entry.values) for entry in (one, other)]
    assert (one == other) is (parts[0] == parts[1]) and one == copy.copy(one)
    assert (one != other) is (parts[0] != parts[1]) and one != parts[0]


def outcome(text: str, first: Value, second: Value, steps: int = 1000) -> tuple[object, int]:
    """What becomes of an expression of two lists, and the steps that are left."""
    budgets.reset(steps)
    compiled = compile_expression(syntax.parse(Text(text)), Namespace(), values=frozenset({"u", "v"}))
    try:
        return compiled.call({"u": first, "v": second}), budgets.left()
    except (LanguageError, ValueError) as error:
        return str(error), budgets.left()


DIGITS = st.lists(st.integers(0, 9), max_size=5) | st.just("ab")


@given(DIGITS, DIGITS, st.integers(0, 30))
def test_rows_that_loops_take_apart_are_those_that_others_get_as_lists(u: Value, v: Value, steps: int) -> None:
    for rows in ("zip(u, v)", "enumerate(u)", "enumerate(u, 7)", "enumerate(u, v)"):
        apart, whole = f"[[a, b] for a, b in {rows}]", f"[[row[0], row[1]] for row in {rows}]"
        (made, left), (same, other) = outcome(apart, u, v, steps), outcome(whole, u, v, steps)
        assert made == same
        assert left == other


def test_rows_of_another_width_are_refused_alike() -> None:
    for rows, row in (("zip(u)", "[u]"), ("zip(u, v, u)", "[[u[0], v[0], u[0]]]")):
        assert outcome(f"[a for a, b in {rows}]", [1], [2])[0] == outcome(f"[a for a, b in {row}]", [1], [2])[0]
