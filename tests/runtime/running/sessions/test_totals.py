"""What the turns of a question cost together: those of the model that is examined, asked for this very question."""

from __future__ import annotations

from typing import Any

from dia_runtime.running.sessions.runner import SessionRunner
from dia_runtime.store.schema import StoredTurn

NOBODY: Any = None


def turn(question: int = 3, role: str = "subject", **facts: Any) -> StoredTurn:
    return StoredTurn(question, "", "talk", -1, 0, -1, None, role, "m", "[]", "{}", "yes", **facts)


def totals(*turns: StoredTurn) -> tuple[Any, ...]:
    runner = SessionRunner({}, 3, NOBODY, NOBODY, asked_turns=list(turns))
    reply = runner.total_reply("all")
    assert reply.text == "all"
    return reply.prompt_tokens, reply.completion_tokens, reply.cost, reply.seconds, reply.tries


def test_costs_tokens_times_and_tries_are_sums() -> None:
    first = turn(prompt_tokens=10, completion_tokens=2, cost="0.25", seconds="1.50", tries=1)
    second = turn(prompt_tokens=5, completion_tokens=7, cost="0.1", seconds="0.5", tries=3)
    assert totals(first, second) == (15, 9, "0.35", "2", 4)
    assert totals(first) == (10, 2, "0.25", "1.5", 1)
    assert totals(first, turn(error="request: no")) == (10, 2, "0.25", "1.5", 1)


def test_a_sum_of_which_a_part_is_unknown_is_unknown() -> None:
    first = turn(prompt_tokens=10, completion_tokens=2, cost="0.25", seconds="1.50", tries=1)
    assert totals(first, turn(cost="1000")) == (None, None, "1000.25", None, None)


def test_what_no_turn_states_is_not_known() -> None:
    assert totals() == totals(turn()) == (None, None, None, None, None)
    assert totals(turn(cost="0", prompt_tokens=0))[:3] == (0, None, "0")


def test_turns_of_others_do_not_count() -> None:
    facts: dict[str, Any] = {"prompt_tokens": 1, "cost": "1", "tries": 1}
    assert totals(turn(role="judge", **facts), turn(question=4, **facts)) == (None,) * 5
    assert totals(turn(role="writer", **facts)) == (None,) * 5
    assert totals(turn(**facts), turn(role="judge", **facts), turn(question=4, **facts))[0] == 1


def test_the_first_version_and_the_earliest_time_are_kept() -> None:
    turns = [turn(), turn(model_version="b", asked_at="2025-01-02"), turn(model_version="a", asked_at="2025-01-01")]
    reply = SessionRunner({}, 3, NOBODY, NOBODY, asked_turns=turns).total_reply("")
    assert (reply.model_version, reply.asked_at) == ("b", "2025-01-01")
