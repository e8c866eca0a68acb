"""`dia run --dry-run`: what is left to ask and what it would cost, without a request, a key or a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run as dia
from dia_runtime.respondents import prices
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RunOptions, run
from helpers import loopback as loop
from helpers import session_records
from helpers.schemas import faults

Make = Callable[..., Path]
PRICES = {
    "gpt-x": {"litellm_provider": "openai", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
    "claude-x": {"litellm_provider": "anthropic", "input_cost_per_token": 0, "output_cost_per_token": 1e-05},
}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    table = json.loads(json.dumps(PRICES), parse_float=prices.Decimal)
    monkeypatch.setattr(prices, "price_table", lambda: table)


def dry(bundle: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert dia(["run", str(bundle), "--dry-run", "--json", *options]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    record = json.loads(printed.out)
    assert faults("dry-run", record) == []
    found: list[dict[str, object]] = record["dry_run"]
    return found


def characters(bundle: Path) -> int:
    lines = (bundle / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(len(message["content"]) for line in lines for message in json.loads(line)["messages"])


def test_requests_tokens_and_cost_are_estimated_before_anything_is_sent(
    tiny: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tiny(k=10)
    (entry,) = dry(bundle, capsys, "--model", "openai/gpt-x", "--attempts", "2")
    prompt = -(-2 * characters(bundle) // 4)
    assert entry == {
        "model": "openai/gpt-x",
        "requests": 40,
        "kept": 0,
        "is_minimum": False,
        "prompt_tokens": prompt,
        "completion_tokens": 20_000,
        "per_reply": 500,
        "basis": "assumed",
        "cost": entry["cost"],
    }
    assert prices.Decimal(str(entry["cost"])) == prompt * prices.Decimal("1e-6") + 20_000 * prices.Decimal("2e-6")
    assert not list(Path().glob("**/*.run"))


def test_the_screen_says_what_is_assumed(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tiny(k=10)
    options = ["--model", "anthropic/claude-x", "--model", "other/m", "--max-tokens", "1000", "--limit", "5"]
    assert dia(["run", str(bundle), "--dry-run", *options]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "5 requests" in first and "(1,000 per reply, as many as --max-tokens allows), about 0.05 US dollars" in first
    assert second.endswith("unknown cost")


def test_what_is_there_is_not_asked_again_and_tells_the_length_of_replies(
    tiny: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")
    bundle = tiny(k=10)
    with loop.serve(loop.says(usage={"prompt_tokens": 9, "completion_tokens": 30})) as server:
        run(bundle, "openai/gpt-x", "a.run", limit=8, terms=RunOptions(ModelOptions(base_url=server.url)))
    (entry,) = dry(bundle, capsys, "--model", "openai/gpt-x", "-o", "a.run")
    assert (entry["requests"], entry["kept"], entry["per_reply"]) == (12, 8, 30)
    assert entry["basis"] == "as in the replies so far"
    (part,) = dry(bundle, capsys, "--model", "openai/gpt-x", "-o", "a.run", "--part", "2/4")
    assert (part["requests"], part["kept"]) == (3, 2)


def test_conversations_and_tools_need_at_least_so_many(
    bundle_writer: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = session_records.bundle(bundle_writer, tmp_path / "talks", [session_records.pressure(depth=2)])
    (entry,) = dry(bundle, capsys, "--model", "openai/gpt-x")
    assert entry["is_minimum"] is True and entry["requests"] == 2


def test_each_temperature_is_a_respondent_of_its_own(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    entries = dry(tiny(k=2), capsys, "--model", "openai/gpt-x", "--temperature", "0,1")
    assert [entry["model"] for entry in entries] == ["openai/gpt-x@0", "openai/gpt-x@1"]


def test_a_price_of_the_user_holds_at_an_own_endpoint(tiny: Make, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--price", "m=0,2")
    (entry,) = dry(tiny(templates=1, k=10), capsys, *options)
    assert entry["completion_tokens"] == 5000 and entry["cost"] is not None and float(str(entry["cost"])) == 0.01


def test_a_run_records_the_cost_by_a_price_of_the_user(tiny: Make) -> None:
    bundle = tiny(templates=1, k=1)
    with loop.serve(loop.says(usage={"prompt_tokens": 1000, "completion_tokens": 10})) as server:
        options = ModelOptions(base_url=server.url, prices=prices.OwnPrices(["2,8"]))
        (entry,) = run(bundle, "m", "a.run", terms=RunOptions(options)).respondents
    assert entry.cost == "0.00208"
