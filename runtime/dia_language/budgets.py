"""The budget of an evaluation: a count of steps, which every loop is charged, and the maximum size of integers."""

from __future__ import annotations

from typing import Final

from dia_language.diagnostics import LanguageError
from dia_language.limits import INTEGER_BITS, INTEGER_DIGITS, LIST_LENGTH, TEXT_LENGTH

STEPS: Final = 2_000_000


class Budget:
    """A number of steps, and how many of them are left."""

    __slots__ = ("before", "left", "steps")

    def __init__(self, steps: int = STEPS) -> None:
        self.before = 0  # steps of earlier evaluations
        self.steps = steps
        self.left = steps


_BUDGET = Budget()


def charge(steps: int, budget: Budget = _BUDGET) -> None:
    """Charge steps to the budget; raises LanguageError (E502) once it is spent, and at every later charge."""
    budget.left -= steps
    if budget.left < 0:
        raise LanguageError(
            f"the evaluation took more than {budget.steps:,} steps",
            "shorten the lists, or raise `limits: {steps: ...}` of the template",
            "E502",
        )


class Size:
    """The maximum number of bits of an integer."""

    __slots__ = ("bits", "digits")

    def __init__(self) -> None:
        self.bits, self.digits = INTEGER_BITS, INTEGER_DIGITS


SIZE = Size()


def bound_digits(digits: int) -> None:
    """Set how many digits integers may have; they are counted in bits, so some with one digit more are accepted."""
    SIZE.digits = min(digits, INTEGER_DIGITS)
    SIZE.bits = min(SIZE.digits * 332193 // 100000 + 2, INTEGER_BITS)


def too_large() -> LanguageError:
    """Return the error for an integer beyond the limit."""
    bound = f"{SIZE.bits:,} bits" if SIZE.bits == INTEGER_BITS else f"{SIZE.digits:,} digits (`limits` of the template)"
    return LanguageError("a number is too large", f"integers have at most {bound}", "E502")


def require_bits(function: str, bits: int) -> None:
    """Check that a number which a function is about to compute has no more bits. Raises LanguageError (E502)."""
    if bits > INTEGER_BITS:
        raise LanguageError(f"the result of `{function}` could exceed {INTEGER_BITS:,} bits", code="E502")


def require_items(function: str, size: int) -> int:
    """Return the length of a function's list. Raises LanguageError (E502) if it is too long."""
    if size > LIST_LENGTH:
        raise LanguageError(f"the result of `{function}` would exceed {LIST_LENGTH:,} items", code="E502")
    return size


def require_characters(function: str, size: int) -> int:
    """Return the length of a function's text. Raises LanguageError (E502) if it is too long."""
    if size > TEXT_LENGTH:
        raise LanguageError(f"the result of `{function}` would exceed {TEXT_LENGTH:,} characters", code="E502")
    return size


def reset(steps: int = STEPS) -> None:
    """Start a new evaluation with a limit of steps."""
    budget = _BUDGET
    budget.before += budget.steps - budget.left
    budget.steps = steps
    budget.left = steps


def spent() -> int:
    """Return the steps of all evaluations of this process, which are the same on every machine."""
    return _BUDGET.before + _BUDGET.steps - _BUDGET.left


def note_spent(steps: int) -> None:
    """Count the steps of a cached value, as if it were computed again."""
    _BUDGET.before += steps


def left() -> int:
    """Return the steps that the evaluation may still take."""
    return max(0, _BUDGET.left)
