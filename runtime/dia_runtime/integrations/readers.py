"""Replies from elsewhere: one reader for each foreign format, by the name that `dia import --from` takes."""

from __future__ import annotations

from dia_runtime.integrations.inspect import logs as inspect
from dia_runtime.integrations.lighteval import logs as lighteval
from dia_runtime.integrations.lm_eval import logs as lm_eval
from dia_runtime.integrations.openai import logs as openai
from dia_runtime.integrations.promptfoo import logs as promptfoo
from dia_runtime.integrations.reading import csv, json_lines, parquet
from dia_runtime.integrations.reading.base import Reader, Row

__all__ = ["LOGS", "READERS", "Reader", "Row"]

# Logs of harnesses, whose fields are known; a bundle's own are joined to it.
LOGS: dict[str, Reader] = {
    "inspect": inspect.rows,
    "lighteval": lighteval.rows,
    "lm-eval": lm_eval.rows,
    "openai-batch": openai.rows,
    "promptfoo": promptfoo.rows,
}
READERS: dict[str, Reader] = {
    **LOGS,
    "csv": csv.rows,
    "jsonl": json_lines.rows,
    "parquet": parquet.rows,
}
