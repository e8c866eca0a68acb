"""Word problems of specs/school_math about mixtures, rates, averages, growth and plans, solved again from
each prompt alone.

Nothing of the project computes here. Each solver reads the text that a model is sent, first removes the sentences that it
knows to be irrelevant, and takes another way to the answer than the spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
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

THEY = "(?:[Ss]he|[Hh]e)"
DECIMAL = r"\d+(?:\.\d+)?"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    return bundle_records(tmp_path_factory, request)


def decimal(value: Fraction | int) -> str:
    """An exact decimal number without trailing zeros, as the canonical answer writes it."""
    hundredths = Fraction(value) * 100
    assert hundredths.denominator == 1
    text = f"{int(hundredths) // 100}.{int(hundredths) % 100:02}"
    return text.rstrip("0").rstrip(".")


OF_MIXTURES = (
    r"The empty bin weighed \d+ pounds\.",
    rf"{NAME} had paid \$\d+ for all of it\.",
    r"A store sells [a-z ]+ with \d+% [a-z ]+, but none of that was used\.",
    rf"The week before, {NAME} had sold \d+ pounds of [a-z ]+\.",
    r"The work took \d+ minutes\.",
)
BATCH = r"(?:\d+ pounds|an unknown amount)(?: of [a-z ]+?)? with \d+% [a-z ]+?"
BATCHES = rf"(?P<batches>{BATCH}(?:, {BATCH})*(?: and {BATCH}))"
SACKS = (
    rf"{NAME} emptied these sacks of [a-z ]+ into an empty bin:\n\n\| sack \| pounds \| [a-z ]+ \|\n"
    r"\|---\|---\|---\|\n(?P<sacks>.+?)\n\nThe last column is the percentage by weight\."
)
STEPS = (
    rf"{NAME} filled an empty bin in (?P<count>[a-z]+) steps\. First, {THEY} put in (?P<steps>.+)\. Finally, {THEY} stirred everything\."
    r""
)


def batches(parts: dict[str, str]) -> list[tuple[int | None, int]]:
    """The pounds of each batch, None where they are unknown, and its percentage."""
    if parts.get("sacks"):
        rows = re.findall(r"\| (\d) \| (\d+|\?) \| (\d+)% \|", parts["sacks"])
        assert [row[0] for row in rows] == [str(i) for i in range(1, parts["sacks"].count("\n") + 2)]
        return [(None if pounds == "?" else int(pounds), int(percent)) for _, pounds, percent in rows]
    text = parts.get("batches") or parts["steps"]
    listing = re.findall(r"(?:(\d+) pounds|an unknown amount)(?: of [a-z ]+?)? with (\d+)%", text)
    assert len(listing) == text.count("%") and (not parts.get("count") or len(listing) == number(parts["count"]))
    return [(int(pounds) if pounds else None, int(percent)) for pounds, percent in listing]


def mixture(challenge: str) -> str:
    """One batch after the other goes into the bin, which moves the percentage a part of the way to that of the batch."""
    parts = read(
        without(challenge, *OF_MIXTURES),
        rf"{NAME} mixed (?P<count>[a-z]+) kinds of [a-z ]+ in an empty bin: {BATCHES}\. All percentages are by weight\. What was "
        r"the percentage of [a-z ]+ in the mixture\?",
        rf"{SACKS} What percentage of the mixture in the bin, by weight, is [a-z ]+\?",
        rf"{STEPS} What percentage of the bin's contents, by weight, was [a-z ]+\?",
        rf"What was the percentage of [a-z ]+, by weight, in the [a-z ]+ that {NAME} blended\? {THEY} used {BATCHES}, and nothing "
        r"else\. All percentages are by weight\.",
    )
    weight, share = 0, Fraction(0)
    for pounds, percent in batches(parts):
        assert pounds is not None
        weight += pounds
        share += (percent - share) * Fraction(pounds, weight)
    return decimal(share)


def mixture_hard(challenge: str) -> str:
    """More and more of the unknown batch is added, until the mixture has the percentage of the prompt."""
    mixed = rf"(?P<mixed>{DECIMAL})%"
    asked = r"(?P<asked>\d+)% [a-z ]+"
    parts = read(
        without(challenge, *OF_MIXTURES),
        rf"{NAME} mixed (?P<count>[a-z]+) kinds of [a-z ]+ in an empty bin: {BATCHES}\. All percentages are by weight\. The "
        rf"percentage of [a-z ]+ in the mixture was {mixed}\. How many pounds of [a-z ]+ with {asked} did {NAME} use\?",
        rf"{SACKS} By weight, {mixed} of the mixture in the bin is [a-z ]+\. What number of pounds should replace the question mark\?"
        r"",
        rf"{STEPS} By weight, {mixed} of the bin's contents was [a-z ]+\. How many pounds of [a-z ]+ with {asked} did {NAME} use\?",
        rf"In a blend of (?P<count>[a-z]+) kinds of [a-z ]+, how many pounds of the kind with {asked} did {NAME} use\? {THEY} blended "
        rf"{BATCHES}, and added nothing else\. The result had {mixed} [a-z ]+\. All these percentages are by weight\.",
    )
    listing = batches(parts)
    (added,) = [percent for pounds, percent in listing if pounds is None]
    assert parts.get("asked") in (None, str(added))
    known = [(pounds, percent) for pounds, percent in listing if pounds is not None]
    answers = []
    for pounds in range(1, 1000):
        bin_ = [*known, (pounds, added)]
        part = sum(weight * percent for weight, percent in bin_)
        if Fraction(part, sum(weight for weight, _ in bin_)) == Fraction(parts["mixed"]):
            answers.append(str(pounds))
    (answer,) = answers
    return answer


OF_JOBS = (
    r"The [a-z ]+ is \d+ (?:yards|feet|inches) (?:long|wide|high)\.",
    r"It is \d+ degrees outside\.",
    r"A company offered to do the job in \d+ minutes, but nobody hired it\.",
    r"This job has had to wait for \d+ days\.",
    r"Last year, somebody else was paid \$\d+ for the same job\.",
)
WHO = rf"(?:(?:Mower|Pump|Hose|Printer) [A-D]|{NAME})"
PEOPLE = rf"{WHO}(?:, {WHO})*(?: and {WHO})?"
ALL = r"(?:both|all three|all four)"
PACE = r"(?:Neither of the two|None of the three|None of the four) gets faster or slower when they (?:work|run) at the same time\."
ALONE = r"(?:Working|Running) alone, (?P<alone>[^.?]+? minutes(?: to [a-z ]+)?[^.?]*?)"
TIMES = r"These are the times for [a-z ]+ alone:\n\n(?P<alone>.+?)\n\n"
STORY = (
    rf"It takes (?P<first>{WHO}) (?P<time>\d+) minutes to [a-z ]+ alone\. For the same job, (?P<alone>.+? minutes)\."
)
STOP = rf"{WHO} stops \d+ minutes after the start"
LEAVING = rf"(?P<stops>{STOP}(?: and {STOP})?)"


def times_alone(parts: dict[str, str]) -> dict[str, int]:
    """The minutes that each one needs alone."""
    times = {parts["first"]: int(parts["time"])} if parts.get("first") else {}
    pairs = re.findall(rf"({WHO})(?:(?: alone)? needs|:) (\d+) minutes", parts["alone"])
    assert len(pairs) == parts["alone"].count("minutes")
    return times | {name: int(time) for name, time in pairs}


def work_together(challenge: str) -> str:
    """The only minute by whose end all shares of the job make up the whole."""
    parts = read(
        without(challenge, *OF_JOBS),
        rf"{ALONE}\. {PACE} If {ALL} (?:work|run) together from start "
        r"to finish, how many minutes does the job take\?",
        rf"{TIMES}{PACE} Today, {ALL} start [a-z ]+ at the same moment and keep going until the job is done\. How many "
        r"minutes pass from the start to the end\?",
        rf"{STORY} Now {ALL} do it together from beginning to end\. {PACE} After how many minutes is the job done\?",
        rf"How many minutes does it take (?P<who>{PEOPLE}) to [a-z ]+ if {ALL} (?:work|run) the whole time\? {ALONE} for this "
        rf"job\. {PACE}",
    )
    times = times_alone(parts)
    (answer,) = [m for m in range(1, min(times.values())) if sum(Fraction(m, time) for time in times.values()) == 1]
    return str(answer)


def work_together_hard(challenge: str) -> str:
    """From one stop to the next with those who are still there."""
    keep = rf"(?P<stay>{PEOPLE}) keeps? going"
    parts = read(
        without(challenge, *OF_JOBS),
        rf"{ALONE}\. {PACE} {ALL.replace('b', '[Bb]').replace('all', '[Aa]ll')} start together, but {LEAVING}, while {keep}\. How "
        r"many minutes does the job take from start to finish\?",
        rf"{TIMES}{PACE} Today, {ALL} start [a-z ]+ at the same moment\. {LEAVING}\. {keep} until the job is done\. How many "
        r"minutes pass from the start to the end\?",
        rf"{STORY} Now {ALL} begin it together\. {LEAVING}, while {keep}\. {PACE} How many minutes after the start is the job "
        r"done\?",
        rf"How many minutes does it take to [a-z ]+ if (?P<who>{PEOPLE}) start at the same time, but {LEAVING}\? {ALONE} for this "
        rf"job\. {keep} until the end\. {PACE}",
    )
    times = times_alone(parts)
    stops = {name: int(time) for name, time in re.findall(rf"({WHO}) stops (\d+) minutes", parts["stops"])}
    assert set(times) - set(stops) == set(re.split(", | and ", parts["stay"]))
    clock, undone = Fraction(0), Fraction(1)
    for leaver in sorted(stops, key=lambda name: stops[name]):
        undone -= sum((stops[leaver] - clock) / time for time in times.values())
        clock = Fraction(stops[leaver])
        del times[leaver]
    assert undone > 0
    clock += undone / sum(Fraction(1, time) for time in times.values())
    return decimal(clock)


OF_GROUPS = (
    r"The [a-z ]+ met \d times a month\.",
    r"The [a-z ]+ had been founded \d+ years earlier\.",
    r"Each [a-z]+ paid a fee of \$\d+\.",
    r"There were \d+ other [a-z ]+ in town\.",
    r"The treasurer of the [a-z ]+ had been in office for \d+ months\.",
)
UNIT = "(?:inches|years|pounds|miles|points)"
CHANGE = rf"{NAME} \(\d+ {UNIT}(?: tall| old| a week)?\) (?:joined|left)"
CHANGES = rf"(?P<changes>{CHANGE}(?:, {CHANGE})*(?: and {CHANGE})?)"
WEEK = rf"This happened during the week:\n\n(?P<changes>(?:- {CHANGE}\n)+)\nNothing else changed\."
LATER = r"(?P<changes>(?: (?:Later|After that), [^.]+\.)+)"
AVERAGE = rf"(?P<average>\d+) {UNIT}"
NEW = rf"(?P<new>{DECIMAL}) {UNIT}"


def joined_and_left(text: str) -> list[tuple[int, int]]:
    """1 for each who joined and -1 for each who left, with the number that belongs to them."""
    changes = re.findall(r"(\d+) [a-z ]+\)?,? (joined|left)", text)
    assert len(changes) == len(re.findall("joined|left", text)) > 0
    return [(1 if verb == "joined" else -1, int(value)) for value, verb in changes]


def group_average(challenge: str) -> str:
    """The average moves with each one who joins or leaves; no sum is taken."""
    parts = read(
        without(challenge, *OF_GROUPS),
        rf"The average (?P<measure>[a-z ]+) of the (?P<members>\d+) [a-z]+ (?:in|on) a [a-z ]+ was {AVERAGE}\. Then {CHANGES}\. What "
        rf"was the average (?P=measure) in the group after that, in {UNIT}\?",
        rf"On a Monday, a [a-z ]+ had (?P<members>\d+) [a-z]+, and their average [a-z ]+ was {AVERAGE}\. {WEEK} What was the "
        rf"average [a-z ]+ (?:in|on) the [a-z ]+ on Sunday, in {UNIT}\?",
        rf"A [a-z ]+ started the season with (?P<members>\d+) [a-z]+\. Somebody calculated their average [a-z ]+, which was "
        rf"{AVERAGE}\.{LATER} If the average is calculated again after all this, what is it in {UNIT}\?",
        rf"By the end of the month, what was the average [a-z ]+ of the [a-z]+ (?:in|on) a [a-z ]+, in {UNIT}\? At the beginning of the "
        rf"month, there were (?P<members>\d+) of them, with an average of {AVERAGE}\. During the month, {CHANGES}\. There were "
        r"no other changes\.",
    )
    members, average = int(parts["members"]), Fraction(parts["average"])
    for sign, value in joined_and_left(parts["changes"]):
        members += sign
        average += sign * (value - average) / members
    return decimal(average)


def group_average_hard(challenge: str) -> str:
    """Groups of every size are tried."""
    parts = read(
        without(challenge, *OF_GROUPS),
        rf"The average (?P<measure>[a-z ]+) of the (?P<one>[a-z]+) (?:in|on) a [a-z ]+ was {AVERAGE}\. Then {CHANGES}\. The average "
        rf"(?P=measure) in the group after that was {NEW}\. How many (?P=one) had been in the group at first\?",
        rf"On a Monday, the average [a-z ]+ of the (?P<one>[a-z]+) (?:in|on) a [a-z ]+ was {AVERAGE}\. {WEEK} On Sunday, the average [a-z ]+ (?:in|on) the [a-z ]+ was {NEW}"
        rf"\. How many (?P=one) did the [a-z ]+ have on Monday\?",
        rf"A [a-z ]+ started the season with a certain number of (?P<one>[a-z]+)\. Somebody calculated their average [a-z ]+, "
        rf"which was {AVERAGE}\.{LATER} When the average was calculated again after all this, it was {NEW}\. What was the number "
        r"of (?P=one) at the start of the season\?",
        rf"At the beginning of the month, how many [a-z]+ were (?:in|on) a [a-z ]+ whose average [a-z ]+ was {AVERAGE} at that time\? "
        rf"During the month, {CHANGES}\. There were no other changes\. By the end of the month, the average was {NEW}\.",
    )
    changes = joined_and_left(parts["changes"])
    sizes = []
    for members in range(4, 1000):
        total = members * int(parts["average"]) + sum(sign * value for sign, value in changes)
        if total == Fraction(parts["new"]) * (members + sum(sign for sign, _ in changes)):
            sizes.append(str(members))
    (size,) = sizes
    return size


OF_GROWTH = (
    r"Another [a-z ]+ had (?:\$\d+|\d+ [a-z]+)\.",
    r"The [a-z ]+ was \d+ years old at the start\.",
    r"An expert had predicted growth of \d+% per [a-z]+\.",
    r"The records fill \d+ pages\.",
    r"The records were checked on \d+ different days\.",
)
START = r"\$?(?P<start>\d+)(?: [a-z]+)?"
END = r"\$?(?P<end>\d+)(?: [a-z]+)?"
SPAN = r"(?P<periods>\d) [a-z]+"
GREW = r"(?P<grew>grew|fell) by (?P<percent>\d+)%"
MOVED = r"(?:were|was) (?P<moved>added|bought|released|deposited|caught|sold|removed|withdrawn|transferred (?:from|to) other clubs)"
ADDED = ("added", "bought", "released", "deposited", "transferred from other clubs")
FIXED = rf"\$?(?P<change>\d+)(?: [a-z]+)? {MOVED}"
UNKNOWN = rf"a fixed (?:number of [a-z]+|amount) {MOVED}"
ASKED = r"How many [a-z]+ were (?P<asked>[a-z ]+) each (?:year|month|week)\?"


def growth_wordings(change: str, ends: tuple[str, str, str]) -> list[str]:
    """The three wordings that begin with the start, each with its end."""
    first = rf"At the start, there (?:were|was) {START} (?:in|on) an? (?P<place>[a-z ]+)\. Each [a-z]+, "
    records = rf"These are the records for an? (?P<place>[a-z ]+):\n\n- start: {START}\n- in each of the {SPAN} that followed: "
    story = rf"{NAME} managed an? (?P<place>[a-z ]+) for {SPAN}\. When {THEY} started, it had {START}\. Each [a-z]+, "
    return [
        rf"{first}the [a-z ]+ first {GREW}, and then {change}\. {ends[0]}",
        rf"{records}the [a-z ]+ first {GREW}, and then {change}\n{ends[1]}",
        rf"{story}the [a-z ]+ first {GREW}\. Then, at the end of the [a-z]+, {change}\. {ends[2]}",
    ]


def growth_factor(parts: dict[str, str]) -> Fraction:
    return 1 + Fraction(int(parts["percent"]) * (1 if parts["grew"] == "grew" else -1), 100)


def growth_in_steps(challenge: str) -> str:
    """From the fixed point of the recurrence: the distance from it is what grows."""
    ends = (
        rf"How many [a-z]+ were (?:in|on) the (?P=place) after {SPAN}\?",
        r"\nThere were no other changes\. How many [a-z]+ were (?:in|on) the (?P=place) at the end\?",
        r"How many [a-z]+ were (?:in|on) the (?P=place) at the end of the (?P=periods) [a-z]+\?",
    )
    parts = read(
        without(challenge, *OF_GROWTH),
        *growth_wordings(FIXED, ends),
        rf"How many [a-z]+ were (?:in|on) an? [a-z ]+ after {SPAN} if it had {START} at first\? Every [a-z]+, the same thing "
        rf"happened: the [a-z ]+ {GREW}, and after that, {FIXED}\.",
    )
    factor = growth_factor(parts)
    change = int(parts["change"]) * (1 if parts["moved"] in ADDED else -1)
    fixed_point = -change / (factor - 1)
    return decimal((int(parts["start"]) - fixed_point) * factor ** int(parts["periods"]) + fixed_point)


def growth_in_steps_hard(challenge: str) -> str:
    """Every whole number is tried as the fixed change."""
    ends = (
        rf"After {SPAN}, there (?:were|was) {END} (?:in|on) the (?P=place)\. {ASKED}",
        rf"- end: {END}\n\nThere were no other changes\. {ASKED}",
        rf"At the end of the (?P=periods) [a-z]+, the (?P=place) had {END}\. {ASKED}",
    )
    parts = read(
        without(challenge, *OF_GROWTH),
        *growth_wordings(UNKNOWN, ends),
        rf"{ASKED} An? [a-z ]+ had {START} at first and {END} after {SPAN}\. Every [a-z]+, the same thing happened: the [a-z ]+ "
        rf"{GREW}, and after that, {UNKNOWN}\.",
    )
    assert parts["asked"] == parts["moved"]
    factor, sign = growth_factor(parts), 1 if parts["moved"] in ADDED else -1
    answers = []
    for change in range(1, 10_000):
        count = Fraction(parts["start"])
        for _ in range(int(parts["periods"])):
            count = count * factor + sign * change
        if count == int(parts["end"]):
            answers.append(str(change))
    (answer,) = answers
    return answer


OF_SIZES = (
    r"A bottle of olive oil costs \$\d+\.49\.",
    r"The store is \d+ minutes away\.",
    r"Last month, the store sold \d+ packages of [a-z ]+\.",
    rf"A store in another town charges \d+ cents per ounce, but {NAME} never goes there\.",
    r"The [a-z ]+ can be kept for \d+ months\.",
)
SIZE = rf"\d+ ounces for {MONEY}"
OFFERS = rf"(?P<offers>{SIZE}(?:, {SIZE})* and {SIZE})"


def best_buy(challenge: str) -> str:
    """Packages of each size are bought, one after the other, until there are enough ounces."""
    needed, usual = r"(?P<needed>\d+) ounces", r"(?P<usual>\d+)-ounce"
    parts = read(
        without(challenge, *OF_SIZES),
        rf"A store sells [a-z ]+ in [a-z]+ sizes: {OFFERS}\. {NAME} needs {needed} and wants to buy packages of one size only\. "
        rf"How many dollars does {THEY} save in total by choosing the size with the lowest price per ounce instead of the {usual} "
        r"size\?",
        rf"These are the prices of (?P<good>[a-z ]+) at a store:\n\n\| package \| price \|\n\|---\|---\|\n(?P<offers>.+)\n\n{NAME} "
        rf"used to buy the {usual} package, but now buys the package that is cheapest per ounce\. How many dollars does {THEY} save "
        rf"on {needed} of (?P=good)\?",
        rf"For years, {NAME} has bought [a-z ]+ in packages of (?P<usual>\d+) ounces for (?P<price>{MONEY})\. Today, {THEY} noticed "
        rf"the other sizes in the store: {OFFERS}\. From now on, {THEY} will buy the size with the lowest price per ounce\. By how "
        rf"many dollars does that lower the cost of {needed}\?",
        rf"How many dollars does {NAME} save on {needed} of [a-z ]+ if {THEY} buys the size with the lowest price per ounce rather "
        rf"than the {usual} size\? The store offers {OFFERS}\.",
    )
    prices = {
        int(size): cents(price) for size, price in re.findall(rf"(\d+) ounces(?: for| \|) ({MONEY})", parts["offers"])
    }
    assert len(prices) == parts["offers"].count("ounces")
    if parts.get("price"):
        prices[int(parts["usual"])] = cents(parts["price"])
    costs = {}
    for size, price in prices.items():
        ounces = cost = 0
        while ounces < int(parts["needed"]):
            ounces, cost = ounces + size, cost + price
        assert ounces == int(parts["needed"])
        costs[size] = cost
    return dollars(costs[int(parts["usual"])] - min(costs.values()))


OF_SCHEDULES = (
    r"[A-Z][a-z]+ [a-z]+ arrive \d+ minutes before the start\.",
    r"The room has \d+ seats\.",
    r"Last year, the whole day was \d+ minutes shorter\.",
    r"Lunch costs \$\d+\.",
    r"Next year, everything will start \d+ minutes later\.",
)
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


def end_of_a_schedule(challenge: str) -> str:
    """A calendar's clock, from one session to the next."""
    clock, lunch = r"(?P<clock>\d+:\d\d AM)", r"(?P<lunch>\d+) minutes"
    lasting, pause = r"(?P<length>\d+) minutes", r"(?P<pause>\d+) minutes"
    form = r"Write the time in the form 3:05 PM\."
    parts = read(
        without(challenge, *OF_SCHEDULES),
        rf"A [a-z ]+ starts at {clock}\. It has (?P<count>[a-z]+) [a-z]+ of {lasting} each\. Between one (?P<one>[a-z]+) and the "
        rf"next, there is a break of {pause}\. The only exception is the break after the (?P<place>[a-z]+) (?P=one), which is a "
        rf"lunch break of {lunch}\. At what time does the last (?P=one) end\? {form}",
        rf"This is the plan for a [a-z ]+:\n\n- start of the first (?P<one>[a-z]+): {clock}\n- (?P<many>[a-z]+): (?P<count>\d), each "
        rf"{lasting} long\n- lunch: {lunch}, between the (?P<place>[a-z]+) and the [a-z]+ (?P=one)\n- all other breaks between (?P=many): {pause} each"
        rf"\n\nNothing else is planned\. When is the last (?P=one) over\? {form}",
        rf"(?P<who>{NAME}) goes to a [a-z ]+ with (?P<count>[a-z]+) (?P<many>[a-z]+)\. The first (?P<one>[a-z]+) begins at {clock}, "
        rf"and each (?P=one) lasts {lasting}\. After the (?P<place>[a-z]+) (?P=one), there is a lunch break of {lunch}\. All other "
        rf"breaks between two (?P=many) last {pause}\. (?P=who) leaves as soon as the last (?P=one) is over\. At what time is "
        rf"that\? {form}",
        rf"At what time is the last of (?P<count>[a-z]+) (?P<many>[a-z]+) over if the first one starts at {clock} and each one lasts {lasting}\?"
        rf" They are part of a [a-z ]+\. There is a break between any two consecutive (?P=many)\. It lasts {pause}"
        rf", or {lunch} if it is the lunch break after the (?P<place>[a-z]+) [a-z]+\. {form}",
    )
    time = datetime.strptime(parts["clock"], "%I:%M %p")
    for session in range(1, number(parts["count"]) + 1):
        time += timedelta(minutes=int(parts["length"]))
        if session < number(parts["count"]):
            is_lunch = PLACES[session - 1] == parts["place"]
            time += timedelta(minutes=int(parts["lunch"] if is_lunch else parts["pause"]))
    return time.strftime("%I:%M %p").removeprefix("0")


