"""Roots, points and keys as parameter types, held against sympy, brute force and cryptography."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import product
from math import gcd, isqrt, lcm
from typing import Any

import pytest
import sympy
from cryptography.hazmat.primitives.asymmetric import rsa
from dia_compiler.types.base import Domain, OptionFault, key_of
from dia_compiler.types.residues import is_square, prime_factors, square_root
from dia_language.numbers.values import Record
from helpers.drawing import digest, domain, drawn, exhausted
from helpers.places import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

SAFE = 2**128 - 15449  # the greatest safe prime of 128 bits
RFC_3526_1536 = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B"
    "302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE6"
    "49286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB9ED529077096966D"
    "670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF",
    16,
)
P256 = Record(
    a=-3, b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B, p=2**256 - 2**224 + 2**192 + 2**96 - 1
)
P224 = Record(a=-3, b=0xB4050A850C04B3ABF54132565044B0B7D7BFD8BA270B39432355FFB4, p=2**224 - 2**96 + 1)
PRIMES = [5, 7, 11, 13, 17, 31, 41]


def roots(prime: int) -> list[int]:
    """Every primitive root, by its powers."""
    return [g for g in range(1, prime) if len({pow(g, e, prime) for e in range(prime - 1)}) == prime - 1]


def points(a: int, b: int, prime: int) -> list[Record]:
    """Every point but infinity, by trying all."""
    found = product(range(prime), repeat=2)
    return [Record(x=x, y=y) for x, y in found if (y * y - x**3 - a * x - b) % prime == 0]


@pytest.mark.parametrize("prime", [2, 3, *PRIMES])
def test_primitive_roots_are_exhausted_exactly(prime: int) -> None:
    of, expected = domain("primitive_root", of=prime), roots(prime)
    assert sorted(exhausted(of)) == expected and of.count == len(expected) and of.is_counted
    assert [number for number in range(-1, prime + 3) if of.contains(number)] == expected
    assert of.boundary() == sorted({expected[0], expected[-1]})


def test_primitive_roots_of_a_large_safe_prime() -> None:
    assert sympy.isprime(SAFE) and sympy.isprime(SAFE // 2)
    of = domain("primitive_root", of=SAFE)
    for root in drawn(of, 10):
        assert sympy.n_order(root, SAFE) == SAFE - 1 and of.contains(root)
    assert of.count == SAFE // 2 - 1 and len(set(exhausted(of, most=50))) > 10


@pytest.mark.parametrize("prime", PRIMES)
def test_points_are_exhausted_exactly(prime: int) -> None:
    for a, b in ((2, 3), (-3, prime - 1), (0, 7), (1, 0), (0, 0)):
        of, expected = domain("curve_point", curve=Record(a=a, b=b, p=prime)), points(a, b, prime)
        assert Counter(map(key_of, exhausted(of, most=4 * prime + 50))) == Counter(map(key_of, expected))
        assert of.count == len(expected) and of.is_counted and all(map(of.contains, expected))


@pytest.mark.parametrize(
    "curve", [P256, P224, Record(a=5, b=1, p=2**521 - 1)], ids=["3 mod 4", "1 mod 2**96", "521 bits"]
)
def test_points_of_large_curves_lie_on_them(curve: Record) -> None:
    of = domain("curve_point", curve=curve)
    values = drawn(of, 12)
    for point in values:
        assert (point["y"] ** 2 - point["x"] ** 3 - curve["a"] * point["x"] - curve["b"]) % curve["p"] == 0
        assert of.contains(point) and not of.contains(Record(x=point["x"], y=point["y"] + 1))
        assert not of.contains(Record(x=point["x"], y=point["y"] - curve["p"])) and not of.contains(
            Record(x=point["x"])
        )
    assert len({point["y"] % 2 for point in values}) == 2 and abs(of.count - curve["p"]) <= 2 * isqrt(curve["p"]) + 2


@given(st.sampled_from([*PRIMES, 97, 193, 257, 7681, 12289, SAFE, P224["p"]]), st.integers(0, 2**256))
def test_square_roots_are_found_to_every_odd_prime(prime: int, number: int) -> None:
    assert is_square(number, prime) == (number % prime == 0 or sympy.jacobi_symbol(number, prime) == 1)
    assert square_root(number * number, prime) in (number % prime, -number % prime)


@settings(deadline=None)
@given(st.integers(2, 2**56) | st.builds(lambda p, q: p * q, *2 * [st.sampled_from([65537, 2**31 - 1, 4294967291])]))
def test_prime_factors_are_sympys(number: int) -> None:
    assert prime_factors(number) == tuple(sorted(sympy.factorint(number)))


def test_what_cannot_be_factored_in_time_is_given_up() -> None:
    assert prime_factors(sympy.prevprime(2**60) * sympy.nextprime(2**61)) is None


@pytest.mark.parametrize(("bits", "e"), [(512, 65537), (767, 3), (1024, 17), (2048, 65537)])
def test_keys_are_keys(bits: int, e: int) -> None:
    of = domain("rsa_key", bits=bits, e=e)
    for key in drawn(of, 2 if bits < 2000 else 1):
        n, d, p, q = (key[name] for name in "ndpq")
        assert n == p * q and n.bit_length() == bits and key["e"] == e and p > q
        assert (
            sympy.isprime(p) and sympy.isprime(q) and d * e % lcm(p - 1, q - 1) == 1 and gcd(d, lcm(p - 1, q - 1)) == 1
        )
        public = rsa.RSAPublicNumbers(e, n)
        held = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
        assert held.private_key().key_size == bits  # cryptography checks that the parts belong together
        assert of.contains(key)
        strangers = [Record(key, **{name: key[name] + 2}) for name in "nedpq"] + [Record(key, p=q, q=p), Record(n=n), n]
        strangers += [Record(key, d=d + lcm(p - 1, q - 1)), Record(key, p=-p), Record(key, p=str(p))]
        assert not any(map(of.contains, strangers))


def test_keys_at_all_positions_differ() -> None:
    found = exhausted(domain("rsa_key", bits=512), most=20)
    assert len({prime for key in found for prime in (key["p"], key["q"])}) == 40


USES: dict[str, tuple[Domain, str]] = {
    "root": (domain("primitive_root", of=SAFE), "713231ec2eb3b05c"),
    "root of a small prime": (domain("primitive_root", of=65537), "b63839c202e8afe1"),
    "root of a published prime": (domain("primitive_root", of=RFC_3526_1536), "9d25a2e39ca09399"),
    "point": (domain("curve_point", curve=P256), "839b41bafcd7db6e"),
    "point where p leaves 1": (domain("curve_point", curve=P224), "88501a21c7ff69d4"),
    "point of a small curve": (domain("curve_point", curve=Record(a=2, b=3, p=10007)), "c11e35d937cb6aa6"),
    "key": (domain("rsa_key", bits=1024), "6debde4abb0b89b6"),
    "key of odd size": (domain("rsa_key", bits=513, e=3), "6636b35faa4851e8"),
}
PINS = {name: pin for name, (_, pin) in USES.items()}

WITHOUT = """
import importlib.util, json, sys
sys.modules["gmpy2"] = None
spec = importlib.util.spec_from_file_location("tests_of_keys", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps({name: module.digest(of, 4) for name, (of, _) in module.USES.items()}))
"""


def test_draws_are_pinned() -> None:
    assert {name: digest(of, 4) for name, (of, _) in USES.items()} == PINS  # they must never change


@pytest.mark.long
def test_draws_are_the_same_without_gmpy2() -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})\n{WITHOUT}", __file__]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == PINS


@pytest.mark.parametrize(
    ("kind", "options", "option", "word"),
    [
        ("primitive_root", {"of": 15}, "of", "prime"),
        ("primitive_root", {"of": "7"}, "of", "integer"),
        ("primitive_root", {"of": 1}, "of", "prime"),
        ("primitive_root", {"of": (1 << 5000) + 1}, "of", "4,096 bits"),
        ("curve_point", {"curve": 5}, "curve", "integers a, b and p"),
        ("curve_point", {"curve": Record(a=1, b=2)}, "curve", "integers a, b and p"),
        ("curve_point", {"curve": Record(a=1, b=2, p=15)}, "curve", "prime from 5"),
        ("curve_point", {"curve": Record(a=1, b=2, p=3)}, "curve", "prime from 5"),
        ("curve_point", {"curve": Record(a=1, b=2, p=2**1279 - 1)}, "curve", "1,024 bits"),
        ("rsa_key", {"bits": 511}, "bits", "between 512 and 4096"),
        ("rsa_key", {"bits": 4097}, "bits", "between 512 and 4096"),
        ("rsa_key", {"bits": 1024, "e": 4}, "e", "odd"),
        ("rsa_key", {"bits": 1024, "e": 1}, "e", "at least 3"),
    ],
)
def test_options_that_cannot_be_are_told(kind: str, options: dict[str, Any], option: str, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain(kind, **options)
    assert caught.value.option == option and word in caught.value.message


def test_a_prime_whose_predecessor_does_not_factor_is_told() -> None:
    product_ = 2 * sympy.prevprime(2**70) * sympy.nextprime(2**71)
    prime = next(number for number in (product_ * step + 1 for step in range(1, 999)) if sympy.isprime(number))
    with pytest.raises(OptionFault, match="cannot be factored within the limits") as caught:
        domain("primitive_root", of=prime)
    assert caught.value.help == "draw the prime with `safe: true`"
