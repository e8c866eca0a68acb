"""What an answer format is: the instruction to the model, and the chains that find the answer in a reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

Step: TypeAlias = tuple[str, Callable[[str], str | None]]
NOTHING = "none"  # the step that is recorded where no step found an answer
POINTS = ("correct", "skipped", "wrong")


class Extraction(NamedTuple):
    """The answer's text, or None where there is none, and the step that decided."""

    text: str | None
    step: str


class Format(ABC):
    """How a final answer is marked in a reply.

    A further format is a class in a module of this package and one line in FORMATS.
    """

    # Chain -> its steps in order: the first one that finds an answer decides.
    chains: ClassVar[Mapping[str, tuple[Step, ...]]]
    # Chains whose answer is compared as a string with a whole wrapped answer, not read as a type.
    verbatim: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def instruction(self, format: Mapping[str, Any], answer_phrase: str) -> str:
        """How to write the final answer, as prompts tell it. Frozen: bundles are made of it."""

    @abstractmethod
    def wrap(self, text: str, format: Mapping[str, Any]) -> str:
        """A reply that gives the text as its answer."""

    def extract(self, reply: str, format: Mapping[str, Any], chain: str = "strict") -> Extraction:
        """The answer's text in a reply, not stripped, by the steps of a chain."""
        for name, step in self.chains[chain]:
            text = step(reply)
            if text is not None:
                return Extraction(text, name)
        return Extraction(None, NOTHING)


def points_sentence(points: Mapping[str, Any]) -> str:
    """What the verdicts are worth and, where a skip lies between, when an answer pays; empty without points. Frozen."""
    if any(name not in points for name in POINTS):
        return ""
    correct, skipped, wrong = (Fraction(points[name]) for name in POINTS)
    worth = f"A correct answer scores {correct}, a skipped one {skipped}, a wrong or unreadable one {wrong}"
    if not wrong < skipped < correct:
        return f"{worth}."
    bound = (skipped - wrong) / (correct - wrong)
    return f"{worth}: answering pays when the chance that you are right is above {bound}."
