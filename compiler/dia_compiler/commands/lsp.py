"""`dia lsp`: the language server that editors start."""

from __future__ import annotations

import click

from dia_compiler.commands.programs import allow_programs


@click.command("lsp")
@click.option(
    "--stdio",
    is_flag=True,
    help="Has no effect: `dia lsp` always uses standard input and output. Some editors add this option.",
)
@allow_programs
def command(stdio: bool, allow_programs: str) -> int:
    """Run the language server that gives your editor errors, completion, documentation, fixes and formatting.

    The editor starts this command and talks to it over standard input and output (the Language Server Protocol).
    It needs the extra `editor`.

    \b
    Example:
      dia lsp
    """
    from dia_language.diagnostics import DiaError, Diagnostic, install_extra

    try:
        from dia_compiler.authoring.editor.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = "`dia lsp` needs the package pygls"
        raise DiaError(Diagnostic("E606", message, None, install_extra("editor"))) from None

    serve(allow_programs)
    return 0
