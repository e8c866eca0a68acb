"""`dia studio`: show templates in the browser while they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_compiler.studio.server import Studio


@click.command("studio")
@click.argument("paths", metavar="SPECS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="Port of this machine to listen on (default: any that is free).")  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the page in the default browser.")
@allow_programs
def command(paths: tuple[Path, ...], port: int, opens: bool, allow_programs: str) -> int:
    """Show templates in the browser while you write them.

    Prints the address of a page that lists the templates with their errors and shows instances as the model reads them.
    The page updates whenever you save a file. Runs until Ctrl-C.

    The page can be reached from this machine only, and only with the random token in its address.

    \b
    Example:
      dia studio specs/
    """
    import asyncio

    from dia_compiler.parse.discover import discover
    from dia_compiler.studio.server import Studio

    discover(list(paths))
    asyncio.run(_serve(Studio(list(paths), port, allow_programs), opens))
    return 0


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
