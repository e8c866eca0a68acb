"""Checks for the options of answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dia_language.numbers.rounding import THOUSANDS, TIES
from dia_language.numbers.values import decode

PLACES = 1000
AMOUNTS = ("absolute", "relative", "places")
UNIT = 40
VARIABLES = 10
VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")
NUMERIC = frozenset("0123456789+-.,_'/eE ")
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
    """Return one message for each option whose value is not one of its choices."""
    return [
        f"`{name}` must be one of {', '.join(repr(choice) for choice in allowed)}"
        for name, allowed in choices.items()
        if name in options and options[name] not in allowed
    ]


def round_faults(round: Any) -> list[str]:
    """Return the errors in the option `round`."""
    if round is None:
        return []
    if not isinstance(round, Mapping):
        return ["`round` must be a mapping such as {places: 2, ties: half_even}"]
    messages = [f"`round` has no option `{name}`" for name in round if name not in ("places", *ROUND)]
    places = round.get("places")
    if type(places) is not int or abs(places) > PLACES:
        messages.append(f"`places` of `round` must be an integer from -{PLACES} to {PLACES}")
    return messages + choice_faults(round, ROUND)


def tolerance_faults(tolerance: Any) -> list[str]:
    """Return the errors in the option `tolerance`."""
    if tolerance is None:
        return []
    if not isinstance(tolerance, Mapping) or not tolerance:
        return ["`tolerance` must be a mapping with `absolute`, `relative` or `places`"]
    messages = [f"`tolerance` has no option `{name}`" for name in tolerance if name not in AMOUNTS]
    if "places" in tolerance:  # a template's `places` becomes an absolute amount, if it can
        messages.append(f"`places` of `tolerance` must be an integer from 0 to {PLACES}, without `absolute`")
    for name in ("absolute", "relative"):
        amount = exact_number(tolerance.get(name, 0))
        if amount is None or amount < 0:
            messages.append(f"`{name}` of `tolerance` must be an exact number that is not negative")
    return messages


def units_of(comparison: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the units that lenient ignores, longest first."""
    units = comparison.get("units", ())
    several = (units,) if isinstance(units, str) else units
    return tuple(sorted(several, key=lambda unit: (-len(unit), unit)))


def unit_faults(units: Any) -> list[str]:
    """Return the errors in the option `units`."""
    several = [units] if isinstance(units, str) else units
    if several is None:
        return []
    if not isinstance(several, list | tuple) or not all(isinstance(unit, str) for unit in several):
        return ["`units` must be a unit or a list of units, such as [km, kilometres]"]
    if any(not 0 < len(unit) <= UNIT or unit != unit.strip() or NUMERIC.issuperset(unit) for unit in several):
        return [f"each of `units` must be a text of 1 to {UNIT:,} characters that cannot be part of a number"]
    return []


def variables_of(comparison: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the variables that a formula can contain."""
    several = comparison.get("variables", comparison.get("variable", ()))
    return (several,) if isinstance(several, str) else tuple(several)


def variable_faults(comparison: Mapping[str, Any]) -> list[str]:
    """Return the errors in the options `variable` and `variables`."""
    names = [name for name in ("variable", "variables") if name in comparison]
    if len(names) > 1:
        return ["`variable` and `variables` cannot be combined"]
    for name in names:
        several = [comparison[name]] if isinstance(comparison[name], str) else comparison[name]
        is_list = isinstance(several, list | tuple) and 0 < len(several) <= VARIABLES
        if not is_list or not all(isinstance(one, str) and VARIABLE.fullmatch(one) for one in several):
            return [f"`{name}` must be a name, or a list of names, of letters, digits and _"]
        if len(set(several)) < len(several):
            return [f"`{name}` contains a name twice"]
    return []


def exact_number(value: Any) -> Fraction | None:
    """Return the exact number of an option, as given or in the stored form; None for anything else."""
    if isinstance(value, Mapping):
        try:
            value = decode(value)
        except ValueError:
            return None
    return Fraction(value) if type(value) is int or isinstance(value, Fraction) else None
