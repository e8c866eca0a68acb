"""The effect of tools: each model with tools minus the same model without, on the same questions.

This answers the third research question of DIA-Bench (Dynamic Intelligence Assessment, arXiv:2410.15490): how models
with and without tools differ.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from dia_runtime.grading.verdicts import Mark, Verdict
from dia_runtime.scoring.results import ToolEffect
from dia_runtime.scoring.statistics.compare import comparison, differences
from dia_runtime.scoring.statistics.ledger import Marks, shared_questions
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.store.tool_transcripts import split_tools

TOOLS = "tools"  # the word that `--compare` takes besides the names of figures
FIGURES = ("rs", "conf", "idk_freq")


def tool_pairs(models: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of each respondent with tools and of the same one without, for every choice of tools.

    >>> tool_pairs(["a", "a+tools=python", "b", "a+tools=bash", "c+tools=bash"])
    [(1, 0), (3, 0)]
    """
    split = [split_tools(name) for name in models]
    without = {name: place for place, (name, tools) in enumerate(split) if not tools}
    return [(place, without[name]) for place, (name, tools) in enumerate(split) if tools and name in without]


def tool_effects(
    names: Sequence[str],
    models: Sequence[str],
    marks: Sequence[Marks],
    categories: Mapping[str, str],
    intervals: Intervals,
) -> list[ToolEffect]:
    """Return the effect of tools on the reliability score, on Conf and on abstention: over all items, then by category.

    `names` are all different; `models` are the names in the runs; `categories` maps items to their category.
    """
    effects: list[ToolEffect] = []
    for pair in tool_pairs(models):
        for category in (None, *dict.fromkeys(sorted(set(categories.values())))):
            part = [_of_category(marks[place], categories, category) for place in pair]
            errors = _errors(part)
            if not errors:
                continue
            for entry in differences(comparison([names[place] for place in pair], part, FIGURES, intervals)):
                effects.append({**entry, "at": list(pair), "category": category, "errors": errors})
    return effects


def _of_category(marks: Marks, categories: Mapping[str, str], category: str | None) -> Marks:
    return (
        marks if category is None else {key: of for key, of in marks.items() if categories.get(_item(key)) == category}
    )


def _item(key: Hashable) -> str:
    """Return the item of a key of marks: itself, or over attempts its item and instance."""
    return str(key[0] if isinstance(key, tuple) else key)


def _errors(marks: Sequence[Marks]) -> list[int]:
    """Return the number of errors of each on the questions that both were asked; empty without such questions."""
    columns = list(zip(*_flat(marks), strict=True))
    return [sum(mark.verdict is Verdict.ERROR for mark in column) for column in columns]


def _flat(marks: Sequence[Marks]) -> Iterator[tuple[Mark, ...]]:
    for item in shared_questions(marks):
        yield from item
