"""Sines from integer arithmetic only, so that tones have the same samples on every machine."""

from __future__ import annotations

from functools import cache
from typing import Final

STEPS: Final = 4096
PEAK: Final = 32_767
FRACTION: Final = 64
# floor(2 pi 2**64)
CIRCLE: Final = 115_904_311_329_233_965_478


@cache
def sines() -> tuple[int, ...]:
    """Return sines of the whole circle in 4,096 equal steps, times 32,767, rounded.

    >>> sines()[0], sines()[512], sines()[1024], sines()[3072]
    (0, 23170, 32767, -32767)
    """
    quarter = STEPS // 4
    rising = [_sine(CIRCLE * step // STEPS) for step in range(quarter + 1)]
    upper = rising + rising[-2:0:-1]
    return tuple(upper + [-value for value in upper])


def _sine(angle: int) -> int:
    """Return the sine of an angle below 2 by its Taylor series; the angle times 2**64, the sine times PEAK."""
    term, total, order = angle, 0, 1
    while term:
        total += term
        term = -(term * angle >> FRACTION) * angle >> FRACTION
        term //= (order + 1) * (order + 2)
        order += 2
        if term == -1:
            break
    return (total * PEAK + (1 << FRACTION - 1)) >> FRACTION
