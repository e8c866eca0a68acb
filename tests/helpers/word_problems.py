"""Questions of specs/school_math and the words that their solvers read."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from helpers.benchmarks import K, Records, records_of
from helpers.places import ROOT

SPECS = ROOT / "specs" / "school_math"
ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
NUMBERS = {word: value for value, word in enumerate((*ONES, *TEENS))}
NAME = "[A-Z][a-z]+"
MONEY = r"\$\d+(?:\.\d\d)?"


def bundle_records(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers of all families, compiled once for every test file that asks."""
    return records_of("school_math", tmp_path_factory, request)


def task(question: dict[str, Any]) -> str:
    """The prompt without the format's instruction."""
    challenge, mark, _ = question["messages"][-1]["content"].partition("\n\nYou may reason first. ")
    assert mark
    return str(challenge)


def without(challenge: str, *irrelevant: str) -> str:
    """The challenge without the sentences that change nothing, of which there are at most two."""
    challenge, count = re.subn("|".join(f" (?:{sentence})" for sentence in irrelevant), "", challenge)
    assert count <= 2, challenge
    return challenge


def read(challenge: str, *wordings: str) -> dict[str, str]:
    """The named groups of the only wording that describes the whole challenge."""
    matches = [match for wording in wordings if (match := re.fullmatch(wording, challenge, re.DOTALL))]
    assert len(matches) == 1, challenge
    return matches[0].groupdict()


def number(text: str) -> int:
    return NUMBERS[text.lower()] if text.lower() in NUMBERS else int(text)


def cents(text: str) -> int:
    """An amount such as $12 or $3.05, in cents."""
    assert re.fullmatch(MONEY, text), text
    return int(Fraction(text.removeprefix("$")) * 100)


def dollars(amount: Fraction | int) -> str:
    """An amount of cents as the canonical answer writes it: a decimal without trailing zeros."""
    whole = int(amount)
    assert whole == amount
    text = f"{whole // 100}.{whole % 100:02}"
    return text.rstrip("0").rstrip(".")


def check_family(solver: Callable[[str], str], family: str, records: tuple[Records, Records]) -> None:
    """Compare what the solver reads from every prompt of the family with the answers of the bundle."""
    questions, answers = ([record for record in part if record["template"] == family] for part in records)
    derived = {question["id"]: solver(task(question)) for question in questions}
    assert derived == {answer["id"]: answer["text"] for answer in answers}
    wordings = {question["variant"] for question in questions}
    assert len(wordings) == 4 and len({task(question) for question in questions}) == 4 * K
