"""An example plug-in for dia: a function, a parameter type, an answer format, an asset builder and an exporter.

The name of an entry point is the name in specs. It points to a plain function, or to an instance of the base class.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from dia_compiler.assets.base import Builder, Site, data
from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, integer_option, option
from dia_runtime.bundle.open import Bundle
from dia_runtime.exports.base import Exporter, Files, pairs
from dia_runtime.formats.base import Format, FormatRecord, skip_sentence
from dia_runtime.language.diagnostics import LanguageError


def vowel_count(text: str) -> int:
    """The number of vowels (a, e, i, o, u) in `text`, in either case.

    Examples:
        vowel_count("Arrow") -> 2
    """
    if len(text) > 1_000_000:
        raise LanguageError("`vowel_count` takes texts of at most 1,000,000 characters")
    return sum(text.lower().count(letter) for letter in "aeiou")


# Bundles record the revision. Raise it whenever the results of `vowel_count` change.
vowel_count.revision = 1  # type: ignore[attr-defined]


class Throws(Domain):
    """Throws of several dice. Each die is a separate choice, so different choices give different values."""

    def __init__(self, number: int, sides: int) -> None:
        self.number, self.sides = number, sides

    def draw(self, choose: Choose) -> list[int]:
        return [1 + choose.below(self.sides) for _ in range(self.number)]

    def contains(self, value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == self.number
            and all(die in range(1, self.sides + 1) for die in value)
        )

    @property
    def count(self) -> int:
        return int(self.sides**self.number)

    def boundary(self) -> list[list[int]]:
        return [[1] * self.number, [self.sides] * self.number]


class DiceType(ParameterType):
    """The type `dice`."""

    name = "dice"
    summary = "a throw of several dice"
    options = {
        "number": option("data", "how many dice", required=True),
        "sides": option("data", "sides of a die (default 6)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        number, sides = integer_option(options, "number"), integer_option(options, "sides", 6)
        assert number is not None and sides is not None
        if not 1 <= number <= 100:
            raise OptionFault("number", "`number` must be between 1 and 100")
        if not 2 <= sides <= 1000:
            raise OptionFault("sides", "`sides` must be between 2 and 1000")
        return Throws(number, sides)


DICE = DiceType()


def after_arrow(reply: str, format: FormatRecord) -> str | None:
    """Return the text after the last `=>`, up to the end of its line."""
    _, arrow, rest = reply.rpartition("=>")
    return rest.split("\n", 1)[0].strip() if arrow else None


class Arrow(Format):
    """The format `arrow`: the answer follows `=>`."""

    chains = {"strict": (("arrow", after_arrow),), "lenient": (("arrow", after_arrow),)}

    def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
        skip = skip_sentence(f"`=> {format.get('skip')}`", format)
        return f"End with a line `=> ...` that contains only the answer: {answer_phrase}. {skip}".rstrip()

    def wrap(self, text: str, format: FormatRecord) -> str:
        return f"=> {text}"


ARROW = Arrow()


class DrawnDice(Builder):
    """The builder `drawn_dice`. Its bytes depend only on its options, and on `site.entropy` if it needs randomness."""

    summary = "a throw of dice as rows of dots"
    options = {"dice": data("the throw, a list of numbers", required=True)}
    extension = "txt"
    media_type = "text/plain; charset=utf-8"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        dice = options.get("dice", [])
        if not isinstance(dice, list) or not all(type(die) is int and 0 < die <= 1000 for die in dice):
            raise OptionFault("dice", "`dice` must be a list of numbers from 1 to 1000")

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        return "\n".join("." * die for die in options["dice"])


DRAWN_DICE = DrawnDice()


class Table(Exporter):
    """The exporter `table`: questions and answers as CSV."""

    summary = "a table of questions and answers"

    def files(self, bundle: Bundle) -> Files:
        yield "questions.csv", self.rows(bundle)

    def rows(self, bundle: Bundle) -> Iterator[bytes]:
        for question, answer in pairs(bundle):
            row = io.StringIO()
            csv.writer(row).writerow([question["id"], question["messages"][0]["content"], answer["text"]])
            yield row.getvalue().encode()


TABLE = Table()
