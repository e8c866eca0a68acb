"""Exporters: one module per harness, in a literal table, and those of installed packages."""

from __future__ import annotations

from typing import Any

from dia_language.plugins import Registry
from dia_runtime.integrations.dia_bench.export import DiaBench
from dia_runtime.integrations.exporting.base import Exporter
from dia_runtime.integrations.huggingface.export import HuggingFace
from dia_runtime.integrations.inspect.export import Inspect
from dia_runtime.integrations.jsonl.export import JsonLines
from dia_runtime.integrations.lighteval.export import Lighteval
from dia_runtime.integrations.lm_eval.export import LmEval
from dia_runtime.integrations.openai.export import OpenAiBatch
from dia_runtime.integrations.promptfoo.export import Promptfoo

__all__ = ["EXPORTERS", "Exporter"]


def plugin_fault(value: Any) -> str | None:
    """Return why an object of another package cannot be an exporter, or None if it can."""
    return (
        None if isinstance(value, Exporter) else "it is not an instance of dia_runtime.integrations.exporters.Exporter"
    )


OWN: dict[str, Exporter] = {
    "dia-bench": DiaBench(),
    "huggingface": HuggingFace(),
    "inspect": Inspect(),
    "jsonl": JsonLines(),
    "lighteval": Lighteval(),
    "lm-eval": LmEval(),
    "openai-batch": OpenAiBatch(),
    "promptfoo": Promptfoo(),
}
EXPORTERS: Registry[Exporter] = Registry("dia.exporters", OWN, plugin_fault)
