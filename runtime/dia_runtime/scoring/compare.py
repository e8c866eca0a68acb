"""All respondents of a score together: comparisons, groups by labels, and which differences can be seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.psychometrics.rasch.bank import Bank
from dia_runtime.scoring.statistics.across import across_models
from dia_runtime.scoring.statistics.compare import comparison, differences, rank_changes, skip_agreement
from dia_runtime.scoring.statistics.groups import Respondents
from dia_runtime.scoring.statistics.ledger import Marks
from dia_runtime.scoring.statistics.power import power as sizes
from dia_runtime.scoring.statistics.resample import Intervals

if TYPE_CHECKING:
    from dia_runtime.scoring.labels import Labels

COMPARED = ("trad_score", "rs")  # unless other figures are named
MOST_MODELS = 50
ROLES = re.compile(r"\+[a-z_][a-z0-9_]*=.*", re.DOTALL)  # who plays what, behind the name of a respondent
Abilities = list[dict[str, float | None] | None]  # of each respondent, None where nobody knows it


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is computed beside the figures: intervals, comparisons by these figures, and sizes for a difference.

    `labels` are what a file of labels says of the respondents, None where there is no such file; `bank` has their
    abilities.
    """

    intervals: Intervals = Intervals()  # noqa: RUF009 - it is frozen
    compare: tuple[str, ...] = ()
    labels: Labels | None = None
    power: bool = False
    difference: float | None = None
    bank: Bank | None = None

    @property
    def is_beside(self) -> bool:
        """Whether respondents are put beside each other, question by question."""
        return bool(self.compare) or self.power or self.labels is not None


def require_few(known: Sequence[str], wanted: Wanted) -> None:
    """Nothing; raises DiaError (exit 2) where too many respondents are to be compared, each with each."""
    if wanted.is_beside and len(known) > MOST_MODELS:
        message = f"{len(known)} models are too many to be compared, each with each"
        raise DiaError(Diagnostic("E811", message, None, f"name runs of {MOST_MODELS} at most"))


def labels_of(wanted: Wanted, model: str) -> dict[str, str]:
    """What the file of labels says of a respondent."""
    return wanted.labels.of(model) if wanted.labels else {}


def abilities_of(wanted: Wanted, known: Sequence[str], models: Sequence[Mapping[str, Any]]) -> Abilities | None:
    """Each respondent's ability with its error, None where the bank has none; None where there is no bank.

    Who is named with others that play a role, as in `a+judge=b`, has the ability of `a` unless the bank knows better.
    Raises DiaError (exit 2) where the bank has none of them.
    """
    if wanted.bank is None:
        return None
    held = {entry.model: {"value": entry.ability, "se": entry.se} for entry in wanted.bank.models}
    names = [(name, str(model["model"])) for name, model in zip(known, models, strict=True)]
    found = [held.get(name, held.get(model, held.get(ROLES.sub("", model)))) for name, model in names]
    if not any(found):
        few = ", ".join(f"`{name[:60]}`" for name in list(held)[:3])
        help = f"names must be the same; the bank has {few}" if few else "the bank has no models"
        message = "the bank has the ability of none of these models"
        raise DiaError(Diagnostic("E895", message, None, visible(help)))
    return found


def together(
    known: Sequence[str],
    marks: Sequence[Marks],
    models: Sequence[Mapping[str, Any]],
    wanted: Wanted,
    abilities: Abilities | None = None,
) -> dict[str, Any]:
    """What is made of all respondents together, with the keys of `dia score --json`."""
    way, figures = wanted.intervals, wanted.compare
    found: dict[str, Any] = {"comparisons": [], "rank_changes": [], "skip_agreement": [], "by_respondent": {}}
    if figures:
        held = comparison(known, marks, figures, way)
        values = [{name: model[name]["value"] for name in figures} for model in models]
        found |= {"comparisons": differences(held), "rank_changes": rank_changes(held, values)}
        found["skip_agreement"] = skip_agreement(held, way)
    if wanted.labels:
        respondents = Respondents(known, marks, figures or COMPARED, way)
        said = [wanted.labels.of(str(model["model"])) for model in models]
        found["by_respondent"] = {
            label: respondents.by([held.get(label) for held in said]) for label in wanted.labels.names
        }
    places = None if abilities is None else [None if entry is None else entry["value"] for entry in abilities]
    found["correlations"] = across_models(models, places)
    found["power"] = sizes(known, marks, wanted.difference) if wanted.power else None
    return found
