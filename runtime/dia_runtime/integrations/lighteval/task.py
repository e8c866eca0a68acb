"""What a custom task of lighteval is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dia_runtime.integrations.exported_tasks import figures
from dia_runtime.integrations.exported_tasks.figures import conf, nms, rs, tsr
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.integrations.lighteval.export import QUESTIONS
from dia_runtime.integrations.lm_eval.export import TOKENS
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import MetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

MEANS = ("correct", "skipped", "unparsed", "points")
OVER_ITEMS = {"rs": rs, "conf": conf, "nms": nms, "tsr": tsr}
CLUSTERED = "correct_clustered_stderr"
UP = {name: name not in ("skipped", "unparsed", CLUSTERED) for name in (*MEANS, *OVER_ITEMS, CLUSTERED)}


class Verdict(SampleLevelComputation):
    """The verdict of dia-spec's own grader."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, Any]:
        """What is averaged, and what each figure over items is handed, of the reply to one question."""
        row = doc.specific or {}
        grade = grade_reply(row, (model_response.text or [""])[0])
        entry = figures.figure_entry(row["item"], grade)
        return {**grade.figures(), **dict.fromkeys((*OVER_ITEMS, CLUSTERED), entry)}


def clustered(entries: Sequence[str]) -> dict[str, float]:
    """Return the standard error clustered by item; a mapping, of which lighteval makes no bootstrap."""
    return {CLUSTERED: figures.correct_clustered_stderr(entries)}


def asked(row: Mapping[str, Any], task_name: str | None = None) -> Doc:
    """Return a question for lighteval, with nothing before or after its prompt."""
    return Doc(
        task_name=task_name or "",
        query=row["dia_prompt"],
        choices=[row["target"]],
        gold_index=0,
        specific={name: value for name, value in row.items() if name != "dia_prompt"},
    )


def task_beside(module: str, name: str) -> LightevalTaskConfig:
    """Return the task of the questions in the folder of a module."""
    metric = MetricGrouping(
        metric_name=list(UP),
        higher_is_better=UP,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=Verdict(),
        corpus_level_fn={**dict.fromkeys(MEANS, np.mean), **OVER_ITEMS, CLUSTERED: clustered},
    )
    return LightevalTaskConfig(
        name=name,
        prompt_function=asked,
        hf_repo=str((Path(module).resolve().parent / QUESTIONS).parent),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[metric],
        generation_size=TOKENS,
        stop_sequence=[],
        version=1,
    )
