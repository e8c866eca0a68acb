"""The outcome of a session question: a verdict, what it is based on, and whether everything could be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dia_language.numbers.values import Value
from dia_runtime.grading.verdicts import Verdict

# State of a question: everything that its truth needs was read; a reply could not be read; a reply is missing; or an
# expression of the truth failed on the replies.
VALID, UNREAD, ABSENT, BROKEN = "valid", "unread", "absent", "broken"
STATES = (VALID, UNREAD, ABSENT, BROKEN)


@dataclass(frozen=True, slots=True)
class Decision:
    """A predicted and an actual outcome: whether each is the positive class, or None if it is unknown."""

    predicted: bool | None
    actual: bool | None

    @property
    def is_known(self) -> bool:
        """Return whether both sides are."""
        return self.predicted is not None and self.actual is not None


@dataclass(frozen=True, slots=True)
class Order:
    """The labels as ranked and in their true order, None if unknown, and the share of correctly ordered pairs.

    The share is None if the reply is not a ranking of the labels; `pairs` is the number of pairs that count.
    """

    predicted: tuple[str, ...] | None
    actual: tuple[str, ...] | None
    score: Fraction | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict with its share of full marks, and everything that figures are computed from.

    `state` is one of STATES, `missing` the reply that it is about; `is_answered` says whether the reply to every turn
    that the truth needs arrived, readable or not. `is_recorded` says that it is based on values that a log gave without
    their texts; `mismatches` counts values in a log that differ from what is read in their texts. `token_counts` has
    the tokens of each reply by its name, None if unknown; `tokens` is the sum over the subject's replies. `unread` are
    the names of all replies that arrived, but could not be read.
    """

    verdict: Verdict
    state: str = VALID
    missing: str | None = None
    is_answered: bool = True
    share: Fraction | None = None
    kind: str = "grade"
    decisions: tuple[Decision, ...] = ()
    order: Order | None = None
    figures: Mapping[str, Value] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    steps: Mapping[str, Any] = field(default_factory=dict)
    token_counts: Mapping[str, Any] = field(default_factory=dict)
    tokens: int | None = None
    is_recorded: bool = False
    mismatches: int = 0
    unread: tuple[str, ...] = ()
