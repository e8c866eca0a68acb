"""The JSON Schema of `dia score --json`, made of its types and of the registries of figures and verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from dia_language.json_schema import Schema, named, ref, typed_schema
from dia_runtime.grading.flags import FLAGS
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import (
    Block,
    ByDenominator,
    Correlation,
    Count,
    Ensemble,
    Estimate,
    Model,
    Score,
    Selective,
    SessionBlock,
)
from dia_runtime.scoring.score import GROUPS, LABELS

DEFINITIONS = {
    Estimate: "figure",
    Block: "block",
    Model: "model",
    Ensemble: "ensemble",
    Correlation: "correlation",
    SessionBlock: "sessions",
}
CLOSED = frozenset({Estimate, Selective, ByDenominator})  # types that cannot have further keys


def score_schema() -> Schema:
    """Return the content of `schemas/score.schema.json`."""
    definitions = {name: _described(kind) for kind, name in DEFINITIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://dia-spec.invalid/schemas/score.schema.json",
        "title": "dia score --json",
        **typed_schema(Score, DEFINITIONS, CLOSED, with_description=True),
        "$defs": definitions,
    }


def _described(kind: type) -> Schema:
    """Return the schema of a type: blocks also have the figures of the registry, models their groups by labels."""
    schema = typed_schema(kind, DEFINITIONS, CLOSED, with_description=True)
    if kind in (Block, Model, Ensemble):
        properties = schema["properties"]
        properties["counts"] |= _counts({str(verdict): verdict.meaning for verdict in Verdict})
        properties["flags"] |= _counts({flag.name: flag.meaning for flag in FLAGS.values()})
        properties |= {name: ref(DEFINITIONS[Estimate], figure.meaning) for name, figure in FIGURES.items()}
        schema["required"] += [name for name, figure in FIGURES.items() if figure.is_compared]
    if kind in (Model, Ensemble):
        groups = {f"by_{label}": _groups(f"The same figures by {label}.") for label in GROUPS}
        groups["by_skill"]["description"] = "The same figures by skill; a question counts in each of its skills."
        schema["properties"] |= groups
        schema["required"] += list(groups)
        others = "|".join(label for label in LABELS if label not in GROUPS)
        schema["patternProperties"] = {f"^by_({others})$": _groups("The same figures by a label that was asked for.")}
    return schema


def _counts(meanings: Mapping[str, str]) -> Schema:
    count = typed_schema(Count, DEFINITIONS)
    counts = {name: {**count, "description": meaning} for name, meaning in meanings.items()}
    return {"type": "object", "required": list(meanings), "properties": counts}


def _groups(words: str) -> Schema:
    return named(ref(DEFINITIONS[Block]), words)
