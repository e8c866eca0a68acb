"""Quotients of polynomials in atoms, each of which may obey one relation: the arithmetic of normal_form.py."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

WORK, TERMS, FINEST, BITS = 200_000, 1_500, 48, 20_000
ONE = Fraction(1)

Monomial: TypeAlias = tuple[tuple[int, int], ...]  # atoms and their exponents, in ascending order of atoms
Terms: TypeAlias = dict[Monomial, Fraction]


class TooMuch(Exception):
    """An expression whose normal form would take too long, or that has none."""


class Finer(Exception):
    """A smaller fraction of an angle turned out to be needed: the work starts again with it."""


class Ratio(NamedTuple):
    """A quotient of polynomials in atoms."""

    top: Terms
    bottom: Terms


class Atom(NamedTuple):
    """A kind, its argument, and the number by which its exponents are divided."""

    kind: str
    of: Ratio
    parts: int


UNIT: Terms = {(): ONE}


class Field:
    """The atoms of one attempt at a normal form.

    `finest` has the number of parts into which each atom is divided.
    """

    def __init__(self, finest: dict[int, int]) -> None:
        self.finest, self.work = finest, 0
        self.atoms: list[Atom] = []
        self.names: dict[str, int] = {}

    # polynomials

    def times(self, left: Terms, right: Terms) -> Terms:
        """Return the product of two polynomials; powers of atoms that relations replace are reduced later."""
        self.work += len(left) * len(right)
        if self.work > WORK:
            raise TooMuch
        terms: Terms = {}
        for one, factor in left.items():
            for other, by in right.items():
                both = _joined(one, other)
                terms[both] = terms.get(both, Fraction(0)) + factor * by
        return self.bounded({one: factor for one, factor in terms.items() if factor})

    def plus(self, left: Terms, right: Terms) -> Terms:
        """Return the sum of two polynomials."""
        terms = dict(left)
        for one, factor in right.items():
            total = terms.pop(one, Fraction(0)) + factor
            if total:
                terms[one] = total
        return self.bounded(terms)

    def bounded(self, terms: Terms) -> Terms:
        """Return the polynomial itself. Raises TooMuch if it, or the work so far, is too large."""
        if self.work > WORK or len(terms) > TERMS:
            raise TooMuch
        parts = (part for value in terms.values() for part in (value.numerator, value.denominator))
        if any(part.bit_length() > BITS for part in parts):
            raise TooMuch
        return terms

    # quotients

    def reduced_ratio(self, top: Terms, bottom: Terms) -> Ratio:
        """Return the quotient with every relation used."""
        top, below = self.reduced(top)
        bottom, above = self.reduced(bottom)
        if not bottom:
            raise TooMuch
        if not top:
            return Ratio({}, UNIT)
        if top == bottom:
            return Ratio(UNIT, UNIT)
        top = top if above == UNIT else self.reduced(self.times(top, above))[0]
        bottom = bottom if below == UNIT else self.reduced(self.times(bottom, below))[0]
        if len(bottom) == 1 and (only := bottom.get(())) is not None:
            return Ratio({one: factor / only for one, factor in top.items()}, UNIT)
        return Ratio(top, bottom)

    def reduced(self, terms: Terms) -> tuple[Terms, Terms]:
        """Return the polynomial with every relation used, and the factor by which it has been multiplied for that."""
        by: Terms = UNIT
        for place in range(len(self.atoms) - 1, -1, -1):
            while (relation := self.relation(place)) is not None:
                order, value = relation
                if not any(_exponent(one, place) >= order for one in terms):
                    break
                parts: dict[int, Terms] = {}
                for one, factor in terms.items():
                    whole, rest = divmod(_exponent(one, place), order)
                    parts.setdefault(whole, {})[_replaced(one, place, rest)] = factor
                most = max(parts)
                terms = {}
                for whole, part in parts.items():
                    product = self.times(part, self.power(value.top, whole))
                    terms = self.plus(terms, self.times(product, self.power(value.bottom, most - whole)))
                by = self.times(by, self.power(value.bottom, most))
        return terms, by

    def relation(self, place: int) -> tuple[int, Ratio] | None:
        """Return the power of the atom that equals something else, and what it equals."""
        atom = self.atoms[place]
        if atom.kind == "root":
            return atom.parts, atom.of
        if atom.kind == "sin":  # its cosine is the atom before it
            return 2, Ratio({(): ONE, ((place - 1, 2),): -ONE}, UNIT)
        return None

    def power(self, terms: Terms, exponent: int) -> Terms:
        """Return an integer power of a polynomial."""
        if exponent > 200:
            raise TooMuch
        result = UNIT
        for _ in range(exponent):
            result = self.times(result, terms)
        return result

    def add(self, left: Ratio, right: Ratio) -> Ratio:
        """Return the sum of two quotients."""
        if left.bottom == right.bottom:
            return self.reduced_ratio(self.plus(left.top, right.top), left.bottom)
        top = self.plus(self.times(left.top, right.bottom), self.times(right.top, left.bottom))
        return self.reduced_ratio(top, self.times(left.bottom, right.bottom))

    def multiply(self, left: Ratio, right: Ratio) -> Ratio:
        """Return the product of two quotients."""
        return self.reduced_ratio(self.times(left.top, right.top), self.times(left.bottom, right.bottom))

    def raise_(self, base: Ratio, exponent: int) -> Ratio:
        """Return an integer power of a quotient."""
        if exponent < 0:
            if not base.top:
                raise TooMuch
            base, exponent = Ratio(base.bottom, base.top), -exponent
        return self.reduced_ratio(self.power(base.top, exponent), self.power(base.bottom, exponent))

    # atoms

    def atom(self, kind: str, of: Ratio, parts: int = 1) -> int:
        """Return the number of the atom of this kind with this argument, which is created if it does not exist."""
        for place, atom in enumerate(self.atoms):
            if atom.kind == kind and self.are_equal(atom.of, of):
                return self.divided(place, parts)
        place = len(self.atoms)
        self.atoms.append(Atom(kind, of, self.finest.setdefault(place, parts)))
        return self.divided(place, parts)

    def divided(self, place: int, parts: int) -> int:
        """Return the atom, divided into the given number of parts or more. Raises Finer if it has fewer."""
        if self.finest.setdefault(place, 1) % parts:
            self.finest[place] = lcm(self.finest[place], parts)
            if self.finest[place] > FINEST:
                raise TooMuch
            raise Finer
        return place

    def are_equal(self, left: Ratio, right: Ratio) -> bool:
        """Return whether the two are the same quotient."""
        difference = self.plus(self.times(left.top, right.bottom), negated(self.times(right.top, left.bottom)))
        return not self.reduced(difference)[0]

    def symbol(self, name: str) -> Ratio:
        """Return a variable, or pi."""
        if name not in self.names:
            self.names[name] = len(self.atoms)
            self.finest.setdefault(len(self.atoms), 1)
            self.atoms.append(Atom("symbol", constant(Fraction(len(self.names))), 1))
        return Ratio({((self.names[name], 1),): ONE}, UNIT)


def constant(value: Fraction) -> Ratio:
    """Return the quotient that is a rational number."""
    return Ratio({(): value} if value else {}, UNIT)


def number_of(value: Ratio) -> Fraction | None:
    """Return the quotient as a rational number, if it is one."""
    if value.bottom != UNIT or set(value.top) - {()}:
        return None
    return value.top.get((), Fraction(0))


def negated(terms: Terms) -> Terms:
    """Return the negated polynomial."""
    return {one: -factor for one, factor in terms.items()}


def content_of(value: Ratio) -> tuple[Fraction, Ratio]:
    """Return the positive rational factor of the quotient, and the rest."""
    top, bottom = _factor(value.top), _factor(value.bottom)
    rest = Ratio(_over(value.top, top), _over(value.bottom, bottom))
    return top / bottom, rest


def _factor(terms: Terms) -> Fraction:
    above = gcd(*(coefficient.numerator for coefficient in terms.values()))
    return Fraction(above, lcm(*(coefficient.denominator for coefficient in terms.values())))


def _over(terms: Terms, factor: Fraction) -> Terms:
    return {one: coefficient / factor for one, coefficient in terms.items()}


def _joined(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    exponents = dict(left)
    for place, exponent in right:
        exponents[place] = exponents.get(place, 0) + exponent
    return tuple(sorted(exponents.items()))


def _exponent(one: Monomial, place: int) -> int:
    return next((exponent for atom, exponent in one if atom == place), 0)


def _replaced(one: Monomial, place: int, exponent: int) -> Monomial:
    rest = ((atom, exponent if atom == place else power) for atom, power in one)
    return tuple((atom, power) for atom, power in rest if power)
