"""Results about all respondents of a score: comparisons, groups by labels, and detectable differences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.psychometrics.rasch.bank import Bank
from dia_runtime.scoring.figures import COMPARED
from dia_runtime.scoring.results import Ability, Comparisons, Model, figure_of
from dia_runtime.scoring.statistics.across import across_models
from dia_runtime.scoring.statistics.compare import comparison, differences, rank_changes, skip_agreement
from dia_runtime.scoring.statistics.groups import Respondents
from dia_runtime.scoring.statistics.ledger import Marks
from dia_runtime.scoring.statistics.power import power
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.tool_effects import tool_effects, tool_pairs

if TYPE_CHECKING:
    from dia_runtime.scoring.labels import Labels

MOST_MODELS = 50
ROLES = re.compile(r"\+[a-z_][a-z0-9_]*=.*", re.DOTALL)  # models of roles, after the name of a respondent
Abilities = list[Ability | None]  # of each respondent, None if unknown


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What is computed in addition to the figures: intervals, comparisons by these figures, and power.

    `labels` are the labels of the respondents from a file, None without one; `bank` has their abilities.
    """

    intervals: Intervals = Intervals()  # noqa: RUF009 - it is frozen
    compare: tuple[str, ...] = ()
    labels: Labels | None = None
    power: bool = False
    difference: float | None = None
    bank: Bank | None = None
    categories: Mapping[str, str] | None = None  # of items, if the effect of tools is requested

    @property
    def needs_marks(self) -> bool:
        """Return whether respondents are compared question by question."""
        return bool(self.compare) or self.power or self.labels is not None or self.categories is not None

    def labels_of(self, model: str) -> dict[str, str]:
        """Return the labels of a respondent from the file."""
        return self.labels.of(model) if self.labels else {}


def require_few(names: Sequence[str], options: ComparisonOptions) -> None:
    """Raise DiaError (exit 2) if there are too many respondents for pairwise comparisons."""
    if options.needs_marks and len(names) > MOST_MODELS:
        message = f"{len(names)} models are too many for comparisons in pairs"
        raise DiaError(Diagnostic("E811", message, None, f"choose runs with at most {MOST_MODELS} models in total"))


def require_tool_pairs(models: Sequence[str]) -> None:
    """Raise DiaError (exit 2) if no respondent occurs both with tools and without."""
    if not tool_pairs(models):
        message = "no model is in these runs both with tools and without"
        help = "name two runs of one model, one of them made with `dia run --tools`; the settings must be the same"
        raise DiaError(Diagnostic("E811", message, None, help))


def abilities_of(bank: Bank, names: Sequence[str], models: Sequence[str]) -> Abilities:
    """Return each respondent's ability with its error, None if the bank does not have it.

    `names` are all different, `models` are those in the runs. A respondent named with the models of other roles, as in
    `a+judge=b`, has the ability of `a` unless the bank has the full name. Raises DiaError (exit 2) if the bank has none
    of them.
    """
    by_name: dict[str, Ability] = {entry.model: {"value": entry.ability, "se": entry.se} for entry in bank.models}
    abilities = [
        by_name.get(name, by_name.get(model, by_name.get(ROLES.sub("", model))))
        for name, model in zip(names, models, strict=True)
    ]
    if not any(abilities):
        few = ", ".join(f"`{name[:60]}`" for name in list(by_name)[:3])
        help = f"model names must match those in the bank, which has {few}" if few else "the bank has no models"
        message = "the bank has none of these models"
        raise DiaError(Diagnostic("E895", message, None, visible(help)))
    return abilities


def compared(
    names: Sequence[str], marks: Sequence[Marks], models: Sequence[Model], options: ComparisonOptions,
    abilities: Abilities | None = None,
) -> Comparisons:  # fmt: skip
    """Return the results about all respondents together."""
    intervals, figures = options.intervals, options.compare
    result: Comparisons = {
        "comparisons": [],
        "tool_effects": [],
        "rank_changes": [],
        "skip_agreement": [],
        "by_respondent": {},
        "correlations": [],
        "power": None,
    }
    if figures:
        pairs = comparison(names, marks, figures, intervals)
        values = [{name: figure_of(model, name)["value"] for name in figures} for model in models]
        result["comparisons"] = differences(pairs)
        result["rank_changes"] = rank_changes(pairs, values)
        result["skip_agreement"] = skip_agreement(pairs, intervals)
    if options.categories is not None:
        of_runs = [model["model"] for model in models]
        result["tool_effects"] = tool_effects(names, of_runs, marks, options.categories, intervals)
    if options.labels:
        respondents = Respondents(names, marks, figures or COMPARED, intervals)
        result["by_respondent"] = {
            label: respondents.by([model["labels"].get(label) for model in models]) for label in options.labels.names
        }
    places = None if abilities is None else [None if entry is None else entry["value"] for entry in abilities]
    result["correlations"] = across_models(models, places)
    if options.power:
        result["power"] = power(names, marks, options.difference)
    return result
