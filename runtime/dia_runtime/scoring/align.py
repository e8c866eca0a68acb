"""The replies of several respondents to the same questions, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from heapq import merge
from itertools import groupby
from typing import NamedTuple

from dia_runtime.bundle.open import Bundle
from dia_runtime.grading.judge import Judge, Judged, Rules
from dia_runtime.store.store import Store


class AlignedReply(NamedTuple):
    """A judged reply and the position of its respondent."""

    position: int
    respondent: int
    judged: Judged


def respondent_names(stores: Sequence[Store]) -> list[str]:
    """Return the respondents of all runs; names that occur in several runs are followed by that of the run."""
    pairs = [(respondent.name, store.path.name) for store in stores for respondent in store.respondents()]
    counts = Counter(name for name, _ in pairs)
    return [f"{name} ({run})" if counts[name] > 1 else name for name, run in pairs]


def aligned_replies(stores: Sequence[Store], rules: Rules, source: Bundle | None) -> Iterator[list[AlignedReply]]:
    """Yield each question's replies, ordered by respondent; questions keep their order."""
    with ExitStack() as stack:
        streams, number = [], 0
        for store in stores:
            judge = stack.enter_context(closing(Judge(store, rules, source)))
            for respondent in store.respondents():
                streams.append(_numbered(judge, respondent.id, number))
                number += 1
        for _, replies in groupby(merge(*streams, key=lambda entry: entry[:2]), key=lambda entry: entry.position):
            yield list(replies)


def _numbered(judge: Judge, respondent: int, number: int) -> Iterator[AlignedReply]:
    for entry in judge.judged(respondent):
        yield AlignedReply(entry.question.position, number, entry)
