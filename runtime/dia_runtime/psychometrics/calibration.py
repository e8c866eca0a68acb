"""A panel's counts to a bank, with all that tells whether to trust it: the keys of `dia calibrate --json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.psychometrics.panel import Panel
from dia_runtime.psychometrics.rasch.andersen import andersen
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel, LeftOut
from dia_runtime.psychometrics.rasch.counts import Array, Mask
from dia_runtime.psychometrics.rasch.differential import differential_items
from dia_runtime.psychometrics.rasch.estimate import Calibration, EstimationOptions, estimate, finite_or_none
from dia_runtime.psychometrics.rasch.filters import choose, chosen, keep, parse_rule
from dia_runtime.psychometrics.rasch.fit import (
    Fits,
    Locations,
    fit_statistics,
    likelihood_locations,
    reliability,
    residual_components,
)
from dia_runtime.psychometrics.rasch.held_out import held_out
from dia_runtime.psychometrics.rasch.jml import log_likelihood
from dia_runtime.psychometrics.rasch.monotone import monotone
from dia_runtime.psychometrics.rasch.paper import algorithm_1
from dia_runtime.psychometrics.rasch.stability import Stability, stability

Z = 1.959963984540054  # of the normal distribution, for an interval of 95 %
CHECKS = ("andersen", "components", "held-out", "stability", "monotone")
MOST_COMPONENTS = 2000  # members of the smaller side whose residual correlations are taken
NAMED = 5  # in a message
DIGITS = 9  # behind the point in a bank: the digits that do not hang on the machine's linear algebra


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """What is asked of a scale beside its estimation.

    `families` says of each model to which family it belongs (or None), for differences and stability; `draws` is how
    many data sets are drawn where chance is to be told from more.
    """

    filter: str | None = None
    choose_filter: bool = False
    checks: tuple[str, ...] = ()
    families: tuple[str | None, ...] | None = None
    largest_block: bool = False
    draws: int = 20
    seed: int = 0
    paper: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPanel:
    """A bank, and the result as it is printed."""

    bank: Bank
    result: dict[str, Any]


def calibrate_panel(
    panel: Panel,
    options: EstimationOptions,
    calibration_options: CalibrationOptions,
    anchors: Mapping[str, float] | None = None,
    on_progress: Callable[[str], None] = lambda text: None,
) -> CalibratedPanel:
    """The scale of a panel; `tell` is called with what is begun that may take long.

    Raises DiaError (exit 2) for data that fall apart or give no scale.
    """
    if calibration_options.paper:
        return _paper(panel)
    locations, fits, calibration = _fitted(panel, options, calibration_options, anchors)
    if calibration_options.choose_filter:
        on_progress("filters: each is tried on held-out replies")
    choice = _choice(panel, locations, fits[1], options) if calibration_options.choose_filter else None
    rule = calibration_options.filter or (choice or {}).get("chosen")
    if rule is not None:
        panel = _filtered(panel, keep(parse_rule(rule), panel.successes, panel.trials, locations, fits[1]), rule)
        locations, fits, calibration = _fitted(panel, options, calibration_options, anchors)
    bank = _bank(panel, calibration, fits, options, rule)
    result = {
        **_entries(panel, calibration, fits),
        **_about(panel, calibration, options),
        "fit": _fit(panel, locations, calibration_options),
        "filter": rule,
        "choice": choice,
        "held_out": _held_out(panel, options, calibration_options),
        "stability": _stability(panel, options, calibration_options, on_progress),
        "differences": _differences(panel, locations, calibration_options),
        "left_out": [asdict(entry) for entry in bank.left_out],
    }
    return CalibratedPanel(bank, result)


def _fitted(
    panel: Panel,
    options: EstimationOptions,
    calibration_options: CalibrationOptions,
    anchors: Mapping[str, float] | None,
) -> tuple[Locations, tuple[Fits, Fits], Calibration]:
    anchor_difficulties = None if anchors is None else np.array([anchors.get(name, np.nan) for name in panel.items])
    if anchor_difficulties is not None and not np.isfinite(anchor_difficulties).any():
        raise DiaError(Diagnostic("E895", "the bank of anchors holds none of these items", None, "calibrate anew"))
    with np.errstate(divide="ignore", invalid="ignore"):
        calibration = estimate(panel.successes, panel.trials, options, anchor_difficulties)
        if not calibration_options.largest_block:
            _require_whole(panel, calibration)
        locations = likelihood_locations(calibration, panel.successes, panel.trials)
        return locations, fit_statistics(locations, panel.successes, panel.trials), calibration


def _require_whole(panel: Panel, calibration: Calibration) -> None:
    apart = {
        "models": [
            name
            for name, status in zip(panel.models, calibration.ability_status, strict=True)
            if _is_disconnected(status)
        ],
        "items": [
            name
            for name, status in zip(panel.items, calibration.difficulty_status, strict=True)
            if _is_disconnected(status)
        ],
    }
    if any(apart.values()):
        parts = [f"{len(names)} {what} ({_some(names)})" for what, names in apart.items() if names]
        message = visible(f"the data fall into blocks: {' and '.join(parts)} cannot stand on the scale of the others")
        help = "ask models and items of both blocks together, or keep the largest block: `--largest-block`"
        raise DiaError(Diagnostic("E892", message, None, help))


def _is_disconnected(status: str) -> bool:
    return status == "disconnected"


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name[:60]}`" for name in names[:NAMED])
    return f"{listed}, ..." if len(names) > NAMED else listed


def _filtered(panel: Panel, mask: Mask, rule: str) -> Panel:
    """The panel with the items that a filter keeps."""
    if mask.sum() < 2:
        message = f"the filter `{rule}` keeps {int(mask.sum())} of {len(mask)} items"
        raise DiaError(Diagnostic("E893", message, None, "take wider bounds"))
    at = np.flatnonzero(mask)
    return replace(
        panel,
        items=tuple(panel.items[item] for item in at),
        about=tuple(panel.about[item] for item in at),
        successes=np.ascontiguousarray(panel.successes[:, at]),
        trials=panel.trials if panel.trials.shape[1] == 1 else np.ascontiguousarray(panel.trials[:, at]),
    )


def _totals(panel: Panel) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Successes and trials of models, and of items."""
    every = np.broadcast_to(panel.trials, panel.successes.shape)
    return tuple((panel.successes.sum(axis=axis), every.sum(axis=axis, dtype=float)) for axis in (1, 0))  # type: ignore[return-value]


