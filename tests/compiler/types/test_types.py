"""Parameter types: draws are members, counts are right, options that cannot be are told."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import combinations, combinations_with_replacement, permutations, product
from math import gcd
from string import ascii_letters
from typing import Any

import pytest
from dia_compiler.analyze.domains import Filtered
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, Walker
from dia_compiler.types import TYPES
from dia_compiler.types.base import Domain, OptionFault, key_of
from dia_compiler.types.numbers import is_prime, is_safe_prime, primes_below
from dia_compiler.types.texts import spelled
from dia_language.numbers.values import ExactDecimal
from hypothesis import given
from hypothesis import strategies as st
from sympy.ntheory import isprime

WIDE = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))


def domain(kind: str, **options: Any) -> Domain:
    return TYPES[kind].domain(options)


def drawn(of: Domain, number: int = 50) -> list[Any]:
    return [of.draw(RecordingChoose((), Stream(sha256(bytes([place])).digest()))) for place in range(number)]


def exhausted(of: Domain) -> list[Any]:
    """Every value that the walk over the domain finds."""
    walker = Walker(b"types", of.draw)
    found = (walker.at(position) for position in range(20 * of.count + 50))
    return [value for value in found if value is not None]


BOOLEAN, DIE = domain("boolean"), domain("integer", min=1, max=6)
LETTERS = domain("choice", of=["a", "b", "c"])

SMALL: list[tuple[Domain, list[Any]]] = [
    (domain("integer", min=3, max=20, step=4), [3, 7, 11, 15, 19]),
    (domain("integer", min=-5, max=6, parity="odd"), [-5, -3, -1, 1, 3, 5]),
    (domain("integer", min=1, max=10, parity="even", step=3), [4, 10]),
    (domain("integer", bits=3), [4, 5, 6, 7]),
    (domain("integer", bits=1), [0, 1]),
    (domain("integer", min=0, max=9, exclude=[0, 3, 4, 9, 77]), [1, 2, 5, 6, 7, 8]),
    (domain("real", min=Fraction(-1, 10), max=Fraction(1, 4), decimals=1), [Fraction(-1, 10), 0, Fraction(1, 10), Fraction(1, 5)]),
    (BOOLEAN, [False, True]),
    (domain("prime", min=1, max=30), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
    (domain("prime", min=1, max=60, residue=[3, 4]), [3, 7, 11, 19, 23, 31, 43, 47, 59]),
    (domain("prime", min=1, max=60, safe=True), [5, 7, 11, 23, 47, 59]),
    (LETTERS, ["a", "b", "c"]),
    (domain("choice", of=["a", "b"], weights=[1, 3]), ["a", "b"]),
    (domain("choice", of="xyz"), ["x", "y", "z"]),
    (domain("string", alphabet="ab", length=2), ["aa", "ab", "ba", "bb"]),
    (domain("string", alphabet="ab", length={"min": 0, "max": 2}), ["", "a", "b", "aa", "ab", "ba", "bb"]),
    (domain("string", alphabet="a", length={"min": 1, "max": 3}), ["a", "aa", "aaa"]),
    (domain("list", of=BOOLEAN, length=2), [list(pair) for pair in product([False, True], repeat=2)]),
    (domain("list", of=LETTERS, length=2, unique=True), [list(pair) for pair in permutations("abc", 2)]),
    (domain("list", of=DIE, length=3, unique=True, sorted=True), [list(s) for s in combinations(range(1, 7), 3)]),
    (domain("list", of=LETTERS, length=3, sorted=True), [list(s) for s in combinations_with_replacement("abc", 3)]),
    (domain("permutation", of=["a", "b", "c"]), [list(order) for order in permutations("abc")]),
    (domain("matrix", rows=1, columns=2, of=BOOLEAN), [[list(row)] for row in product([False, True], repeat=2)]),
    (domain("record", fields={"x": BOOLEAN, "y": LETTERS}),
     [{"x": x, "y": y} for x, y in product([False, True], "abc")]),
    (domain("one_of", of=[BOOLEAN, LETTERS]), [False, True, "a", "b", "c"]),
]  # fmt: skip


@pytest.mark.parametrize(("of", "values"), SMALL, ids=lambda held: type(held).__name__)
def test_a_small_domain_is_exhausted_exactly(of: Domain, values: list[Any]) -> None:
    found = exhausted(of)
    assert Counter(map(key_of, found)) == Counter(map(key_of, values))
    if of.is_counted:
        assert of.count == len(values)
    assert all(of.contains(value) for value in values)
    assert all(of.contains(value) for value in of.boundary())


LARGE: list[Domain] = [
    domain("integer", bits=600, parity="odd"),
    domain("real", min=0, max=10**30, decimals=12),
    domain("prime", bits=128),
    domain("prime", bits=64, safe=True),
    domain("prime", bits=256, smooth=2**16),
    domain("string", alphabet="abcdefgh", length={"min": 50, "max": 300}),
    domain("list", of=domain("integer", min=1, max=2**70), length={"min": 3, "max": 90}, unique=True),
    domain("list", of=domain("integer", min=0, max=10**8), length=100, unique=True, sorted=True),
    domain("permutation", of=list(range(60))),
    domain("matrix", rows=5, columns=5, of=DIE),
]


@pytest.mark.parametrize("of", LARGE, ids=lambda of: type(of).__name__)
def test_draws_of_large_domains_are_members_and_differ(of: Domain) -> None:
    values = drawn(of, 20)
    assert all(of.contains(value) for value in values)
    assert len({repr(value) for value in values}) == 20


def test_smooth_primes_are_what_they_promise() -> None:
    sympy = pytest.importorskip("sympy")
    for value in drawn(domain("prime", bits=256, smooth=2**12), 5):
        assert sympy.isprime(value) and value.bit_length() == 256
        assert max(sympy.factorint(value - 1)) < 2**12


def test_primes_of_a_size_are_evenly_likely() -> None:
    of = domain("prime", bits=8)
    values = drawn(of, 250) + [of.draw(RecordingChoose((), Stream(sha256(b"%d" % n).digest()))) for n in range(2000)]
    counts = [values.count(value) for value in sorted(set(values))]
    assert len(counts) == 23 and min(counts) > 55 and max(counts) < 150


@pytest.mark.parametrize(
    ("kind", "options", "option", "word"),
    [
        ("integer", {"min": 10, "max": 1}, "max", "min 10 is above max 1"),
        ("integer", {"min": 10}, None, "give either"),
        ("integer", {"bits": 8, "min": 1}, "bits", "cannot be combined"),
        ("integer", {"bits": 0}, "bits", "between"),
        ("integer", {"min": "a", "max": 2}, "min", "integer"),
        ("integer", {"min": 1, "max": 2, "step": 0}, "step", "at least 1"),
        ("integer", {"min": 1, "max": 2, "step": None}, "step", "must be an integer"),
        ("integer", {"min": 1, "max": 1, "parity": "even"}, "max", "satisfies the options"),
        ("integer", {"min": 1, "max": 9, "parity": "prime"}, "parity", "even or odd"),
        ("integer", {"min": 1, "max": 9, "step": 2, "parity": "even"}, "parity", "in steps"),
        ("integer", {"min": 1, "max": 2, "exclude": [1, 2]}, "max", "satisfies the options"),
        ("integer", {"min": True, "max": 2}, "min", "integer"),
        ("real", {"min": 1, "max": 2, "decimals": -1}, "decimals", "between"),
        ("real", {"min": ExactDecimal(1, 100), "max": ExactDecimal(2, 100), "decimals": 1}, "decimals", "no number"),
        ("prime", {"min": 24, "max": 28}, "max", "no prime between 24 and 28"),
        ("prime", {"bits": 64, "smooth": 2**20}, "smooth", "160"),
        ("prime", {"bits": 64, "residue": [5, 4]}, "residue", "0 <= r < m"),
        ("choice", {"of": []}, "of", "empty"),
        ("choice", {"of": ["a", "a"]}, "of", "duplicate"),
        ("choice", {"of": ["a", "b"], "weights": [1]}, "weights", "1 entry for 2 items"),
        ("choice", {"of": ["a", "b"], "weights": [1, 0]}, "weights", "positive integers"),
        ("string", {"alphabet": "", "length": 3}, "alphabet", "at least one"),
        ("string", {"alphabet": "aa", "length": 3}, "alphabet", "duplicate"),
        ("string", {"alphabet": "ab", "length": {"min": 3, "max": 2}}, "length", "above"),
        ("string", {"alphabet": "ab", "length": -1}, "length", "between"),
        ("list", {"of": BOOLEAN, "length": 3, "unique": True}, "length", "only 2"),
        ("list", {"of": BOOLEAN, "length": {"min": 1, "max": 2}, "sorted": True}, "sorted", "fixed"),
        ("list", {"of": BOOLEAN, "length": 1, "unique": "yes"}, "unique", "true or false"),
        ("permutation", {"of": [1, 1]}, "of", "duplicate"),
        ("matrix", {"rows": 0, "columns": 1, "of": BOOLEAN}, "rows", "between"),
        ("record", {"fields": {}}, "fields", "empty"),
        ("one_of", {"of": []}, "of", "empty"),
    ],
)
def test_options_that_cannot_be_are_told(kind: str, options: dict[str, Any], option: str | None, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain(kind, **options)
    assert caught.value.option == option and word in caught.value.message


@given(
    st.data(),
    st.integers(0, 700),
    st.sampled_from(["a", "ab", "abc", "0123456789", ascii_letters, WIDE, WIDE[:64], WIDE[:63]]),
)
def test_spelling_is_a_change_of_base(data: st.DataObject, length: int, alphabet: str) -> None:
    number = data.draw(st.integers(0, len(alphabet) ** length - 1))
    letters = spelled(number, alphabet, length)
    assert len(letters) == length
    assert number == reduce(lambda held, letter: held * len(alphabet) + alphabet.index(letter), reversed(letters), 0)


@given(st.integers(2, 10_000) | st.integers(2**63, 2**65) | st.integers(2**127, 2**129))
def test_primes_and_safe_primes_are_those_of_sympy(number: int) -> None:
    assert is_prime(number) == isprime(number)
    assert is_safe_prime(number) == (number % 2 == 1 and isprime(number) and isprime(number // 2))


def test_small_safe_primes_are_found_without_exception() -> None:
    primes = set(primes_below(5000))
    assert [n for n in range(-5, 5000) if is_prime(n)] == sorted(primes)
    assert [n for n in range(-5, 5000) if is_safe_prime(n)] == [p for p in sorted(primes) if p % 2 and p // 2 in primes]


@pytest.mark.parametrize("safe", [23, 107, 2**56 - 2249, 2**128 - 15449, 2**129 - 12273])
def test_long_safe_primes_are_told_from_their_neighbours(safe: int) -> None:
    numbers = [number for number in range(safe - 600, safe + 601) if number > 0]
    found = [number for number in numbers if is_safe_prime(number)]
    assert safe in found and found == [n for n in numbers if isprime(n) and isprime(n >> 1)]


DIFFERENT = {
    "integers": domain("integer", min=1, max=9, exclude=[4]),
    "many integers": domain("integer", min=1, max=13),
    "choices": domain("choice", of=["a", "b", "c", "d", "e", "f"], weights=[1, 2, 3, 1, 2, 3]),
    "strings": domain("string", alphabet="ab", length={"min": 1, "max": 3}),
    "vast": domain("string", alphabet="abc", length=120),
    "records": domain("record", fields={"a": domain("integer", min=1, max=3), "b": domain("boolean")}),
    "conditions": Filtered(domain("string", alphabet="abc", length=2), "ab".__ne__),
}


@given(st.sampled_from(sorted(DIFFERENT)), st.integers(0, 6), st.integers(0, 99))
def test_values_that_differ_are_the_first_different_ones_of_the_stream(name: str, count: int, key: int) -> None:
    of = DIFFERENT[name]
    different, alone = (RecordingChoose((), Stream(sha256(b"%d" % key).digest())) for _ in range(2))
    alone.vast()  # which keeps no trail, and draws the same
    expected: list[Any] = []
    while len(expected) < count:
        value = of.draw(alone)
        if value not in expected:
            expected.append(value)
    assert of.draw_different(different, count) == expected
    if "integers" in name:
        assert [of.at(point.choice) for point in different.trail] == expected
    assert different.stream.bits(64) == alone.stream.bits(64)


def test_a_common_factor_does_not_hide_small_primes() -> None:
    assert [value for value in drawn(domain("prime", min=4_000_000, max=4_000_100), 30) if gcd(value, 6) != 1] == []
