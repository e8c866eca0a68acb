"""`dia types`: the parameter types."""

from __future__ import annotations

import json

import click


@click.command("types")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(name: str | None, as_json: bool) -> int:
    """Show the parameter types of the spec language, or one of them with its options.

    \b
    Example:
      dia types integer
    """
    from dia_runtime.language.diagnostics import DiaError, Diagnostic, did_you_mean

    from dia_compiler.types import TYPES

    if name is not None and name not in TYPES:
        raise DiaError(Diagnostic("E401", f"no type `{name}`", None, did_you_mean(name, TYPES)))
    chosen = [TYPES[name]] if name else list(TYPES.values())
    if as_json:
        facts = [
            {"name": item.name, "summary": item.summary, "revision": item.revision,
             "options": {key: {"words": held.words, "required": held.required} for key, held in item.options.items()}}
            for item in chosen
        ]  # fmt: skip
        click.echo(json.dumps({"types": facts}, indent=2, ensure_ascii=False))
        return 0
    for item in chosen:
        click.echo(f"{click.style(item.name, bold=True)}: {item.summary}")
        for key, held in item.options.items() if name else ():
            click.echo(f"  {key}{' (needed)' if held.required else ''}: {held.words}")
    if name:
        click.echo("  where: a condition, or a list of them, on the value (`it`)")
    return 0
