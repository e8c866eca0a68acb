"""Parameter types of cryptography: primitive_root, curve_point, rsa_key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import gcd, isqrt, lcm, prod
from typing import Any

from dia_language.numbers.values import Record, Value

from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, integer_option, option
from dia_compiler.types.numbers import PRIME_BITS, is_known_prime, is_prime, primes_below
from dia_compiler.types.ranks import COUNT_CAP
from dia_compiler.types.residues import is_square, power, prime_factors, square_root

CURVE_BITS = 1024
COUNTED_FIELD = 2000
SIEVE = 1 << 16
WINDOW = 1 << 14


class PrimitiveRoots(Domain):
    """The primitive roots of a prime, drawn by rejection until a number generates all non-zero residues."""

    __slots__ = ("exponents", "factors", "prime")

    def __init__(self, prime: int, factors: tuple[int, ...]) -> None:
        self.prime, self.factors = prime, factors
        self.exponents = [(prime - 1) // factor for factor in factors]

    def draw(self, choose: Choose) -> Value:
        return 1 + choose.first(self.prime - 1, lambda index: self._generates(1 + index), 100_000)

    def _generates(self, number: int) -> bool:
        return all(power()(number, exponent, self.prime) != 1 for exponent in self.exponents)

    def contains(self, value: Value) -> bool:
        return type(value) is int and 0 < value < self.prime and self._generates(value)

    @property
    def count(self) -> int:
        return (self.prime - 1) // prod(self.factors) * prod(factor - 1 for factor in self.factors)

    def boundary(self) -> list[Value]:
        """Return the smallest and the largest."""
        least = next(number for number in range(1, self.prime) if self._generates(number))
        most = next(number for number in range(self.prime - 1, 0, -1) if self._generates(number))
        return list(dict.fromkeys([least, most]))


class PrimitiveRootType(ParameterType):
    summary = "a primitive root of a prime p: its powers modulo p are all numbers from 1 to p - 1"
    options = {
        "of": option("data", "the prime p; dia factors p - 1, so a large p should be a safe prime", required=True)
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        prime = integer_option(options, "of")
        if prime is None or prime < 2 or prime.bit_length() > PRIME_BITS or not is_known_prime(prime):
            raise OptionFault("of", f"`of` must be a prime of at most {PRIME_BITS:,} bits")
        factors = prime_factors(prime - 1)
        if factors is None:
            raise OptionFault("of", "p - 1 cannot be factored within the limits", "draw the prime with `safe: true`")
        return PrimitiveRoots(prime, factors)


class CurvePoints(Domain):
    """The finite points of y**2 = x**3 + a x + b: x is drawn until it has a y, then the parity of y."""

    def __init__(self, a: int, b: int, prime: int) -> None:
        self.a, self.b, self.prime = a % prime, b % prime, prime

    def _square(self, x: int) -> int:
        return (x * x * x + self.a * x + self.b) % self.prime

    def draw(self, choose: Choose) -> Value:
        x = choose.first(self.prime, self._has_point, 100_000)
        y = square_root(self._square(x), self.prime)
        if y == 0:
            return Record(x=x, y=y)
        return Record(x=x, y=y if y % 2 == choose.below(2) else self.prime - y)

    def _has_point(self, x: int) -> bool:
        return is_square(self._square(x), self.prime)

    def contains(self, value: Value) -> bool:
        if not isinstance(value, Record) or set(value) != {"x", "y"}:
            return False
        x, y = value["x"], value["y"]
        if type(x) is not int or type(y) is not int or not (0 <= x < self.prime and 0 <= y < self.prime):
            return False
        return y * y % self.prime == self._square(x)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.prime < COUNTED_FIELD

    @cached_property
    def count(self) -> int:
        """Counted for small fields; otherwise the bound p + 2 sqrt p (Hasse, 1936)."""
        if not self.is_counted:
            return self.prime + 2 * isqrt(self.prime) + 2
        roots = [0] * self.prime
        for y in range(self.prime):
            roots[y * y % self.prime] += 1
        return sum(roots[self._square(x)] for x in range(self.prime))


class CurvePointType(ParameterType):
    summary = "a point {x, y} of an elliptic curve over a prime field, never the point at infinity"
    options = {"curve": option("data", "the curve y**2 = x**3 + a x + b, as in `= curve(a, b, p)`", required=True)}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        curve = options["curve"]
        if not isinstance(curve, Mapping) or any(type(curve.get(name)) is not int for name in ("a", "b", "p")):
            raise OptionFault("curve", "`curve` must have the integers a, b and p", 'write `"= curve(a, b, p)"`')
        prime = curve["p"]
        if prime < 5 or prime.bit_length() > CURVE_BITS or not is_known_prime(prime):
            raise OptionFault("curve", f"`p` must be a prime from 5 up to {CURVE_BITS:,} bits")
        return CurvePoints(curve["a"], curve["b"], prime)


class RsaKeys(Domain):
    """RSA keys of a given size: two primes drawn from the stream, the same on every machine."""

    is_counted = False

    def __init__(self, bits: int, exponent: int) -> None:
        self.bits, self.exponent = bits, exponent
        self.halves = ((bits + 1) // 2, bits // 2)

    def draw(self, choose: Choose) -> Value:
        choose.vast()
        p = self._prime(choose, self.halves[0])
        q = self._prime(choose, self.halves[1])
        while not self._are_far(p, q):
            q = self._prime(choose, self.halves[1])
        p, q = max(p, q), min(p, q)
        d = pow(self.exponent, -1, lcm(p - 1, q - 1))
        return Record(n=p * q, e=self.exponent, d=d, p=p, q=q)

    def _are_far(self, p: int, q: int) -> bool:
        """Return whether the primes are too far apart for a search near the square root of n (FIPS 186-5, A.1.3)."""
        return abs(p - q) > 1 << (self.bits // 2 - 100)

    def _prime(self, choose: Choose, bits: int) -> int:
        """The first suitable prime after a random number whose two highest bits are set, so that n is long enough."""
        top = 3 << (bits - 2)
        while True:
            start = (top + choose.below(1 << (bits - 2))) | 1
            for number in _unsieved(start):
                if number.bit_length() == bits and self._fits(number):
                    return number

    def _fits(self, number: int) -> bool:
        is_likely = power()(2, number - 1, number) == 1
        return is_likely and gcd(number - 1, self.exponent) == 1 and is_prime(number)

    def contains(self, value: Value) -> bool:
        if not isinstance(value, Record) or sorted(value) != ["d", "e", "n", "p", "q"]:
            return False
        if any(type(number) is not int for number in value.values()):
            return False
        p, q = value["p"], value["q"]
        tops = (p >> max(0, self.halves[0] - 2), q >> max(0, self.halves[1] - 2))
        if tops != (3, 3) or p < q or not self._are_far(p, q) or not (self._fits(p) and self._fits(q)):
            return False
        d = pow(self.exponent, -1, lcm(p - 1, q - 1))
        return [value["n"], value["e"], value["d"]] == [p * q, self.exponent, d]

    @property
    def count(self) -> int:
        return min(COUNT_CAP, 1 << self.bits)


def _unsieved(start: int) -> Iterator[int]:
    """Yield the odd numbers from `start` on, in a range of 2**15, that no prime below 2**16 divides."""
    import numpy

    primes = numpy.array(primes_below(SIEVE)[1:], numpy.int64)
    rests = numpy.zeros(len(primes), numpy.int64)
    for word in numpy.frombuffer(start.to_bytes(-(-start.bit_length() // 32) * 4), ">u4"):
        rests = ((rests << 32) + int(word)) % primes  # of the number that the words so far are
    places = (primes - rests) * ((primes + 1) // 2) % primes  # of the first multiples
    is_left = numpy.ones(WINDOW, bool)
    is_large = primes >= WINDOW  # with one multiple at most
    is_left[places[is_large & (places < WINDOW)]] = False
    for first, prime in zip(places[~is_large].tolist(), primes[~is_large].tolist(), strict=True):
        is_left[first::prime] = False
    return (start + 2 * place for place in numpy.flatnonzero(is_left).tolist())


class RsaKeyType(ParameterType):
    summary = "an RSA key {n, e, d, p, q}"
    options = {
        "bits": option("data", "number of bits of n, from 512 to 4096; above 2048, slow without gmpy2", required=True),
        "e": option("data", "the public exponent (default 65537)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        bits, exponent = integer_option(options, "bits"), integer_option(options, "e", 65537)
        if bits is None or not 512 <= bits <= 4096:
            raise OptionFault("bits", "`bits` must be between 512 and 4096")
        if not 3 <= exponent < 1 << 64 or exponent % 2 == 0:
            raise OptionFault("e", "`e` must be odd, at least 3 and below 2**64")
        return RsaKeys(bits, exponent)
