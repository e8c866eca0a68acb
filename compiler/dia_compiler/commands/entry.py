"""Where `dia` begins: Ctrl-C says no more than `interrupted` from the first moment on, while modules are still read."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line; exit code 130 where it is interrupted before it knows its command."""
    try:
        from dia_compiler.commands.cli import main as begin

        begin()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
