"""A task of lm-evaluation-harness (Gao et al., 2021): YAML, a module that imports our grader, and the questions.

Nothing is rendered: prompt, system prompt and correct reply are columns that the task names and the harness uses
unchanged. The k instances are separate documents; figures over items use the items' names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import Exporter, Files, json_line, json_text
from dia_runtime.integrations.exporting.question_rows import ROWS, prompt, rows, task_module, task_name

MEANS = ("correct", "skipped", "unparsed", "points", "correct_clustered")
OVER_ITEMS = ("rs", "conf", "nms", "tsr", "correct_clustered_stderr")
LOWER_IS_BETTER = frozenset({"skipped", "unparsed", "correct_clustered_stderr"})
TOKENS = 8192
DATASET = '''
def dataset(**options):
    """The questions in this folder."""
    return dataset_beside(__file__)
'''


class LmEval(Exporter):
    """A folder for `--include_path`."""

    summary = "lm-evaluation-harness: a task with its scorer"

    def files(self, bundle: Bundle) -> Files:
        """Return the task, its module, and the questions."""
        name = task_name(bundle)
        yield f"{name}.yaml", iter([_task(bundle, name).encode()])
        yield "utils.py", iter([_module(name)])
        yield ROWS, _lines(bundle)


def _module(name: str) -> bytes:
    names = (*sorted(OVER_ITEMS), "dataset_beside", "process_results")
    return task_module(f"the functions of {name}.yaml", "for_lm_eval", names, behind=DATASET)


def _lines(bundle: Bundle) -> Iterator[bytes]:
    for row in rows(bundle, "lm-eval"):
        system, user = prompt(row)
        columns = {name: value for name, value in row.items() if name not in ("messages", "assets")}
        yield json_line(columns | {"dia_system": system, "dia_prompt": user})


def _task(bundle: Bundle, name: str) -> str:
    """Return the task as YAML: JSON values, one key per line, except for calls of functions."""
    head: dict[str, Any] = {
        "task": name,
        "custom_dataset": "!function utils.dataset",
        "test_split": "test",
        "output_type": "generate_until",
        "description": "dia_system",
        "doc_to_text": "dia_prompt",
        "doc_to_target": "target",
        "process_results": "!function utils.process_results",
        "generation_kwargs": {"until": [], "max_gen_toks": TOKENS, "temperature": 0.0, "do_sample": False},
        "num_fewshot": 0,
        "repeats": 1,
        "target_delimiter": "",
        "metadata": {"version": 1.0, "bundle_id": bundle.id, "questions_root": bundle.questions_root},
    }
    lines = [f"{key}: {_yaml_value(value)}" for key, value in head.items()]
    return (
        "\n".join([*lines, "metric_list:", *(text for metric in (*MEANS, *OVER_ITEMS) for text in _metric(metric))])
        + "\n"
    )


def _yaml_value(value: Any) -> str:
    is_call = isinstance(value, str) and value.startswith("!function ")
    return str(value) if is_call else json_text(value)


def _metric(name: str) -> list[str]:
    aggregation = "mean" if name in MEANS else f"!function utils.{name}"
    better = "false" if name in LOWER_IS_BETTER else "true"
    return [f"  - metric: {name}", f"    aggregation: {aggregation}", f"    higher_is_better: {better}"]
