"""The sample of the abstention benchmark, put to a loopback model by the commands, from the specs to the figures."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from dia_compiler.commands.cli import run
from helpers import loopback as loop
from helpers.places import ROOT

SPECS = ROOT / "specs" / "idk"
ROWS = [json.loads(line) for line in (SPECS / "sample" / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def said(prompt: str) -> str:
    """A model's reply: it knows the first ten questions, abstains from six, errs in three, and mumbles once."""
    (at,) = [number for number, row in enumerate(ROWS) if row["question"] in prompt]
    letters = {
        text: letter for letter, text in (line.split(". ", 1) for line in prompt.splitlines() if line[1:3] == ". ")
    }
    right, wrong = letters[ROWS[at]["correct"]], letters[ROWS[at]["incorrect"][0]]
    if at == 19:
        return "There is much to be said for each of them."
    letter = right if at < 10 else "E" if at < 16 else wrong
    return f"Step by step: this is clear.\n\nAnswer: {letter}"


async def answer(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
    return web.json_response(loop.completion(said(asked.text)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    shutil.copytree(SPECS, "idk", ignore=shutil.ignore_patterns("data"))


def test_from_specs_to_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "idk", "--k", "2", "-o", "out", "-q"]) == 0
    bundle = Path("out") / "idk-1.1.0-k2"
    with loop.serve(answer) as server:
        command = ["run", str(bundle), "--model", "openai/loop", "--base-url", server.url, "-o", "a.run", "-q"]
        assert run(command) == 0 and len(server.asked) == 40
        assert run(command) == 0 and len(server.asked) == 40, "nothing is asked twice"
    capsys.readouterr()
    for chain in ("strict", "compat"):
        assert run(["score", "a.run", "--chain", chain, "--json"]) == 0
        (model,) = json.loads(capsys.readouterr().out)["models"]
        require(model)
    assert run(["audit", "a.run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differing"] == 0


def require(model: dict[str, Any]) -> None:
    """The four figures with their errors: 10 right, 6 abstained, 3 wrong, 1 unread, each of two instances alike."""
    shares = {"trad_score": 10 / 20, "idk_score": (10 - 4) / 20, "idk_freq": 6 / 20, "extract_fail": 1 / 20}
    squares = {"trad_score": 10, "idk_score": 14, "idk_freq": 6, "extract_fail": 1}  # sums of squared values
    for name, share in shares.items():
        variance = (squares[name] - 20 * share**2) / 19
        assert model[name]["value"] == pytest.approx(share, abs=1e-12)
        assert model[name]["se"] == pytest.approx(math.sqrt(variance / 20), abs=1e-12)
    assert model["completely_skipped"] == 6 and model["partly_skipped"] == 0
    assert model["conf"]["value"] == model["pass_hat_j"]["2"]["value"] == 0.5
    assert model["rs"]["value"] == pytest.approx(10 - 4)
