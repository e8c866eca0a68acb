"""The sections that compare models, wordings and groups of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dia_runtime.report.findings import FEW_COMPARED
from dia_runtime.report.page.cells import DASH, Cell, Column, Grid, count, figure, grid, number, share, word
from dia_runtime.report.page.panels import Panel, Section, factor, picture, plain
from dia_runtime.report.pictures.comparisons import largest, p_text
from dia_runtime.report.pictures.correlation import MOST, correlations
from dia_runtime.report.pictures.figures import unit_words
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import (
    ComparedPair,
    FigureEffect,
    GroupDifference,
    RankChange,
    RankReversal,
    Respondent,
    RespondentGroup,
    Score,
    is_clear,
)  # fmt: skip

MOST_PAIRS = 200  # pairs of models in a table
SIGN_TEST = (
    " With so few {one}s, intervals are too narrow, and p too small, unless the difference is the same on all {one}s: "
    "then p comes from a sign test, which needs at least six {one}s to be below 0.05."
)


def comparisons(score: Score, models: Sequence[Respondent]) -> Section | None:
    """Return the section on pairs of models, and on which of them are similar."""
    if len(models) < 2:
        return None
    panels = []
    compared = list(dict.fromkeys(pair["figure"] for pair in score["comparisons"]))
    if compared:
        caption = (
            "The model with the higher figure minus the other, on the questions that both were asked. Blue: the two "
            "differ significantly after Holm's correction for the number of pairs."
        )
        if score["n"] < FEW_COMPARED:
            caption += SIGN_TEST.format(one=unit_words(score)[0])
        title = f"Paired differences in {FIGURES[compared[0]].label_at(score['k'])}"
        panels.append(picture("comparisons", score, title, caption, _pairs(score, compared[0])))
    panels.append(_alike(score, models))
    tables = [replace(_pairs(score, name), is_folded=True) for name in compared[1:]]
    tables += [table for change in score["rank_changes"] if (table := _reversals(change))]
    return Section("comparisons", "Comparisons", "", tuple(panels), tuple(tables))


def _pairs(score: Score, name: str) -> Grid:
    times = factor(name)
    heads: list[Column[ComparedPair]] = [
        ("model", lambda pair: word(pair["models"][0])),
        ("minus", lambda pair: word(pair["models"][1])),
        (f"{unit_words(score)[0]}s", lambda pair: count(pair["items"])),
        ("difference", lambda pair: figure(pair["difference"], times, 1)),
        ("p", lambda pair: Cell(p_text(pair["p"]), key=pair["p"])),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
        ("order holds in resamples", lambda pair: share(pair["order"])),
        ("significant", lambda pair: word("yes" if is_clear(pair) else "no")),
    ]
    label = FIGURES[name].label_at(score["k"]) + ("" if times == 1 else ", in percentage points")
    pairs = largest(score, name)
    few = f"; the {MOST_PAIRS} largest of {len(pairs):,}" if len(pairs) > MOST_PAIRS else ""
    return grid(f"Paired differences in {label}, with Holm's correction{few}", heads, pairs[:MOST_PAIRS], 2, True)


def _reversals(change: RankChange) -> Grid | None:
    if not change["changes"]:
        return None
    one, other = (FIGURES[name].label for name in change["figures"])
    heads: list[Column[RankReversal]] = [
        (f"leads by {one}", lambda pair: word(pair["models"][0])),
        (f"leads by {other}", lambda pair: word(pair["models"][1])),
        (f"order by {one} holds in", lambda pair: share(pair["order"][0])),
        (f"order by {other} holds in", lambda pair: share(pair["order"][1])),
        ("both hold in", lambda pair: share(pair["both"])),
    ]
    caption = (
        f"Pairs of models whose orders by {one} and by {other} are opposite, "
        "with the shares of resamples where these orders hold"
    )
    return grid(caption, heads, change["changes"][:MOST_PAIRS], 2, True)


def _alike(score: Score, models: Sequence[Respondent]) -> Panel:
    models, one = models[:MOST], unit_words(score)[0]
    values = correlations(models, score["k"])
    heads: list[Column[int]] = [("model", lambda at: word(models[at]["model"]))]
    heads += [(model["model"], _correlation_column(values, at)) for at, model in enumerate(models)]
    caption = (
        f"For each pair of models, the correlation over {one}s of their shares of correct replies. "
        f"Near 1, they solve the same {one}s."
    )
    if any(value is None for row in values for value in row):
        caption += f" A dash: undefined, because a model solves the same share of each {one}."
    table = grid("Correlations of shares of correct replies", heads, range(len(models)))
    return picture("correlation", score, f"Which models solve the same {one}s", caption, table)


def _correlation_column(values: Sequence[Sequence[float | None]], at: int) -> Callable[[int], Cell]:
    return lambda row: _correlation(values[row][at])


def _correlation(value: float | None) -> Cell:
    return Cell(DASH) if value is None else Cell(number(value, 1, 2), key=value)


def wordings(score: Score, models: Sequence[Respondent]) -> Section | None:
    """Return the section on other wordings, if there are any."""
    rows = [
        (model["model"], variant, key, effect)
        for model in models
        for variant, effects in model["variants"].items()
        for key, effect in effects["figures"].items()
    ]
    if not rows:
        return None
    heads: list[Column[tuple[str, str, str, FigureEffect]]] = [
        ("model", lambda row: word(row[0])),
        ("wording", lambda row: word(row[1])),
        ("figure", lambda row: word(FIGURES[row[2]].label)),
        ("base", lambda row: plain(row[3]["base"], row[2])),
        ("variant", lambda row: plain(row[3]["variant"], row[2])),
        ("difference", lambda row: figure(row[3]["difference"], factor(row[2]))),
        ("p", lambda row: Cell(p_text(row[3]["p"]), key=row[3]["p"])),
    ]
    lead = "The same instances in other wordings. Shares are in percent."
    return Section(
        "wordings", "Wordings", lead, (), (grid("Effects of wordings: variant minus base", heads, rows, 2, True),)
    )


def respondents(score: Score) -> Section | None:
    """Return the section on models grouped by their labels, if they have any."""
    tables = []
    for label, grouped in score["by_respondent"].items():
        keys = list(dict.fromkeys(key for group in grouped["groups"] for key in group["figures"]))
        heads: list[Column[RespondentGroup]] = [
            (label, lambda group: word(group["value"])),
            ("models", lambda group: word(", ".join(group["models"]))),
            *((_heading(key), lambda group, key=key: figure(group["figures"].get(key), factor(key))) for key in keys),
        ]
        few = f", over {grouped['items']:,} items" if grouped["items"] < score["n"] else ""
        tables.append(grid(f"Models by {label}: mean figures{few}", heads, grouped["groups"], 1, True))
        if grouped["differences"]:
            tables.append(_differences(label, grouped["differences"]))
    return Section("respondents", "Groups of models", "", (), tuple(tables)) if tables else None


def _heading(name: str) -> str:
    """Return the figure's name, with its unit."""
    return FIGURES[name].label + ("" if factor(name) == 1 else " %")


def _differences(label: str, differences: Sequence[GroupDifference]) -> Grid:
    heads: list[Column[GroupDifference]] = [
        (label, lambda pair: word(pair["groups"][0])),
        ("minus", lambda pair: word(pair["groups"][1])),
        ("figure", lambda pair: word(_heading(pair["figure"]))),
        ("difference", lambda pair: figure(pair["difference"], factor(pair["figure"]))),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
    ]
    return grid(f"Differences by {label}", heads, differences, 2, True)
