"""Tokens, time and money in scores: sums, what is unknown, and where they are shown."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.respondents.chat import reply_from_completion
from dia_runtime.respondents.litellm_client import IMPORT_ENVIRONMENT, _completion_record
from dia_runtime.respondents.respondent import Reply
from dia_runtime.scoring.usage import money_text
from hypothesis import given
from hypothesis import strategies as st

Make = Callable[..., Path]
RIGHT, WRONG = "right", "<xml>-5</xml>"


class Player:
    """Gives its replies in turn; the text `right` stands for the correct answer."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.name = self.model = "player"
        self.settings: Mapping[str, Any] = {}
        self.replies: Iterator[Reply] = iter(replies)

    def reply(self, question: Mapping[str, Any]) -> Reply:
        reply = next(self.replies)
        answer = 10 * int(question["template"][4:]) + 7 + question["instance"] + 1
        facts = {name: getattr(reply, name) for name in Reply.__dataclass_fields__}
        return Reply(**{**facts, "text": f"<xml>{answer}</xml>" if reply.text == RIGHT else reply.text})


@pytest.fixture
def played(tiny: Make, tmp_path: Path) -> Callable[[Sequence[Reply]], Path]:
    def play(replies: Sequence[Reply]) -> Path:
        path = tmp_path / "played.run"
        dia_runtime.run(tiny("played", 1, len(replies)), [Player(replies)], path)
        return path

    return play


def paid(text: str, **facts: Any) -> Reply:
    whole = {"prompt_tokens": 100, "completion_tokens": 20, "reasoning_tokens": 5, "seconds": "1.5", "cost": "0.001"}
    return Reply(text, **{**whole, **facts})


def usage(path: Path) -> dict[str, Any]:
    (model,) = dia_runtime.score(path, interval="none")["models"]
    return dict(model["usage"])


def test_sums_over_replies(played: Callable[..., Path]) -> None:
    assert usage(played([paid(RIGHT), paid(RIGHT), paid(WRONG)])) == {
        "replies": 3,
        "correct": 2,
        "prompt_tokens": {"total": 300, "unknown": 0},
        "completion_tokens": {"total": 60, "unknown": 0},
        "reasoning_tokens": {"total": 15, "unknown": 0},
        "seconds": {"total": 4.5, "unknown": 0},
        "cost": {"total": "0.003", "unknown": 0},
        "cost_per_correct": "0.0015",
    }


def test_what_is_unknown_is_counted_and_not_taken_as_0(played: Callable[..., Path]) -> None:
    of = usage(played([paid(RIGHT), paid(RIGHT, prompt_tokens=None, cost=None), Reply(None, error="timeout")]))
    assert of["replies"] == 2
    assert of["prompt_tokens"] == {"total": 100, "unknown": 1}
    assert of["completion_tokens"] == {"total": 40, "unknown": 0}
    assert of["cost"] == {"total": "0.001", "unknown": 1}
    assert of["cost_per_correct"] is None


def test_a_model_without_correct_answers_has_no_cost_per_correct_answer(played: Callable[..., Path]) -> None:
    assert usage(played([paid(WRONG)]))["cost_per_correct"] is None


def test_what_an_error_is_known_to_have_cost_counts(played: Callable[..., Path]) -> None:
    of = usage(played([paid(RIGHT), Reply(None, error="stopped", cost="0.5")]))
    assert of["cost"] == {"total": "0.501", "unknown": 0}


@pytest.mark.parametrize("cost", ["NaN", "1e999999999", "-1", "two"])
def test_an_amount_of_a_stranger_that_is_no_number_is_unknown(played: Callable[..., Path], cost: str) -> None:
    path = played([paid(RIGHT)])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE reply SET cost = ?", (cost,))
    connection.close()
    assert usage(path)["cost"] == {"total": None, "unknown": 1}


def test_screen_csv_and_report_show_it(
    played: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = played([paid(RIGHT), paid(WRONG, prompt_tokens=None, cost=None)])
    assert run(["score", str(path)]) == 0
    screen = capsys.readouterr().out
    assert "Tokens, time and cost of the graded replies;" in screen
    assert "(n of m: known for n of m replies)" in " ".join(screen.split())
    assert "100 (1 of 2)" in screen
    assert "0.001 (1 of 2)" in screen
    assert run(["score", str(path), "--format", "csv"]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    (rows,) = [list(csv.DictReader(io.StringIO(table))) for table in tables if "US dollars" in table]
    assert rows[0]["completion tokens"] == "40"
    assert rows[0]["US dollars per correct"] == ""
    page = tmp_path / "page.html"
    assert run(["report", str(path), "-o", str(page)]) == 0
    assert "0.001 (1 of 2)" in page.read_text(encoding="utf-8")


def test_a_baseline_has_no_table(played: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", str(played([Reply(RIGHT)]))]) == 0
    assert "US dollars" not in capsys.readouterr().out


@given(st.decimals(min_value=0, max_value=10**9, places=10))
def test_text_of_an_amount_is_off_by_less_than_one_in_a_thousand(amount: Decimal) -> None:
    assert abs(Decimal(money_text(amount)) - amount) * 1000 <= amount
    assert "E" not in money_text(amount)


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
def test_reasoning_tokens_are_read_from_both_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in IMPORT_ENVIRONMENT.items():  # litellm fetches prices from the network otherwise
        monkeypatch.setenv(name, value)
    from litellm import ModelResponse  # type: ignore[attr-defined]

    counts = {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17}
    answer = {
        "choices": [{"message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}],
        "usage": counts | {"completion_tokens_details": {"reasoning_tokens": 6}},
    }
    response = ModelResponse(**json.loads(json.dumps(answer)))
    for record in (answer, _completion_record(response, keeps_extras=False)):
        reply = reply_from_completion(record, "1", "now")
        assert (reply.completion_tokens, reply.reasoning_tokens) == (8, 6)


def test_a_price_gives_a_cost_to_replies_without_one(played: Callable[..., Path]) -> None:
    path = played([paid(RIGHT, cost=None), paid(RIGHT), paid(WRONG, cost=None, prompt_tokens=None)])
    (model,) = dia_runtime.score(path, interval="none", prices=["other=9,9", "play*=1,50"])["models"]
    assert model["usage"]["cost"] == {"total": "0.0021", "unknown": 1}  # 100 * 1e-6 + 20 * 5e-5, and the recorded 0.001
