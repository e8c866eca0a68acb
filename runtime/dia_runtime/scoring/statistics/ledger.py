"""The marks of a respondent question by question, so that it can be compared over the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from dia_runtime.grading.verdicts import Mark
from dia_runtime.scoring.metrics import Tally, tally

Asked = dict[int, Mark]  # instance of an item, or over attempts the attempt at a question -> its mark
Marks = dict[Hashable, Asked]  # item, or over attempts item and instance -> its marks


class Ledger:
    """The marks of each wording; `None` is the wording without a variant."""

    def __init__(self) -> None:
        self.wordings: dict[str | None, Marks] = {}

    def add(self, variant: str | None, item: Hashable, question: int, entry: Mark) -> None:
        """Takes the mark of one reply."""
        wording = self.wordings.setdefault(variant, {})
        asked = wording.get(item)
        if asked is None:
            asked = wording[item] = {}
        asked[question] = entry

    @property
    def base(self) -> Marks:
        """The marks of the questions without a variant."""
        return self.wordings.get(None, {})


def is_same(marks: Sequence[Marks]) -> bool:
    """Whether all have marks of the same questions."""
    asked = [{item: held.keys() for item, held in each.items()} for each in marks]
    return all(each == asked[0] for each in asked)


Row = tuple[Tally, ...]


def shared(marks: list[Marks]) -> Iterator[list[tuple[Mark, ...]]]:
    """Item by item the marks of the questions that all have, each question's side by side."""
    for item in marks[0] if marks else ():
        if all(item in held for held in marks):
            asked = [held[item] for held in marks]
            keys = [key for key in asked[0] if all(key in held for held in asked)]
            if keys:
                yield [tuple(held[key] for held in asked) for key in keys]


def beside(marks: list[Marks]) -> tuple[Mapping[Row, int], int]:
    """How many items have these tallies, one for each of the respondents, and how many questions all of them have."""
    rows: Counter[Row] = Counter()
    questions = 0
    for together in shared(marks):
        questions += len(together)
        rows[tuple(tally(column) for column in zip(*together, strict=True))] += 1
    return rows, questions
