"""Choose the code that makes the instances of a template: with an answer, or with sessions."""

from __future__ import annotations

from dia_compiler.analyze.plan import Prepared
from dia_compiler.analyze.settings import Settings
from dia_compiler.analyze.worker_resources import NO_RESOURCES, WorkerResources
from dia_compiler.generate.expand import Expansion


def expansion_of(prepared: Prepared, settings: Settings, resources: WorkerResources = NO_RESOURCES) -> Expansion:
    """Return the expansion of the template: for questions with answers, or for sessions."""
    if prepared.session_plan is None:
        return Expansion(prepared, settings, resources)
    from dia_compiler.generate.session_expand import SessionExpansion  # slow, and needed by few templates

    return SessionExpansion(prepared, settings, resources)
