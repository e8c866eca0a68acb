"""Sums of monomials as sympy expressions, built directly in sympy's own normal form.

`sympy.Add` and `sympy.Mul` would find that form by checking the properties of each coefficient, which takes over ten
times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from dia_language.numbers.values import Value, normal


def sum_of_monomials(monomials: Iterable[tuple[Fraction | int, Sequence[tuple[Any, int]]]]) -> Value:
    """Return the sum of monomials: each is a coefficient and the powers of different symbols; no powers occur twice."""
    import sympy

    in_order = cmp_to_key(sympy.Basic.compare)
    constants: list[Any] = []
    terms: list[Any] = []
    for coefficient, powers in monomials:
        factors = sorted((symbol**power for symbol, power in powers if power), key=in_order)
        if coefficient and not factors:
            constants.append(sympy.Rational(coefficient.numerator, coefficient.denominator))
        elif coefficient:
            number = [sympy.Rational(coefficient.numerator, coefficient.denominator)] if coefficient != 1 else []
            terms.append(sympy.Mul._from_args([*number, *factors], True))
    terms.sort(key=in_order)
    total = sympy.Add._from_args([*constants, *terms], True)
    return total if terms else normal(total)  # an expression with symbols is in normal form
