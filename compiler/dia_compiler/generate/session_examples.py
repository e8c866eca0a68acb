"""Worked examples of sessions: replies by their names, as a transcript graded by the runtime's own grader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dia_compiler.analyze.sessions.plan import Place, SessionPlan
from dia_language.diagnostics import DiaError, Diagnostics, names_help
from dia_language.yaml_nodes import Mapping as MappingNode
from dia_language.yaml_nodes import Node, Scalar, Sequence
from dia_runtime.formats.replies import instruction
from dia_runtime.grading.sessions.judging import judge_transcript, truth_of
from dia_runtime.grading.sessions.outcome import BROKEN, UNREAD
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text

FACTS = ("text", "tokens", "seconds", "finish_reason")
Said = dict[str, Node]


def check_replies(
    session_plan: SessionPlan,
    record: Mapping[str, Any],
    replies: Mapping[str, tuple[Node, ...]],
    diagnostics: Diagnostics,
) -> None:
    """Report every set of replies of an example that does not get its verdict."""
    for verdict, nodes in replies.items():
        for node in nodes:
            if not isinstance(node, MappingNode):
                help = "write {name of a reply: its text, ...}"
                diagnostics.error("E203", "replies of sessions must be a mapping", node.position, help)
            elif are_known(session_plan, node, diagnostics):
                _check(session_plan, record, node, verdict, diagnostics)


def are_known(session_plan: SessionPlan, node: MappingNode, diagnostics: Diagnostics) -> bool:
    """Return whether every name is the name of a reply; report those that are not."""
    unknown = [key for key, _ in node.pairs if key.text not in session_plan.places]
    for key in unknown:
        message = f"`{key.text}` is not a reply of this template"
        diagnostics.error("E303", message, key.position, names_help(key.text, session_plan.places))
    return not unknown


def _check(
    session_plan: SessionPlan, record: Mapping[str, Any], node: MappingNode, verdict: str, diagnostics: Diagnostics
) -> None:
    nodes = {key.text: value for key, value in node.pairs}
    text = transcript_text(sessions_of(session_plan, nodes))
    try:
        judgement = judge_transcript(truth_of(record), text).outcome
    except DiaError as error:
        diagnostics.entries.extend(error.diagnostics)
        return
    if judgement.verdict != verdict:
        is_unread = judgement.state == UNREAD
        state = "cannot be read" if is_unread else "is missing"
        why = f" (`{judgement.missing}` {state})" if judgement.missing else ""
        why = " (an error occurs while they are graded)" if judgement.state == BROKEN else why
        message = f"these replies are graded {judgement.verdict}{why}, but the example says {verdict}"
        help = None
        if is_unread and judgement.missing in record["replies"]:
            instructions = instruction(record["replies"][judgement.missing]["format"])
            help = f"follow the instruction that the format gives the model: {instructions}"
        diagnostics.error("E507", message, node.position, help)


def sessions_of(session_plan: SessionPlan, nodes: Said) -> Iterator[TranscriptSession]:
    """Return the sessions with these replies; a session that runs over a list is repeated for each item."""
    for session_code in session_plan.sessions:
        session = session_code.session
        places = {name: place for name, place in session_plan.places.items() if place.session is session}
        many = [len(node.items) for name in places if isinstance(node := nodes.get(name), Sequence)]
        items: list[int | None] = list(range(max(many, default=0))) if session.loop.over is not None else [None]
        for item in items:
            replies = [reply for name, place in places.items() for reply in _replies(place, _at(nodes.get(name), item))]
            yield TranscriptSession(session.name, session.role, "example", item, replies=tuple(replies))


def _at(node: Node | None, item: int | None) -> Node | None:
    """Return the reply for an item of the session's list."""
    if item is None or not isinstance(node, Sequence):
        return node
    return node.items[item] if item < len(node.items) else None


def _replies(place: Place, node: Node | None) -> Iterator[TranscriptReply]:
    if place.turn.loop.over is None:
        yield _reply(place, None, node)
        return
    for item, item_node in enumerate(node.items if isinstance(node, Sequence) else ()):
        yield _reply(place, item, item_node)


def _reply(place: Place, item: int | None, node: Node | None) -> TranscriptReply:
    """Return a reply: its text, or a mapping of facts about it; without text and error it is missing."""
    if isinstance(node, Scalar) and node.value is not None:
        return TranscriptReply(place.use.name, place.number, item, node.text)
    if isinstance(node, MappingNode):
        facts = {name: value for name in FACTS if isinstance(value := node.get(name), Scalar)}
        text, seconds, ending = (facts[name].text if name in facts else None for name in FACTS if name != "tokens")
        tokens = facts["tokens"].value if "tokens" in facts else None
        count = tokens if type(tokens) is int else None
        return TranscriptReply(place.use.name, place.number, item, text, count, seconds, ending)
    error = {"kind": "condition", "message": "the example does not give it"}
    return TranscriptReply(place.use.name, place.number, item, error=error)
