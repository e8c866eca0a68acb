"""Choose instances by difficulty, as predicted by the explanation in a bank.

Instances are drawn as always, in the order of their positions, and kept if their predicted success is within the
target. So the first k of more instances are the same ones, no instance occurs twice, and the same bank, seed and k give
the same bytes. All arithmetic is decimal and correctly rounded, so this holds on every machine.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Any, TypeVar

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.numbers.values import Value
from dia_runtime.psychometrics.features import EXACT, Feature, exact
from dia_runtime.psychometrics.rasch.bank import Bank, BankModel, as_record

WITHIN = Decimal("0.1")  # of the success that was asked for
OFF_TARGET = Decimal("0.05")  # from the success that was asked for: a mean farther away gets a warning
LOGISTIC = Decimal("0.392699081698724")  # pi / 8
MEAN_SIZE = Decimal("0.797884560802865")  # of a standard normal number: sqrt(2 / pi)
HALF = Decimal("0.5")
PARTS = ("ability", "se", "covariance")  # of an ability in the bank's explanation
PLACES = Decimal("0.000001")
PATIENCE = 32  # instances that are passed over in a row to bring the mean closer to the target
CANDIDATES = 20_000  # instances in a row without one within the target
RANGE_OF_PREDICTIONS = "all predictions are from"
ONE = Decimal(1)
Draw = TypeVar("Draw")


class TargetUnreached(Exception):
    """A template has too few instances within the target; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted difficulty of an instance in logits, and the predicted success if an ability is known."""

    difficulty: Decimal
    success: Decimal | None

    def as_json(self) -> dict[str, str]:
        """Return what an answer record stores of it."""
        record = {"difficulty": str(self.difficulty)}
        return record if self.success is None else {**record, "success": str(self.success)}


@dataclass(frozen=True, slots=True)
class OwnAbility:
    """A model's ability, its standard error, and the covariance of it and the logarithm of the model's slope."""

    value: Decimal
    se: Decimal
    covariance: Decimal


@dataclass(frozen=True, slots=True)
class Slope:
    """How fast a model's success changes with difficulty: 1 in the Rasch model; with its 95 % interval.

    `log_se` is the standard error of its logarithm, `abilities` has pairs of a template and the ability in it.
    """

    value: Decimal
    low: Decimal
    high: Decimal
    log_se: Decimal = Decimal(0)
    abilities: tuple[tuple[str, OwnAbility], ...] = ()
    covariance: Decimal = Decimal(0)

    def variance(self, success: Decimal, ability_se: Decimal, covariance: Decimal) -> Decimal:
        """Return the variance of the logit of the instances that are predicted to have this success."""
        logit = EXACT.ln(EXACT.divide(success, ONE - success))
        own = EXACT.multiply(self.value, ability_se)
        mixed = EXACT.multiply(logit, EXACT.multiply(logit, self.log_se**2) + 2 * self.value * covariance)
        return max(EXACT.add(EXACT.multiply(own, own), mixed), Decimal(0))


@dataclass(frozen=True, slots=True)
class Target:
    """What was asked for: a success rate of an ability (logits, with its standard error), or a range of difficulties.

    `model` is the model of the bank whose ability it is, None for an ability that was written out. `slope` is None
    if it is not known, and then counts as 1.
    """

    success: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    model: str | None = None
    ability: Decimal | None = None
    ability_se: Decimal = Decimal(0)
    slope: Slope | None = None

    def takes(self, prediction: Prediction) -> bool:
        """Return whether an instance is within the target."""
        if self.success is not None and prediction.success is not None:
            return abs(prediction.success - self.success) <= WITHIN
        assert self.low is not None and self.high is not None
        return self.low <= prediction.difficulty <= self.high

    def miss(self, template: str, se: Decimal) -> Decimal:
        """Return by how much the success of a template's instances will miss the target, as the mean of its size.

        `se` is the standard error of what the predictions for the template share; it does not matter if the model's
        ability in this template is known. A range of difficulties counts as a success of one half.
        """
        success = HALF if self.success is None else self.success
        variance = EXACT.add(EXACT.multiply(se, se), EXACT.multiply(self.ability_se, self.ability_se))
        if self.slope is not None:
            own = dict(self.slope.abilities).get(template)
            if own is not None:
                variance = self.slope.variance(success, own.se, own.covariance)
            else:
                variance = self.slope.variance(success, EXACT.sqrt(variance), self.slope.covariance)
        return EXACT.multiply(EXACT.multiply(MEAN_SIZE, EXACT.sqrt(variance)), EXACT.multiply(success, ONE - success))

    def text(self) -> str:
        """Return the target in words."""
        if self.success is None:
            return f"a predicted difficulty from {self.low} to {self.high} logits"
        return f"a predicted success from {max(self.success - WITHIN, Decimal(0))} to {min(self.success + WITHIN, ONE)}"


@dataclass(frozen=True, slots=True)
class TemplateRule:
    """How the difficulty of a template's instances is predicted: a weighted sum, and the error of single instances.

    `ability` is the ability of the target's model in this template, None if it is the one of the target.
    """

    constant: Decimal
    features: tuple[tuple[Feature, Decimal], ...]
    error: Decimal
    ability: Decimal | None = None

    def difficulty(self, parameters: Mapping[str, Value], skills: Sequence[str], template: str) -> Decimal:
        """Return the predicted difficulty in logits, to six decimals."""
        total = self.constant
        for feature, weight in self.features:
            total = EXACT.add(total, EXACT.multiply(weight, feature.measure(parameters, skills, template)))
        return total.quantize(PLACES)


@dataclass(frozen=True, slots=True)
class Steering:
    """A target, the bank (by its checksum) whose explanation predicts, the rule of each template, and refusals."""

    target: Target
    bank: str
    rules: Mapping[str, TemplateRule]
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Return a text that differs where the chosen instances may differ."""
        return repr(self.as_json())

    @property
    def label(self) -> str:
        """Return the label for the bundle's name: the target, and six digits of a SHA-256.

        The SHA-256 covers everything that determines the choice.
        """
        target, digest = self.target, sha256(self.key.encode()).hexdigest()[:6]
        if target.success is not None:
            return f"success-{target.success}-{digest}"
        return f"difficulty-{target.low}..{target.high}-{digest}"

    def of(self, templates: Sequence[str]) -> Steering:
        """Return the steering; it has rules for its own templates only."""
        return self

    def of_template(self, template: str) -> TemplateSteering:
        """Return the part that concerns a template."""
        return TemplateSteering(template, self.target, self.rules[template])

    def refusing(self, refused: Iterable[tuple[str, str]]) -> Steering:
        """Return the steering with more refused templates."""
        more = tuple(refused)
        names = {name for name, _ in more}
        rules = {name: rule for name, rule in self.rules.items() if name not in names}
        return Steering(self.target, self.bank, rules, (*self.refused, *more))

    def as_json(self) -> dict[str, Any]:
        """Return what a manifest stores: enough to choose the same instances without the bank."""
        target, slope = self.target, self.target.slope
        numbers = {} if slope is None else {"value": slope.value, "low": slope.low, "high": slope.high}
        return {
            "bank": self.bank,
            "model": target.model,
            "ability": None if target.ability is None else str(target.ability),
            "ability_se": str(target.ability_se),
            **({"slope": {name: str(number) for name, number in numbers.items()}} if numbers else {}),
            "success": None if target.success is None else str(target.success),
            "difficulty": None if target.low is None else [str(target.low), str(target.high)],
            "templates": {name: _rule_record(rule) for name, rule in sorted(self.rules.items())},
            "refused": [{"template": name, "why": why} for name, why in self.refused],
        }


