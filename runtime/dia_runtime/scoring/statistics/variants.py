"""What another wording of the same instances changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dia_runtime.scoring.metrics import FIGURES
from dia_runtime.scoring.statistics.ledger import Ledger, beside
from dia_runtime.scoring.statistics.paired import Side
from dia_runtime.scoring.statistics.resample import Intervals

VARIANT_LESS_BASE = {0: Fraction(-1), 1: Fraction(1)}


def variant_effects(ledger: Ledger, intervals: Intervals) -> dict[str, Any]:
    """Variant -> its paired effect on each figure, over the instances that were asked in both wordings."""
    names = sorted(name for name in ledger.wordings if name is not None)
    return {name: _effect(ledger, name, intervals) for name in names}


def _effect(ledger: Ledger, name: str, intervals: Intervals) -> dict[str, Any]:
    rows, questions = beside([ledger.base, ledger.wordings[name]])
    side = Side(rows, questions, tuple(FIGURES), intervals)
    figures = {figure: _of_figure(side, figure) for figure in FIGURES} if rows else {}
    return {"items": side.items, "questions": questions, "figures": figures}


def _of_figure(side: Side, name: str) -> dict[str, Any]:
    base, other = (side.figure(name, at).value for at in (0, 1))
    tested = side.tested(name, VARIANT_LESS_BASE)
    return {
        "base": None if base is None else float(base),
        "variant": None if other is None else float(other),
        "difference": tested["difference"],
        "p": tested["p"],
    }
