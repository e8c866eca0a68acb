"""Replies from other tools: one reader for each format, by the name that `dia import --from` takes.

A reader is the function `rows` of a module, which is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module

from dia_runtime.integrations.reading.base import Reader, Row

__all__ = ["LOGS", "READERS", "TABLES", "Reader", "Row", "reader_of"]

# Logs of harnesses, whose fields are known; logs about a bundle are joined to it.
LOGS = {
    "inspect": "dia_runtime.integrations.inspect.logs",
    "lm-eval": "dia_runtime.integrations.lm_eval.logs",
    "lighteval": "dia_runtime.integrations.lighteval.logs",
    "promptfoo": "dia_runtime.integrations.promptfoo.logs",
    "openai-batch": "dia_runtime.integrations.openai.logs",
}
# Tables, for which the user says what each column contains.
TABLES = {
    "jsonl": "dia_runtime.integrations.reading.json_lines",
    "csv": "dia_runtime.integrations.reading.csv",
    "parquet": "dia_runtime.integrations.reading.parquet",
}
READERS = LOGS | TABLES


def reader_of(name: str) -> Reader:
    reader: Reader = import_module(READERS[name]).rows
    return reader
