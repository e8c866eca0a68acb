"""Markdown around an answer: read past under rules 2, part of the answer under rules 1 and under `strict`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from dia_runtime.formats.markup import without_markup
from dia_runtime.formats.replies import read_reply
from dia_runtime.grading.grader import grade
from hypothesis import given
from hypothesis import strategies as st

INTEGER = {"answer": 131, "accept": [], "text": "131", "comparison": {"type": "integer"}}
TEXT = {"answer": "a_b", "accept": [], "text": "a_b", "comparison": {"type": "text"}}
XML = {"kind": "xml", "skip": "I-DO-NOT-KNOW", "rules": 2}
ENCLOSED = ["**131**", "__131__", "`131`", "$131$", "**`131`**", "```\n131\n```", "```text\n131\n```", " ** 131 ** "]


@pytest.mark.parametrize("answer", ENCLOSED)
def test_an_answer_may_stand_in_markup(answer: str) -> None:
    reply = f"So:\n<xml>{answer}</xml>"
    assert grade(INTEGER, reply, XML).verdict == "correct"
    assert grade(INTEGER, reply.replace("131", "132"), XML).verdict == "wrong"
    assert grade(INTEGER, f"<xml>{answer}</xml>", XML, "strict").verdict == "wrong"
    assert grade(INTEGER, f"<xml>{answer}</xml>", {**XML, "rules": 1}).verdict == "wrong"
    assert grade(INTEGER, reply.replace("131", "I-DO-NOT-KNOW"), XML).verdict == "skipped"


@pytest.mark.parametrize(
    "answer", ["**131** or **132**", "**131", "`131` `", "``131``", "****", "*131*", "$", "`", '"131"']
)
def test_other_marks_are_part_of_the_answer(answer: str) -> None:
    assert without_markup(answer) == answer
    assert grade(INTEGER, f"<xml>{answer}</xml>", XML).verdict == "wrong"


def test_markup_of_the_right_answer_itself_counts() -> None:
    record = {**TEXT, "answer": "`ls`", "text": "`ls`"}
    assert grade(record, "<xml>`ls`</xml>", XML).verdict == "correct"
    assert grade(record, "<xml>**`ls`**</xml>", XML).verdict == "wrong"
    assert grade(TEXT, "<xml>`a_b`</xml>", XML).verdict == "correct"
    assert grade(TEXT, "`a_b`", {"kind": "whole", "rules": 2}).verdict == "wrong"


def test_a_condition_reads_the_answer_without_markup_too() -> None:
    record = {**TEXT, "comparison": {"type": "text", "accept_if": "length(reply) == 3"}}

    def has_three(value: Any) -> bool:
        return len(value) == 3

    assert grade(record, "<xml>`xyz`</xml>", XML, accept_if=has_three).verdict == "correct"
    assert grade(record, "<xml>`xy`</xml>", XML, accept_if=has_three).verdict == "wrong"


@pytest.mark.parametrize(
    ("marked", "plain", "share"),
    [("1/4", "1/2", "1/2"), ("1/2", "1/4", "1/2"), ("1/2", "1/2", "1/2"), ("0", "1/9", "1/9"), ("1", "0", "1")],
)
def test_a_wrong_answer_has_the_larger_share_of_those_with_and_without_markup(
    marked: str, plain: str, share: str
) -> None:
    record = {**TEXT, "comparison": {"type": "text", "share": "= 0"}}
    shares = {"`ab`": Fraction(marked), "ab": Fraction(plain)}
    graded = grade(record, "<xml> `ab` </xml>", XML, share=lambda value: shares[value])
    assert (graded.verdict, graded.share, graded.extracted) == ("wrong", Fraction(share), " `ab` ")


@pytest.mark.parametrize("share", [None, "= 0"])
def test_only_the_skip_token_answers_a_question_that_cannot_be_answered(share: str | None) -> None:
    for is_unanswerable, verdicts in ((True, ["correct", "wrong"]), (False, ["skipped", "correct"])):
        comparison = {"type": "text", "unanswerable": is_unanswerable} | ({} if share is None else {"share": share})
        graded = [
            grade({**TEXT, "comparison": comparison}, f"<xml>{text}</xml>", XML, share=lambda value: Fraction(1, 3))
            for text in ("I-DO-NOT-KNOW", "a_b")
        ]
        assert [one.verdict for one in graded] == verdicts
        shares = [Fraction(1), Fraction(0)] if is_unanswerable else [None, Fraction(1, 3)]
        assert [one.share for one in graded] == ([None, None] if share is None else shares)


@given(st.text(alphabet="ab*_`$ \n.", max_size=30))
def test_markup_is_only_removed_from_both_ends(text: str) -> None:
    plain = without_markup(text)
    assert plain in text
    assert len(plain) <= len(text.strip())
    assert (text.strip() == "") == (plain == "")


LABELS = {"kind": "label", "of": ["A", "B"]}
LINES = {"kind": "lines", "count": 2}
LINE = {"kind": "last_line", "type": "integer"}
KEY = {"kind": "json", "fields": {"key": {"label": ["A", "B"]}}}
ORDER = {"kind": "ranking", "of": ["Q1", "Q2"]}


@pytest.mark.parametrize(
    ("format", "reply", "by_second", "by_first"),
    [
        *((LABELS, f"I choose\n{reply}", "A", None) for reply in ("(A)", "A.", "**A**", "`a`", "Answer: A")),
        (LABELS, "A", "A", "A"),
        (LABELS, "A or B", None, None),
        (LINES, "**Lamp**\n- `ship`.", ["Lamp", "ship"], ["**Lamp**", "`ship`."]),
        (LINES, '1. "Lamp".\n2. “ship”', ["Lamp", "ship"], ['"Lamp".', "“ship”"]),
        (LINES, "don't\n...", ["don't", "..."], ["don't", "..."]),
        (LINE, "so\n**624**", 624, None),
        (LINE, "624 coins", None, None),
        (KEY, '{"key": "(b)"}', {"key": "B"}, None),
        (KEY, '{"key": "A. Paris"}', None, None),
        (ORDER, "Q2, Q1", ["Q2", "Q1"], ["Q2", "Q1"]),
        (ORDER, "Q2 > Q1", None, ["Q2", "Q1"]),
    ],
)
def test_replies_in_sessions_are_read_past_markup(format: Any, reply: str, by_second: Any, by_first: Any) -> None:
    assert read_reply(reply, {**format, "rules": 2}).value == by_second
    assert read_reply(reply, format).value == by_first
    by_strict = None if format is ORDER and ">" in reply else by_first
    assert read_reply(reply, {**format, "rules": 2}, "strict").value == by_strict
