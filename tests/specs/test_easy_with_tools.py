"""Twenty easy families, asked of a scripted model without tools and with them: calls turn wrong answers into right ones.

The model guesses where it has to compute, and computes in Python where it may. It stands for one that uses tools well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_language.confinement.sandboxes import confinement
from dia_runtime.commands.tool_options import ToolArguments, toolbox_of
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RunOptions, run
from dia_runtime.scoring.score import score
from dia_runtime.store.store import read_store
from dia_runtime.store.tool_transcripts import read_tool_transcript
from helpers import loopback as loop
from helpers.places import ROOT

pytestmark = pytest.mark.skipif(confinement() is None, reason="no sandbox works on this machine")

OPERATORS = {"+": "+", "-": "-", "times": "*", "divided by": "//"}
Program = Callable[[re.Match[str]], str]
# What the model computes, by what the question says
PROGRAMS: dict[str, Program] = {
    r"What is (\d+) (\+|-|times|divided by) (\d+)\?": lambda m: f"print({m[1]} {OPERATORS[m[2]]} {m[3]})",
    r"What is the double of (\d+)\?": lambda m: f"print(2 * {m[1]})",
    r"Which whole number comes after (\d+)\?": lambda m: f"print({m[1]} + 1)",
    r"Which number is larger: (\d+) or (\d+)\?": lambda m: f"print(max({m[1]}, {m[2]}))",
    r"What is the largest of these numbers: ([\d, ]+)\?": lambda m: f"print(max({m[1]}))",
    r"How many times does the letter (\w) occur in the word (\w+)\?": lambda m: f"print({m[2]!r}.count({m[1]!r}))",
    r"How many words are in this list: ([\w, ]+)\?": lambda m: f"print(len({m[1]!r}.split(', ')))",
    r"Spell the word (\w+) backwards\.": lambda m: f"print({m[1]!r}[::-1])",
    r"Write the word (\w+) in uppercase letters\.": lambda m: f"print({m[1]!r}.upper())",
    r"has (\d+) apples and eats (\d+) of them": lambda m: f"print({m[1]} - {m[2]})",
}


def written(prompt: str, answer: str) -> str:
    """The answer in the form that the prompt asks for."""
    if "<xml>" in prompt:
        return f"<xml>{answer}</xml>"
    if "\\boxed" in prompt:
        return f"\\boxed{{{answer}}}"
    return json.dumps({"answer": answer}) if "JSON object" in prompt else answer


async def model(asked: loop.Asked, raw: Any) -> Any:
    messages, tools = asked.body["messages"], asked.body.get("tools")
    matches = ((re.search(pattern, messages[0]["content"]), program) for pattern, program in PROGRAMS.items())
    code = next((program(match) for match, program in matches if match), None)
    if messages[-1]["role"] == "tool":
        return await loop.says(written(messages[0]["content"], messages[-1]["content"].strip()))(asked, raw)
    if tools and code is not None:
        call = {"id": "1", "type": "function", "function": {"name": "python", "arguments": json.dumps({"code": code})}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return loop.web.json_response({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    return await loop.says(written(messages[0]["content"], "0"))(asked, raw)


@pytest.mark.long
def test_calls_turn_wrong_answers_of_more_than_eight_families_into_right_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    bundle = compile([ROOT / "docs" / "examples" / "easy"], k=2, out=tmp_path / "out", jobs=1).bundles[0].path
    with loop.serve(model) as server:
        options = ModelOptions(base_url=server.url)
        run(bundle, "openai/m", "plain.run", terms=RunOptions(options))
        with_tools = replace(options, toolbox=toolbox_of(ToolArguments(("python",))))
        run(bundle, "openai/m", "tools.run", terms=RunOptions(with_tools))
    without, given = score(["plain.run", "tools.run"], by=["template"])["models"]
    changed = [
        name
        for name, block in given["by_template"].items()
        if block["counts"].get(Verdict.CORRECT) == 2
        and without["by_template"][name]["counts"].get(Verdict.CORRECT, 0) == 0
    ]
    assert len(given["by_template"]) == 20 and len(changed) >= 12, changed
    with read_store("tools.run") as store:
        (respondent,) = store.respondents()
        for (question,) in store.rows("SELECT id FROM question"):
            transcript = (store.reply(respondent.id, question, 1) or {})["tool_transcript"]
            steps = read_tool_transcript(transcript).steps
            assert len(steps) == 1 or question.split("/")[1] not in changed
            assert all(call.status == "ok" for step in steps for call in step.calls)
    (effect,) = [
        entry
        for entry in score(["plain.run", "tools.run"], compare=["tools"])["tool_effects"]
        if entry["category"] is None and entry["figure"] == "conf"
    ]
    assert effect["items"] == 20 and effect["difference"]["value"] == pytest.approx(len(changed) / 20)
    assert effect["difference"]["ci"] is not None and effect["difference"]["ci"][0] > 0.3
