"""Rounding against Python's decimal module and against other computations of the same digits."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from dia_language.diagnostics import LanguageError
from dia_language.numbers.rounding import round_exact, rounding_rule, write_number
from dia_language.numbers.values import ExactDecimal
from hypothesis import example, given, settings
from hypothesis import strategies as st

TIES = {"half_even": ROUND_HALF_EVEN, "half_up": ROUND_HALF_UP, "down": ROUND_DOWN}
WIDE = Context(prec=400)
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)
places = st.integers(-8, 8)


@settings(deadline=None)
@given(decimals, places, st.sampled_from(sorted(TIES)))
@example(Decimal("0.5"), 0, "half_even")
@example(Decimal("1.5"), 0, "half_even")
@example(Decimal("-2.5"), 0, "half_up")
@example(Decimal("-0.4"), 0, "down")
@example(Decimal("250"), -2, "half_even")
@example(Decimal("0.175"), 2, "half_even")
def test_decimals_are_rounded_as_python_rounds_them(value: Decimal, places: int, ties: str) -> None:
    expected = value.quantize(Decimal(1).scaleb(-places), rounding=TIES[ties], context=WIDE)
    for exact in (Fraction(value), ExactDecimal(Fraction(value))):
        assert round_exact(exact, places, ties) == Fraction(expected)


@settings(deadline=None)
@given(st.integers(-(10**30), 10**30), st.integers(1, 10**9), st.integers(0, 12), st.sampled_from(sorted(TIES)))
def test_quotients_are_rounded_as_python_rounds_them(top: int, bottom: int, places: int, ties: str) -> None:
    # A quotient of 90 digits and one sticky digit more rounds as the endless one does.
    quotient = Context(prec=90, rounding=ROUND_DOWN).divide(Decimal(top), Decimal(bottom))
    exact = Fraction(top, bottom)
    if Fraction(quotient) != exact:
        quotient = Decimal(f"{quotient:f}" + ("1" if "." in f"{quotient:f}" else ".1"))
    expected = quotient.quantize(Decimal(1).scaleb(-places), rounding=TIES[ties], context=WIDE)
    assert round_exact(exact, places, ties) == Fraction(expected)


@settings(deadline=None)
@given(decimals, places)
def test_a_rounded_number_is_settled_and_near(value: Decimal, places: int) -> None:
    exact = Fraction(value)
    for ties in TIES:
        rounded = round_exact(exact, places, ties)
        assert type(rounded) in (int, ExactDecimal)
        assert round_exact(rounded, places, ties) == rounded
        step = Fraction(10) ** -places
        assert abs(rounded - exact) <= (step / 2 if ties != "down" else step)
        assert round_exact(-exact, places, ties) == -rounded


def pi_digits(places: int) -> int:
    """Pi times 10**places, cut off, by Machin's formula in integers."""
    unit = 10 ** (places + 10)

    def arctan_of_one_over(x: int) -> int:
        term: int = unit // x
        total = term
        for n in range(3, 10_000, 2):
            term //= -x * x
            total += term // n
            if abs(term) <= 1:
                break
        return total

    return 4 * (4 * arctan_of_one_over(5) - arctan_of_one_over(239)) // 10**10


@pytest.mark.parametrize("radius", [1, 7, 100, 355, 9089, 9999])
@pytest.mark.parametrize("places", [0, 1, 4, 10, 60])
def test_areas_of_circles_have_the_digits_that_others_compute(radius: int, places: int) -> None:
    import mpmath
    import sympy

    area = sympy.pi * radius**2
    with mpmath.workdps(120):
        near = Decimal(mpmath.nstr(mpmath.pi * radius**2, 110))
    for ties, python in TIES.items():
        expected = near.quantize(Decimal(1).scaleb(-places), rounding=python, context=WIDE)
        assert round_exact(area, places, ties) == Fraction(expected)
    machin = pi_digits(places + 20) * radius**2 // 10**20
    assert round_exact(area, places, "down") == Fraction(machin, 10**places)


