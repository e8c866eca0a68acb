"""Which parameters and skills make items hard, and predictions for items that no model has answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.numbers.values import Value, decode
from dia_runtime.psychometrics.panel import Panel
from dia_runtime.psychometrics.rasch.bank import Bank, require_questions
from dia_runtime.psychometrics.rasch.counts import Array, counts
from dia_runtime.psychometrics.rasch.lltm import (
    FittedModel,
    grid,
    independent,
    likelihoods,
    lltm,
    predictive_log_likelihood,
)

LEAST_ITEMS = 10  # of a template whose parameters are looked at
MOST_LEVELS = 8  # of a parameter that is a word
MOST_FEATURES = 200
WIDE = 100  # a number whose largest value exceeds its smallest by this factor counts by its logarithm
LONGEST = 10**15
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of the design: a skill, a template, or a parameter of a template read in one way.

    `how` is skill, template, number, logarithm, length, or value (then `level` is the one that counts 1). Numbers are
    taken less `middle` and divided by `unit`.
    """

    how: str
    name: str
    template: str | None = None
    level: str | None = None
    middle: float = 0.0
    unit: float = 1.0

    @property
    def title(self) -> str:
        """Return the feature as tables print it."""
        whose = f"{self.template}." if self.template else ""
        tail = {"logarithm": " (log)", "length": " (length)", "value": f" = {self.level}"}.get(self.how, "")
        return f"{self.how} {self.name}" if self.how in ("skill", "template") else f"{whose}{self.name}{tail}"


