"""The truths of the families on numbers, derived a second time from the words of their prompts alone.

Nothing of the project computes here: every solver reads the text that a model is sent and works in plain Python. Where it
can, it takes another way than the spec: by hand what the spec has a function for, step by step what it has a formula for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, permutations
from math import comb, gcd, isqrt, prod
from typing import Any

import pytest
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")  # OEIS A000796
HALF_EVEN = "a value exactly halfway between two candidates goes to the one whose last digit is even"
STRIPPED = r"Leave out trailing zeros after the decimal point, and the point itself if no digits follow it\."
N = r"(\d+)"


def numbers(pattern: str, challenge: str) -> list[int]:
    """The groups of a pattern that must describe the whole task, all of them integers."""
    return [int(group) for group in found(pattern, challenge)]


def listed(text: str) -> list[int]:
    return [int(number) for number in text.split(", ")]


def half_even(value: Fraction, places: int) -> str:
    """The value rounded to so many places, a tie to the even digit, without zeros at its end."""
    units = value * 10**places
    whole, rest = divmod(units.numerator, units.denominator)
    twice = 2 * rest
    whole += twice > units.denominator or (twice == units.denominator and whole % 2 == 1)
    digits = str(abs(whole)).rjust(places + 1, "0")
    text = (digits[:-places] + "." + digits[-places:]).rstrip("0").rstrip(".")
    return "-" + text if whole < 0 else text


def small_sum(challenge: str) -> str:
    a, b = numbers(rf"What is {N} plus {N}\?", challenge)
    assert min(a, b) >= 10 and max(a, b) <= 1000
    return str(len([None] * a + [None] * b))


def absolute_difference(challenge: str) -> str:
    a, b = numbers(rf"Compute \|{N} - {N}\|, the absolute difference of the two numbers\.", challenge)
    assert a != b and min(a, b) >= 100 and max(a, b) <= 10**8
    return str(max(a, b) - min(a, b))


def small_product(challenge: str) -> str:
    a, b = numbers(rf"What is {N} times {N}\?", challenge)
    assert min(a, b) >= 11 and max(a, b) <= 1000
    return str(sum([a] * b))


def five_term_sum(challenge: str) -> str:
    (terms,) = found(r"Add up these five numbers: ([\d +]+)", challenge)
    assert terms.count(" + ") == 4
    return str(list(accumulate(map(int, terms.split(" + "))))[-1])


def triangular_number(challenge: str) -> str:
    (n,) = numbers(rf"What is the sum of all integers from 1 to {N}, including both\?", challenge)
    assert 100 <= n <= 10**5
    return str(sum(range(n + 1)))


def remainder(challenge: str) -> str:
    a, b = numbers(rf"What is the remainder when {N} is divided by {N}\?", challenge)
    assert 10**5 <= a <= 10**11 and 11 <= b <= 99999 and b not in (100, 1000, 10000)
    return str(a - b * int(Fraction(a, b)))


def small_square(challenge: str) -> str:
    (a,) = numbers(rf"Compute the square of {N}\.", challenge)
    assert 11 <= a <= 10**4
    return str(sum(range(1, 2 * a, 2)))


def big_cube(challenge: str) -> str:
    (a,) = numbers(rf"Compute the cube of {N} exactly, and write out all digits of the result\.", challenge)
    assert 10**5 <= a < 10**14
    high, low = divmod(a, 10**7)
    return str(high**3 * 10**21 + 3 * high**2 * low * 10**14 + 3 * high * low**2 * 10**7 + low**3)


def sum_of_even_numbers(challenge: str) -> str:
    (n,) = numbers(rf"What is the sum of the first {N} positive even numbers, 2 \+ 4 \+ 6 \+ \.\.\.\?", challenge)
    assert 10**4 <= n < 10**14
    return str(sum_of_progression(2, 2, n))


def sum_of_progression(first: int, step: int, terms: int) -> int:
    """The sum of an arithmetic progression: the average of its ends, as often as there are terms."""
    average = Fraction(first + first + step * (terms - 1), 2)
    assert (average * terms).denominator == 1
    return int(average * terms)


def semiprime(challenge: str) -> str:
    """The number is not factored here: see the test of factors below."""
    return str(
        numbers(
            rf"The 128-bit number {N} is the product of two different 64-bit primes\. Find both primes\. "
            r"Give the smaller one first\.",
            challenge,
        )[0]
    )


def prime_sum(challenge: str) -> str:
    (n,) = numbers(rf"Find the sum of all prime numbers that are less than or equal to {N}\.", challenge)
    assert 100 <= n <= 10**4
    return str(sum(k for k in range(2, n + 1) if all(k % d for d in range(2, isqrt(k) + 1))))


def modular_inverse(challenge: str) -> str:
    p, x, *again = numbers(
        rf"The number p = {N} is prime\. Find the multiplicative inverse of {N} modulo p: the integer y with "
        rf"0 < y < p such that {N} \* y leaves remainder 1 when divided by p\.",
        challenge,
    )
    assert again == [x] and p.bit_length() == 128
    before, rest, factors = p, x, (0, 1)  # Euclid's algorithm, with the factor of x in each remainder
    while rest:
        times = before // rest
        before, rest = rest, before - times * rest
        factors = factors[1], factors[0] - times * factors[1]
    assert before == 1
    return str(factors[0] % p)


def big_gcd(challenge: str) -> str:
    a, b = numbers(rf"What is the greatest common divisor of {N} and {N}\?", challenge)
    assert a <= 2**50 and 2**40 <= b <= 2**50
    while b:
        a, b = b, a % b
    assert a >= 10000
    return str(a)


def arithmetic_series(challenge: str) -> str:
    first, step, terms = numbers(
        rf"An arithmetic progression starts with {N}, and each term after that is {N} more than the previous one\. "
        rf"Find the sum of its first {N} terms\.",
        challenge,
    )
    assert max(first, step) <= 2**20 and 100 <= terms <= 2**20
    return str(
        sum(range(first, first + step * terms, step)) if terms < 1000 else sum_of_progression(first, step, terms)
    )


TERM = r"(?: ([+-]) (\d*){})?"


def quadratic_roots(challenge: str) -> str:
    lead, b_sign, b_size, c_sign, c_size = found(
        r"Solve the equation (\d*)x\^2" + TERM.format("x") + TERM.format("")
        + r" = 0\. It has two different integer roots\. Give the smaller root first\.",
        challenge,
    )  # fmt: skip
    a = int(lead or 1)
    b = int((b_sign or "+") + (b_size or "1")) if b_size is not None else 0
    c = int(c_sign + c_size) if c_sign else 0
    root = isqrt(b * b - 4 * a * c)
    assert root > 0 and root**2 == b * b - 4 * a * c
    low, high = Fraction(-b - root, 2 * a), Fraction(-b + root, 2 * a)
    return f"[{low}, {high}]"


def modular_power(challenge: str) -> str:
    b, e, m = numbers(
        r"Compute b\^e mod m, the remainder of b to the power of e when divided by m, for these 1024-bit numbers:"
        rf"\n\nb = {N}\n\ne = {N}\n\nm = {N}",
        challenge,
    )
    assert b.bit_length() == e.bit_length() == m.bit_length() == 1024
    power = 1
    for bit in reversed(range(1024)):
        power = power * power % m
        if e >> bit & 1:
            power = power * b % m
    return str(power)


def lcm_of_list(challenge: str) -> str:
    count, text = found(
        rf"Find the least common multiple of these {N} numbers, and write out all of its digits\.\n\n([\d, ]+)",
        challenge,
    )
    values = listed(text)
    assert len(values) == int(count) and 20 <= len(values) <= 100 and min(values) > 1
    multiple = 1
    for value in values:
        multiple *= value // gcd(multiple, value)
    return str(multiple)


def base_conversion(challenge: str) -> str:
    n, base, letters = found(
        rf"Write the decimal number {N} in base {N}((?:, using the letters? .+)?)\. Give only the digits, "
        r"most significant first, without leading zeros, a prefix or spaces\.",
        challenge,
    )
    last = "ABCDEF"[int(base) - 11] if int(base) > 10 else ""
    assert letters == {
        "": "", "A": ", using the letter A for the digit ten",
    }.get(last, f", using the letters A to {last} for the digits from ten up")  # fmt: skip
    rest, text = int(n), ""
    while rest:
        rest, digit = divmod(rest, int(base))
        text = "0123456789ABCDEF"[digit] + text
    return text


def age_riddle(challenge: str) -> str:
    first, years_1, second, again, years_2, third, back, total, asked = found(
        r"(\w+) is (\d+) years? older than (\w+), and (\w+) is (\d+) years? older than (\w+)\. (\d+) years? ago, "
        r"their ages added up to (\d+)\. How many years old is (\w+) now\?",
        challenge,
    )
    assert second == again and len({first, second, third}) == 3
    youngest = Fraction(int(total) - int(years_1) - 2 * int(years_2), 3) + int(back)
    assert youngest.denominator == 1 and youngest > int(back)
    ages = {third: youngest, second: youngest + int(years_2), first: youngest + int(years_2) + int(years_1)}
    return str(ages[asked])


STEPS: list[tuple[str, Callable[[int, int], int]]] = [
    (r"add (\d+)", lambda x, n: x + n),
    (r"subtract (\d+)", lambda x, n: x - n),
    (r"multiply by (\d+)", lambda x, n: x * n),
    (r"raise to the power of (\d+)", lambda x, n: x**n),
    (r"double, then add (\d+)", lambda x, n: x + x + n),
    (r"change the sign()", lambda x, _: -x),
]


def after_steps(start: int, steps: list[str]) -> int:
    """The number that the operations, carried out literally from the first to the last, lead to."""
    number = start
    for step in steps:
        ((does, operand),) = [(does, match[1]) for form, does in STEPS if (match := re.fullmatch(form, step))]
        number = does(number, int(operand or 0))
    return number


def multiply_by_zero(challenge: str) -> str:
    start, text = found(
        rf"Start with the number {N} and carry out these operations in order, each on the result of the previous one:"
        r"\n\n- (.+)\n\nWhat is the final result\?",
        challenge,
    )
    steps = text.split("\n- ")
    assert steps.count("multiply by 0") == 1 and 6 <= steps.index("multiply by 0") <= 16
    return str(after_steps(int(start), steps))


def long_sum(challenge: str) -> str:
    (n,) = numbers(
        rf"Let n = {N}\. Find the exact value of 1 \+ 2 \+ 3 \+ \.\.\. \+ n, with all of its digits\.", challenge
    )
    assert 10**9 <= n <= 10**12
    return str(comb(n + 1, 2))


def sum_of_squares(challenge: str) -> str:
    n, m = numbers(
        r"What is the remainder when 1\^2 \+ 2\^2 \+ 3\^2 \+ \.\.\. \+ n\^2 is divided by m\?\n\n"
        rf"n = {N}\n\nm = {N}",
        challenge,
    )
    return str((2 * comb(n + 1, 3) + comb(n + 1, 2)) % m)  # k**2 = 2 * comb(k, 2) + k


def fibonacci(challenge: str) -> str:
    (n,) = numbers(
        r"The Fibonacci sequence starts with F\(1\) = 1 and F\(2\) = 1, and each later number is the sum of the two "
        rf"before it\. Find F\({N}\), with all of its digits\.",
        challenge,
    )
    assert 100 <= n <= 10**4
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return str(a)


def rows_of(text: str) -> list[list[int]]:
    return [[int(entry) for entry in row.split(" ")] for row in text.split("\n")]


def sign_of(order: tuple[int, ...]) -> int:
    exchanges = sum(order[i] > order[j] for j in range(len(order)) for i in range(j))
    return -1 if exchanges % 2 else 1


SIGNED_ORDERS = [(sign_of(order), order) for order in permutations(range(5))]


def determinant(challenge: str) -> str:
    (text,) = found(r"Find the determinant of this 5x5 matrix:\n\n([\d \n]+)", challenge)
    m = rows_of(text)
    assert [len(row) for row in m] == [5] * 5
    return str(sum(sign * prod(m[i][order[i]] for i in range(5)) for sign, order in SIGNED_ORDERS))  # Leibniz


def pollard(challenge: str) -> str:
    """The number is not factored here: see the test of factors below."""
    return str(
        numbers(
            r"The number n is the product of two different 1024-bit primes\. For one of them, call it p, all prime "
            r"factors of p - 1 are less than 2\^20\. Find both primes\. Give the smaller one first\."
            rf"\n\nn = {N}",
            challenge,
        )[0]
    )


def linear_system(challenge: str) -> str:
    a, b, p, c, d, q = (
        int(group or 1)
        for group in found(
            r"Solve this system of equations\. Give x first, then y\.\n\n"
            r"(\d*)x \+ (\d*)y = (\d+)\n(\d*)x \+ (\d*)y = (\d+)\n\n"
            rf"Round to 2 decimal places; {HALF_EVEN}\. {STRIPPED}",
            challenge,
        )
    )
    factor = Fraction(c, a)  # the first equation that often is taken from the second
    y = (q - factor * p) / (d - factor * b)
    return f"({half_even((p - b * y) / a, 2)}, {half_even(y, 2)})"


def stripped(value: Decimal, places: int) -> str:
    return f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):f}".rstrip("0").rstrip(".")


def cylinder_volume(challenge: str) -> str:
    radius, height = numbers(
        rf"A right circular cylinder has a radius of {N} and a height of {N}\. Find its volume\. "
        rf"Round to 4 decimal places; {HALF_EVEN}\. {STRIPPED}",
        challenge,
    )
    assert 10 <= radius <= 5000 and 10 <= height <= 10**4
    return stripped(PI * radius * radius * height, 4)


def read_curve(challenge: str) -> tuple[tuple[int, ...], int, int]:
    """The coefficients of a cubic, and the two ends of its piece."""
    a, b, c, d, low, high = (
        int(group or 1)
        for group in found(
            r"Find the length of the curve y = (\d*)x\^3 \+ (\d*)x\^2 \+ (\d*)x \+ (\d+) from x = (\d+) to x = (\d+)\. "
            rf"Round to 8 decimal places; {HALF_EVEN}\. {STRIPPED}",
            challenge,
        )
    )
    return (a, b, c, d), low, high


def arc_length(challenge: str) -> str:
    """By the rule of tanh and sinh: the integral of sqrt(1 + slope**2) - slope, and the rise."""
    (a, b, c, _), low, high = read_curve(challenge)
    rise = a * (high**3 - low**3) + b * (high**2 - low**2) + c * (high - low)
    width = high - low
    total = sum((weight * excess(a, b, c, low + width * at) for at, weight in TANH_SINH), Decimal(0)) * width
    return stripped(rise + total, 8)


def excess(a: int, b: int, c: int, x: Decimal) -> Decimal:
    slope = (3 * a * x + 2 * b) * x + c
    return 1 / ((1 + slope * slope).sqrt() + slope)


def tanh_sinh(step: Decimal, steps: int) -> list[tuple[Decimal, Decimal]]:
    """Places from 0 to 1 and their weights (Takahasi and Mori, 1974)."""
    rule = []
    for k in range(-steps, steps + 1):
        t = k * step
        power, half_pi = (PI * ((t.exp() - (-t).exp()) / 2)).exp(), PI / 2
        weight = step * half_pi * (t.exp() + (-t).exp()) * power / (1 + power) ** 2
        rule.append((power / (1 + power), weight))
    return rule


with localcontext(prec=60):
    TANH_SINH = tanh_sinh(Decimal("0.05"), 70)


def rank(challenge: str) -> str:
    (text,) = found(r"What is the rank of this matrix\?\n\n([\d \n]+)", challenge)
    rows = [[Fraction(entry) for entry in row] for row in rows_of(text)]
    assert [len(row) for row in rows] == [3, 3, 3] and all(280 <= entry <= 3720 for row in rows for entry in row)
    independent = 0
    for column in range(3):  # elimination
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        independent += 1
        others = [row for row in rows if row is not pivot]
        rows = [[x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)] for row in others]
    return str(independent)


def dot_product(challenge: str) -> str:
    u, v = map(
        listed,
        found(
            r"Find the dot product of the vectors u and v, which have 100 components each\.\n\n"
            r"u = \(([\d, ]+)\)\n\nv = \(([\d, ]+)\)",
            challenge,
        ),
    )
    assert len(u) == len(v) == 100
    return str(sum(a * b for a, b in zip(u, v, strict=True)))


SOLVERS: list[Callable[[str], str]] = [
    small_sum, absolute_difference, small_product, five_term_sum, triangular_number, remainder, small_square, big_cube,
    sum_of_even_numbers, prime_sum, modular_inverse, big_gcd, arithmetic_series, quadratic_roots, modular_power,
    lcm_of_list, base_conversion, age_riddle, multiply_by_zero, long_sum, sum_of_squares, fibonacci, determinant,
    linear_system, cylinder_volume, arc_length, rank, dot_product,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_truth_is_what_its_prompt_asks_for(
    solver: Callable[[str], str], challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[solver.__name__]
    with localcontext(prec=50):
        derived = {id: solver(challenge) for id, challenge in asked.items()}
    assert derived == {id: answers[id]["text"] for id in asked}


SMALL = [p for p in range(3, 1000, 2) if all(p % q for q in range(3, isqrt(p) + 1, 2))]
SIEVE_LIMIT = 2**20


def is_probable_prime(n: int, bases: tuple[int, ...] = (2, 3, 5, 7, 11, 13)) -> bool:
    """Whether an odd n above the small primes passes trial division and the test of Miller and Rabin."""
    if any(n % p == 0 for p in SMALL):
        return False
    twos = (n - 1 & 1 - n).bit_length() - 1
    powers = [pow(base, n - 1 >> twos, n) for base in bases]
    return all(power == 1 or any(pow(power, 1 << i, n) == n - 1 for i in range(twos)) for power in powers)


def primes_below(limit: int) -> list[int]:
    sieve = bytearray([1]) * limit
    for p in range(2, isqrt(limit) + 1):
        if sieve[p]:
            sieve[p * p :: p] = bytes(len(range(p * p, limit, p)))
    return [p for p in range(2, limit) if sieve[p]]


@pytest.mark.parametrize(("asks", "bits"), [(semiprime, 64), (pollard, 1024)], ids=["semiprime", "pollard"])
def test_factors_are_the_two_primes_of_their_product(
    asks: Callable[[str], str], bits: int, challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[asks.__name__]
    for id, challenge in asked.items():
        p, q = listed(answers[id]["text"].strip("[]"))
        assert p * q == int(asks(challenge)) and p < q, id
        assert p.bit_length() == q.bit_length() == bits and (bits > 64 or (p * q).bit_length() == 128), id
        assert is_probable_prime(p) and is_probable_prime(q), id


@pytest.mark.long
def test_one_of_two_factors_has_a_smooth_neighbour_as_promised(challenges: Challenges, answers: Answers) -> None:
    primorial = prod(primes_below(SIEVE_LIMIT))
    for id in list(challenges["pollard"])[:25]:
        factors = listed(answers[id]["text"].strip("[]"))
        assert any(is_smooth(p - 1, primorial) for p in factors), id


def is_smooth(n: int, primorial: int) -> bool:
    """Whether all prime factors of n divide the primorial."""
    return pow(primorial % n, n.bit_length(), n) == 0


def test_the_smooth_prime_is_sometimes_the_smaller_one_and_sometimes_the_larger(answers: Answers) -> None:
    places = {
        listed(record["text"].strip("[]")).index(int(record["parameters"]["p"]["integer"]))
        for id, record in answers.items()
        if "/pollard/" in id
    }
    assert places == {0, 1}


def test_ranks_come_equally_often(answers: Answers) -> None:
    ranks = [record["text"] for id, record in answers.items() if "/rank/" in id]
    times = [ranks.count(text) for text in ("1", "2", "3")]
    assert sum(times) == len(ranks) and max(times) - min(times) <= 1


def test_overlooking_the_zero_is_a_named_mistake(challenges: Challenges, answers: Answers) -> None:
    for id, challenge in challenges["multiply_by_zero"].items():
        start, *steps = re.findall(r"Start with the number (\d+)", challenge) + re.findall(r"\n- ([^\n]+)", challenge)
        wrong = after_steps(int(start), [step for step in steps if step != "multiply by 0"])
        assert answers[id]["mistakes"]["zero_overlooked"] == str(wrong), id


def test_lengths_of_curves_are_those_of_scipy(challenges: Challenges, answers: Answers) -> None:
    quad = pytest.importorskip("scipy.integrate").quad
    for id, challenge in list(challenges["arc_length"].items())[:40]:
        (a, b, c, _), low, high = read_curve(challenge)
        length, error = quad(lambda x, a=a, b=b, c=c: (1 + (3 * a * x * x + 2 * b * x + c) ** 2) ** 0.5, low, high)
        assert abs(length - float(answers[id]["text"])) <= max(1e-6, 2 * error), id


def test_determinants_and_ranks_are_those_of_numpy(challenges: Challenges, answers: Answers) -> None:
    numpy = pytest.importorskip("numpy")
    for id, challenge in challenges["determinant"].items():
        m = numpy.array(rows_of(challenge.split("\n\n")[1]), dtype=float)
        assert numpy.isclose(numpy.linalg.det(m), float(answers[id]["text"]), rtol=1e-9, atol=1e-3), id
    for id, challenge in challenges["rank"].items():
        m = numpy.array(rows_of(challenge.split("\n\n")[1]))
        assert str(numpy.linalg.matrix_rank(m)) == answers[id]["text"], id
