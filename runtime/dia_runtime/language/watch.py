"""The heartbeat of evaluations: which expression is being computed, so that a watcher can kill one that hangs.

In a worker the cell is shared memory that the parent reads; elsewhere it is a plain list that nobody reads.
"""

from __future__ import annotations

from typing import Any

from dia_runtime.language.budgets import STEPS, reset

_CELL: Any = [0, 0, 0]
_STEPS = STEPS


def attach(cell: Any) -> None:
    """Makes the cell the one that evaluations write: beats, number of the expression, searches begun and ended."""
    global _CELL
    _CELL = cell


def allow(steps: int = STEPS) -> None:
    """Sets how many steps each evaluation may take from now on."""
    global _STEPS
    _STEPS = steps


def begin(number: int) -> None:
    """Marks the begin of an evaluation and gives it a full budget."""
    cell = _CELL
    cell[0] += 1
    cell[1] = number
    reset(_STEPS)


def seek() -> None:
    """Marks the begin of a search, which is many evaluations: it may not take for ever as a whole either."""
    _CELL[2] |= 1


def found() -> None:
    """Marks the end of a search."""
    _CELL[2] += _CELL[2] % 2


def rest() -> None:
    """Marks that no expression is being computed."""
    _CELL[0] += 1
    _CELL[1] = 0
