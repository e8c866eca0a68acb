"""The parts of a custom task of lighteval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dia_runtime.integrations.exported_tasks import figures
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.integrations.lighteval.export import QUESTIONS
from dia_runtime.integrations.lm_eval.export import TOKENS
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import MetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

MEANS = ("correct", "skipped", "unparsed", "points")
OVER_ITEMS = ("rs", "conf", "nms", "tsr")
BY_ITEM = "correct_clustered"
CLUSTERED = f"{BY_ITEM}_stderr"
UP = {name: name not in ("skipped", "unparsed", CLUSTERED) for name in (*MEANS, *OVER_ITEMS, CLUSTERED)}


class Verdict(SampleLevelComputation):
    """The verdict of dia's own grader."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, Any]:
        """Return what is averaged, and the entries of figures over items, for the reply to one question."""
        row = doc.specific or {}
        grade = grade_reply(row, (model_response.text or [""])[0])
        entry = figures.figure_entry(row["item"], grade)
        return {**grade.figures(), **dict.fromkeys((*OVER_ITEMS, CLUSTERED), entry)}


# lighteval bootstraps every figure that is a number. It draws questions instead of items, and divides its standard
# error by the root of the number of draws. It takes a mapping as it is: names ending in `_stderr` are errors.


def rs_of(entries: Sequence[str]) -> dict[str, float]:
    """Return RS@k and its standard error over items."""
    return {"rs": figures.rs(entries), "rs_stderr": figures.over_items_stderr("rs", entries)}


def conf_of(entries: Sequence[str]) -> dict[str, float]:
    """Return Conf@k and its standard error over items."""
    return {"conf": figures.conf(entries), "conf_stderr": figures.over_items_stderr("conf", entries)}


def nms_of(entries: Sequence[str]) -> dict[str, float]:
    """Return NMS@k and its standard error over items."""
    return {"nms": figures.nms(entries), "nms_stderr": figures.over_items_stderr("nms", entries)}


def tsr_of(entries: Sequence[str]) -> dict[str, float]:
    """Return the mean TSR@(t,k), which has no standard error."""
    return {"tsr": figures.tsr(entries)}


def clustered(entries: Sequence[str]) -> dict[str, float]:
    """Return the share of correct replies again, with its standard error clustered by item."""
    return {BY_ITEM: figures.correct_share(entries), CLUSTERED: figures.correct_clustered_stderr(entries)}


AGGREGATED = {"rs": rs_of, "conf": conf_of, "nms": nms_of, "tsr": tsr_of, CLUSTERED: clustered}


def asked(row: Mapping[str, Any], task_name: str | None = None) -> Doc:
    """Return a question for lighteval, without any text before or after its prompt."""
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
        corpus_level_fn={**dict.fromkeys(MEANS, np.mean), **AGGREGATED},
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
