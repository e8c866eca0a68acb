"""One figure of several templates of sessions: the mean of their accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from dia_runtime.scoring.intervals import NORMAL, SHARES
from dia_runtime.scoring.results import Composite, SessionBlock

# The three tests of the Self-Execution Benchmark; their mean is its composite score.
TESTS = ("association", "restriction", "difficulty")


def composite(blocks: Mapping[str, SessionBlock], with_interval: bool = True) -> Composite | None:
    """Return the unweighted mean of the templates' accuracies over all questions; None if no template has one.

    It is also None while errors leave one of them open. It is over the three tests of the Self-Execution Benchmark if
    all of them are present; otherwise over all templates. Templates have different questions, so the squared error is
    the sum of theirs over the squared number of templates, and the interval is 1.96 errors to both sides, within 0 and
    1.
    """
    accuracies = {name: block["accuracy"]["all"] for name, block in blocks.items()}
    if any("bounds" in accuracy for accuracy in accuracies.values()):
        return None
    values = {name: accuracy["value"] for name, accuracy in accuracies.items() if accuracy["value"] is not None}
    names = list(values)
    if set(TESTS) <= set(names):
        names = [name for name in names if name in TESTS]
    if not names:
        return None
    value = sum(values[name] for name in names) / len(names)
    errors = [error for name in names if (error := accuracies[name]["se"]) is not None]
    error = sqrt(sum(each * each for each in errors)) / len(names) if len(errors) == len(names) else None
    ends = None
    if with_interval and error:  # an error of 0 means that nothing varied, not that nothing could vary
        reach = NORMAL.inv_cdf(SHARES[1]) * error
        ends = [max(0.0, value - reach), min(1.0, value + reach)]
    return {"value": value, "se": error, "ci": ends, "over": "all", "of": {name: values[name] for name in names}}
