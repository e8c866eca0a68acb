"""Exporters: one module per harness, in a literal table, and those of installed packages."""

from __future__ import annotations

from dia_language.plugins import Registry, instance_of
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
EXPORTERS: Registry[Exporter] = Registry(
    "dia.exporters", OWN, instance_of(Exporter, "dia_runtime.integrations.exporters.Exporter")
)
