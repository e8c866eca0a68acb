"""The budget of an evaluation: a count of steps that whatever loops has to pay from."""

from __future__ import annotations

from typing import Final

from dia_runtime.language.diagnostics import LanguageError

STEPS: Final = 2_000_000


class Budget:
    """A number of steps, and how many of them are left."""

    __slots__ = ("left", "steps")

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.left = steps


_BUDGET = Budget()


def charge(steps: int, budget: Budget = _BUDGET) -> None:
    """Takes the steps off the budget; LanguageError (E502) once it is spent, and at every later charge."""
    budget.left -= steps
    if budget.left < 0:
        raise LanguageError(
            f"the evaluation took more than {budget.steps} steps",
            "make the lists shorter, or raise `limits: {steps: ...}` of the template",
            "E502",
        )


def reset(steps: int = STEPS) -> None:
    """Begins a new evaluation, which may take so many steps."""
    _BUDGET.steps = steps
    _BUDGET.left = steps


def left() -> int:
    """The steps that the evaluation may still take."""
    return max(0, _BUDGET.left)
