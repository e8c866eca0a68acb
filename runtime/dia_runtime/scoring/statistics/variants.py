"""The effect of another wording of the same instances."""

from __future__ import annotations

from fractions import Fraction

from dia_runtime.scoring.figures import compared_figures
from dia_runtime.scoring.results import FigureEffect, VariantEffect
from dia_runtime.scoring.statistics.ledger import Ledger, aligned
from dia_runtime.scoring.statistics.paired import PairedFigures
from dia_runtime.scoring.statistics.resample import Intervals

VARIANT_LESS_BASE = {0: Fraction(-1), 1: Fraction(1)}


def variant_effects(ledger: Ledger, intervals: Intervals) -> dict[str, VariantEffect]:
    """Return each variant's paired effect on each figure, over the instances that were asked in both wordings."""
    names = sorted(name for name in ledger.wordings if name is not None)
    return {name: _effect(ledger, name, intervals) for name in names}


def _effect(ledger: Ledger, name: str, intervals: Intervals) -> VariantEffect:
    rows, questions = aligned([ledger.base, ledger.wordings[name]])
    paired = PairedFigures(rows, questions, compared_figures(), intervals)
    figures = {figure: _figure_effect(paired, figure) for figure in paired.figures} if rows else {}
    return {"items": paired.items, "questions": questions, "figures": figures}


def _figure_effect(paired: PairedFigures, name: str) -> FigureEffect:
    base, variant = (paired.aggregate(name, at).value for at in (0, 1))
    tested = paired.tested(name, VARIANT_LESS_BASE)
    return {
        "base": None if base is None else float(base),
        "variant": None if variant is None else float(variant),
        "difference": tested["difference"],
        "p": tested["p"],
    }
