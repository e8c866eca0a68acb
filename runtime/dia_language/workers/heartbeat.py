"""The heartbeat of evaluations: which expression is being evaluated, so that a watcher can kill one that hangs.

In a worker, the cell is shared memory that the parent reads; otherwise it is a plain list that is never read.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

from dia_language.budgets import STEPS, bound_digits, reset
from dia_language.limits import INTEGER_DIGITS

SECONDS: Final = 5.0

CELLS: Final = 4

_CELL: Any = [0] * CELLS
_STEPS = STEPS
_SECONDS = SECONDS
_IS_WATCHED = False
_STARTED = 0.0


def attach(cell: Any) -> None:
    """Make this the cell that evaluations write.

    It has beats, the number of the expression, searches begun and ended, and the number of the condition that the last
    draw of the search failed.
    """
    global _CELL, _IS_WATCHED
    _CELL, _IS_WATCHED = cell, True


def set_limits(steps: int = STEPS, seconds: float = SECONDS, digits: int = INTEGER_DIGITS) -> None:
    """Set what each evaluation may take from now on: steps, the watcher's seconds, digits of an integer."""
    global _STEPS, _SECONDS
    _STEPS, _SECONDS = steps, seconds
    bound_digits(digits)


def seconds_left() -> float | None:
    """Seconds until the watcher ends the evaluation, None if there is no watcher or nothing is being computed."""
    return _STARTED + _SECONDS - monotonic() if _IS_WATCHED and _CELL[1] else None


def begin_evaluation(number: int) -> None:
    """Mark the start of an evaluation and give it a full budget."""
    global _STARTED
    cell = _CELL
    cell[0] += 1
    cell[1] = number
    _STARTED = monotonic()
    reset(_STEPS)


def begin_search() -> None:
    """Mark the start of a search, which has many evaluations: its total time is also limited."""
    _CELL[2] |= 1
    _CELL[3] = 0


def note_failure(number: int) -> None:
    """Mark the condition that a draw of the search failed."""
    _CELL[3] = number


def end_search() -> None:
    """Mark the end of a search."""
    _CELL[2] += _CELL[2] % 2


def end_evaluation() -> None:
    """Mark that no expression is being computed."""
    _CELL[0] += 1
    _CELL[1] = 0