OF_TRIPS = (
    r"The tank of the [a-z ]+ held \d+ gallons\.",
    r"Lunch on the way cost \$\d+\.",
    r"A bus would have taken \d+ minutes\.",
    r"The [a-z ]+ was \d+ years old\.",
    r"The year before, gas had cost \d+ cents less per gallon\.",
)


def trip_cost(challenge: str) -> str:
    """The price of a mile, times the miles of each road."""
    roads = r"(?P<roads>\d+ miles(?: on [a-z ]+?(?:, \d+ miles on a second)? and \d+ miles on a (?:second|third))?)"
    back = r"(?P<difference>\d+) miles (?P<compared>longer|shorter)(?: in total)?"
    out_mpg, back_mpg = r"(?P<out_mpg>\d+)", r"(?P<back_mpg>\d+)"
    out_gas, back_gas = rf"(?P<out_gas>{MONEY})", rf"(?P<back_gas>{MONEY})"
    toll = rf"(?P<toll>{MONEY})"
    parts = read(
        without(challenge, *OF_TRIPS),
        rf"{NAME} drove {roads} to visit a friend\. On the way there, (?:his|her) (?P<car>[a-z ]+) got {out_mpg} miles per gallon, "
        rf"and gas cost {out_gas} per gallon\. The trip back was {back}\. On the way back, the (?P=car) got {back_mpg} miles per gallon, and "
        rf"gas cost {back_gas} per gallon\. A toll of {toll} had to be paid on the way (?:there|back)\. How many dollars did the gas "
        r"and the toll for the round trip cost in total\?",
        rf"{NAME} wrote down a round trip by [a-z ]+:\n\n\| \| way there \| way back \|\n\|---\|---\|---\|\n\| distance \| "
        rf"(?P<roads>[^|]+) \| (?P<difference>\d+) miles (?P<compared>longer|shorter)(?: in total)? than the way there \|\n\| miles "
        rf"per gallon \| {out_mpg} \| {back_mpg} \|\n\| price of a gallon of gas \| {out_gas} \| {back_gas} \|\n\| toll \| "
        rf"(?:none \| )?{toll}(?: \| none)? \|\n\nThe way back used other roads\. What did the gas and the toll for the round "
        r"trip cost in total, in dollars\?",
        rf"To get to a campsite, {NAME} drove (?:his|her) (?P<car>[a-z ]+?) {roads}\. {THEY} then chose another route home, which was "
        rf"{back}\. On the way to the campsite, the (?P=car) used a gallon of gas for every {out_mpg} miles, and on the way home, a "
        rf"gallon for every {back_mpg} miles\. A gallon cost {out_gas} on the way to the campsite and {back_gas} on the way home\. "
        rf"The toll for a bridge on the way (?:home|to the campsite) was {toll}\. How many dollars did {THEY} spend on gas and the toll for the whole trip\?"
        r"",
        rf"What was the total cost of {NAME}'s round trip by (?P<car>[a-z ]+) in dollars, counting only gas and the toll\? The trip out was {roads}, and the trip back was"
        rf" {back}\. (?:His|Her) (?P=car) got {out_mpg} miles per gallon on the way out and {back_mpg} on the way "
        rf"back\. A gallon of gas cost {out_gas} on the way out and {back_gas} on the way back\. The toll, which had to be paid once, "
        rf"was {toll}\.",
    )
    miles = [int(road) for road in re.findall(r"(\d+) miles", parts["roads"])]
    a_mile_out = Fraction(cents(parts["out_gas"]), int(parts["out_mpg"]))
    a_mile_back = Fraction(cents(parts["back_gas"]), int(parts["back_mpg"]))
    cost = cents(parts["toll"]) + sum(road * (a_mile_out + a_mile_back) for road in miles)
    return dollars(cost + int(parts["difference"]) * a_mile_back * (1 if parts["compared"] == "longer" else -1))


SOLVERS: list[Callable[[str], str]] = [
    mixture,
    mixture_hard,
    work_together,
    work_together_hard,
    group_average,
    group_average_hard,
    growth_in_steps,
    growth_in_steps_hard,
    best_buy,
    end_of_a_schedule,
    trip_cost,
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_every_question_has_the_answer_that_its_prompt_leads_to_in_every_wording(
    solver: Callable[[str], str], records: tuple[Records, Records]
) -> None:
    check_family(solver, solver.__name__, records)
