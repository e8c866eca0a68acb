"""Word problems of specs/school_math about ages, pursuit, dealing, fences, legs, recipes and wages, solved again from the prompt.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from helpers.word_problems import NAME, Records, bundle_records, check_family, number, read, without


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return bundle_records(tmp_path_factory, request)


def only(candidates: list[int]) -> int:
    """The only candidate."""
    (candidate,) = candidates
    return candidate


OF_AGES = (
    r"A neighbor of theirs is \d+ years old\.",
    rf"The house that {NAME} lives in was built \d+ years ago\.",
    rf"{NAME}'s favorite book has \d+ pages\.",
    r"The oldest tree on their street is \d+ years old\.",
    rf"{NAME} often takes bus number \d+\.",
)
TIMES = r"(?P<ratio>twice|\w+ times)"
COMPARED = rf"{NAME} is \d+ years (?:older|younger) than {NAME}\."
COMPARISONS = rf"(?P<chain>(?: {COMPARED})*)"


def asked_age(parts: dict[str, str], ages: dict[str, int]) -> str:
    """The age of the person in question, from the ages of the first two."""
    comparisons = re.findall(rf"({NAME}) is (\d+) years (older|younger) than ({NAME})\.", parts["chain"])
    assert len(comparisons) == parts["chain"].count(" than ")
    for name, years, word, other in comparisons:
        ages[name] = ages[other] + int(years) * (1 if word == "older" else -1)
    return str(ages[parts["asked"]])


def ratio(parts: dict[str, str]) -> int:
    return 2 if parts["ratio"] == "twice" else number(parts["ratio"].removesuffix(" times"))


def ages(challenge: str) -> str:
    """All pairs with the sum are tried at the other time."""
    moment = r"(?P<moment>In [\w-]+ years|[\w-]+ years ago)"
    parts = read(
        without(challenge, *OF_AGES),
        rf"The ages of (?P<a>{NAME}) and (?P<b>{NAME}) add up to (?P<sum>\d+) years\. {moment}, (?P=a) (?:was|will be) {TIMES} as "
        rf"old as (?P=b)\.{COMPARISONS} How old is (?P<asked>{NAME}) now, in years\?",
        rf"At a party, (?P<a>{NAME}) adds (?:his|her) own age to (?P<b>{NAME})'s and gets (?P<sum>\d+)\. \"{moment}, you (?:were|will "
        rf"be) {TIMES} as old as I (?:was|will be),\" (?P=b) says to (?:him|her)\.{COMPARISONS} How many years old is "
        rf"(?P<asked>{NAME}) at the time of the party\?",
        rf"Some facts about the ages of [^:]+:\n\n- Today, the sum of (?P<a>{NAME})'s age and (?P<b>{NAME})'s age is (?P<sum>\d+) "
        rf"years\.\n- {moment}, (?P=a) (?:was|will be) {TIMES} as old as (?P=b)\.(?P<chain>(?:\n- {COMPARED})*)\n\nEvery age is a "
        rf"whole number of years\. What is (?P<asked>{NAME})'s age today, in years\?",
        rf"How many years old is (?P<asked>{NAME}) today\? {moment}, (?P<a>{NAME})'s age (?:was|will be) {TIMES} (?P<b>{NAME})'s "
        rf"age\. Today, their ages add up to (?P<sum>\d+) years\.{COMPARISONS}",
    )
    years = number(re.sub(r"^In | years| ago$", "", parts["moment"])) * (1 if parts["moment"].startswith("In") else -1)
    total = int(parts["sum"])
    first = only(
        [n for n in range(1, total) if n + years == ratio(parts) * (total - n + years) and total - n + years > 0]
    )
    return asked_age(parts, {parts["a"]: first, parts["b"]: total - first})


def ages_hard(challenge: str) -> str:
    """All pairs with the sum go back year by year until the older one has the age that the younger one has now."""
    earlier = rf"When (?P<a>{NAME}) was as old as (?P<b>{NAME}) is (?:now|today), "
    known = (
        rf"When (?P=a) was as old as (?P=b) is (?:now|today), (?P=a) was {TIMES} as old as (?P=b) was at that time\."
    )
    parts = read(
        without(challenge, *OF_AGES),
        rf"The ages of (?P<a>{NAME}) and (?P<b>{NAME}) add up to (?P<sum>\d+) years\. {known}{COMPARISONS} How old is "
        rf"(?P<asked>{NAME}) now, in years\?",
        rf"At a party, (?P<a>{NAME}) adds (?:his|her) own age to (?P<b>{NAME})'s and gets (?P<sum>\d+)\. \"When you were as old as I am "
        rf"now, you were {TIMES} as old as I was,\" (?P=b) says to (?:him|her)\.{COMPARISONS} How many years old is "
        rf"(?P<asked>{NAME}) at the time of the party\?",
        rf"Some facts about the ages of [^:]+:\n\n- Today, the sum of (?P<a>{NAME})'s age and (?P<b>{NAME})'s age is (?P<sum>\d+) "
        rf"years\.\n- {known}(?P<chain>(?:\n- {COMPARED})*)\n\nEvery age is a whole number of years\. What is "
        rf"(?P<asked>{NAME})'s age today, in years\?",
        rf"How many years old is (?P<asked>{NAME}) today\? {earlier}(?P=a)'s age was {TIMES} (?P=b)'s age at that time\. Today, "
        rf"their ages add up to (?P<sum>\d+) years\.{COMPARISONS}",
    )
    fitting = []
    for first in range(1, int(parts["sum"])):
        second = int(parts["sum"]) - first
        for years in range(first):
            if first - years == second and first - years == ratio(parts) * (second - years):
                fitting.append(first)
    first = only(fitting)
    return asked_age(parts, {parts["a"]: first, parts["b"]: int(parts["sum"]) - first})


SOLVERS: list[Callable[[str], str]] = [
    ages,
    ages_hard,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
