"""Render the sessions and the grading of one instance.

Texts that need no reply are rendered, everything else becomes stored code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from dia_compiler.analyze.domains import Scope
from dia_compiler.analyze.field_access import ALL, narrowed
from dia_compiler.analyze.plan import Wording
from dia_compiler.analyze.sessions.plan import Piece, SessionCode, TurnCode, WeighCode
from dia_compiler.generate.expand import RenderedSessions
from dia_compiler.parse.sessions.model import FORMAT_INSTRUCTION, SUBJECT, Loop, Preset, ReplyUse
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.expressions.expressions import CompiledExpression
from dia_language.numbers.values import Record, Value, encode, plain
from dia_language.stored.stored_code import load_code
from dia_language.templates.templates import delivered_name
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.formats.base import RULES
from dia_runtime.formats.replies import faults, instruction

if TYPE_CHECKING:
    from dia_compiler.generate.session_expand import SessionExpansion

MOST_ITEMS = 1_000
MOST_ASKED = 10_000  # requests of one question, as far as they can be counted
LARGEST = 4_000_000  # characters of the sessions of one instance
REFERENCE, SKIP_TOKEN = "reference", "skip_token"
BRACES = re.compile(r"\{(?=[{%])")
Stored = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Items:
    """The loop items that a text can use: of its turn and of its session; None if they are unknown."""

    loop: Loop
    values: list[Value] | None

    def scopes(self, scope: Scope) -> list[Scope]:
        assert self.values is not None
        return [{**scope, **named(self.loop, index, value)} for index, value in enumerate(self.values)]


def named(loop: Loop, index: int, value: Value) -> Scope:
    """Return the variables of a list's item."""
    return {"index": index, **({loop.variable.text: value} if loop.variable is not None else {})}


