"""Bundles in the forms of other harnesses: the same prompts, the same bytes, and nothing half-written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import compile
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.grading.grader import grade
from dia_runtime.integrations.dia_bench.export import prompt_parts
from dia_runtime.integrations.exporters import EXPORTERS
from dia_runtime.integrations.exporting.base import Exporter, Files
from helpers.failures import refused_call
from helpers.places import ROOT

FAMILIES = ("d002_small_sum", "d088_pin_among_decoys", "d012_ten_primality_tests")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = [next((ROOT / "specs" / "dia_bench").glob(f"{name[:4]}_*.yaml")) for name in FAMILIES]
    return compile(specs, 3, out=tmp_path_factory.mktemp("out"), jobs=1).bundles[0].path


def pairs(bundle: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    opened = open_bundle(bundle)
    return list(zip(opened.questions(), opened.answers(), strict=True))


def test_dia_bench_has_the_keys_of_the_original(bundle: Path, tmp_path: Path) -> None:
    assert run(["export", str(bundle), "--to", "dia-bench", "-o", str(tmp_path / "x"), "-q"]) == 0
    found = json.loads((tmp_path / "x" / "dia_bench.json").read_text(encoding="utf-8"))
    assert set(found) >= {"dataset", "sources", "template_count", "k", "instance_count", "generated_at", "questions"}
    assert (found["template_count"], found["k"], found["instance_count"]) == (3, 3, 9)
    assert isinstance(found["sources"], list) and found["dataset"].startswith("dia_bench ")
    assert len(found["questions"]) == 9
    for (question, answer), row in zip(pairs(bundle), found["questions"], strict=True):
        challenge, solution = row["challenge"], row["solution"]
        keys = {"template_id", "instance", "level", "category", "adversarial", "description", "instructions"}
        assert keys <= set(challenge) and set(solution) == {"challenge_solution", "solution_explanation"}
        assert type(challenge["template_id"]) is int and challenge["template_id"] in (2, 12, 88)
        assert challenge["adversarial"] is (challenge["template_id"] == 88)
        assert challenge["Q template"] == challenge["template_id"]
        # What the published evaluator asks.
        assert f"{challenge['description']}\n{challenge['instructions']}" == question["messages"][0]["content"]
        assert challenge["instructions"].startswith("How your answer is graded:")
        assert solution["challenge_solution"] == f"<xml>{answer['text']}</xml>"
        assert challenge["questions_root"] == open_bundle(bundle).questions_root


@pytest.mark.parametrize("key", ["Q template", "template_id"])
def test_the_evaluator_of_dia_bench_scores_its_export_as_we_do(bundle: Path, tmp_path: Path, key: str) -> None:
    """The published evaluator's way of asking and grading, in both of its versions."""
    assert run(["export", str(bundle), "--to", "dia-bench", "-o", str(tmp_path / "x"), "-q"]) == 0
    rows = json.loads((tmp_path / "x" / "dia_bench.json").read_text(encoding="utf-8"))["questions"]
    replies = {}
    for at, (question, answer) in enumerate(pairs(bundle)):
        right = f"<xml>{answer['text']}</xml>"
        first = question["template"] == rows[0]["challenge"]["template"]
        reply = (right, f"```xml\n{right}\n```", "<xml>I-DO-NOT-KNOW</xml>", "<xml>-</xml>")[at % (2 if first else 4)]
        replies[question["messages"][0]["content"]] = reply
    assert len(replies) == len(rows)
    points, perfect = 0, 0
    for template in sorted({row["challenge"][key] for row in rows}):
        instances = [row for row in rows if row["challenge"][key] == template]
        correct = 0
        for row in instances:
            reply = replies.pop(f"{row['challenge']['description']}\n{row['challenge']['instructions']}")
            fenced = re.search(r"``+\s*xml\s*(<xml>.*?</xml>)\s*``+", reply, re.DOTALL | re.IGNORECASE)
            answer = fenced.group(1) if fenced else reply
            is_correct = answer == row["solution"]["challenge_solution"]
            correct += is_correct
            points += 1 if is_correct else 0 if answer == "<xml>I-DO-NOT-KNOW</xml>" else -2
        perfect += correct == len(instances)
    assert (points, perfect, replies) == (2, 1, {})  # 6 correct, 1 skipped, 2 wrong


