"""Which parameters and skills make items hard, and predictions for items that no model has answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, counted
from dia_language.numbers.values import Value, decode
from dia_runtime.psychometrics.features import COUNT, LENGTH, SIZE, Feature, reading, shared, word
from dia_runtime.psychometrics.panel import Panel
from dia_runtime.psychometrics.rasch.bank import Bank, require_questions
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts
from dia_runtime.psychometrics.rasch.lltm import (
    FittedModel,
    grid,
    independent,
    likelihoods,
    lltm,
    predictive_log_likelihood,
    spread_about,
)
from dia_runtime.psychometrics.rasch.respondent_slope import respondent_slope

LEAST_ITEMS = 10  # of a template whose parameters are considered
MOST_LEVELS = 8  # of a parameter that is a word
MOST_FEATURES = 400
WIDE = 100  # a number is used by its logarithm if its largest value is this many times its smallest
POOLED = 5  # templates from which their common effects are estimated together
BENT = 5  # different values of a parameter from which its effect may be curved
MOST_ERROR = 1.0  # logits: less accurate predictions are not used to choose instances
EQUIVALENT = 10  # items of a template that weigh as much as the error of all templates
DIGITS = 9  # decimals in a bank: further digits depend on the machine's linear algebra
LEAST_SPREAD = 0.01  # logits of the difference between a model's ability and its ability in one template
UNTESTED = 0.5  # logits of the same if the bank has too few templates to estimate it, as in `dia place`
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Effect:
    """The weight of a feature in logits, with its error; `unit` is the step of a number that it refers to."""

    name: str
    value: float
    se: float
    ci: tuple[float, float]
    unit: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How much more likely features make the replies to unseen items, and how far off they predict difficulties.

    `rmse` is the root mean square of the differences between predicted and true difficulties, in logits; the noise of
    the replies is not included. `rmse_without` is that of the mean difficulty as the prediction.
    """

    log_likelihood_gain: float
    rmse: float
    rmse_without: float


@dataclass(frozen=True, slots=True)
class TemplateQuality:
    """How well the difficulties of a template's new instances are predicted, in logits.

    `se` is the standard error of the part that all its instances share, `error` the standard deviation of the true
    difficulties of unseen instances about the predicted ones, and `why` the reason why they are not good enough to
    choose instances by, None if they are. `template` is None for templates that the bank does not have; then `items`
    counts the templates that were predicted from the others.
    """

    template: str | None
    items: int
    se: float
    error: float
    why: str | None = None


@dataclass(frozen=True, slots=True)
class TemplateAbility:
    """The predicted difficulty of a template's instances (logits) at which a model's success is one half.

    `covariance` is that of this ability and the logarithm of the model's slope.
    """

    ability: float
    se: float
    covariance: float


@dataclass(frozen=True, slots=True)
class ModelSlope:
    """How fast a model's success changes with predicted difficulty: 1 in the Rasch model.

    `log_se` is the standard error of the slope's logarithm. Unlike the bank's, the abilities are estimated together
    with the slope: in the templates that the bank has, and in others.
    """

    model: str
    items: int
    slope: float
    ci: tuple[float, float]
    log_se: float
    templates: Mapping[str, TemplateAbility]
    others: TemplateAbility


