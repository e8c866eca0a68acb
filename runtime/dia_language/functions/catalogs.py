"""Entries of catalogs."""

from __future__ import annotations

from dia_language.functions.registry import library_function
from dia_language.numbers.values import Entry


@library_function
def name_of(entry: Entry) -> str:
    """Name of the entry within its catalog.

    >>> from dia_language.numbers.values import Record
    >>> name_of(Entry("edit", "reverse", Record()))
    'reverse'
    """
    return entry.name
