"""Figures over items, for harnesses that pass all graded replies to a function.

An entry is what a harness keeps of a graded reply: the item, the verdict and the points, as one text with tabs between
them, because logs of all harnesses can contain texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dia_runtime.grading.verdicts import Mark, Verdict
from dia_runtime.integrations.exported_tasks.grading import Graded, points_from_text
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.intervals import standard_error
from dia_runtime.scoring.metrics import NOTHING, Tallies, Tally, added


def figure_entry(item: str, grade: Graded) -> str:
    """Return what a harness keeps of a graded reply.

    >>> entry("next_prime", Graded("wrong", "7", -2))
    'next_prime\\twrong\\t-2'
    """
    return f"{item}\t{grade.verdict}\t{grade.points}"


def items_by_tally(entries: Iterable[str]) -> Tallies:
    """Return the number of items with each tally."""
    items: dict[str, Tally] = {}
    for text in entries:
        item, verdict, points = text.rsplit("\t", 2)
        value = points_from_text(points)
        items[item] = added(items.get(item, NOTHING), Mark(Verdict(verdict), value, value))
    return Counter(items.values())


def conf(entries: Sequence[str]) -> float:
    """Return Conf@k: the share of items whose instances are all correct."""
    return float(FIGURES["conf"].aggregate(items_by_tally(entries)).value or 0)


def nms(entries: Sequence[str]) -> float:
    """Return NMS@k: the number of items with at least four fifths of their instances correct, but not all."""
    return float(FIGURES["nms"].aggregate(items_by_tally(entries)).value or 0)


def rs(entries: Sequence[str]) -> float:
    """Return RS@k: the sum over items of the item's mean points."""
    return float(FIGURES["rs"].aggregate(items_by_tally(entries)).value or 0)


def tsr(entries: Sequence[str]) -> float:
    """Return the mean over items t of TSR@(t,k), the number of correct instances of an item."""
    counts = items_by_tally(entries)
    return sum(tally.correct * times for tally, times in counts.items()) / max(sum(counts.values()), 1)


def correct_share(entries: Sequence[str]) -> float:
    """Return the share of correct replies."""
    counts = items_by_tally(entries)
    replies = sum(tally.k * times for tally, times in counts.items())
    return sum(tally.correct * times for tally, times in counts.items()) / max(replies, 1)


def correct_clustered_stderr(entries: Sequence[str]) -> float:
    """Return the standard error of the share of correct replies, clustered by item; 0 if there is only one item."""
    parts = [(tally.correct, tally.k, times) for tally, times in items_by_tally(entries).items()]
    clusters, many = [(total, size) for total, size, _ in parts], [times for _, _, times in parts]
    return standard_error(clusters, many) or 0.0


def over_items_stderr(name: str, entries: Sequence[str]) -> float:
    """Return the standard error over items of the figure `rs`, `conf` or `nms`; 0 if there is only one item."""
    aggregate = FIGURES[name].aggregate(items_by_tally(entries))
    clusters = [(part.low, part.size) for part in aggregate.parts]
    return standard_error(clusters, [part.times for part in aggregate.parts], aggregate.is_sum) or 0.0
