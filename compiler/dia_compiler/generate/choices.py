"""The lettered options of a multiple choice: the list in the prompt, the correct letter, and the letter that skips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from dia_compiler.analyze.domains import Scope
from dia_compiler.analyze.plan import Options
from dia_compiler.analyze.settings import Settings
from dia_compiler.sampling.instance_tree import ORDER
from dia_compiler.types.base import key_of
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError
from dia_language.numbers.values import Value, plain


@dataclass(frozen=True, slots=True)
class Lettered:
    """The options of one instance by letter, the correct letter, and the answer format for them."""

    gold: str
    texts: Mapping[str, str]
    values: Mapping[Any, str]
    format: Mapping[str, Any]

    @property
    def listed(self) -> str:
        """The options as the prompt shows them, one per line (`A. Paris`)."""
        return "\n".join(f"{letter}. {text}" for letter, text in self.texts.items())

    @property
    def comparison(self) -> dict[str, Any]:
        """Return how a reply is compared: as a letter, with the options' texts for formats that need them."""
        return {"type": "choice", "of": list(self.texts) if "options" in self.format else dict(self.texts)}

    def letter_of(self, value: Value) -> str | None:
        """Return the letter of an option, or None if it is not an option."""
        return self.values.get(key_of(value))


def lettered(options: Options, scope: Scope, settings: Settings) -> Lettered:
    """Return the options of an instance in their drawn order. Raises DiaError if two have the same text."""
    values = [scope["answer"], *options.distractors(scope)]
    if options.choices.is_shuffled:
        order = scope[ORDER]
    else:
        order = sorted(range(len(values)), key=lambda place: _rank(values[place]))
    texts = [_text(values[place], options) for place in order]
    skip = options.choices.skip
    option_texts = [*texts, *([skip.text] if skip is not None else [])]
    _refuse_equal(option_texts, options)
    letters = ascii_uppercase[: len(option_texts)]
    text_by_letter = dict(zip(letters, option_texts, strict=True))
    format: dict[str, Any] = dict(settings.format)
    if skip is not None:
        format["skip"] = letters[-1]
    if format["kind"] == "letter":
        format["options"] = text_by_letter
    by_value = {key_of(values[place]): letter for letter, place in zip(letters, order, strict=False)}
    return Lettered(letters[order.index(0)], text_by_letter, by_value, format)


def _text(value: Value, options: Options) -> str:
    try:
        text = plain(value).strip()
    except LanguageError as error:
        raise DiaError(Diagnostic(error.code, error.message, options.choices.position, error.help)) from None
    if not text:
        raise DiaError(Diagnostic("E510", "an option is empty", options.choices.position))
    return text


def _rank(value: Value) -> tuple[bool, Any]:
    """Numbers in ascending order, then everything else by its text."""
    is_number = isinstance(value, (int, Fraction)) and not isinstance(value, bool)
    return (False, value) if is_number else (True, plain(value))


def _refuse_equal(texts: list[str], options: Options) -> None:
    folded_texts: set[str] = set()
    for text in texts:
        folded = " ".join(text.casefold().split())
        if folded in folded_texts:
            excerpt = text if len(text) <= 60 else text[:60] + "..."
            help = "every option must differ from the right one and from the others; use `unique` or a `where`"
            raise DiaError(Diagnostic("E510", f"two options are both `{excerpt}`", options.choices.position, help))
        folded_texts.add(folded)
