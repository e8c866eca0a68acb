"""`dia types`: list the parameter types and asset builders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
from dia_runtime.commands.terminal import echo


@click.command("types")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(name: str | None, as_json: bool) -> int:
    """List the parameter types and asset builders, or describe one of them with its options.

    \b
    Example:
      dia types integer
    """
    from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean

    from dia_compiler.assets import BUILDERS
    from dia_compiler.types import TYPES

    if name is not None and name not in TYPES and name not in BUILDERS:
        suggestion = did_you_mean(name, [*TYPES, *BUILDERS])
        raise DiaError(Diagnostic("E401", f"unknown type or asset builder `{name}`", None, suggestion))
    types = {key: kind for key, kind in TYPES.items() if name in (None, key)}
    builders = {key: kind for key, kind in BUILDERS.items() if name in (None, key)}
    if as_json:
        facts = {"types": [_facts(*pair) for pair in types.items()]}
        facts["builders"] = [_facts(*pair) | {"extra": pair[1].extra} for pair in builders.items()]
        echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    _print(types, name, "  where: a condition on the value, called `it`, or a list of conditions")
    if name is None:
        echo("\nAsset builders")
    _print(builders, name, "")
    return 0


def _facts(name: str, item: Any) -> dict[str, Any]:
    """Return a type or a builder as JSON."""
    options = {key: {"words": kind.words, "required": kind.required} for key, kind in item.options.items()}
    return {"name": name, "summary": item.summary, "revision": item.revision, "options": options}


def _print(chosen: Mapping[str, Any], name: str | None, last: str) -> None:
    for key, item in chosen.items():
        echo(f"{click.style(key, bold=True)}: {item.summary}", is_styled=True)
        for option, kind in item.options.items() if name else ():
            echo(f"  {option}{' (required)' if kind.required else ''}: {kind.words}")
    if name in chosen and last:
        echo(last)
