"""JSON Schemas as plain functions that say whether a value keeps to them, in a fortieth of a validator's time.

They say no more than yes or no: what is wrong, and where, is for the validator to tell. They know the keywords that
our schemas use; a schema with any other has no such function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from numbers import Number
from typing import Any

Test = Callable[[Any], bool]

ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description", "default"})


class Unknown(Exception):
    """A keyword, or a use of one, that is not known here."""


class Shape:
    """Whether values keep to a JSON Schema (draft 2020-12). Raises Unknown where it uses what is not known here."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.whole = schema
        self.named: dict[str, Test] = {}
        self.test = self.of(schema)

    def __call__(self, value: Any) -> bool:
        """Whether the value keeps to the schema."""
        return self.test(value)

    def of(self, schema: Any) -> Test:
        """The test of a schema within the whole one."""
        if isinstance(schema, bool):
            return lambda value: schema
        tests = [test for key in schema if key not in ANNOTATIONS for test in self.keyword(key, schema)]
        return tests[0] if len(tests) == 1 else lambda value: _all(tests, value)

    def keyword(self, key: str, schema: Mapping[str, Any]) -> list[Test]:
        """The test of one keyword; none for what belongs to another."""
        argument = schema[key]
        if key in ("then", "else"):
            return []
        if key in SIMPLE:
            return [SIMPLE[key](argument)]
        method = getattr(self, f"of_{key.lstrip('$')}", None)
        if method is None:
            raise Unknown(key)
        return [method(argument, schema)]

    def of_ref(self, argument: str, schema: Mapping[str, Any]) -> Test:
        """What `#/$defs/name` wants; made once, and looked up late, for a schema may hold itself."""
        begin, _, name = argument.rpartition("/")
        if begin != "#/$defs" or "~" in name or "%" in name:
            raise Unknown(argument)
        if name not in self.named:
            self.named[name] = lambda value: False  # stands there until it is made
            self.named[name] = self.of(self.whole["$defs"][name])
        return lambda value: self.named[name](value)

    def of_properties(self, argument: Mapping[str, Any], schema: Mapping[str, Any]) -> Test:
        tests = {name: self.of(part) for name, part in argument.items()}

        def holds(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            for name, item in value.items():
                test = tests.get(name)
                if test is not None and not test(item):
                    return False
            return True

        return holds

    def of_additionalProperties(self, argument: Any, schema: Mapping[str, Any]) -> Test:
        known_names, test = frozenset(schema.get("properties", ())), self.of(argument)
        if "patternProperties" in schema:
            raise Unknown("patternProperties")
        if argument is False:
            return lambda value: not isinstance(value, dict) or value.keys() <= known_names
        return lambda value: (
            not isinstance(value, dict) or all(test(item) for name, item in value.items() if name not in known_names)
        )

    def of_propertyNames(self, argument: Any, schema: Mapping[str, Any]) -> Test:
        test = self.of(argument)
        return lambda value: not isinstance(value, dict) or all(map(test, value))

    def of_items(self, argument: Any, schema: Mapping[str, Any]) -> Test:
        if "prefixItems" in schema:
            raise Unknown("prefixItems")
        test = self.of(argument)
        return lambda value: not isinstance(value, list) or all(map(test, value))

    def of_allOf(self, argument: list[Any], schema: Mapping[str, Any]) -> Test:
        tests = [self.of(part) for part in argument]
        return lambda value: _all(tests, value)

    def of_anyOf(self, argument: list[Any], schema: Mapping[str, Any]) -> Test:
        tests = [self.of(part) for part in argument]
        return lambda value: any(test(value) for test in tests)

    def of_if(self, argument: Any, schema: Mapping[str, Any]) -> Test:
        test = self.of(argument)
        then, other = self.of(schema.get("then", True)), self.of(schema.get("else", True))
        return lambda value: then(value) if test(value) else other(value)


def _all(tests: list[Test], value: Any) -> bool:
    for test in tests:  # noqa: SIM110 - half the time of `all`, and every value comes by here
        if not test(value):
            return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


TYPES: dict[str, Test] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


def _type(argument: Any) -> Test:
    names = [argument] if isinstance(argument, str) else argument
    if not set(names) <= TYPES.keys():
        raise Unknown(str(argument))
    tests = [TYPES[name] for name in names]
    return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)


def _equals(argument: Any) -> Test:
    """Equality as JSON Schema means it: true is not 1."""
    if isinstance(argument, str) or argument is None:
        return lambda value: bool(value == argument)
    if not isinstance(argument, (bool, int)):
        raise Unknown(str(argument))
    is_truth = isinstance(argument, bool)
    return lambda value: isinstance(value, bool) == is_truth and bool(value == argument)


def _enum(argument: list[Any]) -> Test:
    if all(isinstance(each, str) for each in argument):
        texts = frozenset(argument)
        return lambda value: isinstance(value, str) and value in texts
    tests = [_equals(each) for each in argument]
    return lambda value: any(test(value) for test in tests)


def _pattern(argument: str) -> Test:
    search = re.compile(ends_strictly(argument)).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def ends_strictly(pattern: str) -> str:
    """The pattern with `$` as the end of the text, as JSON Schema has it; Python's stands before a last newline too."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _at_least(kind: type[Sized]) -> Callable[[int], Test]:
    return lambda least: lambda value: not isinstance(value, kind) or len(value) >= least


# Every keyword that needs no schema within it
SIMPLE: dict[str, Callable[[Any], Test]] = {
    "type": _type,
    "const": _equals,
    "enum": _enum,
    "pattern": _pattern,
    "minLength": _at_least(str),
    "minItems": _at_least(list),
    "minProperties": _at_least(dict),
    "minimum": lambda least: lambda value: not _is_number(value) or value >= least,
    "maximum": lambda most: lambda value: not _is_number(value) or value <= most,
    "exclusiveMinimum": lambda least: lambda value: not _is_number(value) or value > least,
    "required": lambda names: lambda value: not isinstance(value, dict) or all(name in value for name in names),
}
