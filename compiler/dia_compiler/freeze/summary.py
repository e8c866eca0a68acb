"""Facts of a compiled template besides its rows: how many instances exist, draws, functions and tools used."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dia_language.diagnostics import Diagnostic, Position

from dia_compiler.sampling.degrees_of_freedom import Freedom


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """Beginnings of draws that no attempt completed: how many, the values that one of them fixes, and the condition."""

    count: int
    example: str
    place: Position | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a worker reports about a template besides its rows; `wanted` is the number of instances to make."""

    freedom: Freedom
    acceptance: tuple[int, int]
    functions: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    instances: int | None = None
    goes_straight: bool = False
    next_position: int = 0
    tools: dict[str, str] = field(default_factory=dict)
    estimate: tuple[int, int] | None = None  # of the degrees of freedom, for screens only
    refused: str | None = None  # why there are too few instances, if the template is then left out
    dead_ends: DeadEnds | None = None  # for a message, if the template was not divided

    def with_draws(self, acceptance: tuple[int, int], tools: dict[str, str]) -> Summary:
        """Return the summary with more draws, and with the tools that they used."""
        accepted, drawn = (one + other for one, other in zip(self.acceptance, acceptance, strict=True))
        return replace(self, acceptance=(accepted, drawn), tools={**self.tools, **tools})
