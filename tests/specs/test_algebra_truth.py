"""The answers of specs/algebra, derived again from the words of each prompt alone, in every wording.

Nothing of the project computes here: each solver reads the text that a model is sent, and takes another way than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from math import gcd, isqrt, lcm, prod
from typing import Any

import pytest
from helpers.benchmarks import K, Records, records_of
from helpers.places import ROOT
from helpers.yaml_files import content

pytestmark = pytest.mark.long

SPECS = ROOT / "specs" / "algebra"
FAMILIES = sorted(path.stem for path in SPECS.glob("*.yaml") if path.stem != "benchmark")
Z = r"-?\d+"
D = r"-?\d+(?:\.\d+)?"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return records_of("algebra", tmp_path_factory, request)


def task(question: dict[str, Any]) -> str:
    """The prompt without the format's instruction."""
    challenge, mark, _ = question["messages"][-1]["content"].partition("\n\nYou may reason first. ")
    assert mark
    return str(challenge)


def read(challenge: str, *wordings: str) -> tuple[str, ...]:
    """The groups of the only wording that describes the whole challenge."""
    matches = [match for wording in wordings if (match := re.fullmatch(wording, challenge, re.DOTALL))]
    assert len(matches) == 1, challenge
    return matches[0].groups()


def integers(text: str) -> list[int]:
    return [int(number) for number in re.findall(Z, text)]


def value_of(formula: str, **values: Fraction | int) -> Any:
    """The value of a printed formula in exact numbers; a number before a letter or bracket is a factor."""
    formula = re.sub(r"(?<=[\d)a-z])(?<!sqrt)(?=[a-z(])", "*", formula.replace(" ", ""))
    formula = re.sub(r"(?<![\d.])(\d+(?:\.\d+)?)", r"N('\1')", formula.replace("^", "**"))
    return eval(formula, {"__builtins__": {}, "N": Fraction, **values})


def plain(value: Fraction) -> str:
    """A finite decimal, without an exponent or trailing zeros."""
    with localcontext(prec=100):
        decimal = Decimal(value.numerator) / Decimal(value.denominator)
        assert Fraction(decimal) == value
        text = f"{decimal:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed_sum(challenge: str) -> str:
    """Steps in words become signs; the formula is added up in fractions."""
    if challenge.startswith("Start"):
        first, steps = read(challenge, rf"Start with ({D}), (.+)\. What number do you get\?")
        formula = f"({first})"
        for verb, number in re.findall(rf"(?:^|, )then (add|subtract) ({D})", steps):
            formula += f"{'+' if verb == 'add' else '-'}({number})"
        assert formula.count("(") == steps.count(", ") + 2
    else:
        (formula,) = read(challenge, r"Calculate ([-+\d. ()]+)\.", r"What is the value of ([-+\d. ()]+)\?")
    return plain(value_of(formula))


def product_and_quotient(challenge: str) -> str:
    (formula,) = read(
        challenge,
        r"Calculate ([-\d*/ ()]+)\. Give the result as an integer or as a fraction in lowest terms\.",
        r"What integer or fraction in lowest terms is equal to ([-\d*/ ()]+)\?",
        r"Calculate from left to right, and reduce the result to lowest terms: ([-\d*/ ()]+)",
    )
    return str(value_of(formula))


def nearest_root(challenge: str) -> str:
    """Bisection, then the nearer neighbour by a midpoint in fractions."""
    words = r"(square|cube|\d+(?:st|nd|rd|th)) root"
    if challenge.startswith("What"):
        name, n = read(challenge, rf"What is the {words} of (\d+), rounded to the nearest integer\?")
        degree = {"square": 2, "cube": 3}.get(name) or int(name[:-2])
    elif challenge.startswith("Which"):
        degree_text, n = read(challenge, r"Which integer is closest to the positive solution of x\^(\d+) = (\d+)\?")
        degree = int(degree_text)
    else:
        n, degree_text = read(challenge, r"Round (\d+)\^\(1/(\d+)\) to the nearest integer\.")
        degree = int(degree_text)
    low, high = 0, int(n)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= int(n) else (low, middle)
    return str(low + (Fraction(2 * low + 1, 2) ** degree < int(n)))


