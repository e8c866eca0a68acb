"""Calibrate a panel's counts to a bank, and check its quality."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypedDict

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.psychometrics.calibration_result import (
    AbilityDifference,
    CalibrationResult,
    FamilyDifference,
    FamilyEffect,
    FilterChoice,
    LocalDependence,
    LocatedEntry,
    ModelFit,
    MonotoneItem,
    NormalPrior,
    NullFigure,
    RefitEntry,
    RefitPlacement,
    ResidualComponents,
    StabilityReport,
)
from dia_runtime.psychometrics.model_checks import (
    partial_credit_report,
    plausible_draws,
    slopes_report,
    wald_report,
)
from dia_runtime.psychometrics.panel import Panel
from dia_runtime.psychometrics.rasch.andersen import andersen, martin_loef
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel, LeftOut
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts
from dia_runtime.psychometrics.rasch.differential import (
    DifferentialItem,
    differential_items,
    differential_templates,
)
from dia_runtime.psychometrics.rasch.estimate import Calibration, EstimationOptions, estimate, finite_or_none
from dia_runtime.psychometrics.rasch.filters import choose, chosen, keep, parse_rule
from dia_runtime.psychometrics.rasch.fit import (
    Fits,
    Locations,
    fit_statistics,
    likelihood_locations,
    reliability,
    residual_components,
    standardised_residuals,
)
from dia_runtime.psychometrics.rasch.held_out import HeldOut, held_out
from dia_runtime.psychometrics.rasch.jml import log_likelihood
from dia_runtime.psychometrics.rasch.monotone import monotone
from dia_runtime.psychometrics.rasch.paper import algorithm_1
from dia_runtime.psychometrics.rasch.stability import Stability, stability
from dia_runtime.psychometrics.rasch.testlet import family_effects, residual_correlation
from numpy.typing import NDArray

Z = 1.959963984540054  # of the normal distribution, for an interval of 95 %
CHECKS = (
    "andersen", "wald", "martin-loef", "components", "slopes", "partial-credit", "held-out", "stability", "monotone",
)  # fmt: skip
MOST_COMPONENTS = 2000  # maximum members of the smaller side for residual correlations
MOST_CELLS = 5_000_000  # for the test of local dependence
NAMED = 5  # in a message
MONOTONE_DRAWS = 200  # at least: p below 0.01 needs a hundred
DIGITS = 9  # decimals in a bank: further digits depend on the machine's linear algebra
LEAST_OF_CATEGORY = 20  # minimum items of a category for a separate comparison of filters


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """How a panel is calibrated: how its scale is estimated, which items are kept, and what is checked.

    `anchors` are fixed difficulties of items. `families` has the family of each model (or None), for differences and
    stability; `draws` is the number of data sets drawn to distinguish an effect from chance. With `cluster`
    "templates", errors of abilities allow for dependent replies within a template. `split` is where tests divide the
    data, `plausible` the number of plausible values.
    """

    estimation: EstimationOptions = EstimationOptions()  # noqa: RUF009 - it is frozen
    anchors: Mapping[str, float] | None = None
    filter: str | None = None
    choose_filter: bool = False
    checks: tuple[str, ...] = ()
    families: tuple[str | None, ...] | None = None
    largest_block: bool = False
    draws: int = 20
    seed: int = 0
    paper: bool = False
    cluster: str = "templates"
    split: str = "median"
    plausible: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPanel:
    """A bank, and the result for printing."""

    bank: Bank
    result: CalibrationResult


@dataclass(frozen=True, slots=True, eq=False)
class _FittedPanel:
    """A panel on its scale, with the maximum-likelihood locations used to check its fit."""

    panel: Panel
    calibration: Calibration
    locations: Locations
    model_fits: Fits
    item_fits: Fits


def calibrate_panel(
    panel: Panel,
    options: CalibrationOptions = CalibrationOptions(),
    on_stage: Callable[[str], None] = lambda text: None,
) -> CalibratedPanel:
    """Return the scale of a panel; `on_stage` is called before each stage that may take long.

    Raises DiaError (exit 2) for data that are disconnected or give no scale.
    """
    if options.paper:
        return _paper(panel)
    fitted = _fitted(panel, options)
    if options.choose_filter:
        on_stage("testing filters on held-out replies")
    choice = _choice(fitted, options.estimation) if options.choose_filter else None
    rule = options.filter or (None if choice is None else choice.chosen)
    if rule is not None:
        is_kept = keep(parse_rule(rule), panel.successes, panel.trials, fitted.locations, fitted.item_fits)
        fitted = _fitted(_filtered(panel, is_kept, rule), options)
    dependence = _dependence(fitted)
    result = replace(
        _result(fitted, options.estimation),
        fit=_model_fit(fitted, options),
        filter=rule,
        choice=choice,
        held_out=_held_out(fitted.panel, options),
        stability=_stability(fitted.panel, options, on_stage),
        differences=_differences(fitted, options.families),
        template_differences=_template_differences(fitted, options.families, dependence),
        dependence=dependence,
        neighbors=_neighbors(fitted),
        plausible_values=(
            plausible_draws(fitted.panel, fitted.calibration, options.plausible, options.seed)
            if options.plausible
            else None
        ),
    )
    return CalibratedPanel(_bank(result, fitted.panel), result)


def _fitted(panel: Panel, options: CalibrationOptions) -> _FittedPanel:
    anchors = options.anchors
    difficulties = None if anchors is None else np.array([anchors.get(name, np.nan) for name in panel.items])
    if difficulties is not None and not np.isfinite(difficulties).any():
        raise DiaError(
            Diagnostic(
                "E895",
                "the bank of `--anchors` has none of these items",
                None,
                "name a bank of these items, calibrated with the same `--items`, or calibrate without `--anchors`",
            )
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        clusters = families_of(panel) if options.cluster == "templates" else None
        calibration = estimate(panel.successes, panel.trials, options.estimation, difficulties, clusters)
        if not options.largest_block:
            _require_one_block(panel, calibration)
        return _with_fit(panel, calibration)


def _with_fit(panel: Panel, calibration: Calibration) -> _FittedPanel:
    locations = likelihood_locations(calibration, panel.successes, panel.trials)
    return _FittedPanel(panel, calibration, locations, *fit_statistics(locations, panel.successes, panel.trials))


def families_of(panel: Panel) -> NDArray[np.intp] | None:
    """Return the number of each item's family: its template. None if the items of the data have no templates.

    An item that represents a whole template, with several trials, is a family of its own.
    """
    if panel.unit not in ("instances", "items"):
        is_repeated = panel.unit == "templates" and bool(np.max(panel.trials) > 1)
        return np.arange(len(panel.items)) if is_repeated else None
    names = [about.template for about in panel.about]
    if None in names:
        return None
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], dtype=np.intp)


def _dependence(fitted: _FittedPanel) -> LocalDependence | None:
    """Return the effect of families on replies, tested, and the residual correlation within families."""
    panel, calibration, locations = fitted.panel, fitted.calibration, fitted.locations
    families = families_of(panel)
    if families is None:
        return None
    chosen = np.ix_(locations.models, locations.items)
    trials = np.broadcast_to(panel.trials, panel.successes.shape)[chosen].astype(int)
    within = np.unique(families[locations.items], return_inverse=True)[1].ravel().astype(np.intp)
    fit = correlation = None
    if panel.successes[chosen].size <= MOST_CELLS and not panel.is_shares:
        fit = family_effects(panel.successes[chosen], trials, within)
        correlation = residual_correlation(*standardised_residuals(locations, panel.successes, panel.trials), within)
    return LocalDependence(
        families=calibration.clusters,
        design_effect=None if calibration.design_effect is None else finite_or_none(calibration.design_effect),
        effect=None if fit is None else FamilyEffect(fit.sd, fit.se, fit.z, fit.p),
        q3_within=None if correlation is None else correlation.within,
        q3_between=None if correlation is None else correlation.between,
    )


def _neighbors(fitted: _FittedPanel) -> list[AbilityDifference] | None:
    """Return the difference of each model from the next less able one; None if the method has no covariances."""
    calibration, models = fitted.calibration, fitted.panel.models
    if calibration.ability_covariance is None:
        return None
    estimated = np.flatnonzero([status == "estimated" for status in calibration.ability_status])
    order = estimated[np.argsort(-calibration.abilities[estimated], kind="stable")].tolist()
    factor = _factor(calibration)
    differences = []
    for high, low in pairwise(order):
        value, se = calibration.difference(high, low)
        ends = (value - factor * se, value + factor * se)
        differences.append(AbilityDifference(models[high], models[low], value, se, ends))
    return differences


def _factor(calibration: Calibration) -> float:
    """Return the factor from a standard error to half a 95 % interval: by Student's t for clusters."""
    from scipy.special import stdtrit

    return Z if calibration.clusters is None else float(stdtrit(calibration.clusters - 1, 0.975))


