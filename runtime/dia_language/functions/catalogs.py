"""Catalog entries."""

from __future__ import annotations

from dia_language.functions.registry import library_function
from dia_language.numbers.values import Entry


@library_function
def name_of(entry: Entry) -> str:
    """The name of a catalog entry.

    The example uses a parameter `step` of type `entry` that has drawn the entry `reverse`.

    Examples:
        name_of(step) -> "reverse"
    """
    return entry.name
