"""Values against the published schemas."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from helpers.places import ROOT


def schema(name: str) -> Any:
    """A published schema."""
    return json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


def faults(name: str, value: Any) -> list[str]:
    """What a schema finds wrong with a value."""
    return [error.message for error in jsonschema.Draft202012Validator(schema(name)).iter_errors(value)]
