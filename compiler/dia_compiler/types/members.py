"""The values of a small domain as a list, by enumerating its tree of choices."""

from __future__ import annotations

from typing import Any

from dia_language.diagnostics import LanguageError

from dia_compiler.types.base import Domain, Enumerable, key_of, order_of
from dia_compiler.types.choices import Open, Probe, Rejected
from dia_compiler.types.texts import Items

LISTED = 20_000
WAYS = 40_000


def members(of: Domain) -> Enumerable | None:
    """Return the domain as numbered values, sorted unless it numbers them itself; None if there are too many."""
    if isinstance(of, Enumerable):
        return of
    if of.count > LISTED:
        return None
    values: dict[Any, Any] = {}
    paths: list[tuple[int, ...]] = [()]
    for _ in range(WAYS):
        if not paths:
            return Items(sorted(values.values(), key=order_of), None)
        path = paths.pop()
        try:
            value = of.draw(Probe(path))
            values[key_of(value)] = value
        except Open as choice:
            if not 0 < choice.options <= WAYS:
                return None
            paths += [(*path, number) for number in range(choice.options)]
        except Rejected:
            continue
        except LanguageError:
            return None  # drawing reports it with its location
    return None
