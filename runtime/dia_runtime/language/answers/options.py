"""The options of answers: which fit, and what is wrong with those that do not."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dia_runtime.language.rounding import THOUSANDS, TIES
from dia_runtime.language.values import decode

PLACES = 1000
CHOICES: Mapping[str, tuple[str, ...]] = {
    "case": ("exact", "fold"),
    "whitespace": ("exact", "fold", "collapse", "ignore"),
    "unicode": ("exact", "fold"),
    "punctuation": ("exact", "ignore"),
}
ROUND: Mapping[str, tuple[str, ...]] = {
    "ties": tuple(TIES),
    "zeros": ("keep", "strip"),
    "thousands": ("", *THOUSANDS),
}


def choice_faults(options: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]]) -> list[str]:
    """One message for every option whose value is none of its choices."""
    return [
        f"`{name}` must be one of {', '.join(repr(choice) for choice in allowed)}"
        for name, allowed in choices.items()
        if name in options and options[name] not in allowed
    ]


def round_faults(round: Any) -> list[str]:
    """What is wrong with the option `round`."""
    if round is None:
        return []
    if not isinstance(round, Mapping):
        return ["`round` must be a mapping such as {places: 2, ties: half_even}"]
    found = [f"`round` has no option `{name}`" for name in round if name not in ("places", *ROUND)]
    places = round.get("places")
    if type(places) is not int or abs(places) > PLACES:
        found.append(f"`places` of `round` must be an integer from -{PLACES} to {PLACES}")
    return found + choice_faults(round, ROUND)


def tolerance_faults(tolerance: Any) -> list[str]:
    """What is wrong with the option `tolerance`."""
    if tolerance is None:
        return []
    if not isinstance(tolerance, Mapping) or not tolerance:
        return ["`tolerance` must be a mapping with `absolute`, `relative` or both"]
    found = [f"`tolerance` has no option `{name}`" for name in tolerance if name not in ("absolute", "relative")]
    for name in ("absolute", "relative"):
        amount = exact_number(tolerance.get(name, 0))
        if amount is None or amount < 0:
            found.append(f"`{name}` of `tolerance` must be an exact number that is not negative")
    return found


def exact_number(held: Any) -> Fraction | None:
    """The exact number of an option, as it is or as a bundle stores it; None for anything else."""
    if isinstance(held, Mapping):
        try:
            held = decode(held)
        except ValueError:
            return None
    return Fraction(held) if type(held) is int or isinstance(held, Fraction) else None
