"""The one way in which commands print, so that no text from a file reaches a terminal as it is.

Names of models, titles, replies and paths are untrusted, and a terminal obeys escape sequences in them. `echo` makes
all control, escape and bidirectional characters visible, except line breaks and tabs.
"""

from __future__ import annotations

import os
import re

import click
from dia_language.diagnostics import visible

# What `click.style` writes for bold, faint, red, green, yellow, cyan, and their end.
STYLE = re.compile(r"(\x1b\[(?:0|1|2|31|32|33|36)m)")
LINE_END = re.compile(r"\r\n")


def echo(message: str = "", *, err: bool = False, nl: bool = True, is_styled: bool = False) -> None:
    """Print the text on standard output, or on standard error.

    Colours in a text that `is_styled` appear on a terminal without NO_COLOR. Raises OSError if the stream cannot be
    written.
    """
    text = printable(message, is_styled)
    click.echo(text, err=err, nl=nl, color=False if os.environ.get("NO_COLOR") else None)


def overwrite(line: str = "") -> None:
    """Replace the last line on standard error, which is a terminal, by this one."""
    click.echo(f"\r\x1b[K{printable(line)}", err=True, nl=False)


def printable(text: str, is_styled: bool = False) -> str:
    """Return the text with everything visible that a terminal would obey, except line breaks, tabs and our colours.

    >>> print(printable("gpt" + chr(27) + "]0;title" + chr(7)))
    gpt\\x1b]0;title\\x07
    """
    text = LINE_END.sub("\n", text)
    if not is_styled:
        return visible(text)
    return "".join(piece if STYLE.fullmatch(piece) else visible(piece) for piece in STYLE.split(text))
