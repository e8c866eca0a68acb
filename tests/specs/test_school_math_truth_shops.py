"""Word problems of specs/school_math about money, sharing, counting and time, solved again from each prompt alone.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction

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

pytestmark = pytest.mark.long


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
        rf"At the counter of a {shop}, {NAME} put down (?P<priced>.+)\. The cashier was given {bills} for everything on the counter and returned the difference\."
        r" What was that difference in dollars\?",
        rf"How many dollars in change should {NAME} have received from {bills}\? At the {shop}, (?P<prices>.+)\. {NAME} needed "
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


MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]
OF_SALES = (
    r"The year before, the store had sold \d+ [a-z ]+\.",
    r"The store also took \d+% off all lamps that year\.",
    r"The warranty lasted \d+ months\.",
    rf"{NAME} lived \d+ miles from the store\.",
    rf"{NAME} had been saving for \d+ weeks\.",
)


def percentages(text: str, tax: str) -> list[int]:
    """The changes in the order of their months, and the sales tax."""
    changes = [
        (MONTHS.index(early or late), int(percent) * (1 if verb == "raised" else -1))
        for early, verb, percent, late in re.findall(
            rf"(?:(?:In )?({NAME})(?:: |, the store ))?(raised|lowered) (?:the price )?by (\d+)%(?: in ({NAME}))?", text
        )
    ]
    assert [month for month, _ in changes] == sorted({month for month, _ in changes}) and len(changes) == text.count(
        "%"
    )
    return [*(percent for _, percent in changes), int(tax)]


def sale_price(challenge: str) -> str:
    """Each time, the share of the amount so far is added or taken away."""
    parts = read(
        without(challenge, *OF_SALES),
        rf"In January, a store was selling an? (?P<item>[a-z ]+) for (?P<price>{MONEY})\. The price was (?P<history>.+)\. In {NAME}, "
        rf"{NAME} bought the (?P=item) at the new price plus (?P<tax>\d+)% sales tax\. How much did s?he pay, in dollars\?",
        rf"{NAME} followed the price of an? [a-z ]+ at a store:\n\n- January: (?P<price>{MONEY})\n(?P<history>.+)\n- {NAME}: "
        rf"bought by {NAME}, plus (?P<tax>\d+)% sales tax on the price at that time\n\nEach percentage refers to the price "
        rf"before that change\. How many dollars did {NAME} pay, including the tax\?",
        rf"In January, a store put an? [a-z ]+ in its window at a price of (?P<price>{MONEY})\. (?P<history>.+)\. In {NAME}, "
        rf"{NAME} bought the [a-z ]+ at its current price plus a sales tax of (?P<tax>\d+)%\. What was the amount on (?:his|her) "
        r"receipt, in dollars\?",
        rf"How many dollars did {NAME} spend on an? [a-z ]+\? In {NAME}, s?he bought it in a store where sales tax of "
        rf"(?P<tax>\d+)% is added to every price\. The price had been (?P<price>{MONEY}) in January\. After that, it was "
        r"(?P<history>.+)\.",
    )
    amount = Fraction(cents(parts["price"]))
    for percent in percentages(parts["history"], parts["tax"]):
        amount += amount * percent / 100
    return dollars(amount)


def sale_price_hard(challenge: str) -> str:
    """The first price by bisection: the more it was, the more was paid."""
    parts = read(
        without(challenge, *OF_SALES),
        rf"In January, a store was selling an? (?P<item>[a-z ]+) for a certain price\. The price was (?P<history>.+)\. In {NAME}, "
        rf"{NAME} bought the (?P=item) at the new price plus (?P<tax>\d+)% sales tax\. (?:She|He) paid (?P<paid>{MONEY})\. How much did the (?P=item) cost in January, in dollars, before tax\?"
        r"",
        rf"{NAME} followed the price of an? [a-z ]+ at a store:\n\n- January: \(not written down\)\n(?P<history>.+)\n- {NAME}: "
        rf"bought by {NAME}, plus (?P<tax>\d+)% sales tax on the price at that time, (?P<paid>{MONEY}) in all\n\nEach percentage "
        r"refers to the price before that change\. What was the price in January, in dollars, before tax\?",
        rf"In January, a store put an? [a-z ]+ in its window\. (?P<history>.+)\. In {NAME}, {NAME} bought the [a-z ]+ at its current price plus a sales tax of (?P<tax>\d+)%\."
        rf" The amount on (?:his|her) receipt was (?P<paid>{MONEY})\. What "
        r"was the price in the window in January, in dollars\?",
        rf"How many dollars did an? [a-z ]+ cost in January, before tax\? In {NAME}, {NAME} spent (?P<paid>{MONEY}) on it in a "
        r"store where sales tax of (?P<tax>\d+)% is added to every price\. After January, the price was (?P<history>.+)\.",
    )
    factor = Fraction(1)
    for percent in percentages(parts["history"], parts["tax"]):
        factor += factor * percent / 100
    low, high = 0, 10**6
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle * factor >= cents(parts["paid"]) else (middle + 1, high)
    assert low * factor == cents(parts["paid"])
    return dollars(low)


OF_SHARES = (
    rf"{NAME} was \d+ years old at the time\.",
    r"The empty box weighed \d+ ounces\.",
    r"It had taken them \d+ weeks to collect the [a-z ]+\.",
    r"A neighbor had a collection of \d+ [a-z ]+\.",
    rf"{NAME} lived \d+ houses away from {NAME}\.",
)


def listed(text: str) -> list[str]:
    return re.split(r", | and ", text)


def ratio_and_fact(challenge: str, fact: str) -> tuple[dict[str, int], dict[str, str]]:
    """The parts of each person, and the groups of the fact and the question."""
    people = rf"(?P<people>{NAME}(?:, {NAME})*(?: and {NAME})?)"
    ratio = r"in the ratio (?P<ratio>\d+(?: : \d+)+)"
    parts = read(
        without(challenge, *OF_SHARES),
        rf"{people} divided a box of [a-z ]+ among themselves {ratio}, in this order\. {fact}\. How many [a-z ]+ did "
        rf"(?P<asked>{NAME}) get from the box\?",
        r"A box of [a-z ]+ was dealt out in rounds\. In each round, (?P<round>.+?)\. After some full rounds, the box was empty\. "
        rf"(?:In total, )?{fact}\. How many of the [a-z ]+ did (?P<asked>{NAME}) get from the box\?",
        r"[A-Z][a-z]+ children agreed to divide a box of [a-z ]+ into equal parts and share them like this:\n\n\| child \| parts \|\n\|---\|---\|\n"
        rf"(?P<table>.+?)\n\nAll of the [a-z ]+ were given out\. We know that {fact}\. How large was (?P<asked>{NAME})'s share, in [a-z ]+\?"
        rf"",
        rf"How many [a-z ]+ did (?P<asked>{NAME}) receive from a box that was divided among {people}, in this order, {ratio}\? "
        rf"Nothing was left over\. Years later, they remembered only that {fact}\.",
    )
    if parts.get("ratio"):
        terms = dict(zip(listed(parts["people"]), map(int, parts["ratio"].split(" : ")), strict=True))
    elif parts.get("round"):
        terms = {name: int(part) for name, part in re.findall(rf"({NAME}) got (\d+)", parts["round"])}
        assert len(terms) == parts["round"].count("got")
    else:
        terms = {name: int(part) for name, part in re.findall(rf"\| ({NAME}) \| (\d+) \|", parts["table"])}
        assert len(terms) == parts["table"].count("\n") + 1
    return terms, parts


def share_in_a_ratio(challenge: str) -> str:
    """Rounds are dealt out until the fact is true."""
    terms, parts = ratio_and_fact(
        challenge,
        rf"(?:[Tt]here were (?P<total>\d+) [a-z ]+?|(?P<more>{NAME}) got (?P<difference>\d+) more [a-z ]+? than (?P<less>{NAME})"
        rf"|(?P<one>{NAME}) got (?P<share>\d+) [a-z ]+?)",
    )
    rounds = 1
    while True:
        shares = {name: rounds * part for name, part in terms.items()}
        if parts["total"]:
            number, goal = sum(shares.values()), int(parts["total"])
        elif parts["difference"]:
            number, goal = shares[parts["more"]] - shares[parts["less"]], int(parts["difference"])
        else:
            number, goal = shares[parts["one"]], int(parts["share"])
        if number >= goal:
            assert number == goal
            return str(shares[parts["asked"]])
        rounds += 1


def share_in_a_ratio_hard(challenge: str) -> str:
    """Rounds are dealt out, and after each one the gift is tried."""
    terms, parts = ratio_and_fact(
        challenge,
        rf"[Aa]fter (?P<giver>{NAME}) had given (?P<gift>\d+) [a-z ]+ to (?P<taker>{NAME}), the ratio of what (?P=giver) had to "
        r"what (?P=taker) had was (?P<first>\d+) : (?P<second>\d+)",
    )
    gift, ratio = int(parts["gift"]), Fraction(int(parts["first"]), int(parts["second"]))
    rounds = [
        n
        for n in range(1, 200)
        if Fraction(n * terms[parts["giver"]] - gift, n * terms[parts["taker"]] + gift) == ratio
    ]
    assert len(rounds) == 1
    return str(rounds[0] * terms[parts["asked"]])


SOLVERS: list[Callable[[str], str]] = [
    change_from_a_bill,
    sale_price,
    sale_price_hard,
    share_in_a_ratio,
    share_in_a_ratio_hard,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
