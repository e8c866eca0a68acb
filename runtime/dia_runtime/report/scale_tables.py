"""Calibrations, links and explanations as tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dia_language.diagnostics import counted

from dia_runtime.psychometrics.calibration_result import CalibrationResult, FamilyDifference, LocatedEntry
from dia_runtime.psychometrics.explain import ExplanationResult
from dia_runtime.psychometrics.linking import LinkResult
from dia_runtime.psychometrics.overlap import OverlapResult
from dia_runtime.psychometrics.rasch.andersen import Andersen
from dia_runtime.psychometrics.rasch.bank import pace_in_words
from dia_runtime.psychometrics.rasch.filters import BUDGET, INFIT_BAND, INFIT_GATE
from dia_runtime.psychometrics.rasch.lltm import LEAST as LEAST_ERROR
from dia_runtime.psychometrics.rasch.mml import LEAST as LEAST_SD
from dia_runtime.report.tables import PLUS_MINUS, Table

WORST = 10
SHOWN_MODELS = 50
SHOWN_ITEMS = 20
CHOICE_NOTE = f"""\
kept: share of the items that the filter keeps. Filters by difficulty use maximum likelihood estimates, which may differ
from the difficulties above.
gain: how much higher the log likelihood of a held-out reply to a kept item is by the scale than by its model's success
rate, on average.
infit ok: share of the kept items with an infit from {INFIT_BAND[0]} to {INFIT_BAND[1]}.
budget SE: mean standard error of an ability after the {BUDGET} most informative kept items, or all if they are fewer.
admitted: gain is above 0, and infit ok at least {INFIT_GATE}.
frontier: admitted, and no other admitted filter is at least as good in both kept and budget SE and better in one."""
PLACES_NOTE = """\
right, of: number of correct replies, and of all replies.
z: infit and outfit as standard normal deviates."""
# How the name of a feature in the table shows what its effect is of, and what this is
KINDS_OF_EFFECTS = {
    r"skill .*": "of a skill",
    r"template .*": "of a template",
    r".* = .*": "of a word instead of the most common one",
    r"(?!(skill|template) )(?!.* = ).*": "of one standard deviation of a number, logarithm, length or square",
}
UNLISTED = "An unlisted skill or template is what others are compared with, or cannot be distinguished from them."
NO_GAIN_NOTE = """\
The features predict the difficulties of unseen items hardly better than a model without features, so the share of
variance that they explain may be chance. Instances that `dia compile` chooses by such predictions need not be harder or
easier than others."""
USEFUL = 0.9  # of the error without features: a larger error of predictions is hardly a gain
ERROR_NOTE = """\
error: how far the true difficulties of single new instances scatter around the predicted ones (standard deviation).
shared SE: standard error of a shift that all predictions for the template have in common, on top of the error.
instances can be chosen: the bank has enough items of the template, and the error is small enough, for `dia compile`
with `--success` or `--difficulty`."""
STABILITY_NOTE = """\
mean change: how far the difficulties move on average, in logits.
correlation: of the difficulties with and without the model or family of models.
shift of its ability: how far the ability of the left-out model moves when it is placed on the scale of the others. For
a family of models, it is the largest shift; in the rows for all, the root mean square.
by chance: the same in simulated data; p is the share of the data sets, simulated and real, whose mean change is at
least that of the real data."""


def scale_tables(result: CalibrationResult, every: bool = False) -> list[Table]:
    """Return tables of the abilities, of the items (or those with the worst fit), and of the requested checks."""
    models = sorted(result.abilities, key=lambda entry: -(entry.value or -1e9))
    listed = models if every else models[:SHOWN_MODELS]
    tables = [replace(_places(_title(result), "model", listed), note=PLACES_NOTE)]
    items = result.difficulties
    if every or len(items) <= SHOWN_ITEMS:
        tables.append(_places("Items", "item", items))
    else:
        worst = sorted(
            (entry for entry in items if entry.outfit_z is not None), key=lambda entry: -(entry.outfit_z or 0)
        )
        tables.append(_places("Items with the worst fit", "item", worst[:WORST]))
    tables.append(_summary(result))
    checks = (_wald(result), _slopes(result), *_partial_credit(result))
    differences = (
        _differences("Items that are harder for a family than its abilities predict", "item", result.differences),
        _differences(
            "Templates that are harder for a family than its abilities predict", "template", result.template_differences
        ),
    )
    tables += [table for table in (*checks, _choice(result), _left(result), *differences) if table]
    return tables


def _title(result: CalibrationResult) -> str:
    origin = {
        "mean_difficulty": "mean difficulty 0",
        "mean_ability": "mean ability 0",
        "anchors": "difficulties fixed by anchors",
    }
    where = origin.get(result.gauge, "no fixed origin")
    sizes = f"{len(result.abilities)} models, {len(result.difficulties)} {_unit(result)}"
    return f"Abilities in logits: {sizes}, {result.method.replace('_', '-')}, {where}"


def _unit(result: CalibrationResult) -> str:
    return "items" if result.unit in ("columns", "items") else f"{result.unit} as items"


def _places(title: str, what: str, entries: Sequence[LocatedEntry]) -> Table:
    headings = (what, "logits", "right", "of", "infit", "z", "outfit", "z", "status")
    rows = tuple(
        (
            entry.name,
            _with_error(entry),
            _number(entry.successes, 2).rstrip("0").rstrip("."),
            _number(entry.trials, 2).rstrip("0").rstrip("."),
            _number(entry.infit, 2),
            _number(entry.infit_z, 1),
            _number(entry.outfit, 2),
            _number(entry.outfit_z, 1),
            "" if entry.status == "estimated" else entry.status,
        )
        for entry in entries
    )
    return Table(title, headings, rows, 1, figures=frozenset({1}))


def _with_error(entry: LocatedEntry) -> str:
    if entry.value is None:
        return ""
    error = f"{PLUS_MINUS}{entry.se:.3f}" if entry.se is not None else ""
    return f"{_number(entry.value, 3)}{error}"


def _number(value: float | None, places: int) -> str:
    return "" if value is None else f"{round(value, places) + 0:.{places}f}"  # + 0 turns -0.0 into 0.0


def _limited(value: float | None, least: float, places: int) -> str:
    """Return the estimate; marked if it is the smallest that the estimation allows."""
    is_smallest = value is not None and value <= least * (1 + 1e-6)
    return _number(value, places) + (" or less" if is_smallest else "")


def _summary(result: CalibrationResult) -> Table:
    fit = result.fit
    rows = [
        ("log likelihood", _number(result.log_likelihood, 4)),
        ("iterations", str(result.iterations)),
        ("models: separation", _number(fit.models.separation, 3)),
        ("models: reliability", _number(fit.models.reliability, 3)),
        ("items: separation", _number(fit.items.separation, 3)),
        ("items: reliability", _number(fit.items.reliability, 3)),
    ]
    if result.prior:
        places = "difficulties" if result.method == "mml_items" else "abilities"
        rows.append((f"normal distribution of {places}: standard deviation", _limited(result.prior.sd, LEAST_SD, 4)))
    if fit.andersen:
        test = fit.andersen
        rows.append(("Andersen's test", _tested(test)))
    if fit.martin_loef:
        rows.append(("Martin-Löf's test", _tested(fit.martin_loef)))
    if fit.slopes:
        slopes = fit.slopes
        rows.append((f"equal slopes of {slopes.of}", f"{slopes.statistic:.2f}, df {slopes.df}, p {slopes.p:.3f}"))
        rows.append(("standard deviation of log slopes", _number(slopes.spread, 3)))
    if fit.partial_credit:
        rows.append(("partial credits are counts of independent trials", _tested(fit.partial_credit.equal_steps)))
    if fit.components:
        rows.append(("first eigenvalue of residuals", _number(fit.components.eigenvalues[0], 3)))
    rows += _dependence_rows(result)
    if fit.monotone is not None:
        falling = sum(entry.p is not None and entry.p < 0.01 for entry in fit.monotone)
        rows.append(("items whose success falls with ability, p < 0.01", str(falling)))
    if result.held_out:
        loss = result.held_out
        rows += [
            ("loss per held-out reply if the scale predicts it", _number(loss.scale, 4)),
            ("loss per held-out reply if one success rate predicts it", _number(loss.one_rate, 4)),
            ("loss per held-out reply if each model's success rate predicts it", _number(loss.model_rates, 4)),
        ]
    return Table("Summary", ("", "value"), tuple(rows), 1)


def _tested(test: Andersen) -> str:
    return f"{test.statistic:.2f}, df {test.df}, p {test.p:.3f}"


def _dependence_rows(result: CalibrationResult) -> list[tuple[str, str]]:
    """Return the lines about replies to instances of one template."""
    dependence = result.dependence
    if dependence is None:
        return []
    rows = []
    if dependence.families is not None:
        rows.append(("standard errors of abilities: clusters (templates)", str(dependence.families)))
        rows.append(("standard errors of abilities: design effect", _number(dependence.design_effect, 2)))
    if dependence.effect is not None:
        effect = dependence.effect
        error = "" if effect.se is None else f"{PLUS_MINUS}{effect.se:.3f}"
        rows.append(("effect of templates: standard deviation", f"{effect.sd:.3f}{error}, p {effect.p:.3f}"))
    if dependence.q3_within is not None:
        between = _number(dependence.q3_between, 3)
        name = "Yen's Q3 (mean correlation of residuals) within templates, between templates"
        rows.append((name, f"{dependence.q3_within:.3f}, {between}"))
    return rows


def _choice(result: CalibrationResult) -> Table | None:
    if not result.choice:
        return None
    headings = ("category", "filter", "items", "kept", "gain", "infit ok", "budget SE", "admitted", "frontier")
    rows = tuple(
        (
            category,
            entry.rule,
            str(entry.items),
            _number(entry.kept, 3),
            _number(entry.gain, 4),
            _number(entry.infit_share, 3),
            _number(entry.budget_se, 4),
            "yes" if entry.admitted else "",
            "yes" if entry.pareto else "",
        )
        for category, table in result.choice.categories.items()
        for entry in table
    )
    return Table(f"Filters; chosen: {result.choice.chosen or 'none'}", headings, rows, 2, note=CHOICE_NOTE)


def _left(result: CalibrationResult) -> Table | None:
    if not result.stability:
        return None
    rows = []
    for kind, report in result.stability.items():
        for entry in report.left_out:
            gaps = [abs(placed.difference) for placed in entry.placed.values()]
            moved = _number(max(gaps), 3) if gaps else ""
            rows.append((entry.name, _number(entry.mean_absolute, 3), _number(entry.correlation, 4), moved))
        null = {name: figure.mean for name, figure in (report.null or {}).items()}
        rows.append(_pooled(f"all {kind}", report.pooled))
        chance = "" if report.p is None else f" (p {report.p:.2f})"
        rows.append(_pooled(f"all {kind}, by chance{chance}", null))
    return Table(
        "Stability when one is left out",
        ("without", "mean change", "correlation", "shift of its ability"),
        tuple(rows),
        1,
        note=STABILITY_NOTE,
    )


def _pooled(name: str, figures: Mapping[str, float | None]) -> tuple[str, str, str, str]:
    places = {"mean_absolute": 3, "correlation": 4, "placement_rmse": 3}
    changed, correlation, placed = (_number(figures.get(key), width) for key, width in places.items())
    return name, changed, correlation, placed


def _differences(title: str, what: str, differences: Sequence[FamilyDifference] | None) -> Table | None:
    if not differences:
        return None
    rows = tuple(
        (
            entry.item,
            entry.group,
            f"{entry.size:.3f}{PLUS_MINUS}{entry.se:.3f}",
            _number(entry.p, 4),
            _number(entry.adjusted, 4),
            _number(entry.detectable, 2),
        )
        for entry in differences[:WORST]
    )
    return Table(title, (what, "family", "logits", "p", "adjusted", "detectable"), rows, 2)


def _wald(result: CalibrationResult) -> Table | None:
    """Return the Wald tests with the largest statistics."""
    report = result.fit.wald
    if report is None:
        return None
    other = "models" if report.compared == "items" else "items"
    rows = tuple(
        (entry.name, f"{entry.difference:.3f}{PLUS_MINUS}{entry.se:.3f}", _number(entry.z, 2), _number(entry.p, 4))
        for entry in report.entries[:WORST]
    )
    place = "Difficulty" if report.compared == "items" else "Ability"
    title = f"{place} by {other} with high scores, minus that by {other} with low scores (Wald tests)"
    return Table(title, (report.compared[:-1], "logits", "z", "p"), rows, 1)


def _slopes(result: CalibrationResult) -> Table | None:
    """Return the smallest and the largest slopes."""
    report = result.fit.slopes
    if report is None:
        return None
    ranked = sorted(report.entries, key=lambda entry: entry.value)
    few = ranked if len(ranked) <= WORST else [*ranked[: WORST // 2], *ranked[-WORST // 2 :]]
    rows = tuple((entry.name, f"{entry.value:.3f}{PLUS_MINUS}{entry.se or 0:.3f}") for entry in few)
    ends = f": the smallest and the largest of {len(ranked):,}" if len(few) < len(ranked) else ""
    return Table(f"Slopes of {report.of} (2PL){ends}", (report.of[:-1], "slope"), rows, 1)


def _partial_credit(result: CalibrationResult) -> list[Table]:
    """Return the abilities from partial credits, and the thresholds."""
    report = result.fit.partial_credit
    if report is None:
        return []
    models = sorted(report.abilities, key=lambda entry: -entry.value)[:SHOWN_MODELS]
    places = tuple((entry.name, f"{entry.value:.3f}{PLUS_MINUS}{entry.se or 0:.3f}") for entry in models)
    thresholds = tuple(
        (entry.name, ", ".join(f"{value:.2f}" for value in entry.thresholds), ", ".join(f"{se:.2f}" for se in entry.se))
        for entry in report.thresholds[:WORST]
    )
    return [
        Table("Abilities from partial credits", ("model", "logits"), places, 1),
        Table("Thresholds between scores, about the item's difficulty", ("items", "logits", "errors"), thresholds, 1),
    ]


def link_tables(result: LinkResult) -> list[Table]:
    """Return the link of two banks, and the items with the largest differences."""
    error = f"{PLUS_MINUS}{result.se:.4f}" if result.se is not None else ""
    rows = (
        ("common items, without extreme ones", str(result.common)),
        ("items used for the link", str(result.linking)),
        ("shift of the second bank", f"{result.shift:.4f}{error}"),
        (
            "standard error of the shift, from the standard errors of the difficulties alone",
            _number(result.sampling_se, 4),
        ),
        ("ratio of spreads", _number(result.slope, 3)),
        ("correlation", _number(result.correlation, 4)),
    )
    worst = tuple(
        (entry.item, _number(entry.difference, 3), _number(entry.z, 2), "" if entry.links else "drifted")
        for entry in result.items[:WORST]
    )
    headings = ("item", "difference", "z", "")
    return [Table("Link", ("", "value"), rows, 1), Table("Items with the largest differences", headings, worst, 1)]


def _effects_note(names: Sequence[str]) -> str:
    """Return what the logits mean, for the kinds of features that occur."""
    features = [name for name in names if name != "constant"]
    kinds = [
        words for pattern, words in KINDS_OF_EFFECTS.items() if any(re.fullmatch(pattern, name) for name in features)
    ]
    has_labels = any(name.startswith(("skill ", "template ")) for name in features)
    legend = f"logits: the effect {', or '.join(kinds)}." if kinds else ""
    return f"{legend}\n{UNLISTED}" if has_labels else legend


NEW_TEMPLATES = "(templates that the bank does not have)"


def explain_tables(result: ExplanationResult) -> list[Table]:
    """Return the effects of features, and how much they explain."""
    effects = tuple(
        (
            entry.name,
            f"{entry.value:.3f}{PLUS_MINUS}{entry.se:.3f}",
            f"{entry.ci[0]:.2f} to {entry.ci[1]:.2f}",
        )
        for entry in result.effects
    )
    cross_validation = result.held_out
    rows = (
        ("items", str(result.items)),
        ("share of variance explained, of the items in the bank", _number(result.explained, 3)),
        ("remaining standard deviation, logits", _limited(result.error, LEAST_ERROR, 3)),
        ("standard deviation without features", _limited(result.error_without, LEAST_ERROR, 3)),
        ("error of predictions for unseen items, logits", _limited(cross_validation.rmse, LEAST_ERROR, 3)),
        ("the same without features", _limited(cross_validation.rmse_without, LEAST_ERROR, 3)),
        ("gain of log likelihood at unseen items", _number(cross_validation.log_likelihood_gain, 2)),
    )
    is_useless = (
        cross_validation.log_likelihood_gain <= 0 or cross_validation.rmse > USEFUL * cross_validation.rmse_without
    )
    title = "Effects on difficulty"
    tables = [
        Table(
            title,
            ("feature", "logits", "95 %"),
            effects,
            1,
            note=_effects_note([entry.name for entry in result.effects]),
        ),
        Table(
            "Quality of the explanation",
            ("", "value"),
            rows,
            1,
            note=NO_GAIN_NOTE if is_useless else "",
        ),
    ]
    entries = [*result.templates, *([] if result.new_templates is None else [result.new_templates])]
    qualities = tuple(
        (
            NEW_TEMPLATES if entry.template is None else entry.template,
            str(entry.items),
            _limited(entry.error, LEAST_ERROR, 2),
            _number(entry.se, 2),
            "yes" if entry.why is None else f"no: {entry.why}",
        )
        for entry in entries
    )
    headings = ("template", "items", "error", "shared SE", "instances can be chosen")
    if entries:
        tables.append(
            Table("Errors of predicted difficulties of new instances, logits", headings, qualities, 1, note=ERROR_NOTE)
        )
    slopes = tuple(
        (entry.model, _number(entry.slope, 2), f"{entry.ci[0]:.2f} to {entry.ci[1]:.2f}", pace_in_words(*entry.ci))
        for entry in sorted(result.slopes, key=lambda entry: -entry.slope)[:SHOWN_MODELS]
    )
    if slopes:
        columns = ("model", "slope", "95 %", "its success changes")
        tables.append(Table("How fast success changes with predicted difficulty", columns, slopes, 1))
    return tables


def overlap_tables(result: OverlapResult) -> list[Table]:
    """Return the questions that were found elsewhere."""
    title = (
        f"{counted(result.checked, 'question')} compared with {counted(result.texts, 'text')}: {result.exact:,} word "
        "for word, "
        f"{result.shingles} sharing at least {100 * result.least:.0f} % of their {result.size}-word shingles"
    )
    rows = tuple((hit.question, hit.text, f"{100 * hit.share:.1f}", "yes" if hit.exact else "") for hit in result.hits)
    return [Table(title, ("question", "found in", "shared %", "exact"), rows, 2)]
