"""Sessions with everything compiled and ordered, nothing evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dia_compiler.analyze.domains import DatumCode
from dia_compiler.parse.model import Snippet
from dia_compiler.parse.sessions.model import Figure, Judge, Loop, Preset, ReplyUse, Session, Truth, Turn
from dia_language.expressions.expressions import CompiledExpression
from dia_language.expressions.syntax import ParsedExpression
from dia_language.templates.templates import CompiledTemplate, ParsedTemplate


@dataclass(frozen=True, slots=True)
class Piece:
    """A compiled expression or template; `reach` has every name that it uses, `replies` those that are replies."""

    snippet: Snippet
    parsed: ParsedExpression | ParsedTemplate
    code: CompiledExpression | CompiledTemplate
    reach: frozenset[str]
    replies: frozenset[str]

    @property
    def is_static(self) -> bool:
        """Whether it needs no reply."""
        return not self.replies


@dataclass(frozen=True, slots=True)
class TurnCode:
    """A compiled turn; a part is None if it was not given, or has errors."""

    turn: Turn
    user: Piece | None
    assistant: Piece | None
    when: Piece | None
    over: Piece | None
    until: Piece | None
    options: DatumCode | None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return all pieces of the turn."""
        pieces = (self.user, self.assistant, self.when, self.over, self.until)
        return tuple(piece for piece in pieces if piece is not None)


@dataclass(frozen=True, slots=True)
class SessionCode:
    """A compiled session, with the sessions whose replies it uses."""

    session: Session
    system: Piece | None
    when: Piece | None
    over: Piece | None
    share: Piece | None
    turns: tuple[TurnCode, ...]

    @property
    def own(self) -> tuple[Piece, ...]:
        """Return the pieces of the session itself, without its turns."""
        return tuple(piece for piece in (self.system, self.when, self.over, self.share) if piece is not None)

    @property
    def replies(self) -> frozenset[str]:
        """Return every reply that the session uses."""
        pieces = [*self.own, *(piece for turn in self.turns for piece in turn.pieces)]
        return frozenset().union(*(piece.replies for piece in pieces))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reply comes from: its session, the number of its turn there, and how it is asked for."""

    session: Session
    number: int
    turn: Turn
    use: ReplyUse

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Return the lists over which it is repeated, the outermost first."""
        return tuple(loop for loop in (self.session.loop, self.turn.loop) if loop.over is not None)


@dataclass(slots=True)
class WeighCode:
    """Compiled grading, with its figures."""

    truth: Truth | None
    parts: dict[str, Piece] = field(default_factory=dict)
    keys: list[Piece] = field(default_factory=list)
    over: Piece | None = None
    figures: list[tuple[Figure, Piece, Piece | None]] = field(default_factory=list)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return all pieces that are evaluated when replies are graded."""
        pieces = [*self.parts.values(), *self.keys, self.over]
        pieces += [piece for _, value, where in self.figures for piece in (value, where)]
        return tuple(piece for piece in pieces if piece is not None)


@dataclass(slots=True)
class SessionPlan:
    """The sessions in the order in which they are asked, and the grading, including that of each preset."""

    weighed: WeighCode
    sessions: list[SessionCode] = field(default_factory=list)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    presets: list[tuple[Preset, WeighCode]] = field(default_factory=list)
    judge: Judge | None = None
    reference: Piece | None = None

    @property
    def weighing(self) -> tuple[Piece, ...]:
        """Return all pieces that are evaluated when replies are graded, including presets."""
        codes = (self.weighed, *(code for _, code in self.presets))
        return tuple(piece for code in codes for piece in code.pieces)