@dataclass(frozen=True, slots=True)
class SteeringRequest:
    """The options of a compile: a target, and the bank that predicts."""

    target: Target
    bank: Bank

    @property
    def key(self) -> str:
        """Return a text that differs where the chosen instances may differ."""
        return repr((as_record(self.bank)["checksum"], self.target))

    def of(self, templates: Sequence[str]) -> Steering:
        """Return how to choose instances of these templates. Raises DiaError as `steering_of` does."""
        return steering_of(self.bank, self.target, templates)


@dataclass(frozen=True, slots=True)
class TemplateSteering:
    """Predicts and chooses the instances of one template."""

    template: str
    target: Target
    rule: TemplateRule

    def predict(self, parameters: Mapping[str, Value], skills: Sequence[str]) -> Prediction:
        """Return the prediction for an instance.

        The success is the mean over the error of predictions, by MacKay's approximation of the logistic-normal
        integral (1992): about half of the instances at a predicted success of 0.8 are easier, half are harder, and
        the harder ones lose more.
        """
        difficulty = self.rule.difficulty(parameters, skills, self.template)
        ability = self.target.ability if self.rule.ability is None else self.rule.ability
        if ability is None:
            return Prediction(difficulty, None)
        variance = EXACT.multiply(self.rule.error, self.rule.error)
        scale = EXACT.sqrt(EXACT.add(ONE, EXACT.multiply(LOGISTIC, variance)))
        logit = EXACT.divide(EXACT.subtract(ability, difficulty), scale)
        if self.target.slope is not None:
            logit = EXACT.multiply(self.target.slope.value, logit)
        logit = max(min(logit, Decimal(50)), Decimal(-50))
        success = EXACT.divide(ONE, EXACT.add(ONE, EXACT.exp(-logit)))
        return Prediction(difficulty, success.quantize(PLACES))

    def chooser(self) -> Chooser:
        """Return a chooser for the instances of one item, in the order of their positions."""
        return Chooser(self)


