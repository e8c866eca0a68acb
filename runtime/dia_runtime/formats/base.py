"""The base class of answer formats: the instruction to the model, and the chains that extract the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from dia_language.answers import Mode
from dia_language.json_schema import Schema, array, boolean, described, integer, nonempty

from dia_runtime.formats.markup import without_markup
from dia_runtime.formats.reasoning import without_reasoning

FormatRecord: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[str, Callable[[str, FormatRecord], str | None]]
# The edition of the rules by which replies are read. A bundle names its edition in each format; none is the first.
# Under the first, the default chain is `strict`. Under the second, it is `standard`; `standard` and `lenient` ignore
# reasoning in <think> blocks and Markdown around the answer, and all chains that read numbers accept a Unicode minus,
# an exponent or a declared unit.
RULES = 2
STANDARD = "standard"
NOTHING = "none"  # the recorded step if no step found an answer
POINTS = ("correct", "skipped", "wrong")
CHARACTERS = 1_000_000  # largest part of a reply that is searched


class Extraction(NamedTuple):
    """The answer's text, or None if there is none, and the step that decided."""

    text: str | None
    step: str


NO_EXTRACTION = Extraction(None, NOTHING)


class Reader(Protocol):
    """Extracts the answer's text from a reply."""

    def __call__(self, reply: str, is_readable: Callable[[str], bool] | None = None) -> Extraction: ...


MOST = 1_000  # largest number of labels, options, lines or fields of a format
KINDS: Mapping[str, Schema] = {
    "text": nonempty(),
    "texts": array(nonempty(), least=1),
    "alternatives": array(nonempty(), least=2),
    "count": integer(minimum=1, maximum=MOST),
    "flag": boolean(),
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
        """Return the JSON Schema of its value."""
        return described(KINDS[self.kind], self.description or None)


def option_table(options: Mapping[str, FormatOption] | frozenset[str]) -> Mapping[str, FormatOption]:
    """Return the options as data; a package may give only their names, without further data."""
    return options if isinstance(options, Mapping) else dict.fromkeys(sorted(options), FormatOption("any", ""))


class Format(ABC):
    """A way to mark the final answer in a reply.

    A new format is a class in a module of this package and one line in FORMATS.
    """

    # Options besides `kind` in a spec; a question's format also has `skip`.
    options: ClassVar[Mapping[str, FormatOption]] = {}
    # Chain -> its steps in order: the first one that finds an answer decides. Every format has `strict`; without
    # `standard`, a format reads with the steps of `strict`.
    chains: ClassVar[Mapping[str, tuple[Step, ...]]]
    # Chains whose result is compared as a string with the whole wrapped answer, without parsing it.
    verbatim: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.options = option_table(cls.options)

    @classmethod
    def example(cls, kind: str) -> dict[str, Any]:
        """Return an example of the format in a spec, under its name there."""
        examples = {name: option.example for name, option in cls.options.items() if option.example is not None}
        return {"kind": kind, **examples}

    def faults(self, format: FormatRecord) -> list[str]:
        """Return one message for each error in a question's format of this kind."""
        names = {*self.options, "kind", "skip", "rules"}
        messages = [f"the format {format['kind']} has no option `{name}`" for name in format if name not in names]
        return messages + rules_fault(format)

    @abstractmethod
    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        """How to write the final answer, as prompts say it. Frozen, because bundles contain it."""

    @abstractmethod
    def wrap(self, text: str, format: FormatRecord) -> str:
        """Return a reply with the text as its answer."""

    def extract(self, reply: str, format: FormatRecord, chain: str = STANDARD) -> Extraction:
        """Extract the answer's text from a reply with a chain, without stripping it."""
        return self.reader(format, chain)(reply)

    def reader(self, format: FormatRecord, chain: str = STANDARD) -> Reader:
        """Return `extract` for all replies in one format.

        With `is_readable`, a step whose text is not readable is passed over, unless no step finds a readable one.
        """
        chain = effective_chain(chain, format)
        steps = self.chains["strict" if chain == STANDARD and STANDARD not in self.chains else chain]
        has_reasoning = ignores_reasoning(chain, format)

        def extract(reply: str, is_readable: Callable[[str], bool] | None = None) -> Extraction:
            reply = without_reasoning(reply) if has_reasoning else reply
            first = None
            for name, step in steps:
                text = step(reply, format)
                if text is not None:
                    extraction = Extraction(text, name)
                    if is_readable is None or is_readable(text):
                        return extraction
                    first = first or extraction
            return first or NO_EXTRACTION

        return extract


def rules_of(format: FormatRecord) -> int:
    """Return the edition of the rules by which replies in this format are read."""
    return int(format.get("rules", 1))


def rules_fault(format: FormatRecord) -> list[str]:
    """Return the error if this version does not know the edition of the rules."""
    rules = format.get("rules", 1)
    is_known = type(rules) is int and 1 <= rules <= RULES
    return (
        [] if is_known else [f"`rules` of the format {format['kind']} must be at most {RULES}; update dia to read it"]
    )


def effective_chain(chain: str, format: FormatRecord) -> str:
    """Return the chain that reads the replies: the default chain of the first rules is `strict`."""
    return "strict" if chain == STANDARD and rules_of(format) < 2 else chain


def ignores_reasoning(chain: str, format: FormatRecord) -> bool:
    """Return whether the chain skips reasoning in <think> blocks."""
    return rules_of(format) >= 2 and chain in (STANDARD, "lenient")


def ignores_markup(chain: str, format: FormatRecord) -> bool:
    """Return whether an answer may be in bold, in backticks, in a code fence or between dollar signs.

    If the whole reply is the answer, its markup is a part of it.
    """
    return ignores_reasoning(chain, format) and format["kind"] != "whole"


def readable_texts(extracted: str, chain: str, format: FormatRecord) -> tuple[str, ...]:
    """Return the texts that a chain reads as a value: the extracted one, and that without the Markdown around it."""
    text = extracted.strip()
    inner = without_markup(text) if ignores_markup(chain, format) else text
    return (text, inner) if inner and inner != text else (text,)


def mode_of(chain: str, format: FormatRecord) -> Mode:
    """How the extracted text is read as a value."""
    if rules_of(format) < 2:
        return "lenient" if chain == "lenient" else "strict"
    return "standard_lenient" if chain == "lenient" else "standard"


def skip_sentence(wrapped: str, format: FormatRecord, verb: str = "write") -> str:
    """How to skip a question, if skipping is possible. Frozen, because prompts contain it."""
    return f"To skip the question, {verb} {wrapped} instead." if format.get("skip") else ""


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
    worth = (
        f"A correct answer scores {correct}, a skipped question {skipped}, and a wrong or unreadable answer {wrong}."
    )
    if not wrong < skipped < correct:
        return worth
    bound = (skipped - wrong) / (correct - wrong)
    return f"{worth} Answering pays off if the probability that you are right is above {bound}."
