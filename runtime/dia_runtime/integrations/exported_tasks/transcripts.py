"""Grade transcripts of exported session questions exactly as `dia score` grades them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dia_runtime.grading.sessions.judging import Truth, judge_transcript, truth_of
from dia_runtime.grading.verdicts import Exact, Verdict, mark
from dia_runtime.integrations.exported_tasks.grading import WORKER, Graded, Row, parsed, points_of, unusable_row_error


class GradedTranscript(NamedTuple):
    """The verdict on a transcript with its points, and the share of full marks."""

    grade: Graded
    share: Exact

    def figures(self) -> dict[str, float]:
        """Return the verdict and the share as numbers that a harness can average."""
        return {**self.grade.figures(), "share": float(self.share)}


def grade_transcript(row: Row, transcript: str, chain: str = "standard") -> GradedTranscript:
    """Return the grade of a transcript of an exported row. Raises DiaError for a row without sessions.

    If the truth gives no share, for example because a reply is missing, the share is 1 for correct and 0 for other
    verdicts.
    """
    try:
        grading, points = str(row["grading"]), str(row["points"])
    except KeyError as error:
        raise unusable_row_error(f"a row has no {error}") from None
    outcome = judge_transcript(_truth(grading), transcript, chain, WORKER).outcome
    worth = mark(outcome.verdict, points_of(points)).low
    return GradedTranscript(
        Graded(outcome.verdict, None, worth),
        int(outcome.verdict is Verdict.CORRECT) if outcome.share is None else outcome.share,
    )


def without_sessions(grade: Graded) -> GradedTranscript:
    """Return the grade of an ordinary question in the form of a session question's grade."""
    return GradedTranscript(grade, int(grade.verdict is Verdict.CORRECT))


@lru_cache(maxsize=1 << 10)
def _truth(encoded: str) -> Truth:
    return truth_of(parsed(encoded))
