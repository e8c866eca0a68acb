"""`dia types`: list the types of parameters and answers, the answer formats, the asset builders and the word lists."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from dia_runtime.commands.terminal import echo

WIDTH = 100  # columns of the words of a list


@click.command("types")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List the types of parameters and answers, answer formats, asset builders and word lists, or describe those named.

    \b
    Example:
      dia types integer
      dia types string list
      dia types animals
    """
    from dia_language.answers import ANSWER_TYPES
    from dia_language.counts import counted
    from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean
    from dia_runtime.formats import FORMATS

    from dia_compiler.assets import BUILDERS
    from dia_compiler.types import TYPES
    from dia_compiler.types.word_lists import WORD_LISTS, word_list

    every = list(dict.fromkeys([*TYPES, *BUILDERS, *ANSWER_TYPES, *FORMATS, *WORD_LISTS]))
    unknown = [name for name in dict.fromkeys(names) if name not in every]
    if unknown:
        raise DiaError(
            Diagnostic(
                "E401", f"unknown type, format, asset builder or word list `{name}`", None, did_you_mean(name, every)
            )
            for name in unknown
        )
    chosen = dict.fromkeys(names or every)
    types = {name: TYPES[name] for name in chosen if name in TYPES}
    builders = {name: BUILDERS[name] for name in chosen if name in BUILDERS}
    answers = {name: ANSWER_TYPES[name] for name in chosen if name in ANSWER_TYPES}
    formats = {name: FORMATS[name] for name in chosen if name in FORMATS}
    answer_facts = [_answer_facts(*pair) for pair in answers.items()]
    format_facts = [_format_facts(*pair) for pair in formats.items()]
    lists = {name: word_list(name) for name in chosen if name in WORD_LISTS}
    list_facts = [
        {"name": name, "summary": WORD_LISTS[name].holds, "revision": WORD_LISTS[name].revision, "words": list(words)}
        for name, words in lists.items()
    ]
    if as_json:
        facts = {"types": [_facts(*pair) for pair in types.items()]}
        facts["builders"] = [_facts(*pair) | {"extra": pair[1].extra} for pair in builders.items()]
        facts |= {"answer_types": answer_facts, "answer_formats": format_facts, "word_lists": list_facts}
        echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    if not names:
        echo("Parameter types")
    _print(
        types,
        "parameter type " if names else "",
        bool(names),
        "  where: a condition on the value, called `it`, or a list of conditions",
    )
    if not names:
        echo("\nAsset builders")
    _print(builders, "asset builder " if names else "", bool(names), "")
    for heading, kind, entries in (
        ("Answer types", "answer type ", answer_facts),
        ("Answer formats", "answer format ", format_facts),
    ):
        if not names:
            echo(f"\n{heading}")
        _print_facts(entries, kind if names else "", bool(names))
    if not names:
        echo("\nWord lists")
    for name, words in lists.items():
        size = counted(len(words), "word")
        echo(
            f"{'word list ' if names else ''}{click.style(name, bold=True)}: {WORD_LISTS[name].holds}, {size}",
            is_styled=True,
        )
        if names:
            echo(click.wrap_text(", ".join(words), WIDTH, "  ", "  "))
    return 0


def _facts(name: str, item: Any) -> dict[str, Any]:
    """Return a type or a builder as JSON."""
    options = {key: {"words": kind.words, "required": kind.required} for key, kind in item.options.items()}
    return {"name": name, "summary": item.summary, "revision": item.revision, "options": options}


def _answer_facts(name: str, kind: Any) -> dict[str, Any]:
    """Return a type of answers as JSON."""
    from dia_language.answers.option_schemas import OPTION_SCHEMAS

    words = {key: str(OPTION_SCHEMAS[key].get("description", "")) for key in sorted(kind.options)}
    options = {key: {"words": text, "required": False} for key, text in words.items()}
    return {"name": name, "summary": _first_line(kind.__doc__), "options": options}


def _format_facts(name: str, format: Any) -> dict[str, Any]:
    """Return an answer format as JSON."""
    described = {key: option for key, option in format.options.items() if option.in_specs}
    options = {key: {"words": one.description, "required": one.required} for key, one in described.items()}
    summary = _first_line(sys.modules[type(format).__module__].__doc__)
    return {"name": name, "summary": summary, "options": options, "chains": list(format.chains)}


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _print_facts(entries: Sequence[Mapping[str, Any]], kind: str, with_options: bool) -> None:
    for entry in entries:
        echo(f"{kind}{click.style(entry['name'], bold=True)}: {entry['summary']}", is_styled=True)
        for option, facts in entry["options"].items() if with_options else ():
            echo(f"  {option}{' (required)' if facts['required'] else ''}: {facts['words']}")


def _print(chosen: Mapping[str, Any], kind: str, with_options: bool, last: str) -> None:
    for key, item in chosen.items():
        echo(f"{kind}{click.style(key, bold=True)}: {item.summary}", is_styled=True)
        for name, option in item.options.items() if with_options else ():
            echo(f"  {name}{' (required)' if option.required else ''}: {option.words}")
        if with_options and last:
            echo(last)
