"""Figures as published studies computed them, in addition to ours, under the names in their recordings.

The Self-Execution Benchmark has four experiments (https://arxiv.org/abs/2508.12277). Its printed accuracy has a
different denominator in each experiment; all denominators are given here, so that printed figures can be reproduced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from dia_language.expressions.replies import UNSET
from dia_language.numbers.values import Value
from dia_runtime.grading.sessions.outcome import Outcome
from dia_runtime.scoring.results import PrintedFigure, Published
from dia_runtime.scoring.sessions.tally import Counts, decision_counts


class StudiedOutcome(NamedTuple):
    """A question's outcome by our truth, and by that of the study, which uses the values in its log."""

    ours: Outcome
    published: Outcome


Figures = dict[str, Any]  # under the names of the recordings: JSON that the study defines
Study = Callable[[Sequence[StudiedOutcome]], Figures]


def association(pairs: Sequence[StudiedOutcome]) -> Figures:
    """Return experiment 1: pooled over the keys that the model wrote, and over the options by two denominators."""
    written = _pooled(pair.published for pair in pairs)
    options = [decision_counts(pair.ours) for pair in pairs]
    answered = [counts for counts in options if counts.is_answered]
    agreeing = sum(counts.agreeing for counts in options)
    return {
        "TP": written.tp,
        "FP": written.fp,
        "TN": written.tn,
        "FN": written.fn,
        "rows": sum(pair.published.is_answered for pair in pairs),
        "accuracy": _ratio(written.agreeing, written.known),
        "recall": _ratio(written.tp, written.tp + written.fn),
        "precision": _ratio(written.tp, written.tp + written.fp),
        "f1": _ratio(2 * written.tp, 2 * written.tp + written.fp + written.fn),
        "positive_rate": _ratio(written.tp + written.fp, written.known),
        "always_false_baseline": _ratio(written.fp + written.tn, written.known),
        "option_level_accuracy_all_1786": _ratio(agreeing, _units(options)),
        "option_level_accuracy_answered_targets": _ratio(sum(counts.agreeing for counts in answered), _units(answered)),
    }


def restriction(pairs: Sequence[StudiedOutcome]) -> Figures:
    """Return experiment 2: over all prompts and over the valid rows, and the two denominators of over-niceness.

    The study's own denominator counts as errors all prompts that are inconsistent and were not counted as failures.
    """
    counts = _pooled(pair.published for pair in pairs)
    lost = Counter(pair.published.missing for pair in pairs if not _is_known(pair.published))
    failures = {name: lost[reply] for name, reply in (("provision", "forecast"), ("verification", "verdict"))}
    formula = _ratio(counts.fn, len(pairs) - counts.agreeing - sum(failures.values()))
    return {
        "AA_TP": counts.tp,
        "AB_FP": counts.fp,
        "BA_FN": counts.fn,
        "BB_TN": counts.tn,
        "n_prompts": len(pairs),
        "valid_rows": counts.known,
        "other_label_rows": sum(pair.published.state == "unread" for pair in pairs),
        "consistent": counts.agreeing,
        "accuracy_all_450": _ratio(counts.agreeing, len(pairs)),
        "accuracy_valid_only": _ratio(counts.agreeing, counts.known),
        "provision_failure": failures["provision"],
        "verification_failure": failures["verification"],
        "unaccounted_missing": len(pairs) - counts.known - sum(failures.values()),
        "overniceness_definition_FN/(FN+FP)": _ratio(counts.fn, counts.fn + counts.fp),
        "overniceness_repo": formula,
        "repo_formula": formula,
        "reextraction_mismatches": sum(pair.published.mismatches for pair in pairs),
    }


def difficulty(pairs: Sequence[StudiedOutcome]) -> Figures:
    """Return experiment 3: rankings of the right length are valid, even with labels that do not exist.

    Those score zero.
    """
    scores, exact = _ranked(pair.published for pair in pairs)
    by_parser, _ = _ranked(pair.ours for pair in pairs)
    return {
        "groups": len(pairs),
        "valid_rankings": len(scores),
        "mean_score_valid_only(paper accuracy)": _mean(scores),
        "strict_invalid_is_zero": _ratio(sum(scores), len(pairs)),
        "repo_adjusted(mean/valid_rate)": _ratio(sum(scores) * len(pairs), len(scores) ** 2),
        "exact_order_rate_valid": _ratio(exact, len(scores)),
        "json_parser_only_valid": len(by_parser),
        "json_parser_only_mean": _mean(by_parser),
        **_single(pairs),
    }


SINGLE = "letter"  # the reply to a single question


