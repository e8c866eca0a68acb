"""The letter format: marks, texts of options, and the published evaluator's rules, one by one."""

from __future__ import annotations

import pytest
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import Extraction
from hypothesis import given
from hypothesis import strategies as st

FORM = FORMATS["letter"]
CITIES = {"A": "Paris", "B": "New York", "C": "Rome", "D": "I don't know"}
OPTIONS = {"kind": "letter", "options": CITIES, "skip": "D"}
FIVE = {"kind": "letter", "of": list("ABCDE"), "skip": "E"}
ELEVEN = {"kind": "letter", "of": list("ABCDEFGHIJK"), "skip": "E"}
TOKEN = {"kind": "letter", "of": list("ABC"), "skip": "I-DO-NOT-KNOW"}

# reply, strict, lenient
ROWS: list[tuple[str, str | None, str | None]] = [
    ("B", "B", "B"),
    ("b", "B", "B"),
    ("(B)", "B", "B"),
    ("B.", "B", "B"),
    ("B)", "B", "B"),
    ("[B]", "B", "B"),
    ("**B**", "B", "B"),
    ("**(B)**", "B", "B"),
    ("**B.**", "B", "B"),
    (" \nB\n", "B", "B"),
    ("Answer: B", "B", "B"),
    ("answer: b", "B", "B"),
    ("Answer: (B)", "B", "B"),
    ("Answer: **B**", "B", "B"),
    ("**Answer:** B", "B", "B"),
    ("**Answer: B**", "B", "B"),
    ("**Answer**: B", "B", "B"),
    ("Final answer: B.", "B", "B"),
    ("The answer is B.", "B", "B"),
    ("The correct answer is option B.", "B", "B"),
    ("Answer: B) New York", "B", "B"),
    ("Answer: B - New York", "B", "B"),
    ("Answer:\nB", "B", "B"),
    ("\\boxed{B}", "B", "B"),
    ("$\\boxed{\\text{B}}$", "B", "B"),
    ("\\boxed{\\text{Answer: B}}", "B", "B"),
    ("\\boxed{B) New York}", None, None),
    ("###B###", "B", "B"),
    ("### b ###", "B", "B"),
    ("Answer: A. No, wait. Answer: B.", "B", "B"),
    ("###A### and then \\boxed{B}", "B", "B"),
    # What serves nothing but marking outranks a sentence, also one behind it.
    ("\\boxed{B}. Check: would the answer be A?", "B", "B"),
    ("###B###\n\nAnswer: A) Paris", "B", "B"),
    ("<think>Answer: A</think>Answer: B", "B", "B"),
    ("<think>Answer: A</think>", None, None),
    ("<think>Answer: A", "A", "A"),
    ("Answer: B or A", None, None),
    ("Answer: A good question", None, None),
    ("An answer might be A good idea.", None, None),
    ("The answer depends: A, B", None, None),
    ("Answer: i, ii and iii", None, None),
    ("Answer: E", None, None),
    ("A or B", None, None),
    ("New York", None, "B"),
    ("new  york.", None, "B"),
    ("Answer: New York", None, "B"),
    ("It is a big place.\nNew York", None, "B"),
    ("So\nB. New York", None, "B"),
    ("So\nB) New York", None, "B"),
    ("So\nB: New York.", None, "B"),
    ("So\nB. Rome", None, None),
    ("So\nB", None, "B"),
    ("I choose (B) here", None, "B"),
    ("I choose **B** here", None, "B"),
    ("I choose (B), not (A)", None, None),
    ("I choose B", None, None),
    ("A thing", None, None),
    ("Option B", None, "B"),
    ("I don't know", None, "D"),
    ("Answer: D", "D", "D"),
    ("Berlin", None, None),
    ("", None, None),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row[0])[:40])