def simplify_surds(challenge: str) -> str:
    """Each radicand by removing squares one by one; the sum by the part under the root."""
    (formula,) = read(
        challenge,
        r"Simplify ([-+\w*() ]+)\.\n\nThe result has the form p \+ q\*sqrt\(r\) with integers p, q and r, where r > 1 is not divisible by any square greater than 1\."
        r" Give p, q and r, in this order\.",
        r"Write ([-+\w*() ]+) as p \+ q\*sqrt\(r\), where p, q and r are integers and r is greater than 1 and not divisible "
        r"by the square of any prime\. What are p, q and r\? Give them in this order\.",
    )
    parts: dict[int, int] = {}
    for sign, number, roots in re.findall(r"(-?)(?:(\d+)\*)?(sqrt[^+-]+)", formula.replace(" ", "")):
        radicand, coefficient = prod(integers(roots)), int(number or 1) * (-1 if sign else 1)
        for d in range(isqrt(radicand), 1, -1):
            if radicand % d**2 == 0:
                coefficient, radicand = coefficient * d, radicand // d**2
        parts[radicand] = parts.get(radicand, 0) + coefficient
    ((root, factor),) = [part for part in parts.items() if part[0] != 1]
    return f"({parts[1]}, {factor}, {root})"


def greatest_common_divisor(challenge: str) -> str:
    """What fractions of two numbers cancel."""
    goods = (
        rf"A school has ((?:{Z} [a-z]+(?:, | and )?)+)\. It wants to make as many identical packets as possible, with "
    )
    (numbers,) = read(
        challenge,
        r"What is the greatest common divisor of ([\d, and]+)\?",
        r"Find the largest integer that divides ([\d, and]+) without a remainder\.",
        goods + r"nothing left over\. How many packets can it make\?",
    )
    first, *others = integers(numbers)
    for other in others:
        first //= Fraction(first, other).numerator
    return str(first)


def least_common_multiple(challenge: str) -> str:
    """Multiples of the largest number, one after the other."""
    if "denominator" in challenge:
        (fractions,) = read(challenge, r"What is the least common denominator of ([-\d/, and]+)\?")
        numbers = integers(fractions)[1::2]
        assert all(gcd(a, b) == 1 for a, b in zip(integers(fractions)[::2], numbers, strict=True))
    else:
        (text,) = read(
            challenge,
            r"What is the least common multiple of ([\d, and]+)\?",
            r"A harbor has (?:two|three) ferry lines\. A ferry leaves ((?:every \d+ minutes on line [ABC](?:,? and |, )?)+)\. "
            r"Ferries on (?:both|all three) lines have just left together\. In how many minutes will that happen next\?",
        )
        numbers = integers(text)
    step, multiple = max(numbers), max(numbers)
    while any(multiple % n for n in numbers):
        multiple += step
    return str(multiple)


def prime_among_composites(challenge: str) -> str:
    (listed,) = read(
        challenge,
        r"Exactly one of these numbers is prime: ([\d, and]+)\. Which one\?",
        r"All of these numbers except one are products of two smaller integers greater than 1\. Which number is the "
        r"exception\?\n\n([\d, ]+)",
        r"Find the prime number in this list: ([\d, ]+)\.",
    )
    (prime,) = [n for n in integers(listed) if all(n % d for d in range(2, isqrt(n) + 1))]
    return str(prime)


def prime_factors(challenge: str) -> str:
    (n,) = read(
        challenge,
        r"Write (\d+) as a product of primes\. List the primes in ascending order, each as often as it occurs in the product\.",
        r"What is the prime factorization of (\d+)\? List all prime factors from smallest to largest, and repeat those that "
        r"occur more than once\.",
        r"Which prime numbers, multiplied together, give (\d+)\? If a prime is used more than once, list it that many times\."
        r" Start with the smallest\.",
    )
    rest, divisor, primes = int(n), 2, []
    while rest > 1:
        if rest % divisor:
            divisor += 1
        else:
            primes.append(divisor)
            rest //= divisor
    return str(primes)