@dataclass(slots=True)
class Chooser:
    """Decides for each instance in turn whether it is kept.

    Of those within the target, it keeps the ones that do not take the sum of deviations beyond the width of the target,
    so that the mean success is close to the target even if most instances are on one side of it.
    """

    steering: TemplateSteering
    balance: Decimal = Decimal(0)
    passed_over: int = 0
    failures: int = 0
    seen: list[Decimal] = field(default_factory=list)
    count: int = 0

    def takes(self, prediction: Prediction) -> bool:
        """Return whether the next instance is kept. Raises TargetUnreached after very many that are not."""
        target = self.steering.target
        if len(self.seen) < CANDIDATES:
            self.seen.append(prediction.difficulty if prediction.success is None else prediction.success)
        if not target.takes(prediction):
            self.failures += 1
            if self.failures >= CANDIDATES:
                raise self.unreached()
            return False
        self.failures = 0
        if prediction.success is None or target.success is None:
            return True
        balance = self.balance + prediction.success - target.success
        if abs(balance) > WITHIN and abs(balance) > abs(self.balance) and self.passed_over < PATIENCE:
            self.passed_over += 1
            return False
        self.balance, self.passed_over, self.count = balance, 0, self.count + 1
        return True

    def take_rest(self, passed_over: Sequence[tuple[Draw, Prediction]]) -> Iterator[tuple[Draw, Prediction]]:
        """Yield the instances within the target that were passed over, with their draws, when there are no others.

        Those nearest to the requested success come first, on the side that brings the mean closer to it.
        """
        goal = self.steering.target.success
        if goal is None:
            return
        misses = [(draw, prediction, (prediction.success or goal) - goal) for draw, prediction in passed_over]
        misses.sort(key=lambda entry: abs(entry[2]))
        above = deque(entry for entry in misses if entry[2] > 0)
        below = deque(entry for entry in misses if entry[2] <= 0)
        while above or below:
            side = below if below and (self.balance > 0 or not above) else above
            draw, prediction, miss = side.popleft()
            self.balance, self.count = self.balance + miss, self.count + 1
            yield draw, prediction

    def off_target(self) -> str | None:
        """Return a warning if the kept instances are on one side of the success that was asked for, otherwise None."""
        goal = self.steering.target.success
        if goal is None or not self.count or abs(self.balance) <= WITHIN:
            return None
        miss = self.balance / self.count
        if abs(miss) <= OFF_TARGET:
            return None
        word, other_end = ("easier", goal - WITHIN) if miss > 0 else ("harder", goal + WITHIN)
        low, high = sorted((goal, other_end))
        number = sum(low <= success <= high for success in self.seen)
        few = f"only {number:,}" if number else "none"
        have = "have" if number > 1 else "has"
        ends = " to ".join(f"{end:.2f}" for end in (min(self.seen), max(self.seen)))
        return (
            f"the chosen instances are {word} than requested: their mean predicted success is {goal + miss:.2f} instead"
            f" of {goal}, because {few} of {len(self.seen):,} drawn instances {have} a prediction from {low} to {high};"
            f" {RANGE_OF_PREDICTIONS} {ends}"
        )

    def unreached(self) -> TargetUnreached:
        """Return why there are no more instances within the target."""
        successes, target = sorted(self.seen), self.steering.target
        message = f"too few of its instances have {target.text()}"
        if successes:
            ends = f"{_cents(successes[0])} to {_cents(successes[-1])}"
            message += f"; {RANGE_OF_PREDICTIONS} {ends}"
            if target.success is not None:
                below = [success for success in successes if success < target.success - WITHIN]
                above = [success for success in successes if success > target.success + WITHIN]
                if below and above and len(below) + len(above) == len(successes):
                    message += f", with none between {_cents(below[-1])} and {_cents(above[0])}"
        return TargetUnreached(message)


