"""The truths of the shipped families 38 to 50 (but 46), derived a second time from the words of their prompts alone.

Nothing of the project computes here: every solver reads the text that a model is sent and works in plain Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import comb, isqrt
from typing import Any

import pytest
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]
Numbers = list[int]

TIES = "a value exactly halfway between two candidates goes to the"
THREE_PLACES = (
    f" Round to 3 decimal places; {TIES} one whose last digit is even. "
    "Leave out trailing zeros after the decimal point, and the point itself if no digits follow it."
)


def numbers(pattern: str, challenge: str) -> Numbers:
    """The groups of a pattern as numbers; an empty one is a coefficient of 1 that is not written."""
    return [int(text or 1) for text in found(pattern, challenge)]


def numbers_to_round(pattern: str, challenge: str) -> Numbers:
    """The same for a task that ends with the rule of rounding to three places."""
    assert challenge.endswith(THREE_PLACES)
    return numbers(pattern, challenge.removesuffix(THREE_PLACES))


def with_three_places(value: Fraction) -> str:
    """The value rounded to three places, a tie to the even digit, without trailing zeros."""
    thousandths = round(value * 1000)
    whole, rest = divmod(thousandths, 1000)
    assert thousandths >= 0
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".")


def test_the_rounding_of_this_page() -> None:
    values = ("1/16", "3/16", "2/3", "5", "1001/10000", "5/2000", "15/10000")
    assert [with_three_places(Fraction(text)) for text in values] == [
        "0.062", "0.188", "0.667", "5", "0.1", "0.002", "0.002",
    ]  # fmt: skip


def transform_numbers(challenge: str) -> Numbers:
    """The factor and the rate of the function, and the point of its transform."""
    return numbers_to_round(
        r"Let f\(t\) = (\d+) \* t\^2 \* exp\(-(\d*)t\) for t >= 0, and let F\(s\) be its Laplace transform, the "
        r"integral of f\(t\) \* exp\(-st\) from t = 0 to infinity\. Find F\((\d+)\)\.",
        challenge,
    )


def laplace_transform(challenge: str) -> str:
    c, a, s = transform_numbers(challenge)
    # Twice by parts: the ends are 0, and each time the power of t moves in front and the rate below
    value = Fraction(c, s + a)
    for power in (2, 1):
        value *= Fraction(power, s + a)
    return with_three_places(value)


def sieve(limit: int) -> list[int]:
    """The primes up to the limit."""
    is_prime = bytearray([1]) * (limit + 1)
    is_prime[:2] = b"\0\0"
    for n in range(2, isqrt(limit) + 1):
        if is_prime[n]:
            is_prime[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, mark in enumerate(is_prime) if mark]


PRIMES = sieve(1_002_000)
PLACES = {prime: place for place, prime in enumerate(PRIMES)}


def continue_the_primes(challenge: str) -> str:
    (listed,) = found(
        r"These are nine consecutive prime numbers in ascending order: ([\d, ]+)\n\n"
        r"Find the next prime number after them, and write it in binary without leading zeros or a prefix\.",
        challenge,
    )
    run = [int(prime) for prime in listed.split(", ")]
    place = PLACES[run[0]]
    assert run == PRIMES[place : place + 9] and 10_000 < run[0] < 1_000_000
    return f"{PRIMES[place + 9]:b}"


def triple_integral(challenge: str) -> str:
    *coefficients, x, y, z = numbers_to_round(
        r"Let f\(x, y, z\) = (\d+)x\^2 \+ (\d+)y\^2 \+ (\d+)z\^2\. Find the triple integral of f over the box "
        r"0 <= x <= (\d+), 0 <= y <= (\d+), 0 <= z <= (\d+)\.",
        challenge,
    )
    assert min(coefficients) >= 2 and min(x, y, z) >= 1 and max(*coefficients, x, y, z) <= 500
    # The mean of a square from 0 to an edge is a third of the edge's own
    means = [Fraction(edge**2, 3) for edge in (x, y, z)]
    mean = sum((c * m for c, m in zip(coefficients, means, strict=True)), Fraction(0))
    return with_three_places(x * y * z * mean)


def boolean_expressions(challenge: str) -> str:
    *values, listed = found(
        r"In Python, a is (True|False), b is (True|False) and c is (True|False)\. Evaluate these five expressions\. Give "
        r"the results as five letters without spaces, in the order of the expressions, T for True and F for False\.\n\n(.+)",
        challenge,
    )
    names = {name: value == "True" for name, value in zip("abc", values, strict=True)}
    lines = [line.split(". ") for line in listed.split("\n")]
    assert [number for number, _ in lines] == list("12345") and len({text for _, text in lines}) == 5
    assert all(re.fullmatch(r"(?:[abc]|and|or|not|!=|[ ()])+", text) for _, text in lines)
    # Python itself says what its expressions are worth; the line above says what they are made of
    return "".join(str(eval(text, {"__builtins__": {}}, names))[0] for _, text in lines)


def parametric_area(challenge: str) -> str:
    a, b, c, end, width = numbers_to_round(
        r"A curve is given by x = (\d*)t\^2, y = (\d*)t \+ (\d+) for 0 <= t <= (\d+)\. Find the area of the region "
        r"between the curve and the x-axis, that is, the integral of y with respect to x from x = 0 to x = (\d+)\.",
        challenge,
    )
    assert width == a * end**2
    # The mean of a square root from 0 to a number is two thirds of the number's own root, and that of x is `end`
    return with_three_places(width * (c + Fraction(2, 3) * b * end))


def graph_of(challenge: str) -> list[set[int]]:
    """The neighbours of each node that come before it."""
    size, count, listed = found(
        r"A graph has the nodes 1 to (\d+) and these (\d+) edges: (\d+-\d+(?:, \d+-\d+)*)\n\nWhat is its chromatic "
        r"number, that is, the smallest number of colours needed to colour the nodes so that no edge joins two nodes of "
        r"the same colour\?",
        challenge,
    )
    edges = {tuple(map(int, edge.split("-"))) for edge in listed.split(", ")}
    assert len(edges) == int(count) and all(1 <= a < b <= int(size) for a, b in edges)
    assert 14 <= int(size) <= 16 and 3 <= 3 * int(size) - len(edges) <= 6
    assert all(sum(node in edge for edge in edges) <= 6 for node in range(1, int(size) + 1))
    return [{a - 1 for a, b in edges if b == node} for node in range(1, int(size) + 1)]


def can_be_coloured(earlier: list[set[int]], colours: int, done: tuple[int, ...] = ()) -> bool:
    """Whether the nodes after those done can be coloured; a colour is first used only after all smaller ones."""
    if len(done) == len(earlier):
        return True
    taken = {done[node] for node in earlier[len(done)]}
    fresh = min(colours, max(done, default=-1) + 2)
    return any(can_be_coloured(earlier, colours, (*done, c)) for c in range(fresh) if c not in taken)


def chromatic_number(challenge: str) -> str:
    earlier = graph_of(challenge)
    return str(next(colours for colours in range(1, len(earlier) + 1) if can_be_coloured(earlier, colours)))


def to_binary(challenge: str) -> str:
    (digits,) = found(
        r"Write this decimal number in binary, without leading zeros or a prefix: ([1-9]\d*)",
        challenge,
    )
    assert 2**1000 <= int(digits) < 2**1024
    return bin(int(digits))[2:]


def committee(challenge: str) -> str:
    members, seats = numbers(
        r"A club has (\d+) members\. How many different committees of (\d+) members can it form, if the members of "
        r"a committee have no special roles\?",
        challenge,
    )
    assert 3 <= seats <= members - 3 and 10 <= members <= 100
    return str(comb(members, seats))


def two_cars(challenge: str) -> str:
    miles, kilometres, hours = numbers_to_round(
        r"One car drives at (\d+) miles per hour and another at (\d+) kilometres per hour, each at a "
        r"constant speed for (\d+) hours?\. What is the sum of the distances that they drive, in metres\? One mile is exactly "
        r"1609\.344 metres\.",
        challenge,
    )
    assert ("for 1 hour." in challenge) == (hours == 1)
    yards = 1760 * miles * hours  # of 0.9144 metres
    return with_three_places(yards * Fraction(9144, 10000) + 1000 * kilometres * hours)


def polygon_angles(challenge: str) -> str:
    (sides,) = numbers(
        r"A polygon whose boundary does not cross itself has (\d+) sides\. What is the sum of its interior angles in "
        r"degrees\?",
        challenge,
    )
    # A square has four right angles, a triangle two, and each further side two more
    return str(sum(90 * 2 for _ in range(sides - 2)))


def population_growth(challenge: str) -> str:
    assert challenge.endswith(THREE_PLACES)
    people, percent, years, plural = found(
        r"A town has (\d+) inhabitants\. In a model of its growth, the population increases by (\d+(?:\.\d)?) percent "
        r"every year, compounded annually\. The population need not be a whole number and is not rounded between years\. How many "
        r"inhabitants does the model predict after (\d+) year(s?)\?",
        challenge.removesuffix(THREE_PLACES),
    )
    assert (plural == "") == (years == "1")
    return with_three_places(int(people) * (1 + Fraction(percent) / 100) ** int(years))


def clock_angle(challenge: str) -> str:
    hour, minute, second = numbers(
        r"An analogue clock with a 12-hour dial shows (\d\d?):(\d\d):(\d\d) \(hours, minutes, seconds\)\. Its hands move "
        r"continuously\. What is the smaller angle between the hour hand and the minute hand, in degrees \(at most 180\)\? "
        rf"Round to a whole number; {TIES} even one\.",
        challenge,
    )
    assert 1 <= hour <= 12 and minute < 60 and second < 60
    minute_hand = Fraction(60 * minute + second, 3600)  # in turns
    hour_hand = Fraction(hour + minute_hand) / 12
    turns = abs(hour_hand - minute_hand) % 1
    return str(round(360 * min(turns, 1 - turns)))


SOLVERS: list[Callable[[str], str]] = [
    laplace_transform, continue_the_primes, triple_integral, boolean_expressions, parametric_area, to_binary, chromatic_number, committee, two_cars,
    polygon_angles, population_growth, clock_angle,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    assert len(set(asked.values())) == len(asked)
    assert {id: solver(challenge) for id, challenge in asked.items()} == {id: answers[id]["text"] for id in asked}


def test_transforms_are_those_of_numerical_integration(challenges: Challenges, answers: Answers) -> None:
    laguerre = pytest.importorskip("numpy.polynomial.laguerre")
    points, weights = laguerre.laggauss(8)
    for id, challenge in challenges["laplace_transform"].items():
        c, a, s = transform_numbers(challenge)
        area = sum(weights * c * (points / (s + a)) ** 2) / (s + a)
        assert abs(area - float(answers[id]["text"])) < 0.0005 + 1e-9 * area, id


def test_each_chromatic_number_is_as_frequent(many: int, challenges: Challenges, answers: Answers) -> None:
    texts = [answers[id]["text"] for id in challenges["chromatic_number"]]
    assert set(texts) == set("23456") and min(map(texts.count, "23456")) >= 0.15 * many


def test_chromatic_numbers_do_not_follow_from_the_numbers_of_nodes_and_edges(
    many: int, challenges: Challenges, answers: Answers
) -> None:
    seen: dict[tuple[str, ...], set[str]] = {}
    for id, challenge in challenges["chromatic_number"].items():
        seen.setdefault(tuple(re.findall(r"1 to (\d+) and these (\d+)", challenge)[0]), set()).add(answers[id]["text"])
    assert len(seen) == 12 and all(len(texts) >= 3 for texts in seen.values())


def test_chromatic_numbers_do_not_follow_from_the_degrees(challenges: Challenges, answers: Answers) -> None:
    full: dict[str, list[float]] = {}
    for id, challenge in challenges["chromatic_number"].items():
        earlier = graph_of(challenge)
        degrees = [len(before) + sum(node in row for row in earlier) for node, before in enumerate(earlier)]
        full.setdefault(answers[id]["text"], []).append(degrees.count(6) / len(degrees))
    means = [sum(shares) / len(shares) for shares in full.values()]
    assert min(means) > 0.5 and max(means) - min(means) < 0.25, means


def test_truth_values_are_even(many: int, challenges: Challenges, answers: Answers) -> None:
    texts = [answers[id]["text"] for id in challenges["boolean_expressions"]]
    assert all(0.32 <= sum(text[place] == "T" for text in texts) / many <= 0.68 for place in range(5))
    assert len(set(texts)) >= 25 and max(map(texts.count, texts)) <= 0.09 * many
