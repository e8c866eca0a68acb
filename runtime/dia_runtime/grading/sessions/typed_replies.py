"""Read the replies of a transcript, with a chain, as the typed values that the expressions of a truth see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dia_language.expressions.replies import UNSET, SessionReply
from dia_language.numbers.values import decimal, decode
from dia_language.stored.stored_code import decode_symbolic
from dia_runtime.formats.base import STANDARD
from dia_runtime.formats.replies import read_reply
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, subject_flags

Stored = Mapping[str, Any]
RECORDED = "recorded"  # the step of a value in a log that has no text to read
SUBJECT = "subject"
NOT_TO_BE_ASKED = frozenset({"condition", "unset", "language"})  # why a turn was left out that had a model
ON_REPLIES = frozenset({"condition", "unset"})  # why a turn was left out, if it depended on replies
MOST_ITEMS = 100_000


@dataclass(frozen=True, slots=True)
class TypedReplies:
    """The replies of a transcript by their names, and how they arrived.

    `scope` has a SessionReply under each name, or a list of them if the turn is repeated for items; `steps` has the
    deciding step of each in the same shape, `token_counts` its number of tokens. `flags` are those of the subject's
    replies, `tokens` the sum over these. `of_other_roles` names the replies of other roles that arrived, or that are
    missing because of their model. `cut_off` is a reply that was not requested because another could not be read when
    the question was asked, although the chain reads it.
    """

    scope: Mapping[str, Any]
    steps: Mapping[str, Any]
    token_counts: Mapping[str, Any]
    flags: frozenset[str]
    tokens: int | None
    is_recorded: bool
    mismatches: int
    of_other_roles: frozenset[str] = frozenset()
    cut_off: str | None = None


def typed_replies(
    replies: Stored, sessions: Sequence[TranscriptSession], chain: str = "standard", is_logged: bool = False
) -> TypedReplies:
    """Return the replies of a transcript. `replies` has the session and the format of each name.

    If `is_logged`, a value in the log is preferred to one that is read from the text. Raises ValueError for item
    numbers beyond the limit, which an untrusted transcript may contain.
    """
    by_place: dict[str, dict[tuple[int | None, int | None], TranscriptReply]] = {name: {} for name in replies}
    for session in sessions:
        for reply in session.replies:
            if reply.name in by_place and replies[reply.name]["session"] == session.name:
                by_place[reply.name][session.item, reply.item] = reply
    scope, steps, token_counts, recorded, mismatches = {}, {}, {}, False, 0
    for name, replies_by_place in by_place.items():
        format = replies[name]["format"]
        read = {place: _read(reply, format, chain, is_logged) for place, reply in replies_by_place.items()}
        scope[name] = _by_item({place: entry for place, (entry, _) in read.items()}, SessionReply())
        steps[name] = _by_item({place: step for place, (_, step) in read.items()}, None)
        token_counts[name] = _by_item({place: reply.tokens for place, reply in replies_by_place.items()}, None)
        recorded = recorded or any(step == RECORDED for _, step in read.values())
        mismatches += sum(_differs(reply, format, chain) for reply in replies_by_place.values()) if is_logged else 0
    flags = subject_flags(sessions)
    others = frozenset(
        str(reply.name)
        for session in sessions
        if session.role != SUBJECT
        for reply in session.replies
        if reply.error is None or reply.error["kind"] not in NOT_TO_BE_ASKED
    )
    cut_off = _cut_off(replies, sessions, chain)
    return TypedReplies(scope, steps, token_counts, flags, _tokens(sessions), recorded, mismatches, others, cut_off)


def _cut_off(replies: Stored, sessions: Sequence[TranscriptSession], chain: str) -> str | None:
    """Return the first reply that was not requested, if the chain reads a reply that could not be read before.

    Conditions on replies were evaluated when the question was asked, with the chain `standard`.
    """
    named = [reply for session in sessions for reply in session.replies if reply.name in replies]
    left_out = (reply.name for reply in named if reply.error is not None and reply.error["kind"] in ON_REPLIES)
    name = next(left_out, None)
    if chain == STANDARD or name is None:
        return None
    formats = ((reply.text, replies[str(reply.name)]["format"]) for reply in named if reply.text is not None)
    is_gained = any(
        read_reply(text, format, STANDARD).value is None and read_reply(text, format, chain).value is not None
        for text, format in formats
    )
    return name if is_gained else None


def _read(reply: TranscriptReply, format: Stored, chain: str, is_logged: bool) -> tuple[SessionReply, str]:
    """Return the reply as expressions see it, and the step that read its value."""
    seconds = None if reply.seconds is None else decimal(Fraction(reply.seconds))
    value, step = UNSET, "none"
    if reply.extracted is not None and (is_logged or reply.text is None):
        value, step = decode(reply.extracted, decode_symbolic), RECORDED
    elif reply.text is not None:
        read = read_reply(reply.text, format, chain)
        value, step = (UNSET if read.value is None else read.value), read.step
    return SessionReply(value, reply.text, reply.tokens, seconds, reply.finish_reason), step


def _differs(reply: TranscriptReply, format: Stored, chain: str) -> bool:
    """Return whether the value read in the text differs from that in the log."""
    if reply.text is None or reply.extracted is None:
        return False
    return bool(read_reply(reply.text, format, chain).value != decode(reply.extracted, decode_symbolic))


def _by_item(values: Mapping[tuple[int | None, int | None], Any], hole: Any) -> Any:
    """Return one reply, or lists of them by the items of session and turn, with holes for missing ones."""
    if not values or set(values) == {(None, None)}:
        return next(iter(values.values()), hole)
    if all(item is None for item, _ in values):
        return _listed_by_place({turn: value for (_, turn), value in values.items()}, hole)
    by_item: dict[Any, dict[Any, Any]] = {}
    for (item, turn), value in values.items():
        by_item.setdefault(item, {})[turn] = value
    if sum(max((turn or 0 for turn in part), default=0) for part in by_item.values()) > MOST_ITEMS:
        raise ValueError(f"it has more than {MOST_ITEMS} places for replies")
    return _listed_by_place({item: _by_item({(None, turn): value for turn, value in part.items()}, hole)
                    for item, part in by_item.items()}, hole)  # fmt: skip


def _listed_by_place(values: Mapping[Any, Any], hole: Any) -> list[Any]:
    places = [place for place in values if place is not None]
    if max(places, default=0) > MOST_ITEMS:
        raise ValueError(f"it has a reply at an item beyond {MOST_ITEMS}")
    return [values.get(place, hole) for place in range(max(places, default=-1) + 1)]


def _tokens(sessions: Iterable[TranscriptSession]) -> int | None:
    counts = [
        reply.tokens
        for session in sessions
        for reply in session.replies
        if session.role == SUBJECT and reply.tokens is not None
    ]
    return sum(counts) if counts else None
