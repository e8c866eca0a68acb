"""The quick validator of specs never takes a file that the other one, which words the errors, would refuse."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from dia_compiler.parse.schema_errors import _validator, is_surely_valid
from dia_language.numbers.values import ExactDecimal
from dia_language.yaml_nodes import data, parse
from helpers.examples import examples
from helpers.places import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

SPECS = sorted((ROOT / "specs" / "puzzles").glob("*.yaml"))
NAMES = ("id", "type", "min", "max", "where", "value", "kind", "variants", "pattern", "it's", "9", "")
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-3, 3), st.just(10**400), st.floats(), st.text(max_size=3),
    st.sampled_from(["integer", "= n", "list", "a\n", "a b", "A", "_a", "2a", "aä", "²", "٣"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from(NAMES), below, max_size=2)
)


def spec(path: Any) -> Any:
    """The data of a spec file, without exact decimals, and the name of its schema."""
    return data(parse(path.read_text(encoding="utf-8"), path.name))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list of the value, with each of its keys or indices."""
    if isinstance(value, (dict, list)):
        for key, part in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from places(part)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_shipped_files_are_surely_valid(path: Any) -> None:
    assert is_surely_valid(spec(path), "benchmark" if path.stem == "benchmark" else "template")


def test_an_exact_decimal_is_left_to_the_other_validator() -> None:
    assert not is_surely_valid({"template": ExactDecimal("0.1")}, "template")


@settings(max_examples=examples(3000))
@given(st.data())
def test_what_is_surely_valid_has_no_error(draw: st.DataObject) -> None:
    path = draw.draw(st.sampled_from(SPECS))
    name, value = "benchmark" if path.stem == "benchmark" else "template", copy.deepcopy(spec(path))
    whole, key = draw.draw(st.sampled_from(list(places(value))))
    change = draw.draw(st.sampled_from(["replace", "add", "drop"]))
    if change == "drop":
        del whole[key]
    elif change == "replace":
        whole[key] = draw.draw(VALUES)
    elif isinstance(whole, dict):
        whole[draw.draw(st.sampled_from(NAMES))] = draw.draw(VALUES)
    else:
        whole.insert(key, draw.draw(VALUES))
    if is_surely_valid(value, name):
        assert not list(_validator(name).iter_errors(value))
