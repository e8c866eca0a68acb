"""The tasks that Inspect finds by the entry point `dia`, under the names `dia/...`."""

from __future__ import annotations

from dia_runtime.integrations.inspect.task import dia_bench
from inspect_ai._eval.registry import task_register

# Inspect would name them after the Python package, dia_runtime/...
task_register(dia_bench, "dia/dia_bench", {}, ["bundle", "tools", "sandbox", "prefill"])
