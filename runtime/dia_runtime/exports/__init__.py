"""Exporters: one module another harness, in a literal table, and what installed packages add to them."""

from __future__ import annotations

from typing import Any

from dia_runtime.exports.base import Exporter
from dia_runtime.exports.dia_bench import DiaBench
from dia_runtime.exports.huggingface import HuggingFace
from dia_runtime.exports.inspect import Inspect
from dia_runtime.exports.jsonl import JsonLines
from dia_runtime.exports.lighteval import Lighteval
from dia_runtime.exports.lm_eval import LmEval
from dia_runtime.exports.openai_batch import OpenAiBatch
from dia_runtime.exports.promptfoo import Promptfoo
from dia_runtime.language.plugins import Registry

__all__ = ["EXPORTERS", "Exporter"]


def plugin_fault(held: Any) -> str | None:
    """What keeps a thing of another package from being an exporter, or None."""
    return None if isinstance(held, Exporter) else "it is no instance of dia_runtime.exports.Exporter"


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
