"""Options that several commands have, the objects that contain their values, and how results are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator: TypeAlias = Callable[[Function], Function]

PATH = click.Path(path_type=Path)
SEED = IntRange(min=0)


def choice_option(*names: str, choices: Sequence[str], help: str, default: str | None = None) -> Decorator[Any]:
    """Return an option that takes one of several words; its help shows a default if there is one."""
    return click.option(
        *names, type=click.Choice(choices), default=default, show_default=default is not None, help=help
    )


def format_option(*formats: str, help: str = "Output format.") -> Decorator[Any]:
    """Return the option `--format` of a command that prints tables; the first format is the default."""
    return choice_option("--format", "form", choices=formats, default=formats[0], help=help)


def quiet_option(of: str) -> Decorator[Any]:
    """Return the option `-q` of a command that prints notes, or progress."""
    return click.option("-q", "--quiet", is_flag=True, help=f"Do not print {of}.")


def combined(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Return a group of options as one decorator."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def options_object(kind: type[Any], name: str = "options") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Pass the values that are fields of a dataclass to the command as one object, under this name."""
    names = [field.name for field in fields(kind)]

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @wraps(function)
        def call(**values: Any) -> int:
            options = kind(**{name: values.pop(name) for name in names})
            return function(**{name: options}, **values)

        return call

    return decorate


runs_argument = click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PATH)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
out_option = click.option("-o", "--out", type=PATH, help="Write the output to this file.")
bundle_option = click.option(
    "--bundle",
    type=PATH,
    help="Bundle with the answers, where the runs lack them. `dia report` takes the prompts from it, too.",
)
chain_option = choice_option(
    "--chain",
    choices=["standard", "strict", "lenient", "compat"],
    default="standard",
    help="How answers are read from replies. standard: the last answer in the prescribed format, with any text around "
    "it (with bundles from before dia 0.4, the same as strict). strict: the same format, without text around tags or "
    "JSON. lenient: more tolerant. compat: as a published evaluator does (DIA-Bench for the answer format xml, "
    "evaluate-idk for letter, the Self-Execution Benchmark for json and in conversations).",
)
points_option = click.option(
    "--points", multiple=True, metavar="VERDICT=N", help="Points for a verdict, for example wrong=-1. Repeatable."
)
errors_option = choice_option(
    "--errors",
    choices=["keep", "wrong"],
    default="keep",
    help="keep: while there are errors, each figure is a range, from its value if they are all wrong to its value if "
    "they are all correct. wrong: count errors as wrong.",
)
over_option = choice_option(
    "--over",
    choices=["instances", "attempts"],
    default="instances",
    help="What k counts: the instances of an item, or the attempts at a question.",
)
price_option = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="[MODEL=]IN,OUT",
    help="US dollars for a million prompt and completion tokens, where the provider does not report the cost; a third "
    "number is the price of cached prompt tokens. MODEL may have wildcards (openai/*). Repeatable.",
)
labels_option = click.option(
    "--labels", type=PATH, metavar="FILE", help="YAML file with labels by which models can be grouped."
)
grading_options = combined(bundle_option, chain_option, points_option, errors_option, over_option)


@dataclass(frozen=True)
class GradingOptions:
    """How replies are graded, as given by `grading_options`."""

    bundle: Path | None
    chain: str
    points: tuple[str, ...]
    errors: str
    over: str


def is_quiet(flag: bool) -> bool:
    """Return whether progress and notes are unwanted: `-q` after the command's name, or before it."""
    context = click.get_current_context(silent=True)
    return flag or bool(context and context.find_root().meta.get("dia.quiet"))


def as_json_text(facts: Mapping[str, Any]) -> str:
    """Return what `--json` prints of a result, with a newline at the end."""
    return json.dumps(facts, indent=2) + "\n"


def write_output(text: str, out: Path | None) -> None:
    """Write the text to the file, or to standard output if no file is given."""
    if out is None:
        echo(text, nl=False, is_styled=True)
        return
    from dia_runtime.bundle.atomic_output import atomic_file, write_errors

    encoded = text.encode("utf-8", "replace")
    is_device = out.exists() and (not out.is_file() or out.is_relative_to("/dev"))
    if is_device:  # a pipe or a device is written to, not replaced
        with write_errors(out):
            out.write_bytes(encoded)
        return
    with atomic_file(out.resolve(), force=True) as file:
        file.write(encoded)
