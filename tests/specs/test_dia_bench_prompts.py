"""What the prompts of the shipped benchmark say and show, how they differ, and how their grades come out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.grading.grader import grade

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]
Records = list[dict[str, Any]]

SKIP = "I-DO-NOT-KNOW"
FORMAT = {"kind": "xml", "skip": SKIP, "rules": 2}

# How many of 100 answers must differ at least, where that is not nearly all of them.
LEAST_ANSWERS = 90
FEWER_ANSWERS = {
    "digit_sum": 70, "age_riddle": 45, "rank": 3, "boolean_expressions": 25,
    "chromatic_number": 5, "clock_angle": 70, "count_a_letter": 60, "count_despite_a_claim": 30,
    "place_in_sorted_list": 55, "hamming_distance": 50, "max_prefix_sum": 60,
    "node_method_refused": 18, "flask_methods": 15, "cube_tower": 25, "forced_skip": 70,
    "hanoi_picture": 80,
}  # fmt: skip
COMMONEST = 450  # divided by the number of answers that must differ: how often of 100 times one may come
PLAIN = ", in plain digits, without separators or units"
# Type of the answer -> how the prompt says that it is to be written.
PHRASES = {
    "domain": "a domain name such as example.com",
    "integer": "an integer in plain digits, without separators or units",
    "ip_address": "an IP address such as 192.0.2.1",
    "real": f"a decimal number such as 3.14{PLAIN}",
    "text": "exactly the requested text, without quotes around it",
    "list of boolean": "a list such as [True, False, True]",
    "list of integer": "a list such as [1, 2, 3]",
    "list of text": "a list such as [a, b, c]; put text that contains a comma, a bracket or a quote in double quotes",
    "tuple of integer": "a tuple such as (1, 2, 3)",
    "tuple of text": "a tuple such as (a, b, c); put text that contains a comma, a bracket or a quote in double quotes",
}
PLACES_OF_TUPLES = {"keep": "a tuple such as (3.14, 7.50, -1.00)", "strip": "a tuple such as (3.14, 7.5, -1)"}
TIES = "a value exactly halfway between two candidates goes to the"
ZEROS = {
    "keep": "Write exactly that many decimal places, with zeros at the end where needed.",
    "strip": "Leave out trailing zeros after the decimal point, and the point itself if no digits follow it.",
}
JUDGED = (
    "How your answer is graded:\n"
    "- You may use any method. Only your final answer is graded.\n"
    "- You may reason first. End your reply with your final answer inside <xml> and </xml> tags. "
    "Put only the answer between the tags: {phrase}. "
    f"To skip the question, write <xml>{SKIP}</xml> instead.\n"
    "- A correct answer scores 1, a wrong or unreadable one -2, and a skipped question 0.\n"
    "- Check your answer before you give it. If you are not sure that it is right, skip the question."
)
LEFTOVERS = re.compile(
    r"\{\{|\}\}|\{%|%\}|\{#|\b(?:None|none|null|undefined|nan)\b|Fraction|Decimal|<[a-z_]+ object|\n\n\n|[ \t]\n|\t|  "
)
ENCODED = re.compile(r"(?m)^\S{50,}$")  # a line of Base85 may hold any two signs side by side
BLOCK = re.compile(r"(`{3,})[a-z]*\n.*?\n\1", re.DOTALL)  # sources are no English
DOUBLED_WORD = re.compile(r"\b([a-z]+) \1\b", re.IGNORECASE)


def of(template: str, records: Records) -> Records:
    """The records of one template, in their order."""
    return [record for record in records if record["template"] == template]


def phrase_of(comparison: dict[str, Any]) -> str:
    """How a prompt says that an answer with this comparison is to be written."""
    parts, rounding = comparison.get("of"), rounding_of(comparison)
    if parts and rounding:
        return PLACES_OF_TUPLES[rounding["zeros"]]
    if rounding and rounding["places"] == 1:
        return f"a decimal number such as 3.1{PLAIN}"
    return PHRASES[f"{comparison['type']} of {parts['type']}" if parts else comparison["type"]]


def as_declared(phrase: str, comparison: dict[str, Any]) -> str:
    """The phrase for an answer that may have a unit or has a small declared number of elements, as its example shows."""
    phrase = phrase.removesuffix(" or units") if "units" in comparison else phrase
    example = re.search(r"[\[(](.+?)[\])]", phrase)
    if example is None or not 0 < comparison.get("length", 0) <= 6:
        return phrase
    elements = example[1].split(", ")
    shown = ", ".join(elements[place % 3] for place in range(comparison["length"]))
    return phrase.replace(example[1], shown)


def rounding_of(comparison: dict[str, Any]) -> dict[str, Any] | None:
    """How an answer with this comparison, or each part of it, is rounded."""
    rounding: dict[str, Any] | None = comparison.get("round") or comparison.get("of", {}).get("round")
    return rounding


def rule_of(rounding: dict[str, Any]) -> str:
    """What a prompt must say about rounding."""
    if rounding["places"] == 0:
        return f"Round to a whole number; {TIES} even one."
    places = f"{rounding['places']} decimal place{'' if rounding['places'] == 1 else 's'}"
    return f"Round to {places}; {TIES} one whose last digit is even. {ZEROS[rounding['zeros']]}"


def test_instances_are_consecutive_and_each_has_one_answer(each: int, questions: Records, answers: Answers) -> None:
    templates = dict.fromkeys(question["template"] for question in questions)
    expected = [f"dia_bench/{template}/{i}" for template in templates for i in range(each)]
    assert [question["id"] for question in questions] == expected == list(answers)
    assert all(question["id"].endswith(f"/{question['instance']}") for question in questions)


def test_no_question_is_asked_twice(challenges: Challenges) -> None:
    for asked in challenges.values():
        assert [text for text, times in Counter(asked.values()).items() if times > 1] == []


def test_answers_differ(many: int, challenges: Challenges, answers: Answers) -> None:
    assert set(FEWER_ANSWERS) <= set(challenges)
    for template in challenges:
        texts = Counter(record["text"] for record in of(template, list(answers.values())))
        least = FEWER_ANSWERS.get(template, LEAST_ANSWERS)
        assert len(texts) >= least, template
        assert max(texts.values()) <= max(6, COMMONEST // least) * many / 100, template


def test_prompts_say_how_to_answer_and_what_it_is_worth(
    questions: Records, prompts: dict[str, str], answers: Answers
) -> None:
    for question in questions:
        _, _, judged = prompts[question["id"]].partition("\n\nHow your answer is graded:\n")
        comparison = answers[question["id"]]["comparison"]
        phrase = as_declared(phrase_of(comparison), comparison)
        assert "How your answer is graded:\n" + judged == JUDGED.format(phrase=phrase), question["id"]
        assert question["format"] == FORMAT
        assert question["points"] == {"correct": 1, "skipped": 0, "wrong": -2}


def test_prompts_say_how_to_round_where_answers_are_rounded(challenges: Challenges, answers: Answers) -> None:
    for asked in challenges.values():
        for id, challenge in asked.items():
            rounding = rounding_of(answers[id]["comparison"])
            assert challenge.count("Round") == (1 if rounding else 0), id
            assert rounding is None or challenge.count(rule_of(rounding)) == 1, id


def test_prompts_are_clean_english_text(questions: Records, prompts: dict[str, str]) -> None:
    for question in questions:
        (message,) = question["messages"]
        assert message["role"] == "user" and question["assets"] == []
        prompt = prompts[question["id"]]
        assert prompt.isascii() and prompt == prompt.strip(), question["id"]
        shown = ENCODED.sub("encoded", BLOCK.sub("block", prompt))
        assert not LEFTOVERS.search(shown), (question["id"], LEFTOVERS.search(shown))
        assert not DOUBLED_WORD.search(shown), (question["id"], DOUBLED_WORD.search(shown))


@pytest.mark.parametrize("name", ["questions.jsonl", "answers.jsonl"])
def test_five_instances_are_a_prefix_of_more(name: str, each: int, bundles: dict[int, Path]) -> None:
    if each == 5:
        pytest.skip("five instances are compared with more: set DIA_TRUTH_K")
    few, more = ((bundles[k] / name).read_text("utf-8").splitlines() for k in (5, each))
    assert 5 * len(more) == each * len(few)
    assert few == [line for at in range(0, len(more), each) for line in more[at : at + 5]]


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
    ("cubic_integral", r"(\d+)x\^3", 499),
    ("edit_script", r"This text has (\d+) characters", 2),
    ("sha3", r"characters ([A-Za-z0-9]{20})\? ", 62**20),
]


@pytest.mark.parametrize(("template", "pattern", "size"), FIRST_PARAMETERS, ids=lambda value: str(value)[:20])
def test_first_parameters_are_used_up_before_they_repeat(
    template: str, pattern: str, size: int, each: int, challenges: Challenges
) -> None:
    used = counts(pattern, challenges[template])
    assert len(used) == min(size, each)
    assert max(used.values()) - min(used.values()) <= 1


def are_used_up(found: Counter[int], values: range) -> bool:
    """Whether no value has come once more before every other one has come."""
    times = [found[value] for value in values]
    return set(found) <= set(values) and max(times) - min(times) <= 1


def test_lengths_of_lists_are_used_up_before_they_repeat(challenges: Challenges) -> None:
    longest = Counter(text.count(",") + 1 for text in (c.split("[")[1] for c in challenges["max_subarray"].values()))
    assert are_used_up(longest, range(100, 201))


def test_each_number_of_digits_is_as_frequent(challenges: Challenges) -> None:
    sizes = Counter(len(re.findall(r"\d{1000,}", text)[0]) for text in challenges["digit_sum"].values())
    assert are_used_up(sizes, range(1000, 1100))


def test_each_pattern_of_primes_is_as_frequent(each: int, answers: Answers) -> None:
    patterns = Counter(answers[id]["text"] for id in answers if "/ten_primality_tests/" in id)
    assert max(patterns.values()) - min(patterns.values()) <= 1 and len(patterns) == min(each, 2**10 - 2)
    assert all("True" in pattern and "False" in pattern for pattern in patterns)


# Parameters that are not the first are drawn: even within three standard deviations of a fair draw.
DRAWN = [
    ("cubic_integral", r"from x = (\d+)", list("12345")),
    ("cubic_integral", r"to x = (\d+)", ["6", "7", "8", "9", "10"]),
    ("edit_script", r"\n(\d+)\. [^\n]+$", [str(steps) for steps in range(20, 31)]),
]


@pytest.mark.parametrize(("template", "pattern", "values"), DRAWN, ids=lambda value: str(value)[:20])
def test_other_parameters_are_drawn_fairly(
    template: str, pattern: str, values: list[str], many: int, challenges: Challenges
) -> None:
    found, share = counts(pattern, challenges[template]), 1 / len(values)
    assert set(found) == set(values)
    spread = 3 * (many * share * (1 - share)) ** 0.5
    assert all(abs(found[value] - many * share) <= spread for value in values), found
