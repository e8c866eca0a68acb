"""The sandboxes of this machine."""

from __future__ import annotations

from functools import cache

from dia_language.confinement.sandboxes import SANDBOXES, Sandbox, works


@cache
def working_sandboxes() -> tuple[Sandbox, ...]:
    """The sandboxes that work here, each tried once."""
    return tuple(filter(works, SANDBOXES))
