"""Answers without their mark: what lenient reading finds in each form, that the first rules do not, and its limits."""

from __future__ import annotations

from typing import Any

import pytest
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import Extraction
from dia_runtime.formats.unmarked import LONGEST, MOST
from dia_runtime.grading.grader import grade

MARKED: list[dict[str, Any]] = [
    {"kind": "xml", "skip": "PASS"},
    {"kind": "tagged", "skip": "PASS"},
    {"kind": "boxed", "skip": "PASS"},
    {"kind": "json", "skip": "PASS"},
]
LETTERS = {"kind": "letter", "options": {"A": "nut", "B": "milk", "C": "orange"}, "skip": "PASS"}

# reply -> what is found, by which step
FOUND = [
    ("The answer is 42.", "42", "said"),
    ("The answer to this question is 42.", "42", "said"),
    ("6 * 7 = 41\n\nThe answer is: **42**", "42", "said"),
    ("The answer is 42, which is even.\n\nAnything else?", "42", "said"),
    ("The answer is 1.\nNo, the answer is 2.", "2", "said"),
    ("The correct answer: 42\nA wrong answer: 7", "42", "said"),
    ("Final answer: PASS", "PASS", "said"),
    ('The last word of this list is "forest."', "forest", "sentence"),
    ("So, half of 84 is 42.", "42", "sentence"),
    ("60 + 65 = 125\nThe answer is an integer in plain digits, without separators or units.", "125", "equation"),
    ("27 ÷ 3 = 8.", "8", "equation"),
    ("1 + 1 = 2\n1 + 1 = 2.", "2", "equation"),
    (" 42\n", "42", "word"),
]
NOTHING_FOUND = [
    "",
    "...",
    "171 = 2 * 9 + 3",
    "x + 1 = 42",
    "1 + 1 = 2\n2 + 2 = 4",
    "12 = 12",
    "978 is an even number.",
    "The answer is not clear to me.",
    "A correct answer: 1\nA wrong answer: 0\nA skipped answer: 1",
    "A wrong answer: -1",
    "The answer is an integer.",
    "The answer is 1 or 2.",
    "The answer is 42.\n" + "x y\n" * MOST,
    "The answer is 4" + "2" * LONGEST,
]


@pytest.mark.parametrize("format", MARKED, ids=lambda format: format["kind"])
@pytest.mark.parametrize(("reply", "text", "step"), FOUND, ids=lambda part: part[:30])
def test_lenient_reads_an_answer_without_its_mark(format: dict[str, Any], reply: str, text: str, step: str) -> None:
    form = FORMATS[format["kind"]]
    assert form.extract(reply, {**format, "rules": 2}, "lenient") == Extraction(text, step)
    for chain in ("standard", "strict"):
        assert form.extract(reply, {**format, "rules": 2}, chain).text is None
    assert form.extract(reply, format, "lenient").text is None  # the first rules


@pytest.mark.parametrize("reply", NOTHING_FOUND, ids=lambda reply: repr(reply[:30]))
def test_nothing_is_read_where_no_answer_is_stated(reply: str) -> None:
    for format in MARKED:
        assert FORMATS[format["kind"]].extract(reply, {**format, "rules": 2}, "lenient").text is None, format


def integer(value: int) -> dict[str, Any]:
    return {"answer": value, "accept": [], "text": str(value), "comparison": {"type": "integer"}}


def text(value: str) -> dict[str, Any]:
    return {"answer": value, "accept": [], "text": value, "comparison": {"type": "text"}}


@pytest.mark.parametrize(
    ("record", "format", "reply", "rules", "verdict", "step"),
    [
        (integer(6), {"kind": "last_line"}, "The double of 3 is 6.", 2, "correct", "sentence"),
        (integer(6), {"kind": "last_line"}, "The double of 3 is 6.", 1, "wrong", "last"),
        (integer(6), {"kind": "last_line"}, "3 + 3 = 6", 2, "correct", "equation"),
        (integer(6), {"kind": "last_line"}, "I cannot say.", 2, "wrong", "last"),
        (text("The sky is blue."), {"kind": "last_line"}, "The sky is blue.", 2, "correct", "last"),
        (text("3 + 3 = 6"), {"kind": "last_line"}, "3 + 3 = 6", 2, "correct", "last"),
        (integer(6), {"kind": "xml"}, "Write <xml> or </xml>. The answer is 6.", 2, "correct", "said"),
        (integer(6), {"kind": "xml"}, "<xml>5</xml> The answer is 6.", 2, "wrong", "last"),
        (integer(6), {"kind": "xml", "skip": "PASS"}, "Write <xml> or </xml>. The answer is 6.", 2, "correct", "said"),
        (integer(6), {"kind": "xml", "skip": "PASS"}, "<xml>PASS</xml> The answer is 6.", 2, "skipped", "last"),
    ],
)
def test_lenient_goes_on_if_a_text_is_no_value_of_the_type(
    record: dict[str, Any], format: dict[str, Any], reply: str, rules: int, verdict: str, step: str
) -> None:
    graded = grade(record, reply, {**format, "rules": rules}, "lenient")
    assert (graded.verdict, graded.step) == (verdict, step)


# reply -> standard and lenient under the second rules, lenient under the first
OPTIONS = [
    ("B. milk", "B", "B", "B"),
    ("(B) Milk.", "B", "B", "B"),
    ("B. nut", None, None, None),
    ("Milk", None, "B", "B"),
    ("A. nut\nB. milk", None, None, "B"),
    ("A. nut\nB. milk\nC. orange", None, None, "C"),
    ("A. nut\nB. milk\n\nAnswer: A", "A", "A", "A"),
    ("It cannot be A.\nB. milk", None, "B", "B"),
]


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: repr(row[0]))
def test_a_list_of_the_options_chooses_none_of_them(row: tuple[str, str | None, str | None, str | None]) -> None:
    reply, standard, lenient, first_lenient = row
    form, second = FORMATS["letter"], {**LETTERS, "rules": 2}
    assert form.extract(reply, second).text == standard
    assert form.extract(reply, second, "lenient").text == lenient
    assert form.extract(reply, LETTERS, "lenient").text == first_lenient
    assert form.extract(reply, second, "strict").text == form.extract(reply, LETTERS).text
