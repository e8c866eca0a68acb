"""The texts of a report: what was measured and how, and the glossary."""

from __future__ import annotations

from pathlib import PurePath

from dia_runtime.grading.flags import FLAGS
from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.report.page.panels import with_article
from dia_runtime.report.pictures.figures import unit_words
from dia_runtime.scoring.figures import Figure, glossary_figures
from dia_runtime.scoring.results import Score, has_figure, is_default_chain, respondents

Pairs = list[tuple[str, str]]
KINDS = {
    "bca": "bias-corrected and accelerated bootstrap",
    "percentile": "percentile bootstrap",
    "bound": "bound by Learned-Miller and Thomas",
}
OF_SESSIONS = (
    " In a conversation, the template decides from all replies what is correct, skipped or wrong; it may count an "
    "unreadable reply as skipped."
)
RARE_VALUES = {
    "bca": (
        "If fewer than 20 {one}s have a value above the lowest possible one, or fewer than 20 below the highest, "
        "the interval also allows for values that no {one} showed. For differences, and for “correct if answered” if "
        "some {one}s have more answered {part}s than others, it does so only if all {one}s have the same value."
    ),
    "percentile": "If all {one}s have the same value, the interval also allows for other values.",
    "bound": "The intervals also allow for values that no {one} showed.",
}


def facts(score: Score) -> Pairs:
    """Return the facts at the top of the page."""
    replies = sum(sum(model["counts"].values()) for model in score["models"])
    name = (score["benchmark"], score["version"])
    facts = [("benchmark", " ".join(str(part) for part in name if part is not None))]
    facts.append(("questions" if score["over"] == "attempts" else "items", f"{score['n']:,}"))
    at_most = "up to " if score["k_varies"] else ""
    facts.append(("attempts at each" if score["over"] == "attempts" else "instances of each", f"{at_most}{score['k']}"))
    facts.append(("models", f"{len(score['models'])}"))
    facts.append(("scored replies", f"{replies:,}"))
    if not is_default_chain(score):
        facts.append(("chain", score["chain"]))
    if score["points"]:
        facts.append(("points", " ".join(f"{name} {value}" for name, value in score["points"].items())))
    return facts


def terms(score: Score) -> Pairs:
    """Return the glossary."""
    figures = [
        figure
        for figure in glossary_figures(score["k"])
        if figure.of_unanswerable is None or any(has_figure(model, figure.name) for model in respondents(score))
    ]
    return [
        (
            ", ".join(WITH_POINTS),
            f"The verdict on a reply: {'; '.join(f'{verdict} means {verdict.meaning}' for verdict in WITH_POINTS)}."
            + (OF_SESSIONS if _has_sessions(score) else ""),
        ),
        *((verdict, verdict.meaning) for verdict in Verdict if verdict not in WITH_POINTS),
        ("not asked", "The run has neither a reply to the question nor an error. No figure counts it."),
        *((flag.heading, flag.meaning) for flag in FLAGS.values() if _occurs(flag.name, score)),
        *((figure.label_at(score["k"]), _definition(figure, score)) for figure in figures),
        ("intervals", _intervals(score)),
    ]


def _has_sessions(score: Score) -> bool:
    return any("sessions" in model for model in score["models"])


def _occurs(flag: str, score: Score) -> bool:
    return any(model["flags"].get(flag) for model in score["models"])


def _definition(figure: Figure, score: Score) -> str:
    one, part = unit_words(score)
    k = score["k"]
    parts = f"{part}s" if k > 1 and score["k_varies"] else f"{k} {part}s" if k > 1 else part
    return figure.glossary.format(
        one=one, a_one=with_article(one), part=part, parts=parts, k=k, mean="mean " if k > 1 else ""
    )


def _intervals(score: Score) -> str:
    interval = score["interval"]
    if interval["method"] != "none":
        kind = KINDS[interval["method"]]
        number, seed = interval["resamples"], interval["seed"]
        level = f"{100 * interval['level']:.0f} % confidence"
        one, part = unit_words(score)
        rare = RARE_VALUES[interval["method"]].format(one=one, part=part)
        parts = [f"{level}: {kind} over {one}s, {number:,} resamples, seed {seed}."]
        if _has_sessions(score):
            parts.append(f"Figures of sessions: the same, over questions instead of {one}s.")
        parts.append(rare)
        if any(model["mistake_shares"]["wrong"] for model in score["models"]):
            parts.append("Shares of one template's wrong replies that match a mistake: Wilson's interval over replies.")
        return " ".join(parts)
    one, part = unit_words(score)
    return f"±1.96 standard errors; the {part}s of {with_article(one)} form one cluster."


def source_facts(score: Score) -> Pairs:
    """Return where the figures come from and how they were computed."""
    facts = [("bundle", score["bundle"] or "none (imported replies)"), ("questions root", score["questions_root"])]
    facts.append(("runs", ", ".join(dict.fromkeys(PurePath(model["run"]).name for model in score["models"]))))
    facts.append(("chain", score["chain"]))
    facts.append(("errors", "shown as ranges" if score["errors"] == "keep" else "counted as wrong"))
    for points in score["points_told"]:
        facts.append(("points of the benchmark", " ".join(f"{name} {value}" for name, value in points.items())))
    return facts
