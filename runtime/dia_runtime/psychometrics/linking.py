"""Link two banks by the items that both contain, and find the items that have drifted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, counted
from dia_runtime.psychometrics.rasch.bank import Bank
from dia_runtime.psychometrics.rasch.counts import Array
from dia_runtime.psychometrics.rasch.estimate import finite_or_none
from dia_runtime.psychometrics.rasch.link import DRIFT, Link, link

LEAST = 3
MOST_RATIO = 2  # of the spreads of two banks
SIGNIFICANT = 0.05
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class LinkedItem:
    """An item of both banks: its difference after the shift, the normal deviate of that, and whether it links."""

    item: str
    difference: float
    z: float | None
    links: bool


@dataclass(frozen=True, slots=True)
class LinkResult:
    """The link of two banks; the fields are the keys of `dia link --json`."""

    common: int
    linking: int
    shift: float
    se: float | None
    sampling_se: float
    ci: tuple[float, float] | None
    slope: float | None
    correlation: float | None
    spreads: tuple[float, float]
    spread_p: float
    items: list[LinkedItem]

    @property
    def has_other_unit(self) -> bool:
        """Return whether the difficulties spread so differently that a shift alone does not link the banks.

        Twice the spread is four times the variance: at most a quarter of the variance of the difficulties is left. In
        simulations, the linked difficulties of a bank that hardly varied were then no better than their mean.
        """
        low, high = sorted(self.spreads)
        return high > MOST_RATIO * low and self.spread_p < SIGNIFICANT


def link_banks(bank: Bank, other_bank: Bank, drift: float = DRIFT) -> tuple[LinkResult, Bank]:
    """Return the link, and the second bank on the first one's scale.

    Only items that both banks estimated are used. Raises DiaError (exit 2) if there are fewer than three.
    """
    items = {entry.item: entry for entry in bank.items if _links(entry.status)}
    other_items = {entry.item: entry for entry in other_bank.items if _links(entry.status)}
    names = [name for name in items if name in other_items]
    if len(names) < LEAST:
        message = (
            f"a link needs at least {LEAST} items that both banks estimated, preferably dozens, but the banks share "
            f"{counted(len(names), 'such item')}"
        )
        raise DiaError(Diagnostic("E895", message, None, "name banks that were calibrated on common questions"))
    linked = link(
        _array([items[name].difficulty for name in names]),
        _array([items[name].se for name in names]),
        _array([other_items[name].difficulty for name in names]),
        _array([other_items[name].se for name in names]),
        drift,
    )
    return _result(names, linked), shifted(other_bank, linked.shift, bank.gauge)


def _links(status: str) -> bool:
    return status in ("estimated", "anchor")


def _array(values: list[float | None]) -> Array:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def shifted(bank: Bank, shift: float, gauge: str) -> Bank:
    """Return the bank with all locations shifted by `shift`, with the name of its new scale."""
    return replace(
        bank,
        items=tuple(replace(entry, difficulty=entry.difficulty + shift) for entry in bank.items),
        models=tuple(replace(entry, ability=entry.ability + shift) for entry in bank.models),
        prior_mean=None if bank.prior_mean is None else bank.prior_mean + shift,
        gauge="anchors" if shift else gauge,
    )


def _result(names: list[str], linked: Link) -> LinkResult:
    rows = zip(names, linked.differences.tolist(), linked.deviates.tolist(), linked.linking.tolist(), strict=True)
    items = [LinkedItem(name, gap, finite_or_none(deviate), links) for name, gap, deviate, links in rows]
    return LinkResult(
        common=len(names),
        linking=int(linked.linking.sum()),
        shift=linked.shift,
        se=finite_or_none(linked.error),
        sampling_se=linked.sampling_error,
        ci=(linked.shift - Z * linked.error, linked.shift + Z * linked.error) if np.isfinite(linked.error) else None,
        slope=finite_or_none(linked.slope),
        correlation=finite_or_none(linked.correlation),
        spreads=linked.spreads,
        spread_p=linked.spread_p,
        items=sorted(items, key=lambda entry: -abs(entry.difference)),
    )
