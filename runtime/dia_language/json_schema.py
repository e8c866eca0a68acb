"""Short constructors for JSON Schemas (draft 2020-12). `words` is the description that editors and the docs show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

NAME = "^[A-Za-z][A-Za-z0-9_]{0,63}$"
IDENTIFIER = "^[a-z][a-z0-9_]{0,63}$"


def described(schema: Schema, words: str | None) -> Schema:
    """The schema with a description, if there is one."""
    return schema if words is None else {**schema, "description": words}


def text(words: str | None = None, **keywords: Any) -> Schema:
    """A text."""
    return described({"type": "string", **keywords}, words)


def nonempty(words: str | None = None) -> Schema:
    """A text of at least one character."""
    return text(words, minLength=1)


def name(words: str | None = None) -> Schema:
    """A name in either case."""
    return text(words, pattern=NAME)


def identifier(words: str | None = None) -> Schema:
    """A lowercase name."""
    return text(words, pattern=IDENTIFIER)


def integer(words: str | None = None, **keywords: int) -> Schema:
    """An integer."""
    return described({"type": "integer", **keywords}, words)


def number(words: str | None = None, **keywords: int) -> Schema:
    """A number."""
    return described({"type": "number", **keywords}, words)


def boolean(words: str | None = None) -> Schema:
    """True or false."""
    return described({"type": "boolean"}, words)


def one_of(values: Iterable[Any], words: str | None = None) -> Schema:
    """One of the listed values."""
    return described({"enum": list(values)}, words)


def any_of(*schemas: Schema, words: str | None = None) -> Schema:
    """A value that fits at least one of the schemas."""
    return described({"anyOf": list(schemas)}, words)


def ref(definition: str, words: str | None = None) -> Schema:
    """A value that fits one of the schema's `$defs`."""
    return described({"$ref": f"#/$defs/{definition}"}, words)


def array(items: Schema | None = None, words: str | None = None, least: int | None = None) -> Schema:
    """A list of at least `least` items."""
    schema: Schema = {"type": "array"}
    if least is not None:
        schema["minItems"] = least
    if items is not None:
        schema["items"] = items
    return described(schema, words)


def mapping(
    properties: Mapping[str, Schema],
    words: str | None = None,
    required: Sequence[str] = (),
    least: int | None = None,
    is_open: bool = False,
) -> Schema:
    """A mapping with fixed keys. An open one may have others as well."""
    schema: Schema = {"type": "object"}
    if required:
        schema["required"] = list(required)
    if least is not None:
        schema["minProperties"] = least
    schema["properties"] = dict(properties)
    if not is_open:
        schema["additionalProperties"] = False
    return described(schema, words)


def named(values: Schema, words: str | None = None, keys: str | None = None, least: int | None = None) -> Schema:
    """A mapping from names, which match the pattern `keys`, to values."""
    schema: Schema = {"type": "object"}
    if least is not None:
        schema["minProperties"] = least
    if keys is not None:
        schema["propertyNames"] = {"pattern": keys}
    schema["additionalProperties"] = values
    return described(schema, words)


def chosen_by(key: str, alternatives: Mapping[str, Schema]) -> list[Schema]:
    """One conditional schema for each alternative: it applies where the mapping's `key` has that value."""
    return [
        {"if": {"required": [key], "properties": {key: {"const": value}}}, "then": schema}
        for value, schema in alternatives.items()
    ]


def only(properties: Mapping[str, Schema], also: Sequence[str] = (), required: Sequence[str] = ()) -> Schema:
    """What a mapping with these properties has besides keys checked elsewhere (`also`), and nothing more."""
    schema: Schema = {"propertyNames": {"enum": [*also, *properties]}}
    if properties:
        schema["properties"] = dict(properties)
    if required:
        schema["required"] = list(required)
    return schema
