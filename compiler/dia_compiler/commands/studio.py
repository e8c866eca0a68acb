"""`dia studio`: show templates in the browser while they are written."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.commands.model_options import ModelArguments, model_options_except, run_options
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_compiler.authoring.studio.play import Players
    from dia_compiler.authoring.studio.server import Studio

# How a run is organised, which a conversation in the page has no use for
NOT_HERE = frozenset({
    "concurrency", "retries", "patience", "prices", "budget_usd", "budget_tokens", "budget_requests", "cache",
    "attachments",
})  # fmt: skip
NO_RUN: dict[str, Any] = {
    "concurrency": None, "retries": 0, "budget_usd": None, "budget_tokens": None, "budget_requests": None,
    "cache": False,
}  # fmt: skip


@click.command("studio")
@click.argument("paths", metavar="SPECS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--port", type=IntRange(0, 65535), default=0, metavar="N",
              help="Port of this machine to listen on (default: any that is free).")  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the page in the default browser.")
@click.option("--model", metavar="NAME", help="Model that plays conversations in the page, as for `dia run`.")
@model_options_except(*NOT_HERE)
@allow_programs
def command(
    paths: tuple[Path, ...], port: int, opens: bool, model: str | None, allow_programs: str, **chosen: Any
) -> int:
    """Show templates in the browser while you write them.

    Prints the address of a page that lists the templates with their errors and shows instances as the model reads them.
    The page updates whenever you save a file. Runs until Ctrl-C.

    The page can be reached from this machine only, and only with the random token in its address.

    With --model, the page can play a conversation with the model: turn by turn, with the verdict at the end.

    \b
    Example:
      dia studio specs/
    """
    import asyncio

    from dia_compiler.authoring.studio.server import Studio
    from dia_compiler.parse.discover import discover

    discover(list(paths))
    if model is None:
        _refuse(chosen)
    players = None if model is None else _players(model, ModelArguments(**chosen, **NO_RUN))
    asyncio.run(_serve(Studio(list(paths), port, allow_programs, players=players), opens))
    return 0


def _players(model: str, arguments: ModelArguments) -> Players:
    """Return who plays conversations, and print which host receives a key. Raises DiaError (exit 2)."""
    from dia_runtime.respondents.registry import NOBODY, built_in_beside_url, key_destinations
    from dia_runtime.respondents.roles import role_options

    from dia_compiler.authoring.studio.play import Players

    terms = run_options(arguments)
    built_in_beside_url([model], [], terms.model_options)
    players = Players.of(model, terms.model_options, terms.roles, terms.role_urls)
    lines = key_destinations([model], terms.model_options)
    for role, name in terms.roles.items():
        if name != NOBODY:
            lines += key_destinations([name], role_options(role, terms.role_urls, terms.model_options))
    for line in dict.fromkeys(lines):
        echo(line, err=True)
    return players


def _refuse(settings: Collection[str]) -> None:
    """Raise DiaError (exit 2) for an option about a model that is not named."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in settings and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            help = "add `--model NAME`, or leave it out"
            raise DiaError(Diagnostic("E600", f"`{parameter.opts[0]}` needs `--model`", None, help))


async def _serve(studio: Studio, opens: bool) -> None:
    """Serve until Ctrl-C."""
    import asyncio
    import signal
    import webbrowser
    from contextlib import suppress

    stop = asyncio.Event()
    for name in ("SIGINT", "SIGTERM"):
        with suppress(NotImplementedError, AttributeError):  # Windows raises KeyboardInterrupt instead
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), stop.set)
    try:
        await studio.start()
        echo(studio.address)
        echo("open this address in a browser; press Ctrl-C to stop", err=True)
        if opens:
            await asyncio.to_thread(webbrowser.open, studio.address)
        await stop.wait()
    finally:
        await studio.close()