def _entries(panel: Panel, calibration: Calibration, fits: tuple[Fits, Fits]) -> dict[str, Any]:
    totals = _totals(panel)
    sides = {
        "abilities": (panel.models, calibration.abilities, calibration.ability_se, calibration.ability_status, fits[0], totals[0]),
        "difficulties": (
            panel.items, calibration.difficulties, calibration.difficulty_se, calibration.difficulty_status, fits[1], totals[1],
        ),
    }  # fmt: skip
    return {key: _side(*side) for key, side in sides.items()}


def _side(
    names: Sequence[str], values: Array, ses: Array, statuses: Sequence[str], fits: Fits, totals: tuple[Array, Array]
) -> list[dict[str, Any]]:
    table = np.stack([values, ses, fits.infit, fits.outfit, fits.infit_z, fits.outfit_z, *totals], axis=1).tolist()
    return [_entry(name, status, row) for name, status, row in zip(names, statuses, table, strict=True)]


def _entry(name: str, status: str, row: Sequence[float]) -> dict[str, Any]:
    value, se, infit, outfit, infit_z, outfit_z, successes, trials = map(finite_or_none, row)
    se = None if status == "anchor" else se  # it was given
    ends = None if value is None or se is None else [value - Z * se, value + Z * se]
    fit = {"infit": infit, "outfit": outfit, "infit_z": infit_z, "outfit_z": outfit_z}
    return {"name": name, "value": value, "se": se, "ci": ends, "status": status, **fit,
            "successes": successes, "trials": trials}  # fmt: skip


def _about(panel: Panel, calibration: Calibration, options: EstimationOptions) -> dict[str, Any]:
    return {
        "log_likelihood": finite_or_none(calibration.log_likelihood),
        "iterations": calibration.iterations,
        "residual": finite_or_none(calibration.residual),
        "gauge": calibration.gauge,
        "method": calibration.method,
        "item_scores": options.item_scores,
        "prior": None if calibration.prior is None else {"mean": calibration.prior[0], "sd": calibration.prior[1]},
        "unit": panel.unit,
        "benchmark": panel.benchmark,
        "exact": None,
    }


