"""The truth of session questions: replies of a transcript to a verdict, decisions, a ranking and declared figures."""

from __future__ import annotations

from dia_runtime.truth.outcome import Decision, Order, Outcome
from dia_runtime.truth.said import Heard, heard
from dia_runtime.truth.weigh import weigh

__all__ = ["Decision", "Heard", "Order", "Outcome", "heard", "weigh"]
