"""How many examples properties are tested with: few every day, all of them where DIA_EXAMPLES is `all`."""

from __future__ import annotations

import os

EVERY_DAY = 40


def examples(number: int) -> int:
    """So many examples, or those of every day."""
    return number if os.environ.get("DIA_EXAMPLES") == "all" else min(number, EVERY_DAY)
