"""Read passphrases from a file, the environment or a hidden prompt; never from the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.cipher import LONGEST_PASSPHRASE
from dia_runtime.commands.options import PATH

VARIABLE = "DIA_PASSPHRASE"
FIRST_LINE = "write the passphrase, in UTF-8, as the first line of that file"
FORMS = "use --passphrase-file FILE, or set the environment variable DIA_PASSPHRASE"


def passphrase_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that names a file with the passphrase."""
    return click.option(
        "--passphrase-file",
        type=PATH,
        metavar="FILE",
        help="File whose first line is the passphrase. Default: the variable DIA_PASSPHRASE, else a prompt.",
    )(command)


def passphrase(file: Path | None, what: str, is_new: bool = False) -> str:
    """Return the passphrase; the prompt asks twice for a new one. Raises DiaError (exit 2) if there is none."""
    if file is not None:
        return _first_line(file)
    secret = os.environ.get(VARIABLE)
    if secret:
        return secret
    if not sys.stdin.isatty():
        raise DiaError(Diagnostic("E718", visible(f"no passphrase for {what}"), None, FORMS))
    text = click.prompt(f"Passphrase for {visible(what)}", hide_input=True, confirmation_prompt=is_new, err=True)
    return str(text)


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.readline(LONGEST_PASSPHRASE + 3)
        if len(raw.rstrip(b"\r\n")) > LONGEST_PASSPHRASE:
            message = f"the first line of the passphrase file `{file}` is longer than {LONGEST_PASSPHRASE:,} bytes"
            raise DiaError(Diagnostic("E718", visible(message), None, FIRST_LINE))
        text = raw.decode("utf-8-sig").rstrip("\r\n")  # some editors start a file with an invisible byte-order mark
    except OSError as error:
        message = visible(f"cannot read the passphrase file `{file}`: {error.strerror}")
        raise DiaError(Diagnostic("E718", message, None, FORMS)) from None
    except UnicodeDecodeError:
        raise DiaError(
            Diagnostic("E718", visible(f"the passphrase file `{file}` is not UTF-8"), None, FIRST_LINE)
        ) from None
    if not text:
        raise DiaError(
            Diagnostic("E718", visible(f"the first line of the passphrase file `{file}` is empty"), None, FIRST_LINE)
        )
    return text