def _fit(panel: Panel, locations: Locations, calibration_options: CalibrationOptions) -> dict[str, Any]:
    sides = {
        "models": reliability(locations.abilities[locations.models], locations.ability_se[locations.models]),
        "items": reliability(locations.difficulties[locations.items], locations.difficulty_se[locations.items]),
    }
    calibration: dict[str, Any] = {name: asdict(side) for name, side in sides.items()}
    calibration |= {"components": None, "andersen": None, "monotone": None}
    if (
        "components" in calibration_options.checks
        and 2 <= min(locations.models.sum(), locations.items.sum()) <= MOST_COMPONENTS
    ):
        parts = residual_components(locations, panel.successes, panel.trials)
        names = panel.models if parts.by == "models" else panel.items
        loadings = {name: finite_or_none(value) for name, value in zip(names, parts.loadings.tolist(), strict=True)}
        calibration["components"] = {
            "by": parts.by,
            "eigenvalues": parts.eigenvalues[:10].tolist(),
            "loadings": loadings,
        }
    if "andersen" in calibration_options.checks:
        test = andersen(panel.successes, panel.trials)
        calibration["andersen"] = None if test is None else asdict(test)
    if "monotone" in calibration_options.checks:
        told = monotone(
            locations, panel.successes, panel.trials, max(calibration_options.draws, 20), calibration_options.seed
        )
        rows = zip(panel.items, told.p.tolist(), told.rates.T.tolist(), told.fitted.T.tolist(), strict=True)
        calibration["monotone"] = [
            {
                "name": name,
                "p": finite_or_none(p),
                "rates": list(map(finite_or_none, rates)),
                "isotonic": list(map(finite_or_none, curve)),
            }
            for name, p, rates, curve in rows
        ]
    return calibration


def _held_out(
    panel: Panel, options: EstimationOptions, calibration_options: CalibrationOptions
) -> dict[str, Any] | None:
    if "held-out" not in calibration_options.checks or options.gauge == "anchors":
        return None
    told = held_out(panel.successes, panel.trials, options, seed=calibration_options.seed)
    return None if told is None else {name: finite_or_none(value) for name, value in asdict(told).items()}


def _stability(
    panel: Panel,
    options: EstimationOptions,
    calibration_options: CalibrationOptions,
    on_progress: Callable[[str], None],
) -> dict[str, Any] | None:
    """Refits without each model, and without each family where these are known."""
    if "stability" not in calibration_options.checks or options.gauge == "anchors":
        return None
    count = len(panel.models)
    alone = {name: np.arange(count) == at for at, name in enumerate(panel.models)}
    on_progress(
        f"stability: {count} models left out in turn, of these data and of {calibration_options.draws} that are drawn"
    )
    calibration = {
        "models": _stability_record(
            panel,
            stability(
                panel.successes, panel.trials, options, alone, calibration_options.draws, calibration_options.seed
            ),
        )
    }
    if calibration_options.families:
        names = sorted({family for family in calibration_options.families if family is not None})
        groups = {name: np.array([family == name for family in calibration_options.families]) for name in names}
        groups = {name: members for name, members in groups.items() if count - members.sum() >= 2}
        told = stability(
            panel.successes, panel.trials, options, groups, calibration_options.draws, calibration_options.seed
        )
        calibration["families"] = _stability_record(panel, told)
    return calibration


def _stability_record(panel: Panel, calibration: Stability) -> dict[str, Any]:
    left = [
        {
            **{key: finite_or_none(getattr(entry, key)) for key in ("shift", "mean_absolute", "correlation")},
            "name": entry.name,
            "items": entry.items,
            "placed": {
                panel.models[model]: {"value": place, "difference": gap} for model, (place, gap) in entry.placed.items()
            },
        }
        for entry in calibration.left
    ]
    null = None
    if calibration.null is not None:
        known = {name: ends for name, ends in calibration.null.items() if np.isfinite(ends[0])}
        null = {name: {"mean": mean, "ci": [low, high]} for name, (mean, low, high) in known.items()}
    pooled = {name: finite_or_none(value) for name, value in calibration.pooled.items()}
    return {"left_out": left, "pooled": pooled, "null": null, "p": calibration.p}


def _differences(
    panel: Panel, locations: Locations, calibration_options: CalibrationOptions
) -> list[dict[str, Any]] | None:
    if not calibration_options.families:
        return None
    calibration = differential_items(locations, panel.successes, panel.trials, calibration_options.families)
    return [{**asdict(entry), "item": panel.items[entry.item]} for entry in calibration]


