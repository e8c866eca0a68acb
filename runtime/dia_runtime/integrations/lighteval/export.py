"""A custom task of lighteval (Hugging Face): a task file, and the questions as a data set in a separate folder.

The metrics are functions of an installed package, because lighteval runs the task file twice and passes metrics to
other processes for its bootstrap. It does not support a system prompt per question, so questions with one are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import Exporter, Files, json_line
from dia_runtime.integrations.exporting.question_rows import prompt, require_one_turn, rows, task_module, task_name

QUESTIONS = "data/test.jsonl"
TABLE = """
TASKS_TABLE = [task_beside(__file__, "{name}")]
"""


class Lighteval(Exporter):
    """A folder with a task file for `--custom-tasks`."""

    summary = "lighteval: a custom task with its metrics"

    def files(self, bundle: Bundle) -> Files:
        """Return the task file and the questions."""
        name = task_name(bundle)
        module = task_module(f"the task {name}", "for_lighteval", ("task_beside",), behind=TABLE.format(name=name))
        yield f"{name}.py", iter([module])
        yield QUESTIONS, _lines(bundle)


def _lines(bundle: Bundle) -> Iterator[bytes]:
    for row in rows(bundle, "lighteval"):
        require_one_turn(row, "lighteval")
        columns = {name: value for name, value in row.items() if name not in ("messages", "assets")}
        yield json_line(columns | {"variant": row["variant"] or "", "dia_prompt": prompt(row)[1]})
