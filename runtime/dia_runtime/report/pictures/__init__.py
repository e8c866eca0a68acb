"""The plots that `dia plot` draws and the report contains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dia_runtime.report.pictures.abstention import drop, risk_coverage
from dia_runtime.report.pictures.comparisons import comparisons
from dia_runtime.report.pictures.correlation import correlation
from dia_runtime.report.pictures.drawing import Drawing
from dia_runtime.report.pictures.figures import PictureData
from dia_runtime.report.pictures.flags import flags
from dia_runtime.report.pictures.item_curves import item_curves
from dia_runtime.report.pictures.item_fit import item_fit
from dia_runtime.report.pictures.leaderboard import leaderboard
from dia_runtime.report.pictures.reliability import reliability
from dia_runtime.report.pictures.verdicts import categories, domains, verdicts
from dia_runtime.report.pictures.wright import abilities, wright_map
from dia_runtime.scoring.figures import FIGURES

SCORE = ("score",)
BANK = ("bank",)


@dataclass(frozen=True, slots=True)
class Picture:
    """A kind of plot: its title, the names of the data that it needs, and the function that draws it.

    `needs` names the keys of the data that `draw` reads: "score" (as `dia score --json` prints it; together with
    "comparisons" it includes them), "bank" (as `dia calibrate` writes it), "observed" (the abilities, successes and
    trials of the models on each item).
    """

    title: str
    needs: tuple[str, ...]
    draw: Callable[[PictureData], Drawing]


def pictures() -> dict[str, Picture]:
    """Return the plot of each kind; figures that declare a leaderboard get one."""
    leaderboards = {
        figure.leaderboard.kind: Picture(
            f"all models by {figure.label}, with intervals", SCORE, partial(leaderboard, figure=figure)
        )
        for figure in FIGURES.values()
        if figure.leaderboard
    }
    return {**leaderboards, **PICTURES}


PICTURES: dict[str, Picture] = {
    "verdicts": Picture("verdicts by model", SCORE, verdicts),
    "reliability": Picture("correct instances of each item, by model", SCORE, reliability),
    "domains": Picture("verdicts by domain", SCORE, domains),
    "categories": Picture("verdicts by category", SCORE, categories),
    "drop": Picture("share of questions answered wrong or unparsed, by model", SCORE, drop),
    "risk-coverage": Picture(
        "risk (share wrong or unparsed among the questions not skipped) against coverage (share not skipped)",
        SCORE,
        risk_coverage,
    ),
    "comparisons": Picture("differences between all pairs of models", (*SCORE, "comparisons"), comparisons),
    "correlation": Picture("which models solve the same items", SCORE, correlation),
    "flags": Picture("unparsed, truncated and other flagged replies, by model", SCORE, flags),
    "wright-map": Picture("models and items of a bank on one scale", BANK, wright_map),
    "abilities": Picture("abilities of a bank's models, with intervals", BANK, abilities),
    "item-fit": Picture("infit of a bank's items by difficulty", BANK, item_fit),
    "item-curves": Picture(
        "response curves of a bank's items, with observed replies", ("bank", "observed"), item_curves
    ),
}
