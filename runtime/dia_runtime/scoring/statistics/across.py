"""What goes together across models: the accuracies of templates of sessions, their mean, and ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from dia_runtime.scoring.statistics.correlate import correlation

ABILITY, COMPOSITE, PUBLISHED = "ability", "composite", "published composite"
Values = Sequence[float | None]


def across_models(models: Sequence[Mapping[str, Any]], abilities: Values | None) -> list[dict[str, Any]]:
    """Pearson's correlation of each two templates' accuracies over the models that have both, and of each with ability.

    Accuracies are those over all questions. Composites stand beside ability alone: with their own parts they go
    together whatever models do.
    """
    templates = dict.fromkeys(name for model in models for name in model.get("sessions", ()))
    held: dict[str, Values] = {name: [_accuracy(model, name) for model in models] for name in templates}
    pairs = [((one, held[one]), (other, held[other])) for one, other in combinations(held, 2)]
    if abilities is not None:
        whole: dict[str, Values] = {
            COMPOSITE: [(model.get("composite") or {}).get("value") for model in models],
            PUBLISHED: [model.get("published", {}).get("composite", {}).get("accuracy") for model in models],
        }
        beside = [*held.items(), *((name, values) for name, values in whole.items() if set(values) != {None})]
        pairs += [(entry, (ABILITY, abilities)) for entry in beside]
    return [{"a": one[0], "b": other[0], **correlation(_both(one[1], other[1]))} for one, other in pairs]


def _accuracy(model: Mapping[str, Any], template: str) -> float | None:
    block = model.get("sessions", {}).get(template)
    return None if block is None else block["accuracy"]["all"]["value"]


def _both(one: Values, other: Values) -> list[tuple[float, float]]:
    return [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
