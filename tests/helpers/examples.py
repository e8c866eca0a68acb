"""How many examples properties are tested with: few every day, all where DIA_EXAMPLES is `all`, or the number in it."""

from __future__ import annotations

import os

EVERY_DAY = 10


def examples(number: int) -> int:
    """This number of examples, or the smaller number of every day or of DIA_EXAMPLES."""
    wanted = os.environ.get("DIA_EXAMPLES", "")
    return number if wanted == "all" else min(number, int(wanted) if wanted else EVERY_DAY)
