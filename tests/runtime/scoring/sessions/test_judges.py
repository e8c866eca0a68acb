"""Replies that another model judges: what is the judge's fault is not said of the model, and the chain is the default."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from dia_compiler import compile
from dia_compiler.commands.cli import run as dia
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.seal import seal
from dia_runtime.running import scheduler
from dia_runtime.running.run import Progress, RunOptions, run
from dia_runtime.store.store import read_store
from helpers import loopback as loop

BENCHMARK = "language: 2\nbenchmark: talks\nversion: 1.0.0\nskip: I-DO-NOT-KNOW\n"
SPEC = """template: why
title: Reasons
params: {n: {type: integer, min: 2, max: 99}}
prompt: Why is {{ n }} a number?
grade:
  judge:
    prompt: |
      The answer: {{ quoted(response) }}
      Is it true (GOOD) or not (BAD)? {{ format_instruction }}
    labels: {correct: [GOOD], wrong: [BAD]}
"""
Judged = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, of which each test takes a copy."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "spec").mkdir()
    (folder / "spec" / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (folder / "spec" / "why.yaml").write_text(SPEC, encoding="utf-8")
    (bundle,) = compile([folder / "spec"], k=3, out=folder / "out").bundles
    return bundle.path


@pytest.fixture
def bundle(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return Path(shutil.copytree(compiled, Path("out") / compiled.name))


@pytest.fixture
def scored(bundle: Path, capsys: pytest.CaptureFixture[str]) -> Judged:
    """Runs a model and a judge; returns the model's figures, with the chain and the edition of the rules."""

    def call(judge: str, *more: str, model: str = "says:because", chain: str = "standard") -> dict[str, Any]:
        assert dia(["run", str(bundle), "--model", model, "--role", f"judge={judge}", "-o", "a.run", "-q", *more]) == 0
        capsys.readouterr()
        assert dia(["score", "a.run", "--chain", chain, "--interval", "none", "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        return {**result["models"][0], "chain": result["chain"], "rules": result["rules"]}

    return call


def finding(capsys: pytest.CaptureFixture[str]) -> str:
    """What stands out in the score, in one line."""
    assert dia(["score", "a.run", "--interval", "none"]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_replies_in_sessions_are_read_by_the_rules_of_their_formats(
    scored: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    model = scored("says:**Good.**")
    assert (model["counts"]["correct"], model["chain"], model["rules"]) == (3, "standard", 2)
    assert "older rules" not in finding(capsys)
    assert scored("says:**Good.**", chain="strict")["counts"]["unparsed"] == 3


def test_a_run_of_a_sealed_bundle_takes_the_rules_from_the_answers(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(bundle, "correct horse battery", Path("sealed"), is_weak=True)
    assert dia(["run", "sealed", "--model", "says:because", "--role", "judge=says:**Good**", "-o", "s.run", "-q"]) == 0
    capsys.readouterr()
    assert dia(["score", "s.run", "--bundle", str(bundle), "--interval", "none", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["rules"], result["chain"], result["models"][0]["counts"]["correct"]) == (2, "standard", 3)

    class OldBundle:
        """A bundle from before the second edition of the rules."""

        def answers(self) -> Iterator[dict[str, Any]]:
            yield {"replies": {"response": {"format": {"kind": "text"}, "session": "ask", "turn": 0}}}

    with read_store("s.run") as store:
        assert store.rules(cast(Bundle, OldBundle())) == 1


def test_an_unreadable_judge_is_told_from_an_unreadable_model(
    scored: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    model = scored("says:Perhaps")
    assert (model["counts"]["unparsed"], model["flags"]["no_judgement"]) == (3, 3)
    text = finding(capsys)
    assert "because the reply of another role, such as a judge, is missing or unreadable: says:because" in text
    assert "could not be parsed" not in text


@pytest.mark.parametrize(("ending", "content"), [("length", "Let me"), ("content_filter", None)])
def test_what_happens_to_the_judge_is_no_flag_of_the_model(scored: Judged, ending: str, content: str | None) -> None:
    with loop.serve(loop.says(content, ending=ending)) as server:
        model = scored("openai/m", "--role-base-url", f"judge={server.url}")
    assert (model["counts"]["unparsed"], model["flags"]["no_judgement"]) == (3, 3)
    assert not any(model["flags"][name] for name in ("truncated", "refused"))


def test_the_flags_of_the_model_itself_are_counted_by_run_show_and_score(
    bundle: Path, scored: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    with loop.serve(loop.says("because", ending="length")) as server:
        model = scored("says:GOOD", "--base-url", server.url, model="openai/m")
        assert (model["counts"]["correct"], model["flags"]["truncated"], model["flags"]["no_judgement"]) == (3, 3, 0)
        arguments = ["run", str(bundle), "--model", "openai/m", "--base-url", server.url, "--role", "judge=says:GOOD"]
        assert dia([*arguments, "-o", "b.run"]) == 0
    assert "replies cut off at the token limit: 3 of 3" in capsys.readouterr().err
    assert dia(["show", "b.run"]) == 0
    assert "3 replies, 3 truncated" in capsys.readouterr().out


def test_a_refused_question_is_wrong_without_a_judge(scored: Judged) -> None:
    with loop.serve(loop.says(None, ending="content_filter")) as server:
        model = scored("says:GOOD", "--base-url", server.url, model="openai/m")
    assert (model["counts"]["wrong"], model["flags"]["refused"], model["flags"]["no_judgement"]) == (3, 3, 0)


@pytest.mark.parametrize("status", [400, 401])
def test_an_error_of_the_judge_names_the_judge(bundle: Path, capsys: pytest.CaptureFixture[str], status: int) -> None:
    with loop.serve(loop.fails(status, "no luck")) as server:
        judge = ["--role", "judge=openai/m", "--role-base-url", f"judge={server.url}"]
        assert dia(["run", str(bundle), "--model", "says:because", *judge, "-o", "a.run"]) in (1, 4)
    assert f"judge openai/m: {status} no luck" in capsys.readouterr().err


def test_the_rate_limit_of_a_judge_is_shown(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "PROGRESS_SECONDS", 0.02)
    steps: list[Progress] = []
    with loop.serve(loop.first(1, loop.fails(429, headers={"Retry-After": "0.4"}), loop.says("GOOD"))) as server:
        terms = RunOptions(roles={"judge": "openai/m"}, role_urls={"judge": server.url})
        run(bundle, "says:because", "a.run", on_progress=steps.append, terms=terms)
    assert any(step.pause > 0.1 for step in steps)
    assert steps[-1].done == 3
