"""Run the sessions of one question: independent ones in parallel, turns in order, each after what it needs.

What was kept of a question before is not asked again: a turn that was asked the same is taken as it is. Stored code of
the bundle (conditions, lists, texts that read replies) is evaluated in a worker that can be killed.
"""

from __future__ import annotations

from dia_runtime.running.sessions.backend import SessionBackend, Unfinished
from dia_runtime.running.sessions.evaluator import CodeEvaluator
from dia_runtime.running.sessions.runner import SessionRunner

__all__ = ["CodeEvaluator", "SessionBackend", "SessionRunner", "Unfinished"]
