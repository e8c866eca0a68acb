"""What the prompts of the shipped benchmark say and show, how they differ, and how their grades come out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.grade import grade

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]
Records = list[dict[str, Any]]

SKIP = "I-DO-NOT-KNOW"
FORMAT = {"kind": "xml", "skip": SKIP}

# Template -> how the prompt says that the answer is to be written, and how many of 200 answers must differ at least.
FAMILIES = {
    "next_prime": ("a whole number in plain digits", 200),
    "digit_sum": ("a whole number in plain digits", 120),
    "ten_primality_tests": ("a list such as [True, False, True]", 140),
    "median": ("a whole number in plain digits", 200),
    "circle_area": ("a decimal number such as 3.14", 200),
    "eigenvalues": ("a tuple such as (3.14, 2.50, -1.00)", 200),
    "cubic_integral": ("a decimal number such as 3.14", 200),
    "common_subsequence": ("text exactly as asked for, without quotes around it", 200),
    "max_subarray": ("a whole number in plain digits", 180),
    "sha3": ("text exactly as asked for, without quotes around it", 200),
    "edit_script": ("text exactly as asked for, without quotes around it", 200),
    "failed_logins": (
        "a tuple such as (a, b, c), with text that holds a comma, a bracket or a quote in double quotes", 190,
    ),
}  # fmt: skip
TIES = "a value exactly halfway between two candidates goes to the"
ROUNDING = {
    "median": rf"Round to a whole number; {TIES} even one\.",
    "circle_area": rf"Round to \d+ decimal places?; {TIES} one whose last digit is even\. Leave out trailing zeros",
    "eigenvalues": rf"Round to 2 decimal places; {TIES} one whose last digit is even\. Write exactly that many decimal",
    "cubic_integral": rf"Round to 3 decimal places; {TIES} one whose last digit is even\. Leave out trailing zeros",
}
JUDGED = (
    "How your answer is judged:\n"
    "- You may solve the task by any method.\n"
    "- Only the final answer counts; how you found it is not read.\n"
    "- A correct answer scores 1, a wrong or unreadable one -2, a skipped one 0. If you are not sure, skip.\n"
    "- Give your final answer once, between <xml> and </xml>, and write nothing outside these tags. "
    "Between them stands the answer alone: {phrase}. "
    f"To skip the question instead, write <xml>{SKIP}</xml>.\n"
    "- Check your result once more before you give it. If you are then still not sure that it is right, skip."
)
LEFTOVERS = re.compile(
    r"\{\{|\}\}|\{%|%\}|\{#|\b(?:None|none|null|undefined|nan)\b|Fraction|Decimal|<[a-z_]+ object|\n\n\n|[ \t]\n|\t|  "
)
DOUBLED_WORD = re.compile(r"\b([a-z]+) \1\b", re.IGNORECASE)


def of(template: str, records: Records) -> Records:
    """The records of one template, in their order."""
    return [record for record in records if record["template"] == template]


def test_there_are_the_twelve_families(questions: Records) -> None:
    assert {question["template"] for question in questions} == set(FAMILIES)


@pytest.mark.parametrize("template", FAMILIES)
def test_instances_are_consecutive_and_each_has_one_answer(template: str, questions: Records, answers: Answers) -> None:
    asked = of(template, questions)
    assert [question["instance"] for question in asked] == list(range(200))
    assert [question["id"] for question in asked] == [f"dia_bench/{template}/{i}" for i in range(200)]
    assert [record["id"] for record in answers.values() if record["template"] == template] == [
        question["id"] for question in asked
    ]


@pytest.mark.parametrize("template", FAMILIES)
def test_no_question_is_asked_twice(template: str, challenges: Challenges) -> None:
    asked = challenges[template].values()
    assert [text for text, times in Counter(asked).items() if times > 1] == []


@pytest.mark.parametrize("template", FAMILIES)
def test_answers_differ(template: str, answers: Answers) -> None:
    texts = Counter(record["text"] for record in of(template, list(answers.values())))
    assert len(texts) >= FAMILIES[template][1]
    assert max(texts.values()) <= 6


def test_prompts_say_how_to_answer_and_what_it_is_worth(questions: Records, prompts: dict[str, str]) -> None:
    for question in questions:
        _, _, judged = prompts[question["id"]].partition("\n\nHow your answer is judged:\n")
        phrase, _ = FAMILIES[question["template"]]
        if "Round to 1 decimal place;" in prompts[question["id"]]:
            phrase = "a decimal number such as 3.1"
        assert "How your answer is judged:\n" + judged == JUDGED.format(phrase=phrase), question["id"]
        assert question["format"] == FORMAT
        assert question["points"] == {"correct": 1, "skipped": 0, "wrong": -2}


def test_prompts_say_how_to_round_where_answers_are_rounded(challenges: Challenges, answers: Answers) -> None:
    for template, asked in challenges.items():
        for id, challenge in asked.items():
            comparison = answers[id]["comparison"]
            is_rounded = "round" in comparison or "round" in comparison.get("of", {})
            assert is_rounded == (template in ROUNDING), id
            assert len(re.findall(ROUNDING.get(template, "Round|halfway"), challenge)) == is_rounded, id


def test_prompts_are_clean_english_text(questions: Records, prompts: dict[str, str]) -> None:
    for question in questions:
        (message,) = question["messages"]
        assert message["role"] == "user" and question["assets"] == []
        prompt = prompts[question["id"]]
        assert prompt.isascii() and prompt == prompt.strip(), question["id"]
        assert not LEFTOVERS.search(prompt), (question["id"], LEFTOVERS.search(prompt))
        assert not DOUBLED_WORD.search(prompt), (question["id"], DOUBLED_WORD.search(prompt))


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl"])
def test_five_instances_are_a_prefix_of_two_hundred(name: str, bundles: dict[int, Path]) -> None:
    few, many = ((bundles[k] / name).read_text("utf-8").splitlines() for k in (5, 200))
    assert len(few) == 5 * len(FAMILIES) and len(many) == 200 * len(FAMILIES)
    assert few == [line for at in range(0, len(many), 200) for line in many[at : at + 5]]


def test_truths_are_right_and_skips_and_named_mistakes_are_not(answers: Answers) -> None:
    for id, record in answers.items():
        verdicts = {
            text: grade(record, f"<xml>{text}</xml>", FORMAT).verdict
            for text in (record["text"], SKIP, *record["mistakes"].values())
        }
        mistakes = dict.fromkeys(record["mistakes"].values(), "wrong")
        assert verdicts == {record["text"]: "correct", SKIP: "skipped", **mistakes}, id


def counts(pattern: str, asked: dict[str, str]) -> Counter[str]:
    """How often each value of the one group is found, in tasks that hold it once."""
    found = [re.findall(pattern, challenge) for challenge in asked.values()]
    assert all(len(values) == 1 for values in found)
    return Counter(values[0] for values in found)


# Template, what shows the first parameter in the prompt, and how many values it has: they are used up evenly.
FIRST_PARAMETERS = [
    ("next_prime", r"The number (\d+)", 2**126),
    ("median", r"of these (\d+) integers", 151),
    ("circle_area", r"Round to (\d+) decimal", 10),
    ("eigenvalues", r"\[\[(\d+),", 1000),
    ("cubic_integral", r"(\d+)x\^3", 500),
    ("edit_script", r"This text has (\d+) characters", 2),
    ("sha3", r"characters ([A-Za-z0-9]{20}) and", 62**20),
]


@pytest.mark.parametrize(("template", "pattern", "size"), FIRST_PARAMETERS, ids=lambda value: str(value)[:20])
def test_first_parameters_are_used_up_before_they_repeat(
    template: str, pattern: str, size: int, challenges: Challenges
) -> None:
    used = counts(pattern, challenges[template])
    assert len(used) == min(size, 200)
    assert max(used.values()) - min(used.values()) <= 1


def test_lengths_of_lists_and_texts_are_used_up_before_they_repeat(challenges: Challenges) -> None:
    longest = Counter(text.count(",") + 1 for text in (c.split("[")[1] for c in challenges["max_subarray"].values()))
    assert set(longest) == set(range(100, 201)) and set(longest.values()) <= {1, 2}
    first_texts = Counter(len(c.split("\n")[2]) for c in challenges["common_subsequence"].values())
    assert set(first_texts) == set(range(20, 201)) and set(first_texts.values()) == {1, 2}


def test_each_number_of_digits_is_as_frequent(challenges: Challenges) -> None:
    sizes = Counter(len(re.findall(r"\d{900,}", text)[0]) for text in challenges["digit_sum"].values())
    assert set(sizes) == set(range(901, 1001)) and set(sizes.values()) == {2}


def test_each_number_of_primes_is_as_frequent(answers: Answers) -> None:
    sizes = Counter(answers[id]["parameters"]["size"] for id in answers if "/ten_primality_tests/" in id)
    assert set(sizes) == set(range(1, 10)) and set(sizes.values()) == {22, 23}
    primes = Counter(answers[id]["text"].count("True") for id in answers if "/ten_primality_tests/" in id)
    assert sum(size * times for size, times in sizes.items()) <= sum(n * times for n, times in primes.items())


# Parameters that are not the first are drawn: even within three standard deviations of a fair draw.
DRAWN = [
    ("cubic_integral", r"from x = (\d+)", list("12345")),
    ("cubic_integral", r"to x = (\d+)", ["6", "7", "8", "9", "10"]),
    ("edit_script", r"\n(\d+)\. [^\n]+$", [str(steps) for steps in range(20, 31)]),
]


@pytest.mark.parametrize(("template", "pattern", "values"), DRAWN, ids=lambda value: str(value)[:20])
def test_other_parameters_are_drawn_fairly(
    template: str, pattern: str, values: list[str], challenges: Challenges
) -> None:
    found, share = counts(pattern, challenges[template]), 1 / len(values)
    assert set(found) == set(values)
    spread = 3 * (200 * share * (1 - share)) ** 0.5
    assert all(abs(found[value] - 200 * share) <= spread for value in values), found