@dataclass(frozen=True, slots=True)
class ExplanationResult:
    """An explanation for printing; the fields are the keys of `dia explain --json`."""

    items: int
    trials: float
    effects: list[Effect]
    error: float
    error_without: float
    explained: float
    log_likelihood: float
    log_likelihood_without: float
    held_out: CrossValidation
    templates: list[TemplateQuality]
    new_templates: TemplateQuality | None
    slopes: list[ModelSlope]


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """The model of difficulties: the constant and the weight of each feature, their covariance, and the residual.

    `error` is the standard deviation of difficulties about their predictions from features.
    """

    features: tuple[Feature, ...]
    weights: Array
    covariance: Array
    error: float
    result: ExplanationResult
    shared: Mapping[str, Mapping[str, float]]  # template -> the mean of each shared feature over its items

    def predict(
        self, parameters: Mapping[str, Value], skills: Sequence[str] = (), template: str | None = None
    ) -> tuple[float, float]:
        """Return difficulty and standard error, in logits of the bank, of an instance with these parameters and skills.

        `template` may be omitted if all features are of one template.
        """
        difficulty, se, error = self.predict_parts(parameters, skills, template)
        return difficulty, math.hypot(se, error)

    def predict_parts(
        self, parameters: Mapping[str, Value], skills: Sequence[str] = (), template: str | None = None
    ) -> tuple[float, float, float]:
        """Return the difficulty, the standard error of the prediction, and the standard deviation of items about it."""
        templates = {feature.template for feature in self.features if feature.template}
        if template is None and len(templates) == 1:
            template = next(iter(templates))
        row = np.array([1.0, *(float(feature.measure(parameters, skills, template)) for feature in self.features)])
        se, error = math.sqrt(max(0.0, float(row @ self.covariance @ row))), self.error
        fits = {entry.template: entry for entry in self.result.templates}
        if template in fits:
            error = fits[template].error
        elif self.result.new_templates is not None:
            se = math.hypot(se, self.result.new_templates.se)
            error = self.result.new_templates.error
        return float(row @ self.weights), se, error

    def as_record(self) -> dict[str, Any]:
        """Return what a bank stores of it, so that instances can be chosen by predicted difficulties."""
        new = self.result.new_templates
        return {
            "constant": round(float(self.weights[0]), DIGITS),
            "features": [
                {**asdict(feature), "weight": round(weight, DIGITS)}
                for feature, weight in zip(self.features, self.weights[1:].tolist(), strict=True)
            ],
            "templates": [
                {**_rounded(entry), "shared": dict(self.shared.get(entry.template or "", {}))}
                for entry in self.result.templates
            ],
            "new_templates": None if new is None else _rounded(new),
            "slopes": [_rounded_slope(entry) for entry in self.result.slopes],
        }


def _rounded(quality: TemplateQuality) -> dict[str, Any]:
    return asdict(replace(quality, se=round(quality.se, DIGITS), error=round(quality.error, DIGITS)))


def _rounded_slope(entry: ModelSlope) -> dict[str, Any]:
    def rounded(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: rounded(part) for name, part in value.items()}
        return round(value, DIGITS) if type(value) is float else value

    return {**rounded(asdict(entry)), "ci": [round(end, DIGITS) for end in entry.ci]}


