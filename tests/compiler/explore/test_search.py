"""`dia explore` from a spec to a bundle and a bank, with programs and baselines that are asked."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from dia_compiler.commands.cli import run
from dia_compiler.explore.search import SearchOptions, explore
from dia_runtime.commands import progress_lines
from dia_runtime.psychometrics.boundary.search import Plan
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel, read_bank, write_bank
from dia_runtime.running.run import RunOptions
from helpers import loopback as loop
from helpers.schemas import require_valid

BENCHMARK = "language: 1\nbenchmark: sums\nversion: 1.0.0\n"
TEMPLATE = """template: sum
title: A sum
params:
  numbers: {type: list, length: {min: 2, max: 30}, of: {type: integer, min: 100, max: 999}}
answer: {value: sum(numbers), type: integer}
prompt: What is {{ numbers | join(" + ") }}?
"""
# Adds up to LIMIT numbers, and of more as well the fewer the better, but not always the same ones.
PROGRAM = """
import hashlib, json, math, re, sys
from pathlib import Path
for line in sys.stdin:
    text = json.loads(line)["messages"][-1]["content"]
    numbers = [int(n) for n in re.findall("[0-9]+", text.split("?")[0])]
    share = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32
    with Path("asked.txt").open("a") as file:
        file.write(hashlib.sha256(text.encode()).hexdigest() + "\\n")
    if MOST and sum(1 for _ in Path("asked.txt").open()) > MOST:
        sys.exit("that is enough")
    is_right = share < 1 / (1 + math.exp(min(50, (len(numbers) - 12) / 2)))
    print(json.dumps({"text": f"<xml>{sum(numbers) + (not is_right)}</xml>"}), flush=True)
"""
Explore = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explore:
    """Runs the command in a folder with a spec, a bank and a program; gives exit code, JSON and messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "sums" / "sum.yaml").write_text(TEMPLATE, encoding="utf-8")
    items = (BankItem("a", 0.0, 0.2), BankItem("b", 1.0, 0.2))
    write_bank(
        Bank(items, (BankModel("known", 0.5, 0.2),), "mml-items", "mean_difficulty", unit="templates"), "bank.json"
    )

    def call(model: str, *arguments: str, most: int = 0) -> tuple[int, Any, str]:
        Path("weak.py").write_text(PROGRAM.replace("MOST", str(most)), encoding="utf-8")
        capsys.readouterr()
        name = f"command:{shlex.quote(sys.executable)} weak.py" if model == "weak" else model
        given = ["explore", "sums/sum.yaml", "--bank", "bank.json", "--model", name, "--ability", "0.5", "--json"]
        code = run([*given, "-o", "out", *arguments])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else None, printed.err

    return call


@pytest.mark.long
def test_a_search_ends_with_a_bundle_and_a_bank_and_goes_on_where_it_stopped(folder: Explore) -> None:
    code, found, _ = folder("weak", "--items", "4", "--budget", "300", most=60)
    assert code in (1, 4) and (found["ending"], found["bundle"]) == ("questions without a reply", None)
    first = Path("asked.txt").read_text().split()
    code, found, said = folder("weak", "--items", "4", "--budget", "300")
    assert (code, found["ending"]) == (0, "items"), said
    require_valid("explore", found)
    every = Path("asked.txt").read_text().split()
    replied = [text for text in every if text not in first[60:]]
    assert len(set(replied)) == len(replied) and len(set(every)) == found["queries"]  # nothing is asked twice
    _holds(found)
    again = folder("weak", "--items", "4", "--budget", "300")[1]
    assert again["requests"] == 0 and {**again, "requests": 0} == {**found, "requests": 0}
    code, _, messages = folder("weak", "--items", "4", "--seed", "5")
    assert (code, "started with different options: seed" in messages) == (2, True)


def _holds(found: Any) -> None:
    """The accepted items are at the boundary, in a bundle that recompiles to the same bytes, and in the bank."""
    lengths = [int(entry["levels"]["numbers.length"]) for entry in found["accepted"]]
    assert len(lengths) >= 4 and all(10 <= length <= 14 for length in lengths)
    assert run(["verify", found["bundle"]["path"], "--recompile", "-q"]) == 0
    specs = {
        path.stem: yaml.safe_load(path.read_bytes()) for path in Path(found["bundle"]["path"], "specs").glob("sum_x*")
    }
    assert sorted(specs) == sorted(entry["item"] for entry in found["accepted"])
    bank = {entry.item: entry for entry in read_bank(found["new_bank"]).items}
    assert set(bank) == {"a", "b", *specs} and (bank["a"].difficulty, bank["b"].difficulty) == (0.0, 1.0)
    for entry in found["accepted"]:
        share = entry["successes"] / entry["trials"]
        assert (bank[entry["item"]].difficulty - 0.5) * (share - 0.5) <= 0  # easier than the model is able, or harder
        assert 0 < (bank[entry["item"]].se or 0) < 1


