"""The JSON Schemas that editors read: the structure of spec files, and what the registries add to it.

An editor completes parameter types, answer types, formats and builders from them, each with its own options, and
underlines unknown names and options.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dia_compiler.assets import BUILDERS
from dia_compiler.parse.spec_schema import DEFINITIONS, FILES, TEMPLATE, format_schema, schema_of
from dia_compiler.types import TYPES
from dia_compiler.types.base import OptionKind
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import COMMON_SCHEMAS, OPTION_SCHEMAS
from dia_language.json_schema import (
    Schema,
    any_of,
    array,
    chosen_by,
    identifier,
    mapping,
    named,
    one_of,
    only,
    ref,
    text,
)
from dia_runtime.formats import FORMATS, Format
from dia_runtime.formats.replies import REPLY_FORMATS

WIDTH: Final = 118  # columns of the files
LONG_FORMS: Final = {"decimals": "tolerance"}  # short forms of other options


def editor_schema(file: str, installed: bool = False, named_types: Iterable[str] = ()) -> Schema:
    """Return the schema of `template`, `benchmark` or `catalog` for editors.

    `installed` adds the types, formats and builders of installed packages. `named_types` are the parameter types that
    a benchmark declares for its templates; a template that has `types` of its own may use any name.
    """
    types = TYPES if installed else TYPES.own
    formats = FORMATS if installed else FORMATS.own
    type_names = [*types, *sorted(named_types)]
    definitions = {
        **DEFINITIONS,
        **{f"answer_{option}": schema for option, schema in OPTION_SCHEMAS.items()},
        "answer_of": _answer_of(),
        "comparison": _comparison({"type": one_of(ANSWER_TYPES)}, required=["type"]),
        "format": _format(formats),
        "parameter": _parameter(types, type_names),
        "reply": _with(
            DEFINITIONS["reply"],
            {
                "format": one_of(
                    list(dict.fromkeys([*REPLY_FORMATS, *formats])),  # some names are those of both
                    "How the reply is read; the options of the format are written next to it.",
                ),
            },
        ),
    }
    if file != "template":
        return schema_of(file, definitions, FILES[file].properties)
    properties = {**TEMPLATE, "answer": _answer(), "assets": _assets(BUILDERS if installed else BUILDERS.own)}
    is_known = {"properties": {"type": one_of(type_names)}}
    return {
        **schema_of(file, definitions, properties),
        "if": {"not": {"required": ["types"]}},
        "then": {"properties": {"params": {"additionalProperties": is_known}}},
    }


def editor_schema_text(file: str, installed: bool = False, named_types: Iterable[str] = ()) -> str:
    """Return the schema for editors as the text of its file."""
    return _laid_out(editor_schema(file, installed, named_types), "") + "\n"


def _with(schema: Schema, properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a mapping with some of its properties replaced."""
    return {**schema, "properties": {**schema["properties"], **properties}}


def _parameter(types: Mapping[str, Any], names: list[str]) -> Schema:
    """Return a use of a parameter type. Options are not required, because a named type may supply them."""
    base = DEFINITIONS["parameter"]
    type_schema = any_of(one_of(names), identifier(), words=base["properties"]["type"]["description"])
    uses = {name: only(_described(kind.options), ("type", "where")) for name, kind in types.items()}
    return {**_with(base, {"type": type_schema}), "allOf": chosen_by("type", uses)}


def _described(options: Mapping[str, OptionKind]) -> dict[str, Schema]:
    nested = any_of(ref("parameter"), text())
    values = {"type": nested, "types": array(nested), "fields": named(nested)}
    return {
        name: {**(values.get(option.reads) or _few_values(option)), "description": option.words}
        for name, option in options.items()
    }


def _few_values(option: OptionKind) -> Schema:
    """Return the values of an option with few values, or an expression; anything for other options."""
    if not option.values:
        return {}
    several = (array(), {"type": "object"}) if option.is_list else ()
    return any_of(one_of(option.values), text(pattern="^= "), *several)


def _answer() -> Schema:
    base = TEMPLATE["answer"]
    fixed = {name: base["properties"][name] for name in ("value", "type", *COMMON_SCHEMAS)}
    fixed["type"] = one_of(ANSWER_TYPES, fixed["type"]["description"])
    return {**_comparison(fixed, required=base["required"]), "description": base["description"]}


def _answer_of() -> Schema:
    """Return a type if the mapping has `type`; otherwise the fields of a record, or labels."""
    is_type = {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}
    completed = any_of(ref("comparison"), {}, words=OPTION_SCHEMAS["of"]["description"])  # {}: anything else is allowed
    return {**completed, "if": is_type, "then": ref("comparison")}


def _comparison(fixed: Mapping[str, Schema], required: list[str]) -> Schema:
    """Return a mapping with an answer type, the options of that type, and the properties that every type has."""
    options = {
        name: only({option: ref(f"answer_{option}") for option in _options_of(kind.options)}, tuple(fixed))
        for name, kind in ANSWER_TYPES.items()
    }
    return {**mapping(fixed, required=required, is_open=True), "allOf": chosen_by("type", options)}


def _options_of(names: Collection[str]) -> list[str]:
    """Return the options of an answer type, and the short forms of some of them, in the order of the docs."""
    return [option for option in OPTION_SCHEMAS if option in names or LONG_FORMS.get(option) in names]


def _format(formats: Mapping[str, Format]) -> Schema:
    options = {
        name: only({key: option.schema for key, option in sorted(form.options.items()) if option.in_specs}, ("kind",))
        for name, form in formats.items()
    }
    kind = format_schema(formats)["properties"]["kind"]
    return {**mapping({"kind": kind}, required=["kind"], is_open=True), "allOf": chosen_by("kind", options)}


def _assets(builders: Mapping[str, Any]) -> Schema:
    build = mapping({"build": one_of(builders, "The asset builder; `dia types` lists them.")}, required=["build"],
                    is_open=True)  # fmt: skip
    options = {name: only(_described(builder.options), ("build",)) for name, builder in builders.items()}
    return {**TEMPLATE["assets"], "additionalProperties": {**build, "allOf": chosen_by("build", options)}}


def _laid_out(value: object, indent: str) -> str:
    """Return the value as JSON, on one line where it is short."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(short) <= WIDTH or not isinstance(value, (dict, list)):
        return short
    inner = indent + "  "
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(key)}: {_laid_out(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _laid_out(item, inner) for item in value) + f"\n{indent}]"