@dataclass(frozen=True, slots=True)
class _Row:
    """The data of an item: its template, its skills, and the parameters of its instances."""

    template: str | None
    skills: frozenset[str]
    parameters: tuple[dict[str, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """The data of all items: likelihoods on a grid of difficulties, design with column groups, and templates."""

    locations: Array
    table: Array
    design: Array
    groups: tuple[str | None, ...]
    templates: tuple[str | None, ...]

    def fitted(self, items: Mask) -> FittedModel:
        """Return the fit to some items; columns that these cannot distinguish have weight 0."""
        design = self.design[items]
        fixed = [at for at, group in enumerate(self.groups) if group is None]
        independent_columns = [fixed[at] for at in independent(design[:, fixed])]
        columns = sorted({*independent_columns, *(at for at, group in enumerate(self.groups) if group)})
        groups = [self.groups[at] for at in columns]
        fit = lltm(self.locations, self.table[items], design[:, columns], groups if any(groups) else None)
        weights = np.zeros(len(self.groups))
        weights[columns] = fit.weights
        return replace(fit, weights=weights)

    def without_features(self, items: Mask) -> FittedModel:
        """Return the fit of the mean difficulty alone."""
        return lltm(self.locations, self.table[items], np.ones((int(items.sum()), 1)))


def explain(panel: Panel, bank: Bank, folds: int = 5, seed: int = 0) -> Explanation:
    """Explain the difficulties of a bank's items by their parameters and skills, with the replies of a panel.

    With five templates or more, weights of skills, templates and their parameters are drawn from normal distributions
    whose variances are estimated (a random item-group effect, De Boeck and Wilson 2004); the common effects of the
    templates also predict difficulties of templates that the bank does not have. Raises DiaError (exit 2) if panel and
    bank have too few common items, or different questions under one name.
    """
    require_questions(bank, panel.benchmark, panel.questions_root)
    models, items = _shared_with_bank(panel, bank)
    abilities = np.array([{entry.model: entry.ability for entry in bank.models}[panel.models[at]] for at in models])
    every = np.broadcast_to(panel.trials, panel.successes.shape)[np.ix_(models, items)].astype(float)
    data = counts(np.ascontiguousarray(panel.successes[np.ix_(models, items)]), np.ascontiguousarray(every))
    locations, table = likelihoods(data, abilities, *grid(abilities, every.max(axis=1)))
    rows = [_row(panel, item) for item in items]
    features, groups = _features(rows)
    design = _design(features, rows)
    fixed = [at for at, group in enumerate(groups) if group is None]
    independent_columns = {fixed[at] for at in independent(design[:, fixed])}
    columns = [at for at, group in enumerate(groups) if group is not None or at in independent_columns]
    features, design = [features[at - 1] for at in columns if at], design[:, columns]
    groups = [groups[at] for at in columns]
    number = sum(group is None for group in groups)
    if number * 3 > len(rows):
        message = f"there are too few items ({len(rows)}) for {counted(number, 'feature')}"
        raise DiaError(Diagnostic("E895", message, None, "calibrate more instances, or fewer templates at once"))
    items_data = _Data(locations, table, design, tuple(groups), tuple(row.template for row in rows))
    everything = np.ones(len(rows), dtype=bool)
    fitted, without_features = items_data.fitted(everything), items_data.without_features(everything)
    cross_validation, centres = _cross_validation(items_data, folds, seed)
    qualities = _qualities(items_data, fitted, centres, cross_validation.rmse)
    replies = zip(panel.successes[np.ix_(models, items)], every, strict=True)
    by_model = {panel.models[at]: one for at, one in zip(models, replies, strict=True)}
    result = ExplanationResult(
        items=len(rows),
        trials=float(every.sum()),
        effects=_effects(features, fitted),
        error=fitted.error,
        error_without=without_features.error,
        explained=max(0.0, 1 - fitted.error**2 / without_features.error**2),
        log_likelihood=fitted.log_likelihood,
        log_likelihood_without=without_features.log_likelihood,
        held_out=cross_validation,
        templates=qualities,
        new_templates=_quality_of_new_templates(items_data, folds, seed) if "template" in groups else None,
        slopes=_model_slopes(items_data, centres, qualities, cross_validation.rmse, bank.family_sd, by_model),
    )
    shared_means = {
        name: {
            feature.name: round(float(design[of_template, column].mean()), DIGITS)
            for column, feature in enumerate(features, 1)
            if feature.how == "shared"
        }
        for name, of_template in _by_template(items_data)
    }
    return Explanation(tuple(features), fitted.weights, fitted.covariance, fitted.error, result, shared_means)


def _shared_with_bank(panel: Panel, bank: Bank) -> tuple[list[int], list[int]]:
    models_in_bank = {entry.model for entry in bank.models}
    models = [at for at, name in enumerate(panel.models) if name in models_in_bank]
    items_in_bank = {entry.item for entry in bank.items}
    items = [at for at, name in enumerate(panel.items) if name in items_in_bank]
    if len(items) < LEAST_ITEMS or len(models) < 2:
        message = (
            f"an explanation needs at least {LEAST_ITEMS} items and 2 models that the runs and the bank share, but "
            f"they share {counted(len(items), 'item')} and {counted(len(models), 'model')}"
        )
        help = "name all runs from which the bank was calibrated, or ask more models and instances"
        raise DiaError(Diagnostic("E895", message, None, help))
    return models, items


def _row(panel: Panel, item: int) -> _Row:
    about = panel.about[item]
    return _Row(about.template, frozenset(about.skills), tuple(map(_decoded, about.parameters)))


def _decoded(stored: Mapping[str, Any]) -> dict[str, Value]:
    decoded = {}
    for name, value in stored.items():
        try:
            decoded[name] = decode(value)
        except ValueError:  # untrusted text
            continue
    return decoded


def _features(rows: Sequence[_Row]) -> tuple[list[Feature], list[str | None]]:
    """Return the features: skills that only some items have, templates of several items, and their parameters.

    Also returns the group of each column of the design, whose first is the constant.
    """
    templates: Counter[str] = Counter(row.template for row in rows if row.template is not None)
    is_pooled = sum(count > 1 for count in templates.values()) >= POOLED
    features = _shared_features(rows) if is_pooled else []
    groups: list[str | None] = [None] * (1 + len(features))
    skills: Counter[str] = Counter(skill for row in rows for skill in row.skills)
    fresh = [Feature("skill", name) for name, count in sorted(skills.items()) if 1 < count < len(rows)]
    fresh += [
        Feature("template", name)
        for name, count in sorted(templates.items())
        if count >= (2 if is_pooled else LEAST_ITEMS) and count < len(rows)
    ]
    for name, count in sorted(templates.items()):
        if count >= LEAST_ITEMS:
            fresh += _parameters(name, [row for row in rows if row.template == name])
    features += fresh
    groups += [_group(feature, is_pooled) for feature in fresh]
    return features[:MOST_FEATURES], groups[: MOST_FEATURES + 1]


def _group(feature: Feature, is_pooled: bool) -> str | None:
    if feature.how == "bend":
        return "bend"
    if not is_pooled:
        return None
    return feature.how if feature.how in ("skill", "template") else "parameter"


def _shared_features(rows: Sequence[_Row]) -> list[Feature]:
    """Return the shared features: size of numbers, length of texts and lists, and number of skills."""
    features = []
    for name in (SIZE, LENGTH, COUNT):
        values = [
            float(shared(name, parameters, tuple(row.skills))) for row in rows for parameters in row.parameters or ({},)
        ]
        features += _measured("shared", name, None, values)
    return features


def _parameters(template: str, rows: Sequence[_Row]) -> list[Feature]:
    names = sorted({name for row in rows for parameters in row.parameters for name in parameters})
    return [feature for name in names for feature in _of_parameter(template, name, rows)]


def _of_parameter(template: str, name: str, rows: Sequence[_Row]) -> list[Feature]:
    values: list[Any] = [parameters[name] for row in rows for parameters in row.parameters if name in parameters]
    numbers = [number for value in values if (number := reading("number", value)) is not None]
    if len(numbers) == len(values):
        low, high = float(min(map(abs, numbers))), float(max(map(abs, numbers)))
        how = "logarithm" if high > WIDE * max(low, 1.0) else "number"
        return _curved(how, name, template, values)
    if all(isinstance(value, str | bool) for value in values):
        levels: Counter[str] = Counter(map(word, values))
        if 1 < len(levels) <= MOST_LEVELS:
            return [Feature("value", name, template, level) for level, _ in levels.most_common()[1:]]
    if all(isinstance(value, str | bytes | list) for value in values):
        return _curved("length", name, template, values)
    return []


def _curved(how: str, name: str, template: str, values: Sequence[Value]) -> list[Feature]:
    """Return a parameter's feature and, if it has enough values, its square."""
    readings = [float(number) for value in values if (number := reading(how, value)) is not None]
    features = _measured(how, name, template, readings)
    if features and len(set(readings)) >= BENT:
        features.append(replace(features[0], how="bend", level=how))
    return features


def _measured(how: str, name: str, template: str | None, values: Sequence[float]) -> list[Feature]:
    middle, unit = float(np.mean(values)), float(np.std(values))
    return [Feature(how, name, template, None, middle, unit)] if unit > 1e-12 else []


def _design(features: Sequence[Feature], rows: Sequence[_Row]) -> Array:
    """Return items by the constant and the features; for an item with several instances, their mean."""
    table = np.ones((len(rows), 1 + len(features)))
    for at, row in enumerate(rows):
        skills = tuple(row.skills)
        instances = row.parameters or ({},)
        for column, feature in enumerate(features, 1):
            if feature.template is not None and feature.template != row.template:
                table[at, column] = 0.0
                continue
            values = [float(feature.measure(parameters, skills, row.template)) for parameters in instances]
            table[at, column] = sum(values) / len(values)
    return table


def _cross_validation(data: _Data, folds: int, seed: int) -> tuple[CrossValidation, Array]:
    """Return how well unseen items are predicted, and the difficulty that the other folds predict for each."""
    size = len(data.design)
    fold = np.random.default_rng(seed).permutation(size) % folds
    log_likelihood = log_likelihood_without = 0.0
    centres, middles = np.zeros(size), np.zeros(size)
    for number in range(folds):
        out = fold == number
        fitted, without_features = data.fitted(~out), data.without_features(~out)
        centres[out], middles[out] = data.design[out] @ fitted.weights, without_features.weights[0]
        for centre, model, sign in ((centres, fitted, 1), (middles, without_features, -1)):
            logs = predictive_log_likelihood(data.locations, data.table[out], centre[out], model.error)
            log_likelihood += float(logs.sum()) if sign > 0 else 0.0
            log_likelihood_without += float(logs.sum()) if sign < 0 else 0.0
    errors = [spread_about(data.locations, data.table, centre) for centre in (centres, middles)]
    return CrossValidation(log_likelihood - log_likelihood_without, *errors), centres


def _by_template(data: _Data) -> Iterator[tuple[str, Mask]]:
    """Yield each template with the indices of its items."""
    templates = np.array([name or "" for name in data.templates])
    for name in sorted(set(data.templates) - {None}, key=str):
        yield str(name), templates == name


def _qualities(data: _Data, fitted: FittedModel, centres: Array, rmse: float) -> list[TemplateQuality]:
    """Return how well each template's unseen instances are predicted."""
    qualities = []
    assert len(fitted.covariance) == len(data.groups)  # all columns are independent here
    for name, items in _by_template(data):
        number = int(items.sum())
        design = data.design[items]
        se = math.sqrt(max(0.0, float(np.einsum("ij,jk,ik->i", design, fitted.covariance, design).mean())))
        own = spread_about(data.locations, data.table[items], centres[items])
        error = math.sqrt((number * own**2 + EQUIVALENT * rmse**2) / (number + EQUIVALENT))
        why = None
        if number < LEAST_ITEMS:
            why = f"the bank has {number} of its items, and {LEAST_ITEMS} are needed"
        elif error > MOST_ERROR:
            why = f"difficulties of unseen instances are predicted with an error of {error:.2f} logits"
            why += f"; the limit is {MOST_ERROR:.1f}"
        qualities.append(TemplateQuality(name, number, se, error, why))
    return qualities


def _attenuation(error: float) -> float:
    """Return the factor by which a normal error of difficulties divides the logit of the mean success (MacKay 1992)."""
    return math.sqrt(1 + math.pi / 8 * error**2)


def _model_slopes(
    data: _Data,
    centres: Array,
    qualities: Sequence[TemplateQuality],
    other_error: float,
    family_sd: float | None,
    panel: Mapping[str, tuple[Array, Array]],
) -> list[ModelSlope]:
    """Return the slope of each model of the panel (successes and trials) that solved some items and not others.

    Difficulties are those that the other folds predict, so the slopes are for items that the explanation was not fitted
    to. A template is harder or easier for a model than predicted because of what all predictions for it share, and
    because abilities differ from template to template.
    """
    names = [str(entry.template) for entry in qualities]
    spreads = [math.hypot(entry.se, UNTESTED if family_sd is None else family_sd) for entry in qualities]
    errors = [entry.error for entry in qualities]
    if None in data.templates:
        names, spreads, errors = [*names, ""], [*spreads, LEAST_SPREAD], [*errors, other_error]
    places = {name: at for at, name in enumerate(names)}
    numbers = np.array([places[name or ""] for name in data.templates])
    scales = np.array([_attenuation(error) for error in errors])[numbers]
    slopes = []
    for model, (successes, trials) in panel.items():
        attempted = trials > 0
        if attempted.sum() < LEAST_ITEMS:
            continue
        shares = successes[attempted] / trials[attempted]
        fit = respondent_slope(
            shares, centres[attempted], scales[attempted], numbers[attempted], np.maximum(spreads, LEAST_SPREAD)
        )
        if fit is None:
            continue
        ends = [math.exp(fit.log_slope + side * Z * fit.log_se) for side in (-1, 1)]
        columns = (fit.abilities.tolist(), fit.errors.tolist(), fit.covariances.tolist())
        others, *own = (TemplateAbility(*row) for row in zip(*columns, strict=True))
        templates = {name: ability for name, ability in zip(names, own, strict=True) if name}
        slope = math.exp(fit.log_slope)
        slopes.append(ModelSlope(model, int(attempted.sum()), slope, (ends[0], ends[1]), fit.log_se, templates, others))
    return slopes


def _quality_of_new_templates(data: _Data, folds: int, seed: int) -> TemplateQuality | None:
    """Return how well templates are predicted from the other templates alone.

    The quality is the error of each template as a whole, and of its instances about that.
    """
    names = [name for name, items in _by_template(data) if items.sum() >= 2]
    order = np.random.default_rng(seed).permutation(len(names))
    templates = np.array([name or "" for name in data.templates])
    shifts, errors, spreads, sizes = [], [], [], []
    for number in range(min(folds, len(names))):
        out_names = [names[at] for at in order[number::folds]]
        out = np.isin(templates, out_names)
        fitted = data.fitted(~out)
        centres = data.design @ fitted.weights
        for name in out_names:
            items = templates == name
            own = lltm(data.locations, data.table[items], np.ones((int(items.sum()), 1)), offset=centres[items])
            shifts.append(float(own.weights[0]))
            errors.append(float(own.covariance[0, 0]))
            spreads.append(own.error)
            sizes.append(int(items.sum()))
    if len(shifts) < POOLED:
        return None
    se = math.sqrt(max(0.0, float(np.mean(np.square(shifts)) - np.mean(errors))))
    error = math.sqrt(float(np.average(np.square(spreads), weights=sizes)))
    why = None
    if error > MOST_ERROR:
        why = f"difficulties in templates that the bank does not have are predicted with an error of {error:.2f} logits"
        why += f"; the limit is {MOST_ERROR:.1f}"
    return TemplateQuality(None, len(shifts), se, error, why)


def _effects(features: Sequence[Feature], fitted: FittedModel) -> list[Effect]:
    errors = np.sqrt(np.maximum(np.diag(fitted.covariance), 0)).tolist()
    titles = ["constant", *(feature.title for feature in features)]
    units = [1.0, *(feature.unit for feature in features)]
    return [
        Effect(title, value, se, (value - Z * se, value + Z * se), unit)
        for title, value, se, unit in zip(titles, fitted.weights.tolist(), errors, units, strict=True)
    ]
