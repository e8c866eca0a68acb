"""The truth of session questions: replies of a transcript to a verdict, decisions, a ranking and declared figures."""

from __future__ import annotations

from dia_runtime.grading.sessions.evaluate import weigh
from dia_runtime.grading.sessions.outcome import Decision, Order, Outcome
from dia_runtime.grading.sessions.typed_replies import Heard, heard

__all__ = ["Decision", "Heard", "Order", "Outcome", "heard", "weigh"]
