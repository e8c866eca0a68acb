"""One figure of several templates of sessions: the mean of their accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from dia_runtime.scoring.intervals import NORMAL, SHARES

OVER = "all"  # the denominator of the accuracies
# The three tests of the Self-Execution Benchmark, whose mean is its composite score.
TESTS = ("association", "restriction", "difficulty")


def composite(blocks: Mapping[str, Mapping[str, Any]], with_interval: bool = True) -> dict[str, Any] | None:
    """The unweighted mean of the templates' accuracies over all questions; None where no template has one.

    It is None as well while errors leave one of them open.

    Of the three tests of the Self-Execution Benchmark, where all of them are there; else of every template. Templates
    have questions of their own, so that the square of the error is the mean's share of the sum of theirs, and the
    interval is 1.96 errors to both sides, within 0 and 1.
    """
    found = {name: block["accuracy"][OVER] for name, block in blocks.items()}
    if any("bounds" in held for held in found.values()):
        return None
    names = [name for name in found if found[name]["value"] is not None]
    if set(TESTS) <= set(names):
        names = [name for name in names if name in TESTS]
    if not names:
        return None
    value = sum(found[name]["value"] for name in names) / len(names)
    errors = [found[name]["se"] for name in names]
    error = None if None in errors else sqrt(sum(one * one for one in errors)) / len(names)
    ends = None
    if with_interval and error:  # an error of 0 says that nothing varied, not that nothing could
        reach = NORMAL.inv_cdf(SHARES[1]) * error
        ends = [max(0.0, value - reach), min(1.0, value + reach)]
    return {"value": value, "se": error, "ci": ends, "over": OVER, "of": {name: found[name]["value"] for name in names}}
