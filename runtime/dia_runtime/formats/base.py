"""What an answer format is: the instruction to the model, and the chains that find the answer in a reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

FormatRecord: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[str, Callable[[str, FormatRecord], str | None]]
NOTHING = "none"  # the step that is recorded where no step found an answer
POINTS = ("correct", "skipped", "wrong")
CHARACTERS = 1_000_000  # of a reply that are searched at most


class Extraction(NamedTuple):
    """The answer's text, or None where there is none, and the step that decided."""

    text: str | None
    step: str


class Format(ABC):
    """How a final answer is marked in a reply.

    A further format is a class in a module of this package and one line in FORMATS.
    """

    # Options that a spec may give beside `kind`; those of a question's record have `skip` as well.
    options: ClassVar[frozenset[str]] = frozenset()
    # Chain -> its steps in order: the first one that finds an answer decides.
    chains: ClassVar[Mapping[str, tuple[Step, ...]]]
    # Chains whose answer is compared as a string with a whole wrapped answer, not read as a type.
    verbatim: ClassVar[frozenset[str]] = frozenset()

    def faults(self, format: FormatRecord) -> list[str]:
        """One message for everything that is wrong with a question's record of this format."""
        known = self.options | {"kind", "skip"}
        return [f"the format {format['kind']} has no option `{name}`" for name in format if name not in known]

    @abstractmethod
    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        """How to write the final answer, as prompts tell it. Frozen: bundles are made of it."""

    @abstractmethod
    def wrap(self, text: str, format: FormatRecord) -> str:
        """A reply that gives the text as its answer."""

    def extract(self, reply: str, format: FormatRecord, chain: str = "strict") -> Extraction:
        """The answer's text in a reply, not stripped, by the steps of a chain."""
        for name, step in self.chains[chain]:
            text = step(reply, format)
            if text is not None:
                return Extraction(text, name)
        return Extraction(None, NOTHING)


def skip_sentence(wrapped: str, format: FormatRecord, verb: str = "write") -> str:
    """How to skip a question, if that can be done; frozen, because prompts hold it."""
    return f"To skip the question instead, {verb} {wrapped}." if format.get("skip") else ""


def text_fault(format: FormatRecord, name: str) -> list[str]:
    """What keeps the option from being a text of at least one character."""
    value = format.get(name)
    return [] if isinstance(value, str) and value else [f"`{name}` of the format {format['kind']} must be a text"]


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