def _single(pairs: Sequence[StudiedOutcome]) -> Figures:
    """Return how the single questions were answered; nothing if a log does not contain their replies."""
    alone = [pair.published for pair in pairs if _listed(pair.published.figures.get("right"))]
    correct = [bool(one) for outcome in alone for one in _listed(outcome.figures["right"])]
    steps = [step for outcome in alone for step in _listed(outcome.steps.get(SINGLE))]
    counted = [one is not None for outcome in alone for one in _listed(outcome.token_counts.get(SINGLE))]
    extracted = [is_correct and step != "first" for is_correct, step in zip(correct, steps, strict=False)]
    names = ("answered", "correct", "accuracy", "accuracy_without_first_letter_fallback")
    if not correct:
        return {**{f"individual_{name}": None for name in names}, "missing_token_counts": None}
    return {
        "individual_answered": len(correct),
        "individual_correct": sum(correct),
        "individual_accuracy": sum(correct) / len(correct),
        "individual_accuracy_without_first_letter_fallback": sum(extracted) / len(correct),
        "missing_token_counts": len(correct) - sum(counted),
    }


def self_made(pairs: Sequence[StudiedOutcome]) -> Figures:
    """Return experiment 4: one question with the model's own key, and its own answer to it."""
    figures: Mapping[str, Value] = pairs[0].published.figures if pairs else {}
    values = {name: figures.get(name) for name in ("key_raw", "key_normalised", "self_answer", "self_correct")}
    return {name: None if value is UNSET else value for name, value in values.items()}


STUDIES: dict[str, Study] = {
    "self-execution-1": association,
    "self-execution-2": restriction,
    "self-execution-3": difficulty,
    "self-execution-4": self_made,
}
# The figure that the study prints as the accuracy of each experiment; the mean of the first three is its composite
# score.
PRINTED = {
    "self-execution-1": "accuracy",
    "self-execution-2": "accuracy_all_450",
    "self-execution-3": "mean_score_valid_only(paper accuracy)",
}

# What each of them counts: the keys that the model wrote, all prompts, the rankings of the right length
COUNTED = {"self-execution-1": "written", "self-execution-2": "all", "self-execution-3": "valid"}
# Further figures that the study prints
FURTHER = {
    "self-execution-1": ("recall", "precision", "positive_rate"),
    "self-execution-2": ("overniceness_repo",),
    "self-execution-3": ("repo_adjusted(mean/valid_rate)", "individual_accuracy"),
    "composite": ("accuracy",),
}


def printed(study: str) -> tuple[str, ...]:
    """Return the figures that a study prints, its accuracy first."""
    return (*([PRINTED[study]] if study in PRINTED else ()), *FURTHER.get(study, ()))


def published_figure(study: str | None, studies: Published) -> PrintedFigure | None:
    """Return the figure that the study prints as its accuracy, with what it counts; None if it prints none."""
    if study is None or study not in PRINTED or study not in studies:
        return None
    figure = PRINTED[study]
    return {"study": study, "figure": figure, "over": COUNTED[study], "value": studies[study][figure]}


def published(outcomes: Mapping[str | None, Sequence[StudiedOutcome]]) -> Published:
    """Return the figures of each study, and its composite score.

    The composite score needs all experiments of the study that have an accuracy.
    """
    studies = {name: STUDIES[name](pairs) for name, pairs in outcomes.items() if name in STUDIES}
    means = [studies[name][figure] for name, figure in PRINTED.items() if name in studies]
    if len(means) == len(PRINTED) and None not in means:
        studies["composite"] = {"accuracy": sum(means) / len(means)}
    return studies


def _is_known(outcome: Outcome) -> bool:
    return all(decision.is_known for decision in outcome.decisions) and bool(outcome.decisions)


def _pooled(outcomes: Iterator[Outcome]) -> Counts:
    """Return the decisions of all questions pooled into one."""
    every = list(map(decision_counts, outcomes))
    tp, fp, fn, tn, unknown = (sum(counts[at] for counts in every) for at in range(5))
    return Counts(tp, fp, fn, tn, unknown, True)


def _units(options: Sequence[Counts]) -> int:
    return sum(counts.known + counts.unknown for counts in options)


def _ranked(outcomes: Iterator[Outcome]) -> tuple[list[float], int]:
    """Return the share of correctly ordered pairs of each ranking of the right length, and how many are exact."""
    scores, exact = [], 0
    for outcome in outcomes:
        order = outcome.order
        if order is None or order.actual is None or order.predicted is None:
            continue
        if len(order.predicted) == len(order.actual):
            scores.append(_pairs_in_order(order.predicted, order.actual))
            exact += order.predicted == order.actual
    return scores, exact


def _pairs_in_order(predicted: Sequence[str], actual: Sequence[str]) -> float:
    if set(predicted) != set(actual):
        return 0.0
    rank = {label: at for at, label in enumerate(predicted)}
    in_order = [rank[first] < rank[second] for first, second in combinations(actual, 2)]
    return sum(in_order) / len(in_order) if in_order else 0.0


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mean(values: Sequence[float]) -> float | None:
    return _ratio(sum(values), len(values))


def _ratio(top: float, bottom: float) -> float | None:
    return top / bottom if bottom else None
