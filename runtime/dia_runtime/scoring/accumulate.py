"""From judged replies to blocks of figures, one reply at a time.

Only a tally for each item is kept, and nothing of the replies, so that memory suffices for a million of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, cast

from dia_runtime.grading.flags import FLAGS
from dia_runtime.grading.judge import Judged, reading
from dia_runtime.grading.sessions.judging import Truth
from dia_runtime.grading.verdicts import Exact, Verdict
from dia_runtime.scoring import metrics
from dia_runtime.scoring.figures import FIGURES, Figure
from dia_runtime.scoring.metrics import NOTHING, Aggregate, Tally, added, combined, equal_rows
from dia_runtime.scoring.results import Block, Estimate, Respondent, Selective, SessionFigures
from dia_runtime.scoring.sessions.composite import composite
from dia_runtime.scoring.sessions.studies import StudiedOutcome, published, published_figure
from dia_runtime.scoring.sessions.tally import SessionTally
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.ledger import Ledger
from dia_runtime.scoring.statistics.mistakes import MistakeTally
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.selective import Row, Signal, agreed, levels_of, selective
from dia_runtime.scoring.statistics.variants import variant_effects
from dia_runtime.store.error_causes import CauseCounter

COLUMNS = {"skill": "skills"}  # label -> the field of a question that has it, if not of the same name
UNLABELLED, OTHERS = "none", "(others)"
MOST_GROUPS = 10_000  # further values of a label are counted together
MOST_SKILLS = 100  # of a question


class Cell:
    """The sums over questions that have the same labels."""

    __slots__ = ("flags", "shares", "subsets", "table")

    def __init__(self) -> None:
        self.table: dict[str, Tally] = {}
        self.flags: Counter[str] = Counter()
        self.shares: dict[str, tuple[Fraction, int]] = {}
        # whether a question is unanswerable -> item -> tally, for templates with unanswerable questions
        self.subsets: dict[bool, dict[str, Tally]] = {}

    def add(self, item: str, entry: Judged) -> None:
        """Add one judged reply, as an instance of an item."""
        self.table[item] = added(self.table.get(item, NOTHING), entry.mark)
        if entry.flags:
            self.flags.update(entry.flags)
        if entry.share is not None:
            self.add_share(item, entry.share, 1)
        if entry.unanswerable is not None:
            subset = self.subsets.setdefault(entry.unanswerable, {})
            subset[item] = added(subset.get(item, NOTHING), entry.mark)

    def add_share(self, item: str, share: Fraction, number: int) -> None:
        """Add the sum of this many partial credits."""
        total, count = self.shares.get(item, (Fraction(0), 0))
        self.shares[item] = (total + share, count + number)


def merged(cells: Sequence[Cell]) -> Cell:
    """Return the cells merged into one; an item in several of them is one item."""
    whole = Cell()
    for cell in cells:
        _merge(cell.table, whole.table)
        for is_unanswerable, subset in cell.subsets.items():
            _merge(subset, whole.subsets.setdefault(is_unanswerable, {}))
        for item, (total, number) in cell.shares.items():
            whole.add_share(item, total, number)
        whole.flags.update(cell.flags)
    return whole


def _merge(table: dict[str, Tally], whole: dict[str, Tally]) -> None:
    for item, tally in table.items():
        before = whole.get(item)
        whole[item] = combined(before, tally) if before else tally


def block(cell: Cell, intervals: Intervals) -> Block:
    """Return the figures of a cell for `dia score --json`."""
    tallies = equal_rows(cell.table.values())
    figures = tuple(FIGURES.values())
    facts: Block = {
        "n": len(cell.table),
        "counts": metrics.counts(tallies),
        "flags": {flag: cell.flags[flag] for flag in FLAGS},
        "completely_skipped": metrics.completely_skipped(tallies),
        "partly_skipped": metrics.partly_skipped(tallies),
    }
    of_tallies = deepcopy(_of_tallies(figures, tuple(tallies.items()), intervals))
    return cast(
        Block, {**facts, **of_tallies, **_of_shares(figures, cell, intervals), **_of_subsets(figures, cell, intervals)}
    )


@lru_cache(maxsize=1024)  # groups are often equal
def _of_tallies(
    figures: tuple[Figure, ...], tallies: tuple[tuple[Tally, int], ...], intervals: Intervals
) -> dict[str, Estimate]:
    counted = dict(tallies)
    return estimates({figure.name: figure.aggregate(counted) for figure in figures if figure.is_compared}, intervals)


def _of_shares(figures: tuple[Figure, ...], cell: Cell, intervals: Intervals) -> dict[str, Estimate]:
    """Return the figures from shares of full marks; nothing if no answer declares one."""
    shares = equal_rows(cell.shares.values())
    aggregates = {
        figure.name: figure.aggregate_of(figure.of_shares(shares)) for figure in figures if figure.of_shares and shares
    }
    return estimates(aggregates, intervals)


def _of_subsets(figures: tuple[Figure, ...], cell: Cell, intervals: Intervals) -> dict[str, Estimate]:
    """Return the figures of unanswerable questions and answerable ones of their templates; nothing without any."""
    if not cell.subsets:
        return {}
    tallies = {side: equal_rows(cell.subsets.get(side, {}).values()) for side in (True, False)}
    aggregates = {
        figure.name: figure.aggregate_of(figure.of_tallies(tallies[figure.of_unanswerable]))
        for figure in figures
        if figure.of_tallies is not None and figure.of_unanswerable is not None
    }
    return estimates(aggregates, intervals)


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How the figures of respondents are computed, and whether all marks are kept for comparisons."""

    labels: tuple[str, ...] = ()
    over: str = "instances"
    intervals: Intervals = Intervals()  # noqa: RUF009 - it is frozen
    keeps_marks: bool = False
    k: int = 1


