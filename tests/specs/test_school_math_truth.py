"""Word problems of specs/school_math about motion, work, mixtures, ages and measures, solved again from each prompt alone.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from helpers.word_problems import NAME, Records, bundle_records, check_family, read, without

pytestmark = pytest.mark.long

DECIMAL = r"\d+(?:\.\d+)?"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return bundle_records(tmp_path_factory, request)


def decimal(value: Fraction | int) -> str:
    """An exact decimal number without trailing zeros, as the canonical answer writes it."""
    value = Fraction(value)
    places = next(places for places in range(10) if (value * 10**places).denominator == 1)
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else digits


OF_TRAVELERS = (
    r"It was \d+ degrees outside that morning\.",
    rf"{NAME} was carrying a bag that weighed \d+ pounds\.",
    r"They had last seen each other \d+ weeks before\.",
    r"They had known each other for \d+ years\.",
    rf"{NAME} had already covered \d+ miles the day before\.",
    r"Another road between the two towns is \d+ miles longer, but nobody took it\.",
)
MOVED = "(?:cycled|drove|jogged)"


def meeting_travelers(challenge: str) -> str:
    """Both move in steps of a minute; the first one begins with all the stops, which changes nothing about the meeting."""
    text = without(challenge, *OF_TRAVELERS)
    way = rf"(?P<way>{DECIMAL}) miles"
    stops = rf"(?P<stops>(?: On the way, before they met, {NAME} stopped for \d+ minutes [^.]+\.)?)"
    parts = read(
        text,
        rf"(?P<a>{NAME}) and (?P<b>{NAME}) are {way} apart by road\. At the same moment, (?P<p>{NAME}) left (?P=a) for (?P=b) and "
        rf"(?P<q>{NAME}) left (?P=b) for (?P=a) on the same road\. (?P=p) {MOVED} at (?P<first>\d+) miles per hour and (?P=q) at "
        rf"(?P<second>\d+) miles per hour\.{stops} How many miles from (?P=a) did they meet\?",
        rf"(?P<p>{NAME}) lives in (?P<a>{NAME}) and (?P<q>{NAME}) in {NAME}\. One morning they set out at the same time to meet "
        rf"somewhere on the road between the two towns, which is {way} long\. (?P=q) {MOVED} at a steady (?P<second>\d+) miles per "
        rf"hour without a stop\. (?P=p) {MOVED} at a steady (?P<first>\d+) miles per hour(?P<stops>(?:, but stopped [^.]+ before they met)?)\."
        rf" How far from (?P=a), in miles, was the place where they met\?",
        rf"Two friends were \w+ing toward each other on the same road:\n\n- (?P<p>{NAME}): from (?P<a>{NAME}) to (?P<b>{NAME}), "
        rf"(?P<first>\d+) miles per hour\n- {NAME}: from (?P=b) to (?P=a), (?P<second>\d+) miles per hour(?P<stops>(?:\n- before they met, (?P=p) stopped"
        rf" for \d+ minutes [^.]+)?)\n\nThey started at the same time, and the road was {way} long\. How many miles from (?P=a) did they meet\?"
        rf"",
        rf"How many miles had (?P<p>{NAME}) covered by the time s?he met (?P<q>{NAME})\? The two had set out toward each other at "
        rf"the same time, (?P=p) from {NAME} and (?P=q) from {NAME}, {way} away along the only road they used\. (?P=p)'s speed was "
        rf"(?P<first>\d+) miles per hour and (?P=q)'s was (?P<second>\d+) miles per hour\.{stops}",
    )
    standing = sum(int(minutes) for minutes in re.findall(r"for (\d+) minutes", parts["stops"]))
    first, second, minute = Fraction(0), Fraction(0), 0
    while first + second < Fraction(parts["way"]):
        first += Fraction(parts["first"]) / 60 if minute >= standing else 0
        second += Fraction(parts["second"]) / 60
        minute += 1
    assert first + second == Fraction(parts["way"])
    return decimal(first)


def meeting_travelers_hard(challenge: str) -> str:
    """From one event to the next: a meeting, or one of the two at an end of the road."""
    which = "(?P<which>second|third)"
    way = rf"(?P<way>{DECIMAL}) miles"
    parts = read(
        without(challenge, *OF_TRAVELERS),
        rf"(?P<a>{NAME}) and (?P<b>{NAME}) are {way} apart by road\. At the same moment, (?P<p>{NAME}) left (?P=a) for (?P=b) and "
        rf"(?P<q>{NAME}) left (?P=b) for (?P=a) on the same road\. Both turned around without delay whenever they reached a town\. "
        rf"(?P=p) {MOVED} at (?P<first>\d+) miles per hour and (?P=q) at (?P<second>\d+) miles per hour\. How many miles from "
        rf"(?P=a) did they meet for the {which} time\?",
        rf"(?P<p>{NAME}) lives in (?P<a>{NAME}) and (?P<q>{NAME}) in {NAME}\. One morning they set out at the same time toward the "
        rf"other's town, on the road between the two towns, which is {way} long\. They kept going back and forth between the "
        rf"towns without a break\. (?P=q) {MOVED} at a steady (?P<second>\d+) miles per hour\. (?P=p) {MOVED} at a steady (?P<first>\d+) miles per hour\."
        rf" How far from (?P=a), in miles, was the place where they met for the {which} time\?",
        rf"Two friends were \w+ing toward each other on the same road:\n\n- {NAME}: from (?P<a>{NAME}) to (?P<b>{NAME}), "
        rf"(?P<first>\d+) miles per hour\n- {NAME}: from (?P=b) to (?P=a), (?P<second>\d+) miles per hour\n- in each town: whoever arrived turned around at once and headed back"
        rf"\n\nThey started at the same time, and the road was {way} long\. How many miles "
        rf"from (?P=a) did they meet for the {which} time\?",
        rf"How many miles was (?P<p>{NAME}) away from (?P<a>{NAME}) when s?he met (?P<q>{NAME}) for the {which} time\? The two had "
        rf"set out toward each other at the same time, (?P=p) from (?P=a) and (?P=q) from {NAME}, {way} away along the only road "
        rf"they used\. Each of them turned back at once whenever they reached an end of the road\. (?P=p)'s speed was "
        rf"(?P<first>\d+) miles per hour and (?P=q)'s was (?P<second>\d+) miles per hour\.",
    )
    end = Fraction(parts["way"])
    first, second = Fraction(0), end
    speed, other = Fraction(parts["first"]), -Fraction(parts["second"])
    meetings = 0
    while True:
        ahead = {
            "first": ((end if speed > 0 else 0) - first) / speed,
            "second": ((end if other > 0 else 0) - second) / other,
        }
        if first != second and speed != other and (second - first) / (speed - other) > 0:
            ahead["meet"] = (second - first) / (speed - other)
        passed = min(ahead.values())
        first, second = first + speed * passed, second + other * passed
        if ahead.get("meet") == passed:
            assert speed * other < 0
            meetings += 1
            if meetings == {"second": 2, "third": 3}[parts["which"]]:
                return decimal(first)
        speed = -speed if ahead["first"] == passed else speed
        other = -other if ahead["second"] == passed else other


SOLVERS: list[Callable[[str], str]] = [
    meeting_travelers,
    meeting_travelers_hard,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