def model_target(bank: Bank, success: Decimal, model: BankModel) -> Target:
    """Return a success rate of a model of the bank as the target.

    Its slope, and the abilities that belong to it, come from the bank's explanation if this has them. Raises DiaError
    (exit 3) if they are malformed.
    """
    try:
        slopes = {entry["model"]: entry for entry in (bank.explanation or {}).get("slopes", ())}
        own = slopes.get(model.model)
        if own is None:
            return Target(success, model=model.model, ability=_six(model.ability), ability_se=_six(model.se or 0.0))
        places = {name: OwnAbility(*(_six(place[part]) for part in PARTS)) for name, place in own["templates"].items()}
        others = OwnAbility(*(_six(own["others"][part]) for part in PARTS))
        low, high = map(_six, own["ci"])
        value, log_se = _six(own["slope"]), _six(own["log_se"])
        if not value > 0:
            raise ValueError("a slope is not positive")
        slope = Slope(value, low, high, log_se, tuple(sorted(places.items())), others.covariance)
        return Target(success, None, None, model.model, others.value, others.se, slope)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise _malformed() from None


def _six(value: float) -> Decimal:
    """Return the number to six decimals. Raises ValueError if it is infinite or not a number."""
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    return Decimal(repr(round(float(value), 6)))


def _cents(value: Decimal) -> Decimal:
    """Return the number to two decimals."""
    return value.quantize(Decimal("0.01"))


def _malformed() -> DiaError:
    message = "the bank's explanation of difficulties is malformed"
    return DiaError(Diagnostic("E894", message, None, "write it again with `dia explain --save`"), 3)


