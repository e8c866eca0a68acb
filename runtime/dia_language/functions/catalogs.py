"""Entries of catalogs.

A catalog is a set of entries, defined under `catalogs` in a spec. A parameter of type `entry` draws one of them.
"""

from __future__ import annotations

from dia_language.functions.registry import library_function
from dia_language.numbers.values import Entry


@library_function
def name_of(entry: Entry) -> str:
    """The name of a catalog entry.

    In the example, `step` is a parameter of type `entry` whose value is the entry `reverse`.

    Examples:
        name_of(step) -> "reverse"
    """
    return entry.name
