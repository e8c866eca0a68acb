"""Values against the published schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
from helpers.places import ROOT


def schema(name: str) -> Any:
    """A published schema."""
    return json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


@cache
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    """A validator of a published schema; the package `jsonschema` takes a hundred times as long for a score."""
    return jsonschema_rs.Draft202012Validator(schema(name))


def faults(name: str, value: Any) -> list[str]:
    """What a schema finds wrong with a value."""
    return [
        f"{list(error.instance_path)}: {error.message}" if error.instance_path else error.message
        for error in validator(name).iter_errors(value)
    ]


def require_valid(name: str, value: Any) -> None:
    """Fail if the value does not fit the schema."""
    assert faults(name, value) == []
