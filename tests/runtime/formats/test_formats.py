"""All formats: what each chain finds, round trips, hostile replies, records that are none, frozen instructions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from dia_runtime.formats import FORMATS
from dia_runtime.grading.grader import Grader, grade
from dia_runtime.grading.verdicts import Verdict
from helpers.examples import examples
from helpers.failures import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

SKIP = "I-DO-NOT-KNOW"
TICKS = "```"
TAGGED = {"kind": "tagged", "tag": "answer", "skip": SKIP}
BOXED = {"kind": "boxed", "skip": SKIP}
JSON = {"kind": "json", "key": "answer", "skip": SKIP}
LAST_LINE = {"kind": "last_line", "skip": SKIP}
WHOLE = {"kind": "whole", "skip": SKIP}
LABEL = {"kind": "label", "of": ["AGREE", "DISAGREE", "NOT SURE"], "skip": SKIP}
REGEX = {"kind": "regex", "pattern": r"(?m)^RESULT=(.*)$", "reply": "RESULT={answer}", "skip": SKIP}
XML = {"kind": "xml", "skip": SKIP}
FREE: list[dict[str, Any]] = [TAGGED, BOXED, JSON, LAST_LINE, WHOLE, REGEX, XML]

Row = tuple[dict[str, Any], str, str | None, str | None]

# format, reply, strict, lenient
ROWS: list[Row] = [
    (TAGGED, "<answer>42</answer>", "42", "42"),
    (TAGGED, f"{TICKS}xml\n<answer>42</answer>\n{TICKS}", "42", "42"),
    (TAGGED, "So <answer>42</answer>", None, "42"),
    (TAGGED, "<answer>1</answer><answer>2</answer>", None, "2"),
    (TAGGED, "<xml>42</xml>", None, None),
    (TAGGED, "<ANSWER>42</ANSWER>", None, None),
    ({"kind": "tagged"}, "<answer>42</answer>", "42", "42"),
    (BOXED, r"\boxed{42}", "42", "42"),
    (BOXED, r"Thus $\boxed{42}$.", "42", "42"),
    (BOXED, r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", r"\frac{1}{2}"),
    (BOXED, r"\boxed{\{1, 2\}}", r"\{1, 2\}", r"\{1, 2\}"),
    (BOXED, r"\boxed{\}", None, None),
    (BOXED, r"\boxed{1} or \boxed{2}", None, "2"),
    (BOXED, r"\boxed{\text{Paris}}", r"\text{Paris}", "Paris"),
    (BOXED, r"\boxed{\text{a} b}", r"\text{a} b", r"\text{a} b"),
    (BOXED, r"\boxed{$42$}", "$42$", "42"),
    (BOXED, r"\boxed {42}", None, "42"),
    (BOXED, r"\fbox{42}", None, "42"),
    (BOXED, "boxed{42}", None, "42"),
    (BOXED, "unboxed{42}", None, None),
    (BOXED, r"\boxed{42", None, None),
    (BOXED, "42", None, None),
    (BOXED, "", None, None),
    (JSON, '{"answer": "42"}', "42", "42"),
    (JSON, ' {"answer": 42}\n', "42", "42"),
    (JSON, '{"answer": 0.10}', "0.10", "0.10"),
    (
        JSON,
        '{"answer": 123456789012345678901234567890}',
        "1" + "23456789012345678901234567890",
        "123456789012345678901234567890",
    ),
    (JSON, '{"answer": true}', "true", "true"),
    (JSON, '{"answer": [1, "a b", null]}', '[1, "a b", null]', '[1, "a b", null]'),
    (JSON, '{"answer": {"x": 1.50}}', '{"x": 1.50}', '{"x": 1.50}'),
    (JSON, '{"answer": ""}', "", ""),
    (JSON, '{"answer": null}', None, None),
    (JSON, '{"answer": NaN}', None, None),
    (JSON, '{"answer": 1, "answer": 2}', None, None),
    (JSON, '{"why": "so", "answer": "42"}', "42", "42"),
    (JSON, f'{TICKS}json\n{{"answer": "42"}}\n{TICKS}', "42", "42"),
    (JSON, 'It is {"answer": "42"}.', None, "42"),
    (JSON, '{"answer": "1"} or {"answer": "2"}', None, "2"),
    (JSON, '{"Answer": "42"}', None, "42"),
    (JSON, '{"ANSWER": "1", "Answer": "2"}', None, None),
    (JSON, 'a { b {"answer": "42"}', None, "42"),
    (JSON, '{"answer": "a } b"}', "a } b", "a } b"),
    (JSON, 'so {"answer": "a } \\" { b"} ok', None, 'a } " { b'),
    (JSON, "{'answer': '42'}", None, None),
    (JSON, '["answer", "42"]', None, None),
    (JSON, '"42"', None, None),
    (JSON, "42", None, None),
    (JSON, '{"answer": ' + "[" * 100_000, None, None),
    (JSON, '{"answer": ' + "[" * 99 + "]" * 99 + "}", "[" * 99 + "]" * 99, "[" * 99 + "]" * 99),
    (JSON, '{"answer": ' + "[" * 500 + "]" * 500 + "}", None, None),
    ({"kind": "json", "key": "choice"}, '{"choice": "B"}', "B", "B"),
    (LAST_LINE, "42", "42", "42"),
    (LAST_LINE, "Well.\n42\n\n", "42", "42"),
    (LAST_LINE, "Well.\r\n 42 \r\n", " 42", "42"),
    (LAST_LINE, "Answer: 42", "Answer: 42", "42"),
    (LAST_LINE, "The final answer is 42", "The final answer is 42", "42"),
    (LAST_LINE, "**Final answer:** 42", "**Final answer:** 42", "42"),
    (LAST_LINE, "**42**", "**42**", "42"),
    (LAST_LINE, f"{TICKS}\n42\n{TICKS}", TICKS, "42"),
    (LAST_LINE, " \n ", None, None),
    (WHOLE, "42", "42", "42"),
    (WHOLE, "a\nb\n", "a\nb\n", "a\nb\n"),
    (WHOLE, f"{TICKS}\n42\n{TICKS}", f"{TICKS}\n42\n{TICKS}", "\n42\n"),
    (WHOLE, "", None, None),
    (WHOLE, " \n", None, None),
    (LABEL, "AGREE", "AGREE", "AGREE"),
    (LABEL, "I think so.\n DISAGREE \n", "DISAGREE", "DISAGREE"),
    (LABEL, "agree", None, "AGREE"),
    (LABEL, "Answer: **Not sure**", None, "NOT SURE"),
    (LABEL, "(AGREE).", None, "AGREE"),
    (LABEL, "I DISAGREE with that", None, "DISAGREE"),
    (LABEL, "I AGREE and DISAGREE", None, None),
    (LABEL, "I DISAGREED", None, None),
    (LABEL, "I agree with that", None, None),
    (LABEL, SKIP, SKIP, SKIP),
    (LABEL, f"Well, {SKIP}", None, SKIP),
    (LABEL, f"AGREE or {SKIP}", None, None),
    (LABEL, "", None, None),
    (REGEX, "RESULT=42", "42", "42"),
    (REGEX, "So\nRESULT=42\nbye", "42", "42"),
    (REGEX, "RESULT=1\nRESULT=2", None, "2"),
    (REGEX, "result=42", None, None),
    ({**REGEX, "pattern": "(?i)r=([0-9]+)?", "reply": "r={answer}"}, "R= r=7", "7", "7"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]['kind']}-{row[1]!r}"[:50])
def test_each_chain_finds_what_the_table_says(row: Row) -> None:
    format, reply, strict, lenient = row
    form = FORMATS[format["kind"]]
    assert form.faults(format) == []
    assert form.extract(reply, format, "strict").text == strict
    assert form.extract(reply, format, "lenient").text == lenient


# replies of the Self-Execution Benchmark's kinds, by its published chain: fence, braces, any {...}, the pair
PUBLISHED = [
    ('{"choice": "A"}', "A", "braces"),
    (f'Sure!\n{TICKS}json\n{{"choice": "B"}}\n{TICKS}\nbye', "B", "fence"),
    (f'{TICKS}json\nnothing\n{TICKS} {{"choice": "B"}}', "B", "braces"),
    ('so {"choice": "A"} or {"choice": "B"}', "A", "any"),
    ('{x} {"choice": "B"}', "B", "any"),
    ('{"choice": "B", }', "B", "pair"),
    ('"choice" : "A"', "A", "pair"),
    ("A", None, "none"),
    ('{"Choice": "A"}', None, "none"),
]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row[0][:30])
def test_json_is_read_as_the_published_evaluator_reads_it(row: tuple[str, str | None, str]) -> None:
    reply, text, step = row
    assert FORMATS["json"].extract(reply, {"kind": "json", "key": "choice"}, "compat") == (text, step)


lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30)


@settings(deadline=None)
@given(lines.map(str.strip).filter(lambda text: text and not set(text) & set("{}<>$\\`*") and ":" not in text))
def test_what_is_wrapped_is_found(text: str) -> None:
    for format in FREE:
        form = FORMATS[format["kind"]]
        for chain in ("strict", "lenient"):
            for said in (text, SKIP):
                assert (form.extract(form.wrap(said, format), format, chain).text or "").strip() == said


@settings(deadline=None)
@given(st.text(max_size=20), st.text(min_size=1, max_size=5))
def test_json_holds_any_text(text: str, key: str) -> None:
    format = {"kind": "json", "key": key}
    form = FORMATS["json"]
    assert json.loads(form.wrap(text, format)) == {key: text}
    assert form.extract(form.wrap(text, format), format).text == text
    assert form.extract(f"So: {form.wrap(text, format)}", format, "lenient").text == text


PIECES = [
    "<answer>",
    "</answer>",
    "\\boxed{",
    "{",
    "}",
    '"',
    "\\",
    ":",
    "answer",
    "###",
    "B",
    "A",
    "(",
    ")",
    "**",
    TICKS,
    "\n",
    " ",
    "Answer: ",
    "RESULT=",
    SKIP,
    "AGREE",
    "<think>",
    "</think>",
    "is ",
]
LETTER = {"kind": "letter", "of": ["A", "B", "C"], "skip": SKIP}


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_lenient_agrees_with_strict_where_that_finds_something(reply: str) -> None:
    for format in (*FREE, LABEL, LETTER):
        form = FORMATS[format["kind"]]
        strict, lenient = (form.extract(reply, format, chain).text for chain in ("strict", "lenient"))
        if format["kind"] in ("tagged", "xml", "json", "label", "letter", "regex"):
            assert strict is None or strict == lenient
        else:
            assert strict is None or lenient is not None or TICKS in reply


# Made anew for each test: every fork of a worker would copy the pages of kept ones.
HOSTILE: list[Callable[[], str]] = [
    lambda: "a" * 1_000_000,
    lambda: "\\boxed{" * 150_000,
    lambda: "{" * 1_000_000,
    lambda: '{"' * 500_000,
    lambda: '{"\\"' * 250_000,
    lambda: '{"a":' * 200_000,
    lambda: "{}" * 500_000,
    lambda: '{"answer":' + " " * 1_000_000,
    lambda: "answer " * 150_000,
    lambda: "answer: " * 120_000,
    lambda: "final answer " * 80_000,
    lambda: "final answer" + " " * 1_000_000,
    lambda: "final answer is" + " " * 1_000_000,
    lambda: "### " * 250_000,
    lambda: "**" * 500_000,
    lambda: "A " * 500_000,
    lambda: "\nA" * 500_000,
    lambda: "<think>" * 150_000,
    lambda: "<think></think>" * 70_000,
    lambda: "<answer>" * 120_000,
    lambda: TICKS + " " * 1_000_000,
    lambda: "\n" * 1_000_000,
    lambda: "AGREE " * 150_000,
    lambda: "\\boxed{ \\text{" * 70_000,
    lambda: "RESULT=" * 140_000,
    lambda: "\u00e9" * 1_000_000,
]


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: repr(make()[:16]))
@pytest.mark.long
def test_hostile_replies_take_no_time(make: Callable[[], str]) -> None:
    reply = make()
    for format in (*FREE, LABEL, LETTER):
        form = FORMATS[format["kind"]]
        for chain in form.chains:
            start = time.process_time()
            form.extract(reply, format, chain)
            assert time.process_time() - start < 1.5, (format["kind"], chain)


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"kind": "xml", "tag": "x"}, "no option `tag`"),
    ({"kind": "tagged", "tag": "a b"}, "`tag` must start with a letter"),
    ({"kind": "tagged", "tag": 7}, "`tag` must start with a letter"),
    ({"kind": "json", "key": ""}, "`key` must be"),
    ({"kind": "json", "key": ["x"]}, "`key` must be"),
    ({"kind": "boxed", "of": ["A", "B"]}, "no option `of`"),
    ({"kind": "label"}, "needs 2 to 1,000 labels"),
    ({"kind": "label", "of": ["A"]}, "needs 2 to 1,000 labels"),
    ({"kind": "label", "of": "AB"}, "needs 2 to 1,000 labels"),
    ({"kind": "label", "of": ["A", "A"]}, "must be different"),
    ({"kind": "label", "of": ["A", " B"]}, "must be one line"),
    ({"kind": "label", "of": ["A", "B\nC"]}, "must be one line"),
    ({"kind": "label", "of": ["A", 7]}, "is an integer, not text"),
    ({"kind": "label", "of": ["A", "B"], "skip": "B"}, "the skip token `B` is one of the labels"),
    ({"kind": "letter"}, "needs the letters"),
    ({"kind": "letter", "of": ["A"]}, "needs the letters"),
    ({"kind": "letter", "of": ["A", "b"]}, "different uppercase letters"),
    ({"kind": "letter", "of": ["A", "A"]}, "different uppercase letters"),
    ({"kind": "letter", "of": ["A", "BC"]}, "different uppercase letters"),
    ({"kind": "letter", "of": ["A", 7]}, "different uppercase letters"),
    ({"kind": "letter", "options": {"A": "x", "B": 7}}, "must map letters to texts"),
    ({"kind": "regex"}, "`pattern` of the format regex must be a text"),
    ({"kind": "regex", "pattern": "(a", "reply": "{answer}"}, "is not RE2"),
    ({"kind": "regex", "pattern": "(a)\\1", "reply": "{answer}"}, "is not RE2"),
    ({"kind": "regex", "pattern": "(?=a)(b)", "reply": "{answer}"}, "is not RE2"),
    ({"kind": "regex", "pattern": "a", "reply": "{answer}"}, "must have one group; it has 0"),
    ({"kind": "regex", "pattern": "(a)(b)", "reply": "{answer}"}, "must have one group; it has 2"),
    ({"kind": "regex", "pattern": "x=(.*)", "reply": "x=answer"}, "must contain `{answer}` exactly once"),
    ({"kind": "regex", "pattern": "x=(.*)", "reply": "y={answer}"}, "does not find the answer"),
    ({"kind": "regex", "pattern": "(a)" + "b" * 1000, "reply": "{answer}"}, "longer than 1,000"),
]


@pytest.mark.parametrize("row", BROKEN, ids=lambda row: str(row[0])[:50])
def test_records_that_are_none_are_told(row: tuple[dict[str, Any], str]) -> None:
    format, message = row
    assert message in "\n".join(FORMATS[format["kind"]].faults(format))
    refusal("E821", "a newer version of dia may have made the bundle", lambda: Grader({"type": "integer"}, format), 3)


INSTRUCTIONS = {
    "tagged": "You may reason first. End your reply with your final answer inside <answer> and </answer> tags."
    " Put only the answer between the tags: a number."
    " To skip the question, write <answer>I-DO-NOT-KNOW</answer> instead.",
    "boxed": "Give your final answer in \\boxed{}, and use \\boxed{} only once: a number."
    " To skip the question, write \\boxed{I-DO-NOT-KNOW} instead.",
    "json": 'End your reply with a JSON object that holds your final answer as text under the key "answer", such as'
    ' {"answer": "..."}. The answer is a number. To skip the question, write {"answer": "I-DO-NOT-KNOW"} instead.',
    "last_line": "Give your final answer on the last line of your reply, with nothing else on that line: a number."
    " To skip the question, write I-DO-NOT-KNOW on the last line instead.",
    "whole": "Reply with your answer and nothing else: a number."
    " To skip the question, write I-DO-NOT-KNOW and nothing else instead.",
    "label": "End your reply with a line that contains only one of these: AGREE, DISAGREE, NOT SURE."
    " To skip the question, write I-DO-NOT-KNOW on that line instead.",
    "regex": "Write your final answer once, in the form RESULT=ANSWER. Replace ANSWER with your answer: a number."
    " To skip the question, write RESULT=I-DO-NOT-KNOW instead.",
    "xml": "You may reason first. End your reply with your final answer inside <xml> and </xml> tags."
    " Put only the answer between the tags: a number."
    " To skip the question, write <xml>I-DO-NOT-KNOW</xml> instead.",
    "letter": 'End your reply with a line of the form "Answer: X", where X is the letter of your answer: A, B or C.'
    ' To skip the question, write the line "Answer: I-DO-NOT-KNOW" instead.',
}


RECORDS = {format["kind"]: format for format in (*FREE, LABEL, LETTER)}


@pytest.mark.parametrize("name", FORMATS.own)
def test_the_instructions_have_these_words(name: str) -> None:
    assert name in RECORDS, f"add the record of `{name}` to FREE, or to RECORDS if not any text can be an answer"
    assert name in INSTRUCTIONS, f"pin the instruction of `{name}` in INSTRUCTIONS"
    form, format = FORMATS[name], RECORDS[name]
    assert form.instruction(format, "a number") == INSTRUCTIONS[name]
    assert "skip" not in form.instruction({**format, "skip": ""}, "a number")


def test_every_format_grades_truth_skip_and_the_rest() -> None:
    answer = {"answer": "AGREE", "accept": [], "text": "AGREE", "comparison": {"type": "text"}}
    for format in (*FREE, LABEL):
        form = FORMATS[format["kind"]]
        for chain in ("strict", "lenient"):
            for said, verdict in (("AGREE", Verdict.CORRECT), (SKIP, Verdict.SKIPPED), ("DISAGREE", Verdict.WRONG)):
                assert grade(answer, form.wrap(said, format), format, chain).verdict == verdict
            assert grade(answer, "", format, chain).verdict == Verdict.UNPARSED
