"""Every type of answer in every answer format, end to end: compiled, asked of the baselines, scored; and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_language.answers import ANSWER_TYPES
from dia_runtime.formats import FORMATS
from dia_runtime.grading.grader import grade
from helpers.answer_samples import TEMPLATES, template

Dia = Callable[..., Any]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dia_compiler import compile

    folder = tmp_path_factory.mktemp("kinds")
    (folder / "specs").mkdir()
    (folder / "specs" / "benchmark.yaml").write_text("language: 1\nbenchmark: kinds\n", encoding="utf-8")
    for name, parts in TEMPLATES.items():
        (folder / "specs" / f"{name}.yaml").write_text(template(f"t_{name}", *parts), encoding="utf-8")
    compile([folder / "specs"], out=folder / "out", k=2)
    (made,) = (folder / "out").glob("kinds-*")
    return made


def rows(bundle: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bundle / name).read_text(encoding="utf-8").splitlines()]


def test_every_type_and_every_format_is_among_them(bundle: Path) -> None:
    questions = rows(bundle, "questions.jsonl")
    assert {row["comparison"]["type"] for row in rows(bundle, "answers.jsonl")} == set(ANSWER_TYPES)
    assert {question["format"]["kind"] for question in questions} == set(FORMATS)
    assert len(questions) == 2 * len(TEMPLATES)


@pytest.mark.parametrize(("model", "verdict"), [("oracle", "correct"), ("abstain", "skipped"), ("wrong", "wrong")])
def test_the_baselines_get_what_they_deserve(bundle: Path, model: str, verdict: str, tmp_path: Path, dia: Dia) -> None:
    assert dia(tmp_path, "run", str(bundle), "--model", model, "-o", "a.run").exit == 0
    for chain in ("strict", "lenient"):
        found = json.loads(dia(tmp_path, "score", "a.run", "--chain", chain, "--json").stdout)["models"][0]
        assert found["counts"][verdict] == 2 * len(TEMPLATES), (chain, found["counts"])


def test_prompts_tell_how_to_answer(bundle: Path) -> None:
    for question in rows(bundle, "questions.jsonl"):
        form = FORMATS[question["format"]["kind"]]
        told = form.instruction(question["format"], "").partition(":")[0]
        assert told in question["messages"][0]["content"]


def test_shares_travel_with_the_answer(bundle: Path) -> None:
    (record, *_) = (row for row in rows(bundle, "answers.jsonl") if row["template"] == "t_arithmetic")
    n = record["parameters"]["n"]
    for reply, verdict, share in (
        (f"{n} + 16", "correct", Fraction(1)),
        (f"{n} + 7", "wrong", Fraction(1, 4)),
        ("sixteen", "wrong", Fraction(0)),
        ("7 * 9", "wrong", Fraction(0)),
        ("I-DO-NOT-KNOW", "skipped", None),
    ):
        found = grade(record, f"<xml>{reply}</xml>", {"kind": "xml", "skip": "I-DO-NOT-KNOW"})
        assert (found.verdict, found.share) == (verdict, share)
    assert grade(record, "no tags", {"kind": "xml"}).share is None


def test_a_share_that_fails_is_nothing() -> None:
    record = {"answer": 2, "accept": [], "text": "2"}
    for expression, share in (("1 / reply", 0), ("reply", 0), ("'half'", 0), ("1/2", Fraction(1, 2)), ("reply < 0", 0)):
        comparison = {"type": "integer", "share": {"expression": expression, "names": {}}}
        found = grade({**record, "comparison": comparison}, "<xml>0</xml>", {"kind": "xml"})
        assert (found.verdict, found.share) == ("wrong", share), expression


# what is wrong with an answer or a format, and the message with its place
FAULTS: list[tuple[str, str, str]] = [
    ("{value: n, type: integer, units: [km, 5]}", "{kind: xml}", "5:47: error[E203]: an entry of `units` must be text; this is an integer"),
    ("{value: n, type: choice, of: [one]}", "{kind: xml}", "need `of`, from 2 to 1,000 labels"),
    ("{value: n, type: integer, operators: [+]}", "{kind: xml}", "5:35: error[E404]: answers of type integer have no option `operators`"),
    ("{value: n, type: arithmetic, operators: ['%']}", "{kind: xml}", "5:49: error[E404]: `operators` must be a list of operators from + - * / **"),
    ("{value: n, type: record, of: {x: intger}}", "{kind: xml}", "unknown answer type `intger`"),
    ("{value: n, type: tuple, of: [integer], written: '{{ x }}'}", "{kind: xml}", "error[E404]: `written` must contain every part of the answer once: `{{ it[0] }}`"),
    ("{value: n, type: bytes, encoding: utf8}", "{kind: xml}", "`encoding` must be hex or base64"),
    ("{value: n, type: integer, share: '1/2'}", "{kind: xml}", "error[E508]: `share` gives 1/2 for the answer itself, not 1"),
    ("{value: n, type: integer, share: 'n'}", "{kind: xml}", "error[E508]: `share` gives 0 for the answer itself, not 1"),
    ("{value: sqrt(n) * symbol(\"y\"), type: expression}", "{kind: xml}", "contains the variable `y`, which is not declared"),
    ("{value: '[n, n]', type: set, of: integer}", "{kind: xml}", "contains an element twice"),
    ("{value: n, type: integer}", "{kind: regex, pattern: '(', reply: '{answer}'}", "4:32: error[E404]: `pattern` of the format regex is not RE2"),
    ("{value: n, type: integer}", "{kind: label, of: [A, A]}", "error[E404]: the labels of the format label must be different"),
    ("{value: n, type: integer}", "{kind: label, of: [A, I-DO-NOT-KNOW]}", "the skip token `I-DO-NOT-KNOW` is one of the labels"),
    ("{value: n, type: integer}", "{kind: letter}", "4:9: error[E404]: the format letter needs the letters of the options"),
    ("{value: n, type: integer}", "{kind: xml, tag: x}", "4:21: error[E404]: the format xml has no option `tag`"),
    ("{value: n, type: integer}", "{kind: letters}", "did you mean `letter`?"),
    ("{value: n, type: integer}", "{kind: label, of: = letters}", "help: write the labels out, as in [Monday, Tuesday]; a format takes no expressions"),
    ("{value: n, type: integer}", "{kind: label, of: [A]}", "error[E204]: `of` must have at least 2 elements"),
    ("{value: n, type: integer}", "{kind: label, of: [A, B]}", "error[E508]: a reply with the answer"),
    ("{value: '\"I-DO-NOT-KNOW\"', type: text}", "{kind: whole}", "choose a `skip` token that cannot be read as an answer"),
    ("{value: '\"a\\nb\"', type: text}", "{kind: last_line}", "error[E508]: a reply with the answer"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault[0]}-{fault[1]}"[:60])
def test_what_does_not_fit_is_told_with_its_place(fault: tuple[str, str, str], tmp_path: Path, dia: Dia) -> None:
    answer, form, message = fault
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "benchmark.yaml").write_text("language: 1\nbenchmark: faults\n", encoding="utf-8")
    text = template("t_fault", answer, form, "")
    (specs / "fault.yaml").write_text(text, encoding="utf-8")
    printed = dia(tmp_path, "compile", "specs", "-o", "out", "--k", "1")
    assert printed.exit == 2 and message in printed.stderr, printed.stderr
    assert "Traceback" not in printed.stderr and not (tmp_path / "out").exists()
