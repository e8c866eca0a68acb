"""Shapes against jsonschema: they say yes to exactly what it finds no error in."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from dia_compiler.parse.schema import _schema, _shape, _validator
from dia_compiler.parse.schema_predicates import Shape, Unknown
from dia_compiler.parse.yaml_reader import data, parse
from helpers.places import ROOT
from jsonschema import Draft202012Validator

SPECS = ROOT / "specs" / "dia_bench"
FILES = [*sorted(SPECS.glob("d0*.yaml"))[:40:3], SPECS / "benchmark.yaml"]
ODD: list[Any] = [None, True, False, 0, 1, -1, 7, 10**9, Fraction(1, 3), "", "x", "= n", "= ", "integer", [], [1], {}, {"type": "integer"}, "1.2.3", "1\n"]  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every holder in the value, with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [pair for key in keys for pair in places(value[key])]


def changed(value: Any, chance: random.Random) -> Any:
    """The value with something of it put in another's place, left out, or added."""
    made = deepcopy(value)
    holder, key = chance.choice(places(made))
    way = chance.randrange(4)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[chance.choice(["of", "min", "max", "type", "where", "x", "X y", "length"])] = chance.choice(ODD)
    elif way == 2:
        holder[key] = deepcopy(chance.choice(places(made))[0])
    else:
        holder[key] = deepcopy(chance.choice(ODD))
    return made


def test_a_shape_says_yes_to_what_the_validator_finds_no_error_in() -> None:
    chance, said = random.Random(7), {True: 0, False: 0}
    for path in FILES:
        name = "benchmark" if path.name == "benchmark.yaml" else "template"
        value = data(parse(path.read_text(encoding="utf-8"), path.name))
        assert _shape(name)(value)
        for _ in range(25):
            tried = changed(value, chance)
            is_right = _validator(name).is_valid(tried)
            assert _shape(name)(tried) == is_right, tried
            said[is_right] += 1
    assert min(said.values()) > 30


SMALL: list[Any] = [
    {"type": ["string", "null"]}, {"type": "number", "minimum": 1, "maximum": 7}, {"exclusiveMinimum": 0},
    {"const": 1}, {"const": True}, {"const": None}, {"enum": ["x", 1, False]}, {"enum": ["x", ""]},
    {"pattern": "^[0-9]$"}, {"minLength": 1, "minItems": 1, "minProperties": 1}, {"required": ["type"]},
    {"properties": {"type": {"const": "integer"}}, "additionalProperties": False}, {"propertyNames": {"minLength": 5}},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}}, {"if": {"const": 0}}, {"then": False},
    {"anyOf": [{"type": "boolean"}, {"items": {"type": "string"}, "type": "array"}]}, {"allOf": [{"type": "object"}, True]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": {"$ref": "#/$defs/a"}, "type": ["object", "string"]}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", SMALL, ids=json.dumps)
def test_every_keyword_means_what_it_means_to_jsonschema(schema: Any) -> None:
    validator = Draft202012Validator(schema)
    for value in ODD[:-1]:  # a pattern's end is stricter here, as the schemas of specs mean it
        assert Shape(schema)(value) == validator.is_valid(value), value


@pytest.mark.parametrize("schema", [{"uniqueItems": True}, {"$ref": "other.json"}, {"const": [1]}, {"type": "date"},
                                    {"additionalProperties": False, "patternProperties": {}}])  # fmt: skip
def test_what_it_does_not_know_is_refused(schema: Any) -> None:
    with pytest.raises(Unknown):
        Shape(schema)


def test_a_dollar_is_the_end_of_the_text() -> None:
    assert not Shape({"pattern": "^1$"})("1\n") and Shape({"pattern": "^1$"})("1")


def test_schemas_of_specs_have_shapes() -> None:
    assert all(Shape(_schema(name)) for name in ("benchmark", "template"))
