"""Features of items: what an explanation of difficulties reads from skills and parameters.

Values are exact decimals with 30 digits, so that the same instances are chosen on every machine. `math.log` may differ
in its last bit from machine to machine; `decimal` rounds logarithms correctly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from dia_language.numbers.values import Value

EXACT = Context(prec=30)
LARGEST = Fraction(10**15)  # larger numbers count as this
ZERO, ONE = Decimal(0), Decimal(1)
MOST_ELEMENTS = 10_000  # of a list whose numbers are considered
SIZE, LENGTH, COUNT = "size of numbers", "length of lists and texts", "number of skills"


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of the design: a skill, a template, or a parameter of a template read in one way.

    `how` is skill, template, number, logarithm, length, value (then `level` is the one that counts 1), bend (the square
    of what `level` names), or shared, which is read in the same way from the parameters of every template. Numbers are
    taken less `middle` and divided by `unit`.
    """

    how: str
    name: str
    template: str | None = None
    level: str | None = None
    middle: float = 0.0
    unit: float = 1.0

    @property
    def title(self) -> str:
        """Return the feature as tables print it."""
        whose = f"{self.template}." if self.template else ""
        read = {"logarithm": "log", "length": "length"}
        squared = ", ".join(filter(None, (read.get(self.level or ""), "squared")))
        tails = {"logarithm": " (log)", "length": " (length)", "value": f" = {self.level}", "bend": f" ({squared})"}
        prefix = f"{self.how} " if self.how in ("skill", "template") else whose
        return f"{prefix}{self.name}{tails.get(self.how, '')}"

    def measure(self, parameters: Mapping[str, Value], skills: Sequence[str], template: str | None) -> Decimal:
        """Return the feature of an instance; 0, its middle, if it has no such parameter."""
        if self.how == "skill":
            return ONE if self.name in skills else ZERO
        if self.how == "template":
            return ONE if self.name == template else ZERO
        if self.how == "shared":
            return self._standardised(shared(self.name, parameters, skills))
        if self.template != template or self.name not in parameters:
            return ZERO
        value = parameters[self.name]
        if self.how == "value":
            return ONE if isinstance(value, str | bool) and word(value) == self.level else ZERO
        if self.how != "bend":
            raw = reading(self.how, value)
            return ZERO if raw is None else self._standardised(raw)
        raw = reading(str(self.level), value)
        if raw is None:
            return ZERO
        place = self._standardised(raw)
        return EXACT.subtract(EXACT.multiply(place, place), ONE)

    def _standardised(self, raw: Decimal) -> Decimal:
        return EXACT.divide(EXACT.subtract(raw, exact(self.middle)), exact(self.unit))


@lru_cache(maxsize=4096)
def exact(number: float) -> Decimal:
    """Return the shortest decimal that parses as this float."""
    return Decimal(repr(float(number)))


def reading(how: str, value: Value) -> Decimal | None:
    """Return a value as number, logarithm or length; None if it has none."""
    if how == "length":
        return Decimal(len(value)) if isinstance(value, str | bytes | list) else None
    number = bounded(value)
    if number is None:
        return None
    return _logarithm(number) if how == "logarithm" else _decimal(number)


def bounded(value: Value) -> Fraction | None:
    """Return a number as a fraction, at most 10**15 from zero; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Fraction | Decimal):
        return None
    return max(min(Fraction(value), LARGEST), -LARGEST)


def word(value: str | bool) -> str:
    """Return a word, or a truth value as in specs."""
    return str(value).lower() if isinstance(value, bool) else value


def shared(name: str, parameters: Mapping[str, Value], skills: Sequence[str]) -> Decimal:
    """Return what any instance has: the summed logarithms of its numbers, or of lengths, or the number of skills."""
    if name == COUNT:
        return Decimal(len(skills))
    total = ZERO
    for value in parameters.values():
        if name == LENGTH and isinstance(value, str | bytes | list):
            total = EXACT.add(total, _logarithm(Fraction(len(value))))
        elif name == SIZE:
            for number in _numbers(value):
                total = EXACT.add(total, abs(_logarithm(number)))
    return total


def _numbers(value: Value) -> Iterator[Fraction]:
    for element in value[:MOST_ELEMENTS] if isinstance(value, list) else [value]:
        number = bounded(element)
        if number is not None:
            yield number


def _decimal(number: Fraction) -> Decimal:
    return EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


@lru_cache(maxsize=65536)
def _logarithm(number: Fraction) -> Decimal:
    """Return log(1 + |x|) with the sign of x."""
    size = EXACT.ln(EXACT.add(_decimal(abs(number)), ONE))
    return EXACT.copy_negate(size) if number < 0 else size
