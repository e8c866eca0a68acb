"""Report replies that a `when` may have skipped, wherever they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dia_compiler.analyze.sessions.plan import Piece, SessionCode, SessionPlan, WeighCode
from dia_compiler.analyze.sessions.reply_flow import NOTHING, Body, Facts, Flow
from dia_compiler.analyze.wordings import Wordings
from dia_compiler.parse.sessions.model import Turn
from dia_language.diagnostics import DiaError, Position
from dia_language.expressions.syntax import ParsedExpression, parse
from dia_language.templates.templates import parse_template

DECIDED = ("answered", "valid", "decided")
ASK_FIRST = "check first: `... if answered({0}) else ...`, or use it only under the same `when`"


class Presence(Wordings):
    """Report each use of a reply that may not exist."""

    def place_of(self, piece: Piece, name: str) -> Position:
        """Return where a piece uses a reply, directly or through a let value or function."""
        for use in piece.parsed.names:
            if name in self.depends.base([use.name]):
                return piece.snippet.place(use.offset)
        for use in (*piece.parsed.calls, *piece.parsed.function_names):
            if name in self.depends.base(self.depends.functions.get(use.name, ())):
                return piece.snippet.place(use.offset)
        return piece.snippet.position

    def check_there(self, code: SessionPlan, sessions: list[SessionCode]) -> None:
        """Report replies that a `when` may have skipped where they are used."""
        flow = Flow(
            {name: code.parsed.tree for name, code in self.result.reply_lets.items()},
            self.bodies, self.replies, frozenset(name for name, place in code.places.items() if place.loops),
        )  # fmt: skip
        by_name = {session.session.name: session for session in sessions}
        for name, place in code.places.items():
            session = by_name[place.session.name]
            whens = (session.when, session.turns[place.number].when)
            flow.conditions[name] = NOTHING.union(*(facts(flow, when) for when in whens))
        for session in sessions:
            around = facts(flow, session.when)
            self.tell_missing(flow, [session.when, session.over, session.share], NOTHING)
            self.tell_missing(flow, [session.system], around)
            for turn in session.turns:
                inner = around | facts(flow, turn.when)
                self.tell_missing(flow, [turn.over, turn.when], around)
                self.tell_missing(flow, [turn.user, turn.assistant, turn.until], inner, turn.turn)
        for weighed in (code.weighed, *(preset_code for _, preset_code in code.presets)):
            self.check_truth_there(flow, weighed)

    def check_truth_there(self, flow: Flow, code: WeighCode) -> None:
        """Do the same for the grading and the figures.

        `correct` is only evaluated if `skipped` is false, so it may rely on that.
        """
        skipped = code.parts.get("skipped")
        decided = (
            flow.false(skipped.parsed.tree) if skipped and isinstance(skipped.parsed, ParsedExpression) else NOTHING
        )
        for name, piece in code.parts.items():
            self.tell_missing(flow, [piece], NOTHING if name == "skipped" else decided)
        self.tell_missing(flow, [*code.keys, code.over], NOTHING)
        for figure, value, where in code.figures:
            facts_known = decided if figure.over in DECIDED else NOTHING
            self.tell_missing(flow, [where], facts_known)
            self.tell_missing(flow, [value], facts_known | facts(flow, where))

    def tell_missing(
        self, flow: Flow, pieces: Iterable[Piece | None], facts_known: Facts, own: Turn | None = None
    ) -> None:
        reported: set[str] = set()
        for piece in pieces:
            for name, via in flow.missing(piece.parsed, facts_known) if piece is not None else ():
                is_own = own is not None and own.reply is not None and own.reply.name == name
                if piece is None or is_own or name in reported:
                    continue
                reported.add(name)
                place = self.place_via(piece, via)
                message = f"`{name}` may be missing: a `when` may have skipped its turn"
                self.diagnostics.error("E317", message, place, ASK_FIRST.format(name))

    def place_via(self, piece: Piece, via: ast.AST | str) -> Position:
        """Return where a piece has the name, or the node, through which it uses a reply."""
        if isinstance(piece.parsed, ParsedExpression):
            return piece.snippet.place(piece.parsed.offset(via)) if isinstance(via, ast.AST) else piece.snippet.position
        uses = (*piece.parsed.names, *piece.parsed.calls, *piece.parsed.function_names)
        return next((piece.snippet.place(use.offset) for use in uses if use.name == via), piece.snippet.position)

    def bodies(self, name: str) -> Iterator[Body]:
        """Yield the bodies of a function of the spec that uses replies, each with its argument names."""
        declared = self.functions.get(name)
        if declared is None or not self.depends.functions.get(name, frozenset()):
            return
        for body, own in declared.bodies():
            try:
                if declared.is_template:
                    yield parse_template(body, self.replies - own).tree, own
                else:
                    yield parse(body).tree, own
            except DiaError:
                continue  # already reported


def facts(flow: Flow, when: Piece | None) -> Facts:
    """Return what is known if a condition is true."""
    return flow.true(when.parsed.tree) if when is not None and isinstance(when.parsed, ParsedExpression) else NOTHING
