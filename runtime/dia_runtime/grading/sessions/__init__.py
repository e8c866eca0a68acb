"""The truth of session questions: from the replies of a transcript to a verdict, decisions, a ranking and figures."""

from __future__ import annotations

from dia_runtime.grading.sessions.evaluate import evaluate_truth
from dia_runtime.grading.sessions.outcome import Decision, Order, Outcome
from dia_runtime.grading.sessions.typed_replies import TypedReplies, typed_replies

__all__ = ["Decision", "Order", "Outcome", "TypedReplies", "evaluate_truth", "typed_replies"]
