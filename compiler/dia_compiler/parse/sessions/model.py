"""The data model of sessions, their turns and their grading: a template that asks more than one question."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, field

from dia_compiler.parse.model import Snippet
from dia_language.diagnostics import Position
from dia_language.numbers.values import Value
from dia_language.yaml_nodes import Mapping, Node, Scalar

SUBJECT = "subject"
LIMIT = 20_000  # characters of a reply, unless the turn says otherwise
FORMAT_INSTRUCTION = "format_instruction"
KINDS = ("grade", "decisions", "ranking")


@dataclass(frozen=True, slots=True)
class ReplyUse:
    """The reply of a turn: its name, how it is read, and the length to which it is cut."""

    name: str
    format: Scalar
    options: Mapping
    limit: int
    position: Position


@dataclass(frozen=True, slots=True)
class Loop:
    """The list over which a session or turn is repeated, and the name of its item; a broken list has been reported."""

    over: Snippet | None = None
    variable: Scalar | None = None
    is_broken: bool = False

    @property
    def is_there(self) -> bool:
        """Whether the spec names a list."""
        return self.over is not None or self.is_broken

    @property
    def names(self) -> frozenset[str]:
        """The names that are defined inside."""
        if not self.is_there:
            return frozenset()
        return frozenset({"index"} | ({self.variable.text} if self.variable is not None else set()))


@dataclass(frozen=True, slots=True)
class Turn:
    """The message to the model, and the start of its reply; `is_challenge` means the prompt in its wrapper."""

    user: Snippet | None
    assistant: Snippet | None
    reply: ReplyUse | None
    when: Snippet | None
    loop: Loop
    until: Snippet | None
    position: Position
    is_challenge: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation with its own context."""

    name: str
    role: str
    settings: Map[str, Value]
    system: Snippet | None
    when: Snippet | None
    share: Snippet | None
    loop: Loop
    turns: tuple[Turn, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Truth:
    """How the verdict is determined: grade, decisions or ranking, with its expressions by name and its other keys."""

    kind: str
    parts: Map[str, Snippet]
    keys: tuple[Snippet, ...]
    loop: Loop
    facts: Map[str, Value]
    position: Position


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in addition to the verdict: its value for a question, which questions count, and how to summarise."""

    name: str
    value: Snippet
    where: Snippet | None
    over: str | None
    summary: str
    position: Position


@dataclass(frozen=True, slots=True)
class Preset:
    """Another way to grade the same replies: that of a published study."""

    name: str
    study: Scalar
    truth: Truth | None
    figures: tuple[Figure, ...]
    chain: str | None


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge next to a prompt: its labels, what it sees in addition to the response, and its fallback."""

    labels: Map[str, tuple[str, ...]]
    reference: Snippet | None
    fallback: Snippet | None
    position: Position


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What a template asks in sessions, and how the replies are graded."""

    sessions: tuple[Session, ...]
    truth: Truth | None
    figures: tuple[Figure, ...] = ()
    judge: Judge | None = None
    presets: tuple[Preset, ...] = ()
    examples: tuple[Map[str, tuple[Node, ...]], ...] = field(default=())

    @property
    def replies(self) -> dict[str, ReplyUse]:
        """Every named reply, in the order of the file; the first one of a name."""
        replies: dict[str, ReplyUse] = {}
        for session in self.sessions:
            for turn in session.turns:
                if turn.reply is not None:
                    replies.setdefault(turn.reply.name, turn.reply)
        return replies
