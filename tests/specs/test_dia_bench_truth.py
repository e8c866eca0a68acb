"""The truths of the shipped benchmark, derived a second time from the words of its prompts alone.

Nothing of the project computes here: every solver reads the text that a model is sent and works in plain Python.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import isqrt
from pathlib import Path
from typing import Any

import pytest
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")  # OEIS A000796
SMALL = [p for p in range(3, 2000, 2) if all(p % q for q in range(3, isqrt(p) + 1, 2))]
HALF_EVEN = "a value exactly halfway between two candidates goes to the"


def is_probable_prime(n: int, bases: tuple[int, ...] = (2, 3, 5, 7)) -> bool:
    """Whether an odd n above the small primes passes trial division and the test of Miller and Rabin."""
    if any(n % p == 0 for p in SMALL):
        return False
    twos = (n - 1 & 1 - n).bit_length() - 1
    return all(_passes(n, base, twos) for base in bases)


def _passes(n: int, base: int, twos: int) -> bool:
    power = pow(base, n - 1 >> twos, n)
    return power == 1 or any(pow(power, 1 << i, n) == n - 1 for i in range(twos))


def next_prime(challenge: str) -> str:
    (digits,) = found(
        r"The number (\d+) is even and has 128 bits\. Find the smallest prime number that is greater than it\.",
        challenge,
    )
    n = int(digits)
    assert n % 2 == 0 and n.bit_length() == 128
    n += 1
    while not is_probable_prime(n, (2, 3, 5, 7, 11, 13, 17, 19)):
        n += 2
    return str(n)


def digit_sum(challenge: str) -> str:
    (number,) = found(
        r"What is the sum of all the digits of this number\?\n\n([1-9]\d+)",
        challenge,
    )
    assert 1000 <= len(number) <= 1099
    return str(sum(value * number.count(chr(48 + value)) for value in range(10)))


def listed_numbers(challenge: str) -> list[int]:
    """The numbers of the list of ten, whose order its own numbering states."""
    head, body = challenge.split("\n\n")
    found(r"Each of these ten odd numbers has 512 bits\. For each number, in the given order, say whether .+", head)
    rows = [row.split(". ") for row in body.split("\n")]
    assert [row[0] for row in rows] == [str(place) for place in range(1, 11)]
    return [int(row[1]) for row in rows]


def ten_primality_tests(challenge: str) -> str:
    numbers = listed_numbers(challenge)
    assert all(n % 2 and n.bit_length() == 512 for n in numbers)
    return f"[{', '.join(str(is_probable_prime(n)) for n in numbers)}]"


def median(challenge: str) -> str:
    count, listed = found(
        r"Find the median of these (\d+) integers\. If there is an even number of integers, the median is the mean of "
        rf"the two middle ones in sorted order\.\nRound to a whole number; {HALF_EVEN} even one\.\n\n([\d, ]+)",
        challenge,
    )
    values = sorted(int(value) for value in listed.split(", "))
    assert len(values) == int(count)
    twice = values[len(values) // 2] + values[(len(values) - 1) // 2]
    half = twice // 2
    return str(half + half % 2 if twice % 2 else half)


def rounded(value: Decimal, rule: str) -> str:
    """The value as the rule of rounding in a task asks for it."""
    places, plural, zeros = found(
        rf"Round to (\d+) decimal place(s?); {HALF_EVEN} one whose last digit is even\. (.+)", rule
    )
    assert (places == "1") == (plural == "")
    text = f"{value.quantize(Decimal(1).scaleb(-int(places)), ROUND_HALF_EVEN):f}"
    if zeros == "Leave out trailing zeros after the decimal point, and the point itself if no digits follow it.":
        return text.rstrip("0").rstrip(".")
    assert zeros == "Write exactly that many decimal places, with zeros at the end where needed."
    return text


def circle_area(challenge: str) -> str:
    radius, rule = found(r"A circle has a radius of (\d+(?:\.\d)?)\. Find its area\. (.+)", challenge)
    return rounded(PI * Decimal(radius) ** 2, rule)


def eigenvalues(challenge: str) -> str:
    *entries, rule = found(
        r"Find the two eigenvalues of the matrix \[\[(\d+), (\d+)\], \[(\d+), (\d+)\]\]\. Give the smaller one first\. (.+)",
        challenge,
    )
    a, b, c, d = map(Decimal, entries)
    root = ((a - d) ** 2 + 4 * b * c).sqrt()
    return f"({rounded((a + d - root) / 2, rule)}, {rounded((a + d + root) / 2, rule)})"


def cubic_integral(challenge: str) -> str:
    *numbers, rule = found(
        r"Find the integral of (\d+)x\^3 \+ (\d+)x\^2 \+ (\d+)x \+ (\d+) from x = (\d+) to x = (\d+)\. (.+)", challenge
    )
    *coefficients, low, high = map(int, numbers)
    assert all(2 <= c <= 500 for c in coefficients[:3]) and 1 <= coefficients[3] <= 500 and 1 <= low <= 5 < high <= 10
    powers = zip(coefficients, (4, 3, 2, 1), strict=True)
    area = sum((Fraction(c * (high**power - low**power), power) for c, power in powers), Fraction(0))
    return rounded(Decimal(area.numerator) / area.denominator, rule)


def max_subarray(challenge: str) -> str:
    (listed,) = found(
        r"What is the largest sum of a contiguous part of this list\? The part must have at least one number\."
        r"\n\n\[(.+)\]",
        challenge,
    )
    values = [int(value) for value in listed.split(", ")]
    assert 100 <= len(values) <= 200 and len(set(values)) == len(values)
    return str(max(total for start in range(len(values)) for total in accumulate(values[start:])))


def hashed_text(challenge: str) -> str:
    """The text that is to be hashed."""
    (text,) = found(
        r"What is the SHA3-256 digest of the 20 ASCII characters ([A-Za-z0-9]{20})\? Give it as 64 hexadecimal "
        r"digits, in lowercase or uppercase\.",
        challenge,
    )
    return text


def sha3(challenge: str) -> str:
    return hashlib.sha3_256(hashed_text(challenge).encode("ascii")).hexdigest()


LINE = re.compile(
    r"\| (\d\d):([0-5]\d):([0-5]\d) \| (?:sshd|login|ftp) \| ([a-z]+) \| ([0-9.]+) \| (failed|accepted) \|"
)


def failed_logins(challenge: str) -> str:
    head, table = challenge.split("\n\n")
    assert head == (
        "This table lists login attempts on a server. Exactly one combination of user and address has three "
        "or more failed attempts. Which combination is it? Give the user first, then the address."
    )
    names, rule, *lines = table.split("\n")
    assert (names, rule) == ("| time | service | user | address | result |", "|---|---|---|---|---|")
    rows = [match.groups() for match in map(LINE.fullmatch, lines) if match]
    times = [3600 * int(row[0]) + 60 * int(row[1]) + int(row[2]) for row in rows]
    assert len(rows) == len(lines) and times == sorted(set(times)) and times[-1] < 24 * 3600
    failures = Counter((user, address) for *_, user, address, result in rows if result == "failed")
    (culprit,) = [pair for pair, times_failed in failures.items() if times_failed >= 3]
    assert len({user for *_, user, _, _ in rows}) <= 5 and not re.search(r"\.(?:0|255)$", culprit[1])
    return f"({culprit[0]}, {culprit[1]})"


SOLVERS: list[Callable[[str], str]] = [
    next_prime, digit_sum, ten_primality_tests, median, circle_area, eigenvalues, cubic_integral, max_subarray, sha3,
    failed_logins,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    with localcontext(prec=60):
        derived = {id: solver(challenge) for id, challenge in asked.items()}
    assert derived == {id: answers[id]["text"] for id in asked}


def test_every_template_has_a_solver(challenges: Challenges) -> None:
    texts = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_dia_bench_truth*.py")]
    solvers = re.findall(r"^def (\w+?)_?\(challenge: str\) -> str:", "\n".join(texts), re.MULTILINE)
    others = re.findall(r'"(\w+)"', "\n".join(texts))  # families that a test takes by their names
    assert set(challenges) <= {*solvers, *others, "common_subsequence", "edit_script"}


def test_primes_are_primes_to_gmpy2(challenges: Challenges, answers: Answers) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    for id in challenges["next_prime"]:
        assert gmpy2.is_prime(int(answers[id]["text"]), 40), id
    for id, challenge in challenges["ten_primality_tests"].items():
        verdicts = [gmpy2.is_strong_bpsw_prp(n) for n in listed_numbers(challenge)]
        assert str(verdicts) == answers[id]["text"], id


def test_eigenvalues_are_those_of_numpy(challenges: Challenges, answers: Answers) -> None:
    numpy = pytest.importorskip("numpy")
    for id, challenge in challenges["eigenvalues"].items():
        entries = re.findall(r"\d+", challenge)[:4]
        given = sorted(numpy.linalg.eigvals(numpy.array(entries, dtype=float).reshape(2, 2)))
        told = [float(text) for text in answers[id]["text"].strip("()").split(", ")]
        assert numpy.allclose(given, told, rtol=0, atol=0.005 + 1e-9), id


def test_digests_are_those_of_openssl(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    ids = list(challenges["sha3"])
    files = [tmp_path / id.rpartition("/")[2] for id in ids]
    for id, file in zip(ids, files, strict=True):
        file.write_bytes(hashed_text(challenges["sha3"][id]).encode("ascii"))
    done = subprocess.run([openssl, "dgst", "-sha3-256", "-r", *map(str, files)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this openssl knows no SHA-3")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [answers[id]["text"] for id in ids]
