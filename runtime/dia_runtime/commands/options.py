"""What commands share."""

from __future__ import annotations

import click


def is_quiet(flag: bool) -> bool:
    """Whether progress and notes are unwanted: `-q` behind the command's name, or before it."""
    context = click.get_current_context(silent=True)
    return flag or bool(context and context.find_root().meta.get("dia.quiet"))
