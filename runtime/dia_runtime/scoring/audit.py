"""Where two chains of extraction differ, and what that does to each model's figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.bundle.open import Bundle
from dia_runtime.formats import FORMATS
from dia_runtime.grading.judge import Judge, Judged, Rules
from dia_runtime.scoring.accumulate import Cell, block
from dia_runtime.scoring.align import names
from dia_runtime.scoring.metrics import FIGURES
from dia_runtime.scoring.score import Place, opened
from dia_runtime.scoring.statistics.figures import NOWHERE
from dia_runtime.scoring.statistics.paired import Side
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.store import Store, bundle_facts

HEAD, TAIL = 80, 160  # characters of a long reply that are shown
CUT = " [...] "
INTERVALS = Intervals()
SECOND_LESS_FIRST = {0: Fraction(-1), 1: Fraction(1)}
Pair = tuple[Judged, Judged]


def audit(
    runs: Place | Sequence[Place], chains: Sequence[str] = ("strict", "compat"), bundle: Place | None = None
) -> dict[str, Any]:
    """Every reply that two chains read or judge differently, and the figures by both, as `dia audit` has them."""
    if len(chains) != 2 or len(set(chains)) < 2:
        raise DiaError(Diagnostic("E821", "an audit compares two chains", None, "give `--chains strict,compat`"))
    with opened(runs, bundle) as (stores, source):
        facts = bundle_facts(stores[0])
        rows: list[dict[str, Any]] = []
        known = iter(names(stores))
        models = [model for store in stores for model in _models(store, chains, source, known, rows)]
    return {
        **{name: facts[name] for name in ("questions_root", "benchmark", "version")},
        "chains": list(chains),
        "replies": sum(model["replies"] for model in models),
        "differing": len(rows),
        "models": models,
        "rows": rows,
    }


def _models(
    store: Store, chains: Sequence[str], source: Bundle | None, known: Iterator[str], rows: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    first, second = (Judge(store, Rules(chain), source) for chain in chains)
    with closing(first), closing(second):
        for respondent in store.respondents():
            name, before = next(known), len(rows)
            cells, changed, replies = (Cell(), Cell()), Counter[str](), 0
            for pair in zip(first.judged(respondent.id), second.judged(respondent.id), strict=True):
                replies += 1
                if differ(*pair):
                    rows.append(_row(name, pair, chains))
                    changed[f"{pair[0].mark.verdict} to {pair[1].mark.verdict}"] += 1
                if pair[0].question.variant is None:
                    for cell, entry in zip(cells, pair, strict=True):
                        cell.add(entry.question.item, entry)
            held = {
                "model": name,
                "replies": replies,
                "differing": len(rows) - before,
                "changed": dict(sorted(changed.items())),
            }
            yield {**held, "figures": _figures(cells, chains)}


def differ(first: Judged, second: Judged) -> bool:
    """Whether the two verdicts differ, or the two answers that were read.

    A chain that takes the whole wrapped answer reads the same as one that takes what is in it.
    """
    if first.mark.verdict != second.mark.verdict:
        return True
    said, other = (None if entry.said is None else entry.said.strip() for entry in (first, second))
    if said is None or other is None or said == other:
        return said is not other and said != other
    return not _wraps(first, said, other) and not _wraps(first, other, said)


def _wraps(entry: Judged, inner: str, outer: str) -> bool:
    format = json.loads(entry.question.format)
    return FORMATS[format["kind"]].wrap(inner, format) == outer


def _row(name: str, pair: Pair, chains: Sequence[str]) -> dict[str, Any]:
    first = pair[0]
    readings = {
        chain: {"reading": cut(entry.said), "step": entry.step, "verdict": entry.mark.verdict}
        for chain, entry in zip(chains, pair, strict=True)
    }
    place = {"model": name, "question": first.question.id, "attempt": first.reply.attempt, "truth": cut(first.truth)}
    return {**place, "readings": readings, "reply": cut(first.reply.text)}


def cut(text: str | None) -> str | None:
    """The text, of a long one its beginning and its end."""
    if text is None or len(text) <= HEAD + TAIL + len(CUT):
        return text
    return f"{text[:HEAD]}{CUT}{text[-TAIL:]}"


def _figures(cells: tuple[Cell, Cell], chains: Sequence[str]) -> dict[str, Any]:
    blocks = dict(zip(chains, (block(cell, INTERVALS) for cell in cells), strict=True))
    pairs = Counter((held, cells[1].table[item]) for item, held in cells[0].table.items())
    side = Side(pairs, sum(row[0].k * times for row, times in pairs.items()), tuple(FIGURES), INTERVALS)
    return {
        name: {**{chain: held[name] for chain, held in blocks.items()}, "difference": _difference(side, name)}
        for name in FIGURES
    }


def _difference(side: Side, name: str) -> dict[str, Any]:
    """The second figure less the first, with error and interval of the difference over the same items."""
    found = side.estimate(name, SECOND_LESS_FIRST) if side.rows else NOWHERE
    return {key: found[key] for key in NOWHERE}
