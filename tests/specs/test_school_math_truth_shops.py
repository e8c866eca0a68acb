"""Word problems of specs/school_math about money, sharing, counting and time, solved again from each prompt alone.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from helpers.word_problems import (
    MONEY,
    NAME,
    Records,
    bundle_records,
    cents,
    check_family,
    dollars,
    number,
    read,
    without,
)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return bundle_records(tmp_path_factory, request)


def singular(noun: str, nouns: list[str]) -> str:
    """The one of the nouns in the singular whose plural, in the first or last word, is the noun."""
    (one,) = {
        one
        for one in nouns
        for head, gap, tail in [one.partition(" of ")]
        if noun in (one, f"{head}s{gap}{tail}", f"{head}es{gap}{tail}")
    }
    return one


def change_from_a_bill(challenge: str) -> str:
    """Every piece is taken from the bills one after the other."""
    text = without(
        challenge,
        r"The walk to the [a-z ]+ took \d+ minutes\.",
        r"There were \d+ other customers there\.",
        rf"{NAME} also looked at a basket for {MONEY}, but did not take it\.",
        rf"A month earlier, s?he had spent {MONEY} there\.",
        r"The cashier had worked there for \d+ months\.",
    )
    bills = r"(?P<bills>an?|[a-z]+) \$(?P<bill>\d+) bills?"
    shop = r"(?:stationery shop|bakery|garden center|craft store)"
    parts = read(
        text,
        rf"{NAME} went to a {shop} and bought (?P<order>[^.]+)\. (?P<prices>An? .+)\. (?:She|He) paid with {bills}\. How much "
        r"change did s?he get, in dollars\?",
        rf"{NAME} kept the receipt from the {shop}:\n\n(?P<priced>.+)\n\n(?:She|He) had handed {bills} to the cashier\. How "
        rf"many dollars did {NAME} get back\?",
        rf"At the counter of a {shop}, {NAME} put down (?P<priced>.+)\. The cashier was given {bills} for all of this and "
        r"returned the difference\. What was that difference in dollars\?",
        rf"How many dollars in change should {NAME} have received from {bills}\? In the {shop}, (?P<prices>.+)\. {NAME} needed "
        r"(?P<order>[^.]+), and bought nothing else\.",
    )
    if parts.get("priced"):
        bought = [
            (int(n), cents(price)) for n, price in re.findall(rf"(\d+) [a-z ]+ at ({MONEY}) each", parts["priced"])
        ]
        assert len(bought) == parts["priced"].count(" each")
    else:
        prices = {
            good: cents(price) for good, price in re.findall(rf"an? ([a-z ]+) cost ({MONEY})", parts["prices"].lower())
        }
        order = re.findall(r"(\d+) ([a-z ]+?)(?=, | and \d|$)", parts["order"])
        bought = [(int(n), prices[singular(noun, list(prices))]) for n, noun in order]
        assert len(bought) == len(prices)
    left = int(parts["bill"]) * 100 * (1 if parts["bills"] in ("a", "an") else number(parts["bills"]))
    for n, price in bought:
        for _ in range(n):
            left -= price
    assert left > 0
    return dollars(left)


SOLVERS: list[Callable[[str], str]] = [change_from_a_bill]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
