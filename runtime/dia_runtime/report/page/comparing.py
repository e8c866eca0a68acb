"""The sections that compare: models with models, wordings with wordings, kinds of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dia_runtime.report.page.cells import DASH, Cell, Grid, count, figure, grid, number, share, word
from dia_runtime.report.page.shown import Model, Score, Section, Shown, factor, picture, plain
from dia_runtime.report.pictures.comparisons import is_clear, largest, p_text
from dia_runtime.report.pictures.correlation import MOST, correlations
from dia_runtime.report.pictures.figures import FIGURES, IN_POINTS

MOST_PAIRS = 200  # of models, in a table


def comparisons(score: Score, models: Sequence[Model]) -> Section | None:
    """All pairs of models, and which are alike."""
    if len(models) < 2:
        return None
    shown = []
    compared = list(dict.fromkeys(pair["figure"] for pair in score.get("comparisons") or ()))
    if compared:
        caption = (
            "The better model less the other, over the questions that both were asked; blue where the two differ after "
            "Holm's adjustment for the number of pairs."
        )
        title = f"Paired differences in {FIGURES.get(compared[0], compared[0])}"
        shown.append(picture("comparisons", score, title, caption, _pairs(score, compared[0])))
    shown.append(_alike(score, models))
    tables = [replace(_pairs(score, name), is_folded=True) for name in compared[1:]]
    tables += [held for change in score.get("rank_changes") or () if (held := _reversals(change))]
    return Section("comparisons", "Comparisons", "", tuple(shown), tuple(tables))


def _pairs(score: Score, name: str) -> Grid:
    factor = 1 if name in IN_POINTS else 100
    heads: list[Any] = [
        ("better", lambda pair: word(pair["models"][0])),
        ("less", lambda pair: word(pair["models"][1])),
        ("items", lambda pair: count(pair["items"])),
        ("difference", lambda pair: figure(pair["difference"], factor, 1)),
        ("p", lambda pair: Cell(p_text(pair["p"]), key=pair["p"])),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
        ("order holds in", lambda pair: share(pair["order"])),
        ("differ", lambda pair: word("yes" if is_clear(pair) else "not shown")),
    ]
    told = FIGURES.get(name, name) + ("" if factor == 1 else ", in percent")
    pairs = largest(score, name)
    few = f"; the {MOST_PAIRS} largest of {len(pairs):,}" if len(pairs) > MOST_PAIRS else ""
    return grid(f"Paired differences in {told}, adjusted by Holm{few}", heads, pairs[:MOST_PAIRS], 2, True)


def _reversals(change: Mapping[str, Any]) -> Grid | None:
    if not change["changes"]:
        return None
    one, other = (FIGURES.get(name, name) for name in change["figures"])
    heads: list[Any] = [
        (f"leads by {one}", lambda pair: word(pair["models"][0])),
        (f"leads by {other}", lambda pair: word(pair["models"][1])),
        (f"order by {one} holds in", lambda pair: share(pair["order"][0])),
        (f"order by {other} holds in", lambda pair: share(pair["order"][1])),
        ("both hold in", lambda pair: share(pair["both"])),
    ]
    told = f"Models whose order {one} and {other} reverse, with shares of resamples"
    return grid(told, heads, change["changes"][:MOST_PAIRS], 2, True)


def _alike(score: Score, models: Sequence[Model]) -> Shown:
    models = models[:MOST]
    found = correlations(models, score["k"])
    heads: list[Any] = [("model", lambda at: word(models[at]["model"]))]
    heads += [
        (model["model"], lambda at, column=column: _correlation(found[at][column]))
        for column, model in enumerate(models)
    ]
    caption = (
        "Correlation, over items, of the share of instances that two models solve: near 1 they solve the same ones."
    )
    table = grid("Correlations of solved instances", heads, range(len(models)))
    return picture("correlation", score, "Which models solve the same items", caption, table)


def _correlation(value: float | None) -> Cell:
    return Cell(DASH) if value is None else Cell(number(value, 1, 2), key=value)


def wordings(score: Score, models: Sequence[Model]) -> Section | None:
    """What other words change, where there are any."""
    rows = [
        (model["model"], variant, key, held)
        for model in models
        for variant, found in (model.get("variants") or {}).items()
        for key, held in found["figures"].items()
    ]
    if not rows:
        return None
    heads: list[Any] = [
        ("model", lambda row: word(row[0])),
        ("wording", lambda row: word(row[1])),
        ("figure", lambda row: word(FIGURES.get(row[2], row[2]))),
        ("base", lambda row: plain(row[3]["base"], row[2])),
        ("in this wording", lambda row: plain(row[3]["variant"], row[2])),
        ("difference", lambda row: figure(row[3]["difference"], factor(row[2]))),
        ("p", lambda row: Cell(p_text(row[3]["p"]), key=row[3]["p"])),
    ]
    lead = "The same instances, asked in other words. Shares are in percent."
    return Section("wordings", "Wordings", lead, (), (grid("Effects of wordings", heads, rows, 2, True),))


def respondents(score: Score) -> Section | None:
    """Models grouped by their labels, where they have any."""
    tables = []
    for label, held in (score.get("by_respondent") or {}).items():
        keys = list(dict.fromkeys(key for group in held["groups"] for key in group["figures"]))
        heads: list[Any] = [
            (label, lambda group: word(group["value"])),
            ("models", lambda group: word(", ".join(group["models"]))),
            *((_told(key), lambda group, key=key: figure(group["figures"].get(key), factor(key))) for key in keys),
        ]
        few = f", over {held['items']:,} items" if held.get("items", score["n"]) < score["n"] else ""
        tables.append(grid(f"Models by {label}: means{few}", heads, held["groups"], 1, True))
        if held["differences"]:
            tables.append(_differences(label, held["differences"]))
    return Section("respondents", "Kinds of models", "", (), tuple(tables)) if tables else None


def _told(name: str) -> str:
    """The figure's name, with its unit."""
    return FIGURES.get(name, name) + ("" if factor(name) == 1 else " %")


def _differences(label: str, held: Sequence[Mapping[str, Any]]) -> Grid:
    heads: list[Any] = [
        (label, lambda pair: word(pair["groups"][0])),
        ("less", lambda pair: word(pair["groups"][1])),
        ("figure", lambda pair: word(_told(pair["figure"]))),
        ("difference", lambda pair: figure(pair["difference"], factor(pair["figure"]))),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
    ]
    return grid(f"Differences by {label}", heads, held, 2, True)