PLACES = {
    name: power
    for power, name in enumerate(
        [
            "units",
            "tens",
            "hundreds",
            "thousands",
            "ten thousands",
            "hundred thousands",
            "millions",
            "ten millions",
            "hundred millions",
            "billions",
            "ten billions",
            "hundred billions",
        ]
    )
} | {
    name: -1 - index
    for index, name in enumerate(
        ["tenths", "hundredths", "thousandths", "ten-thousandths", "hundred-thousandths", "millionths"]
    )
}


def place_value(challenge: str) -> str:
    """The digit by division."""
    if "place value" in challenge:
        number, power = read(challenge, rf"Which digit of ({D}) has the place value ({D})\?")
        (name,) = [name for name, place in PLACES.items() if Fraction(10) ** place == Fraction(power)]
    else:
        name, number = read(
            challenge,
            rf"What is the ([a-z -]+) digit of ({D})\?",
            rf"Which digit is in the ([a-z -]+) place of ({D})\?",
        )
    return str(int(Fraction(number) / Fraction(10) ** PLACES[name]) % 10)


def round_number(challenge: str) -> str:
    """Decimal quantizes; a tie must not occur."""
    number, places_text, power_text = "", None, None
    target = r"(?:the nearest (integer|[a-z ]+)|([a-z]+) decimal places?)"
    wordings = (
        rf"Round (?P<n>{D}) to {target}\.",
        rf"What is (?P<n>{D}) rounded to {target}\?",
        rf"Which (?:(integer|multiple of \d+)|number with at most ([a-z]+) decimal places?) is closest to (?P<n>{D})\?",
    )
    (match,) = [match for wording in wordings if (match := re.fullmatch(wording, challenge))]
    number = match["n"]
    power_text, places_text = [group for group in match.groups() if group != number]
    names = ["integer", "ten", "hundred", "thousand", "ten thousand", "hundred thousand", "million"]
    multiples = [f"multiple of {10**power}" for power in range(7)]
    power = (
        -1 - ["one", "two", "three", "four", "five", "six"].index(places_text)
        if places_text
        else (multiples if "multiple" in str(power_text) else names).index(str(power_text))
    )
    scaled = Fraction(number) / Fraction(10) ** power
    assert (2 * scaled).denominator != 1 or scaled.denominator == 1, "a tie"
    return plain(round(scaled) * Fraction(10) ** power)


def division_remainder(challenge: str) -> str:
    n, divisor = map(
        int,
        read(
            challenge,
            r"What is the remainder when (\d+) is divided by (\d+)\?",
            r"A company packs (\d+) (?:[a-z ]+) into boxes of (\d+) and fills as many boxes as possible\. How many (?:[a-z ]+) "
            r"are left over\?",
            r"Subtract from (\d+) the largest multiple of (\d+) that does not exceed it\. What is left\?",
        ),
    )
    return str(n - divisor * int(Fraction(n, divisor)))


def linear_equation(challenge: str) -> str:
    """Both sides are lines: their values at 0 and 1 say where they meet."""
    if challenge.startswith("Solve"):
        left, right, name = read(challenge, r"Solve (.+) = (.+) for ([a-z])\.")
    elif challenge.startswith("For"):
        name, left, right = read(
            challenge,
            r"For which value of ([a-z]) are the two sides of this equation equal\?\n\n(.+) = (.+)",
        )
    else:
        left, right, name = read(challenge, r"The expressions (.+) and (.+) have the same value\. What is ([a-z])\?")
    zero, one = (value_of(left, **{name: x}) - value_of(right, **{name: x}) for x in (0, 1))
    return str(zero / (zero - one))


