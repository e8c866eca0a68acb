"""Why questions have no reply: errors grouped by their cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, TypedDict

from dia_language.diagnostics import counted, visible

from dia_runtime.store.schema import ModelVersion

# What differs between errors of one cause: numbers, identifiers, addresses and whatever is in quotes
VARYING = re.compile(r"https?://\S+|\"[^\"]*\"|'[^']*'|`[^`]*`|\b[0-9a-fA-F]*[0-9][\w.-]*|\b\w+[-_]\w*[0-9]\w*")
LONGEST_CAUSE = 300
MOST_SHOWN = 5


class Cause(TypedDict):
    """A cause of errors: how many replies it cost, and the error of one of them."""

    replies: Annotated[int, "Replies that it cost."]
    example: Annotated[str, "The first error of this cause."]


class CauseCounter:
    """Counts errors by their cause; the first error of a cause is its example."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def add(self, error: str, number: int = 1) -> None:
        """Count an error, as a run stores it."""
        key = VARYING.sub("#", error[:LONGEST_CAUSE])
        self.counts[key] += number
        self.examples.setdefault(key, error[:LONGEST_CAUSE])

    def causes(self) -> list[Cause]:
        """Return the causes, the most frequent first."""
        return [{"replies": number, "example": self.examples[key]} for key, number in self.counts.most_common()]


def cause_lines(causes: Sequence[Cause]) -> list[str]:
    """Return a line for each of the most frequent causes, and how many errors have others."""
    lines = [f"{counted(cause['replies'], 'error')}: {cause['example']}" for cause in causes[:MOST_SHOWN]]
    others = sum(cause["replies"] for cause in causes[MOST_SHOWN:])
    return [*lines, f"{counted(others, 'error')} with {len(causes) - MOST_SHOWN} other causes"] if others else lines


def versions_text(versions: Sequence[ModelVersion]) -> str:
    """Return the most frequent models that a provider named, with the numbers of replies.

    >>> versions_text([{"version": "m-2024", "replies": 8}, {"version": "m-mini", "replies": 4}])
    'm-2024 8, m-mini 4'
    """
    texts = [f"{visible(entry['version'])} {entry['replies']:,}" for entry in versions[:MOST_SHOWN]]
    more = len(versions) - MOST_SHOWN
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def causes_of(errors: Iterable[tuple[str, int]]) -> list[Cause]:
    """Return the causes of errors, each of which occurred that often.

    >>> causes_of([("timeout: no reply within 5 s", 2), ("timeout: no reply within 9 s", 1)])
    [{'replies': 3, 'example': 'timeout: no reply within 5 s'}]
    """
    counter = CauseCounter()
    for error, number in errors:
        counter.add(error, number)
    return counter.causes()
