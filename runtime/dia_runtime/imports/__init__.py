"""Replies from elsewhere: one module a foreign format, and the run that their rows become."""

from __future__ import annotations

from dia_runtime.imports import inspect_log, json_lines, lighteval, lm_eval, openai_batch, parquet, promptfoo, separated
from dia_runtime.imports.base import Reader, Row

__all__ = ["LOGS", "READERS", "Reader", "Row"]

# Logs of harnesses, whose fields are known; a bundle's own are joined to it.
LOGS: dict[str, Reader] = {
    "inspect": inspect_log.rows,
    "lighteval": lighteval.rows,
    "lm-eval": lm_eval.rows,
    "openai-batch": openai_batch.rows,
    "promptfoo": promptfoo.rows,
}
READERS: dict[str, Reader] = {
    **LOGS,
    "csv": separated.rows,
    "jsonl": json_lines.rows,
    "parquet": parquet.rows,
}
