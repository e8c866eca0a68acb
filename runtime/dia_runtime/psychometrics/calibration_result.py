"""The result of a calibration for printing: the fields are the keys of `dia calibrate --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dia_runtime.psychometrics.rasch.andersen import Andersen
from dia_runtime.psychometrics.rasch.bank import LeftOut
from dia_runtime.psychometrics.rasch.estimate import CalibrationRecord
from dia_runtime.psychometrics.rasch.filters import Candidate
from dia_runtime.psychometrics.rasch.fit import Reliability
from dia_runtime.psychometrics.rasch.held_out import HeldOut

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LocatedEntry:
    """A model's ability or an item's difficulty in logits, with its standard error, its fit, and its counts."""

    name: str
    value: float | None
    se: float | None
    ci: Interval | None
    status: str
    infit: float | None
    outfit: float | None
    infit_z: float | None
    outfit_z: float | None
    successes: float | None
    trials: float | None


@dataclass(frozen=True, slots=True)
class NormalPrior:
    """The normal distribution of the random side."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ResidualComponents:
    """The largest eigenvalues of residual correlations, and the loadings of the first component by name."""

    by: str
    eigenvalues: list[float]
    loadings: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MonotoneItem:
    """An item's pass rates by ability group, their isotonic fit, and how probable the difference is."""

    name: str
    p: float | None
    rates: list[float | None]
    isotonic: list[float | None]


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """An estimate of a model, an item or a template, with its standard error."""

    name: str
    value: float
    se: float | None


@dataclass(frozen=True, slots=True)
class WaldTest:
    """The difference of a parameter between high and low scores of the other side, and its test."""

    name: str
    difference: float
    se: float
    z: float
    p: float


@dataclass(frozen=True, slots=True)
class WaldReport:
    """Wald tests of all models or all items, the most certain first."""

    compared: str
    entries: list[WaldTest]


@dataclass(frozen=True, slots=True)
class SlopesReport:
    """Slopes of templates or items (2PL), the standard deviation of their logarithms, and a test that all are equal."""

    of: str
    statistic: float
    df: int
    p: float
    spread: float
    entries: list[NamedEstimate]


@dataclass(frozen=True, slots=True)
class StepEntry:
    """Thresholds between neighbouring scores of an item, or of a template's items, about the item's difficulty."""

    name: str
    thresholds: list[float]
    se: list[float]


@dataclass(frozen=True, slots=True)
class PartialCreditReport:
    """Abilities and difficulties from partial credits, the thresholds, and the test of counts of independent trials."""

    equal_steps: Andersen
    log_likelihood: float
    abilities: list[NamedEstimate]
    difficulties: list[NamedEstimate]
    thresholds: list[StepEntry]


@dataclass(frozen=True, slots=True)
class PlausibleDraws:
    """Plausible values in logits, by name."""

    abilities: Mapping[str, list[float]]
    difficulties: Mapping[str, list[float]]


@dataclass(frozen=True, slots=True)
class ModelFit:
    """How well the data fit the model; None for checks that were not requested or that the data do not allow."""

    models: Reliability
    items: Reliability
    components: ResidualComponents | None = None
    andersen: Andersen | None = None
    monotone: list[MonotoneItem] | None = None
    wald: WaldReport | None = None
    martin_loef: Andersen | None = None
    slopes: SlopesReport | None = None
    partial_credit: PartialCreditReport | None = None


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """The filter that was chosen, and the candidates for each category of items."""

    chosen: str | None
    categories: Mapping[str, list[Candidate]]


@dataclass(frozen=True, slots=True)
class RefitPlacement:
    """Where a refit places a model that it left out, and how far that is from before."""

    value: float
    difference: float


@dataclass(frozen=True, slots=True)
class RefitEntry:
    """The difficulties after a refit without some models, and where these models are then placed."""

    shift: float | None
    mean_absolute: float | None
    correlation: float | None
    name: str
    items: int
    placed: Mapping[str, RefitPlacement]


@dataclass(frozen=True, slots=True)
class NullFigure:
    """A figure of data sets drawn from the fitted model: its mean and the central 95 %."""

    mean: float
    ci: Interval


@dataclass(frozen=True, slots=True)
class StabilityReport:
    """Refits without some models, figures pooled over them, and the same figures by chance alone."""

    left_out: list[RefitEntry]
    pooled: Mapping[str, float | None]
    null: Mapping[str, NullFigure] | None
    p: float | None


@dataclass(frozen=True, slots=True)
class FamilyDifference:
    """How much harder an item is for a family of models than their abilities predict (differential item functioning).

    `item` is the name of a template if all its items are taken together. `detectable` is the size that a true
    difference must have to give p < 0.05 with a probability of 80 %.
    """

    item: str
    group: str
    size: float
    se: float
    p: float
    adjusted: float
    detectable: float


@dataclass(frozen=True, slots=True)
class FamilyEffect:
    """The effect of families on a model's replies (Rasch testlet model): its standard deviation in logits, and a test.

    `z` is the statistic of a one-sided score test of no effect, `p` its probability.
    """

    sd: float
    se: float | None
    z: float
    p: float


@dataclass(frozen=True, slots=True)
class LocalDependence:
    """How errors of abilities account for dependence between items of one template (a family).

    `families` is the number of clusters, None if the errors assume independent items; `design_effect` is the factor on
    the variance of a difference of two abilities. `q3_within` and `q3_between` are mean correlations of the residuals
    of two items of one family and of two families.
    """

    families: int | None
    design_effect: float | None
    effect: FamilyEffect | None
    q3_within: float | None
    q3_between: float | None

    @property
    def is_rejected(self) -> bool:
        """Return whether independence is rejected at 5 %."""
        return self.effect is not None and self.effect.p < 0.05


@dataclass(frozen=True, slots=True)
class AbilityDifference:
    """How much more able a model is than the next one: difference in logits, with its error and interval."""

    model: str
    than: str
    value: float
    se: float
    ci: Interval


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """A calibration with all checks of its quality. `exact` is the exact solution if the preset `paper` was used.

    `exact` is the exact solution of the same model where the preset `paper` was run.
    """

    abilities: list[LocatedEntry]
    difficulties: list[LocatedEntry]
    log_likelihood: float | None
    iterations: int
    residual: float | None
    gauge: str
    method: str
    item_scores: str
    prior: NormalPrior | None
    unit: str
    benchmark: str | None
    exact: CalibrationRecord | None
    fit: ModelFit
    filter: str | None = None
    choice: FilterChoice | None = None
    held_out: HeldOut | None = None
    stability: Mapping[str, StabilityReport] | None = None  # `models`, and `families` if they are known
    differences: list[FamilyDifference] | None = None
    left_out: tuple[LeftOut, ...] = ()
    dependence: LocalDependence | None = None
    neighbors: list[AbilityDifference] | None = None  # each model and the next less able one
    template_differences: list[FamilyDifference] | None = None
    plausible_values: PlausibleDraws | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the result as `dia calibrate --json` prints it."""
        return asdict(self)