def coefficients_of(formula: str, name: str) -> list[int]:
    """The coefficients of a printed polynomial, constant first: the balanced digits of its value at a huge number."""
    base = 10**80
    rest = int(value_of(formula, **{name: base}))
    numbers = []
    while rest:
        digit = (rest + base // 2) % base - base // 2
        numbers.append(digit)
        rest = (rest - digit) // base
    return numbers


def linear_system(challenge: str) -> str:
    """Elimination in fractions, from coefficients that are differences of values."""
    if challenge.startswith("Solve"):
        names_text, equations_text, again = read(
            challenge,
            r"Solve this system of equations for ([a-z, and]+):\n\n(.+)\n\nGive the values of ([a-z, and]+), in this order\.",
        )
        assert names_text == again
        equations = equations_text.split("\n")
    elif challenge.startswith("Suppose"):
        equations_text, names_text = read(challenge, r"Suppose that (.+)\. What are ([a-z, and]+), in this order\?")
        equations = re.split(", | and ", equations_text)
    else:
        equations_text, _, _, names_text = read(
            challenge,
            r"(.+)\n\nWhich values of ([a-z, and]+) satisfy (both|all three) equations\? List them in the order ([a-z, ]+)\.",
        )
        equations = equations_text.split("\n")
    names = re.split(", | and ", names_text)
    rows = []
    for equation in equations:
        left, right = equation.split(" = ")
        zero = dict.fromkeys(names, 0)
        rows.append([Fraction(value_of(left, **(zero | {name: 1}))) for name in names] + [Fraction(right)])
    assert len(rows) == len(names)
    for i in range(len(rows)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(len(rows)):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return f"({', '.join(str(row[-1]) for row in rows)})"


def expand_product(challenge: str) -> str:
    """The product's value at a huge number has the coefficients as digits."""
    if challenge.startswith("The product"):
        formula, name, _, _, top = read(
            challenge,
            r"The product (.+) is a polynomial in ([a-z]) of degree ([a-z]+)\. What are its ([a-z]+) coefficients\? Start with "
            r"the coefficient of ([a-z]\^\d+) and end with the constant term\. A coefficient may be zero\.",
        )
    elif challenge.startswith("Expand"):
        formula, name = read(
            challenge,
            r"Expand (.+) and collect like terms\. List the coefficients from the highest power of ([a-z]) down to the constant "
            r"term, including zeros\.",
        )
        top = ""
    else:
        formula, top = read(
            challenge,
            r"Multiply out: (.+)\n\nThen write down all coefficients of the resulting polynomial, from that of ([a-z]\^\d+) to "
            r"the constant term, with a 0 for each power that does not occur\.",
        )
        name = top[0]
    numbers = coefficients_of(formula, name)
    assert top in ("", f"{name}^{len(numbers) - 1}")
    return str(numbers[::-1])


def derivative(challenge: str) -> str:
    """The product rule on Horner's scheme."""
    nth = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
    times = {"once": 1, "twice": 2, "three times": 3, "four times": 4, "five times": 5}
    if challenge.startswith("Differentiate"):
        formula, word, name = read(challenge, r"Differentiate (.+?) ([a-z]+(?: times)?) with respect to ([a-z])\.")
        order = times[word]
    elif challenge.startswith("Let"):
        name, formula, word, again = read(
            challenge, r"Let [fg]\(([a-z])\) = (.+)\. Find the ([a-z]+) derivative of [fg] as a polynomial in ([a-z])\."
        )
        assert name == again
        order = nth[word]
    else:
        word, formula, name = read(challenge, r"What is the ([a-z]+) derivative of (.+) with respect to ([a-z])\?")
        order = nth[word]
    numbers = coefficients_of(formula, name)
    for _ in range(order):
        # (xp + c)' = p + xp'
        value: list[int] = []
        slope: list[int] = []
        for number in reversed(numbers):
            slope = [a + b for a, b in zip_longest([0, *slope], value, fillvalue=0)]
            value = [number, *value]
        numbers = slope
    text = ""
    for power, number in reversed(list(enumerate(numbers))):
        if number:
            text += (" - " if text else "-") if number < 0 else (" + " if text else "")
            letters = "" if not power else name if power == 1 else f"{name}^{power}"
            factor = [str(abs(number))] if abs(number) != 1 or not letters else []
            text += "*".join(factor + [letters] * bool(letters))
    return text


def polynomial_roots(challenge: str) -> str:
    """The rational root theorem: every fraction of a divisor of the last and one of the first coefficient."""
    formula, name = "", ""
    if challenge.startswith("What"):
        _, name, formula = read(
            challenge,
            r"What are the ([a-z]+) zeros of the function [fg]\(([a-z])\) = (.+)\? Each of them is an integer or a fraction\.",
        )
    elif challenge.startswith("Solve"):
        formula, name = read(challenge, r"Solve (.+) = 0 for ([a-z])\. All solutions are rational\. List them all\.")
    else:
        name, formula = read(
            challenge, r"For which rational values of ([a-z]) is (.+) equal to zero\? Find all of them\."
        )
    numbers = coefficients_of(formula, name)
    content = gcd(*numbers)
    numbers = [number // content for number in numbers]
    tops, bottoms = (
        sorted({d for k in range(1, isqrt(abs(n)) + 1) if n % k == 0 for d in (k, abs(n) // k)})
        for n in (numbers[0], numbers[-1])
    )
    roots = set()
    for bottom in bottoms:
        for top in (sign * t for t in tops for sign in (1, -1)):
            if gcd(top, bottom) == 1:
                value = 0
                for power, number in enumerate(reversed(numbers)):
                    value = value * top + number * bottom**power
                if value == 0:
                    roots.add(Fraction(top, bottom))
    assert len(roots) == len(numbers) - 1
    return f"{{{', '.join(map(str, sorted(roots)))}}}"


def base_arithmetic(challenge: str) -> str:
    """Python reads the digits; repeated division writes them."""
    note = r"the letters? A(?: and B| to [C-F])? as the digits? after 9"
    if challenge.startswith("In base"):
        base_text, first, sign, second, again = read(
            challenge,
            rf"In base (\d+), what is (\w+) ([-+]) (\w+)\? Give the result in base (\d+)\.(?: Use {note}\.)?",
        )
    else:
        first, second, base_text, verb, again = read(
            challenge,
            rf"(\w+) and (\w+) are numbers in base (\d+)(?:, with {note})?\. (Add them|Subtract the second from the first), and "
            r"write the result in base (\d+)\.",
        )
        sign = "+" if verb == "Add them" else "-"
    assert base_text == again
    base = int(base_text)
    assert ("after 9" in challenge) == (base > 10)
    rest = int(first, base) + int(second, base) * (1 if sign == "+" else -1)
    text = ""
    while rest:
        rest, digit = divmod(rest, base)
        text = "0123456789ABCDEF"[digit] + text
    return text


def convert_base(challenge: str) -> str:
    """Python reads the digits; the largest power of the other base that fits is taken away again and again."""
    note = r"(?: The letters? A (?:is|and B are|to [C-F] are) the digits? after 9\.)?"
    if challenge.startswith("Convert"):
        digits, source, target = read(challenge, rf"Convert (\w+) from base (\d+) to base (\d+)\.{note}")
    else:
        source, digits, target = read(
            challenge,
            rf"In base (\d+), a number is written as (\w+)\. How is the same number written in base (\d+)\?{note}",
        )
    base, rest, text = int(target), int(digits, int(source)), ""
    assert ("after 9" in challenge) == (max(base, int(source)) > 10)
    power = next(power for power in range(200) if base ** (power + 1) > rest)
    for exponent in range(power, -1, -1):
        digit = 0
        while rest >= base**exponent:
            rest, digit = rest - base**exponent, digit + 1
        text += "0123456789ABCDEF"[digit]
    return text


def compare_pairs(challenge: str) -> str:
    """Python's fractions read both sides."""
    (lines,) = read(
        challenge,
        r"Which of these statements are true\?\n\n(.+)\n\nGive the letters of all true statements\.",
        r"(.+)\n\nSome of these statements are true, and the others are false\. List the letters of the true ones\.",
    )
    statements = re.findall(r"^([A-J]): ([-\d./]+) ([<=>]) ([-\d./]+)$", lines, re.MULTILINE)
    assert len(statements) == lines.count("\n") + 1
    holds = {"<": Fraction.__lt__, "=": Fraction.__eq__, ">": Fraction.__gt__}
    true = [letter for letter, left, sign, right in statements if holds[sign](Fraction(left), Fraction(right))]
    return f"{{{', '.join(true)}}}"


def next_in_sequence(challenge: str) -> str:
    """Lagrange's polynomial through as many terms as the degree needs; the other terms must agree."""
    kinds = {"linear": 1, "quadratic": 2, "cubic": 3, "fourth-degree": 4}
    if challenge.startswith("The n-th"):
        kind, _, terms_text = read(
            challenge,
            r"The n-th term of a sequence is a ([a-z-]+) polynomial in n\. The first ([a-z]+) terms are ([-\d, and]+)\. What is "
            r"the next term\?",
        )
    elif challenge.startswith("For"):
        kind, count, terms_text, following = read(
            challenge,
            r"For a ([a-z-]+) polynomial p, the values p\(1\) to p\((\d+)\) are ([-\d, and]+), in this order\. What is "
            r"p\((\d+)\)\?",
        )
        assert int(count) == len(integers(terms_text)) == int(following) - 1
    else:
        terms_text, kind = read(
            challenge,
            r"([-\d, ]+), \.\.\.\n\nThese are the values of a ([a-z-]+) polynomial for n = 1, 2, 3 and so on\. What is the next "
            r"value\?",
        )
    terms, degree = integers(terms_text), kinds[kind]

    def at(x: int) -> Fraction:
        points = range(1, degree + 2)
        return sum(
            (
                terms[i - 1] * prod((Fraction(x - j, i - j) for j in points if j != i), start=Fraction(1))
                for i in points
            ),
            Fraction(0),
        )

    assert len(terms) >= degree + 2 and [at(x) for x in range(1, len(terms) + 1)] == terms
    return str(at(len(terms) + 1))


def sort_numbers(challenge: str) -> str:
    if challenge.startswith("Sort"):
        direction, listed = read(
            challenge,
            r"Sort these numbers in (ascending|descending) order:\n\n(.+)\n\nAnswer with the letters in that order, without "
            r"spaces or commas\.",
        )
    else:
        listed, start, _ = read(
            challenge,
            r"(.+)\n\nWhat is the order of these numbers from (smallest|largest) to (smallest|largest)\? Write only their letters, "
            r"one directly after the other\.",
        )
        direction = "ascending" if start == "smallest" else "descending"
    values = {line[0]: Fraction(line[3:]) for line in listed.split("\n")}
    assert len(set(values.values())) == len(values)
    return "".join(sorted(values, key=values.__getitem__, reverse=direction == "descending"))


def letters_without_replacement(challenge: str) -> str:
    """Draw by draw, over what may still be drawn."""
    goal = r"((?:[a-z]+ [a-z](?:'s)?(?:, | and )?)+)"
    if challenge.startswith("Someone"):
        drawn, total, jar, goal_text = read(
            challenge,
            r"Someone picks ([a-z]+) letters at once, at random, from a bag with these (\d+) letters: ([a-z]+)\. What is the "
            rf"probability that the picked letters are {goal}\? Their order does not matter\.",
        )
    elif challenge.startswith("Each"):
        jar, total, drawn, goal_text = read(
            challenge,
            r"Each character of ([a-z]+) is on its own card\. The (\d+) cards are shuffled and ([a-z]+) of them are dealt\. What "
            rf"is the probability that the dealt cards show {goal}, in some order\?",
        )
    else:
        total, jar, drawn, goal_text = read(
            challenge,
            r"A jar contains (\d+) letters: ([a-z]+)\. ([A-Z][a-z]+) of them are drawn at random without replacement\. What is "
            rf"the probability of drawing exactly {goal}, in any order\?",
        )
    words = ["one", "two", "three", "four", "five", "six", "seven"]
    wanted = {
        name: words.index(word) + 1
        for word, name in re.findall(r"([a-z]{2,}) ([a-z])(?:'s)?\b", goal_text)
        if word != "and"
    }
    assert len(jar) == int(total) and sum(wanted.values()) == words.index(drawn.lower()) + 1

    @cache
    def chance(open_: tuple[tuple[str, int], ...]) -> Fraction:
        missing = dict(open_)
        left = len(jar) - sum(wanted.values()) + sum(missing.values())
        if not any(missing.values()):
            return Fraction(1)
        return sum(
            (
                Fraction(jar.count(name) - wanted[name] + n, left) * chance(tuple({**missing, name: n - 1}.items()))
                for name, n in open_
                if n
            ),
            Fraction(0),
        )

    return str(chance(tuple(wanted.items())))


def closest_number(challenge: str) -> str:
    """All over one denominator, in integers."""
    if challenge.startswith("Which"):
        target, listed = read(
            challenge, r"Which of these numbers is closest to ([-\d/]+)\?\n\n(.+)\n\nAnswer with its letter\."
        )
    elif challenge.startswith("For"):
        target, listed = read(
            challenge,
            r"For each number in this list, take the absolute value of its difference from ([-\d/]+)\. For which letter is the "
            r"result smallest\?\n\n(.+)",
        )
    else:
        listed, target = read(
            challenge,
            r"(.+)\n\nOne of these numbers has the smallest distance from ([-\d/]+)\. What is its letter\?",
        )
    values = {line[0]: Fraction(line[3:]) for line in listed.split("\n")}
    scale = lcm(Fraction(target).denominator, *(value.denominator for value in values.values()))
    distances = {letter: abs(int(value * scale) - int(Fraction(target) * scale)) for letter, value in values.items()}
    best, second = sorted(distances, key=distances.__getitem__)[:2]
    assert distances[best] < distances[second]
    return best


UNITS = {"mm": "1/1000", "cm": "1/100", "dm": "1/10", "m": "1", "km": "1000"} | {
    "mg": "1/1000",
    "g": "1",
    "kg": "1000",
    "t": "1000000",
}
SECONDS = {"second": 1, "minute": 60, "hour": 60**2, "day": 24 * 60**2}


def convert_units(challenge: str) -> str:
    """Both units in meters, grams and seconds."""
    number, source, target = read(
        challenge,
        rf"Convert ({D}) (\S+(?: per [a-z]+)?) to (\S+(?: per [a-z]+)?)\. Give the exact result as an integer, or as a fraction "
        r"in lowest terms\.",
        rf"What is ({D}) (\S+(?: per [a-z]+)?) in (\S+(?: per [a-z]+)?)\? Do not round\. If the result is not an integer, write "
        r"it as a fraction in lowest terms\.",
    )

    def size(unit: str) -> Fraction:
        name, _, time = unit.partition(" per ")
        name, _, power = name.partition("^")
        return Fraction(UNITS[name]) ** int(power or 1) / (SECONDS[time] if time else 1)

    assert source != target and re.sub("[a-z]+( per )?", r"\1", source) == re.sub("[a-z]+( per )?", r"\1", target)
    return str(Fraction(number) * size(source) / size(target))


def clock_time(challenge: str) -> str:
    """Dates of the standard library."""
    start, moves = read(
        challenge,
        r"A 24-hour clock shows (\d\d:\d\d)\. It is set (.+)\. What does it show now\? Answer in the form HH:MM\.",
        r"Start at (\d\d:\d\d) and go (.+)\. What time of day do you reach\? Use the 24-hour clock, with two digits for the hour "
        r"and two for the minute, as in 07:05\.",
    )
    moment = datetime.strptime(f"2001-06-15 {start}", "%Y-%m-%d %H:%M")
    for move in moves.split(", then "):
        duration = r"(\d+) hours? and (\d+) minutes?"
        match = re.fullmatch(rf"(?:(forward|back) by )?{duration}(?: (forward|back))?", move)
        assert match and bool(match[1]) != bool(match[4]), move
        shift = timedelta(hours=int(match[2]), minutes=int(match[3]))
        moment += shift if "forward" in match.groups() else -shift
    return f"{moment:%H:%M}"


def compose_functions(challenge: str) -> str:
    """The printed formulas, as functions that call each other."""
    if challenge.startswith("Let"):
        definitions_text, called = read(challenge, r"Let (.+)\. What is (.+)\?")
        definitions = re.split(", | and ", definitions_text)
    elif challenge.startswith("Start"):
        argument, order, definitions_text = read(
            challenge,
            rf"Start with x = ({Z}) and apply the functions ([a-z, and]+), in this order, each to the result of the one before:"
            r"\n\n(.+)\n\nWhat is the final result\?",
        )
        called = argument
        for name in re.split(r", | and then ", order):
            called = f"{name}({called})"
        definitions = definitions_text.split("\n")
    else:
        definitions_text, called = read(challenge, r"(.+)\n\nCalculate (.+)\.")
        definitions = definitions_text.split("\n")
    formulas = {}
    for definition in definitions:
        match = re.fullmatch(r"([a-z])\(x\) = (.+)", definition)
        assert match, definition
        formulas[match[1]] = match[2]
    value = Fraction(re.findall(Z, called)[0])
    for name in reversed(re.findall(r"[a-z]", called)):
        value = Fraction(value_of(formulas[name], x=value))
    return str(value)


def simplify_powers(challenge: str) -> str:
    """Python reads the formula, with its own precedence of operators."""
    if challenge.startswith("Simplify"):
        formula, *names = read(
            challenge,
            r"Simplify (.+) to a single power of ([a-z]), where ([a-z]) is positive\. What is the exponent\? Give it as an integer "
            r"or as a fraction in lowest terms\.",
        )
    else:
        *names, formula, again = read(
            challenge,
            r"For positive ([a-z]), the expression (.+) is equal to a single power of ([a-z])\. Find the exponent of this power\. If it "
            r"is not an integer, write it as a fraction in lowest terms\.",
        )
        names.append(again)
    (name,) = set(names)

    class Power:
        """A power of the base, known by its exponent."""

        def __init__(self, exponent: Fraction) -> None:
            self.exponent = exponent

        def __mul__(self, other: Power) -> Power:
            return Power(self.exponent + other.exponent)

        def __truediv__(self, other: Power) -> Power:
            return Power(self.exponent - other.exponent)

        def __pow__(self, n: Fraction) -> Power:
            return Power(self.exponent * n)

    return str(value_of(formula, **{name: Power(Fraction(1))}).exponent)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_what_its_prompt_asks_for_in_every_wording(
    family: str, bundle: tuple[Records, Records]
) -> None:
    solver: Callable[[str], str] = globals()[family]
    questions, answers = ([record for record in records if record["template"] == family] for records in bundle)
    derived = {question["id"]: solver(task(question)) for question in questions}
    assert derived == {answer["id"]: answer["text"] for answer in answers}
    wordings = {question["variant"] for question in questions}
    assert len(wordings) >= 2 and len({task(question) for question in questions}) == K * len(wordings)
    assert {answer["parameters"]["regime"] for answer in answers} == {"interpolation", "extrapolation"}


def test_the_regime_is_the_first_parameter() -> None:
    for path in map("{}.yaml".format, FAMILIES):
        assert next(iter(content(SPECS / path)["params"])) == "regime", path
