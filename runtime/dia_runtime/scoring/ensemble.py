"""Several respondents as one: each question gets the answer, or the outcome, that most of them gave.

In a vote of answers, all correct answers vote together, and wrong ones if they are spelled alike, apart from Markdown
around them that the chain ignores. A vote of outcomes only distinguishes correct, skipped and wrong, so that different
wrong answers add up. A reply without a readable answer has no vote among answers and is wrong among outcomes; an error
never votes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction

from dia_runtime.bundle.open import Bundle
from dia_runtime.grading.judge import NO_MISTAKES, Judge, Judged, Rules, reading
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.accumulate import Accumulator, FigureOptions
from dia_runtime.scoring.align import aligned_replies, respondent_names
from dia_runtime.scoring.results import Ensemble
from dia_runtime.store.store import Store


@dataclass(frozen=True, slots=True)
class Policy:
    """What is voted on; the result of a tie; whether a skip is a vote, or is ignored if there are answers."""

    votes: str = "vote"
    ties: str = "skip"
    skips: str = "count"


def ensemble_result(
    stores: Sequence[Store], rules: Rules, source: Bundle | None, options: FigureOptions, policy: Policy
) -> Ensemble:
    """Return the figures of the ensemble of all respondents, with the keys of a model, and its policy."""
    accumulator, members = Accumulator(options), respondent_names(stores)
    firsts = replace(rules, over="instances")
    with closing(Judge(stores[0], firsts, source)) as judge:
        for replies in aligned_replies(stores, firsts, source):
            accumulator.add(_elected([entry.judged for entry in replies], judge, policy))
    title = f"{'vote' if policy.votes == 'vote' else 'outcome vote'} of {len(members)}"
    _, questions, _, _ = stores[0].sizes()
    return {
        "model": title,
        "members": members,
        "votes": policy.votes,
        "ties": policy.ties,
        "skips": policy.skips,
        **accumulator.result(title, questions - accumulator.questions),
    }


def _elected(entries: Sequence[Judged], judge: Judge, policy: Policy) -> Judged:
    """Return the reply of the ensemble: a winning one, or the result of a tie."""
    vote: Callable[[Judged], str | None] = reading if policy.votes == "vote" else _outcome
    votes = Counter(choice for choice in map(vote, entries) if choice is not None)
    if policy.skips == "ignore" and len(votes) > 1:
        del votes[Verdict.SKIPPED]
    if not votes:  # no answers: unparsed, unless all have errors that a retry may fix
        silent = [entry for entry in entries if entry.mark.verdict is not Verdict.ERROR]
        return (silent or entries)[0]
    most = max(votes.values())
    winners = {choice for choice, number in votes.items() if number == most}
    if len(winners) > 1 and policy.ties != "first":
        first = next(entry for entry in entries if entry.mark.verdict is not Verdict.ERROR)  # it has a share
        abstention = Verdict.CORRECT if first.unanswerable else Verdict.SKIPPED
        return _as(first, abstention if policy.ties == "skip" else Verdict.WRONG, judge)
    return next(entry for entry in entries if vote(entry) in winners)


def _outcome(entry: Judged) -> str | None:
    verdict = entry.mark.verdict
    return None if verdict is Verdict.ERROR else Verdict.WRONG if verdict.counts_as_wrong else verdict


def _as(entry: Judged, verdict: Verdict, judge: Judge) -> Judged:
    """Return the entry with another verdict, which no single reply has."""
    mark = judge.marks(entry.question.points)[verdict]
    share = None if entry.share is None else Fraction(verdict is Verdict.CORRECT)
    return entry._replace(
        mark=mark, flags=frozenset(), mistakes=NO_MISTAKES, share=share, extracted=None, step=None, answer_text=None
    )