def steering_of(bank: Bank, target: Target, templates: Sequence[str]) -> Steering:
    """Return how to choose instances of the templates, with the reason for each that is refused.

    Raises DiaError: exit 2 for a bank without an explanation, exit 3 for one whose explanation is malformed.
    """
    record = bank.explanation
    if record is None:
        help = "write a bank with one: `dia explain RUN --bank BANK --save FILE`"
        raise DiaError(Diagnostic("E898", "the bank has no explanation of difficulties", None, help))
    try:
        constant = exact(record["constant"])
        features = [_feature(entry) for entry in record["features"]]
        entries = {entry["template"]: entry for entry in record["templates"]}
        new = record["new_templates"]
        abilities = dict(target.slope.abilities) if target.slope is not None else {}
        rules, refused = {}, []
        for name in templates:
            quality = entries.get(name) or new
            why = _refusal(name, quality, target)
            if why is not None or quality is None:
                refused.append((name, why or ""))
                continue
            own = tuple((feature, weight) for feature, weight in features if _concerns(feature, name))
            error = exact(float(quality["error"]))
            ability = abilities.get(name)
            rules[name] = TemplateRule(
                constant,
                own,
                error if name in entries else _both(error, quality),
                None if ability is None else ability.value,
            )
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise _malformed() from None
    return Steering(target, as_record(bank)["checksum"], rules, tuple(refused))


def _both(error: Decimal, quality: Mapping[str, Any]) -> Decimal:
    """Return the error of an instance of a template that the bank does not have: the template's, and its own."""
    return exact(round(math.hypot(float(error), float(quality["se"])), 9))


def _refusal(template: str, quality: Mapping[str, Any] | None, target: Target) -> str | None:
    """Return why a template is not good enough to choose instances by, None if it is."""
    if quality is None:
        return "the bank has no replies to it, and its templates are too few to predict the difficulty of others"
    if quality["why"] is not None:
        return visible(str(quality["why"]))
    miss = target.miss(template, exact(float(quality["se"])))
    if miss <= WITHIN:
        return None
    far = miss.quantize(Decimal("0.01"))
    return f"its success rate would miss the target by {far} on average; the limit is {WITHIN}"


def _concerns(feature: Feature, template: str) -> bool:
    if feature.how == "template":
        return feature.name == template
    return feature.template is None or feature.template == template


def _feature(entry: Mapping[str, Any]) -> tuple[Feature, Decimal]:
    middle, unit, weight = (float(entry[name]) for name in ("middle", "unit", "weight"))
    level, template = entry["level"], entry["template"]
    return Feature(str(entry["how"]), str(entry["name"]), template, level, middle, unit), exact(weight)


def _rule_record(rule: TemplateRule) -> dict[str, Any]:
    features = [
        {
            "how": feature.how, "name": feature.name, "template": feature.template, "level": feature.level,
            "middle": repr(feature.middle), "unit": repr(feature.unit), "weight": str(weight),
        }
        for feature, weight in rule.features
    ]  # fmt: skip
    ability = {} if rule.ability is None else {"ability": str(rule.ability)}
    return {"constant": str(rule.constant), "error": str(rule.error), "features": features, **ability}


def steering_from(record: Mapping[str, Any]) -> Steering:
    """Return the steering that a manifest records. Raises DiaError (exit 3) for a malformed record."""
    try:
        ends = record["difficulty"] or (None, None)
        decimals = [None if text is None else Decimal(text) for text in (record["success"], *ends, record["ability"])]
        success, low, high, ability = decimals
        own = record.get("slope")
        slope = None if own is None else Slope(Decimal(own["value"]), Decimal(own["low"]), Decimal(own["high"]))
        target = Target(success, low, high, record["model"], ability, Decimal(record["ability_se"]), slope)
        rules = {
            name: TemplateRule(
                Decimal(rule["constant"]),
                tuple(map(_feature, rule["features"])),
                Decimal(rule["error"]),
                Decimal(rule["ability"]) if "ability" in rule else None,
            )
            for name, rule in record["templates"].items()
        }
        refused = tuple((entry["template"], entry["why"]) for entry in record["refused"])
        return Steering(target, record["bank"], rules, refused)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        message = "the manifest's `steering` is malformed, so the bundle cannot be compiled again"
        raise DiaError(Diagnostic("E702", message, None, "get a new copy of the bundle"), 3) from None
