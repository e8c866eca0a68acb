"""Formats of replies within sessions: what the default chain reads, what only other chains read, and what nothing reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dia_language.numbers.values import ExactDecimal
from dia_runtime.formats.replies import REPLY_FORMATS, faults, instruction, read_reply, write_reply
from hypothesis import given
from hypothesis import strategies as st

WORDS = ["red wine", "Blue", "a lot", "C", "d-4"]
FIELDS = {"question": "text", "options": {"list": "text", "length": 2}, "key": {"label": ["A", "B"]}, "sure": "boolean"}
FORMATS: dict[str, dict[str, Any]] = {
    "flags": {"kind": "flags", "of": WORDS},
    "json": {"kind": "json", "fields": FIELDS},
    "label": {"kind": "label", "of": WORDS},
    "letter": {"kind": "letter", "of": ["A", "B", "C", "D"]},
    "lines": {"kind": "lines", "count": 2},
    "ranking": {"kind": "ranking", "of": ["Q1", "Q2", "Q3", "Q4"]},
    "subset": {"kind": "subset", "of": WORDS},
    "text": {"kind": "text"},
}
LINE = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "flags": st.fixed_dictionaries({word: st.booleans() for word in WORDS}),
    "json": st.fixed_dictionaries(
        {
            "question": st.text(),
            "options": st.lists(st.text(), min_size=2, max_size=2),
            "key": st.sampled_from("AB"),
            "sure": st.booleans(),
        }
    ),
    "label": st.sampled_from(WORDS),
    "letter": st.sampled_from("ABCD"),
    "lines": st.lists(LINE, min_size=2, max_size=2),
    "ranking": st.permutations(["Q1", "Q2", "Q3", "Q4"]),
    "subset": st.sets(st.sampled_from(WORDS)).map(lambda chosen: [word for word in WORDS if word in chosen]),
    "text": st.text(min_size=1).filter(lambda text: not text.isspace()),
}


def test_every_format_is_tested() -> None:
    for name, table in (("FORMATS", FORMATS), ("VALUES", VALUES)):
        assert table.keys() == REPLY_FORMATS.keys(), (
            f"only in {name} or REPLY_FORMATS: {sorted(table.keys() ^ REPLY_FORMATS.keys())}"
        )


@pytest.mark.parametrize("kind", FORMATS)
@given(data=st.data())
def test_what_is_written_is_read_as_the_value_by_every_chain_of_our_own(kind: str, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    reply = write_reply(value, FORMATS[kind])
    assert read_reply(reply, FORMATS[kind]).value == read_reply(reply, FORMATS[kind], "lenient").value == value


@pytest.mark.parametrize("kind", FORMATS)
@given(reply=st.text())
def test_any_reply_is_read_without_an_error_and_lenient_reads_what_strict_reads(kind: str, reply: str) -> None:
    strict = read_reply(reply, FORMATS[kind])
    lenient, compat = (read_reply(reply, FORMATS[kind], chain) for chain in ("lenient", "compat"))
    assert strict.value is None or lenient.value == strict.value
    assert (compat.value is None) == (compat.step == "none")


@pytest.mark.parametrize("kind", FORMATS)
def test_formats_say_how_to_reply_and_have_no_fault(kind: str) -> None:
    assert faults(FORMATS[kind]) == []
    assert (instruction(FORMATS[kind]) == "") == (kind == "text")


# kind, reply, what the default chain reads, what lenient reads
CASES: list[tuple[str, str, Any, Any]] = [
    ("text", " \n", None, None),
    ("lines", "1. one\n\n2) two", ["one", "two"], ["one", "two"]),
    ("lines", "one\ntwo\nthree", None, None),
    ("lines", "Here they are:\n- one\n- two", None, ["one", "two"]),
    ("lines", '{"words": ["one", "two"]}', None, ["one", "two"]),
    ("lines", "one, two", None, ["one", "two"]),
    ("label", "Blue", "Blue", "Blue"),
    ("label", "I say blue.", None, None),
    ("letter", "Answer: B", "B", "B"),
    ("subset", "none", [], []),
    ("subset", "None.", [], []),
    ("subset", "- c\n- RED WINE", ["red wine", "C"], ["red wine", "C"]),
    ("subset", "C, green", None, None),
    ("subset", "C, c", None, None),
    ("subset", "", None, None),
    ("subset", "I would name: Blue, C", None, ["Blue", "C"]),
    ("subset", '["C"]', ["C"], ["C"]),
    ("ranking", "q2 > Q1 > Q4 > Q3", ["Q2", "Q1", "Q4", "Q3"], ["Q2", "Q1", "Q4", "Q3"]),
    ("ranking", "Because of this:\n[Q2, Q1, Q4, Q3]", ["Q2", "Q1", "Q4", "Q3"], ["Q2", "Q1", "Q4", "Q3"]),
    ("ranking", "Q1, Q2, Q3", None, None),
    ("ranking", "Q1, Q2, Q3, Q3", None, None),
    ("ranking", 'So:\n```json\n{"ranking": ["Q4", "Q1", "Q2", "Q3"]}\n```\nDone.', None, ["Q4", "Q1", "Q2", "Q3"]),
    ("flags", '{"red wine": true}', None, {**dict.fromkeys(WORDS, False), "red wine": True}),
    ("flags", 'Well: {"Red wine": true, "blue": false}', None, {**dict.fromkeys(WORDS, False), "red wine": True}),
    ("flags", '{"red wine": "yes", "Blue": true, "a lot": true, "C": true, "d-4": true}', None, None),
    ("json", '{"question": "?", "options": ["x"], "key": "A", "sure": true}', None, None),
    ("json", '{"question": "?", "options": ["x", "y"], "key": "C", "sure": true}', None, None),
]


@pytest.mark.parametrize(("kind", "reply", "strict", "lenient"), CASES)
def test_chains(kind: str, reply: str, strict: Any, lenient: Any) -> None:
    assert read_reply(reply, FORMATS[kind]).value == strict
    assert read_reply(reply, FORMATS[kind], "lenient").value == lenient


# kind, reply, value and step of the chain that reads as the published Self-Execution Benchmark does
PUBLISHED: list[tuple[str, str, Any, str]] = [
    ("label", '```json\n{"choice": "C"}\n```', "C", "fence"),
    ("label", 'Mine is {"choice": "C"}.', "C", "braces"),
    ("label", '{not} {"choice": "C"} {so}', "C", "any"),
    ("label", '{"choice": "C", }', "C", "pair"),
    ("letter", '{"answer": "b"}', "B", "braces"),
    ("letter", "\\boxed{A}", "B", "first"),
    ("letter", "17", None, "none"),
    ("ranking", '{"ranking": ["Q1"]}', ["Q1"], "braces"),
    ("ranking", '{"ranking": ["Q9", "Q1", "Q2", 4]}', ["Q9", "Q1", "Q2", "4"], "braces"),
    (
        "flags",
        '{"RED": "yes", "x": 0, "y": [], "RED ": null}',
        {"red": True, "x": False, "y": False, "red ": False},
        "braces",
    ),
]


@pytest.mark.parametrize(("kind", "reply", "value", "step"), PUBLISHED)
def test_the_published_parsers(kind: str, reply: str, value: Any, step: str) -> None:
    assert read_reply(reply, FORMATS[kind], "compat") == (value, step)


def test_numbers_in_json_are_exact_and_bounded() -> None:
    format = {"kind": "json", "fields": {"x": "number"}}
    assert read_reply('{"x": 0.1}', format).value == {"x": ExactDecimal(1, 10)}
    assert read_reply('{"x": 2.50e2}', format).value == {"x": 250}
    for hostile in ("1e999999", "1" * 5_000, "NaN", "Infinity", "1e-99999999999999999999"):
        assert read_reply(f'{{"x": {hostile}}}', format).value is None
    assert read_reply("[" * 100_000, format).value is None


def test_answer_formats_serve_as_formats_of_replies() -> None:
    format = {"kind": "xml", "type": "integer"}
    assert faults(format) == []
    assert read_reply("<xml>12</xml>", format) == (12, "alone")
    assert read_reply("<xml>twelve</xml>", format) == (None, "alone")
    assert read_reply("<xml>1,200</xml>", format, "lenient").value == 1200
    assert read_reply("so <b>1</b>", {"kind": "tagged", "tag": "b"}, "lenient").value == "1"
    listed = {"kind": "last_line", "type": "list", "answer": {"of": {"type": "integer"}}}
    assert faults(listed) == [] and read_reply("so\n[1, 2]", listed).value == [1, 2]
    assert write_reply([1, 2], listed) and read_reply(write_reply([1, 2], listed), listed).value == [1, 2]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "lables", "of": ["A", "B"]}, "did you mean"),
    ({"kind": 3}, "no reply format"),
    ({"kind": "text", "of": []}, "has no option `of`"),
    ({"kind": "lines", "count": 0}, "`count`"),
    ({"kind": "lines", "count": True}, "`count`"),
    ({"kind": "label", "of": []}, "needs 2 to 1,000 labels"),
    ({"kind": "subset", "of": []}, "needs `of`"),
    ({"kind": "subset", "of": ["a, b"]}, "comma"),
    ({"kind": "subset", "of": ["none"]}, "`none`"),
    ({"kind": "subset", "of": ["a", "A"]}, "different"),
    ({"kind": "ranking", "of": ["one"]}, "needs `of`"),
    ({"kind": "ranking", "of": ["a>b", "c"]}, "must not contain a comma"),
    ({"kind": "flags", "of": [" a"]}, "one-line texts"),
    ({"kind": "json"}, "needs `fields`"),
    ({"kind": "json", "fields": {"x": "float"}}, "a field of the format json must be"),
    ({"kind": "json", "fields": {"x": {"list": {"list": {"list": {"list": {"list": "text"}}}}}}}, "a field of"),
    ({"kind": "json", "fields": {"x": {"list": "text", "length": 0}}}, "`length`"),
    ({"kind": "letter", "of": ["A"]}, "letters"),
    ({"kind": "xml", "type": "intger"}, "intger"),
    ({"kind": "xml", "answer": {"of": 1}}, "`answer` must contain"),
]


@pytest.mark.parametrize(("format", "word"), BAD, ids=[json.dumps(format)[:40] for format, _ in BAD])
def test_faults_of_formats(format: dict[str, Any], word: str) -> None:
    assert any(word in fault for fault in faults(format)), faults(format)