@dataclass(frozen=True, slots=True)
class Effect:
    """The weight of a feature in logits, with its error; `unit` is the step of a number that it is for."""

    name: str
    value: float
    se: float
    ci: tuple[float, float]
    unit: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How much more likely features make the replies to unseen items, and how far off they predict difficulties."""

    log_likelihood_gain: float
    rmse: float
    rmse_without: float


@dataclass(frozen=True, slots=True)
class ExplanationResult:
    """An explanation as it is printed; the fields are the keys of `dia explain --json`."""

    items: int
    trials: float
    effects: list[Effect]
    error: float
    error_without: float
    explained: float
    log_likelihood: float
    log_likelihood_without: float
    held_out: CrossValidation


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """The model of difficulties: the constant and the weight of each feature, their covariance, and what it leaves.

    `error` is the standard deviation of difficulties about what their features say.
    """

    features: tuple[Feature, ...]
    weights: Array
    covariance: Array
    error: float
    result: ExplanationResult

    def predict(
        self, parameters: Mapping[str, Value], skills: Sequence[str] = (), template: str | None = None
    ) -> tuple[float, float]:
        """Difficulty and standard error, in logits of the bank, of an instance with these parameters and skills.

        `template` may be left out where all features are of one.
        """
        templates = {feature.template for feature in self.features if feature.template}
        if template is None and len(templates) == 1:
            template = next(iter(templates))
        row = np.array([1.0, *(_value(feature, parameters, skills, template) for feature in self.features)])
        variance = float(row @ self.covariance @ row) + self.error**2
        return float(row @ self.weights), math.sqrt(variance)


def explain(panel: Panel, bank: Bank, folds: int = 5, seed: int = 0) -> Explanation:
    """How the difficulties of a bank's items follow from their parameters and skills, by the replies of a panel.

    Raises DiaError (exit 2) if panel and bank have too little in common, or other questions under one name.
    """
    require_questions(bank, panel.benchmark, panel.questions_root)
    models, items = _shared_with_bank(panel, bank)
    abilities = np.array([{entry.model: entry.ability for entry in bank.models}[panel.models[at]] for at in models])
    every = np.broadcast_to(panel.trials, panel.successes.shape)[np.ix_(models, items)].astype(float)
    data = counts(np.ascontiguousarray(panel.successes[np.ix_(models, items)]), np.ascontiguousarray(every))
    locations, table = likelihoods(data, abilities, *grid(abilities, every.max(axis=1)))
    rows = [_row(panel, item) for item in items]
    features = _features(rows)
    design = _design(features, rows)
    columns = independent(design)
    features, design = [features[at - 1] for at in columns if at], design[:, columns]
    if design.shape[1] * 3 > len(rows):
        message = f"{len(rows)} items are not enough for {design.shape[1]} features"
        raise DiaError(Diagnostic("E895", message, None, "calibrate more instances, or fewer templates at once"))
    fitted = lltm(locations, table, design)
    without_features = lltm(locations, table, np.ones((len(rows), 1)))
    cross_validation = _cross_validation(locations, table, design, folds, seed)
    trials = float(every.sum())
    result = _result(features, fitted, without_features, cross_validation, trials)
    return Explanation(tuple(features), fitted.weights, fitted.covariance, fitted.error, result)


def _shared_with_bank(panel: Panel, bank: Bank) -> tuple[list[int], list[int]]:
    models_in_bank = {entry.model for entry in bank.models}
    models = [at for at, name in enumerate(panel.models) if name in models_in_bank]
    items_in_bank = {entry.item for entry in bank.items}
    items = [at for at, name in enumerate(panel.items) if name in items_in_bank]
    if len(items) < LEAST_ITEMS or len(models) < 2:
        message = f"the runs and the bank have {len(models)} models and {len(items)} items in common"
        help = "name the runs from which the bank was calibrated, with the same `--items`"
        raise DiaError(Diagnostic("E895", message, None, help))
    return models, items


@dataclass(frozen=True, slots=True)
class _Row:
    """What is known of an item: its template, its skills, and the parameters of its instances."""

    template: str | None
    skills: frozenset[str]
    parameters: tuple[dict[str, Value], ...]


def _row(panel: Panel, item: int) -> _Row:
    about = panel.about[item]
    return _Row(about.template, frozenset(about.skills), tuple(map(_decoded, about.parameters)))


def _decoded(stored: Mapping[str, Any]) -> dict[str, Value]:
    decoded = {}
    for name, value in stored.items():
        try:
            decoded[name] = decode(value)
        except ValueError:  # a stranger wrote it
            continue
    return decoded


def _features(rows: Sequence[_Row]) -> list[Feature]:
    """Skills that some items have and others not, templates of several items, and the parameters of these."""
    skills: Counter[str] = Counter(skill for row in rows for skill in row.skills)
    features = [Feature("skill", name) for name, count in sorted(skills.items()) if 1 < count < len(rows)]
    templates: Counter[str] = Counter(row.template for row in rows if row.template is not None)
    for name, count in sorted(templates.items()):
        if count >= LEAST_ITEMS:
            template_rows = [row for row in rows if row.template == name]
            features += [Feature("template", name)] if count < len(rows) else []
            features += _parameters(name, template_rows)
    return features[:MOST_FEATURES]


def _parameters(template: str, rows: Sequence[_Row]) -> list[Feature]:
    names = sorted({name for row in rows for parameters in row.parameters for name in parameters})
    return [feature for name in names for feature in _of_parameter(template, name, rows)]


def _of_parameter(template: str, name: str, rows: Sequence[_Row]) -> list[Feature]:
    values: list[Any] = [parameters[name] for row in rows for parameters in row.parameters if name in parameters]
    numbers = [number for value in values if (number := _number(value)) is not None]
    if len(numbers) == len(values):
        low, high = min(map(abs, numbers)), max(map(abs, numbers))
        how = "logarithm" if high > WIDE * max(low, 1.0) else "number"
        return _measured(how, name, template, [_scaled(how, number) for number in numbers])
    if all(isinstance(value, str | bool) for value in values):
        levels: Counter[str] = Counter(map(_word, values))
        if 1 < len(levels) <= MOST_LEVELS:
            return [Feature("value", name, template, level) for level, _ in levels.most_common()[1:]]
    if all(isinstance(value, str | bytes | list) for value in values):
        return _measured("length", name, template, [float(len(value)) for value in values])
    return []


def _measured(how: str, name: str, template: str, values: Sequence[float]) -> list[Feature]:
    middle, unit = float(np.mean(values)), float(np.std(values))
    return [Feature(how, name, template, None, middle, unit)] if unit > 1e-12 else []


def _number(value: Value) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | Fraction | Decimal):
        return None
    exact = Fraction(value)
    return float(max(min(exact, Fraction(LONGEST)), Fraction(-LONGEST)))


def _scaled(how: str, number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number) if how == "logarithm" else number


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(feature: Feature, parameters: Mapping[str, Value], skills: Sequence[str], template: str | None) -> float:
    """Return the feature of an instance; 0, its middle, where it has no such parameter."""
    if feature.how == "skill":
        return float(feature.name in skills)
    if feature.how == "template":
        return float(feature.name == template)
    if feature.template != template or feature.name not in parameters:
        return 0.0
    value = parameters[feature.name]
    if feature.how == "value":
        return float(isinstance(value, str | bool) and _word(value) == feature.level)
    if feature.how == "length":
        return (len(value) - feature.middle) / feature.unit if isinstance(value, str | bytes | list) else 0.0
    number = _number(value)
    return 0.0 if number is None else (_scaled(feature.how, number) - feature.middle) / feature.unit


def _design(features: Sequence[Feature], rows: Sequence[_Row]) -> Array:
    """Items by the constant and the features; of an item with several instances the mean."""
    table = np.ones((len(rows), 1 + len(features)))
    for at, row in enumerate(rows):
        skills = tuple(row.skills)
        instances = row.parameters or ({},)
        for column, feature in enumerate(features, 1):
            values = [_value(feature, parameters, skills, row.template) for parameters in instances]
            table[at, column] = sum(values) / len(values)
    return table


def _cross_validation(locations: Array, table: Array, design: Array, folds: int, seed: int) -> CrossValidation:
    """Return the log likelihood of unseen items, and the error of the predictions for them."""
    fold = np.random.default_rng(seed).permutation(len(design)) % folds
    log_likelihood = log_likelihood_without = squared_errors = squared_errors_without = 0.0
    for number in range(folds):
        out = fold == number
        training = design[~out][:, independent(design[~out])]
        test = design[out][:, independent(design[~out])]
        fitted, without_features = (
            lltm(locations, table[~out], training),
            lltm(locations, table[~out], np.ones((int((~out).sum()), 1))),
        )
        centre, middle = test @ fitted.weights, np.full(int(out.sum()), without_features.weights[0])
        log_likelihood += float(predictive_log_likelihood(locations, table[out], centre, fitted.error).sum())
        log_likelihood_without += float(
            predictive_log_likelihood(locations, table[out], middle, without_features.error).sum()
        )
        difficulties = lltm(locations, table[out], np.ones((int(out.sum()), 1))).means
        squared_errors += float(((difficulties - centre) ** 2).sum())
        squared_errors_without += float(((difficulties - middle) ** 2).sum())
    size = len(design)
    return CrossValidation(
        log_likelihood - log_likelihood_without,
        math.sqrt(squared_errors / size),
        math.sqrt(squared_errors_without / size),
    )


def _result(
    features: Sequence[Feature],
    fitted: FittedModel,
    without_features: FittedModel,
    cross_validation: CrossValidation,
    trials: float,
) -> ExplanationResult:
    errors = np.sqrt(np.maximum(np.diag(fitted.covariance), 0)).tolist()
    titles = ["constant", *(feature.title for feature in features)]
    units = [1.0, *(feature.unit for feature in features)]
    effects = [
        Effect(title, value, se, (value - Z * se, value + Z * se), unit)
        for title, value, se, unit in zip(titles, fitted.weights.tolist(), errors, units, strict=True)
    ]
    return ExplanationResult(
        items=len(fitted.means),
        trials=trials,
        effects=effects,
        error=fitted.error,
        error_without=without_features.error,
        explained=max(0.0, 1 - fitted.error**2 / without_features.error**2),
        log_likelihood=fitted.log_likelihood,
        log_likelihood_without=without_features.log_likelihood,
        held_out=cross_validation,
    )
