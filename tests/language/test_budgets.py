"""The budget of an evaluation."""

from __future__ import annotations

import timeit

import pytest
from dia_language.budgets import STEPS, charge, left, reset
from dia_language.diagnostics import LanguageError


def test_steps_are_taken_off_until_none_is_left() -> None:
    reset(10)
    charge(4)
    assert left() == 6
    charge(6)
    assert left() == 0
    with pytest.raises(LanguageError, match="the evaluation took more than 10 steps") as caught:
        charge(1)
    assert caught.value.code == "E502"
    assert left() == 0


def test_a_spent_budget_stays_spent_until_the_next_evaluation() -> None:
    reset(10)
    with pytest.raises(LanguageError):
        charge(10**30)
    with pytest.raises(LanguageError):
        charge(1)
    reset()
    charge(1)
    assert left() == STEPS - 1


def test_a_step_costs_next_to_nothing() -> None:
    reset(10**9)
    assert min(timeit.repeat(lambda: charge(1), number=10_000, repeat=5)) / 10_000 < 1e-6
    reset()
