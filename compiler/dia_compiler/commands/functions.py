"""`dia functions`: list the function library."""

from __future__ import annotations

import json
import re

import click
from dia_language.functions import Function, library
from dia_runtime.commands.terminal import echo

MOST_MATCHING = 12  # matching functions that are listed


@click.command("functions")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List the functions of the spec language, or describe those that are named, or all of a group.

    \b
    Example:
      dia functions next_prime
      dia functions median mean
      dia functions patterns
    """
    from dia_language.diagnostics import DiaError, Diagnostic

    library_functions = library()
    all_functions = sorted(library_functions.values(), key=lambda item: (item.module, item.name))
    groups = {item.module for item in all_functions}
    unknown = [name for name in dict.fromkeys(names) if name not in library_functions and name not in groups]
    named = [library_functions[name] for name in dict.fromkeys(names) if name in library_functions]
    groups &= set(names) - library_functions.keys()  # graph is both a group and a function
    grouped = [item for item in all_functions if item.module in groups and item not in named]
    chosen: list[Function] = named + grouped if names else all_functions
    errors = [Diagnostic("E304", f"unknown function `{name}`", None, _help(name, all_functions)) for name in unknown]
    if as_json and errors:
        raise DiaError(errors)
    if as_json:
        facts = [
            {"name": item.name, "module": item.module, "signature": item.signature, "revision": item.revision,
             "doc": item.doc, "examples": [{"call": call, "result": result} for call, result in item.examples]}
            for item in chosen
        ]  # fmt: skip
        echo(json.dumps({"functions": facts}, indent=2, ensure_ascii=False))
    else:
        if named:
            echo("\n\n\n".join(item.description for item in named))
        _print_table(grouped if names else all_functions)
    if errors:
        raise DiaError(errors)
    return 0


def _help(name: str, functions: list[Function]) -> str:
    """Return suggestions: similar names, and the functions whose description contains the word."""
    from dia_language.expressions.lowering import similar_functions

    word = name.lower().replace("_", " ")
    similar = similar_functions(name.lower(), [item.name for item in functions])
    named = set(re.findall(r"\w+", similar or ""))
    matching = [
        item.name
        for item in functions
        if word in f"{item.name} {item.module} {item.text}".lower() and item.name not in named
    ]
    few = ", ".join(matching[:MOST_MATCHING]) + (", ..." if len(matching) > MOST_MATCHING else "")
    descriptions = f"functions whose descriptions have this word: {few}" if matching else None
    joint = " " if similar and similar.endswith("?") else "; "
    return joint.join(filter(None, (similar, descriptions))) or "`dia functions` lists all"


def _print_table(functions: list[Function]) -> None:
    module = ""
    for item in functions:
        if item.module != module:
            module = item.module
            echo(click.style(module, bold=True), is_styled=True)
        first = item.text.partition("\n")[0]
        echo(f"  {item.signature}\n      {first}")
