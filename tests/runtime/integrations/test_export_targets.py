"""Bundles in the forms of other harnesses: each row says where it comes from, asks our prompt, and is graded as we do."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import open_bundle
from dia_runtime.grading.grader import grade
from dia_runtime.integrations.exported_tasks import figures
from dia_runtime.integrations.exported_tasks.grading import Graded, grade_reply
from dia_runtime.integrations.exporters import EXPORTERS
from dia_runtime.integrations.huggingface.card import escaped, license_of, size_of
from dia_runtime.integrations.promptfoo import grader
from helpers.failures import refused_call
from helpers.files import lines
from helpers.session_records import session, turn

TRICKY = "{{this}} {% x %} {# y #} ${a} \\frac{1}{2} <b>&amp;</b> \u202e Żółć \U0001f98a"
ROWS = {
    "lm-eval": ("questions.jsonl", lambda row: row["dia_prompt"]),
    "inspect": ("questions.jsonl", lambda row: row["messages"][0]["content"]),
    "lighteval": ("data/test.jsonl", lambda row: row["dia_prompt"]),
    "promptfoo": ("prompts.jsonl", lambda row: row["messages"][0]["content"]),
    "jsonl": ("tiny.jsonl", lambda row: row["input"][0]["content"]),
    "openai-batch": ("requests-000.jsonl", lambda row: row["body"]["messages"][0]["content"]),
}
ORIGIN = ("id", "template", "item", "instance", "questions_root", "bundle_id", "format_instruction")
Tiny = Callable[..., Path]


@pytest.fixture
def tricky(tiny: Tiny, bundle_writer: Callable[..., Path], tmp_path: Path) -> Path:
    """The small bundle, with prompts that templates would render and a canary."""
    opened = open_bundle(tiny("plain"))
    questions = list(opened.questions())
    for question in questions:
        question["messages"][0]["content"] += TRICKY
        question["format"] = {**question["format"], "rules": 2}
    return bundle_writer(tmp_path / "tricky", questions, list(opened.answers()), 3, canary="keep out 123e4567")


def exported(bundle: Path, target: str, out: Path, code: int = 0) -> Path:
    model = ["--model", "m"] if target == "openai-batch" else []
    assert run(["export", str(bundle), "--to", target, "-o", str(out), "-q", *model]) == code
    return out


@pytest.mark.parametrize("target", ROWS)
def test_rows_say_where_they_come_from_and_ask_our_prompts(tricky: Path, tmp_path: Path, target: str) -> None:
    name, prompt = ROWS[target]
    folder, opened = exported(tricky, target, tmp_path / "x"), open_bundle(tricky)
    rows = lines(folder / name)
    questions = list(opened.questions())
    assert [prompt(row) for row in rows] == [question["messages"][0]["content"] for question in questions]
    if target == "openai-batch":
        assert [row["custom_id"] for row in rows] == [question["id"] for question in questions]
        assert rows[0]["body"]["model"] == "m" and rows[0]["url"] == "/v1/chat/completions"
        return
    for row, question in zip(rows, questions, strict=True):
        assert [row[key] for key in ORIGIN[:4]] == [question[key] for key in ORIGIN[:4]]
        assert (row["questions_root"], row["bundle_id"]) == (opened.questions_root, opened.id)
        assert (
            row["format_instruction"].startswith("You may reason first. End your reply")
            and row["canary"] == "keep out 123e4567"
        )


@pytest.mark.parametrize("target", ["lm-eval", "jsonl", "promptfoo"])
def test_bundles_of_the_first_rules_give_no_instruction_that_their_prompts_do_not_have(
    tiny: Tiny, tmp_path: Path, target: str
) -> None:
    bundle = tiny("plain")
    assert not any("rules" in question["format"] for question in open_bundle(bundle).questions())
    rows = lines(exported(bundle, target, tmp_path / "x") / {**ROWS, "jsonl": ("tiny.jsonl", None)}[target][0])
    assert {row["format_instruction"] for row in rows} == {None}


@pytest.mark.parametrize("target", [*ROWS, "dia-bench", "huggingface"])
def test_two_exports_are_the_same_bytes(tricky: Path, tmp_path: Path, target: str) -> None:
    if target == "huggingface":
        pytest.importorskip("pyarrow")
    one, two = (exported(tricky, target, tmp_path / name) for name in ("one", "two"))
    names = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert names and names == sorted(path.relative_to(two) for path in two.rglob("*") if path.is_file())
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names)


def test_what_a_target_cannot_hold_is_refused_with_its_reason(
    tiny: Tiny, bundle_writer: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_bundle(tiny())

    def made(name: str, **change: Any) -> Path:
        questions, answers = list(opened.questions()), list(opened.answers())
        questions[1] |= change
        if "sessions" in change:
            del questions[1]["messages"]
        return bundle_writer(tmp_path / name, questions, answers, 3)

    asset = {
        "name": "a.png",
        "path": f"assets/{'0' * 64}.png",
        "sha256": "0" * 64,
        "size": 1,
        "deliver": "attach",
        "media_type": "image/png",
    }
    user, system = {"role": "user", "content": "x"}, {"role": "system", "content": "y"}
    cases = [
        (made("sessions", sessions=[session("talk", turn("Hello?", "greeting"))]), ["lm-eval", "lighteval", "promptfoo", "dia-bench", "openai-batch"], "is a session"),
        (made("assets", assets=[asset]), ["lm-eval", "lighteval"], "pictures or files"),
        (made("system", messages=[system, user]), ["lighteval"], "has a system prompt"),
        (made("turns", messages=[user, {"role": "assistant", "content": "z"}, user]), ["lm-eval"], "several turns"),
    ]  # fmt: skip
    for bundle, targets, reason in cases:
        for target in targets:
            assert not exported(bundle, target, tmp_path / f"{bundle.name}-{target}", 2).exists()
            said = capsys.readouterr().err
            assert reason in said and "E714" in said and "tiny/sum_0/1" in said
    exported(tmp_path / "system", "lm-eval", tmp_path / "held")
    assert lines(tmp_path / "held" / "questions.jsonl")[1]["dia_system"] == "y"
    batch = ["export", tiny("other"), "--to", "openai-batch", "-o", tmp_path / "b"]
    refused_call("E715", "but `--model` names none\n  help: give one `--model`", capsys, *batch)
    refused_call("E715", "but `--model` names 2\n", capsys, *batch, "--model", "a", "--model", "b")
    bare = tiny("bare", sealed=True)
    error = f"needs the answers, but `{bare}` has none\n  help: unseal the bundle first; some targets, such as `jsonl`"
    refused_call("E713", error, capsys, "export", bare, "--to", "lm-eval", "-o", tmp_path / "b")


def test_exported_modules_say_in_one_line_that_dia_is_missing(
    tricky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target, name, module in (("lm-eval", "utils", "for_lm_eval"), ("lighteval", "dia_tiny", "for_lighteval")):
        text = (exported(tricky, target, tmp_path / target) / f"{name}.py").read_text(encoding="utf-8")
        monkeypatch.setitem(sys.modules, f"dia_runtime.harnesses.{module}", None)
        with pytest.raises(SystemExit, match=r"pip install \.` in a clone of dia"):
            exec(compile(text, name, "exec"), {})


def test_exported_rows_are_graded_as_the_runtime_grades(tricky: Path, tmp_path: Path) -> None:
    rows = lines(exported(tricky, "lm-eval", tmp_path / "x") / "questions.jsonl")
    opened = open_bundle(tricky)
    replies = ("{}", "<xml>{}</xml>", "<xml>-7</xml>", "<xml>I-DO-NOT-KNOW</xml>", "", "```\n<xml>{}</xml>\n```")
    seen = set()
    for row, question, answer in zip(rows, opened.questions(), opened.answers(), strict=True):
        for reply in replies:
            said = reply.replace("{}", answer["text"])
            ours = grade(answer, said, question["format"])
            found = grade_reply(row, said)
            assert (found.verdict, found.extracted) == (ours.verdict, ours.extracted)
            seen.add((found.verdict, found.points))
        assert grade_reply(row, row["target"]).verdict == "correct"
    assert seen == {("correct", 1), ("wrong", -2), ("skipped", 0), ("unparsed", -2)}
    assert grade_reply(rows[0], None).verdict == "unparsed"


def test_conditions_of_answers_and_broken_rows() -> None:
    comparison = {"type": "integer", "accept_if": {"expression": "reply % 3 == 0"}}
    record = {"answer": 3, "accept": [], "text": "3", "comparison": comparison}
    row = {
        "format": '{"kind": "xml"}',
        "points": '{"correct": 1, "skipped": 0, "wrong": "-1/2"}',
        "grading": json.dumps(record),
    }
    assert grade_reply(row, "<xml>99</xml>").verdict == "correct"
    assert grade_reply(row, "<xml>98</xml>").points == Fraction(-1, 2)
    for broken in ({}, row | {"grading": "[]"}, row | {"grading": "{"}, row | {"format": '{"kind": "none"}'}):
        with pytest.raises(DiaError):
            grade_reply(broken, "x")


def test_figures_over_items_follow_their_definitions() -> None:
    verdicts = {"a": "ccccc", "b": "ccccw", "c": "wwwww", "d": "cs"}
    points = {"c": 1, "w": -2, "s": 0}
    names = {"c": "correct", "w": "wrong", "s": "skipped"}
    entries = [
        figures.figure_entry(item, Graded(names[sign], None, points[sign]))
        for item, signs in verdicts.items()
        for sign in signs
    ]
    assert figures.conf(entries) == 1 / 4
    assert figures.nms(entries) == 1
    assert figures.tsr(entries) == (5 + 4 + 0 + 1) / 4
    assert figures.rs(entries) == pytest.approx(1 + 2 / 5 - 2 + 1 / 2)
    parts = [(5, 5), (4, 5), (0, 5), (1, 2)]
    share = 10 / 17
    squares = sum((correct - k * share) ** 2 for correct, k in parts)
    assert figures.correct_clustered_stderr(entries) == pytest.approx((4 / 3 * squares) ** 0.5 / 17)
    assert figures.correct_clustered_stderr(entries[:5]) == 0
    assert figures.correct_share(entries) == share
    assert figures.over_items_stderr("conf", entries) == pytest.approx((3 / 16 / 3) ** 0.5)
    means = [1, 2 / 5, -2, 1 / 2]
    assert figures.over_items_stderr("rs", entries) == pytest.approx(stdev(means) * 4**0.5)  # of a sum of four
    assert figures.over_items_stderr("nms", entries[:5]) == 0


def test_replies_are_graded_by_lines(
    tricky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = exported(tricky, "promptfoo", tmp_path / "x") / "answers.jsonl"
    row = lines(path)[0]
    capsys.readouterr()
    asked = [{"id": row["id"], "reply": reply} for reply in (row["target"], "nothing\nat all")]
    monkeypatch.setattr(sys, "argv", ["grade_lines", str(path)])
    said(monkeypatch, "".join(json.dumps(each) + "\n" for each in asked))
    assert grader.main() == 0
    found = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [each["verdict"] for each in found] == ["correct", "unparsed"] and found[0]["points"] == 1
    said(monkeypatch, '{"id": "none", "reply": ""}\n')
    assert grader.main() == 2


def test_lines_are_utf_8_whatever_the_computer_writes_in(
    tiny: Tiny, bundle_writer: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    opened = open_bundle(tiny("plain"))
    questions, answers = list(opened.questions()), list(opened.answers())
    for answer in answers:
        answer |= {"answer": "Żółć 数", "text": "Żółć 数", "comparison": {"type": "text"}, "mistakes": {}}
    bundle = bundle_writer(tmp_path / "texts", questions, answers, 3)
    path = exported(bundle, "promptfoo", tmp_path / "x") / "answers.jsonl"
    monkeypatch.setattr(sys, "argv", ["grade_lines", str(path)])
    asked = [{"id": questions[0]["id"], "reply": "<xml>Żółć 数</xml>"}, {"id": questions[1]["id"]}]
    capsys.readouterr()
    said(monkeypatch, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in asked))
    assert grader.main() == 0
    verdicts = [json.loads(text)["verdict"] for text in capsys.readouterr().out.splitlines()]
    assert verdicts == ["correct", "unparsed"]  # a reply that did not come is an empty one


def said(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Puts the text on standard input, of a computer whose own encoding is another."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="cp1252"))


def test_a_data_set_keeps_answers_apart_and_describes_itself(tricky: Path, tiny: Tiny, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = exported(tricky, "huggingface", tmp_path / "x")
    questions, answers = (parquet.read_table(folder / "data" / f"{name}.parquet") for name in ("questions", "answers"))
    assert not {"answer", "target", "grading"} & set(questions.column_names)
    assert answers["id"].to_pylist() == questions["id"].to_pylist()
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\n") and 'license: "apache-2.0"' in card and "keep out 123e4567" in card
    sealed = exported(tiny("sealed", sealed=True), "huggingface", tmp_path / "y")
    assert sorted(path.name for path in (sealed / "data").iterdir()) == ["questions.parquet"]
    assert "answers withheld" in (text := (sealed / "README.md").read_text()) or "answers are withheld" in text
    assert '"answers"' not in text


def test_the_card_shows_strange_names_and_interprets_none() -> None:
    assert escaped("a|b\n# <script>[x](y)") == "a\\|b \\# \\<script\\>\\[x\\]\\(y\\)"
    assert license_of("My own") == {"license": "other", "license_name": "My own"}
    assert license_of(None) == {"license": "unknown"} and license_of("CC-BY-4.0") == {"license": "cc-by-4.0"}
    assert [size_of(number) for number in (999, 1000, 15_000, 2_000_000)] == [
        "n<1K",
        "1K<n<10K",
        "10K<n<100K",
        "1M<n<10M",
    ]


def test_every_target_has_a_summary() -> None:
    assert set(ROWS) | {"dia-bench", "huggingface"} <= set(EXPORTERS)
    assert all(exporter.summary for exporter in EXPORTERS.values())


@pytest.mark.parametrize("target", ["lm-eval", "inspect", "lighteval", "promptfoo"])
def test_a_stranger_names_no_code(tiny: Tiny, tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tiny("named", benchmark="x(): pass\nimport os #")
    assert not exported(bundle, target, tmp_path / "x", 3).exists()
    assert "is not a valid benchmark name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "canary", ["a\nimport nothing_at_all", "coding: utf-7 +AAo-import nothing_at_all", "a\rimport b\x0cc"]
)
def test_a_stranger_canary_is_one_comment(tiny: Tiny, tmp_path: Path, canary: str) -> None:
    made = exported(tiny("marked", canary=canary), "lm-eval", tmp_path / "x") / "utils.py"
    scope: dict[str, Any] = {"__file__": str(made)}
    exec(compile(made.read_bytes(), "utils", "exec"), scope)
    assert scope["__doc__"].startswith("Made by `dia export`") and "nothing_at_all" not in scope


def test_ids_that_promptfoo_would_act_on_are_refused(
    tiny: Tiny, bundle_writer: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_bundle(tiny())
    for at, id in enumerate(("tiny/{{env.KEY}}/0", "file:///etc/passwd")):
        questions, answers = list(opened.questions()), list(opened.answers())
        questions[0]["id"] = answers[0]["id"] = id
        exported(bundle_writer(tmp_path / f"b{at}", questions, answers, 3), "promptfoo", tmp_path / f"x{at}", 2)
        assert "a special meaning in `promptfoo`" in capsys.readouterr().err
