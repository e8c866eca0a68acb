"""The items of a template: itself, or one for each value of the parameter that `each` names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dia_compiler.analyze.domains import Filtered
from dia_compiler.types.base import Domain, Enumerable
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.numbers.values import Value, plain

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Item:
    """An item: its name within the template (empty for the template itself), and the value that makes it."""

    name: str = ""
    value: Value = None

    def named(self, template: str) -> str:
        """Return the item's name within the benchmark."""
        return f"{template}/{self.name}" if self.name else template


def items_of(domain: Domain, position: Position) -> list[Item]:
    """Return one item for every value of a domain, in its order. Raises DiaError if they cannot be listed."""
    base = domain.base if isinstance(domain, Filtered) else domain
    if not isinstance(base, Enumerable) or base.count > MOST:
        message = "the values of this parameter cannot be listed"
        help = "`each` needs a row, a choice, an integer between bounds, or another type with few values"
        raise DiaError(Diagnostic("E405", message, position, help))
    values = [(place, base.at(place)) for place in range(base.count)]
    accepted = [(place, value) for place, value in values if base is domain or domain.contains(value)]
    if not accepted:
        raise DiaError(Diagnostic("E405", "this parameter has no value left to make an item from", position))
    return [Item(name, value) for name, (_, value) in zip(_names(base, accepted), accepted, strict=True)]


def _names(domain: Enumerable, accepted: Sequence[tuple[int, Value]]) -> list[str]:
    """Return the names of the items: those of the values, or else their texts if short and plain, or else numbers."""
    named = [domain.name_at(place) for place, _ in accepted]
    own = [name for name in named if name is not None]
    texts = own if len(own) == len(accepted) else [_text(value) for _, value in accepted]
    if len(set(texts)) == len(texts) and all(map(NAME.fullmatch, texts)):
        return texts
    return [str(place) for place, _ in accepted]


def _text(value: Value) -> str:
    try:
        return plain(value)
    except LanguageError:
        return ""
