"""The section on abstention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dia_runtime.report.page.cells import Column, Grid, count, figure, grid, word
from dia_runtime.report.page.panels import Section, column, picture
from dia_runtime.report.pictures.abstention import DRAWN_BY_DROP, has_curve
from dia_runtime.scoring.figures import page_figures
from dia_runtime.scoring.results import Respondent, Score, SkipAgreement, figure_of, has_figure

FEW_PAIRS, MOST_PAIRS = 15, 200  # of models: more than the first are folded, more than the second left out


def abstention(score: Score, models: Sequence[Respondent]) -> Section | None:
    """Return the section on the costs and benefits of abstaining."""
    if not models:
        return None
    heads: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    others = [
        figure.name
        for figure in page_figures("abstention")
        if figure.name not in DRAWN_BY_DROP
        and (figure.is_compared or any(has_figure(model, figure.name) for model in models))
    ]
    heads += [column(name, score["k"]) for name in (*DRAWN_BY_DROP, *others)]
    drop = picture(
        "drop", score, "Cost of wrong answers",
        "The share of correct replies, and the abstention score: that share minus the share of wrong or unparsed "
        "replies. A model that abstains when it does not know loses little.",
        grid("Scores with and without abstention", heads, models, is_sortable=True),
    )  # fmt: skip
    panels = [drop]
    if any(figure_of(model, "accuracy_answered")["value"] is not None for model in models):
        panels.append(
            picture("risk-coverage", score, "Risk and coverage", _risk_caption(models), _risk(models, score["k"]))
        )
    tables = [table for table in (_skips(score),) if table]
    return Section("abstention", "Abstention", "", tuple(panels), tuple(tables))


def _risk_caption(models: Sequence[Respondent]) -> str:
    words = {
        "answered": "the number of the item's other instances that the model answered",
        "agreement": "the number of other attempts with the same answer",
    }
    signals = {model["selective"]["signal"] for model in models}
    more = "".join(
        f" Confidence in an answer is estimated by {words[name]}." for name in sorted(signals & words.keys())
    )
    if not any(has_curve(model) for model in models):
        return "Coverage: the share of replies that are not skips. Risk: the share of these that are wrong or unparsed."
    return (
        "Each curve follows a model's answers from the most to the least confident; the dot marks all of its "
        f"answers.{more}"
    )


def _risk(models: Sequence[Respondent], k: int) -> Grid:
    heads: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    heads += [column(figure.name, k) for figure in page_figures("selective")]
    heads += [
        ("area under the curve", lambda model: figure(model["selective"]["aurc"], 1, 3)),
        ("best possible area", lambda model: figure(model["selective"]["aurc_best"], 1, 3)),
        ("excess", lambda model: figure(model["selective"]["excess"], 1, 3)),
        ("RS with perfect abstention", lambda model: figure(model["selective"]["rs_best"])),
    ]
    return grid("Selective prediction", heads, models, is_sortable=True)


def _skips(score: Score) -> Grid | None:
    pairs = [pair for pair in score["skip_agreement"] if pair["phi"]["value"] is not None]
    if not pairs:
        return None
    heads: list[Column[SkipAgreement]] = [
        ("model", lambda pair: word(pair["models"][0])),
        ("and", lambda pair: word(pair["models"][1])),
        ("both skip", lambda pair: count(pair["both"])),
        ("only the first", lambda pair: count(pair["first"])),
        ("only the second", lambda pair: count(pair["second"])),
        ("neither", lambda pair: count(pair["neither"])),
        ("agreement (phi)", lambda pair: figure(pair["phi"], 1, 2)),
    ]
    pairs.sort(key=lambda pair: -abs(pair["phi"]["value"] or 0))
    table = grid("Agreement of models on which questions to skip", heads, pairs[:MOST_PAIRS], 2, True)
    return replace(table, is_folded=len(pairs) > FEW_PAIRS)