@settings(deadline=None)
@given(st.integers(0, 10**40), st.integers(0, 30))
def test_square_roots_have_the_digits_of_the_integer_root(number: int, places: int) -> None:
    import sympy

    expected = Fraction(math.isqrt(number * 100**places), 10**places)
    assert round_exact(sympy.sqrt(number), places, "down") == expected
    assert round_exact(-sympy.sqrt(number), places, "down") == -expected


def test_the_doubles_that_went_wrong_are_right_here() -> None:
    import sympy

    assert str(round_exact(Fraction(175, 1000), 2)) == "0.18"
    assert str(round_exact(Fraction(-625, 1000), 2)) == "-0.62"
    assert str(round_exact(Fraction(-625, 1000), 2, "half_up")) == "-0.63"
    # Numbers that no double can hold
    assert round_exact(Fraction(2 * 10**40 + 1, 2), 0) == 10**40
    assert round_exact(sympy.Rational(2 * 10**40 + 3, 2), 0) == 10**40 + 2


def symbolic_cases() -> list[tuple[Any, int, str, str]]:
    from sympy import Rational, cos, exp, log, pi, sqrt, symbols, tan

    nothing = sqrt(2) + sqrt(3) - sqrt(5 + 2 * sqrt(6))  # exactly 0, though it does not look so
    half = cos(pi / 7) - cos(2 * pi / 7) + cos(3 * pi / 7)  # exactly 1/2
    assert symbols("x")
    return [
        (nothing, 5, "half_even", "0"),
        (nothing + Rational(5, 2), 0, "half_even", "2"),
        (nothing + Rational(5, 2), 0, "half_up", "3"),
        (nothing + Rational(5, 2), 0, "down", "2"),
        (nothing + 2, 0, "down", "2"),
        (nothing - 2, 0, "down", "-2"),
        (pi * nothing + Rational(7, 2), 0, "half_even", "4"),
        (pi * nothing + sqrt(2), 10, "half_even", "1.4142135624"),
        (half, 0, "half_even", "0"),
        (half, 0, "half_up", "1"),
        (-half, 0, "half_up", "-1"),
        (exp(pi * sqrt(163)), 11, "half_even", "262537412640768744"),
        (exp(pi * sqrt(163)), 12, "down", "262537412640768743.999999999999"),
        (exp(-exp(10)), 3, "half_up", "0"),
        (Rational(1, 2) + pi / 10**500, 0, "half_even", "1"),
        (Rational(1, 2) - pi / 10**500, 0, "half_up", "0"),
        (pi * 10**6, -4, "half_even", "3140000"),
        (tan(pi / 4), 3, "half_even", "1"),
        (log(2), 20, "half_even", "0.69314718055994530942"),
    ]


@pytest.mark.parametrize("case", range(19))
def test_symbolic_numbers_are_decided_exactly(case: int) -> None:
    value, places, ties, expected = symbolic_cases()[case]
    assert str(round_exact(value, places, ties)) == expected


def test_all_symbolic_cases_run() -> None:
    assert len(symbolic_cases()) == 19


def test_a_tie_that_cannot_be_decided_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import sympy
    from dia_language.numbers import rounding

    monkeypatch.setattr(rounding, "equals", lambda *_: None)
    hidden = sympy.sqrt(2) + sympy.sqrt(3) - sympy.sqrt(5 + 2 * sympy.sqrt(6))
    with pytest.raises(LanguageError, match=r"the tie cannot be decided: the value is too close to 2\.5"):
        round_exact(hidden + sympy.Rational(5, 2), 0)
    assert round_exact(sympy.Rational(1, 2) + sympy.pi / 10**300, 0) == 1  # more digits decide it after all


