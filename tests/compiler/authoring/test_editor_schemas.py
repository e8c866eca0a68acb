"""What editors know of specs: shipped specs fit, names and options that there are not are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.authoring.editor_schemas import editor_schema, editor_schema_text
from dia_compiler.authoring.scaffold import write_schemas
from dia_compiler.parse.spec_schema import FILES, structure
from dia_compiler.types import TYPES
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import OPTION_SCHEMAS
from dia_runtime.formats import FORMATS, Format
from dia_runtime.formats.replies import REPLY_FORMATS
from helpers.yaml_files import content

ROOT = Path(__file__).parents[3]
HEAD = {"template": "a", "title": "A", "prompt": "Say {{ n }}."}
SPECS = [path for folder in ("specs", "docs/examples") for path in sorted((ROOT / folder).rglob("*.yaml"))]


@cache
def validator(file: str, named_types: tuple[str, ...] = ()) -> Any:
    return jsonschema.Draft202012Validator(editor_schema(file, named_types=named_types))


def errors(spec: dict[str, Any], file: str = "template", named_types: tuple[str, ...] = ()) -> list[list[Any]]:
    """The paths of what an editor underlines."""
    return [list(error.absolute_path) for error in validator(file, named_types).iter_errors(spec)]


@cache
def quick_validator(file: str, named_types: tuple[str, ...]) -> Any:
    return jsonschema_rs.Draft202012Validator(editor_schema(file, named_types=named_types))


def fits_quickly(spec: dict[str, Any], file: str, named_types: tuple[str, ...]) -> bool:
    """Whether another validator, 50 times as fast, says that the spec fits; a key that is no text it does not take."""
    try:
        return bool(quick_validator(file, named_types).is_valid(spec))
    except ValueError:
        return False


def benchmark_types(path: Path) -> tuple[str, ...]:
    folder = next(parent for parent in path.parents if (parent / "benchmark.yaml").is_file())
    return tuple(content(folder / "benchmark.yaml").get("types", ()))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_shipped_specs_fit(path: Path) -> None:
    spec = content(path)
    file = "benchmark" if path.name == "benchmark.yaml" else "catalog" if "catalog" in spec else "template"
    named_types = benchmark_types(path)
    assert fits_quickly(spec, file, named_types) or errors(spec, file, named_types) == []


@pytest.mark.parametrize("file", FILES)
def test_schemas_are_valid_and_those_of_the_repository_fresh(file: str) -> None:
    jsonschema.Draft202012Validator.check_schema(editor_schema(file))
    jsonschema.Draft202012Validator.check_schema(structure(file))
    text = editor_schema_text(file)
    assert json.loads(text) == editor_schema(file)
    assert (ROOT / "schemas" / f"{file}.schema.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "params",
    [
        {"n": {"type": "int", "min": 2}},
        {"n": {"type": "itneger"}},
        {"n": {"type": "integer", "minimum": 3}},
        {"n": {"type": "list", "of": {"type": "integer", "minn": 1}, "length": 3}},
        {"n": {"type": "record", "fields": {"a": {"type": "prime", "parity": "odd"}}}},
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, Any]) -> None:
    assert errors({**HEAD, "params": params})


@pytest.mark.parametrize(
    "part",
    [
        {"answer": {"value": "n", "type": "int"}},
        {"answer": {"value": "n", "type": "integer", "tolerance": {"absolute": 1}}},
        {"answer": {"value": "n", "type": "list", "of": {"type": "text", "case": "lower"}}},
        {"format": {"kind": "xlm"}},
        {"format": {"kind": "json", "tag": "a"}},
        {"assets": {"a": {"build": "qr", "tex": "A"}}},
        {"assets": {"a": {"build": "qrcode"}}},
        {"sessions": {"a": {"turns": [{"user": "A", "reply": {"name": "r", "format": "lable"}}]}}},
    ],
    ids=str,
)
def test_wrong_names_and_options_are_refused(part: dict[str, Any]) -> None:
    assert errors({**HEAD, **part})


def test_named_types_are_known() -> None:
    spec = {**HEAD, "params": {"n": {"type": "die"}}}
    assert errors(spec)
    assert errors(spec, named_types=("die",)) == []
    assert errors({**spec, "types": {"die": {"type": "integer", "min": 1, "max": 6}}}) == []


def test_a_benchmark_gets_schemas_with_the_types_that_it_declares(tmp_path: Path) -> None:
    text = "language: 1\nbenchmark: mine\ntypes:\n  die: {type: integer, min: 1, max: 6}\n"
    (tmp_path / "benchmark.yaml").write_text(text, encoding="utf-8")
    paths = write_schemas(tmp_path)
    assert {path.name for path in paths} == {f"{file}.schema.json" for file in FILES}
    schema = json.loads((tmp_path / ".schemas" / "template.schema.json").read_text(encoding="utf-8"))
    assert "die" in schema["$defs"]["parameter"]["properties"]["type"]["anyOf"][0]["enum"]


def conditions(schema: dict[str, Any], key: str) -> Iterator[tuple[str, set[str]]]:
    for branch in schema["allOf"]:
        yield branch["if"]["properties"][key]["const"], set(branch["then"]["propertyNames"]["enum"])


def options_in_specs(form: Format) -> set[str]:
    return {name for name, option in form.options.items() if option.in_specs}


def test_every_entry_of_the_registries_is_there_with_its_options() -> None:
    schema = editor_schema("template")
    types = dict(conditions(schema["$defs"]["parameter"], "type"))
    assert types == {name: {"type", "where", *kind.options} for name, kind in TYPES.own.items()}
    answers = dict(conditions(schema["properties"]["answer"], "type"))
    assert answers.keys() == ANSWER_TYPES.keys()
    assert all(set(kind.options) <= answers[name] for name, kind in ANSWER_TYPES.items())
    formats = dict(conditions(schema["$defs"]["format"], "kind"))
    assert formats == {name: {"kind", *options_in_specs(form)} for name, form in FORMATS.own.items()}
    names = schema["$defs"]["reply"]["properties"]["format"]["enum"]
    assert len(names) == len(set(names)) and {*REPLY_FORMATS, *FORMATS.own} == set(names)
    builders = dict(conditions(schema["properties"]["assets"]["additionalProperties"], "build"))
    assert builders == {name: {"build", *builder.options} for name, builder in BUILDERS.own.items()}


def test_every_option_is_described() -> None:
    taken = {option for kind in ANSWER_TYPES.values() for option in kind.options}
    assert taken - OPTION_SCHEMAS.keys() == set(), "add them to OPTION_SCHEMAS in answers/option_schemas.py"
    assert OPTION_SCHEMAS.keys() - taken == {"decimals"}
    in_formats = [option for form in FORMATS.own.values() for option in form.options.values()]
    assert all(option.description for option in in_formats), "give each FormatOption a description"
    assert all(schema["description"] for schema in OPTION_SCHEMAS.values())
