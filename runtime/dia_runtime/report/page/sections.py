"""The sections of a report in their order; here those of verdicts and reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.page.abstaining import abstention
from dia_runtime.report.page.cells import Cell, Grid, count, figure, grid, word
from dia_runtime.report.page.comparing import comparisons, respondents, wordings
from dia_runtime.report.page.failing import failures, mistakes
from dia_runtime.report.page.scaling import on_one_scale
from dia_runtime.report.page.sessions import sessions
from dia_runtime.report.page.shown import MOST_CELLS, Model, Score, Section, Shown, a, heading, of, picture, words
from dia_runtime.report.pictures.figures import names, ranked
from dia_runtime.report.pictures.leaderboard import strip, strip_scale
from dia_runtime.report.pictures.reliability import Column, columns, is_even, solved
from dia_runtime.report.pictures.svg import decoration, svg
from dia_runtime.report.pictures.verdicts import bars, groups

MOST_PANELS = 60


def sections(
    score: Score, notes: Sequence[str], by: Sequence[str], scale: Mapping[str, Any] | None = None
) -> list[Section]:
    """The sections for which the score, or the bank with what was observed, has something to show, in their order."""
    models = ranked(score)
    made = [
        _leaderboard(score, models, notes),
        _reliability(score, models),
        *(_groups(score, models, label) for label in dict.fromkeys(("domain", "category", *by))),
        sessions(score, models),
        on_one_scale(scale) if scale else None,
        abstention(score, models),
        comparisons(score, models),
        wordings(score, models),
        respondents(score),
        failures(score, models),
        mistakes(models),
    ]
    return [section for section in made if section is not None]


def _leaderboard(score: Score, models: Sequence[Model], notes: Sequence[str]) -> Section:
    scale, k = strip_scale(score), score["k"]
    shares = ["conf", "pass_at_k"] if k > 1 else []
    shares += ["trad_score", "idk_score", "idk_freq", "accuracy_answered"]
    shares += ["share"] if any("share" in model for model in models) else []
    table: list[Any] = [
        ("model", lambda model: word(model["model"])),
        (f"RS@{k}", lambda model: figure(model["rs"])),
        ("interval", lambda model: Cell("", key=_value(model["rs"]), art=decoration(strip(model["rs"], scale)))),
    ]
    table += [(heading(key, k), of(key)) for key in shares]
    if k > 1:
        table.append((f"NMS@{k}", lambda model: figure(model["nms"], 1, 0)))
    caption = "Models by reliability score. Shares are in percent, with the ends of their intervals below them."
    verdicts = picture(
        "verdicts", score, "What became of the questions",
        "Each bar is all questions of a model, in their first attempt." if score["over"] == "instances" else "",
        _verdict_table("Verdicts", [((model["model"],), model) for model in models], ("model",)),
    )  # fmt: skip
    one, part = words(score)
    lead = (
        f"RS@{k} sums over {score['n']:,} {one}s the mean points of {a(one)}'s {k} {part}s: points for right answers, "
        "none for skipped ones, a loss for wrong ones."
        if k > 1
        else f"RS@1 sums the points of {score['n']:,} questions: points for right answers, none for skipped ones, "
        "a loss for wrong ones."
    )
    boards = (grid(caption, table, models, is_sortable=True),)
    return Section("leaderboard", "Leaderboard", lead, (verdicts,), boards, tuple(notes))


def _value(held: Mapping[str, Any]) -> float | None:
    value = figure(held).key
    return value if isinstance(value, float) else None


def _verdict_table(
    caption: str, rows: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]], heads: tuple[str, ...]
) -> Grid:
    table: list[Any] = [(head, lambda row, at=at: word(row[0][at])) for at, head in enumerate(heads)]
    table += [(name, lambda row, name=name: count(row[1]["counts"][name])) for name in Verdict]
    table += [("correct %", lambda row: figure(row[1]["trad_score"], 100)), ("RS", lambda row: figure(row[1]["rs"]))]
    return grid(caption, table, rows, len(heads), True)


def _reliability(score: Score, models: Sequence[Model]) -> Section | None:
    k = score["k"]
    found = columns(models, k)
    if not found:
        return None
    fits = len(found) * len(models) <= MOST_CELLS
    heads: list[Any] = [("item", lambda column: word(column.name))]
    heads += [(model["model"], lambda column, at=at: _solved(column, at, k)) for at, model in enumerate(models)]
    one, part = words(score)
    caption = f"Which share of its {part}s a model solves of each {one}; {one}s differ in their number."
    if is_even(models):
        caption = (
            f"How many of each {one}'s {k} {part}s a model solves. A model that knows {a(one)} solves all of them."
            if k > 1
            else "In full colour where a model is right: what all solve stands at the left, what none at the right."
        )
    table = grid(f"Solved instances of {k}, the easiest items first", heads, found, 1, True) if fits else None
    shown = picture("reliability", score, "Items, from the easiest to the hardest", caption, table)
    sums = [_ladder(score, models)] if k > 1 else []
    return Section("reliability", "Reliability", "", (shown,), tuple(held for held in sums if held))


def _solved(column: Column, at: int, k: int) -> Cell:
    share = column.shares[at]
    return Cell("") if share is None else Cell(solved(share, column.sizes[at], k), key=share)


def _ladder(score: Score, models: Sequence[Model]) -> Grid | None:
    """How Conf and Pass grow with the number of instances that count."""
    steps = list(models[0]["pass_at_j"]) if models else []
    if len(steps) < 2:
        return None
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads += [(f"one of {j}", lambda model, j=j: figure(model["pass_at_j"].get(j), 100)) for j in steps]
    heads += [(f"all {j}", lambda model, j=j: figure(model["pass_hat_j"].get(j), 100)) for j in steps[1:]]
    one, part = words(score)
    caption = f"Share of {one}s, in percent, of which one of j {part}s is solved (Pass@j), and all of j (Pass^j)"
    caption += f", of the {one}s with at least j {part}s" if score["k_varies"] else ""
    return grid(caption, heads, models, is_sortable=True)


def _groups(score: Score, models: Sequence[Model], label: str) -> Section | None:
    found = groups(score, label)
    if len(found) < 2:
        return None
    panels = tuple(
        svg(bars(name, blocks), f"{label}-{at}", alone=False) for at, (name, blocks) in enumerate(found[:MOST_PANELS])
    )
    rows = [((name, model), block) for name, blocks in found for model, block in blocks]
    table = _verdict_table(f"Verdicts by {label}", rows, (label, "model")) if len(rows) * 9 <= MOST_CELLS else None
    left = f" The first {MOST_PANELS} of {len(found)} are drawn." if len(found) > MOST_PANELS else ""
    caption = f"Each bar is a model's questions of one {label}; numbers are questions.{left}"
    shown = Shown(label, "", caption, panels, table, tuple(Verdict), True)
    return Section(f"by-{label}", f"By {label}", "", (shown,))


def model_names(score: Score) -> list[str]:
    """The names of the respondents, in the order of the runs."""
    return names(score)