def test_a_number_is_real_only_if_its_imaginary_part_is_shown_to_be_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sympy
    from dia_language.numbers import certified

    third = sympy.Rational(1, 3)
    turned = (sympy.Rational(-1, 2) + sympy.sqrt(3) * sympy.I / 2) ** third
    both = turned + (sympy.Rational(-1, 2) - sympy.sqrt(3) * sympy.I / 2) ** third  # real, though it does not look so
    assert both.is_real is None
    assert round_exact(both, 30) == round_exact(2 * sympy.cos(2 * sympy.pi / 9), 30)
    with pytest.raises(LanguageError, match="complex") as found:
        round_exact(both + sympy.I / 10**200, 3)
    assert found.value.code == "E504"
    monkeypatch.setattr(certified, "equals", lambda *_: None)
    with pytest.raises(LanguageError, match="cannot be proven to be real"):
        round_exact(both, 3)


def test_what_is_no_finite_real_number_is_refused() -> None:
    from sympy import I, Symbol, exp, log, oo, sqrt, zoo

    for value in (oo, zoo, sqrt(-2), I * sqrt(3), log(-1), 1 + I):
        with pytest.raises(LanguageError) as found:
            round_exact(value, 2)
        assert found.value.code == "E504"
    with pytest.raises(LanguageError, match="unknown `x`"):
        round_exact(Symbol("x") + 1, 2)
    with pytest.raises(LanguageError, match="more than 100,000 digits"):
        round_exact(exp(exp(25)), 2)


def test_what_is_not_exact_is_refused() -> None:
    from sympy import Float, Integral, Matrix, Symbol, pi

    x = Symbol("x")
    for value in (0.5, Float("0.5") * pi, True, "1", None, [1], Matrix([[1]]), Integral(x**x, (x, 0, 1))):
        with pytest.raises(LanguageError):
            round_exact(value, 2)
    wrongs: list[dict[str, Any]] = [{"places": 2.0}, {"places": True}, {"places": 10**6}, {"places": 2, "ties": "up"}]
    for wrong in wrongs:
        with pytest.raises(LanguageError):
            round_exact(1, **wrong)


@settings(deadline=None)
@given(decimals, st.integers(0, 8), st.sampled_from(["", ",", " ", "_", "'"]))
@example(Decimal("-0"), 2, "")
@example(Decimal("1000"), 0, ",")
@example(Decimal("-1234567.5"), 3, ",")
def test_numbers_are_written_as_python_writes_them(value: Decimal, places: int, thousands: str) -> None:
    value = value.quantize(Decimal(1).scaleb(-places), context=WIDE) + 0
    kept = f"{value:,.{places}f}".replace("-0", "-0" if value else "0").replace(",", thousands)
    stripped = kept.rstrip("0").rstrip(".") if places else kept
    assert write_number(Fraction(value), places, "keep", thousands) == kept
    assert write_number(Fraction(value), places, "strip", thousands) == stripped
    assert write_number(Fraction(value), None, "strip", thousands) == stripped
    assert Fraction(stripped.replace(thousands, "")) == value


def test_zero_has_no_sign() -> None:
    assert write_number(Fraction(0), 2, "keep") == "0.00"
    assert write_number(round_exact(Fraction(-1, 1000), 2), 2, "keep") == "0.00"
    assert write_number(0, None, "strip", ",") == "0"
    assert write_number(Fraction(-1, 8)) == "-0.125"


def test_numbers_of_any_size_are_written() -> None:
    assert write_number(10**5000, None, "strip") == "1" + "0" * 5000
    assert write_number(Fraction(1, 2**5000)).startswith("0.000")
    assert write_number(-(10**4000), None, "keep", ",").startswith("-10,000,000")


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(LanguageError, match="no finite decimal form"):
        write_number(Fraction(1, 3))
    with pytest.raises(LanguageError, match="3 decimal places, more than 2"):
        write_number(Fraction(1, 8), 2)
    with pytest.raises(LanguageError, match="1 decimal place, more than 0"):
        write_number(Fraction(1, 2), -1)
    with pytest.raises(LanguageError):
        write_number(1, 2, "some")
    with pytest.raises(LanguageError):
        write_number(1, 2, "keep", ".")
    with pytest.raises(LanguageError):
        write_number("1")


