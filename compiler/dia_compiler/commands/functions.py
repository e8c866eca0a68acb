"""`dia functions`: list the function library."""

from __future__ import annotations

import json

import click
from dia_language.functions import Function, library
from dia_runtime.commands.terminal import echo


@click.command("functions")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List the functions of the spec language, or describe those that are named.

    \b
    Example:
      dia functions next_prime
      dia functions median mean
    """
    from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean

    library_functions = library()
    unknown = [name for name in dict.fromkeys(names) if name not in library_functions]
    if unknown:
        raise DiaError(
            Diagnostic("E304", f"unknown function `{name}`", None, did_you_mean(name, library_functions))
            for name in unknown
        )
    chosen: list[Function] = (
        [library_functions[name] for name in dict.fromkeys(names)]
        if names
        else sorted(library_functions.values(), key=lambda item: (item.module, item.name))
    )
    if as_json:
        facts = [
            {"name": item.name, "module": item.module, "signature": item.signature, "revision": item.revision,
             "doc": item.doc, "examples": [{"call": call, "result": result} for call, result in item.examples]}
            for item in chosen
        ]  # fmt: skip
        echo(json.dumps({"functions": facts}, indent=2, ensure_ascii=False))
    elif names:
        echo("\n\n\n".join(item.description for item in chosen))
    else:
        _print_table(chosen)
    return 0


def _print_table(functions: list[Function]) -> None:
    module = ""
    for item in functions:
        if item.module != module:
            module = item.module
            echo(click.style(module, bold=True), is_styled=True)
        first = item.text.partition("\n")[0]
        echo(f"  {item.signature}\n      {first}")
