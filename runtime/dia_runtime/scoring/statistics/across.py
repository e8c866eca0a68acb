"""Correlations across models: between accuracies of session templates, their mean, and ability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from dia_runtime.scoring.results import AcrossModels, Model
from dia_runtime.scoring.statistics.correlate import correlation

ABILITY, COMPOSITE, PUBLISHED = "ability", "composite", "published composite"
Values = Sequence[float | None]


def across_models(models: Sequence[Model], abilities: Values | None) -> list[AcrossModels]:
    """Return Pearson's correlation of each pair of templates' accuracies over models, and of each with ability.

    Accuracies are those over all questions. Composites are only correlated with ability, because they always correlate
    with their own parts.
    """
    templates = dict.fromkeys(name for model in models for name in model.get("sessions", ()))
    accuracies: dict[str, Values] = {name: [_accuracy(model, name) for model in models] for name in templates}
    pairs = [((one, accuracies[one]), (other, accuracies[other])) for one, other in combinations(accuracies, 2)]
    if abilities is not None:
        composites: dict[str, Values] = {
            COMPOSITE: [composite["value"] if (composite := model.get("composite")) else None for model in models],
            PUBLISHED: [model.get("published", {}).get("composite", {}).get("accuracy") for model in models],
        }
        present = ((name, values) for name, values in composites.items() if set(values) != {None})
        pairs += [(entry, (ABILITY, abilities)) for entry in (*accuracies.items(), *present)]
    return [{"a": one[0], "b": other[0], **correlation(_both(one[1], other[1]))} for one, other in pairs]


def _accuracy(model: Model, template: str) -> float | None:
    block = model.get("sessions", {}).get(template)
    return None if block is None else block["accuracy"]["all"]["value"]


def _both(one: Values, other: Values) -> list[tuple[float, float]]:
    return [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