class Making:
    """Renders the sessions and the grading of one instance in one wording."""

    def __init__(self, expansion: SessionExpansion, scope: Scope, wording: Wording, content: str) -> None:
        self.expansion, self.session_plan, self.wording, self.content = (
            expansion,
            expansion.session_plan,
            wording,
            content,
        )
        self.scope = dict(scope)
        if self.session_plan.judge is not None:
            self.scope[SKIP_TOKEN] = expansion.settings.skip
        if self.session_plan.reference is not None:
            self.scope[REFERENCE] = self.value(self.session_plan.reference, self.scope)
        printed = {name: self.scope[delivered_name(name)] for name in expansion.prepared.assets}
        self.stored_values = {**self.scope, **printed}
        self.formats = {name: self.format(place.use) for name, place in self.session_plan.places.items()}
        self.size = 0
        self.coded: set[int] = set()
        self.is_narrow = True
        self.turn_count = 0

    def sessions(self) -> RenderedSessions:
        """Return the sessions as the question stores them, and the grading as the answer does.

        A question contains only those fields of values that its code reads, because others may reveal the answer.
        """
        sessions = [self.session(code) for code in self.session_plan.sessions]
        self.is_narrow = False
        return RenderedSessions(sessions, self.answer())

    def count(self, stored_session: Stored, place: Position) -> None:
        """Count the requests of a session. Raises DiaError if a question makes too many."""
        lists = [turn["over"] for turn in stored_session["turns"] if isinstance(turn.get("over"), list)]
        turns = len(stored_session["turns"]) - len(lists) + sum(map(len, lists))
        self.turn_count += turns * (len(stored_session["over"]) if isinstance(stored_session.get("over"), list) else 1)
        if self.turn_count > MOST_ASKED:
            message = f"a question asks the model more than {MOST_ASKED:,} times"
            raise DiaError(Diagnostic("E502", message, place, "ask about fewer items"))

    # pieces

    def value(self, piece: Piece, scope: Scope) -> Value:
        """Return the value of an expression that needs no reply."""
        assert isinstance(piece.code, CompiledExpression)
        return piece.code(scope)

    def code(self, piece: Piece, more: Mapping[str, Value] = {}, text: str | None = None) -> Stored:
        """Return a piece as stored code; `more` are further values, `text` is another text of a template."""
        self.coded.add(id(piece))
        kind = "expression" if isinstance(piece.code, CompiledExpression) else "template"
        stored = self.expansion.reach(piece).record(
            kind, text or piece.snippet.text, {**self.stored_values, **more}, self.is_narrow
        )
        stored = {name: value for name, value in stored.items() if value or name == kind}
        self.prove(piece, stored, kind)
        return stored

    def prove(self, piece: Piece, stored: Stored, kind: str) -> None:
        """Check once for each piece that its stored code compiles. Raises DiaError at the piece."""
        if id(piece) in self.expansion.proved:
            return
        self.expansion.proved.add(id(piece))
        loose = piece.reach - self.stored_values.keys() - piece.replies
        try:
            load_code(stored).program(kind, loose)
        except DiaError as error:
            diagnostic = error.diagnostics[0]
            raise DiaError(
                Diagnostic(diagnostic.code, diagnostic.message, piece.snippet.position, diagnostic.help)
            ) from None

    def spend(self, text: str, place: Position) -> str:
        """Count the text, and return it. Raises DiaError if the instance becomes too large."""
        self.size += len(text)
        if self.size > LARGEST:
            message = f"the sessions of an instance have more than {LARGEST:,} characters"
            raise DiaError(Diagnostic("E502", message, place, "ask about fewer items"))
        return text

    def text(self, piece: Piece, around: Iterable[_Items], more: Mapping[str, Value], ends: str = "\n") -> Any:
        """Return a text: frozen, frozen for each item of its list, or as stored code.

        `around` are the lists that contain it, the innermost first; frozen texts lose what `ends` has around them.
        """
        names = piece.reach
        about = []
        for items in around:
            if names & items.loop.names:
                about.append(items)
            names = names - items.loop.names
        innermost = next(iter(around), None)
        is_frozen = piece.is_static and (not about or (about == [innermost] and about[0].values is not None))
        if not is_frozen:
            return self.code(piece, more)
        scope = {**self.scope, **more}
        place = piece.snippet.position
        if not about:
            return self.spend(piece.code(scope).strip(ends), place)
        return {"each": [self.spend(piece.code(inner).strip(ends), place) for inner in about[0].scopes(scope)]}

    def items(self, loop: Loop, over: Piece | None, around: Iterable[_Items] = ()) -> _Items | None:
        """Return the items of a list, None if there is no list."""
        if over is None:
            return None
        is_known = over.is_static and not any(over.reach & items.loop.names for items in around)
        return _Items(loop, self.listed(over, self.scope) if is_known else None)

    def listed(self, over: Piece, scope: Scope) -> list[Value]:
        """Return the items of a list that needs no reply. Raises DiaError at the list."""
        values = self.value(over, scope)
        place = over.snippet.position
        if not isinstance(values, list):
            raise DiaError(Diagnostic("E203", "`over` must be a list", place))
        if len(values) > MOST_ITEMS:
            message = f"`over` has {len(values):,} elements, and each of them asks a model"
            raise DiaError(Diagnostic("E502", message, place, f"use at most {MOST_ITEMS:,} items"))
        return values

    # formats

    def format(self, use: ReplyUse) -> Stored:
        """Return the format of a reply in this instance. Raises DiaError at its errors."""
        turn = next(
            turn for code in self.session_plan.sessions for turn in code.turns if turn.turn.reply is use
        )  # fmt: skip
        options = turn.options.evaluate(self.scope) if turn.options is not None else {}
        try:
            record = {
                "kind": use.format.text,
                **{name: stored(value) for name, value in options.items()},
                "rules": RULES,
            }
        except LanguageError as error:
            raise DiaError(Diagnostic("E409", error.message, use.options.position, error.help)) from None
        messages = faults(record)
        if messages:
            raise DiaError([Diagnostic("E409", words, _place_of(words, use)) for words in messages])
        return record

    def instructed(self, replies: Iterable[ReplyUse | None]) -> Scope:
        """Return the sentence on how to write the reply, if a text uses it."""
        named = [use.name for use in replies if use is not None]
        return {FORMAT_INSTRUCTION: instruction(self.formats[named[0]])} if len(named) == 1 else {}

    # sessions

    def session(self, code: SessionCode) -> Stored:
        """Return a session as the question stores it."""
        session, items = code.session, self.items(code.session.loop, code.over)
        around = [items] if items is not None else []
        stored_session: Stored = {
            "name": session.name,
            "role": session.role,
            "needs": sorted(self.session_plan.needs[session.name]),
            "turns": [self.turn(turn, code, number, around) for number, turn in enumerate(code.turns)],
        }
        if session.settings:
            stored_session["settings"] = {name: encode(value) for name, value in session.settings.items()}
        if code.system is not None:
            stored_session["system"] = self.text(
                code.system, around, self.instructed(turn.turn.reply for turn in code.turns)
            )
        if code.when is not None:
            stored_session["when"] = self.code(code.when)
        self.put_list(
            stored_session,
            session.loop,
            code.over,
            items,
            self.read_of(session.loop, code.own, *code.turns),
        )
        self.count(stored_session, session.position)
        if code.share is not None:
            stored_session["share"] = {"keys": self.worded_keys(self.keys(code.share, items), stored_session)}
        return stored_session

    def read_of(self, loop: Loop, own: tuple[Piece, ...], *turns: TurnCode) -> frozenset[str]:
        """Return the fields that stored code reads of a list's items; nothing if all texts are frozen."""
        name = loop.variable.text if loop.variable is not None else ""
        pieces = [*own, *(piece for turn in turns for piece in turn.pieces)]
        coded = [piece for piece in pieces if id(piece) in self.coded]
        return frozenset().union(*(self.expansion.reach(piece).fields.get(name, frozenset()) for piece in coded))

    def put_list(
        self, stored_loop: Stored, loop: Loop, over: Piece | None, items: _Items | None, fields: frozenset[str]
    ) -> None:
        """Add the list of a session, a turn or the grading, with only those fields of each item that are read."""
        if over is None or items is None:
            return
        if items.values is None:
            stored_loop["over"] = self.code(over)
        else:
            stored_loop["over"] = [encode(narrowed(value, fields)) if fields else None for value in items.values]
        if loop.variable is not None:
            stored_loop["as"] = loop.variable.text

    def keys(self, share: Piece, items: _Items | None) -> list[str]:
        """Return the keys under which replies are shared: one for each item, or one."""
        scopes = [self.scope] if items is None else items.scopes(self.scope)
        try:
            return [plain(self.value(share, scope)) for scope in scopes]
        except LanguageError as error:
            raise DiaError(Diagnostic(error.code, error.message, share.snippet.position, error.help)) from None

    def worded_keys(self, keys: list[str], stored_session: Stored) -> list[str]:
        """Return the keys; with variants, each has a digest of the texts, so that wordings do not share replies."""
        if not self.expansion.prepared.template.variants:
            return keys
        return [
            f"{key}#{sha256(canonical_line(of_item(stored_session, place))).hexdigest()[:8]}"
            for place, key in enumerate(keys)
        ]

    def turn(self, turn_code: TurnCode, session: SessionCode, number: int, around: list[_Items]) -> Stored:
        """Return a turn as the question stores it."""
        turn = turn_code.turn
        items = self.items(turn.loop, turn_code.over, around)
        inner = [items, *around] if items is not None else around
        more = self.instructed([turn.reply])
        stored_turn: Stored = {}
        if turn.is_challenge:
            stored_turn["user"] = self.spend(self.content, turn.position)
        if turn_code.user is not None:
            stored_turn["user"] = self.worded(self.text(turn_code.user, inner, more), session, number)
        if turn_code.assistant is not None:
            stored_turn["assistant"] = self.text(turn_code.assistant, inner, more, "")
        if turn.reply is not None:
            stored_turn["reply"] = {
                "name": turn.reply.name, "format": self.formats[turn.reply.name], "limit": turn.reply.limit,
            }  # fmt: skip
        for name, piece in (("when", turn_code.when), ("until", turn_code.until)):
            if piece is not None:
                stored_turn[name] = self.code(piece)
        self.put_list(stored_turn, turn.loop, turn_code.over, items, self.read_of(turn.loop, (), turn_code))
        return stored_turn

    def worded(self, text: Any, session: SessionCode, number: int) -> Any:
        """Return the text of a turn with a variant's texts before and after it."""
        wording = self.wording
        chosen = wording.sessions or [
            code.session.name for code in self.session_plan.sessions if code.session.role == SUBJECT
        ]  # fmt: skip
        first = next(at for at, turn in enumerate(session.turns) if turn.user is not None or turn.turn.is_challenge)
        if self.session_plan.judge is not None or session.session.name not in chosen or number != first:
            return text
        before, behind = (
            part(self.scope).strip("\n") if part is not None else "" for part in (wording.prepend, wording.append)
        )
        if not before and not behind:
            return text
        return put_around(text, before, behind)

    # the truth

    def answer(self) -> Stored:
        """Return the grading, the figures, the replies and the presets as the answer stores them."""
        session_plan = self.session_plan
        replies = {
            name: {"session": place.session.name, "turn": place.number, "format": self.formats[name]}
            for name, place in session_plan.places.items()
        }
        presets = {preset.name: self.preset(preset, code) for preset, code in session_plan.presets}
        return {**self.weighed(session_plan.weighed), "replies": replies, **({"presets": presets} if presets else {})}

    def preset(self, preset: Preset, code: WeighCode) -> Stored:
        """Return a preset: another way to count."""
        chain = {"chain": preset.chain} if preset.chain is not None else {}
        return {"study": preset.study.text, **chain, **self.weighed(code)}

    def weighed(self, code: WeighCode) -> Stored:
        """Return the grading and its figures, if there are any."""
        stored_truth: Stored = {}
        truth = code.truth
        if truth is not None:
            parts: Stored = {name: self.code(piece) for name, piece in code.parts.items()}
            if truth.kind == "ranking":
                parts["keys"] = [self.code(piece) for piece in code.keys]
            self.put_list(parts, truth.loop, code.over, self.items(truth.loop, code.over), ALL)
            stored_truth["truth"] = {truth.kind: {**parts, **plain_facts(truth.facts)}}
        if code.figures:
            stored_truth["figures"] = {figure.name: self.figure(figure.summary, figure.over, value, where)
                               for figure, value, where in code.figures}  # fmt: skip
        return stored_truth

    def figure(self, summary: str, over: str | None, value: Piece, where: Piece | None) -> Stored:
        stored_figure: Stored = {"value": self.code(value), "summary": summary}
        if over is not None:
            stored_figure["over"] = over
        if where is not None:
            stored_figure["where"] = self.code(where)
        return stored_figure


