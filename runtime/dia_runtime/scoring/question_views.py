"""What several respondents make of each question: where they agree, where they fail, and how long they speak."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import heappush, heapreplace
from itertools import combinations
from math import atanh, sqrt, tanh
from typing import Any

from dia_runtime.grading.judge import Judged, Rules, reading
from dia_runtime.grading.verdicts import OF_REPLIES, Verdict
from dia_runtime.scoring.align import Said, beside, names
from dia_runtime.scoring.score import Place, opened
from dia_runtime.store.store import bundle_facts
from dia_runtime.store.transcripts import subject_characters

MOST_MODELS = 30  # whose skips are compared, each with each
Z = 1.959963984540054  # of the normal distribution, for an interval of 95 %


def views(
    runs: Place | Sequence[Place], chain: str = "strict", bundle: Place | None = None, limit: int = 20
) -> dict[str, Any]:
    """The views over all respondents' first replies, as `dia questions --json` prints them.

    Of questions that a view lists, the first `limit` are named; all are counted.
    """
    with opened(runs, bundle) as (stores, source):
        facts = bundle_facts(stores[0])
        found = _Views(names(stores), limit)
        for said in beside(stores, Rules(chain), source):
            found.add(said)
        top = {name: facts[name] for name in ("questions_root", "benchmark", "version")}
    return {**top, "chain": chain, **found.as_json()}


class _Views:
    """The views of the questions that have been added."""

    def __init__(self, models: list[str], limit: int) -> None:
        self.models, self.limit = models, limit
        self.questions = 0
        self.unanimous: dict[str, list[str]] = {verdict: [] for verdict in OF_REPLIES}
        self.agreed: Counter[str] = Counter()
        self.hardest: list[tuple[float, int, dict[str, Any]]] = []
        self.same: list[dict[str, Any]] = []
        self.same_count = 0
        self.skips: dict[tuple[int, int], Counter[tuple[bool, bool]]] = defaultdict(Counter)
        self.lengths: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
        self.tokens: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, said: Sequence[Said]) -> None:
        """Takes one question's replies."""
        self.questions += 1
        entries = [entry.judged for entry in said]
        verdicts = {entry.mark.verdict for entry in entries}
        if len(said) == len(self.models) > 1 and len(verdicts) == 1 and (verdict := verdicts.pop()) in self.unanimous:
            self.agreed[verdict] += 1
            if self.agreed[verdict] <= self.limit:
                self.unanimous[verdict].append(entries[0].question.id)
        self._rank(said)
        self._compare(said)
        has_skipped = [(entry.respondent, entry.judged.mark.verdict is Verdict.SKIPPED) for entry in said[:MOST_MODELS]]
        for (one, first), (other, second) in combinations(has_skipped, 2):
            self.skips[one, other][first, second] += 1
        for entry in said:
            self._measure(entry)

    def _rank(self, said: Sequence[Said]) -> None:
        """Keeps the questions with the smallest share of right replies; of equals the first."""
        entries = [entry.judged for entry in said]
        counts = Counter(entry.mark.verdict for entry in entries)
        share = counts[Verdict.CORRECT] / len(entries)
        if not self.limit or (len(self.hardest) == self.limit and -share <= self.hardest[0][0]):
            return
        held = {
            "question": entries[0].question.id,
            "truth": entries[0].truth,
            "counts": {verdict: counts[verdict] for verdict in Verdict},
            "said": dict(Counter(_shown(entry) for entry in entries).most_common()),
        }
        push = heappush if len(self.hardest) < self.limit else heapreplace
        push(self.hardest, (-share, -self.questions, held))

    def _compare(self, said: Sequence[Said]) -> None:
        """Keeps a wrong answer that several gave, where it is the only wrong one."""
        wrong = [entry for entry in said if entry.judged.mark.verdict is Verdict.WRONG and reading(entry.judged)]
        if len(wrong) < 2 or len({reading(entry.judged) for entry in wrong}) > 1:
            return
        self.same_count += 1
        if len(self.same) < self.limit:
            first = wrong[0].judged
            who = [self.models[entry.respondent] for entry in wrong]
            place = {"question": first.question.id, "truth": first.truth}
            self.same.append({**place, "said": _shown(first), "models": who})

    def _measure(self, said: Said) -> None:
        reply, key = said.judged.reply, (said.respondent, said.judged.mark.verdict)
        if reply.text is not None:
            size = len(reply.text) if said.judged.sessions is None else subject_characters(reply.text)
            self.lengths[key][size] += 1
            if reply.completion_tokens is not None:
                self.tokens[key][0] += reply.completion_tokens
                self.tokens[key][1] += 1

    def as_json(self) -> dict[str, Any]:
        """The views as they are printed."""
        return {
            "models": self.models,
            "questions": self.questions,
            "unanimous": {
                name: {"count": self.agreed[name], "questions": held} for name, held in self.unanimous.items()
            },
            "hardest": [held for _, _, held in sorted(self.hardest, key=lambda entry: (-entry[0], -entry[1]))],
            "same_wrong": {"count": self.same_count, "questions": self.same},
            "skip_agreement": [
                {"models": [self.models[one], self.models[other]], **_agreement(found)}
                for (one, other), found in sorted(self.skips.items())
            ],
            "lengths": [
                {"model": model, "by_verdict": {verdict: self._length(at, verdict) for verdict in OF_REPLIES}}
                for at, model in enumerate(self.models)
            ],
        }

    def _length(self, respondent: int, verdict: str) -> dict[str, Any]:
        found = self.lengths.get((respondent, verdict), Counter())
        total, told = self.tokens.get((respondent, verdict), (0, 0))
        number = found.total()
        mean = sum(length * times for length, times in found.items()) / number if number else None
        tokens = total / told if told else None
        return {"n": number, "mean": mean, "median": _median(found), "mean_tokens": tokens}


def _agreement(found: Counter[tuple[bool, bool]]) -> dict[str, Any]:
    """Phi of two models' skips with its interval; none where one of them skips all or nothing."""
    both, first, second, none = (found[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    square = (both + first) * (second + none) * (both + second) * (first + none)
    counts = {"both": both, "first": first, "second": second, "neither": none}
    if not square:
        return {**counts, "phi": None, "ci": None}
    phi = (both * none - first * second) / sqrt(square)
    number = found.total()
    if number < 4 or abs(phi) >= 1:
        return {**counts, "phi": phi, "ci": None}
    width = Z / sqrt(number - 3)
    return {**counts, "phi": phi, "ci": [tanh(atanh(phi) - width), tanh(atanh(phi) + width)]}


def _shown(entry: Judged) -> str:
    """What the reply says, in short: the answer's text, else the verdict."""
    said = entry.said.strip() if entry.said is not None else f"({entry.mark.verdict})"
    return said if len(said) <= 100 else f"{said[:100]}..."


def _median(lengths: Counter[int]) -> float | None:
    """The middle length; between two the mean of both."""
    number, seen, low = lengths.total(), 0, None
    for length in sorted(lengths):
        seen += lengths[length]
        if low is None and 2 * seen >= number:
            if 2 * seen > number:
                return float(length)
            low = length
        elif low is not None:
            return (low + length) / 2
    return None
