"""What guesses and wrong answers take from formats that name the possible answers."""

from __future__ import annotations

from typing import Any

import pytest
from dia_runtime.formats import FORMATS
from dia_runtime.grading.grader import Grader
from dia_runtime.respondents.baselines import answer_options

LETTERS = {"kind": "letter", "options": {"A": "Paris", "B": "Rome", "C": "No idea"}, "skip": "C"}


@pytest.mark.parametrize(
    ("format", "named"),
    [
        (LETTERS, ["A", "B"]),
        ({"kind": "letter", "of": ["A", "B"], "skip": "PASS"}, ["A", "B"]),
        ({"kind": "label", "of": ["AGREE", "DISAGREE"], "skip": "PASS"}, ["AGREE", "DISAGREE"]),
        ({"kind": "xml", "skip": "PASS"}, []),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_options_of_a_format_are_those_that_do_not_skip(format: dict[str, Any], named: list[str]) -> None:
    assert answer_options({"format": format}) == named


def test_the_letters_of_options_are_graded() -> None:
    grader = Grader({"type": "choice", "of": LETTERS["options"]}, LETTERS, "lenient")
    for reply, verdict in (
        ("B", "correct"),
        ("Answer: (b)", "correct"),
        ("rome", "correct"),
        ("A", "wrong"),
        ("Answer: Paris", "wrong"),
        ("C", "skipped"),
        ("No idea.", "skipped"),
        ("Answer: D", "unparsed"),
        ("A or B", "unparsed"),
        ("", "unparsed"),
    ):
        assert grader.grade("B", [], "B", reply).verdict == verdict, reply
    tagged = {"kind": "tagged", "skip": "C"}
    grader = Grader({"type": "choice", "of": LETTERS["options"]}, tagged, "lenient")
    for text, verdict in (("Rome", "correct"), ("(B) Rome", "correct"), ("B) Paris", "wrong"), ("C", "skipped")):
        assert grader.grade("B", [], "B", FORMATS["tagged"].wrap(text, tagged)).verdict == verdict, text
