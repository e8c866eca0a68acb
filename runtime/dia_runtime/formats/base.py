"""The base class of answer formats: the instruction to the model, and the chains that extract the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

from dia_language.json_schema import Schema, array, described, integer, nonempty

FormatRecord: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[str, Callable[[str, FormatRecord], str | None]]
NOTHING = "none"  # the recorded step if no step found an answer
POINTS = ("correct", "skipped", "wrong")
CHARACTERS = 1_000_000  # largest part of a reply that is searched


class Extraction(NamedTuple):
    """The answer's text, or None if there is none, and the step that decided."""

    text: str | None
    step: str


MOST = 1_000  # largest number of labels, options, lines or fields of a format
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
    """The options as data; a package may give only their names, without further data."""
    return options if isinstance(options, Mapping) else dict.fromkeys(sorted(options), FormatOption("any", ""))


class Format(ABC):
    """A way to mark the final answer in a reply.

    A new format is a class in a module of this package and one line in FORMATS.
    """

    # Options besides `kind` in a spec; a question's format also has `skip`.
    options: ClassVar[Mapping[str, FormatOption]] = {}
    # Chain -> its steps in order: the first one that finds an answer decides.
    chains: ClassVar[Mapping[str, tuple[Step, ...]]]
    # Chains whose result is compared as a string with the whole wrapped answer, without parsing it.
    verbatim: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.options = option_table(cls.options)

    @classmethod
    def example(cls, kind: str) -> dict[str, Any]:
        """An example of the format in a spec, under its name there."""
        shown = {name: option.example for name, option in cls.options.items() if option.example is not None}
        return {"kind": kind, **shown}

    def faults(self, format: FormatRecord) -> list[str]:
        """Return one message for each error in a question's format of this kind."""
        names = {*self.options, "kind", "skip"}
        return [f"the format {format['kind']} has no option `{name}`" for name in format if name not in names]

    @abstractmethod
    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        """How to write the final answer, as prompts say it. Frozen, because bundles contain it."""

    @abstractmethod
    def wrap(self, text: str, format: FormatRecord) -> str:
        """A reply with the text as its answer."""

    def extract(self, reply: str, format: FormatRecord, chain: str = "strict") -> Extraction:
        """Extract the answer's text from a reply with a chain, without stripping it."""
        for name, step in self.chains[chain]:
            text = step(reply, format)
            if text is not None:
                return Extraction(text, name)
        return Extraction(None, NOTHING)


def skip_sentence(wrapped: str, format: FormatRecord, verb: str = "write") -> str:
    """How to skip a question, if skipping is possible. Frozen, because prompts contain it."""
    return f"To skip the question instead, {verb} {wrapped}." if format.get("skip") else ""


def text_fault(format: FormatRecord, name: str) -> list[str]:
    """Return the error if the option is not a text, or is empty."""
    value = format.get(name)
    return (
        []
        if isinstance(value, str) and value
        else [f"`{name}` of the format {format['kind']} must be a text that is not empty"]
    )


def points_sentence(points: Mapping[str, Any]) -> str:
    """The points per verdict and, if skipping is between them, when answering pays. Empty without points. Frozen."""
    if any(name not in points for name in POINTS):
        return ""
    correct, skipped, wrong = (Fraction(points[name]) for name in POINTS)
    worth = f"A correct answer scores {correct}, a skipped one {skipped}, a wrong or unreadable one {wrong}"
    if not wrong < skipped < correct:
        return f"{worth}."
    bound = (skipped - wrong) / (correct - wrong)
    return f"{worth}: answering pays when the chance that you are right is above {bound}."