@pytest.mark.parametrize(("model", "ending"), [("oracle", "too easy"), ("wrong", "too hard")])
def test_the_end_of_what_the_types_allow_is_told(folder: Explore, model: str, ending: str) -> None:
    code, found, _ = folder(model, "--items", "3", "--budget", "200", "--move", "numbers.of")
    assert (code, found["ending"], found["accepted"], found["bundle"]) == (0, ending, [], None)
    assert found["queries"] < 100 and not Path("out/found").exists()


def test_items_that_cannot_be_generated_are_reported_with_the_reason(
    folder: Explore, capsys: pytest.CaptureFixture[str]
) -> None:
    few = "params:\n  a: {type: integer, min: 2, max: 5}\n  b: {type: integer, min: 2, max: 9}\n"
    text = re.sub(r"params:\n.*\n", few, TEMPLATE).replace("sum(numbers)", "a + b")
    Path("sums/sum.yaml").write_text(text.replace('{{ numbers | join(" + ") }}', "{{ a }} + {{ b }}"), encoding="utf-8")
    code, found, said = folder("oracle", "--move", "a")
    require_valid("explore", found)
    why = "only 8 distinct instances can be made, but k is 10; widen a parameter"  # the values of b
    assert (code, found["ending"], found["tried"], found["impossible"]) == (2, "nothing left", 0, len(found["items"]))
    assert {entry["why"] for entry in found["items"]} == {why}
    assert "(0 tried in 0 rounds)" in said
    assert run(["explore", "sums/sum.yaml", "--bank", "bank.json", "--model", "oracle", "--ability", "0.5",
                "--move", "a", "-o", "out", "-q"]) == 2  # fmt: skip
    out = capsys.readouterr().out
    assert out.count(why) == 1 and "could not be generated; an item needs 10 instances" in out


def test_an_interrupt_leaves_what_the_same_call_takes_up(folder: Explore) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    plan = Plan(2, 100)
    with pytest.raises(KeyboardInterrupt):
        explore(
            Path("sums/sum.yaml"),
            Path("bank.json"),
            "wrong",
            Path("out"),
            SearchOptions(plan, ability=0.5),
            RunOptions(),
            interrupt,
        )
    assert not Path("out/found").exists() and not Path("out/bank.json").exists()
    code, found, _ = folder("wrong", "--items", "2", "--budget", "100")
    assert (code, found["ending"]) == (0, "too hard")


# Progress and what is no full answer


@pytest.fixture
def server_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


@pytest.mark.usefixtures("server_key")
def test_progress_and_replies_that_are_no_answers_are_shown(folder: Explore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_lines, "LINE_SECONDS", 0.05)
    with loop.serve(loop.says("Let me", delay=0.1, ending="length")) as server:
        search = ("--budget", "6", "--at-once", "2", "--base-url", server.url, "--concurrency", "1")
        code, report, messages = folder("openai/m", *search)
    assert (code, report["queries"]) == (1, 6)
    lines = re.findall(r"openai/m: ([0-9]) of ([0-9]) replies of this round\n", messages)
    assert lines and all(int(replied) < int(wanted) <= 6 for replied, wanted in lines)
    assert (
        "openai/m: replies cut off at the token limit: 6 of 6. `dia show RUN` names one, and `dia show RUN QUESTION` prints it."
        in messages
    )


@pytest.mark.usefixtures("server_key")
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_search_says_why_questions_have_no_reply(folder: Explore, quiet: tuple[str, ...]) -> None:
    with loop.serve(loop.first(1, loop.says("<xml>5</xml>"), loop.fails(400, "this prompt offends me"))) as server:
        search = ("--budget", "6", "--at-once", "1", "--base-url", server.url, "--concurrency", "1")
        code, report, messages = folder("openai/m", *search, *quiet)
    assert code == 1 and report["ending"] == "questions without a reply"
    assert "openai/m: 2 errors: request: 400 this prompt offends me" in messages
