"""Whether the questions of specs/know_thyself can be answered, and how, derived again from each prompt alone.

Nothing of the project computes here. Each solver reads the text that a model is sent, lists the worlds in which all of it
is true, and returns the answers in these worlds. Exactly one answer is an answer; none or several are a reason to decline.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
import yaml
from dia_compiler.api import compile
from helpers.places import ROOT
from helpers.workers import made_once

SPECS = ROOT / "specs" / "know_thyself"
K = max(2, int(os.environ.get("DIA_TRUTH_K", "6")) // 2 * 2)
FAMILIES = sorted(path.stem for path in SPECS.glob("*.yaml") if path.stem != "benchmark")
DECLINE = "I-DO-NOT-KNOW"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = {word: value for value, word in enumerate(WORDS)}

Records = list[dict[str, Any]]
Answers = set[str]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Records, Records]:
    """The questions and the answers."""
    out = made_once("know_thyself", lambda folder: compile([SPECS], k=K, out=folder, jobs=2), tmp_path_factory, request)
    (path,) = out.glob("know_thyself-*")
    questions, answers = (
        [json.loads(line) for line in (path / name).read_bytes().splitlines()]
        for name in ("questions.jsonl", "answers.jsonl")
    )
    return questions, answers


def task(question: dict[str, Any]) -> str:
    """The prompt without what the benchmark says to all questions."""
    challenge, mark, rest = question["messages"][-1]["content"].partition("\n\nSome questions cannot be answered: ")
    assert mark and f"the correct answer is exactly {DECLINE}, and nothing else is." in rest
    return str(challenge)


def read(challenge: str, *wordings: str) -> tuple[str, ...]:
    """The groups of the only wording that describes the whole challenge."""
    matches = [match for wording in wordings if (match := re.fullmatch(wording, challenge, re.DOTALL))]
    assert len(matches) == 1, challenge
    return matches[0].groups()


def number(text: str) -> int:
    return NUMBERS[text.lower()] if text.lower() in NUMBERS else int(text)


def price_of_an_order(challenge: str) -> Answers:
    """A price list; a price that it lacks is tried as two different amounts."""
    facts, order = read(
        challenge,
        r"Notes on the goods of a shop:\n\n(.+)\n\nSomeone orders (.+)\. How many dollars is that in total\?",
        r'"(.+)" That is all the shop\'s leaflet says\. What is the total price, in dollars, of (.+)\?',
    )
    prices = {item: int(price) for item, price in re.findall(r"An? (\w+) costs (\d+) dollars\.", facts)}
    weighed = re.findall(r"An? (\w+) weighs \d+ kilograms\.", facts)
    assert len(prices) + len(weighed) == facts.count(".")
    wanted = re.findall(r"(\w+) (\w+?)(?=, | and |$)", order)
    assert len(wanted) == 3
    singular = {f"{item}{'es' if item.endswith('sh') else 's'}": item for item in (*prices, *weighed)}
    totals = set()
    for guess in (1, 2):
        totals.add(str(sum(number(count) * prices.get(singular[goods], guess) for count, goods in wanted)))
    return totals


def how_many_are_taller(challenge: str) -> Answers:
    """All orders of the people in which every comparison holds."""
    person = r"([A-Z]\w+)"
    (asked,) = {
        match[1]
        for match in (
            re.search(rf"How many of these six people are taller than {person}\?$", challenge),
            re.search(rf"how many stand in front of {person}\?$", challenge),
        )
        if match
    }
    above = [
        (one, other) if word == "taller" else (other, one)
        for one, word, other in re.findall(rf"{person} is (taller|shorter) than {person}", challenge)
    ]
    people = sorted({name for pair in above for name in pair})
    assert len(people) == 6 and len(above) == challenge.count(" is ")
    orders = [order for order in permutations(people) if all(order.index(a) < order.index(b) for a, b in above)]
    return {str(order.index(asked)) for order in orders}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_question_is_answered_or_declined_as_its_prompt_says_in_every_wording(
    family: str, bundle: tuple[Records, Records]
) -> None:
    solver: Callable[[str], Answers] = globals()[family]
    questions, answers = ([record for record in records if record["template"] == family] for records in bundle)
    possible = {question["id"]: solver(task(question)) for question in questions}
    derived = {name: next(iter(texts)) if len(texts) == 1 else DECLINE for name, texts in possible.items()}
    assert derived == {answer["id"]: answer["text"] for answer in answers}
    wordings = {question["variant"] for question in questions}
    assert len(wordings) >= 2 and len({task(question) for question in questions}) == K * len(wordings)
    assert sum(text == DECLINE for text in derived.values()) == K // 2 * len(wordings)


def test_whether_it_is_answerable_is_the_first_parameter_and_decides_alone() -> None:
    for family in FAMILIES:
        spec = yaml.safe_load((SPECS / f"{family}.yaml").read_text("utf-8"))
        assert next(iter(spec["params"].items())) == ("answerable", {"type": "boolean"}), family
        assert spec["answer"]["unanswerable"] == "not answerable", family
