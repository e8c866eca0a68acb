"""The words of a report: what was measured, how, and what the figures mean."""

from __future__ import annotations

from pathlib import PurePath

from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.report.page.panels import unit_words, with_article
from dia_runtime.scoring.figures import Figure, glossary_figures
from dia_runtime.scoring.results import Score

Pairs = list[tuple[str, str]]


def facts(score: Score) -> Pairs:
    """What the head of the page tells: the size of the thing."""
    replies = sum(sum(model["counts"].values()) for model in score["models"])
    name = (score["benchmark"], score["version"])
    facts = [("benchmark", " ".join(str(part) for part in name if part is not None))]
    facts.append(("questions" if score["over"] == "attempts" else "items", f"{score['n']:,}"))
    facts.append(("attempts at each" if score["over"] == "attempts" else "instances of each", f"{score['k']}"))
    facts.append(("models", f"{len(score['models'])}"))
    facts.append(("replies that count", f"{replies:,}"))
    if score["chain"] != "strict":
        facts.append(("read by", score["chain"]))
    if score["points"]:
        facts.append(("points", " ".join(f"{name} {value}" for name, value in score["points"].items())))
    return facts


def terms(score: Score) -> Pairs:
    """What the words mean."""
    return [
        (
            ", ".join(WITH_POINTS),
            f"The verdict on a reply: {Verdict.CORRECT.meaning}, {Verdict.SKIPPED.meaning}, or else.",
        ),
        *((verdict, verdict.meaning) for verdict in Verdict if verdict not in WITH_POINTS),
        *((figure.label_at(score["k"]), _definition(figure, score)) for figure in glossary_figures(score["k"])),
        ("intervals", _intervals(score)),
    ]


def _definition(figure: Figure, score: Score) -> str:
    one, part = unit_words(score)
    return figure.glossary.format(one=one, a_one=with_article(one), part=part, k=score["k"])


def _intervals(score: Score) -> str:
    interval = score["interval"]
    if interval["method"] != "none":
        kind = {"bca": "bias-corrected and accelerated", "percentile": "percentile"}[interval["method"]]
        number, seed = interval["resamples"], interval["seed"]
        level = f"They cover {100 * interval['level']:.0f} %"
        return f"{level}: {kind} bootstrap over items, {number:,} resamples, seed {seed}."
    return "1.96 standard errors to both sides; instances of one item count as one cluster."


def source_facts(score: Score) -> Pairs:
    """Of what and how the figures were made."""
    facts = [("bundle", score["bundle"] or "replies from elsewhere"), ("questions root", score["questions_root"])]
    facts.append(("runs", ", ".join(dict.fromkeys(PurePath(model["run"]).name for model in score["models"]))))
    facts.append(("read by the chain", score["chain"]))
    facts.append(("errors", "kept open" if score["errors"] == "keep" else "counted as wrong"))
    for points in score["points_told"]:
        facts.append(("points that models were told", " ".join(f"{name} {value}" for name, value in points.items())))
    return facts
