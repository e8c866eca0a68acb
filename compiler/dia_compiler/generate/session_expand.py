"""Make instances of sessions from drawn parameters, in every wording."""

from __future__ import annotations

from dia_compiler.analyze.domains import Scope
from dia_compiler.analyze.plan import Prepared, Reached, Wording
from dia_compiler.analyze.sessions.plan import Piece
from dia_compiler.analyze.settings import Settings
from dia_compiler.analyze.stored_conditions import reached
from dia_compiler.analyze.worker_resources import NO_RESOURCES, WorkerResources
from dia_compiler.generate.expand import Draft, Expansion, Grading, Instance
from dia_compiler.generate.session_render import Making
from dia_compiler.sampling.instance_tree import RecordingChoose
from dia_language.answers import answer_type
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.grading.grader import Grader


class SessionExpansion(Expansion):
    """Makes the instances of one prepared template of sessions under one seed."""

    def __init__(self, prepared: Prepared, settings: Settings, resources: WorkerResources = NO_RESOURCES) -> None:
        super().__init__(prepared, settings, resources)
        assert prepared.session_plan is not None
        self.session_plan = prepared.session_plan
        self.reaches: dict[int, Reached] = {}
        self.proved: set[int] = set()
        text, format = {"type": "text"}, {"kind": "whole", "skip": settings.skip, "rules": settings.format["rules"]}
        kind = answer_type(text)
        instruction = self.settings.instruction("in your own words", format)
        self.free = Grading(text, format, kind, Grader(text, format), "", instruction, False)

    def make(self, draft: Draft, wording: Wording) -> Instance:
        """Return the instance of a draft in a wording. Raises DiaError if a part fails."""
        prepared, scope = self.prepared, draft.scope
        self.derive(draft)
        self.check(scope, None)
        challenge = self.challenge(scope, self.free, wording) if self.session_plan.judge is not None else ""
        content = self.content(challenge, self.free) if self.session_plan.judge is not None else ""
        rendered = Making(self, self.visible_scope(scope, self.free, wording), wording, content)
        rendered_sessions = rendered.sessions()
        return Instance(
            item=draft.item,
            number=draft.number,
            position=draft.position,
            variant=wording.name,
            parameters={name: scope[name] for name in prepared.makers},
            grading=self.free,
            answer=None,
            text="",
            accept=(),
            accept_if=None,
            mistakes={},
            challenge=challenge,
            content=content,
            explanation=prepared.explanation(rendered.scope) if prepared.explanation else None,
            skills=self.skills(scope),
            scope=scope,
            rendered_sessions=rendered_sessions,
        )

    def reworded(self, base: Instance, scope: Scope, wording: Wording) -> Instance:
        """Return the instance in another wording, whose sessions are rendered and tested like those of the base."""
        choose, scope = self.redrawn(base, scope, wording)
        return self.make_variant(base, scope, wording, choose)

    def make_variant(self, base: Instance, scope: Scope, wording: Wording, choose: RecordingChoose) -> Instance:
        variant = super().make_variant(base, scope, wording, choose)
        assert variant.rendered_sessions is not None and base.rendered_sessions is not None
        if variant.rendered_sessions.truth != base.rendered_sessions.truth:
            message = f"the variant `{wording.name}` is graded differently from its instance"
            help = "redraw only parameters that the grading does not depend on"
            raise DiaError(Diagnostic("E511", message, wording.position, help))
        return variant

    def reach(self, piece: Piece) -> Reached:
        """Return what a piece uses; cached."""
        key = id(piece)
        if key not in self.reaches:
            self.reaches[key] = reached(self.prepared, piece.parsed)
        return self.reaches[key]
