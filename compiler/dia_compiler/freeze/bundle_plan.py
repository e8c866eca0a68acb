"""A bundle to be made, and the rows of its templates."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from dia_compiler.analyze.check import CheckedBenchmark
from dia_compiler.freeze.health import RowStatistics
from dia_compiler.freeze.output import CompileOptions
from dia_compiler.freeze.spool import Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.parse.model import Template
from dia_compiler.sampling.steering import Steering


@dataclass(slots=True)
class BundlePlan:
    """A bundle to be made: its benchmark, seed and options."""

    item: CheckedBenchmark
    seed: str
    options: CompileOptions
    is_limited: bool = False
    target: Path | None = None
    steering: Steering | None = None

    @property
    def folder(self) -> Path:
        """The folder of the bundle."""
        return self.target or self.options.folder / self.folder_name

    @property
    def folder_name(self) -> str:
        """`<benchmark>-<version>-k<k>`, and the seed if it is not the default."""
        facts = self.item.benchmark.facts
        name = self.item.benchmark.name + self._selection()
        suffix = "" if self.seed == "0" else f"-{seed_word(self.seed)}"
        steered = "" if self.steering is None else f"-{self.steering.label}"
        return f"{name}-{facts.get('version', '0.0.0')}-k{self.options.k}{suffix}{steered}"

    @property
    def is_selection(self) -> bool:
        """Whether it contains only some templates of the benchmark."""
        return bool(self.item.folder.chosen) or self.is_limited

    def _selection(self) -> str:
        """Return "" for a whole benchmark, or the name of the only template, or a digest of the names of several."""
        if not self.is_selection:
            return ""
        names = sorted(template.name for template in self.item.clean)
        if len(names) == 1:
            return f".{names[0]}"
        return "." + hashlib.sha256(" ".join(names).encode()).hexdigest()[:8]


def seed_word(seed: str) -> str:
    """Return the seed as part of a folder's name: itself if it is short and plain, else 8 digits of its SHA-256."""
    plain = 1 <= len(seed) <= 16 and all(char in "abcdefghijklmnopqrstuvwxyz0123456789-" for char in seed)
    return seed if plain else hashlib.sha256(seed.encode()).hexdigest()[:8]


@dataclass(slots=True)
class TemplateRows:
    """A template with all of its rows on disk, their statistics, and the worker's summary."""

    template: Template
    spool: Spool
    summary: Summary
    statistics: RowStatistics