def test_each_chain_finds_what_the_table_says(row: tuple[str, str | None, str | None]) -> None:
    reply, strict, lenient = row
    assert FORM.extract(reply, OPTIONS, "strict").text == strict
    assert FORM.extract(reply, OPTIONS, "lenient").text == lenient


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Answer: A, B", None),
        ("Answer: A, B, C", None),
        ("The answer is A, B, C, and D.", None),
        ("The answer is **A**, **B** or **C**.", None),
        ("The answer is (A), (B).\nThat is all.", None),
        ("Answer: A; B\n", None),
        ("I think it is B or A.", None),
        ("Answer: C\nThe answer is A, B, and C.", "C"),
        ("Answer: A, B\nAnswer: B", "B"),
        ("Answer: B, because A is too small.", "B"),
        ("The answer is B, A is wrong.", "B"),
        ("The answer is A, which is a city.", "A"),
        ("Answer: B. A is wrong.", "B"),
        ("Answer: B) New York, A", "B"),
    ],
)
def test_a_list_of_letters_names_none_by_the_second_rules(reply: str, letter: str | None) -> None:
    for chain in ("strict", "standard", "lenient"):
        assert FORM.extract(reply, {**OPTIONS, "rules": 2}, chain).text == letter
    assert FORM.extract("Answer: A, B", OPTIONS, "strict").text == "A"  # the first rules never change


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A. Paris\nB. New York", None),
        ("A. the city of Paris\nB. New York City\nC. Rome, Italy", None),
        ("A) the city of Paris\nB) New York", None),
        ("The capital is\nB. New York", "B"),
        ("A. is wrong.\nB", "B"),
        ("B. the bigger one\nB. New York", "B"),
    ],
)
def test_a_copied_list_of_options_names_none_by_the_second_rules(reply: str, letter: str | None) -> None:
    assert FORM.extract(reply, {**OPTIONS, "rules": 2}, "lenient").text == letter


@pytest.mark.parametrize("rules", [1, 2])
def test_the_end_of_a_long_reply_is_searched(rules: int) -> None:
    for before in ("word " * 150_000, "<think>Answer: A</think>" + "word " * 150_000, "word " * 250_000):
        for chain in ("strict", "standard", "lenient"):
            assert FORM.extract(f"{before}\nAnswer: B", {**OPTIONS, "rules": rules}, chain).text == "B"


def test_a_token_skips_beside_letters() -> None:
    for chain in ("strict", "lenient"):
        for reply in ("I-DO-NOT-KNOW", "Answer: I-DO-NOT-KNOW", "Hm.\n**Answer:** I-DO-NOT-KNOW"):
            assert FORM.extract(reply, TOKEN, chain).text == "I-DO-NOT-KNOW"
        assert FORM.extract("i-do-not-know", TOKEN, chain).text is None


def test_two_options_of_one_text_are_not_told_apart() -> None:
    format = {"kind": "letter", "options": {"A": "one", "B": "One", "C": "two"}}
    assert FORM.extract("one", format, "lenient").text is None
    assert FORM.extract("two", format, "lenient").text == "C"


# reply, the letter of the first published version (A to E), of the second (A to K), the step that decides
PUBLISHED: list[tuple[str, str | None, str | None, str]] = [
    ("So: the final answer is D. I hope that helps; answer: A", "D", "D", "final-is-hope"),
    ("Final answer (see above) is: (C)", "C", "C", "final-is"),
    ("the final answer is Before", "B", "B", "final-is"),
    ("Answer: D", "D", "D", "answer-colon"),
    ("My answer would be C.", "C", "C", "answer-near"),
    ("A. Because", "A", "A", "text-start"),
    ("Well\nD, I say", "D", "D", "line-start"),
    ("###B### ###D###", "D", "D", "hash"),
    ("###d###", None, "D", "hash"),
    ("\\boxed{b} \\boxed{c}", "B", "B", "boxed"),
    ("\\boxed{\\mathbf{e}}", "E", "E", "boxed"),
    ("answer=d answer d", "D", "D", "answer-letter"),
    ("option d", "D", "D", "option-tail"),
    ("option d" + "." * 200, None, None, "none"),
    ("Answer: F", None, "F", "answer-letter"),
    ("Answer:\u00a0c", "C", "C", "answer-letter"),
    ("Answer: " + "x" * 49 + " C", "C", "C", "answer-colon"),
    ("Answer: " + "x" * 50 + " C", None, None, "none"),
    ("<think>Answer: A</think> nothing", None, None, "none"),
    ("B\n", "B", "B", "text-start"),
    ("B\n\n", None, None, "none"),
]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: repr(row[0])[:40])
def test_compat_reads_as_the_published_evaluator(row: tuple[str, str | None, str | None, str]) -> None:
    reply, first, second, step = row
    assert FORM.extract(reply, FIVE, "compat") == Extraction(first, step if first else "none")
    assert FORM.extract(reply, ELEVEN, "compat").text == second


@given(st.sampled_from("ABC"), st.sampled_from(["strict", "lenient", "compat"]))
def test_what_is_wrapped_is_found(letter: str, chain: str) -> None:
    for format in (OPTIONS, FIVE, ELEVEN, TOKEN):
        assert FORM.extract(FORM.wrap(letter, format), format, chain).text == letter


def test_the_skip_option_is_told_in_words() -> None:
    told = FORM.instruction(OPTIONS, "one of A, B, C")
    assert told == (
        'End your reply with a line of the form "Answer: X", where X is the letter of your answer: A, B or C.'
        " To skip the question, choose D instead."
    )