def of_item(stored_session: Stored, place: int) -> Stored:
    """Return what a session asks for one item of its list."""

    def chosen(part: Any) -> Any:
        return part["each"][place] if isinstance(part, dict) and "each" in part else part

    turns = [
        turn if "over" in turn else {name: chosen(value) for name, value in turn.items()}
        for turn in stored_session["turns"]
    ]
    rest = {name: chosen(value) for name, value in stored_session.items() if name not in ("over", "turns")}
    return {**rest, "turns": turns}


def plain_facts(facts: Mapping[str, Any]) -> Stored:
    """Return the keys of the grading that are not expressions."""
    return {name: dict(fact) if isinstance(fact, Mapping) else fact for name, fact in facts.items()}


def stored(value: Value) -> Any:
    """Return an option of a format as JSON.

    Raises LanguageError for other values than texts, integers, booleans, lists and mappings.
    """
    if value is None or isinstance(value, (str, bool)) or type(value) is int:
        return value
    if isinstance(value, list):
        return [stored(item) for item in value]
    if isinstance(value, Record):
        return {name: stored(item) for name, item in value.items()}
    raise LanguageError("an option of a format must be text, an integer, a list or a mapping of them")


def put_around(text: Any, before: str, behind: str) -> Any:
    """Return a text of a turn with texts before and after it, separated by empty lines.

    >>> put_around("b", "a", ""), put_around({"template": "{{ x }}"}, "", "{{")
    ('a\\n\\nb', {'template': "{{ x }}\\n\\n{{ '{' }}{"})
    """
    if isinstance(text, str):
        return joined(text, before, behind, str)
    if "each" in text:
        return {"each": [joined(part, before, behind, str) for part in text["each"]]}
    return {**text, "template": joined(text["template"], before, behind, literal)}


def joined(text: str, before: str, behind: str, write: Callable[[str], str]) -> str:
    return "\n\n".join(part for part in (write(before), text, write(behind)) if part)


def literal(text: str) -> str:
    """Return a template that renders the text: braces that would begin a tag are escaped."""
    return BRACES.sub("{{ '{' }}", text)


def _place_of(message: str, use: ReplyUse) -> Position:
    """Return where the option that a message names is written, or the format."""
    named = (key.position for key, _ in use.options.pairs if f"`{key.text}`" in message)
    return next(named, use.format.position)