def _choice(panel: Panel, locations: Locations, fits: Fits, options: EstimationOptions) -> dict[str, Any]:
    """The candidates for each category of items, and the filter that lies on most frontiers."""
    names = sorted({about.category or "all" for about in panel.about})
    groups = {name: np.array([(about.category or "all") == name for about in panel.about]) for name in names}
    groups = {name: mask for name, mask in groups.items() if mask.sum() >= 20} or {
        "all": np.ones(len(panel.items), bool)
    }
    tables = {}
    for name, mask in groups.items():
        part = replace(locations, items=locations.items & mask)
        tables[name] = choose(panel.successes, panel.trials, part, fits, options)
    return {
        "chosen": chosen(list(tables.values())),
        "categories": {
            name: [{**asdict(entry), "budget_se": finite_or_none(entry.budget_se)} for entry in table]
            for name, table in tables.items()
        },
    }


def _bank(
    panel: Panel, calibration: Calibration, fits: tuple[Fits, Fits], options: EstimationOptions, rule: str | None
) -> Bank:
    entries = _entries(panel, calibration, fits)
    about = dict(zip(panel.items, panel.about, strict=True))
    items, models, left = [], [], []
    for kind, key in (("item", "difficulties"), ("model", "abilities")):
        for entry in entries[key]:
            if entry["value"] is None:
                left.append(LeftOut(kind, entry["name"], entry["status"]))
                continue
            shared: dict[str, Any] = {name: entry[name] for name in ("status", "successes", "trials")}
            shared |= {name: _rounded(entry[name]) for name in ("se", "infit", "outfit")}
            place = entry["value"] if entry["status"] == "anchor" else round(entry["value"], DIGITS)
            if kind == "model":
                models.append(BankModel(entry["name"], place, **shared))
            else:
                known = about[entry["name"]]
                shared |= {"template": known.template, "skills": known.skills}
                items.append(BankItem(entry["name"], place, **shared))
    mean, deviation = (_rounded(value) for value in calibration.prior or (None, None))
    likelihood = _rounded(finite_or_none(calibration.log_likelihood), 6)
    return Bank(
        tuple(items), tuple(models), calibration.method, calibration.gauge, likelihood, calibration.iterations,
        panel.unit, panel.benchmark, panel.questions_root, options.item_scores, mean, deviation, rule, tuple(left),
    )  # fmt: skip


def _rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """The number as a bank has it, so that nearly always the same data give the same bytes anywhere."""
    return None if value is None else round(value, digits)


def _paper(panel: Panel) -> CalibratedPanel:
    """Algorithm 1 of the Self-Execution paper as it was run, with the exact solution of the same model beside it."""
    options = EstimationOptions(method="jml")
    exact = estimate(panel.successes, panel.trials, options)
    _require_whole(panel, exact)
    if any(status.startswith("extreme") for status in (*exact.ability_status, *exact.difficulty_status)):
        raise DiaError(Diagnostic("E893", "the preset `paper` has no end where a model or an item is extreme"))
    abilities, difficulties, iterations = algorithm_1(panel.successes, panel.trials)
    calibration = replace(
        exact, abilities=abilities, difficulties=difficulties, iterations=iterations, gauge="none", method="paper",
        log_likelihood=_likelihood(panel, abilities, difficulties),
    )  # fmt: skip
    locations = likelihood_locations(calibration, panel.successes, panel.trials)
    fits = fit_statistics(locations, panel.successes, panel.trials)
    bank = _bank(panel, calibration, fits, options, None)
    result = {
        **_entries(panel, calibration, fits),
        **_about(panel, calibration, options),
        "exact": exact.as_json(panel.models, panel.items),
        "fit": _fit(panel, locations, CalibrationOptions()),
        **dict.fromkeys(("filter", "choice", "held_out", "stability", "differences")),
        "left_out": [],
    }
    return CalibratedPanel(bank, result)


def _likelihood(panel: Panel, abilities: Array, difficulties: Array) -> float:
    from dia_runtime.psychometrics.rasch.counts import counts

    data = counts(panel.successes, panel.trials)
    if data.is_even:
        data = counts(panel.successes, np.broadcast_to(panel.trials, panel.successes.shape), difficulties)
    return log_likelihood(data, abilities, difficulties if not data.is_even else data.anchors)
