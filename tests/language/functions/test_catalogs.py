"""Functions of catalog entries."""

from __future__ import annotations

import pytest
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.numbers.values import Entry, Record


def test_name_of_is_the_name_in_the_catalog() -> None:
    name_of = library()["name_of"].call
    assert [name_of(Entry("edit", name, Record({"n": 1}))) for name in ("reverse", "drop")] == ["reverse", "drop"]


@pytest.mark.parametrize("value", ["reverse", 1, Record({"name": "x"}), []])
def test_name_of_takes_entries_alone(value: object) -> None:
    with pytest.raises(LanguageError, match="needs an entry of a catalog"):
        library()["name_of"].call(value)
