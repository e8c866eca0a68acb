"""Short constructors for JSON Schemas (draft 2020-12). `words` is the description that editors and the docs show."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]

NAME = "^[A-Za-z][A-Za-z0-9_]{0,63}$"
IDENTIFIER = "^[a-z][a-z0-9_]{0,63}$"


def described(schema: Schema, words: str | None) -> Schema:
    """Return the schema with a description, if there is one."""
    return schema if words is None else {**schema, "description": words}


def text(words: str | None = None, **keywords: Any) -> Schema:
    return described({"type": "string", **keywords}, words)


def nonempty(words: str | None = None) -> Schema:
    """Return a text of at least one character."""
    return text(words, minLength=1)


def name(words: str | None = None) -> Schema:
    """Return a name in either case."""
    return text(words, pattern=NAME)


def identifier(words: str | None = None) -> Schema:
    """Return a lowercase name."""
    return text(words, pattern=IDENTIFIER)


def integer(words: str | None = None, **keywords: int) -> Schema:
    return described({"type": "integer", **keywords}, words)


def number(words: str | None = None, **keywords: int) -> Schema:
    return described({"type": "number", **keywords}, words)


def boolean(words: str | None = None) -> Schema:
    """Return true or false."""
    return described({"type": "boolean"}, words)


def one_of(values: Iterable[Any], words: str | None = None) -> Schema:
    """Return one of the listed values."""
    return described({"enum": list(values)}, words)


def any_of(*schemas: Schema, words: str | None = None) -> Schema:
    """Return a value that fits at least one of the schemas."""
    return described({"anyOf": list(schemas)}, words)


def ref(definition: str, words: str | None = None) -> Schema:
    """Return a value that fits one of the schema's `$defs`."""
    return described({"$ref": f"#/$defs/{definition}"}, words)


def array(items: Schema | None = None, words: str | None = None, least: int | None = None) -> Schema:
    """Return a list of at least `least` items."""
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
    """Return a mapping with fixed keys. An open one may have others as well."""
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
    """Return a mapping from names, which match the pattern `keys`, to values."""
    schema: Schema = {"type": "object"}
    if least is not None:
        schema["minProperties"] = least
    if keys is not None:
        schema["propertyNames"] = {"pattern": keys}
    schema["additionalProperties"] = values
    return described(schema, words)


def chosen_by(key: str, alternatives: Mapping[str, Schema]) -> list[Schema]:
    """Return one conditional schema per alternative: it applies if the mapping's `key` has that value."""
    return [
        {"if": {"required": [key], "properties": {key: {"const": value}}}, "then": schema}
        for value, schema in alternatives.items()
    ]


def only(properties: Mapping[str, Schema], also: Sequence[str] = (), required: Sequence[str] = ()) -> Schema:
    """Return a mapping with these properties, besides keys that are checked elsewhere (`also`), and no others."""
    schema: Schema = {"propertyNames": {"enum": [*also, *properties]}}
    if properties:
        schema["properties"] = dict(properties)
    if required:
        schema["required"] = list(required)
    return schema


class Keywords:
    """Keywords of JSON Schema, for `Annotated` types."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def typed_schema(
    kind: Any,
    definitions: Mapping[Any, str] = MappingProxyType({}),
    closed: Collection[Any] = (),
    with_description: bool = False,
) -> Schema:
    """Return the schema of a type: a TypedDict, list, dict, Literal, union or simple type, `Annotated` or not.

    An annotation is a description, or `Keywords` that are added to the schema. `definitions` has the names of
    TypedDicts that become `$defs`; `closed` are those without other keys. If descriptions are requested, a TypedDict
    has its docstring as its description.
    """

    def refer(inner: Any) -> Schema:
        return typed_schema(inner, definitions, closed) if inner not in definitions else ref(definitions[inner])

    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (NotRequired, Required):
        return refer(arguments[0])
    if origin is Annotated:
        schema = refer(arguments[0])
        for note in kind.__metadata__:
            if isinstance(note, Keywords):
                schema |= note.keywords
            elif isinstance(note, str):
                schema = described(schema, note)
        return schema
    if origin is Literal:
        return one_of(arguments)
    if origin is list:
        return array(refer(arguments[0]))
    if origin is dict:
        return named(refer(arguments[1]))
    if origin in (Union, UnionType):
        return _union([refer(argument) for argument in arguments])
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
        required = [name for name in hints if name in kind.__required_keys__ - optional]
        properties = {name: refer(hint) for name, hint in hints.items()}
        words = " ".join((inspect.getdoc(kind) or "").split()) if with_description else None
        return mapping(properties, words, required, is_open=kind not in closed)
    return {} if kind is Any else {"type": SIMPLE[kind]}


def _union(schemas: Sequence[Schema]) -> Schema:
    """Return the schema of a union: simple types and one other type, because keywords ignore values of other types."""
    if all("type" in schema for schema in schemas):
        types = [schema["type"] for schema in schemas]
        keywords = [schema for schema in schemas if len(schema) > 1]
        if len(keywords) <= 1 and all(isinstance(name, str) for name in types):
            return {**(keywords[0] if keywords else {}), "type": types}
    return any_of(*schemas)
