"""Word problems of specs/school_math about ages, pursuit, dealing, fences, legs, recipes and wages, solved again from the prompt.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

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


OF_PURSUERS = (
    r"It was \d+ degrees outside that morning\.",
    rf"{NAME} was carrying a bag that weighed \d+ pounds\.",
    rf"On the way, {NAME} counted \d+ birds\.",
    rf"{NAME} had slept for \d+ hours the night before\.",
    rf"The week before, {NAME} had covered \d+ miles on another [a-z ]+\.",
)
WENT = "(?:hiked|ran|cycled|drove)"
START = "the (?:parking lot|school|campground)"
PATH = "(?:trail|bike path|country road)"


def minutes_of_day(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def catch_up(challenge: str) -> str:
    """Both move minute by minute until they are at the same place."""
    pace = (
        r"at (?P<pace>a steady \d+ miles per hour|\d+ miles per hour for the first \d+ minutes(?:, at \d+ miles per hour for the next "
        r"\d+ minutes)? and at \d+ miles per hour from then on)"
    )
    parts = read(
        without(challenge, *OF_PURSUERS),
        rf"(?P<a>{NAME}) left {START} and {WENT} along a {PATH} {pace}\. (?P<b>{NAME}) left {START} (?P<wait>\d+) minutes after "
        rf"(?P=a) and {WENT} along the same {PATH} at a steady (?P<fast>\d+) miles per hour\. For how many minutes had (?P=b) been on "
        rf"the way when s?he caught up with (?P=a)\?",
        rf"At (?P<early>\d+:\d\d) a\.m\., (?P<a>{NAME}) set out from {START} along a {PATH}\. (?:She|He) {WENT} {pace}\. At "
        rf"(?P<late>\d+:\d\d) a\.m\., (?P<b>{NAME}) set out from the same place and followed (?:him|her) on the same {PATH} at a "
        rf"steady (?P<fast>\d+) miles per hour\. How many minutes after (?P=late) a\.m\. did (?P=b) catch up with (?P=a)\?",
        rf"Two people took the same {PATH} in the same direction, starting at {START}:\n\n- (?P<a>{NAME}) left first and {WENT} "
        rf"{pace}\.\n- (?P<b>{NAME}) left (?P<wait>\d+) minutes after (?P=a) and {WENT} at a steady (?P<fast>\d+) miles per hour\.\n\n"
        rf"Neither of them stopped\. How long did (?P=b) take from {START} to the place where s?he caught up with (?P=a), in "
        rf"minutes\?",
        rf"How many minutes did it take (?P<b>{NAME}) to catch up with (?P<a>{NAME})\? (?P=b) had started at {START} (?P<wait>\d+) "
        rf"minutes later than (?P=a), and {WENT} at a constant speed of (?P<fast>\d+) miles per hour\. (?P=a) had started at {START} "
        rf"too, and {WENT} along the same {PATH} {pace}\.",
    )
    early = parts.get("early")
    wait = minutes_of_day(parts["late"]) - minutes_of_day(early) if early else int(parts["wait"])
    speeds = [int(speed) for speed in re.findall(r"(\d+) miles", parts["pace"])]
    changes = [int(length) for length in re.findall(r"(?:first|next) (\d+) minutes", parts["pace"])]
    assert len(speeds) == len(changes) + 1
    first, second, minute = 0, 0, 0
    while minute <= wait or second < first:
        leg = sum(minute >= sum(changes[: index + 1]) for index in range(len(changes)))
        first += speeds[leg]
        second += int(parts["fast"]) if minute >= wait else 0
        minute += 1
    assert first == second
    return str(minute - wait)


def catch_up_hard(challenge: str) -> str:
    """Every head start is tried: the average speed to the first place must be that to the second place without the breaks."""
    breaks = rf"(?P<breaks>(?: Between these two moments, {NAME} took a break of \d+ minutes(?: and another one of \d+ minutes)?\.)?)"
    steady = r"at a steady (?P<{}>\d+) miles per hour"
    parts = read(
        without(challenge, *OF_PURSUERS),
        rf"(?P<a>{NAME}) left {START} and {WENT} along a {PATH} at a constant speed\. Some time later, (?P<b>{NAME}) and "
        rf"(?P<c>{NAME}) left {START} at the same moment and {WENT} along the same {PATH}, (?P=b) {steady.format('fast')} and (?P=c) "
        rf"{steady.format('slow')}\. (?P=b) had been on the way for (?P<soon>\d+) minutes when s?he caught up with (?P=a), and (?P=c) "
        rf"for (?P<late>\d+) minutes when s?he did\.{breaks} How many minutes before (?P=b) and (?P=c) had (?P=a) left\?",
        rf"One morning, (?P<a>{NAME}) set out from {START} along a {PATH}\. (?:She|He) {WENT} at a constant speed\. At 11:00 a\.m\., "
        rf"(?P<b>{NAME}) and (?P<c>{NAME}) set out from the same place and followed (?:him|her) on the same {PATH}, (?P=b) "
        rf"{steady.format('fast')} and (?P=c) {steady.format('slow')}\. (?P=b) caught up with (?P=a) (?P<soon>\d+) minutes after 11:00 "
        rf"a\.m\., and (?P=c) (?P<late>\d+) minutes after 11:00 a\.m\.{breaks} How many minutes before 11:00 a\.m\. had (?P=a) set "
        rf"out\?",
        rf"Three people took the same {PATH} in the same direction, starting at {START}:\n\n- (?P<a>{NAME}) left first and {WENT} at a "
        rf"steady speed\.\n- (?P<b>{NAME}) left later, {WENT} {steady.format('fast')}, and took (?P<soon>\d+) minutes to catch up with "
        rf"(?P=a)\.\n- (?P<c>{NAME}) left at the same time as (?P=b), {WENT} {steady.format('slow')}, and took (?P<late>\d+) minutes to "
        rf"catch up with (?P=a)\.\n\n(?:After (?P=b) and before (?P=c) caught up, (?P=a) rested for (?P<rest>\d+) minutes in all\. "
        rf"Apart from that, nobody stopped\.|None of them stopped\.) How much earlier than the others had (?P=a) left, in minutes\?",
        rf"How many minutes' head start did (?P<a>{NAME}) have\? (?P<b>{NAME}) and (?P<c>{NAME}) had started at {START} later than "
        rf"(?P=a), both at the same time\. (?P=b) {WENT} at a constant speed of (?P<fast>\d+) miles per hour and caught up with (?P=a) "
        rf"after (?P<soon>\d+) minutes\. (?P=c) {WENT} at a constant speed of (?P<slow>\d+) miles per hour and caught up with (?P=a) "
        rf"after (?P<late>\d+) minutes\.{breaks} (?P=a) had started at {START} too, and {WENT} along the same {PATH}, also at a "
        rf"constant speed\.",
    )
    rest = int(parts.get("rest") or 0) + sum(map(int, re.findall(r"of (\d+) minutes", parts.get("breaks") or "")))
    fast, slow, soon, late = (int(parts[name]) for name in ("fast", "slow", "soon", "late"))
    fits = [n for n in range(1, 1000) if Fraction(fast * soon, n + soon) == Fraction(slow * late, n + late - rest)]
    return str(only(fits))


OF_TURNS = (
    rf"{NAME} was \d+ years old at the time\.",
    r"The empty box weighed \d+ ounces\.",
    r"The box had cost \d+ dollars\.",
    r"A neighbor had a collection of \d+ [a-z ]+\.",
    rf"{NAME} had won \d+ games of checkers that year\.",
)
PEOPLE = rf"(?P<people>{NAME}(?:, {NAME})* and {NAME})"
TAKES = rf"(?P<takes>{NAME} took \d+(?:, {NAME} took \d+)* and {NAME} took \d+)"
LIST = rf"(?P<list>(?:- {NAME}: \d+\n)+)"
ORDER_OF_LIST = rf"They kept to the order of this list, and after {NAME} it was {NAME}'s turn again\."


def numbers_by_child(parts: dict[str, str]) -> dict[str, int]:
    """How many each child takes on a turn, in the order of the turns."""
    takes = {
        name: int(take)
        for name, take in re.findall(rf"({NAME})(?: took |: )(\d+)", parts.get("takes") or parts["list"])
    }
    assert "people" not in parts or re.split(", | and ", parts["people"]) == list(takes)
    return takes


def emptied(takes: dict[str, int], total: int) -> list[tuple[str, int]]:
    """The turns until nothing is left."""
    turns = []
    while total:
        for name, take in takes.items():
            if total:
                turns.append((name, min(take, total)))
                total -= turns[-1][1]
    return turns


def take_in_turns(challenge: str) -> str:
    """The box is emptied turn by turn."""
    filled = r"filled (?P<filled>with \d+ [a-z ]+?|from \w+ bags with [\d, and]+ [a-z ]+?)"
    parts = read(
        without(challenge, *OF_TURNS),
        rf"A box was {filled}\. {PEOPLE} emptied the box in turns, in this order: {TAKES}, then it was {NAME}'s turn again, and so "
        rf"on\. Whoever found too few [a-z ]+ left took all that were left\. How many [a-z ]+ did (?P<asked>{NAME}) take in total\?",
        rf"{PEOPLE} sat in a circle around a box, in this order\. The box was {filled}\. {NAME} began, and the turn passed around the "
        rf"circle again and again until the box was empty\. On each turn, {TAKES}\. If fewer than that were left, the child took all "
        rf"of them\. How many [a-z ]+ did (?P<asked>{NAME}) end up with\?",
        rf"\w+ children took turns at a box of [a-z ]+\. On each turn, they took these numbers of [a-z ]+:\n\n{LIST}\n"
        rf"{ORDER_OF_LIST} The box had been {filled}\. If a child could not take the full number, the child took the rest\. That went "
        rf"on until nothing was left\. How many [a-z ]+ did (?P<asked>{NAME}) get\?",
        rf"How many [a-z ]+ did (?P<asked>{NAME}) get from a box that {PEOPLE} emptied in turns\? The box had been {filled}\. Over and "
        rf"over, {TAKES}, one child after the other in this order\. A child who found too few [a-z ]+ in the box for a full turn took "
        rf"all of them, and with that the box was empty\.",
    )
    total = sum(map(int, re.findall(r"\d+", parts["filled"])))
    turns = emptied(numbers_by_child(parts), total)
    return str(sum(share for name, share in turns if name == parts["asked"]))


def take_in_turns_hard(challenge: str) -> str:
    """Boxes of every size within the bounds are emptied twice."""
    first, again = (
        rf"(?P<{name}>{NAME}) (?:had|took) (?:the last turn and (?:got|took) )?(?P<{name}_number>\d+)"
        for name in ("first", "again")
    )
    absent = rf"(?P<absent>{NAME})"
    parts = read(
        without(challenge, *OF_TURNS),
        rf"A box was filled with [a-z ]+, more than (?P<low>\d+) and fewer than (?P<high>\d+) of them\. {PEOPLE} emptied the box in "
        rf"turns, in this order: {TAKES}, then it was {NAME}'s turn again, and so on\. Whoever found too few [a-z ]+ left took all that "
        rf"were left\. {first}\. They put everything back and emptied the box once more by the same rules, but without {absent} and "
        rf"beginning with (?P<begins>{NAME})\. This time, {again}\. How many [a-z ]+ were in the box\?",
        rf"{PEOPLE} sat in a circle around a box of [a-z ]+, in this order\. {NAME} began, and the turn passed around the circle again "
        rf"and again until the box was empty\. On each turn, {TAKES}\. If fewer than that were left, the child took all of them\. On "
        rf"the very last turn, {first}\. Then they returned all [a-z ]+ to the box, {absent} left the circle, and the others did the "
        rf"same again, starting with (?P<begins>{NAME})\. This time, on the very last turn, {again}\. The box had contained more than "
        rf"(?P<low>\d+) but fewer than (?P<high>\d+) [a-z ]+\. How many were there\?",
        rf"\w+ children took turns at a box of [a-z ]+\. On each turn, they took these numbers of [a-z ]+:\n\n{LIST}\n"
        rf"{ORDER_OF_LIST} If a child could not take the full number, the child took the rest\. That went on until nothing was left\. "
        rf"They did all of this twice with the same [a-z ]+:\n\n- With all \w+ children, {first}\.\n- Without {absent}, with the others "
        rf"in the same order and starting with (?P<begins>{NAME}), {again}\.\n\nThe number of [a-z ]+ is greater than (?P<low>\d+) and "
        rf"less than (?P<high>\d+)\. How many [a-z ]+ are there\?",
        rf"How many [a-z ]+ were in a box that {PEOPLE} emptied in turns\? There were more than (?P<low>\d+) and fewer than "
        rf"(?P<high>\d+)\. Over and over, {TAKES}, one child after the other in this order\. A child who found too few [a-z ]+ in the "
        rf"box for a full turn took all of them, and with that the box was empty\. In the end, {first}\. When they tried it again with "
        rf"the same [a-z ]+ but without {absent}, starting with (?P<begins>{NAME}), {again}\.",
    )
    takes = numbers_by_child(parts)
    later = {name: take for name, take in takes.items() if name != parts["absent"]}
    assert parts["begins"] == next(iter(later))
    outcome = [(parts[name], int(parts[f"{name}_number"])) for name in ("first", "again")]
    totals = range(int(parts["low"]) + 1, int(parts["high"]))
    return str(only([n for n in totals if [emptied(takes, n)[-1], emptied(later, n)[-1]] == outcome]))


SOLVERS: list[Callable[[str], str]] = [
    ages,
    ages_hard,
    catch_up,
    catch_up_hard,
    take_in_turns,
    take_in_turns_hard,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
