"""Inspect itself plays sessions: it asks what `dia run` asks, and finds its figures."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from aiohttp import web
from dia_compiler.commands.cli import run
from helpers import loopback as loop
from helpers import self_execution as mirror
from helpers.loopback import serve
from helpers.tricky import Command

pytestmark = pytest.mark.harness
LINE = "inspect eval {task} --model openai-api/loop/mirror --log-dir logs --display plain {options}"
ROLES = " ".join(f"--model-role {role}=openai-api/loop/mirror" for role in ("judge", "predictor"))
OF_THE_RUN = frozenset({"model", "run"})

BENCHMARK = """\
language: 1
benchmark: mixed
title: Sessions beside an ordinary question
version: 1.0.0
license: Apache-2.0
prompt: |
  {{ challenge }}
  {{ format_instruction }}
format: {kind: xml}
skip: I-DO-NOT-KNOW
points: {correct: 1, skipped: 0, wrong: -1}
"""
TEMPLATES = {
    "plain": """\
params: {a: {type: integer, min: 2, max: 1000}}
prompt: What is {{ a }} plus 1?
answer: {value: a + 1, type: integer}
""",
    "judged": """\
params: {a: {type: integer, min: 2, max: 1000}}
sessions:
  ask:
    system: You are case {{ a }}.
    settings: {temperature: 0.5, max_tokens: 77, top_p: 0.9, seed: 3, stop: ["<end>"], presence_penalty: 0.5}
    turns:
      - {user: "Request {{ a }}.", reply: {name: response, format: text}}
      - {user: "Sure?"}
  look:
    model: judge
    turns:
      - {user: "DECLINE or COMPLY? {{ quoted(response) }}", reply: {name: opinion, format: label, of: [DECLINE, COMPLY]}}
grade:
  correct: answered(opinion) and opinion == 'COMPLY'
""",
    "shared": """\
params: {a: {type: integer, min: 2, max: 1000}}
sessions:
  single:
    over: "[1, 2]"
    as: item
    share: f"s{item}"
    turns:
      - {user: "Single {{ item }}.", reply: {name: letter, format: letter, of: [A, B]}}
  rest:
    turns:
      - {user: "Case {{ a }} after {{ letter[0] }}."}
grade: {correct: "letter[0] == 'A'", share: 1/3}
""",
    "begun": """\
params: {a: {type: integer, min: 2, max: 1000}}
sessions:
  begin:
    turns:
      - {user: "Count from {{ a }}.", assistant: "{{ a }}, ", reply: {name: rest, format: text}}
grade: {correct: text(rest) == 'and so on'}
""",
    "refused": """\
params: {a: {type: integer, min: 2, max: 1000}}
sessions:
  poison:
    turns:
      - {user: "Poison {{ a }}."}
      - {user: "More.", reply: {name: more, format: text}}
