"""Two banks onto one scale through the items that both hold, and what of them has drifted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.psychometrics.rasch.bank import Bank
from dia_runtime.psychometrics.rasch.counts import Array
from dia_runtime.psychometrics.rasch.estimate import number
from dia_runtime.psychometrics.rasch.link import DRIFT, Link, link

LEAST = 3
Z = 1.959963984540054


def link_banks(first: Bank, second: Bank, drift: float = DRIFT) -> tuple[dict[str, Any], Bank]:
    """The link with the keys of `dia link --json`, and the second bank on the first one's scale.

    Only items that both estimated link. Raises DiaError (exit 2) below three of them.
    """
    one = {entry.item: entry for entry in first.items if _links(entry.status)}
    other = {entry.item: entry for entry in second.items if _links(entry.status)}
    names = [name for name in one if name in other]
    if len(names) < LEAST:
        message = f"the banks have {len(names)} estimated items in common"
        raise DiaError(Diagnostic("E895", message, None, f"a link needs {LEAST}, and better some dozens"))
    found = link(
        _array([one[name].difficulty for name in names]),
        _array([one[name].se for name in names]),
        _array([other[name].difficulty for name in names]),
        _array([other[name].se for name in names]),
        drift,
    )
    return _result(names, found), moved(second, found.shift, first.gauge)


def _links(status: str) -> bool:
    return status in ("estimated", "anchor")


def _array(values: list[Any]) -> Array:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def moved(bank: Bank, shift: float, gauge: str) -> Bank:
    """The bank with everything on it higher by `shift`, under the name of the scale that it now stands on."""
    return replace(
        bank,
        items=tuple(replace(entry, difficulty=entry.difficulty + shift) for entry in bank.items),
        models=tuple(replace(entry, ability=entry.ability + shift) for entry in bank.models),
        prior_mean=None if bank.prior_mean is None else bank.prior_mean + shift,
        gauge="anchors" if shift else gauge,
    )


def _result(names: list[str], found: Link) -> dict[str, Any]:
    rows = zip(names, found.differences.tolist(), found.deviates.tolist(), found.linking.tolist(), strict=True)
    items = [
        {"item": name, "difference": gap, "z": number(deviate), "links": links} for name, gap, deviate, links in rows
    ]
    return {
        "common": len(names),
        "linking": int(found.linking.sum()),
        "shift": found.shift,
        "se": number(found.error),
        "sampling_se": found.sampling_error,
        "ci": [found.shift - Z * found.error, found.shift + Z * found.error] if np.isfinite(found.error) else None,
        "slope": number(found.slope),
        "correlation": number(found.correlation),
        "items": sorted(items, key=lambda entry: -abs(entry["difference"])),
    }
