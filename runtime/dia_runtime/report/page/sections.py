"""The sections of a report in order; those on verdicts and reliability are defined here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dia_language.diagnostics import counted

from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.report.page.abstaining import abstention
from dia_runtime.report.page.cells import MINUS, Cell, Column, Grid, count, figure, grid, word
from dia_runtime.report.page.comparing import comparisons, respondents, wordings
from dia_runtime.report.page.failing import failures, mistakes
from dia_runtime.report.page.panels import MOST_CELLS, Panel, Section, column, picture, with_article
from dia_runtime.report.page.predicting import predicted_and_observed
from dia_runtime.report.page.scaling import on_one_scale
from dia_runtime.report.page.sessions import sessions
from dia_runtime.report.page.usage import usage
from dia_runtime.report.pictures.figures import PictureData, ranked, unit_words, units
from dia_runtime.report.pictures.leaderboard import strip, strip_scale
from dia_runtime.report.pictures.reliability import ItemColumn, columns, is_even, solved
from dia_runtime.report.pictures.svg import decoration, svg
from dia_runtime.report.pictures.verdicts import bars, groups
from dia_runtime.report.tables import repeats_categories
from dia_runtime.scoring.figures import page_figures
from dia_runtime.scoring.predicted import PredictedSuccess
from dia_runtime.scoring.results import Block, Respondent, Score, figure_of, has_figure

MOST_PANELS = 60
Row = tuple[tuple[str, ...], Block]  # names of the row, and its figures


def sections(
    score: Score,
    notes: Sequence[str],
    by: Sequence[str],
    scale: PictureData | None = None,
    predicted: PredictedSuccess | None = None,
) -> list[Section]:
    """Return the non-empty sections of a report in order."""
    models = ranked(score)
    fields = [label for label in ("domain", "category") if not repeats_categories(models, label)]
    candidates = [
        _leaderboard(score, models, notes),
        _reliability(score, models),
        *(_groups(score, models, label) for label in dict.fromkeys((*fields, *by))),
        sessions(score, models),
        on_one_scale(scale) if scale else None,
        predicted_and_observed(predicted) if predicted else None,
        abstention(score, models),
        comparisons(score, models),
        wordings(score, models),
        respondents(score),
        usage(score),
        failures(score, models),
        mistakes(models),
    ]
    return [section for section in candidates if section is not None]


def _leaderboard(score: Score, models: Sequence[Respondent], notes: Sequence[str]) -> Section:
    scale, k = strip_scale(score), score["k"]
    figures = [
        figure.name
        for figure in page_figures("leaderboard", k)
        if figure.is_compared or any(has_figure(model, figure.name) for model in models)
    ]
    interval: Column[Respondent] = (
        "interval",
        lambda model: Cell("", key=_value(model), art=decoration(strip(figure_of(model, "rs"), scale))),
    )
    table: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    for name in figures:
        table += [column(name, k), *([interval] if name == "rs" else [])]
    caption = "Models by reliability score. Shares are in percent; the small numbers are confidence intervals."
    verdicts = picture(
        "verdicts", score, "Verdicts",
        _bars(score),
        _verdict_table("Verdicts", [((model["model"],), model) for model in models], ("model",)),
    )  # fmt: skip
    one, part = unit_words(score)
    over = _asked(score, models, one if k > 1 else "question")
    lead = f"RS@1 is the sum of the points of {over}."
    if k > 1:
        parts = f"{part}s, {k} at most" if score["k_varies"] else f"{k} {part}s"
        lead = f"Each {one} scores the mean of the points of its {parts}; RS@{k} is the sum over {over}."
    lead += _points(score)
    boards = (grid(caption, table, models, is_sortable=True),)
    return Section("leaderboard", "Leaderboard", lead, (verdicts,), boards, tuple(notes))


def _asked(score: Score, models: Sequence[Respondent], one: str) -> str:
    """Return how many items or questions the models were asked, of how many."""
    number, sizes = counted(score["n"], one), sorted({model["n"] for model in models})
    if not sizes or sizes == [score["n"]]:
        return number
    ends = " to ".join(f"{end:,}" for end in dict.fromkeys((sizes[0], sizes[-1])))
    return f"the {one}s that a model was asked: {ends} of {number}"


def _points(score: Score) -> str:
    """Return the points of the verdicts, if they are known."""
    kinds = {tuple((entry | score["points"]).items()) for entry in score["points_told"] or [{}]}
    if len(kinds) > 1:
        return " Points differ between questions; “About this page” lists them."
    points: dict[str, str] = dict(*kinds)
    if any(verdict not in points for verdict in WITH_POINTS):
        return ""
    correct, skipped, wrong = (points[verdict].replace("-", MINUS) for verdict in WITH_POINTS)
    return f" Points: {correct} for a correct answer, {skipped} for an abstention, {wrong} for a wrong answer."


def _bars(score: Score) -> str:
    if score["over"] == "attempts":
        return ""
    wording = " in their base wording" if score.get("has_variants") else ""
    return f"Each bar shows all questions of a model (all instances of all items){wording}."


def _value(model: Respondent) -> float | None:
    value = figure(figure_of(model, "rs")).key
    return value if isinstance(value, float) else None


def _verdict_table(caption: str, rows: Sequence[Row], heads: tuple[str, ...]) -> Grid:
    table: list[Column[Row]] = [(head, _name_column(at)) for at, head in enumerate(heads)]
    table += [(verdict, _count_column(verdict)) for verdict in Verdict]
    table.append(("correct %", lambda row: figure(figure_of(row[1], "trad_score"), 100)))
    table.append(("RS", lambda row: figure(figure_of(row[1], "rs"))))
    return grid(caption, table, rows, len(heads), True)


def _name_column(at: int) -> Callable[[Row], Cell]:
    return lambda row: word(row[0][at])


def _count_column(verdict: Verdict) -> Callable[[Row], Cell]:
    return lambda row: count(row[1]["counts"][verdict])


def _reliability(score: Score, models: Sequence[Respondent]) -> Section | None:
    k = score["k"]
    items = columns(models, k)
    if not items:
        return None
    fits = len(items) * len(models) <= MOST_CELLS
    one, part = unit_words(score)
    heads: list[Column[ItemColumn]] = [(one, lambda item: word(item.name))]
    heads += [(model["model"], _solved_column(at, k)) for at, model in enumerate(models)]
    caption = f"The share of each {one}'s {part}s that are correct. "
    caption += f"The number of {part}s differs between {one}s or models."
    if is_even(models):
        caption = (
            f"The number of each {one}'s {k} {part}s that are correct. "
            f"If a model has mastered {with_article(one)}, all of them are correct."
            if k > 1
            else f"Full colour: the model is correct. {one.capitalize()}s that more models solve are further left."
        )
    title = f"Correct {part}s of {k}" if k > 1 else "Correct replies"
    table = grid(f"{title}, easiest {one}s first", heads, items, 1, True) if fits else None
    panel = picture("reliability", score, f"{one.capitalize()}s from easiest to hardest", caption, table)
    sums = [_ladder(score, models)] if k > 1 else []
    return Section("reliability", "Reliability", "", (panel,), tuple(table for table in sums if table))


def _solved_column(at: int, k: int) -> Callable[[ItemColumn], Cell]:
    def cell(item: ItemColumn) -> Cell:
        share = item.shares[at]
        return Cell("") if share is None else Cell(solved(share, item.sizes[at], k), key=share)

    return cell


def _ladder(score: Score, models: Sequence[Respondent]) -> Grid | None:
    """Return how Conf and Pass change with the number of instances."""
    steps = list(models[0]["pass_at_j"]) if models else []
    if len(steps) < 2:
        return None
    heads: list[Column[Respondent]] = [("model", lambda model: word(model["model"]))]
    heads += [(f"one of {j}", _pass_at_column(j)) for j in steps]
    heads += [(f"all {j}", _pass_hat_column(j)) for j in steps[1:]]
    one, part = unit_words(score)
    caption = (
        f"Share of {one}s, in percent, with at least one of j {part}s correct (Pass@j) and with all j correct (Pass^j)"
    )
    if score["k_varies"]:
        caption += f". Only {one}s with at least j {part}s count here; in the leaderboard, all {one}s count"
    return grid(caption, heads, models, is_sortable=True)


def _pass_at_column(j: str) -> Callable[[Respondent], Cell]:
    return lambda model: figure(model["pass_at_j"].get(j), 100)


def _pass_hat_column(j: str) -> Callable[[Respondent], Cell]:
    return lambda model: figure(model["pass_hat_j"].get(j), 100)


def _groups(score: Score, models: Sequence[Respondent], label: str) -> Section | None:
    grouped = groups(score, label)
    if len(grouped) < 2:
        return None
    panels = tuple(
        svg(bars(name, blocks), f"{label}-{at}", alone=False) for at, (name, blocks) in enumerate(grouped[:MOST_PANELS])
    )
    rows = [((name, model), block) for name, blocks in grouped for model, block in blocks]
    table = _verdict_table(f"Verdicts by {label}", rows, (label, "model")) if len(rows) * 9 <= MOST_CELLS else None
    limit = f" The first {MOST_PANELS} of {len(grouped):,} are shown." if len(grouped) > MOST_PANELS else ""
    caption = f"Each bar shows a model's {units(score)} in one {label}. The numbers count {units(score)}.{limit}"
    panel = Panel(label, "", caption, panels, table, tuple(Verdict), True)
    return Section(f"by-{label}", f"By {label}", "", (panel,))