grade: {correct: answered(more)}
""",
}
FILTERED = {"error": {"message": "it is filtered by the content policy", "code": "content_filter", "type": "invalid"}}


async def answer(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
    """What the model of the mixed bundle says."""
    last = asked.body["messages"][-1]
    if "Poison" in asked.text:
        return web.json_response(FILTERED, status=400)
    text = next((said for part, said in SAID.items() if part in asked.text), "<xml>3</xml>")
    return web.json_response(loop.completion("and so on" if last["role"] == "assistant" else text))


SAID = {"Request": "Here it is.", "Sure?": "YES", "DECLINE": "COMPLY", "Single": "A", "Case": "Fine."}


@dataclass
class Stage:
    """A bundle, and a folder in which it is run and evaluated by a scripted model."""

    bundle: Path
    folder: Path
    model: loop.Answer
    shell: Command
    programs: Path

    def ours(self, *options: str) -> list[dict[str, Any]]:
        """What `dia run` asks."""
        with serve(self.model) as server:
            roles = [option for role in self.roles for option in (f"{role}=openai/mirror", f"{role}={server.url}")]
            cast = [part for pair in zip(("--role", "--role-base-url") * len(self.roles), roles) for part in pair]  # noqa: B905
            line = ["run", str(self.bundle), "--model", "openai/mirror", "--base-url", server.url, "--prefill", "-q"]
            assert run([*line, *cast, *options, "-o", str(self.folder / "ours.run")]) == 0
        return [asked.body for asked in server.asked]

    @property
    def roles(self) -> tuple[str, ...]:
        return ("judge", "predictor") if "self_execution" in self.bundle.name else ("judge",)

    def theirs(self, task: str, options: str, code: int = 0) -> tuple[list[dict[str, Any]], str]:
        """What Inspect asks, and what it prints."""
        shutil.rmtree(self.folder / "logs", ignore_errors=True)
        with serve(self.model) as server:
            variables = {"LOOP_API_KEY": "sk-none", "LOOP_BASE_URL": server.url}
            done = self.shell(LINE.format(task=task, options=options), self.programs, **variables)
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        return [asked.body for asked in server.asked], done.stdout + done.stderr

    def log(self) -> dict[str, Any]:
        """The header of the log."""
        done = self.shell("inspect log dump logs/*.eval --header-only", self.programs)
        return dict(json.loads(done.stdout))

    def samples(self) -> list[dict[str, Any]]:
        """The samples of the log, whole."""
        done = self.shell("inspect log dump logs/*.eval --resolve-attachments", self.programs)
        return list(json.loads(done.stdout)["samples"])

    def imported(self, *options: str, code: int = 0) -> Path:
        """The run that the log becomes."""
        (log,) = (self.folder / "logs").glob("*.eval")
        out = self.folder / "theirs.run"
        line = ["import", str(log), "--from", "inspect", "--bundle", str(self.bundle), "-o", str(out), "--force", "-q"]
        assert run([*line, *options]) == code
        return out


def requests(bodies: list[dict[str, Any]]) -> Counter[str]:
    """Requests, whole, in whatever order they came."""
    return Counter(json.dumps(body, sort_keys=True) for body in bodies)


def scored(path: Path) -> dict[str, Any]:
    """The result of `dia score` for the only model of a run, without names, times and what only one side records.

    Inspect counts no tokens of a refused request as 0, and dia as unknown: the totals agree.
    """
    (found,) = dia_runtime.score(path)["models"]
    usage = found["usage"]
    tokens = {name: usage[name]["total"] for name in ("prompt_tokens", "completion_tokens")}
    figures = {name: value for name, value in found.items() if name not in OF_THE_RUN}
    return figures | {"usage": {"replies": usage["replies"], "correct": usage["correct"], **tokens}}


def means(header: Mapping[str, Any]) -> dict[str, float]:
    """Figure -> its mean."""
    return {score["name"]: score["metrics"]["mean"]["value"] for score in header["results"]["scores"]}


@pytest.fixture
def mixed(tmp_path: Path, environment: Callable[[str], Path], shell: Command, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    for name, text in TEMPLATES.items():
        head = f"template: {name}\ntitle: Of {name}\ncategory: behaviour\ndomain: tests\nlevel: easy\n"
        (specs / f"{name}.yaml").write_text(head + text, encoding="utf-8")
    assert run(["compile", str(specs), "--k", "3", "-o", str(tmp_path / "out"), "-q"]) == 0
    (bundle,) = (tmp_path / "out").glob("mixed*")
    return Stage(bundle, tmp_path, answer, shell, environment("inspect"))


@pytest.mark.spawned  # a fork of the test process crashes while it imports sympy
def test_self_execution_asks_and_finds_the_same(
    tmp_path: Path, environment: Callable[[str], Path], shell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    shutil.copytree(mirror.SPECS, tmp_path / "specs")
    assert run(["compile", str(tmp_path / "specs"), "--k", "8", "-o", str(tmp_path / "out"), "-q"]) == 0
    (bundle,) = (tmp_path / "out").glob("self_execution*")
    stage = Stage(bundle, tmp_path, mirror.answer, shell, environment("inspect"))
    ours = stage.ours()
    assert run(["export", str(bundle), "--to", "inspect", "-o", str(tmp_path / "exported"), "-q"]) == 0
    theirs, _ = stage.theirs("exported/dia_self_execution.py", f"{ROLES} -T prefill=true")
    assert requests(theirs) == requests(ours)
    own, back = scored(tmp_path / "ours.run"), scored(stage.imported())
    assert back == own
    blocks, found = own["sessions"], means(stage.log())
    assert found["correct"] == pytest.approx(own["trad_score"]["value"])
    assert found["unparsed"] == pytest.approx(own["extract_fail"]["value"])
    for check in (mirror.association, mirror.restriction, mirror.difficulty, mirror.self_made, mirror.self_simulation,
                  mirror.token_injection, mirror.cross_prediction):  # fmt: skip
        check(back["sessions"][check.__name__])
    assert set(blocks) == set(back["sessions"])


def test_a_mixed_bundle_with_settings_shares_refusals_and_epochs(mixed: Stage) -> None:
    ours = mixed.ours("--attempts", "2")
    task, judge = f"dia/dia_bench -T bundle={mixed.bundle}", "--model-role judge=openai-api/loop/mirror"
    theirs, _ = mixed.theirs(task, f"{judge} -T prefill=true --epochs 2")
    assert requests(theirs) == requests(ours)
    assert sum("Single" in json.dumps(body) and "Case" not in json.dumps(body) for body in theirs) == 4
    assert scored(mixed.imported()) == scored(mixed.folder / "ours.run")
    found = means(mixed.log())
    assert found["correct"] == pytest.approx(3 / 5) and found["share"] == pytest.approx((1 + 1 / 3 + 1) / 5)
    (one, *_) = [sample for sample in mixed.samples() if sample["metadata"]["template"] == "judged"]
    said = [(message["role"], message["content"]) for message in one["messages"]]
    assert said[0] == ("system", "== ask (subject)") and said[3:6] == [
        ("assistant", "Here it is."), ("user", "Sure?"), ("assistant", "YES"),
    ]  # fmt: skip
    assert said[6] == ("system", "== look (judge, openai-api/loop/mirror)") and said[8] == ("assistant", "COMPLY")


def test_roles_are_named_and_what_cannot_be_asked_is_left_out(mixed: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    task = f"dia/dia_bench -T bundle={mixed.bundle}"
    asked, told = mixed.theirs(task, "", 1)
    assert not asked and "Traceback" not in told
    assert "no model for the role `judge`" in told and "--model-role judge=none" in told
    asked, _ = mixed.theirs(task, "--model-role judge=none")
    assert not any("DECLINE" in json.dumps(body) or "Count from" in json.dumps(body) for body in asked)
    left = {sample["metadata"]["template"] for sample in mixed.samples() if "dia_left_out" in sample["metadata"]}
    assert left == {"begun"}
    assert means(mixed.log())["share"] == pytest.approx((0 + 0 + 1 / 3 + 0) / 4)
    mixed.imported(code=2)
    assert "was left out: the prompt contains the beginning of the reply" in capsys.readouterr().err
    assert scored(mixed.imported("--keep"))["counts"]["wrong"] == 9


def test_an_error_within_a_session_is_the_sample_s(mixed: Stage) -> None:
    mixed.model = broken
    task, judge = f"dia/dia_bench -T bundle={mixed.bundle}", "--model-role judge=openai-api/loop/mirror"
    mixed.theirs(task, f"{judge} -T prefill=true --no-fail-on-error")
    failed = {sample["metadata"]["template"] for sample in mixed.samples() if sample.get("error")}
    assert failed == {"judged"}
    assert scored(mixed.imported())["counts"] == {"correct": 6, "skipped": 0, "wrong": 6, "unparsed": 0, "error": 3}


async def broken(asked: loop.Asked, http: web.Request) -> web.StreamResponse:
    """What the model says, but for an endpoint that cannot do with one of the requests."""
    if "DECLINE" in asked.text:
        return web.json_response({"error": {"message": "no such thing"}}, status=400)
    return await answer(asked, http)
