"""`dia score --compare tools`: the paired effect of tools, over all items and by category."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run as dia
from dia_language.confinement.sandboxes import confinement
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RunOptions, run
from dia_runtime.scoring.score import score
from dia_runtime.scoring.tool_effects import tool_pairs
from helpers import loopback as loop
from helpers import schemas as published
from helpers.failures import refusal

Make = Callable[..., Path]
pytestmark = pytest.mark.skipif(confinement() is None, reason="no sandbox works on this machine")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


async def adder(asked: loop.Asked, raw: Any) -> Any:
    """A model that is bad at sums over ten, but computes them in Python if it can."""
    messages, tools = asked.body["messages"], asked.body.get("tools")
    left, right = map(int, re.findall(r"(\d+) \+ (\d+)", messages[0]["content"])[0])
    if tools and messages[-1]["role"] == "user" and left >= 10:
        code = json.dumps({"code": f"print({left} + {right})"})
        call = {"id": "1", "type": "function", "function": {"name": tools[0]["function"]["name"], "arguments": code}}
        return loop.web.json_response(
            {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
        )
    output = (
        messages[-1]["content"].strip() if messages[-1]["role"] == "tool" else str(left + right if left < 10 else 0)
    )
    return await loop.says(f"<xml>{output}</xml>")(asked, raw)


def ask(bundle: Path, port: int = 0) -> int:
    """Ask the adder without tools and with them; the port on which it listened."""
    with loop.serve(adder, port) as server:
        options = ModelOptions(base_url=server.url)
        run(bundle, "openai/m", "plain.run", terms=RunOptions(options))
        with_tools = replace(options, toolbox=toolbox_of(ToolArguments(("python",))))
        run(bundle, "openai/m", "tools.run", terms=RunOptions(with_tools))
        return server.port


def test_tools_turn_wrong_answers_into_right_ones(tiny: Make) -> None:
    ask(tiny(templates=2, k=4))
    effects = score(["plain.run", "tools.run"], compare=["tools"])["tool_effects"]
    assert [(entry["category"], entry["figure"]) for entry in effects] == [
        (category, figure) for category in (None, "arithmetic", "words") for figure in ("rs", "conf", "idk_freq")
    ]
    everything = {entry["figure"]: entry for entry in effects if entry["category"] is None}
    assert everything["rs"]["models"] == ["openai/m+tools=python", "openai/m"]
    assert (everything["rs"]["items"], everything["rs"]["questions"], everything["rs"]["errors"]) == (2, 8, [0, 0])
    assert everything["conf"]["values"] == [1.0, 0.5] and everything["idk_freq"]["values"] == [0.0, 0.0]
    assert everything["conf"]["difference"]["value"] == 0.5
    by_category = {entry["category"]: entry["values"] for entry in effects if entry["figure"] == "conf"}
    assert sorted(map(tuple, (values for category, values in by_category.items() if category))) == [(1, 0), (1, 1)]


def test_every_form_shows_the_table(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    ask(tiny(templates=2, k=2))
    for form in ("text", "csv", "markdown"):
        assert dia(["score", "plain.run", "tools.run", "--compare", "tools", "--format", form]) == 0
        shown = capsys.readouterr().out
        assert "openai/m+tools=python" in shown and "with tools" in shown, form
    assert dia(["score", "plain.run", "tools.run", "--compare", "tools", "--json"]) == 0
    assert not published.faults("score", json.loads(capsys.readouterr().out))


def test_without_a_pair_there_is_an_error(tiny: Make) -> None:
    run(tiny(), "oracle", "a.run")
    error = "no model is in these runs both with tools and without\n  help: name two runs of one model"
    refusal("E811", error, lambda: score("a.run", compare=["tools"]))


def test_respondents_are_paired_by_their_name_without_tools() -> None:
    names = ["m@0+tools=python+judge=j", "m@0+judge=j", "m@1+judge=j", "n+tools=bash", "m@0+tools=bash+judge=j"]
    assert tool_pairs(names) == [(0, 1), (4, 1)]


def test_the_interval_is_that_of_paired_items(tiny: Make) -> None:
    """The same as that of the comparison of two models, which resamples whole items."""
    ask(tiny(templates=6, k=3))
    result = score(["plain.run", "tools.run"], compare=["tools", "conf"])
    (plain,) = result["comparisons"]
    (tools,) = [entry for entry in result["tool_effects"] if entry["category"] is None and entry["figure"] == "conf"]
    assert tools["difference"]["value"] == -plain["difference"]["value"]
    assert tools["difference"]["se"] == pytest.approx(plain["difference"]["se"])
