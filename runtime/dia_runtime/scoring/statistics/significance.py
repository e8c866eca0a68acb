"""Significance of differences, for one comparison and for many."""

from __future__ import annotations

from collections.abc import Sequence


def two_sided(value: float, error: float | None, items: int) -> float | None:
    """Return the two-sided p of a value by Student's t with the items as clusters (items - 1 degrees of freedom).

    None without an error. If all items have the same difference, it is that of the sign test: 2 of 2^items
    possibilities.
    """
    if error is None:
        return None
    if not error:
        return float(2.0 ** (1 - items)) if value else 1.0
    from scipy.special import betainc

    degrees = items - 1
    return float(betainc(degrees / 2, 0.5, degrees / (degrees + (value / error) ** 2)))


def holm(chances: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that the probability of any false finding stays below the level (Holm 1979).

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    ordered = sorted((chance, at) for at, chance in enumerate(chances) if chance is not None)
    adjusted: list[float | None] = [None] * len(chances)
    highest = 0.0
    for rank, (chance, at) in enumerate(ordered):
        highest = max(highest, min(1.0, chance * (len(ordered) - rank)))
        adjusted[at] = highest
    return adjusted