def _require_one_block(panel: Panel, calibration: Calibration) -> None:
    sides = {
        "models": (panel.models, calibration.ability_status),
        "items": (panel.items, calibration.difficulty_status),
    }
    apart = {
        what: [name for name, status in zip(names, statuses, strict=True) if status == "disconnected"]
        for what, (names, statuses) in sides.items()
    }
    if any(apart.values()):
        parts = [f"{len(names)} {what} ({_some(names)})" for what, names in apart.items() if names]
        message = visible(
            f"the data fall into unconnected blocks: {' and '.join(parts)} cannot be placed on the scale of the others"
        )
        help = "let models of one block answer items of the other, or keep the largest block with `--largest-block`"
        raise DiaError(Diagnostic("E892", message, None, help))


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name[:60]}`" for name in names[:NAMED])
    return f"{listed}, ..." if len(names) > NAMED else listed


def _filtered(panel: Panel, mask: Mask, rule: str) -> Panel:
    """Return the panel with the items that a filter keeps."""
    if mask.sum() < 2:
        message = f"the filter `{rule}` keeps {int(mask.sum())} of {len(mask)} items"
        raise DiaError(Diagnostic("E893", message, None, "use wider bounds"))
    at = np.flatnonzero(mask)
    return replace(
        panel,
        items=tuple(panel.items[item] for item in at),
        about=tuple(panel.about[item] for item in at),
        successes=np.ascontiguousarray(panel.successes[:, at]),
        trials=panel.trials if panel.trials.shape[1] == 1 else np.ascontiguousarray(panel.trials[:, at]),
    )


def _result(fitted: _FittedPanel, estimation: EstimationOptions) -> CalibrationResult:
    """Return the scale, without the checks."""
    panel, calibration = fitted.panel, fitted.calibration
    trials = np.broadcast_to(panel.trials, panel.successes.shape)
    model_totals, item_totals = (
        (panel.successes.sum(axis=axis), trials.sum(axis=axis, dtype=float)) for axis in (1, 0)
    )
    abilities = (calibration.abilities, calibration.ability_se, *_fit_columns(fitted.model_fits), *model_totals)
    difficulties = (calibration.difficulties, calibration.difficulty_se, *_fit_columns(fitted.item_fits), *item_totals)
    entries = {
        "models": _entries(panel.models, calibration.ability_status, abilities, _factor(calibration)),
        "items": _entries(panel.items, calibration.difficulty_status, difficulties),
    }
    left_out = [
        LeftOut(kind, entry.name, entry.status)
        for kind, side in (("item", "items"), ("model", "models"))
        for entry in entries[side]
        if entry.value is None
    ]
    return CalibrationResult(
        abilities=entries["models"],
        difficulties=entries["items"],
        log_likelihood=finite_or_none(calibration.log_likelihood),
        iterations=calibration.iterations,
        residual=finite_or_none(calibration.residual),
        gauge=calibration.gauge,
        method=calibration.method,
        item_scores=estimation.item_scores,
        prior=None if calibration.prior is None else NormalPrior(*calibration.prior),
        unit=panel.unit,
        benchmark=panel.benchmark,
        exact=None,
        fit=_reliabilities(fitted.locations),
        left_out=tuple(left_out),
    )


def _fit_columns(fits: Fits) -> tuple[Array, ...]:
    return fits.infit, fits.outfit, fits.infit_z, fits.outfit_z


def _entries(
    names: Sequence[str], statuses: Sequence[str], columns: Sequence[Array], factor: float = Z
) -> list[LocatedEntry]:
    table = np.stack(columns, axis=1).tolist()
    return [_entry(name, status, row, factor) for name, status, row in zip(names, statuses, table, strict=True)]


def _entry(name: str, status: str, row: Sequence[float], factor: float) -> LocatedEntry:
    value, se, *figures = map(finite_or_none, row)
    se = None if status == "anchor" else se  # it was supplied
    ends = None if value is None or se is None else (value - factor * se, value + factor * se)
    return LocatedEntry(name, value, se, ends, status, *figures)


def _reliabilities(locations: Locations) -> ModelFit:
    return ModelFit(
        reliability(locations.abilities[locations.models], locations.ability_se[locations.models]),
        reliability(locations.difficulties[locations.items], locations.difficulty_se[locations.items]),
    )


def _model_fit(fitted: _FittedPanel, options: CalibrationOptions) -> ModelFit:
    locations, successes, trials = fitted.locations, fitted.panel.successes, fitted.panel.trials
    return replace(
        _reliabilities(locations),
        components=_components(fitted) if "components" in options.checks else None,
        andersen=andersen(successes, trials, options.split) if "andersen" in options.checks else None,
        wald=wald_report(fitted.panel, options.split) if "wald" in options.checks else None,
        martin_loef=martin_loef(successes, trials, options.split) if "martin-loef" in options.checks else None,
        slopes=slopes_report(fitted.panel, families_of(fitted.panel)) if "slopes" in options.checks else None,
        partial_credit=partial_credit_report(fitted.panel) if "partial-credit" in options.checks else None,
        monotone=_monotone(fitted, max(options.draws, MONOTONE_DRAWS), options.seed)
        if "monotone" in options.checks
        else None,
    )


def _components(fitted: _FittedPanel) -> ResidualComponents | None:
    panel, locations = fitted.panel, fitted.locations
    if not 2 <= min(locations.models.sum(), locations.items.sum()) <= MOST_COMPONENTS:
        return None
    components = residual_components(locations, panel.successes, panel.trials)
    names = panel.models if components.by == "models" else panel.items
    loadings = map(finite_or_none, components.loadings.tolist())
    eigenvalues = components.eigenvalues[:10].tolist()
    return ResidualComponents(components.by, eigenvalues, dict(zip(names, loadings, strict=True)))


def _monotone(fitted: _FittedPanel, draws: int, seed: int) -> list[MonotoneItem]:
    panel = fitted.panel
    tested = monotone(fitted.locations, panel.successes, panel.trials, draws, seed)
    rows = zip(panel.items, tested.p.tolist(), tested.rates.T.tolist(), tested.fitted.T.tolist(), strict=True)
    return [
        MonotoneItem(name, finite_or_none(p), list(map(finite_or_none, rates)), list(map(finite_or_none, curve)))
        for name, p, rates, curve in rows
    ]


def _held_out(panel: Panel, options: CalibrationOptions) -> HeldOut | None:
    if "held-out" not in options.checks or options.estimation.gauge == "anchors":
        return None
    return held_out(panel.successes, panel.trials, options.estimation, seed=options.seed)


def _stability(
    panel: Panel, options: CalibrationOptions, on_stage: Callable[[str], None]
) -> dict[str, StabilityReport] | None:
    """Refit without each model, and without each family if these are known."""
    if "stability" not in options.checks or options.estimation.gauge == "anchors":
        return None
    count = len(panel.models)
    on_stage(f"stability: {count} models left out in turn, in these data and in {options.draws} simulated data sets")
    groups = {"models": {name: np.arange(count) == at for at, name in enumerate(panel.models)}}
    if options.families:
        names = sorted({family for family in options.families if family is not None})
        families = {name: np.array([family == name for family in options.families]) for name in names}
        groups["families"] = {name: members for name, members in families.items() if count - members.sum() >= 2}
    data = panel.successes, panel.trials, options.estimation
    return {
        kind: _stability_report(panel, stability(*data, members, options.draws, options.seed))
        for kind, members in groups.items()
    }


def _stability_report(panel: Panel, measured: Stability) -> StabilityReport:
    left_out = [
        RefitEntry(
            finite_or_none(refit.shift),
            finite_or_none(refit.mean_absolute),
            finite_or_none(refit.correlation),
            refit.name,
            refit.items,
            {panel.models[model]: RefitPlacement(*place) for model, place in refit.placed.items()},
        )
        for refit in measured.refits
    ]
    null = None if measured.null is None else {
        name: NullFigure(mean, (low, high)) for name, (mean, low, high) in measured.null.items() if np.isfinite(mean)
    }  # fmt: skip
    pooled = {name: finite_or_none(value) for name, value in measured.pooled.items()}
    return StabilityReport(left_out, pooled, null, measured.p)


def _differences(fitted: _FittedPanel, families: Sequence[str | None] | None) -> list[FamilyDifference] | None:
    if not families:
        return None
    panel = fitted.panel
    entries = differential_items(fitted.locations, panel.successes, panel.trials, families)
    return [_family_difference(panel.items[entry.item], entry) for entry in entries]


def _template_differences(
    fitted: _FittedPanel, families: Sequence[str | None] | None, dependence: LocalDependence | None
) -> list[FamilyDifference] | None:
    """Return how much harder each template is for a family; None if each template has one item."""
    panel, templates = fitted.panel, families_of(fitted.panel)
    if not families or panel.is_shares or templates is None or len(np.unique(templates)) == len(templates):
        return None
    names = {int(at): about.template or "" for at, about in zip(templates, panel.about, strict=True)}
    sd = dependence.effect.sd if dependence and dependence.effect and dependence.is_rejected else 0.0
    entries = differential_templates(fitted.locations, panel.successes, panel.trials, families, templates, sd)
    return [_family_difference(names[entry.item], entry) for entry in entries]


def _family_difference(name: str, entry: DifferentialItem) -> FamilyDifference:
    return FamilyDifference(name, entry.group, entry.size, entry.se, entry.p, entry.adjusted, entry.detectable)


def _choice(fitted: _FittedPanel, estimation: EstimationOptions) -> FilterChoice:
    """Return the candidates for each category of items, and the filter that is on the most frontiers."""
    panel, locations = fitted.panel, fitted.locations
    categories = np.array([about.category or "all" for about in panel.about])
    groups = {str(name): categories == name for name in np.unique(categories)}
    groups = {name: mask for name, mask in groups.items() if mask.sum() >= LEAST_OF_CATEGORY}
    tables = {
        name: choose(
            panel.successes,
            panel.trials,
            replace(locations, items=locations.items & mask),
            fitted.item_fits,
            estimation,
        )
        for name, mask in (groups or {"all": np.ones(len(panel.items), bool)}).items()
    }
    return FilterChoice(chosen(list(tables.values())), tables)


def _bank(result: CalibrationResult, panel: Panel) -> Bank:
    about = dict(zip(panel.items, panel.about, strict=True))
    items = tuple(
        BankItem(**_bank_fields(entry), item=entry.name, difficulty=_bank_location(entry),
                 template=about[entry.name].template, skills=about[entry.name].skills)
        for entry in result.difficulties if entry.value is not None
    )  # fmt: skip
    models = tuple(
        BankModel(**_bank_fields(entry), model=entry.name, ability=_bank_location(entry))
        for entry in result.abilities
        if entry.value is not None
    )
    return Bank(
        items=items,
        models=models,
        method=result.method,
        gauge=result.gauge,
        log_likelihood=_rounded(result.log_likelihood, 6),
        iterations=result.iterations,
        unit=panel.unit,
        benchmark=panel.benchmark,
        questions_root=panel.questions_root,
        item_scores=result.item_scores,
        prior_mean=None if result.prior is None else _rounded(result.prior.mean),
        prior_sd=None if result.prior is None else _rounded(result.prior.sd),
        filter=result.filter,
        left_out=result.left_out,
        family_sd=_family_sd(result),
    )


def _family_sd(result: CalibrationResult) -> float | None:
    """Return the standard deviation of family effects: 0 if independence is not rejected, None if untested."""
    dependence = result.dependence
    if dependence is None or dependence.effect is None:
        return None
    return _rounded(dependence.effect.sd, 6) if dependence.is_rejected else 0.0


class _BankFields(TypedDict):
    """The fields that items and models of a bank have in common."""

    se: float | None
    status: str
    successes: float | None
    trials: float | None
    infit: float | None
    outfit: float | None


def _bank_fields(entry: LocatedEntry) -> _BankFields:
    return {
        "se": _rounded(entry.se),
        "status": entry.status,
        "successes": entry.successes,
        "trials": entry.trials,
        "infit": _rounded(entry.infit),
        "outfit": _rounded(entry.outfit),
    }


def _bank_location(entry: LocatedEntry) -> float:
    assert entry.value is not None
    return entry.value if entry.status == "anchor" else round(entry.value, DIGITS)


def _rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """Return the number as a bank stores it, rounded so that the same data give nearly always the same bytes."""
    return None if value is None else round(value, digits)


def _paper(panel: Panel) -> CalibratedPanel:
    """Run Algorithm 1 of the Self-Execution paper as published, and the exact solution of the same model."""
    estimation = EstimationOptions(method="jml")
    exact = estimate(panel.successes, panel.trials, estimation)
    _require_one_block(panel, exact)
    if any(status.startswith("extreme") for status in (*exact.ability_status, *exact.difficulty_status)):
        raise DiaError(
            Diagnostic(
                "E893",
                "the preset `paper` does not converge if a model or item has only correct or only wrong replies",
                None,
                "remove them from the data, or calibrate without `--preset paper`",
            )
        )
    abilities, difficulties, iterations = algorithm_1(panel.successes, panel.trials)
    calibration = replace(
        exact, abilities=abilities, difficulties=difficulties, iterations=iterations, gauge="none", method="paper",
        log_likelihood=_likelihood(panel, abilities, difficulties),
    )  # fmt: skip
    result = replace(
        _result(_with_fit(panel, calibration), estimation),
        exact=exact.as_json(panel.models, panel.items),
        left_out=(),
    )
    return CalibratedPanel(_bank(result, panel), result)


def _likelihood(panel: Panel, abilities: Array, difficulties: Array) -> float:
    trials = np.broadcast_to(panel.trials, panel.successes.shape)
    data = counts(panel.successes, trials, difficulties)
    return log_likelihood(data, abilities, data.anchors)
