"""The settings of a compile that are the same for all instances of a template: seed, format, skip token, points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dia_compiler.parse.model import Benchmark, Template
from dia_compiler.sampling.steering import TemplateSteering
from dia_language.numbers.values import Record, Value
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import RULES, points_sentence

DEFAULT_FORMAT = {"kind": "xml"}
DEFAULT_SKIP = "I-DO-NOT-KNOW"
DEFAULT_POINTS = Record({"correct": 1, "skipped": 0, "wrong": -1})
DEFAULT_SEED = "0"


@dataclass(frozen=True, slots=True)
class Settings:
    """Seed, answer format, skip token and points of one template."""

    seed: str
    format: Mapping[str, Any]
    skip: str
    points: Record
    steering: TemplateSteering | None = None  # which drawn instances are kept; None keeps all

    def instruction(self, answer_phrase: str, format: Mapping[str, Any] | None = None) -> str:
        """Return the format's sentence on how to write the final answer, for the template or for one instance."""
        record = self.format if format is None else format
        return FORMATS[record["kind"]].instruction(record, answer_phrase)

    @property
    def points_rule(self) -> str:
        """Return the sentence on what the verdicts are worth."""
        return points_sentence(self.points)

    @property
    def stored_points(self) -> dict[str, Any]:
        """Return the points as bundles store them: integers, or fractions as text."""
        return {name: _stored(value) for name, value in self.points.items()}


def _stored(value: Value) -> Any:
    return str(Fraction(value)) if isinstance(value, Fraction) else value


def settings_of(benchmark: Benchmark, template: Template | None, seed: str) -> Settings:
    """Return the settings of a template: its own, else the benchmark's, else the defaults."""
    facts = {**benchmark.facts, **({} if template is None else template.facts)}
    skip = str(benchmark.facts.get("skip", DEFAULT_SKIP))
    format_facts = facts.get("format")
    chosen = {
        **(format_facts if isinstance(format_facts, Mapping) else DEFAULT_FORMAT),
        "skip": skip,
        "rules": RULES,
    }  # a wrong shape has already been reported
    return Settings(seed, chosen, skip, Record(facts.get("points", DEFAULT_POINTS)))


def seed_of(benchmark: Benchmark, seed: str | None) -> str:
    """Return the seed as text: of the command, else of the benchmark, else 0."""
    return seed if seed is not None else str(benchmark.facts.get("seed", DEFAULT_SEED))
