"""Word problems of specs/school_math about ages, pursuit, dealing, fences, legs, recipes and wages, solved again from the prompt.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
        rf"be) {TIMES} as old as I (?:was|will be),\" (?P=b) says to (?:him|her)\.{COMPARISONS} How old is (?P<asked>{NAME}) at the party, in years\?"
        rf"",
        rf"Some facts about the ages of [^:]+:\n\n- Today, the sum of (?P<a>{NAME})'s age and (?P<b>{NAME})'s age is (?P<sum>\d+) "
        rf"years\.\n- {moment}, (?P=a) (?:was|will be) {TIMES} as old as (?P=b)\.(?P<chain>(?:\n- {COMPARED})*)\n\nEvery age is a "
        rf"whole number of years\. What is (?P<asked>{NAME})'s age today, in years\?",
        rf"How old is (?P<asked>{NAME}) today, in years\? {moment}, (?P<a>{NAME})'s age (?:was|will be) {TIMES} (?P<b>{NAME})'s "
        rf"age\. Today, the ages of (?P=a) and (?P=b) add up to (?P<sum>\d+) years\.{COMPARISONS}",
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
        rf"now, you were {TIMES} as old as I was,\" (?P=b) says to (?:him|her)\.{COMPARISONS} How old is (?P<asked>{NAME}) at the party, in years\?"
        rf"",
        rf"Some facts about the ages of [^:]+:\n\n- Today, the sum of (?P<a>{NAME})'s age and (?P<b>{NAME})'s age is (?P<sum>\d+) "
        rf"years\.\n- {known}(?P<chain>(?:\n- {COMPARED})*)\n\nEvery age is a whole number of years\. What is "
        rf"(?P<asked>{NAME})'s age today, in years\?",
        rf"How old is (?P<asked>{NAME}) today, in years\? {earlier}(?P=a)'s age was {TIMES} (?P=b)'s age at that time\. Today, the ages of (?P=a) and (?P=b) add up to (?P<sum>\d+) years\."
        rf"{COMPARISONS}",
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
        rf"(?P=a) and {WENT} along the same {PATH} at a steady (?P<fast>\d+) miles per hour\. How many minutes after leaving did (?P=b) catch up with (?P=a)\?"
        rf"",
        rf"At (?P<early>\d+:\d\d) a\.m\., (?P<a>{NAME}) set out from {START} along a {PATH}\. (?:She|He) {WENT} {pace}\. At "
        rf"(?P<late>\d+:\d\d) a\.m\., (?P<b>{NAME}) set out from the same place and followed (?:him|her) on the same {PATH} at a "
        rf"steady (?P<fast>\d+) miles per hour\. How many minutes after (?P=late) a\.m\. did (?P=b) catch up with (?P=a)\?",
        rf"Two people took the same {PATH} in the same direction, starting at {START}:\n\n- (?P<a>{NAME}) left first and {WENT} "
        rf"{pace}\.\n- (?P<b>{NAME}) left (?P<wait>\d+) minutes after (?P=a) and {WENT} at a steady (?P<fast>\d+) miles per hour\.\n\n"
        rf"Neither of them stopped\. How long did (?P=b) take from {START} to the place where s?he caught up with (?P=a), in "
        rf"minutes\?",
        rf"How many minutes did it take (?P<b>{NAME}) to catch up with (?P<a>{NAME})\? (?P=b) had started from {START} (?P<wait>\d+) minutes after (?P=a) and {WENT} at"
        rf" a constant speed of (?P<fast>\d+) miles per hour\. (?P=a) had also started from {START} and {WENT} along the same"
        rf" {PATH} {pace}\.",
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
        rf"{steady.format('slow')}\. (?P=b) caught up with (?P=a) (?P<soon>\d+) minutes after leaving, and (?P=c) did so (?P<late>\d+) minutes after leaving\."
        rf"{breaks} How many minutes before (?P=b) and (?P=c) had (?P=a) left\?",
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
        rf"How many minutes' head start did (?P<a>{NAME}) have\? (?P<b>{NAME}) and (?P<c>{NAME}) had started from {START} after (?P=a), both at the same time\."
        rf" (?P=b) {WENT} at a constant speed of (?P<fast>\d+) miles per hour and caught up with (?P=a) "
        rf"after (?P<soon>\d+) minutes\. (?P=c) {WENT} at a constant speed of (?P<slow>\d+) miles per hour and caught up with (?P=a) "
        rf"after (?P<late>\d+) minutes\.{breaks} (?P=a) had also started from {START} and {WENT} along the same {PATH}, also at a "
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
    filled = r"filled (?P<filled>with \d+ [a-z ]+?|with the contents of \w+ bags, which held [\d, and]+ [a-z ]+?)"
    parts = read(
        without(challenge, *OF_TURNS),
        rf"A box was {filled}\. {PEOPLE} took turns emptying the box, in this order: {TAKES}, then it was {NAME}'s turn again, and so "
        rf"on\. Whoever found too few [a-z ]+ left took all that were left\. How many [a-z ]+ did (?P<asked>{NAME}) take in total\?",
        rf"{PEOPLE} sat in a circle around a box, in this order\. The box was {filled}\. {NAME} began, and the turn passed around the "
        rf"circle again and again until the box was empty\. On each turn, {TAKES}\. If fewer than that were left, the child took all "
        rf"of them\. How many [a-z ]+ did (?P<asked>{NAME}) end up with\?",
        rf"\w+ children took turns at a box of [a-z ]+\. On each turn, they took these numbers of [a-z ]+:\n\n{LIST}\n"
        rf"{ORDER_OF_LIST} The box had been {filled}\. If a child could not take the full number, the child took the rest\. That went "
        rf"on until nothing was left\. How many [a-z ]+ did (?P<asked>{NAME}) get\?",
        rf"How many [a-z ]+ did (?P<asked>{NAME}) get from a box that {PEOPLE} took turns emptying\? The box had been {filled}\. Over and "
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
        rf"A box was filled with [a-z ]+, more than (?P<low>\d+) and fewer than (?P<high>\d+) of them\. {PEOPLE} took turns emptying the box, in this order:"
        rf" {TAKES}, then it was {NAME}'s turn again, and so on\. Whoever found too few [a-z ]+ left took all that "
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
        rf"How many [a-z ]+ were in a box that {PEOPLE} took turns emptying\? There were more than (?P<low>\d+) and fewer than "
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


OF_FENCES = (
    r"The fence is \d+ feet high\.",
    rf"{NAME}'s house is \d+ feet away from the [a-z ]+\.",
    r"A neighbor keeps \d+ rabbits\.",
    rf"Last year, {NAME} planted \d+ tulips outside the fence\.",
    r"The posts of the fence are \d+ feet apart\.",
)
GATES = r"(?P<gates>(?:, except for (?:a gate that is|\w+ gates that are) [^.]+ feet wide)?)"
NOT_COUNTED = r"(?:, not counting the gates?)?"


def gates(parts: dict[str, str]) -> int:
    """The widths of all gates together."""
    return sum(map(int, re.findall(r"\d+", parts["gates"])))


def garden_fence(challenge: str) -> str:
    """Every width is tried, and the area is counted in rows."""
    fence = r"(?P<fence>\d+) feet"
    longer = r"(?P<longer>\d+) feet"
    parts = read(
        without(challenge, *OF_FENCES),
        rf"{NAME}'s [a-z ]+ is a rectangle that is {longer} longer than it is wide\. There is a fence all around it{GATES}\. The fence "
        rf"is {fence} long{NOT_COUNTED}\. What is the area of the [a-z ]+, in square feet\?",
        rf"{NAME} ordered {fence} of fence, which was exactly enough for all four sides of a rectangular [a-z ]+{GATES}\. The long "
        rf"sides of the [a-z ]+ are {longer} longer than the short sides\. How many square feet does the [a-z ]+ cover\?",
        rf"Some facts about a rectangular [a-z ]+ that belongs to {NAME}:\n\n- Its length is {longer} more than its width\.\n- It is "
        rf"fenced on all four sides{GATES}\.\n- The total length of the fence is {fence}{NOT_COUNTED}\.\n\nThere are no other fences\."
        r" What is the [a-z ]+'s area, in square feet\?",
        rf"What is the area, in square feet, of the rectangular [a-z ]+ around which {NAME} put up {fence} of fence\? All four sides are "
        rf"fenced{GATES}\. The [a-z ]+ is longer than it is wide, and the difference is {longer}\.",
    )
    around = int(parts["fence"]) + gates(parts)
    width = only([n for n in range(1, around) if n + n + int(parts["longer"]) == around - n - n - int(parts["longer"])])
    return str(sum(width for _ in range(width + int(parts["longer"]))))


def garden_fence_hard(challenge: str) -> str:
    """Every width is tried, and the fence is walked along."""
    area = r"(?P<area>\d+) square feet"
    longer = r"(?P<longer>\d+) feet"
    parts = read(
        without(challenge, *OF_FENCES),
        rf"{NAME}'s [a-z ]+ is a rectangle that is {longer} longer than it is wide\. There is a fence all around it{GATES}\. The area of "
        rf"the [a-z ]+ is {area}\. How long is the fence{NOT_COUNTED}, in feet\?",
        rf"{NAME} ordered exactly enough fence for all four sides of a rectangular [a-z ]+{GATES}\. The long sides of the [a-z ]+ are "
        rf"{longer} longer than the short sides, and the [a-z ]+ covers {area}\. How many feet of fence did {NAME} order\?",
        rf"Some facts about a rectangular [a-z ]+ that belongs to {NAME}:\n\n- Its length is {longer} more than its width\.\n- It is "
        rf"fenced on all four sides{GATES}\.\n- Its area is {area}\.\n\nThere are no other fences\. What is the total "
        rf"length of the fence{NOT_COUNTED}, in feet\?",
        rf"How many feet of fence did {NAME} put up around a rectangular [a-z ]+ with an area of {area}\? All four sides are "
        rf"fenced{GATES}\. The [a-z ]+ is longer than it is wide, and the difference is {longer}\.",
    )
    longer_by = int(parts["longer"])
    width = only([n for n in range(1, int(parts["area"])) if n * n + n * longer_by == int(parts["area"])])
    return str(width + (width + longer_by) + width + (width + longer_by) - gates(parts))


OF_COUNTS = (
    rf"On the way, {NAME} had counted \d+ red cars\.",
    r"It was \d+ minutes before noon\.",
    rf"{NAME} stayed there for \d+ minutes\.",
    rf"{NAME} took \d+ pictures there\.",
    rf"{NAME} had been there \d+ times before\.",
)
PLACE = r"(?:in|on) (?:the storeroom of a restaurant|a large aquarium|the window of a toy store|a tray in a bakery)"
PART = "(?:legs|arms|wheels|corners)"
EQUIPPED = rf"[a-z ]+ with \d+ {PART} each"


def kinds_of(parts: dict[str, str]) -> tuple[list[tuple[str, int]], int, int]:
    """The two kinds with unknown numbers in the plural, each with its parts, and the number and parts of all others."""
    if anatomy := parts.get("anatomy"):
        unknown = [(name, int(n)) for name, n in re.findall(r"[Ee]very ([a-z ]+?) had (\d+)", anatomy)]
        known = [(number(n), int(m)) for n, m in re.findall(r"each of the (\w+) [a-z ]+? had (\d+)", anatomy)]
        assert len(unknown) + len(known) == anatomy.count(" had ")
    else:
        text = parts["kinds"]
        some = rf"(?:\b[Ss]ome (?:were )?|[Aa]ll (?:the others|of them) were |or )([a-z ]+?) with (\d+) {PART} each"
        many = rf"(?<![a-z])(?!and )(\w+) (?:of them were |were )?([a-z ]+?) with (\d+) {PART} each"
        unknown = [(name, int(n)) for name, n in re.findall(some, text)]
        known = [(number(n), int(m)) for n, _, m in re.findall(many, re.sub(some, "", text))]
        assert len(unknown) + len(known) == text.count(" each")
    assert len(unknown) == 2
    return unknown, sum(n for n, _ in known), sum(n * m for n, m in known)


def is_kind(plural: str, kind: str) -> bool:
    """Whether the plural in the question is that of the kind, which the prompt names in the singular or the plural."""
    return plural in (kind, f"{kind}s", f"{kind}es")


def two_kinds(challenge: str) -> str:
    """All numbers of the first kind are tried."""
    asked = r"(?P<asked>[a-z ]+?)"
    numbers = r"(?P<total>\d+) [a-z ]+?"
    parts = read(
        without(challenge, *OF_COUNTS),
        rf"{NAME} counted {numbers} {PLACE}\. (?P<kinds>(?:[^.]+\. )?[^.]+)\. Together, all (?P=total) [a-z ]+ had (?P<parts>\d+) {PART}\. "
        rf"How many {asked} were there\?",
        rf"{NAME} made a note of the [a-z ]+ {PLACE}:\n\n(?P<kinds>(?:- \w+ {EQUIPPED}\n)+)\nThat made {numbers} with (?P<parts>\d+) "
        rf"{PART} in all\. How many {asked} were there\?",
        rf"{NAME} counted the [a-z ]+ {PLACE} and got (?P<total>\d+)\. Then s?he counted all of the {PART} and got (?P<parts>\d+)\. "
        rf"(?P<anatomy>[^.]+)\. There were no [a-z ]+ of any other kind\. How many {asked} did {NAME} count\?",
        rf"How many {asked} did {NAME} find {PLACE}\? There were {numbers}, and altogether they had (?P<parts>\d+) {PART}\. "
        rf"(?P<kinds>[^.]+)\. There were no other [a-z ]+\.",
    )
    ((first, weight), (second, other_weight)), known, known_parts = kinds_of(parts)
    rest, rest_parts = int(parts["total"]) - known, int(parts["parts"]) - known_parts
    count = only([n for n in range(rest + 1) if weight * n + other_weight * (rest - n) == rest_parts])
    assert is_kind(parts["asked"], first) != is_kind(parts["asked"], second)
    return str(count if is_kind(parts["asked"], first) else rest - count)


def two_kinds_hard(challenge: str) -> str:
    """All pairs of numbers are tried."""
    asked = r"(?P<asked>[a-z ]+?)"
    compared = r"more (?P<more>[a-z ]+) than (?P<fewer>[a-z ]+?)"
    parts = read(
        without(challenge, *OF_COUNTS),
        rf"{NAME} saw several [a-z ]+ {PLACE}\. (?P<kinds>(?:[^.]+\. )?[^.,]+(?:, [^.,]+)?), and there were {compared}\. Together, all the "
        rf"[a-z ]+ had (?P<parts>\d+) {PART}\. How many {asked} were there\?",
        rf"{NAME} made a note of the [a-z ]+ {PLACE}:\n\n(?P<kinds>(?:- \w+ {EQUIPPED}\n)+)\nThat made (?P<parts>\d+) {PART} in all\. "
        rf"There were {compared}\. How many {asked} were there\?",
        rf"{NAME} looked at the [a-z ]+ {PLACE} and noticed that there were {compared}\. Then s?he counted all of the {PART} and got "
        rf"(?P<parts>\d+)\. (?P<anatomy>[^.]+)\. There were no [a-z ]+ of any other kind\. How many {asked} were there\?",
        rf"How many {asked} did {NAME} find {PLACE}\? There were {compared}, and altogether the [a-z ]+ had (?P<parts>\d+) {PART}\. "
        rf"(?P<kinds>[^.]+)\. There were no other [a-z ]+\.",
    )
    ((first, weight), (second, other_weight)), _, known_parts = kinds_of(parts)
    rest = int(parts["parts"]) - known_parts
    assert {is_kind(parts["more"], first), is_kind(parts["fewer"], first)} == {True, False}
    pairs = [(n, m) for n in range(rest + 1) for m in range(rest + 1) if weight * n + other_weight * m == rest]
    assert len(pairs) > 1
    first_count = only([n for n, m in pairs if (n > m if is_kind(parts["more"], first) else m > n)])
    assert is_kind(parts["asked"], first) != is_kind(parts["asked"], second)
    return str(dict(pairs)[first_count] if is_kind(parts["asked"], second) else first_count)


OF_RECIPES = (
    r"The recipe is on page \d+ of a cookbook\.",
    r"A cookbook with this recipe costs \d+ dollars\.",
    r"It takes about \d+ minutes to make [a-z ]+\.",
    rf"{NAME} has made [a-z ]+ \d+ times before\.",
    r"There are \d+ other recipes in the same chapter\.",
)


def recipe_in_spoons(challenge: str) -> str:
    """Each amount is scaled first, in cups, and then all are poured out spoon by spoon."""
    spoons = r"(?P<spoons>tablespoons|teaspoons)"
    needed = r"[a-z, ]+?(?:, taken together,)?"
    parts = read(
        without(challenge, *OF_RECIPES),
        rf"A recipe for (?P<servings>\d+) servings of [a-z ]+ calls for (?P<amounts>[^.]+)\. {NAME} wants to make (?P<wanted>\d+) "
        rf"servings and measures everything with a (?:table|tea)spoon\. A cup is 16 tablespoons, and a tablespoon is 3 teaspoons\. How "
        rf"many {spoons} of {needed} does {NAME} need\?",
        rf"Recipe card for [a-z ]+ \((?P<servings>\d+) servings\):\n\n(?P<amounts>(?:- [^\n]+\n)+)\n{NAME} is making (?P<wanted>\d+) "
        rf"servings but has only a (?:table|tea)spoon to measure with\. There are 16 tablespoons in a cup and 3 teaspoons in a "
        rf"tablespoon\. How many {spoons} of {needed} does s?he need\?",
        rf"{NAME} is making [a-z ]+ for (?P<wanted>\d+) people, one serving for each\. The recipe that s?he uses makes (?P<servings>\d+) "
        rf"servings with (?P<amounts>[^.]+)\. One cup equals 16 tablespoons, and one tablespoon equals 3 teaspoons\. How many {spoons} of "
        rf"{needed} does it take to serve everyone\?",
        rf"How many {spoons} of {needed} does {NAME} need for (?P<wanted>\d+) servings of [a-z ]+\? The recipe says that "
        rf"(?P<servings>\d+) servings take (?P<amounts>[^.]+)\. A tablespoon holds 3 teaspoons, and a cup holds 16 tablespoons\.",
    )
    amounts = re.findall(r"(?:(\d+) )?(\d+(?:/\d)?) (cup|tablespoon|teaspoon)s? of", parts["amounts"])
    assert len(amounts) == parts["amounts"].count(" of ")
    cup = {"cup": Fraction(1), "tablespoon": Fraction(1, 16), "teaspoon": Fraction(1, 48)}
    scale = Fraction(int(parts["wanted"]), int(parts["servings"]))
    left = sum(((int(whole or 0) + Fraction(part)) * scale * cup[unit] for whole, part, unit in amounts), Fraction(0))
    count = 0
    while left > 0:
        left -= cup[parts["spoons"].removesuffix("s")]
        count += 1
    assert left == 0
    return str(count)


OF_JOBS = (
    rf"{NAME} had worked there for \d+ months\.",
    r"The trip to work took \d+ minutes\.",
    r"There were \d+ other people on the same team\.",
    rf"{NAME} had {MONEY} in a savings account\.",
    rf"{NAME} had \d+ days of vacation left\.",
)
FACTORS = {
    "one and a quarter times": Fraction(5, 4),
    "one and a half times": Fraction(3, 2),
    "twice": Fraction(2),
    "25% higher": Fraction(5, 4),
    "50% higher": Fraction(3, 2),
    "100% higher": Fraction(2),
}


def overtime_pay(challenge: str) -> str:
    """The clock runs through each day in steps of half an hour."""
    job = r"(?:at|in|on) [a-z ]+"
    hours = r"(?P<limit>\d+(?:\.5)?) hours"
    rate = rf"(?P<rate>{MONEY})"
    factor = f"(?P<factor>{'|'.join(FACTORS)})"
    worked = r"(?P<worked>\d+(?:\.5)? hours on .+?)"
    parts = read(
        without(challenge, *OF_JOBS),
        rf"{NAME} worked {job} for {rate} an hour\. Each day, any time beyond the first {hours} was paid at {factor} that rate\. One week, "
        rf"s?he worked {worked}, and not at all on the other days\. How much did s?he earn that week, in dollars\?",
        rf"{NAME}'s timesheet for a week {job}:\n\n(?P<worked>(?:- {NAME}: \d+(?:\.5)? hours\n)+)\nThe pay was {rate} an hour for up to "
        rf"{hours} a day\. Any further time on the same day was paid at {factor} that rate\. How many dollars did {NAME} earn in that "
        r"week\?",
        rf"{NAME} worked {job}\. (?:His|Her) contract said: \"The hourly wage is {rate}\. Time beyond {hours} on a single day is overtime, for which the "
        rf"hourly wage is {factor}\.\" One week, {NAME} worked {worked}\. What was (?:his|her) pay for these \w+ days, in dollars\?",
        rf"How many dollars did {NAME} earn for {worked}\? (?:She|He) worked {job}, where the normal pay was {rate} an hour\. Whatever "
        rf"s?he worked beyond {hours} in one day was paid at {factor} the normal rate\.",
    )
    pay = Fraction(0)
    for day in re.findall(r"(\d+(?:\.5)?) hours", parts["worked"]):
        clock = Fraction(0)
        while clock < Fraction(day):
            hourly = cents(parts["rate"]) * (FACTORS[parts["factor"]] if clock >= Fraction(parts["limit"]) else 1)
            pay += hourly / 2
            clock += Fraction(1, 2)
    return dollars(pay)


SOLVERS: list[Callable[[str], str]] = [
    ages,
    ages_hard,
    catch_up,
    catch_up_hard,
    take_in_turns,
    take_in_turns_hard,
    garden_fence,
    garden_fence_hard,
    two_kinds,
    two_kinds_hard,
    recipe_in_spoons,
    overtime_pay,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
