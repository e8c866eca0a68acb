"""The entry point of `dia`. Before other modules are imported, it opens standard streams and handles Ctrl-C."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line; exit code 130 if it is interrupted before the command is known."""
    try:
        open_standard_streams()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on small matrices, threads only wait
        from dia_compiler.commands.cli import main as begin

        begin()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


def open_standard_streams() -> None:
    """Open the null device for each standard stream that the caller has closed.

    Otherwise the first file that is opened would take its number, and messages would be written into that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
