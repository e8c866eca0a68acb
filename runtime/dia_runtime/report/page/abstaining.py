"""The section on abstention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dia_runtime.report.page.cells import Grid, count, figure, grid, word
from dia_runtime.report.page.shown import Model, Score, Section, heading, of, picture
from dia_runtime.report.pictures.abstention import has_curve

FEW_PAIRS, MOST_PAIRS = 15, 200  # of models: above the one they are folded, above the other left out
SKIPS = (("both skip", "both"), ("only the first", "first"), ("only the second", "second"), ("neither", "neither"))


def abstention(score: Score, models: Sequence[Model]) -> Section | None:
    """What abstaining costs and brings."""
    if not models:
        return None
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads += [(heading(key, score["k"]), of(key)) for key in ("trad_score", "idk_score", "drop", "idk_freq")]
    drop = picture(
        "drop", score, "What wrong answers cost",
        "The share of right replies, and the same less a point for each wrong one: who abstains in time loses little.",
        grid("Scores with and without abstention", heads, models, is_sortable=True),
    )  # fmt: skip
    shown = [drop]
    if any(model["accuracy_answered"]["value"] is not None for model in models):
        shown.append(picture("risk-coverage", score, "Risk and coverage", _risk_caption(models), _risk(models)))
    tables = [held for held in (_skips(score),) if held]
    return Section("abstention", "Abstention", "", tuple(shown), tuple(tables))


def _risk_caption(models: Sequence[Model]) -> str:
    words = {
        "answered": "how many of the item's other instances it answered",
        "agreement": "how many of its other attempts said the same",
    }
    signals = {model["selective"]["signal"] for model in models if model.get("selective")}
    more = "".join(f" Confidence is {words[name]}." for name in sorted(signals & words.keys()))
    if not any(has_curve(model) for model in models):
        return "How many questions each model answers, and how many of these wrongly."
    return f"Each curve counts a model's answers from the most confident on; its dot is where the model stopped.{more}"


def _risk(models: Sequence[Model]) -> Grid:
    heads: list[Any] = [
        ("model", lambda model: word(model["model"])),
        ("coverage %", of("coverage")),
        ("right if answered %", of("accuracy_answered")),
    ]
    if any(model.get("selective") for model in models):
        for key, heading in (
            ("aurc", "area under the curve"),
            ("aurc_best", "best possible area"),
            ("excess", "excess"),
        ):
            heads.append((heading, lambda model, key=key: figure((model.get("selective") or {}).get(key), 1, 3)))
        heads.append(
            ("RS with perfect abstention", lambda model: figure((model.get("selective") or {}).get("rs_best")))
        )
    return grid("Selective prediction", heads, models, is_sortable=True)


def _skips(score: Score) -> Grid | None:
    pairs = [pair for pair in score.get("skip_agreement") or () if pair["phi"]["value"] is not None]
    if not pairs:
        return None
    heads: list[Any] = [
        ("model", lambda pair: word(pair["models"][0])),
        ("and", lambda pair: word(pair["models"][1])),
        *((head, lambda pair, key=key: count(pair[key])) for head, key in SKIPS),
        ("agreement (phi)", lambda pair: figure(pair["phi"], 1, 2)),
    ]
    pairs.sort(key=lambda pair: -abs(pair["phi"]["value"]))
    table = grid("Whether two models skip the same questions", heads, pairs[:MOST_PAIRS], 2, True)
    return replace(table, is_folded=len(pairs) > FEW_PAIRS)
