"""Functions that a task of lm-evaluation-harness calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dia_runtime.integrations.exported_tasks.figures import conf, correct_clustered_stderr, figure_entry, nms, rs, tsr
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.integrations.exported_tasks.rows import rows
from dia_runtime.integrations.exporting.question_rows import ROWS

__all__ = ["conf", "correct_clustered_stderr", "dataset_beside", "nms", "process_results", "rs", "tsr"]


def dataset_beside(module: str) -> Any:
    """Return the questions in the folder of a module as splits of a dataset, which the harness expects."""
    import datasets

    questions = datasets.Dataset.from_list(list(rows(Path(module).with_name(ROWS))))
    return datasets.DatasetDict({"test": questions})


def process_results(row: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return what the harness averages, and the entries of figures over items, for the reply to one question."""
    grade = grade_reply(row, results[0])
    figures = grade.figures()
    entries = dict.fromkeys(OVER_ITEMS, figure_entry(row["item"], grade))
    return {**figures, BY_ITEM: figures["correct"], **entries}


# The harness has no row in its tables for a metric whose name ends in `_stderr`; it shows it as the error of the metric
# without that ending. It also writes that error itself, so `correct_clustered` comes first and ours replaces it.
BY_ITEM = "correct_clustered"
OVER_ITEMS = ("rs", "conf", "nms", "tsr", "correct_clustered_stderr")
