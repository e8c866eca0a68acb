"""Every export's grader and `dia score` agree, also on replies that no model should give."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.numbers.values import encode
from dia_runtime.bundle.open import open_bundle
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.store.store import read_store
from helpers.examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

XML = {"kind": "xml", "skip": "I-DO-NOT-KNOW"}
LETTER = {"kind": "letter", "options": {letter: f"choice {letter}" for letter in "ABCD"}, "skip": "E"}
POINTS = {"correct": 1, "skipped": "1/3", "wrong": "-1/2"}
KINDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (XML, {"answer": 12, "text": "12", "comparison": {"type": "integer"}}),
    (XML, {"answer": 12, "text": "12", "comparison": {"type": "integer", "accept_if": {"expression": "reply % 4 == 0"}}}),
    (XML, {"answer": encode(Fraction(1, 3)), "text": "1/3", "comparison": {"type": "rational"}}),
    (XML, {"answer": "Żółć", "text": "Żółć", "comparison": {"type": "text"}, "accept": ["zolc"]}),
    (XML, {"answer": True, "text": "true", "comparison": {"type": "boolean"}}),
    ({"kind": "whole", "skip": "I-DO-NOT-KNOW"}, {"answer": 12, "text": "12", "comparison": {"type": "integer"}}),
    (LETTER, {"answer": "B", "text": "B", "comparison": {"type": "choice", "of": list("ABCD")}}),
]  # fmt: skip
SAID = ["12", "1/3", "Żółć", "Zo\u0301łć", "true", "B", "E", "I-DO-NOT-KNOW", " 12 ", "+12", "012", "1２", "12.0", "1e1", "2/6", "24",
        "", "\0", "12\0", "9" * 5000, "1/0", "B.", "(B)", "\u202e21", "<b>12</b>", "{{12}}", "{% 12 %}", "\\frac{1}{3}", "-" * 50, "x" * 200_000]  # fmt: skip
AROUND = ["{}", "<xml>{}</xml>", "<xml>\n{}\n</xml>", "<xml>7</xml><xml>{}</xml>", "<xml>{}", "```\n<xml>{}</xml>\n```",
          "<think><xml>7</xml></think><xml>{}</xml>", "ANSWER: {}", "the answer is {}.", "<XML>{}</XML>"]  # fmt: skip
REPLIES = [shape.replace("{}", said) for shape in AROUND for said in SAID]


@pytest.fixture
def kinds(tiny: Callable[..., Path], bundle_writer: Callable[..., Path], tmp_path: Path) -> Path:
    """A bundle with a question of every kind."""
    (first, *_), (answer, *_) = (list(held) for held in _opened(tiny("plain")))
    questions, answers = [], []
    for at, (format, held) in enumerate(KINDS):
        own = {"id": f"tiny/kind_{at}/0", "template": f"kind_{at}"}
        questions.append({**first, **own, "item": f"kind_{at}", "instance": 0, "format": format, "points": POINTS})
        answers.append({**answer, "accept": [], **held, **own, "mistakes": {}})
    return bundle_writer(tmp_path / "kinds", questions, answers, 1)


def _opened(path: Path) -> tuple[Any, Any]:
    opened = open_bundle(path)
    return opened.questions(), opened.answers()


def rows_of(kinds: Path, out: Path) -> list[dict[str, Any]]:
    assert run(["export", str(kinds), "--to", "inspect", "-o", str(out), "-q"]) == 0
    return [json.loads(text) for text in (out / "questions.jsonl").read_bytes().splitlines()]


def scored(kinds: Path, folder: Path, replies: list[str]) -> dict[tuple[str, int], tuple[str, Any, str | None]]:
    """What `dia score` makes of each reply: by question and number of the reply."""
    table = folder / "replies.jsonl"
    ids = [question["id"] for question in open_bundle(kinds).questions()]
    lines = (json.dumps({"id": id, "attempt": at, "reply": said}) for id in ids for at, said in enumerate(replies, 1))
    table.write_text("\n".join(lines), encoding="utf-8")
    call = ["import", str(table), "--from", "jsonl", "--bundle", str(kinds), "--field", "attempt=attempt", "-q"]
    assert run([*call, "--force", "-o", str(folder / "a.run")]) == 0
    with read_store(folder / "a.run") as store:
        judge = Judge(store, Rules(over="attempts"))
        try:
            (only,) = store.respondents()
            found = list(judge.judged(only.id))
        finally:
            judge.close()
    assert len(found) == len(ids) * len(replies)
    counted: dict[str, int] = {}
    told = {}
    for entry in found:
        at = counted[entry.question.id] = counted.get(entry.question.id, 0) + 1
        told[entry.question.id, at] = (entry.mark.verdict, entry.mark.low, entry.extracted)
    return told


def compared(kinds: Path, folder: Path, rows: list[dict[str, Any]], replies: list[str]) -> set[str]:
    verdicts = set()
    ours = scored(kinds, folder, replies)
    for row in rows:
        for at, reply in enumerate(replies, 1):
            found = grade_reply(row, reply)
            assert (found.verdict, found.points, found.extracted) == ours[row["id"], at], (row["id"], reply[:100])
            verdicts.add(found.verdict)
    return verdicts


def test_nasty_replies_are_graded_alike(kinds: Path, tmp_path: Path) -> None:
    rows = rows_of(kinds, tmp_path / "out")
    assert compared(kinds, tmp_path, rows, REPLIES) == {"correct", "skipped", "wrong", "unparsed"}


@settings(
    max_examples=examples(6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.text(
            alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>/xml12ABE{}%\\ \n"), max_size=30
        ),
        min_size=1,
        max_size=40,
    )
)
def test_any_reply_is_graded_alike(kinds: Path, tmp_path: Path, replies: list[str]) -> None:
    rows = rows_of(kinds, tmp_path / "out")
    compared(kinds, tmp_path, rows, [*replies, *(f"<xml>{said}</xml>" for said in replies)])
