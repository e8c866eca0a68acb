"""Mathematical parameter types: small domains are exhausted exactly, draws are members, differ and are pinned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, gcd
from typing import Any

import pytest
import sympy
from dia_compiler.types.base import Domain, OptionFault, key_of, order_of
from dia_compiler.types.ranks import capped_choices, combination
from dia_compiler.types.structures import CatalogDomain
from dia_language.numbers.values import Entry, ExactDecimal, Record
from helpers.drawing import digest, domain, drawn, exhausted
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

BOOLEAN, DIE = domain("boolean"), domain("integer", min=1, max=6)
SIGNED, DIGIT = domain("integer", min=-1, max=1), domain("integer", min=0, max=2)
PAIR = domain("string", alphabet="ab", length=2)
COLOURED = [Record(name=name, colour=colour) for name, colour in zip("vwxyz", "rrggb", strict=True)]
CATALOG = CatalogDomain(
    "rule",
    {"one": lambda: {"n": DIE}, "two": lambda: {"n": BOOLEAN, "m": BOOLEAN}, "three": dict, "four": dict},
    {"one": {"group": "a", "say": "s"}, "two": {"group": "a", "say": "t"}, "three": {"group": "b", "say": "t"}},
)
ENTRIES = domain("entry", of=CATALOG)
X = sympy.Symbol("x")


def rationals(numerators: range, denominators: range, low: Fraction, high: Fraction) -> list[Any]:
    """Every quotient whose lowest terms are of the ranges; the whole ones as integers."""
    found = {Fraction(n, d) for n in numerators for d in denominators}
    fitting = {q for q in found if q.numerator in numerators and q.denominator in denominators and low <= q <= high}
    return [int(q) if q.denominator == 1 else q for q in sorted(fitting)]


def subsets(items: list[Any], low: int, high: int) -> list[list[Any]]:
    return [list(part) for size in range(low, high + 1) for part in combinations(items, size)]


def entries(name: str) -> list[Entry]:
    """Every entry of the catalog under that name."""
    if name == "one":
        return [Entry("rule", name, Record(n=n)) for n in range(1, 7)]
    if name == "two":
        return [Entry("rule", name, Record(n=n, m=m)) for n, m in product([False, True], repeat=2)]
    return [Entry("rule", name, Record())]


def entry_sets(*chosen: str) -> list[list[Entry]]:
    """Every list of entries of these names."""
    return [list(row) for row in product(*(entries(name) for name in chosen))]


def trees(variables: list[str], depth: int, operators: list[str]) -> Iterator[Any]:
    """Every formula of exactly that depth, by plain recursion."""
    if depth == 0:
        yield from variables
        return
    below = [tree for level in range(depth) for tree in trees(variables, level, operators)]
    deep = list(trees(variables, depth - 1, operators))
    keys = set(map(key_of, deep))
    for operator in operators:
        if operator == "not":
            yield from (Record(op="not", args=[a]) for a in deep if isinstance(a, str) or a["op"] != "not")
            continue
        for a, b in product(below, repeat=2):
            if a != b and (key_of(a) in keys or key_of(b) in keys):
                yield Record(op=operator, args=[a, b])


def names_in(tree: Any) -> set[str]:
    return {tree} if isinstance(tree, str) else set().union(*map(names_in, tree["args"]))


def formulas(variables: list[str], low: int, high: int, operators: list[str]) -> list[Any]:
    found = chain.from_iterable(trees(variables, depth, operators) for depth in range(low, high + 1))
    return [tree for tree in found if len(names_in(tree)) >= min(2, len(variables))]


BASIC = ["and", "or", "not", "xor"]
SMALL: dict[str, tuple[Domain, list[Any]]] = {
    "rational": (
        domain("rational", numerator={"min": -3, "max": 5}, denominator={"min": 1, "max": 4}),
        rationals(range(-3, 6), range(1, 5), Fraction(-9), Fraction(9)),
    ),
    "rational of bounds": (
        domain("rational", denominator={"min": 2, "max": 7}, min=Fraction(-1, 2), max=ExactDecimal(4, 5)),
        rationals(range(-9, 9), range(2, 8), Fraction(-1, 2), Fraction(4, 5)),
    ),
    "rational of both": (
        domain("rational", numerator={"min": 1, "max": 9}, denominator={"min": 1, "max": 6}, max=2),
        rationals(range(1, 10), range(1, 7), Fraction(0), Fraction(2)),
    ),
    "rational over one denominator": (domain("rational", numerator={"min": 0, "max": 6}, denominator=6),
                                      [Fraction(1, 6), Fraction(5, 6)]),
    "bytes": (domain("bytes", length={"min": 0, "max": 1}), [b"", *(bytes([byte]) for byte in range(256))]),
    "no bytes": (domain("bytes", length=0), [b""]),
    "tuple": (domain("tuple", of=[BOOLEAN, DIE, PAIR]),
              [list(row) for row in product([False, True], range(1, 7), ["aa", "ab", "ba", "bb"])]),
    "vector": (domain("vector", length=2, of=SIGNED), [list(row) for row in product([-1, 0, 1], repeat=2)]),
    "set": (domain("set", of=DIE, length={"min": 0, "max": 3}), subsets(list(range(1, 7)), 0, 3)),
    "set of texts": (domain("set", of=PAIR, length=2), subsets(["aa", "ab", "ba", "bb"], 2, 2)),
    "set of words": (domain("set", of=domain("choice", of=["pear", "fig", "apple"]), length=2),
                     subsets(["apple", "fig", "pear"], 2, 2)),
    "set of primes": (domain("set", of=domain("prime", min=1, max=12), length=3), subsets([2, 3, 5, 7, 11], 3, 3)),
    "set of pairs": (domain("set", of=domain("tuple", of=[BOOLEAN, BOOLEAN]), length=3),
                     subsets([list(row) for row in product([False, True], repeat=2)], 3, 3)),
    "set of either": (domain("set", of=domain("one_of", of=[BOOLEAN, DIE]), length=2),
                      subsets([False, True, 1, 2, 3, 4, 5, 6], 2, 2)),
    "subset": (domain("subset", of=["pear", "fig", "apple", "kiwi"], size={"min": 1, "max": 4}),
               subsets(["pear", "fig", "apple", "kiwi"], 1, 4)),
    "subset of characters": (domain("subset", of="cab", size=2), subsets(["c", "a", "b"], 2, 2)),
    "subset of a type": (domain("subset", of=DIE, size=2), subsets(list(range(1, 7)), 2, 2)),
    "subset apart": (
        domain("subset", of=COLOURED, size={"min": 0, "max": 3}, apart="colour"),
        [part for part in subsets(COLOURED, 0, 3) if len({item["colour"] for item in part}) == len(part)],
    ),
    "subset of entries": (
        domain("subset", of=ENTRIES, size=2),
        list(chain.from_iterable(entry_sets(*pair) for pair in combinations(["one", "two", "three", "four"], 2))),
    ),
    "subset of entries apart": (
        domain("subset", of=ENTRIES, size={"min": 2, "max": 3}, apart="group"),
        [*entry_sets("one", "three"), *entry_sets("two", "three"), *entry_sets("one", "four"),
         *entry_sets("two", "four"), *entry_sets("three", "four"), *entry_sets("one", "three", "four"),
         *entry_sets("two", "three", "four")],
    ),
    "subset of entries apart by a face": (
        domain("subset", of=ENTRIES, size=3, apart="say"),
        [*entry_sets("one", "two", "four"), *entry_sets("one", "three", "four")],
    ),
    "polynomial": (
        domain("polynomial", degree={"min": 0, "max": 2}, coefficients=SIGNED),
        [a * X**2 + b * X + c if a or b else int(c) for a, b, c in product([-1, 0, 1], repeat=3) if a or b or c],
    ),
    "polynomial of fractions": (
        domain("polynomial", variable="t", degree=1, coefficients=domain("real", min=0, max=1, decimals=1)),
        [sympy.Rational(a, 10) * sympy.Symbol("t") + sympy.Rational(b, 10) for a in range(1, 11) for b in range(11)],
    ),
    "formula": (domain("formula", variables=["a", "b"], depth={"min": 1, "max": 2}),
                formulas(["a", "b"], 1, 2, BASIC)),
    "formula of three": (domain("formula", variables=["a", "b", "c"], depth=2, operators=["iff", "implies"]),
                         formulas(["a", "b", "c"], 2, 2, ["iff", "implies"])),
    "formula of one variable": (domain("formula", variables=["a"], depth={"min": 1, "max": 3}, operators=["or", "not"]),
                                formulas(["a"], 1, 3, ["or", "not"])),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_a_small_domain_is_exhausted_exactly(name: str) -> None:
    of, values = SMALL[name]
    found = exhausted(of, most=12 * of.count + 50)
    assert Counter(map(key_of, found)) == Counter(map(key_of, values))
    assert of.count == len(values) and of.is_counted
    assert all(of.contains(value) for value in [*values, *of.boundary(), *drawn(of)])


@pytest.mark.parametrize("name", SMALL)
def test_what_another_domain_draws_is_no_member(name: str) -> None:
    of, values = SMALL[name]
    known = set(map(key_of, values))
    strangers = [value for other, held in SMALL.values() for value in held[:20] if key_of(value) not in known]
    strangers += [
        None,
        "",
        -99,
        ["a", 1],
        Record(op="and"),
        Record(op="nor", args=["a", "b"]),
        [[]],
        X**X,
        (X + 1) ** 9,
    ]
    assert len(strangers) > 100
    assert [value for value in strangers if of.contains(value) and key_of(value) not in known] == []


LARGE: dict[str, tuple[Domain, str]] = {
    "rational": (
        domain("rational", numerator={"min": -(10**9), "max": 10**9}, denominator={"min": 2, "max": 10**6}),
        "5d72aac75567a027",
    ),
    "rational of bounds": (domain("rational", denominator={"min": 2, "max": 10**5}, min=0, max=1), "08e8741acd95fed0"),
    "bytes": (domain("bytes", length=3072), "adbda5ffd9590657"),
    "bytes of any length": (domain("bytes", length={"min": 5, "max": 40}), "fd18a066d5c2704f"),
    "tuple": (
        domain("tuple", of=[domain("integer", bits=64), domain("string", alphabet="abc", length=9)]),
        "66d9ed40bb107e01",
    ),
    "vector": (domain("vector", length=20, of=DIE), "821900bf4ad8572c"),
    "set by rank": (domain("set", of=domain("integer", min=1, max=1000), length=6), "b999d1795f61f431"),
    "set from the stream": (
        domain("set", of=domain("integer", min=1, max=10**6), length={"min": 20, "max": 30}),
        "ec951883a838a22d",
    ),
    "set of nearly all": (domain("set", of=domain("integer", min=1, max=300), length=280), "55a80a170c270a80"),
    "set of texts": (domain("set", of=domain("string", alphabet="abcdefghij", length=6), length=3), "96845b2031afc093"),
    "set of many texts": (
        domain("set", of=domain("string", alphabet="abcdefghij", length=6), length=40),
        "ea23b7df07a771d9",
    ),
    "subset": (domain("subset", of=list(range(100, 0, -1)), size={"min": 3, "max": 9}), "2206b28ed91f1b20"),
    "subset apart": (
        domain("subset", of=[Record(n=n, k=n % 40) for n in range(400)], size=30, apart="k"),
        "e4600721e5fac9ee",
    ),
    "subset of entries": (domain("subset", of=ENTRIES, size={"min": 1, "max": 3}, apart="group"), "0413ade8eb114392"),
    "polynomial": (
        domain("polynomial", degree={"min": 3, "max": 6}, coefficients=domain("integer", min=-9, max=9)),
        "da091d467ac75e33",
    ),
    "formula": (domain("formula", variables=["a", "b", "c"], depth={"min": 2, "max": 4}), "f3ad4bef85012865"),
    "deep formula": (
        domain("formula", variables=list("pqrs"), depth=8, operators=["and", "or", "implies", "not"]),
        "8ec3973f7dde076c",
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_draws_of_a_large_domain_are_members_and_pinned(name: str) -> None:
    of, pinned = LARGE[name]
    values = drawn(of, 30)
    assert all(of.contains(value) for value in [*values, *of.boundary()])
    assert digest(of) == pinned  # it must never change


@pytest.mark.parametrize("name", [name for name in LARGE if name != "subset of entries"])
def test_positions_of_a_large_domain_differ(name: str) -> None:
    found = exhausted(LARGE[name][0], most=60)
    assert len(found) > 10 and len(set(map(key_of, found))) == len(found)


WAYS = st.sampled_from(["rational", "bytes", "set", "subset", "vector", "polynomial", "formula", "free set"])


def small_domain(kind: str, a: int, b: int, c: int) -> Domain:
    """A domain of a type that three small numbers choose."""
    of = domain("integer", min=-a, max=b)
    if kind == "rational":
        return domain("rational", numerator={"min": -a, "max": b}, denominator={"min": 1, "max": c})
    if kind == "bytes":
        return domain("bytes", length={"min": 0, "max": 1})
    if kind == "set":
        return domain("set", of=of, length={"min": 0, "max": min(c, a + b + 1)})
    if kind == "free set":
        return domain("set", of=domain("list", of=BOOLEAN, length=3, unique=False), length={"min": 1, "max": c})
    if kind == "subset":
        items = [Record(n=n, g=n % c) for n in range(a + b + 1)]
        return domain("subset", of=items, size={"min": 0, "max": min(c, a + b + 1)}, apart="g")
    if kind == "vector":
        return domain("vector", length=min(c, 2), of=of)
    if kind == "polynomial":
        return domain("polynomial", degree={"min": 0, "max": 1}, coefficients=of)
    return domain("formula", variables=list("abcd"[:a]), depth={"min": 1, "max": 2}, operators=["not", "and"])


@settings(max_examples=examples(60), deadline=None)
@given(WAYS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_different_choices_give_different_values(kind: str, a: int, b: int, c: int) -> None:
    of = small_domain(kind, a, b, c)
    found = exhausted(of, most=4 * of.count + 50)
    assert len(set(map(key_of, found))) == len(found) <= of.count
    assert all(of.contains(value) for value in found)


@given(st.integers(0, 12), st.data())
def test_ranks_number_the_subsets_in_order(size: int, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, size))
    found = [combination(rank, size, length) for rank in range(comb(size, length))]
    assert sorted(found) == [list(part) for part in combinations(range(size), length)]
    assert capped_choices(size, length) == len(found)


@given(st.integers(1, 300), st.data())
def test_a_rank_is_the_sum_of_the_choices_below_its_numbers(size: int, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, size))
    rank = data.draw(st.integers(0, comb(size, length) - 1))
    found = combination(rank, size, length)
    assert found == sorted(set(found)) and len(found) == length and set(found) <= set(range(size))
    assert sum(comb(number, place) for place, number in enumerate(found, 1)) == rank


def test_a_capped_number_of_subsets_is_exact_or_the_cap() -> None:
    for size in (1000, 10_000, 100_000):
        for length in (0, 1, 7, size // 3, size // 2, size - 2, size):
            assert capped_choices(size, length) == min(comb(size, length), 1 << 4096)


def test_lowest_terms_are_kept() -> None:
    of = LARGE["rational"][0]
    for value in drawn(of, 200):
        held = Fraction(value)
        assert gcd(held.numerator, held.denominator) == 1 and 2 <= held.denominator <= 10**6


def test_all_values_have_one_order() -> None:
    values = [True, 2, Fraction(1, 2), "b", "a", b"x", [1, "a"], [1], Record(a=1), Entry("c", "e", Record()), X, None]
    ordered, backwards = sorted(values, key=order_of), [*reversed(values)]
    assert sorted(backwards, key=order_of) == ordered and ordered[:3] == [True, Fraction(1, 2), 2]


def test_polynomials_read_as_sympy_reads_them() -> None:
    of = LARGE["polynomial"][0]
    for value in drawn(of, 50):
        poly = sympy.Poly(value, X)
        assert 3 <= poly.degree() <= 6 and poly.LC() != 0 and all(abs(c) <= 9 for c in poly.all_coeffs())


def test_a_depth_counts_the_operators_on_the_longest_way_down() -> None:
    def depth(tree: Any) -> int:
        return 0 if isinstance(tree, str) else 1 + max(map(depth, tree["args"]))

    values = exhausted(LARGE["formula"][0], most=300)
    assert Counter(map(depth, values)).keys() == {2, 3, 4}
    assert {depth(tree) for tree in drawn(LARGE["deep formula"][0])} == {8}
    tops = Counter(tree["op"] for tree in values)
    assert min(tops.values()) > 50 and max(tops.values()) < 100


@pytest.mark.parametrize(
    ("kind", "options", "option", "word"),
    [
        ("rational", {"denominator": 3}, None, "give `numerator`"),
        ("rational", {"numerator": 1, "denominator": 0}, "denominator", "between 1 and 2**65536"),
        ("rational", {"numerator": "1", "denominator": 2}, "numerator", "min: ..., max: ..."),
        ("rational", {"numerator": {"min": 2, "max": 1}, "denominator": 2}, "numerator", "min 2 is above max 1"),
        ("rational", {"numerator": 2, "denominator": {"min": 2, "max": 2}}, "denominator", "no quotient"),
        ("rational", {"denominator": 2, "min": 1, "max": 0}, "max", "above"),
        ("rational", {"denominator": 2, "min": "a", "max": 0}, "min", "must be a number"),
        ("bytes", {"length": -1}, "length", "between 0 and 100000"),
        ("tuple", {"of": []}, "of", "empty"),
        ("vector", {"length": {"min": 1}, "of": DIE}, "length", "min: ..., max: ..."),
        ("set", {"of": DIE, "length": 7}, "length", "only 6"),
        ("set", {"of": domain("list", of=BOOLEAN, length=1), "length": {"min": 0, "max": 3}}, "length", "only 2"),
        ("subset", {"of": ["a", "b"], "size": 3}, "size", "only 2"),
        ("subset", {"of": ["a", "a"], "size": 1}, "of", "duplicate"),
        ("subset", {"of": 5, "size": 1}, "of", "must be a list"),
        (
            "subset",
            {"of": COLOURED, "size": 4, "apart": "colour"},
            "size",
            "4 items with different values of `apart` are needed, but there are only 3",
        ),
        ("subset", {"of": COLOURED, "size": 2, "apart": "shape"}, "apart", "no `shape`"),
        ("subset", {"of": COLOURED, "size": 2, "apart": 3}, "apart", "name"),
        ("subset", {"of": DIE, "size": 2, "apart": "n"}, "apart", "list of records"),
        ("subset", {"of": ENTRIES, "size": 2, "apart": "grupo"}, "apart", "no entry"),
        ("subset", {"of": ENTRIES, "size": 4, "apart": "group"}, "size", "there are only 3"),
        ("subset", {"of": domain("entry", of=CATALOG, weights=[1, 2, 3, 4]), "size": 1}, "of", "weights"),
        ("subset", {"of": [Record(n=n) for n in range(1000)], "size": 500, "apart": "n"}, "size", "100,000"),
        ("polynomial", {"degree": 201, "coefficients": DIE}, "degree", "between 0 and 200"),
        ("polynomial", {"degree": 2, "coefficients": PAIR}, "coefficients", "numbers"),
        ("polynomial", {"degree": 2, "coefficients": domain("integer", min=0, max=0)}, "coefficients", "only be 0"),
        ("polynomial", {"degree": 2, "coefficients": DIE, "variable": "x y"}, "variable", "name"),
        ("formula", {"variables": "ab", "depth": 1}, "variables", "list"),
        ("formula", {"variables": ["a", "a"], "depth": 1}, "variables", "duplicate"),
        ("formula", {"variables": ["a b"], "depth": 1}, "variables", "letters"),
        ("formula", {"variables": ["a", "True"], "depth": 1}, "variables", "is a reserved name"),
        ("formula", {"variables": ["a", "b"], "depth": 0}, "depth", "between 1 and 8"),
        ("formula", {"variables": ["a", "b"], "depth": 1, "operators": ["nor"]}, "operators", "not an operator"),
        ("formula", {"variables": ["a", "b"], "depth": 2, "operators": ["not"]}, "depth", "no such formula"),
    ],
)
def test_options_that_cannot_be_are_told(kind: str, options: dict[str, Any], option: str | None, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain(kind, **options)
    assert caught.value.option == option and word in caught.value.message
