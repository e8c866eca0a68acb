"""Compile the sessions of a template, and order them by the replies that they use; impossible orders are reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dia_compiler.analyze.dependencies import circles, ordered
from dia_compiler.analyze.domains import DatumCode, compile_datum
from dia_compiler.analyze.sessions.plan import Piece, Place, SessionCode, SessionPlan, TurnCode, WeighCode
from dia_compiler.analyze.sessions.reply_presence import Presence
from dia_compiler.parse.model import Snippet
from dia_compiler.parse.sessions.model import FORMAT_INSTRUCTION, Figure, Loop, Session, SessionSpec, Truth, Turn
from dia_language.diagnostics import DiaError, did_you_mean
from dia_language.expressions.syntax import ParsedExpression
from dia_language.templates.templates import ParsedTemplate
from dia_language.yaml_nodes import Scalar
from dia_runtime.formats import FORMATS, OWN
from dia_runtime.formats.replies import REPLY_FORMATS

REFERENCE = "reference"
SKIP_TOKEN = "skip_token"
CONDITIONS = frozenset(  # parts of a truth that must be true or false
    {("grade", "correct"), ("grade", "skipped"), ("decisions", "predicted"), ("decisions", "actual")}
)
# Formats whose replies are texts, lists or records; answer formats are, unless a `type` says otherwise
NEVER_BOOLEAN = frozenset({"text", "lines", "label", "letter", "subset", "ranking", "flags", *OWN})
MOST = 100  # sessions of a template, and turns of a session


class SessionAnalysis(Presence):
    """Compiles the sessions of a template, and the expressions that grade their replies."""

    def prepare_sessions(self, session_spec: SessionSpec) -> None:
        """Compile the sessions, the grading and the figures; all errors are reported."""
        code = self.result.session_plan = SessionPlan(WeighCode(session_spec.truth), judge=session_spec.judge)
        code.places = {place.use.name: place for place in self.places(session_spec)}
        self.check_counts(session_spec)
        if session_spec.judge is not None and session_spec.judge.reference is not None:
            code.reference = self.early(session_spec.judge.reference, self.values, "a judge's reference")
        sessions = [self.session(session) for session in session_spec.sessions]
        self.prepare_truth(session_spec, code)
        self.order(sessions, code)
        self.check_read(code, sessions)
        self.check_there(code, sessions)
        self.note_unused_in_sessions(code, sessions)

    @staticmethod
    def places(session_spec: SessionSpec) -> Iterator[Place]:
        """Yield every named reply with its place; of two with the same name, the first."""
        first = session_spec.replies
        for session in session_spec.sessions:
            for number, turn in enumerate(session.turns):
                if turn.reply is not None and first[turn.reply.name] is turn.reply:
                    yield Place(session, number, turn, turn.reply)

    def check_counts(self, session_spec: SessionSpec) -> None:
        """Report too many sessions or turns, and empty turns."""
        if len(session_spec.sessions) > MOST:
            place = session_spec.sessions[MOST].position
            self.diagnostics.error("E107", f"more than {MOST:,} sessions", place, "split it into several templates")
        for session in session_spec.sessions:
            if len(session.turns) > MOST:
                place = session.turns[MOST].position
                self.diagnostics.error(
                    "E107", f"more than {MOST:,} turns in `{session.name}`", place, "use `over` to repeat a turn"
                )
            for number, turn in enumerate(session.turns):
                self.check_turn(turn, number)
            self.check_loop(session.loop)

    def check_turn(self, turn: Turn, number: int) -> None:
        """Report an empty turn, and keys that need `over`."""
        if turn.user is None and turn.assistant is None and not turn.is_challenge:
            self.diagnostics.error("E202", "this turn is empty", turn.position, "add `user: ...`")
        elif number == 0 and turn.user is None and not turn.is_challenge:
            message = "a conversation must start with a user turn"
            self.diagnostics.error("E202", message, turn.position, "add `user: ...` before `assistant`")
        if turn.until is not None and not turn.loop.is_there:
            self.diagnostics.error("E204", "`until` needs `over`", turn.until.position, "add `over: ...`")
        self.check_loop(turn.loop)

    def check_loop(self, loop: Loop) -> None:
        """Report the name of a loop item without a list."""
        if loop.variable is not None and not loop.is_there:
            self.diagnostics.error("E204", "`as` needs `over`", loop.variable.position, "add `over: ...`")

    # pieces

    def piece(self, snippet: Snippet | None, values: frozenset[str]) -> Piece | None:
        """Compile an expression; None if it has errors, which are reported."""
        code = self.code(snippet, values) if snippet is not None else None
        return None if snippet is None or code is None else self.analyzed_piece(snippet, code.parsed, code)

    def condition_piece(self, snippet: Snippet | None, values: frozenset[str]) -> Piece | None:
        """Compile a condition; None if it has errors, which are reported."""
        piece = self.piece(snippet, values)
        if piece is not None and isinstance(piece.parsed, ParsedExpression):
            self.note_condition(piece.snippet, piece.parsed)
        return piece

    @property
    def reply_kinds(self) -> dict[str, str]:
        """Return in words what the replies are that cannot be true or false; formats of plug-ins may give anything."""
        replies = self.template.session_spec.replies.values() if self.template.session_spec is not None else ()
        return {
            reply.name: f"a reply in the format {reply.format.text}"
            for reply in replies
            if reply.format.text in NEVER_BOOLEAN and reply.options.get("type") is None
        }

    def prompt_piece(self, snippet: Snippet | None, values: frozenset[str]) -> Piece | None:
        """Compile a template; None if it has errors, which are reported."""
        tree = self.parsed_template(snippet) if snippet is not None else None
        code = self.compiled_template(tree, values | self.slot_names) if tree is not None else None
        return None if snippet is None or tree is None or code is None else self.analyzed_piece(snippet, tree, code)

    def analyzed_piece(self, snippet: Snippet, parsed: ParsedExpression | ParsedTemplate, code: object) -> Piece:
        """Return the piece with what it is made of; one that runs when models are asked starts no program."""
        reach = self.depends.base(self.depends.used(parsed))
        for use in (*parsed.calls, *parsed.function_names) if "answer" in reach else ():
            if "answer" in self.depends.base(self.depends.functions.get(use.name, ())):
                self.tell_leak(snippet, use, "sessions, which have no answer")
        piece = Piece(snippet, parsed, code, reach, reach & self.replies)  # type: ignore[arg-type]
        if piece.replies:
            self.refuse_programs_in(parsed, "a session")
        return piece

    def early(self, snippet: Snippet | None, values: frozenset[str], what: str) -> Piece | None:
        """Compile an expression that must be known before any model is asked."""
        piece = self.piece(snippet, values)
        if piece is None or not self.leaks(piece.parsed, piece.snippet, what):
            return piece
        return None

    @property
    def slot_names(self) -> frozenset[str]:
        """Return the names of the slots, which every text of a session may print."""
        return frozenset(self.template.slots)

    # sessions

    def session(self, session: Session) -> SessionCode:
        values = self.values | session.loop.names
        replies = [turn.reply for turn in session.turns if turn.reply is not None]
        instructed = frozenset({FORMAT_INSTRUCTION}) if len(replies) == 1 else frozenset()
        over = self.piece(session.loop.over, self.values)
        share = self.early(session.share, values, "the `share` of a session")
        if session.share is not None and over is not None and not over.is_static:
            message = "a shared session must use keys that are known before the model is asked anything"
            self.diagnostics.error(
                "E318", message, session.share.position, "make `over` independent of replies, or remove `share`"
            )
        return SessionCode(
            session,
            self.prompt_piece(session.system, values | instructed),
            self.condition_piece(session.when, values | ({SKIP_TOKEN} if self.is_judged else frozenset())),
            over,
            share,
            tuple(self.turn(turn, values, session) for turn in session.turns),
        )

    def turn(self, turn: Turn, values: frozenset[str], session: Session) -> TurnCode:
        inner = values | turn.loop.names
        text = inner | ({FORMAT_INSTRUCTION} if turn.reply is not None else frozenset())
        text |= self.reference_names(session)
        return TurnCode(
            turn,
            self.prompt_piece(turn.user, text),
            self.prompt_piece(turn.assistant, text),
            self.condition_piece(turn.when, inner),
            self.piece(turn.loop.over, values),
            self.condition_piece(turn.until, inner),
            self.options(turn),
        )

    @property
    def is_judged(self) -> bool:
        """Return whether there is a judge next to a prompt."""
        return self.template.session_spec is not None and self.template.session_spec.judge is not None

    def reference_names(self, session: Session) -> frozenset[str]:
        """Return the name of the reference if the session is that of a judge with one."""
        judge = self.template.session_spec.judge if self.template.session_spec is not None else None
        has_one = judge is not None and judge.reference is not None
        return frozenset({REFERENCE}) if has_one and session.role != "subject" else frozenset()

    def options(self, turn: Turn) -> DatumCode | None:
        """Compile the options of a reply's format, which cannot use replies; an unknown format is reported."""
        if turn.reply is None:
            return None
        format = turn.reply.format
        if format.text not in REPLY_FORMATS and format.text not in FORMATS:
            known_formats = sorted({*REPLY_FORMATS, *FORMATS})
            help = did_you_mean(format.text, known_formats) or f"the formats are {', '.join(known_formats)}"
            self.diagnostics.error("E409", f"unknown reply format `{format.text}`", format.position, help)
        kind = turn.reply.options.get("type")
        if kind is not None and not isinstance(kind, Scalar):
            help = "write `type: text`, and compare the replies in `grade`"
            self.diagnostics.error(
                "E203", "the `type` of a reply must be the name of an answer type", kind.position, help
            )
            return None
        try:
            code = compile_datum(turn.reply.options, self.namespace, self.values)
        except DiaError as error:
            self.add_diagnostics(error.diagnostics)
            return None
        self.note_calls(code.calls)
        for snippet, use in (*code.uses, *code.calls):
            self.tell_hidden(snippet, use, "the format of a reply")
        return code

    # truth

    def prepare_truth(self, session_spec: SessionSpec, code: SessionPlan) -> None:
        """Compile the grading and the figures; a judge's fallback comes first, so that errors point to it."""
        values = self.values | self.truth_names(session_spec)
        before = len(self.diagnostics.errors)
        if session_spec.judge is not None:
            self.condition_piece(session_spec.judge.fallback, values)
        truth = session_spec.truth if len(self.diagnostics.errors) == before else None
        code.weighed = self.weigh(truth, session_spec.figures, values)
        code.presets = [(preset, self.weigh(preset.truth, preset.figures, values)) for preset in session_spec.presets]
        for piece in code.weighing:
            self.refuse_programs_in(piece.parsed, "the grading")

    def weigh(self, truth: Truth | None, figures: Iterable[Figure], values: frozenset[str]) -> WeighCode:
        code = WeighCode(truth)
        if truth is not None:
            self.check_loop(truth.loop)
            code.over = self.piece(truth.loop.over, self.values)
            for name, snippet in truth.parts.items():
                inner = values if truth.kind == "ranking" and name == "predicted" else values | truth.loop.names
                compiled = self.condition_piece if (truth.kind, name) in CONDITIONS else self.piece
                if (piece := compiled(snippet, inner)) is not None:
                    code.parts[name] = piece
            keys = (self.piece(snippet, values | truth.loop.names) for snippet in truth.keys)
            code.keys = [piece for piece in keys if piece is not None]
        for figure in figures:
            value, where = self.piece(figure.value, values), self.condition_piece(figure.where, values)
            if value is not None:
                code.figures.append((figure, value, where))
        return code

    def truth_names(self, session_spec: SessionSpec) -> frozenset[str]:
        """Return the names that grading can use in addition to parameters, let values, lists and replies."""
        if session_spec.judge is None:
            return frozenset()
        return frozenset({SKIP_TOKEN, *self.named_reference(session_spec)})

    @staticmethod
    def named_reference(session_spec: SessionSpec) -> frozenset[str]:
        has_one = session_spec.judge is not None and session_spec.judge.reference is not None
        return frozenset({REFERENCE}) if has_one else frozenset()

    # order

    def order(self, sessions: list[SessionCode], code: SessionPlan) -> None:
        """Put the sessions in an order in which they can be asked; report cycles and replies that come too late."""
        names = [session.session.name for session in sessions]
        needs = {
            session.session.name: tuple(
                name for name in names if name != session.session.name
                and any(code.places[reply].session.name == name for reply in session.replies if reply in code.places)
            )
            for session in sessions
        }  # fmt: skip
        for session in sessions:
            self.check_own_order(session, code)
        by_name = {session.session.name: session for session in sessions}
        for circle in circles(needs):
            chain = " -> ".join([*circle, circle[0]])
            message = f"sessions wait for each other in a cycle: {chain}"
            self.diagnostics.error(
                "E315", message, by_name[circle[0]].session.position, "remove one of these dependencies"
            )
        code.needs = needs
        code.sessions = [by_name[name] for name in ordered(names, needs)]

    def check_own_order(self, session: SessionCode, code: SessionPlan) -> None:
        """Report replies of the session itself that are used before they exist."""
        for number, turn in enumerate(session.turns):
            for piece in turn.pieces:
                first_ok = piece is turn.until or (turn.over is not None and piece is not turn.over)
                self.check_earlier(piece, session, code, number + first_ok)
        for piece in session.own:
            self.check_earlier(piece, session, code, 0)

    def check_earlier(self, piece: Piece, session: SessionCode, code: SessionPlan, before: int) -> None:
        for name in sorted(piece.replies & code.places.keys()):
            place = code.places[name]
            if place.session is session.session and place.number >= before:
                message = f"`{name}` does not exist yet: it is the reply to turn {place.number + 1} of this session"
                self.diagnostics.error("E315", message, self.place_of(piece, name), "use it in a later turn")

    def check_read(self, code: SessionPlan, sessions: list[SessionCode]) -> None:
        """Report replies that are never used."""
        read = frozenset().union(
            *(session.replies for session in sessions), *(piece.replies for piece in code.weighing)
        )
        if self.diagnostics.errors:
            return  # a part with a reported error might have used it
        for name, place in code.places.items():
            if name not in read:
                help = "use it in another turn, in the grading or in a figure, or remove `reply`"
                self.diagnostics.error("E316", f"the reply `{name}` is never used", place.use.position, help)

    # health

    def note_unused_in_sessions(self, code: SessionPlan, sessions: list[SessionCode]) -> None:
        """Warns of parameters that neither the sessions nor the truth use."""
        if self.diagnostics.errors:
            return
        pieces = [*code.weighing, *(piece for session in sessions for piece in session.own)]
        pieces += [piece for session in sessions for turn in session.turns for piece in turn.pieces]
        pieces += [code.reference] if code.reference is not None else []
        used = frozenset().union(*(piece.reach for piece in pieces), self.result.uses.get("prompt", frozenset()))
        for session in sessions:
            for turn in session.turns:
                used |= (
                    self.depends.base(self.depends.needed(turn.options)) if turn.options is not None else frozenset()
                )
        for maker in self.result.makers.values():
            used |= self.depends.base(self.depends.needed(maker))
        used |= self.used_by_conditions()
        for parameter in self.template.parameters:
            if parameter.name not in used:
                message = f"the parameter `{parameter.name}` is used neither in a session nor in the grading"
                self.warn("unused-parameter", message, parameter.position)

    def used_by_conditions(self) -> frozenset[str]:
        """Return what conditions over several parameters are computed from."""
        codes = [step.code for step in self.result.plan if step.kind == "where" and step.code is not None]
        return frozenset().union(*(self.depends.base(self.depends.used(code.parsed)) for code in codes))
