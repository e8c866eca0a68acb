"""The marks of a respondent by question, so that respondents can be compared on the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from dia_runtime.grading.verdicts import Mark
from dia_runtime.scoring.metrics import Tally, tally

ItemMarks = dict[int, Mark]  # instance of an item, or over attempts the attempt at a question -> its mark
Marks = dict[Hashable, ItemMarks]  # item, or over attempts item and instance -> its marks
Row = tuple[Tally, ...]


class Ledger:
    """The marks of each wording; `None` is the wording without a variant."""

    def __init__(self) -> None:
        self.wordings: dict[str | None, Marks] = {}

    def add(self, variant: str | None, item: Hashable, question: int, entry: Mark) -> None:
        """Add the mark of one reply."""
        self.wordings.setdefault(variant, {}).setdefault(item, {})[question] = entry

    @property
    def base(self) -> Marks:
        """Return the marks of the questions without a variant."""
        return self.wordings.get(None, {})


def have_same_questions(marks: Sequence[Marks]) -> bool:
    questions = [{item: of_item.keys() for item, of_item in each.items()} for each in marks]
    return all(each == questions[0] for each in questions)


def shared_questions(marks: Sequence[Marks]) -> Iterator[list[tuple[Mark, ...]]]:
    """Yield, item by item, the marks of the questions that all respondents have, those of a question together."""
    for item in marks[0] if marks else ():
        if all(item in each for each in marks):
            of_item = [each[item] for each in marks]
            keys = [key for key in of_item[0] if all(key in each for each in of_item)]
            if keys:
                yield [tuple(each[key] for each in of_item) for key in keys]


def aligned(marks: Sequence[Marks]) -> tuple[Mapping[Row, int], int]:
    """Return how many items have these tallies, one for each of the respondents.

    Also returns how many questions all of them have.
    """
    rows: Counter[Row] = Counter()
    questions = 0
    for item in shared_questions(marks):
        questions += len(item)
        rows[tuple(tally(column) for column in zip(*item, strict=True))] += 1
    return rows, questions
