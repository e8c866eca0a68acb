"""What an answer format is: the instruction to the model, and the chains that find the answer in a reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

from dia_language.json_schema import Schema, array, described, integer, nonempty

FormatRecord: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[str, Callable[[str, FormatRecord], str | None]]
NOTHING = "none"  # the step that is recorded where no step found an answer
POINTS = ("correct", "skipped", "wrong")
CHARACTERS = 1_000_000  # of a reply that are searched at most


class Extraction(NamedTuple):
    """The answer's text, or None where there is none, and the step that decided."""

    text: str | None
    step: str


MOST = 1_000  # labels, options, lines or fields that a format may name
KINDS: Mapping[str, Schema] = {
    "text": nonempty(),
    "texts": array(nonempty(), least=1),
    "alternatives": array(nonempty(), least=2),
    "count": integer(minimum=1, maximum=MOST),
    "mapping": {"type": "object"},
    "any": {},
}


@dataclass(frozen=True, slots=True)
class FormatOption:
    """An option of a format as data, from which schemas and docs are made. `kind` is one of KINDS.

    `example` is its value in the format's example. An option that is not `in_specs` is written by the compiler.
    """

    kind: str
    description: str
    required: bool = False
    default: Any = None
    example: Any = None
    in_specs: bool = True

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its value."""
        return described(KINDS[self.kind], self.description or None)


def option_table(options: Mapping[str, FormatOption] | frozenset[str]) -> Mapping[str, FormatOption]:
    """The options as data; of names alone, as a package may give them, nothing more is known."""
    return options if isinstance(options, Mapping) else dict.fromkeys(sorted(options), FormatOption("any", ""))


class Format(ABC):
    """How a final answer is marked in a reply.

    A further format is a class in a module of this package and one line in FORMATS.
    """

    # Options that a spec may give beside `kind`; those of a question's record have `skip` as well.
    options: ClassVar[Mapping[str, FormatOption]] = {}
    # Chain -> its steps in order: the first one that finds an answer decides.
    chains: ClassVar[Mapping[str, tuple[Step, ...]]]
    # Chains whose answer is compared as a string with a whole wrapped answer, not read as a type.
    verbatim: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.options = option_table(cls.options)

    @classmethod
    def example(cls, kind: str) -> dict[str, Any]:
        """A use of the format in a spec, under the name that it has there."""
        shown = {name: option.example for name, option in cls.options.items() if option.example is not None}
        return {"kind": kind, **shown}

    def faults(self, format: FormatRecord) -> list[str]:
        """One message for everything that is wrong with a question's record of this format."""
        names = {*self.options, "kind", "skip"}
        return [f"the format {format['kind']} has no option `{name}`" for name in format if name not in names]

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
    return (
        []
        if isinstance(value, str) and value
        else [f"`{name}` of the format {format['kind']} must be a text that is not empty"]
    )


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