RULES = {
    (2, "half_even", "strip", ""): (
        "Round to 2 decimal places; a value exactly halfway between two candidates goes to the one whose last digit"
        " is even. Leave out trailing zeros after the decimal point, and the point itself if no digits follow it."
    ),
    (1, "half_up", "keep", ","): (
        "Round to 1 decimal place; a value exactly halfway between two candidates goes to the one farther from zero."
        " Write exactly that many decimal places, with zeros at the end where needed, and put a comma between groups"
        " of three digits of the whole part."
    ),
    (3, "down", "strip", ""): (
        "Round towards zero to 3 decimal places: cut off all digits after that."
        " Leave out trailing zeros after the decimal point, and the point itself if no digits follow it."
    ),
    (0, "half_even", "keep", ""): (
        "Round to a whole number; a value exactly halfway between two candidates goes to the even one."
    ),
    (0, "half_up", "strip", "'"): (
        "Round to a whole number; a value exactly halfway between two candidates goes to the one farther from zero."
        " Put an apostrophe between groups of three digits of the whole part."
    ),
    (0, "down", "strip", ""): "Round towards zero to a whole number: cut off all digits after the decimal point.",
    (-2, "half_even", "strip", ""): (
        "Round to a multiple of 100; a value exactly halfway between two candidates goes to the one that is an even"
        " multiple of 100."
    ),
    (-9, "down", "strip", ""): "Round towards zero to a multiple of 10^9: cut off what is left over.",
}


@pytest.mark.parametrize("key", RULES)
def test_rules_are_told_in_these_words(key: tuple[int, str, str, str]) -> None:
    names = ("places", "ties", "zeros", "thousands")
    assert rounding_rule(dict(zip(names, key, strict=True))) == RULES[key]


def test_a_rule_without_zeros_leaves_them_out() -> None:
    assert rounding_rule({"places": 2, "ties": "half_even"}) == RULES[(2, "half_even", "strip", "")]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.fractions(-100, 100, max_denominator=50), st.integers(0, 60)), min_size=1, max_size=4),
    st.integers(1, 60),
)
def test_proven_bounds_hold_the_number(parts: list[tuple[Fraction, int]], digits: int) -> None:
    import sympy
    from dia_language.numbers.certified import interval
    from mpmath import mp, mpf

    value = sum((sympy.Rational(c.numerator, c.denominator) * sympy.sqrt(r) for c, r in parts), sympy.pi)
    found = interval(value, digits)
    assert found is not None
    low, high = found
    mp.dps = 120
    number = mp.pi + sum(mpf(c.numerator) / c.denominator * mp.sqrt(r) for c, r in parts)
    assert mpf(low.numerator) / low.denominator <= number + mpf(10) ** -100
    assert number - mpf(10) ** -100 <= mpf(high.numerator) / high.denominator
    assert high - low < Fraction(10) ** (6 - digits)


RATIONALS = st.fractions(-(10**6), 10**6, max_denominator=1000)


@settings(deadline=None)
@given(RATIONALS, RATIONALS, st.integers(0, 10**9), st.integers(1, 60))
def test_simple_numbers_lie_in_their_bounds(offset: Fraction, factor: Fraction, root: int, digits: int) -> None:
    import sympy
    from dia_language.numbers.certified import interval

    kernel = sympy.sqrt(root) if root else sympy.pi
    value = sympy.Rational(offset.numerator, offset.denominator) + kernel * sympy.Rational(
        factor.numerator, factor.denominator
    )
    bounds = interval(value, digits)
    assert bounds is not None
    low, high = bounds
    assert high - low <= (abs(offset) + abs(factor) * max(4, root) + 1) * Fraction(10) ** -digits
    if root:  # low <= offset + factor * sqrt(root) <= high, by squares
        least, most = low - offset, high - offset
        assert least * abs(least) <= factor * abs(factor) * root <= most * abs(most)