def test_what_the_evaluator_of_dia_bench_asks_is_the_prompt() -> None:
    ask = "Answer in tags."
    cases = {
        f"Head\n\nWhat?\n\nHow:\n- {ask}\n- End.": ("Head\n\nWhat?\n", f"How:\n- {ask}\n- End."),
        f"What?\n{ask}": ("What?", ask),
        f"{ask}\nWhat?": (ask, "What?"),
        f"\n\n{ask}\n": ("\n", f"{ask}\n"),
        "One\ntwo\nthree": ("One\ntwo", "three"),
    }
    for prompt, parts in cases.items():
        question = {"id": "a/b/0", "messages": [{"role": "user", "content": prompt}]}
        assert prompt_parts(question, ask) == parts and "\n".join(parts) == prompt
        assert "\n".join(prompt_parts(question, None)) == prompt
    assert prompt_parts({"id": "a", "messages": [{"role": "user", "content": "One"}]}, None) == ("One", "")
    for messages in ([{"role": "system", "content": "x"}], [{"role": "user", "content": [{"type": "image_url"}]}]):
        with pytest.raises(DiaError, match="evaluator of `dia-bench` does not support"):
            prompt_parts({"id": "a", "messages": messages}, ask)


def test_json_lines_hold_messages_and_a_reply_that_is_graded_correct(bundle: Path, tmp_path: Path) -> None:
    assert run(["export", str(bundle), "--to", "jsonl", "-o", str(tmp_path / "x"), "-q"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "x" / "dia_bench.jsonl").read_text(encoding="utf-8").splitlines()]
    for (question, answer), row in zip(pairs(bundle), rows, strict=True):
        assert row["input"] == question["messages"] and row["id"] == question["id"]
        assert grade(answer, row["ideal"], question["format"]).verdict == "correct"


def test_two_exports_are_the_same_bytes_and_other_content_is_kept(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [tmp_path / "a" / "b", tmp_path / "c"]
    for place in places:
        assert run(["export", str(bundle), "--to", "jsonl", "-o", str(place), "-q"]) == 0
    first, second = ((place / "dia_bench.jsonl").read_bytes() for place in places)
    assert first == second
    assert run(["export", str(bundle), "--to", "jsonl", "-o", str(places[0]), "-q"]) == 0  # the same again
    assert run(["export", str(bundle), "--to", "dia-bench", "-o", str(places[0]), "-q"]) == 2
    assert "already exists with different content" in capsys.readouterr().err
    assert (places[0] / "dia_bench.jsonl").read_bytes() == first
    assert run(["export", str(bundle), "--to", "dia-bench", "-o", str(places[0]), "-q", "--force"]) == 0
    assert [path.name for path in places[0].iterdir()] == ["dia_bench.json"]
    assert sorted(path.name for path in places[0].parent.iterdir()) == ["b"]


def test_the_default_folder_lies_below_build(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for target in ("jsonl", "jsonl", "dia-bench"):
        assert run(["export", str(bundle), "--to", target, "-q"]) == 0
    assert sorted(path.name for path in (tmp_path / "build" / "exports").iterdir()) == [
        f"{bundle.name}-dia-bench",
        f"{bundle.name}-jsonl",
    ]


class Breaks(Exporter):
    """Fails in the middle of a file."""

    summary = "breaks"

    def files(self, bundle: Bundle) -> Files:
        def pieces() -> Iterator[bytes]:
            yield b"some"
            raise OSError(28, "No space left on device")

        yield "some.txt", pieces()


class Leaves(Exporter):
    """Names a file outside its folder."""

    summary = "leaves"

    def files(self, bundle: Bundle) -> Files:
        yield "../outside.txt", iter([b"x"])


@pytest.mark.parametrize(
    ("exporter", "code", "words"),
    [
        (Breaks(), "E602", "No space left on device"),
        (Leaves(), "E716", "wants to write the file `../outside.txt`, which is refused: it leads out of the folder"),
    ],
)
def test_what_fails_leaves_nothing(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    exporter: Exporter, code: str, words: str,
) -> None:  # fmt: skip
    monkeypatch.setitem(EXPORTERS.own, "mine", exporter)  # type: ignore[index]
    refused_call(code, words, capsys, "export", bundle, "--to", "mine", "-o", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_bundle_and_an_unknown_target_are_refused(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused_call(
        "E715", "unknown target `jsnl`\n  help: did you mean `jsonl`?", capsys, "export", bundle, "--to", "jsnl"
    )
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in bundle.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(bundle)).parent.mkdir(exist_ok=True, parents=True)
            (copy / path.relative_to(bundle)).write_bytes(path.read_bytes())
    (copy / "answers.jsonl").write_bytes((copy / "answers.jsonl").read_bytes().replace(b"correct", b"c0rrect", 1)[:-1])
    assert run(["export", str(copy), "--to", "jsonl", "-o", str(tmp_path / "x")]) == 3
    assert not (tmp_path / "x").exists()
