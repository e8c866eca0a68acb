"""Where two chains of extraction differ, and the effect on each model's figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from typing import TypedDict

from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.bundle.open import Bundle
from dia_runtime.formats import FORMATS
from dia_runtime.grading.judge import Judge, Judged, Rules
from dia_runtime.scoring.accumulate import Cell, block
from dia_runtime.scoring.align import respondent_names
from dia_runtime.scoring.figures import compared_figures
from dia_runtime.scoring.results import Estimate, figure_of
from dia_runtime.scoring.score import Place, opened, range_of_points, require_chain
from dia_runtime.scoring.statistics.ledger import Row
from dia_runtime.scoring.statistics.paired import PairedFigures
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.store import Store, bundle_facts

HEAD, TAIL = 80, 160  # characters of a long reply that are shown
CUT = " [...] "
SECOND_LESS_FIRST = {0: Fraction(-1), 1: Fraction(1)}
Pair = tuple[Judged, Judged]


class Reading(TypedDict):
    """What a chain extracted from a reply."""

    reading: str | None
    step: str | None
    verdict: str


class AuditedReply(TypedDict):
    """A reply that two chains read or grade differently."""

    model: str
    question: str
    attempt: int
    truth: str | None
    flags: list[str]
    readings: dict[str, Reading]
    reply: str | None


class AuditedModel(TypedDict):
    """The effect of the chain on a model; figure -> its estimate by each chain, and the `difference`."""

    model: str
    replies: int
    differing: int
    changed: dict[str, int]
    figures: dict[str, dict[str, Estimate]]


class AuditResult(TypedDict):
    """What `dia audit` prints."""

    questions_root: str
    benchmark: str
    version: str | int | None
    chains: list[str]
    has_variants: bool
    replies: int
    differing: int
    models: list[AuditedModel]
    rows: list[AuditedReply]


def audit(
    runs: Place | Sequence[Place], chains: Sequence[str] = ("strict", "compat"), bundle: Place | None = None
) -> AuditResult:
    """Return every reply that two chains read or grade differently, and the figures by both, for `dia audit`."""
    if len(chains) != 2 or len(set(chains)) < 2:
        raise DiaError(
            Diagnostic("E821", "an audit needs exactly two chains", None, "for example `--chains strict,compat`")
        )
    for chain in chains:
        require_chain(chain)
    with opened(runs, bundle) as (stores, source):
        facts = bundle_facts(stores[0])
        rows: list[AuditedReply] = []
        names = iter(respondent_names(stores))
        intervals = Intervals(points=range_of_points(stores, Rules()))
        models = [model for store in stores for model in _models(store, chains, source, names, rows, intervals)]
        has_variants = stores[0].has_variants()
    return {
        "questions_root": facts["questions_root"],
        "benchmark": facts["benchmark"],
        "version": facts["version"],
        "chains": list(chains),
        "has_variants": has_variants,
        "replies": sum(model["replies"] for model in models),
        "differing": len(rows),
        "models": models,
        "rows": rows,
    }


def _models(
    store: Store,
    chains: Sequence[str],
    source: Bundle | None,
    names: Iterator[str],
    rows: list[AuditedReply],
    intervals: Intervals,
) -> Iterator[AuditedModel]:
    first, second = (Judge(store, Rules(chain), source) for chain in chains)
    with closing(first), closing(second):
        for respondent in store.respondents():
            name, before = next(names), len(rows)
            cells, changed, replies = (Cell(), Cell()), Counter[str](), 0
            for pair in zip(first.judged(respondent.id), second.judged(respondent.id), strict=True):
                replies += 1
                if differ(*pair):
                    rows.append(_row(name, pair, chains))
                    changed[f"{pair[0].mark.verdict} to {pair[1].mark.verdict}"] += 1
                if pair[0].question.variant is None:
                    for cell, entry in zip(cells, pair, strict=True):
                        cell.add(entry.question.item, entry)
            yield {
                "model": name,
                "replies": replies,
                "differing": len(rows) - before,
                "changed": dict(sorted(changed.items())),
                "figures": _figures(cells, chains, intervals),
            }


def differ(first: Judged, second: Judged) -> bool:
    """Return whether the two verdicts, or the two extracted answers, differ.

    A chain that extracts the whole wrapped answer agrees with one that extracts its content. Of conversations, the
    replies that could not be read are compared.
    """
    if first.mark.verdict != second.mark.verdict:
        return True
    if first.sessions is not None and second.sessions is not None:
        return first.sessions.outcome.unread != second.sessions.outcome.unread
    one, other = (None if entry.extracted is None else entry.extracted.strip() for entry in (first, second))
    if one is None or other is None or one == other:
        return one != other
    return not _wraps(first, one, other) and not _wraps(first, other, one)


def _wraps(entry: Judged, inner: str, outer: str) -> bool:
    format = json.loads(entry.question.format)
    return FORMATS[format["kind"]].wrap(inner, format) == outer


def _row(name: str, pair: Pair, chains: Sequence[str]) -> AuditedReply:
    first = pair[0]
    readings: dict[str, Reading] = {
        chain: {"reading": cut(_extracted(entry)), "step": entry.step, "verdict": entry.mark.verdict}
        for chain, entry in zip(chains, pair, strict=True)
    }
    return {
        "model": name,
        "question": first.question.id,
        "attempt": first.reply.attempt,
        "truth": cut(first.truth),
        "flags": sorted(pair[0].flags | pair[1].flags),
        "readings": readings,
        "reply": cut(first.reply.text),
    }


def _extracted(entry: Judged) -> str | None:
    """Return what was read as the answer, or of a conversation, which replies could not be read."""
    if entry.sessions is None:
        return entry.extracted
    unread = entry.sessions.outcome.unread
    return f"unread: {', '.join(unread)}" if unread else None


def cut(text: str | None) -> str | None:
    """Return the text; of a long one its beginning and its end."""
    if text is None or len(text) <= HEAD + TAIL + len(CUT):
        return text
    return f"{text[:HEAD]}{CUT}{text[-TAIL:]}"


def _figures(cells: tuple[Cell, Cell], chains: Sequence[str], intervals: Intervals) -> dict[str, dict[str, Estimate]]:
    """Return for each figure its value by each chain, and the difference of the second from the first.

    The error of the difference is over the same items.
    """
    blocks = dict(zip(chains, (block(cell, intervals) for cell in cells), strict=True))
    rows: Counter[Row] = Counter((tally, cells[1].table[item]) for item, tally in cells[0].table.items())
    questions = sum(row[0].k * times for row, times in rows.items())
    paired = PairedFigures(rows, questions, compared_figures(), intervals)
    figures: dict[str, dict[str, Estimate]] = {}
    for name in paired.figures:
        difference = paired.estimate(name, SECOND_LESS_FIRST)
        difference.pop("bounds", None)
        figures[name] = {
            **{chain: figure_of(figures_of_chain, name) for chain, figures_of_chain in blocks.items()},
            "difference": difference,
        }
    return figures
