"""Numbers within bounds, as types of options. Click states the bounds as `1<=x<=100`; these say `1 to 100`."""

from __future__ import annotations

import click


class IntRange(click.IntRange):
    """An integer within bounds."""

    name = "integer"

    def _describe_range(self) -> str:
        return _words(self.min, self.max)


class FloatRange(click.FloatRange):
    """A number within bounds."""

    name = "number"

    def _describe_range(self) -> str:
        return _words(self.min, self.max)


def _words(low: float | None, high: float | None) -> str:
    """Return the bounds for `0 is not in the range ...` and for the help of an option; every option has a lower one."""
    return f"{low:,} and up" if high is None else f"{low:,} to {high:,}"
