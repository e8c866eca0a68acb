"""Judged replies to blocks of figures, one reply at a time.

A tally for each item is held, and nothing of the replies, so that a million of them fit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from dia_runtime.grading.judge import FLAGS, Judged, reading
from dia_runtime.grading.sessions.judging import Truth
from dia_runtime.grading.verdicts import Exact, Verdict
from dia_runtime.scoring import metrics
from dia_runtime.scoring.metrics import FIGURES, NOTHING, Figure, Part, Tally, added, plus
from dia_runtime.scoring.sessions.composite import composite
from dia_runtime.scoring.sessions.studies import Pair, of_paper, published
from dia_runtime.scoring.sessions.tally import SessionTally
from dia_runtime.scoring.statistics.figures import figures_json
from dia_runtime.scoring.statistics.ledger import Ledger
from dia_runtime.scoring.statistics.mistakes import Explained
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.selective import Levels, agreed, levels_of, selective
from dia_runtime.scoring.statistics.variants import variant_effects

COLUMNS = {"skill": "skills"}  # label -> where a question has it, if not under its own name
UNLABELLED, OTHERS = "none", "(others)"
MOST_GROUPS = 10_000  # more values of a label are counted together
MOST_SKILLS = 100  # of a question


class Cell:
    """What was added of the questions that have the same labels."""

    __slots__ = ("flags", "shares", "table")

    def __init__(self) -> None:
        self.table: dict[str, Tally] = {}
        self.flags: Counter[str] = Counter()
        self.shares: dict[str, tuple[Fraction, int]] = {}

    def add(self, item: str, entry: Judged) -> None:
        """Takes one judged reply, as an instance of an item."""
        self.table[item] = added(self.table.get(item, NOTHING), entry.mark)
        if entry.flags:
            self.flags.update(entry.flags)
        if entry.share is not None:
            total, number = self.shares.get(item, (Fraction(0), 0))
            self.shares[item] = (total + entry.share, number + 1)


def joined(cells: Sequence[Cell]) -> Cell:
    """The cells as one; an item that lies in several of them is one item."""
    whole = Cell()
    for cell in cells:
        for item, held in cell.table.items():
            there = whole.table.get(item)
            whole.table[item] = plus(there, held) if there else held
        for item, (total, number) in cell.shares.items():
            before = whole.shares.get(item, (Fraction(0), 0))
            whole.shares[item] = (before[0] + total, before[1] + number)
        whole.flags.update(cell.flags)
    return whole


def block(cell: Cell, intervals: Intervals) -> dict[str, Any]:
    """The figures of a cell as `dia score --json` has them."""
    tallies = Counter(cell.table.values())
    return {
        "n": len(cell.table),
        "counts": metrics.counts(tallies),
        "flags": {flag: cell.flags[flag] for flag in FLAGS},
        "completely_skipped": metrics.completely_skipped(tallies),
        "partly_skipped": metrics.partly_skipped(tallies),
        **deepcopy(_figures(tuple(tallies.items()), intervals)),
        **figures_json(_share(cell), intervals),
    }


@lru_cache(maxsize=1024)  # groups are often alike
def _figures(tallies: tuple[tuple[Tally, int], ...], intervals: Intervals) -> dict[str, dict[str, Any]]:
    held = dict(tallies)
    return figures_json({name: figure(held) for name, figure in FIGURES.items()}, intervals)


def _share(cell: Cell) -> dict[str, Figure]:
    """The mean share of full marks, of the questions whose answers declare one; nothing where none does."""
    parts = Counter(cell.shares.values())
    if not parts:
        return {}
    return {"share": Figure(tuple(Part(total, total, size, n) for (total, size), n in parts.items()))}


@dataclass(frozen=True, slots=True)
class Ways:
    """How the figures of respondents are computed, and whether all marks are kept for comparisons."""

    labels: tuple[str, ...] = ()
    over: str = "instances"
    intervals: Intervals = Intervals()  # noqa: RUF009 - it is frozen
    keeps_marks: bool = False
    k: int = 1


class Model:
    """The figures of one respondent: of all questions, and by labels."""

    def __init__(self, ways: Ways) -> None:
        self.ways, self.labels = ways, ways.labels
        # Questions with the same labels are added up together: one step a reply, however many labels there are.
        self.labels_of = attrgetter(*(COLUMNS.get(label, label) for label in ("variant", *self.labels)))
        self.cells: dict[tuple[Any, ...], Cell] = {}
        self.asked = 0
        self.explained = Explained()
        self.ledger = Ledger()
        self.best: dict[str, Exact] = {}
        self.readings: dict[str, Counter[str]] = {}
        self.sessions: dict[str, SessionTally] = {}
        self.studied: dict[str, list[Pair]] = {}

    def add(self, entry: Judged) -> None:
        """Takes one judged reply."""
        key = self.labels_of(entry.question)
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = Cell()
        item = entry.question.item if self.ways.over == "instances" else entry.question.id
        cell.add(item, entry)
        self.asked += entry.question.variant is None and entry.reply.attempt == 1
        if entry.question.variant is None:
            self._note(item, entry)
        if entry.mark.verdict is Verdict.WRONG and entry.question.variant is None:
            self.explained.add(entry.question.template, item, entry.mistakes)
        if self.ways.keeps_marks:
            self._keep(entry)
        if entry.record is not None and entry.question.variant is None:
            self._add_session(item, entry, entry.record)

    def _add_session(self, item: str, entry: Judged, record: Truth) -> None:
        """Takes the outcome of a question of sessions; all of them where a study wants its own figures."""
        template = entry.question.template
        held = self.sessions.setdefault(template, SessionTally(record.stored, record.study_name))
        if entry.sessions is None:
            held.add_error(is_lost=entry.mark.verdict is not Verdict.ERROR)
            return
        held.add(entry.sessions.outcome, item)
        if entry.sessions.published is not None:
            self.studied.setdefault(template, []).append(Pair(entry.sessions.outcome, entry.sessions.published))

    def _note(self, item: str, entry: Judged) -> None:
        """Takes what selective prediction needs: the points with perfect abstention, and what attempts agree on."""
        worth = entry.mark.low if entry.mark.verdict is Verdict.CORRECT else entry.silent
        self.best[item] = self.best.get(item, 0) + worth
        if self.ways.over == "attempts" and entry.mark.verdict in (Verdict.CORRECT, Verdict.WRONG):
            said = reading(entry)
            if said is not None:
                self.readings.setdefault(item, Counter())[said] += 1

    def _keep(self, entry: Judged) -> None:
        question = entry.question
        if self.ways.over == "instances":
            self.ledger.add(question.variant, question.item, question.instance, entry.mark)
        else:
            self.ledger.add(question.variant, (question.item, question.instance), entry.reply.attempt, entry.mark)

    def as_json(self) -> dict[str, Any]:
        """The respondent's figures as `dia score --json` has them, but for its names.

        Questions in another wording count in the groups of their variant alone.
        """
        whole, way = joined([cell for key, cell in self.cells.items() if key[0] is None]), self.ways.intervals
        figures = block(whole, way)
        return {
            **figures,
            **deepcopy(_ladders(tuple(Counter(whole.table.values()).items()), way)),
            "tsr": metrics.tsr(whole.table),
            "other_k": {item: held.k for item, held in whole.table.items() if held.k != self.ways.k},
            "mistakes": self.explained.shares(),
            "mistake_shares": self.explained.as_json(way),
            "selective": self._selective(whole, figures),
            "variants": variant_effects(self.ledger, way),
            **self._of_sessions(way),
            **{f"by_{label}": self._by(at, label) for at, label in enumerate(self.labels, 1)},
        }

    def _of_sessions(self, intervals: Intervals) -> dict[str, Any]:
        """The figures of sessions by template, their mean, and those of a study; nothing where there is none."""
        if not self.sessions:
            return {}
        found = {name: held.as_json(partial(figures_json, intervals=intervals)) for name, held in self.sessions.items()}
        facts = {"sessions": found, "composite": composite(found, intervals.method != "none")}
        studies = {held.study: self.studied[name] for name, held in self.sessions.items() if name in self.studied}
        if not studies:
            return facts
        told = published(studies)
        for name, held in self.sessions.items():
            found[name]["paper"] = of_paper(held.study, told)
        return {**facts, "published": told}

    def _selective(self, whole: Cell, figures: Mapping[str, Any]) -> dict[str, Any]:
        is_over_attempts = self.ways.over == "attempts"
        items: Counter[tuple[Tally, Levels, Exact]] = Counter()
        for item, held in whole.table.items():
            levels = agreed(held, self.readings.get(item, {})) if is_over_attempts else levels_of(held)
            items[held, levels, self.best[item]] += 1
        return selective(items, "agreement" if is_over_attempts else "answered", figures, self.ways.intervals)

    def _by(self, at: int, label: str) -> dict[str, Any]:
        """Value of a label -> the block of its questions."""
        groups: dict[str, list[Cell]] = {}
        for key, cell in self.cells.items():
            if (key[0] is None) != (label == "variant"):
                for name in values(label, key[at]):
                    name = name if name in groups or len(groups) < MOST_GROUPS else OTHERS
                    groups.setdefault(name, []).append(cell)
        return {name: block(joined(groups[name]), self.ways.intervals) for name in sorted(groups)}


@lru_cache(maxsize=64)
def _ladders(tallies: tuple[tuple[Tally, int], ...], intervals: Intervals) -> dict[str, Any]:
    """Pass@j and Pass^j for each j that is worth printing."""
    held = dict(tallies)
    steps = metrics.ladder(held)
    both = {"pass_at_j": metrics.pass_at, "pass_hat_j": metrics.pass_hat}
    return {name: figures_json({str(j): figure(held, j) for j in steps}, intervals) for name, figure in both.items()}


def values(label: str, held: Any) -> tuple[str, ...]:
    """What a question has of a label: several skills, or one of the others."""
    if label == "skill":
        return _skills(held) or (UNLABELLED,)
    return (UNLABELLED if held is None or held == "" else str(held),)


@lru_cache(maxsize=1024)
def _skills(encoded: str) -> tuple[str, ...]:
    try:
        held = json.loads(encoded)
    except (ValueError, RecursionError):  # a stranger wrote it
        return ()
    return tuple(dict.fromkeys(map(str, held[:MOST_SKILLS]))) if isinstance(held, list) else ()
