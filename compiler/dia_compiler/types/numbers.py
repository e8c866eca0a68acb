"""Parameter types of numbers: integer, real, boolean, prime."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import compress
from math import ceil, floor, gcd, isqrt, prod
from typing import Any, ClassVar

from dia_language.numbers.values import ExactDecimal, Value, decimal, plain

from dia_compiler.types.base import (
    INTEGERS_HELP,
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    OptionKind,
    ParameterType,
    flag,
    flag_option,
    integer_option,
    number_help,
    option,
    written,
)

MAXIMUM_BITS = 1 << 16
PRIME_BITS = 4096
FEW_BITS = 128  # size up to which a search for divisors above 50 does not pay off
REMEMBERED = 256  # primes
GROUP = 500  # small primes that are looked for together


class Integers(Enumerable):
    """Every `step`-th integer from `low`, `size` of them, without the excluded ones."""

    __slots__ = ("count_", "holes", "low", "step")

    def __init__(self, low: int, step: int, size: int, excluded: list[int]) -> None:
        self.low, self.step = low, step
        inside = sorted({(value - low) // step for value in excluded if (value - low) % step == 0})
        places = [place for place in inside if 0 <= place < size]
        # hole number h is above place - h kept values, so a kept index skips the holes at or below it
        self.holes = [place - number for number, place in enumerate(places)]
        self.count_ = size - len(places)

    @property
    def count(self) -> int:
        return self.count_

    def draw(self, choose: Choose) -> Value:
        index = choose.below(self.count_)
        return self.at(index) if self.holes else self.low + self.step * index

    def draw_several(self, choose: Choose, count: int) -> list[Value]:
        return self.at_all(choose.several(self.count_, count))

    def draw_different(self, choose: Choose, count: int) -> list[Value]:
        return self.at_all(choose.different(self.count_, count))

    def at_all(self, indices: list[int]) -> list[Value]:
        low, step = self.low, self.step
        return super().at_all(indices) if self.holes else [low + step * index for index in indices]

    def at(self, index: int) -> Value:
        if self.holes:
            index += bisect_right(self.holes, index)
        return self.low + self.step * index

    def contains(self, value: Value) -> bool:
        if type(value) is not int or value < self.low or (value - self.low) % self.step:
            return False
        index = (value - self.low) // self.step
        place = index - sum(1 for number, hole in enumerate(self.holes) if hole + number < index)
        return 0 <= place < self.count_ and self.at(place) == value

    def refusal(self, value: Value) -> str:
        if type(value) is not int:
            return f"{written(value)} is not an integer"
        return _beyond(value, self.at(0), self.at(self.count_ - 1)) or f"{value} is left out by the type's options"


def _beyond(value: Any, low: Any, high: Any) -> str | None:
    """Return on which side of the bounds the number is; None if it is between them."""
    if value < low:
        return f"{written(value)} is below {plain(low)}"
    return f"{written(value)} is above {plain(high)}" if value > high else None


def integer_bounds(options: Mapping[str, Any]) -> tuple[int, int]:
    """Lowest and highest value by min and max, or by bits (top bit set). Raises OptionFault."""
    bits = integer_option(options, "bits")
    low, high = integer_option(options, "min"), integer_option(options, "max")
    if bits is not None:
        if low is not None or high is not None:
            raise OptionFault(
                "bits", "`bits` cannot be combined with `min` or `max`", "use either `bits`, or `min` and `max`"
            )
        if not 1 <= bits <= MAXIMUM_BITS:
            raise OptionFault("bits", f"`bits` must be between 1 and {MAXIMUM_BITS}")
        return (1 << (bits - 1)) if bits > 1 else 0, (1 << bits) - 1
    if low is None or high is None:
        raise OptionFault(None, "give either `min` and `max`, or `bits`")
    if low > high:
        raise OptionFault("max", f"min {low} is above max {high}")
    return low, high


class IntegerType(ParameterType):
    summary = "an integer of any size"
    options = {
        "min": option("data", "lowest value"),
        "max": option("data", "highest value"),
        "step": option("data", "distance between values, counted from min (default 1)"),
        "bits": option("data", "number of bits, the highest of which is set; replaces min and max"),
        "parity": option("data", "even or odd", values=("even", "odd")),
        "exclude": option("data", "list of values to leave out"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        low, high = integer_bounds(options)
        step = integer_option(options, "step", 1)
        if step < 1:
            raise OptionFault("step", "`step` must be at least 1")
        low, step = _with_parity(low, step, options.get("parity"))
        excluded = options.get("exclude", [])
        if not isinstance(excluded, list) or any(type(value) is not int for value in excluded):
            raise OptionFault("exclude", "`exclude` must be a list of integers", INTEGERS_HELP.format(name="exclude"))
        domain = Integers(low, step, max(0, (high - low) // step + 1), excluded)
        if domain.count < 1:
            raise OptionFault("max", f"no integer between {low} and {high} satisfies the options")
        return domain


def _with_parity(low: int, step: int, parity: Any) -> tuple[int, int]:
    if parity is None:
        return low, step
    if parity not in ("even", "odd"):
        raise OptionFault("parity", "`parity` must be even or odd")
    remainder = int(parity == "odd")
    if step % 2 == 0:
        if low % 2 != remainder:
            raise OptionFault("parity", f"no value from {low} in steps of {step} is {parity}")
        return low, step
    return (low if low % 2 == remainder else low + step), 2 * step


class Reals(Enumerable):
    """Decimals with a fixed number of places."""

    __slots__ = ("high", "low", "scale")

    def __init__(self, low: int, high: int, scale: int) -> None:
        self.low, self.high, self.scale = low, high, scale

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def at(self, index: int) -> Value:
        return decimal(ExactDecimal(self.low + index, self.scale))

    def contains(self, value: Value) -> bool:
        if type(value) is bool or not isinstance(value, (int, Fraction)):
            return False
        scaled = value * self.scale
        return scaled == floor(scaled) and self.low <= scaled <= self.high

    def refusal(self, value: Value) -> str:
        if type(value) is bool or not isinstance(value, (int, Fraction)):
            return f"{written(value)} is not a number"
        return _beyond(value, self.at(0), self.at(self.count - 1)) or f"{written(value)} has too many decimals"


class RealType(ParameterType):
    summary = "an exact decimal number"
    options = {
        "min": option("data", "lowest value", required=True),
        "max": option("data", "highest value", required=True),
        "decimals": option("data", "number of decimal places", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        places = integer_option(options, "decimals")
        if places is None or not 0 <= places <= 1000:
            raise OptionFault("decimals", "`decimals` must be between 0 and 1000")
        for name in ("min", "max"):
            if type(options[name]) is bool or not isinstance(options[name], (int, Fraction)):
                raise OptionFault(name, f"`{name}` must be a number", number_help(name, options[name]))
        low, high = Fraction(options["min"]), Fraction(options["max"])
        if low > high:
            raise OptionFault("max", f"min {options['min']} is above max {options['max']}")
        domain = Reals(ceil(low * 10**places), floor(high * 10**places), 10**places)
        if domain.count < 1:
            raise OptionFault("decimals", f"no number with {places} decimals is between the bounds")
        return domain


class Booleans(Enumerable):
    """False and true."""

    count = 2

    def at(self, index: int) -> Value:
        return bool(index)

    def contains(self, value: Value) -> bool:
        return type(value) is bool

    def refusal(self, value: Value) -> str:
        return f"{written(value)} is neither true nor false"


class BooleanType(ParameterType):
    summary = "true or false"
    options: ClassVar[Mapping[str, OptionKind]] = {}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return Booleans()


@cache
def _small_primes_product() -> int:
    return prod(primes_below(2000)[1:])


@cache
def _proven() -> Callable[[int], bool]:
    """Return the primality test after the cheap tests: GMP's Baillie-PSW test, or the library's slower one."""
    try:
        from gmpy2 import is_prime as gmp
    except ImportError:
        from dia_language.functions import library

        raw = library()["is_prime"].raw
        return lambda number: bool(raw(number))
    return lambda number: bool(gmp(number, 24))


@cache
def coprime() -> bytearray:
    """For each remainder modulo WHEEL, 1 if numbers with this remainder are coprime to WHEEL."""
    sieve = bytearray([1]) * WHEEL
    for prime in WHEEL_PRIMES:
        sieve[::prime] = bytes(WHEEL // prime)
    return sieve


def is_prime(number: int) -> bool:
    """Whether the integer is prime. Small divisors are tried first; they reject four of five numbers in 0.1 us."""
    return _has_no_small_divisor(number) and (number < 50 or _proven()(number))


def is_known_prime(number: int) -> bool:
    """Return whether the integer is prime. Primes are cached, because one modulus serves many draws."""
    if number not in _KNOWN:
        if not is_prime(number):
            return False
        _remember(number)
    return True


_KNOWN: dict[int, None] = {}


def _remember(prime: int) -> None:
    while len(_KNOWN) >= REMEMBERED:
        del _KNOWN[next(iter(_KNOWN))]
    _KNOWN[prime] = None


def _has_no_small_divisor(number: int) -> bool:
    """Return whether no prime below 50 (for long integers, 2000) divides the integer; below 50, whether it is prime."""
    if number < 50:
        return number in PRIMES_BELOW_50
    if not coprime()[number % WHEEL] or gcd(number, NEXT_PRIMES) != 1:
        return False
    return number.bit_length() <= FEW_BITS or gcd(number, _small_primes_product()) == 1


def is_safe_prime(number: int) -> bool:
    """Return whether the integer p and (p - 1) / 2 are prime."""
    if number % 12 != 11:  # neither of the two may be even or a multiple of 3
        return number in (5, 7)
    half = number >> 1
    has_small_divisor = not (_has_no_small_divisor(number) and _has_no_small_divisor(half))
    return not has_small_divisor and is_prime(number) and is_prime(half)


PRIMES_BELOW_50 = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
WHEEL_PRIMES = PRIMES_BELOW_50[:7]
WHEEL = prod(WHEEL_PRIMES)
NEXT_PRIMES = prod(PRIMES_BELOW_50[7:])


class Primes(Domain):
    """The primes between two bounds with a given residue; safe primes if (p - 1) / 2 must also be prime.

    Odd numbers are drawn until one is suitable, so all primes are equally likely.
    """

    __slots__ = ("fits", "is_safe", "low", "modulus", "numbers", "residue")

    def __init__(self, low: int, high: int, residue: int, modulus: int, is_safe: bool) -> None:
        self.low, self.residue, self.modulus, self.is_safe = low, residue, modulus, is_safe
        low = max(low, 2)
        step, start = (2, low | 1) if low > 2 else (1, low)
        self.numbers = Integers(start, step, max(0, (high - start) // step + 1), [])
        self.fits = self._fits if modulus > 1 else is_safe_prime if is_safe else is_prime

    def _fits(self, number: int) -> bool:
        if number % self.modulus != self.residue:
            return False
        return is_safe_prime(number) if self.is_safe else is_prime(number)

    def draw(self, choose: Choose) -> Value:
        low, step, fits, sieve = self.numbers.low, self.numbers.step, self.fits, coprime()

        def is_found(index: int) -> bool:
            number = low + step * index
            if (number >= WHEEL and not sieve[number % WHEEL]) or not fits(number):
                return False
            _remember(number)  # types that need a prime modulus ask for it next
            return True

        return low + step * choose.first(self.numbers.count_, is_found, 1_000_000)

    def contains(self, value: Value) -> bool:
        return self.numbers.contains(value) and self._fits(value)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.numbers.count <= 100_000

    @property
    def count(self) -> int:
        size = self.numbers.count
        return sum(self._fits(self.numbers.at(index)) for index in range(size)) if self.is_counted else size


class SmoothPrimes(Domain):
    """Primes p between bounds for which all prime factors of p - 1 are below `bound`.

    It is constructed: small primes are multiplied until one more factor reaches the bounds, and that factor is
    drawn until the product plus 1 is prime. There are more than 2**128 of them, so they are drawn from the stream.
    """

    __slots__ = ("bound", "high", "low")
    is_counted = False

    def __init__(self, low: int, high: int, bound: int) -> None:
        self.low, self.high, self.bound = low, high, bound

    def draw(self, choose: Choose) -> Value:
        choose.vast()
        while True:
            product = 2
            while product * self.bound * self.bound < self.low:
                product *= choose.where(lambda inner: inner.below(self.bound), is_prime, tries=10_000)
            first, last = -(-(self.low - 1) // product), (self.high - 1) // product
            for _ in range(1000):
                prime = product * (first + choose.below(last - first + 1)) + 1
                if self.contains(prime):
                    return prime

    def contains(self, value: Value) -> bool:
        return type(value) is int and self.low <= value <= self.high and is_prime(value) and self._is_smooth(value - 1)

    def _is_smooth(self, remaining: int) -> bool:
        for product in products_below(self.bound):
            while (common := gcd(product, remaining)) > 1:
                remaining //= common
        return remaining == 1

    @property
    def count(self) -> int:
        return self.high - self.low + 1


@cache
def primes_below(bound: int) -> tuple[int, ...]:
    """Return all primes below the bound, from a sieve."""
    sieve = bytearray([1]) * bound
    for number in range(2, isqrt(bound) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, bound, number)))
    return tuple(compress(range(2, bound), sieve[2:]))


@cache
def products_below(bound: int) -> tuple[int, ...]:
    """Return the products of groups of the primes below the bound, so that one division tests a whole group."""
    primes = primes_below(bound)
    return tuple(prod(primes[at : at + GROUP]) for at in range(0, len(primes), GROUP))


class PrimeType(ParameterType):
    summary = "a prime number"
    options = {
        "min": option("data", "lowest value"),
        "max": option("data", "highest value"),
        "bits": option("data", "number of bits, the highest of which is set; replaces min and max"),
        "residue": option("data", "[r, m]: the prime leaves remainder r when divided by m"),
        "safe": flag("(p - 1) / 2 is also prime"),
        "smooth": option("data", "all prime factors of p - 1 are below this bound; p must have at least 160 bits"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        low, high = integer_bounds(options)
        if high.bit_length() > PRIME_BITS:
            raise OptionFault("bits" if "bits" in options else "max", f"primes can have at most {PRIME_BITS:,} bits")
        residue = options.get("residue", [0, 1])
        if not (isinstance(residue, list) and len(residue) == 2 and all(type(part) is int for part in residue)):
            raise OptionFault("residue", "`residue` must be a list of two integers, [r, m]")
        if not 0 <= residue[0] < residue[1]:
            raise OptionFault("residue", "`residue` [r, m] requires 0 <= r < m")
        smooth = integer_option(options, "smooth")
        if smooth is not None:
            return self._smooth(low, high, smooth, options)
        domain = Primes(low, high, residue[0], residue[1], flag_option(options, "safe"))
        if domain.numbers.count < 1 or (domain.is_counted and domain.count < 1):
            raise OptionFault("max", f"no prime between {low} and {high} satisfies the options")
        return domain

    def _smooth(self, low: int, high: int, bound: int, options: Mapping[str, Any]) -> Domain:
        if "safe" in options or "residue" in options:
            raise OptionFault("smooth", "`smooth` cannot be combined with `safe` or `residue`", "remove one of them")
        if low < 1 << 159:
            raise OptionFault("smooth", "smooth primes need at least 160 bits")
        if not 1 << 10 <= bound <= 1 << 24:
            raise OptionFault("smooth", "`smooth` must be between 2**10 and 2**24")
        return SmoothPrimes(low, high, bound)