class Accumulator:
    """The figures of one respondent: for all questions, and by labels."""

    def __init__(self, options: FigureOptions) -> None:
        self.options, self.labels = options, options.labels
        # Questions with the same labels are summed together: one step per reply, however many labels there are.
        self.labels_of = attrgetter(*(COLUMNS.get(label, label) for label in ("variant", *self.labels)))
        self.cells: dict[tuple[Any, ...], Cell] = {}
        self.questions = 0
        self.mistakes = MistakeTally()
        self.ledger = Ledger()
        self.best: dict[str, Exact] = {}
        self.readings: dict[str, Counter[str]] = {}
        self.sessions: dict[str, SessionTally] = {}
        self.studied: dict[str, list[StudiedOutcome]] = {}
        self.causes = CauseCounter()

    def add(self, entry: Judged) -> None:
        """Add one judged reply."""
        key = self.labels_of(entry.question)
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = Cell()
        item = entry.question.item if self.options.over == "instances" else entry.question.id
        cell.add(item, entry)
        if entry.reply.error is not None:
            self.causes.add(entry.reply.error)
        if self.options.keeps_marks:
            self._add_to_ledger(entry)
        if entry.question.variant is None:
            self._add_base(item, entry)

    def _add_base(self, item: str, entry: Judged) -> None:
        """Add a reply to a question without a variant."""
        self.questions += entry.reply.attempt == 1
        self._add_for_selective(item, entry)
        if entry.mark.verdict is Verdict.WRONG:
            self.mistakes.add(entry.question.template, item, entry.mistakes)
        if entry.record is not None:
            self._add_session(item, entry, entry.record)

    def _add_session(self, item: str, entry: Judged, record: Truth) -> None:
        """Add the outcome of a session question; all outcomes are kept if a study defines its own figures."""
        template = entry.question.template
        tally = self.sessions.setdefault(template, SessionTally(record.stored, record.study_name))
        if entry.sessions is None:
            tally.add_error(is_lost=entry.mark.verdict is not Verdict.ERROR)
            return
        tally.add(entry.sessions.outcome, item)
        if entry.sessions.published is not None:
            outcome = StudiedOutcome(entry.sessions.outcome, entry.sessions.published)
            self.studied.setdefault(template, []).append(outcome)

    def _add_for_selective(self, item: str, entry: Judged) -> None:
        """Add the data for selective prediction: points with perfect abstention, and agreement between attempts."""
        points = entry.mark.low if entry.mark.verdict is Verdict.CORRECT else entry.abstention_points
        self.best[item] = self.best.get(item, 0) + points
        if self.options.over == "attempts" and entry.mark.verdict in (Verdict.CORRECT, Verdict.WRONG):
            text = reading(entry)
            if text is not None:
                self.readings.setdefault(item, Counter())[text] += 1

    def _add_to_ledger(self, entry: Judged) -> None:
        question = entry.question
        if self.options.over == "instances":
            self.ledger.add(question.variant, question.item, question.instance, entry.mark)
        else:
            self.ledger.add(question.variant, (question.item, question.instance), entry.reply.attempt, entry.mark)

    def result(self, name: str, missing: int) -> Respondent:
        """Return the respondent's figures for `dia score --json`.

        Questions in another wording only count in the groups of their variant.
        """
        intervals = self.options.intervals
        whole = merged([cell for key, cell in self.cells.items() if key[0] is None])
        figures = block(whole, intervals)
        pass_at_j, pass_hat_j = deepcopy(_ladders(tuple(equal_rows(whole.table.values()).items()), intervals))
        facts: dict[str, object] = {
            "model": name,
            "missing": missing,
            "error_causes": self.causes.causes(),
            **figures,
            "pass_at_j": pass_at_j,
            "pass_hat_j": pass_hat_j,
            "tsr": metrics.tsr(whole.table),
            "other_k": {item: tally.k for item, tally in whole.table.items() if tally.k != self.options.k},
            "mistakes": self.mistakes.shares(),
            "mistake_shares": self.mistakes.result(intervals),
            "selective": self._selective(whole, figures),
            "variants": variant_effects(self.ledger, intervals),
        }
        if self.sessions:
            facts |= self._session_figures()
        groups = {f"by_{label}": self._groups(at, label) for at, label in enumerate(self.labels, 1)}
        return cast(Respondent, {**facts, **groups})

    def _session_figures(self) -> SessionFigures:
        """Return the figures of sessions by template, their mean, and those of a study if there is one."""
        intervals = self.options.intervals
        estimated = partial(estimates, intervals=intervals)
        blocks = {template: tally.result(estimated) for template, tally in self.sessions.items()}
        result: SessionFigures = {"sessions": blocks, "composite": composite(blocks, intervals.method != "none")}
        studies = {
            tally.study: self.studied[template] for template, tally in self.sessions.items() if template in self.studied
        }
        if studies:
            result["published"] = published(studies)
            for template, tally in self.sessions.items():
                blocks[template]["paper"] = published_figure(tally.study, result["published"])
        return result

    def _selective(self, whole: Cell, figures: Block) -> Selective:
        signal: Signal = "agreement" if self.options.over == "attempts" else "answered"
        items: list[Row] = []
        unanswerable = whole.subsets.get(True, {})
        for item, tally in whole.table.items():
            levels = agreed(tally, self.readings.get(item, {})) if signal == "agreement" else levels_of(tally)
            items.append(Row(tally, levels, self.best[item], unanswerable.get(item, NOTHING)))
        return selective(equal_rows(items), signal, figures, self.options.intervals)

    def _groups(self, at: int, label: str) -> dict[str, Block]:
        """Return the blocks of questions by value of a label."""
        groups: dict[str, list[Cell]] = {}
        for key, cell in self.cells.items():
            if (key[0] is None) != (label == "variant"):
                for name in label_values(label, key[at]):
                    name = name if name in groups or len(groups) < MOST_GROUPS else OTHERS
                    groups.setdefault(name, []).append(cell)
        return {name: block(merged(groups[name]), self.options.intervals) for name in sorted(groups)}


@lru_cache(maxsize=64)
def _ladders(
    tallies: tuple[tuple[Tally, int], ...], intervals: Intervals
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return Pass@j and Pass^j for each j that is worth printing."""
    counted = dict(tallies)
    steps = metrics.ladder(counted)
    at, hat = (
        estimates({str(j): Aggregate(parts(counted, j)) for j in steps}, intervals)
        for parts in (metrics.pass_at, metrics.pass_hat)
    )
    return at, hat


def label_values(label: str, stored: Any) -> tuple[str, ...]:
    """Return a question's values of a label: several for skills, one for other labels."""
    if label == "skill":
        return _skills(stored) or (UNLABELLED,)
    return (UNLABELLED if stored is None or stored == "" else str(stored),)


@lru_cache(maxsize=1024)
def _skills(encoded: str) -> tuple[str, ...]:
    try:
        skills = json.loads(encoded)
    except (ValueError, RecursionError):  # untrusted text
        return ()
    return tuple(dict.fromkeys(map(str, skills[:MOST_SKILLS]))) if isinstance(skills, list) else ()
