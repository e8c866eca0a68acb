"""The templates of self-execution, put to a scripted model by the commands: figures that are known in advance."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.integrations.self_execution.published_truths import TRUTHS
from helpers import loopback as loop
from helpers.self_execution import (
    GROUPS,
    QUESTIONS,
    SPECS,
    WORDS,
    answer,
    association,
    cross_prediction,
    difficulty,
    restriction,
    self_made,
    self_simulation,
    token_injection,
)

THROUGH = [
    "auto",
    pytest.param(
        "litellm",
        marks=[pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")],
    ),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    shutil.copytree(SPECS, "specs")


@pytest.fixture
def bundle() -> Path:
    assert run(["compile", "specs", "--k", "8", "-o", "out", "-q"]) == 0
    (found,) = Path("out").glob("self_execution*")
    return found


@pytest.mark.parametrize("through", THROUGH)
@pytest.mark.long
def test_the_known_figures_come_out(through: str, bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with loop.serve(answer) as server:
        command = ["run", str(bundle), "--model", "openai/mirror", "--base-url", server.url, "-o", "a.run", "-q"]
        command += ["--prefill", "--through", through]
        command += ["--role", "judge=openai/mirror", "--role-base-url", f"judge={server.url}"]
        command += ["--role", "predictor=openai/mirror", "--role-base-url", f"predictor={server.url}"]
        assert run(command) == 0, capsys.readouterr().err
        asked = len(server.asked)
        assert run(command) == 0 and len(server.asked) == asked, "nothing is asked twice"
    singles = [body for body in (held.body for held in server.asked) if body.get("temperature") == 1]
    assert len(singles) == len(QUESTIONS) + len(GROUPS), "a question alone is asked once, whichever groups hold it"
    capsys.readouterr()
    assert run(["score", "a.run", "--interval", "none", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    for check in (association, restriction, difficulty, self_made, self_simulation, token_injection, cross_prediction):
        check(model["sessions"][check.__name__])
    assert run(["score", "a.run", "--preset", "paper", "--interval", "none", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["published"]["self-execution-2"]["accuracy_all_450"] == 0.5


def test_recordings_are_judged_by_what_the_templates_store(bundle: Path) -> None:
    """The truths that an import writes are those of the compiled templates, but for what recordings alone have."""
    lines = (bundle / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    compiled: dict[str, Any] = {}
    for line in lines:
        record = json.loads(line)
        compiled.setdefault(record["template"], {name: record[name] for name in PARTS if record.get(name)})
    for name, names in NAMES.items():
        ours = TRUTHS[name](names)
        for part, only in ONLY_COMPILED.get(name, {}).items():
            for key in only:
                del compiled[name][part][key]
        for reply in compiled[name]["replies"].values():
            assert reply["format"].pop("rules") == 2, "recordings are read by the first rules, as published"
        if name == "self_made":  # a raw key is what recordings alone have
            del ours["presets"]["paper"]["figures"]["key_raw"]
        assert compiled[name]["presets"]["paper"].pop("chain") == "strict", (
            "recordings are read by compat, as published"
        )
        assert {part: held for part, held in compiled[name].items() if held} == ours


PARTS = ("truth", "figures", "replies", "presets")
NAMES: dict[str, dict[str, Any]] = {
    "association": {"row": WORDS[0]},
    "restriction": {},
    "difficulty": {"group": GROUPS[0]["questions"]},
    "self_made": {},
}
KINDS = ("fact", "moment", "self", "order", "hard", "denial")
ONLY_COMPILED = {  # the judge of which recordings know nothing
    "self_made": {"replies": ("judged", "sort"), "figures": (*KINDS, "failed_as_predicted", "judge_agrees_with_key")}
}
