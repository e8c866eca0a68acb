"""The words of a report: what was measured, how, and what the figures mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.report.page.shown import a, words

Pairs = list[tuple[str, str]]


def facts(score: Mapping[str, Any]) -> Pairs:
    """What the head of the page tells: the size of the thing."""
    counts = [sum(model["counts"].values()) for model in score["models"]]
    found = [("benchmark", " ".join(str(score[name]) for name in ("benchmark", "version") if score[name] is not None))]
    found.append(("questions" if score["over"] == "attempts" else "items", f"{score['n']:,}"))
    found.append(("attempts at each" if score["over"] == "attempts" else "instances of each", f"{score['k']}"))
    found.append(("models", f"{len(score['models'])}"))
    found.append(("replies that count", f"{sum(counts):,}"))
    if score["chain"] != "strict":
        found.append(("read by", score["chain"]))
    if score["points"]:
        found.append(("points", " ".join(f"{name} {value}" for name, value in score["points"].items())))
    return found


def terms(score: Mapping[str, Any]) -> Pairs:
    """What the words mean."""
    k, (one, part) = score["k"], words(score)
    found: Pairs = [
        (
            ", ".join(WITH_POINTS),
            f"The verdict on a reply: {Verdict.CORRECT.meaning}, {Verdict.SKIPPED.meaning}, or else.",
        ),
        *((verdict, verdict.meaning) for verdict in Verdict if verdict not in WITH_POINTS),
        (f"RS@{k}", f"Reliability score: the sum over {one}s of the mean points of {a(one)}'s {k} {part}s."),
    ]
    if k > 1:
        found += [
            (f"Conf@{k}", f"Share of {one}s whose {part}s are all correct."),
            (f"Pass@{k}", f"Share of {one}s of which at least one {part} is correct."),
            (f"NMS@{k}", f"Near misses: {one}s of which at least 80 %, but not all, {part}s are correct."),
        ]
    found += [
        ("abstention score", "Mean over questions of +1 for correct, 0 for skipped, −1 for anything else."),
        ("drop", "Right replies less the abstention score: the share of questions answered, and not rightly."),
        ("intervals", _intervals(score)),
    ]
    return found


def _intervals(score: Mapping[str, Any]) -> str:
    held = score.get("interval")
    if held and held["method"] != "none":
        way = {"bca": "bias-corrected and accelerated", "percentile": "percentile"}[held["method"]]
        return (
            f"They cover {100 * held['level']:.0f} %: {way} bootstrap over items, {held['resamples']:,} resamples, "
            f"seed {held['seed']}."
        )
    return "1.96 standard errors to both sides; instances of one item count as one cluster."


def source_facts(score: Mapping[str, Any]) -> Pairs:
    """Of what and how the figures were made."""
    found = [("bundle", score["bundle"] or "replies from elsewhere"), ("questions root", score["questions_root"])]
    found.append(("runs", ", ".join(dict.fromkeys(PurePath(model["run"]).name for model in score["models"]))))
    found.append(("read by the chain", score["chain"]))
    found.append(("errors", "kept open" if score["errors"] == "keep" else "counted as wrong"))
    for points in score["points_told"]:
        found.append(("points that models were told", " ".join(f"{name} {value}" for name, value in points.items())))
    return found
