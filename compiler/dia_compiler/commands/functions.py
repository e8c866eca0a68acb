"""`dia functions`: list the function library."""

from __future__ import annotations

import json

import click
from dia_language.functions import Function, library
from dia_runtime.commands.terminal import echo


@click.command("functions")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(name: str | None, as_json: bool) -> int:
    """List the functions of the spec language, or describe one of them.

    \b
    Example:
      dia functions next_prime
    """
    from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean

    library_functions = library()
    if name is not None and name not in library_functions:
        raise DiaError(Diagnostic("E304", f"unknown function `{name}`", None, did_you_mean(name, library_functions)))
    chosen: list[Function] = (
        [library_functions[name]]
        if name
        else sorted(library_functions.values(), key=lambda item: (item.module, item.name))
    )
    if as_json:
        facts = [
            {"name": item.name, "module": item.module, "signature": item.signature, "revision": item.revision,
             "doc": item.doc, "examples": [{"call": call, "result": result} for call, result in item.examples]}
            for item in chosen
        ]  # fmt: skip
        echo(json.dumps({"functions": facts}, indent=2, ensure_ascii=False))
    elif name:
        echo(_described(chosen[0]))
    else:
        _print_table(chosen)
    return 0


def _described(function: Function) -> str:
    """Return the signature, text, arguments and examples of a function."""
    examples = function.doc.removeprefix(function.text).strip()
    arguments = "\n".join(f"    {name}: {words}" for name, words in function.arguments)
    parts = [function.signature, function.text, arguments and f"Arguments:\n{arguments}", examples]
    return "\n\n".join(part for part in parts if part)


def _print_table(functions: list[Function]) -> None:
    module = ""
    for item in functions:
        if item.module != module:
            module = item.module
            echo(click.style(module, bold=True), is_styled=True)
        first = item.text.partition("\n")[0]
        echo(f"  {item.signature}\n      {first}")
