"""Build sessions from YAML nodes. Malformed parts are skipped, because they are already reported."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Map

from dia_compiler.parse.model import Snippet
from dia_compiler.parse.model_builder import CHAIN, snippet, snippets
from dia_compiler.parse.sessions.model import (
    KINDS,
    LIMIT,
    SUBJECT,
    Figure,
    Judge,
    Loop,
    Preset,
    ReplyUse,
    Session,
    SessionSpec,
    Truth,
    Turn,
)
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, data, pairs

OWN = ("name", "format", "limit")  # keys of a reply that are not options of its format
PARTS = {
    "grade": ("correct", "skipped", "share"),
    "decisions": ("predicted", "actual"),
    "ranking": ("label", "predicted"),
}
NEEDED = {"grade": ("correct",), "decisions": ("predicted", "actual"), "ranking": ("label", "predicted")}
RESPONSE, VERDICT = "response", "verdict"
IS_SAID = f"strip({RESPONSE}) != skip_token"  # the response is an answer, so the judge is asked
ASK, JUDGE = "ask", "judge"
OUTCOMES = ("correct", "skipped", "wrong")


def build_sessions(root: Mapping) -> SessionSpec | None:
    """Return what the template asks in sessions; None if it asks one question with an answer."""
    judge = root.get("grade")
    judge_node = judge.get("judge") if isinstance(judge, Mapping) else None
    figures = tuple(_figures(root.get("figures")))
    presets = tuple(_presets(root.get("presets")))
    examples = tuple(_examples(root.get("examples")))
    if root.get("sessions") is None and isinstance(judge_node, Mapping):
        spec = _judge_session_spec(root, judge_node)
        return None if spec is None else SessionSpec(spec.sessions, spec.truth, figures, spec.judge, presets, examples)
    if root.get("sessions") is None:
        return None
    sessions = tuple(
        _session(key, value) for key, value in pairs(root.get("sessions")) if isinstance(value, Mapping)
    )  # fmt: skip
    return SessionSpec(sessions, _truth(root), figures, None, presets, examples)


def _session(key: Scalar, node: Mapping) -> Session:
    role, settings, turns = node.get("model"), node.get("settings"), node.get("turns")
    return Session(
        name=key.text,
        role=role.text if isinstance(role, Scalar) else SUBJECT,
        settings=_settings(settings),
        system=snippet(node.get("system"), True),
        when=snippet(node.get("when")),
        share=snippet(node.get("share")),
        loop=_loop(node),
        turns=tuple(_turn(turn) for turn in mappings(turns)),
        position=key.position,
    )


def _settings(node: Node | None) -> Map[str, object]:
    return {key.text: data(value) for key, value in pairs(node)}


def items_of(node: Node) -> tuple[Node, ...]:
    """Return the items of a list; anything else is the only item."""
    return node.items if isinstance(node, Sequence) else (node,)


def mappings(node: Node | None) -> Iterator[Mapping]:
    """Yield the mappings in a list."""
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            yield item


def _loop(node: Mapping) -> Loop:
    variable = node.get("as")
    over = snippet(node.get("over"))
    is_broken = over is None and node.get("over") is not None
    return Loop(over, variable if isinstance(variable, Scalar) else None, is_broken)


def _turn(node: Mapping) -> Turn:
    return Turn(
        user=snippet(node.get("user"), True),
        assistant=snippet(node.get("assistant"), True),
        reply=_reply(node.get("reply")),
        when=snippet(node.get("when")),
        loop=_loop(node),
        until=snippet(node.get("until")),
        position=node.pairs[0][0].position if node.pairs else node.position,
    )


def _reply(node: Node | None) -> ReplyUse | None:
    name, format, limit = (node.get(key) if isinstance(node, Mapping) else None for key in OWN)
    if not isinstance(node, Mapping) or not isinstance(name, Scalar) or not isinstance(format, Scalar):
        return None
    options = Mapping(tuple((key, value) for key, value in node.pairs if key.text not in OWN), node.position)
    limit_value = data(limit) if limit is not None else LIMIT
    return ReplyUse(name.text, format, options, limit_value if type(limit_value) is int else LIMIT, name.position)


def _truth(root: Mapping) -> Truth | None:
    for kind in KINDS:
        node = root.get(kind)
        if isinstance(node, Mapping):
            parts = {name: piece for name in PARTS[kind] if (piece := snippet(node.get(name))) is not None}
            if not set(NEEDED[kind]) <= parts.keys():
                return None
            return Truth(kind, parts, snippets(node.get("keys")), _loop(node), _facts(kind, node), node.position)
    return None


def _facts(kind: str, node: Mapping) -> Map[str, object]:
    if kind == "ranking":
        ties, invalid = node.get("ties"), node.get("invalid")
        return {"ties": _word(ties, "label_order"), "invalid": _word(invalid, "zero")}
    if kind == "decisions":
        positive = node.get("positive")
        class_facts = {key.text: data(value) for key, value in pairs(positive)}
        return {"positive": {"name": str(class_facts.get("name", "")), "value": class_facts.get("value") is not False}}
    return {}


def _word(node: Node | None, default: str) -> str:
    return node.text if isinstance(node, Scalar) else default


def _figures(node: Node | None) -> Iterator[Figure]:
    for key, body in pairs(node):
        value = snippet(body.get("value")) if isinstance(body, Mapping) else None
        if isinstance(body, Mapping) and value is not None:
            over, where = body.get("over"), snippet(body.get("where"))
            yield Figure(
                key.text, value, where, over.text if isinstance(over, Scalar) else None,
                _word(body.get("summary"), "mean"), key.position,
            )  # fmt: skip


def _presets(node: Node | None) -> Iterator[Preset]:
    for key, body in pairs(node):
        study = body.get("study") if isinstance(body, Mapping) else None
        if isinstance(body, Mapping) and isinstance(study, Scalar):
            chain = body.get("chain")
            chain_name = chain.text if isinstance(chain, Scalar) else None
            yield Preset(key.text, study, _truth(body), tuple(_figures(body.get("figures"))), chain_name)


def _examples(node: Node | None) -> Iterator[Map[str, tuple[Node, ...]]]:
    """Return for each example the replies that must get each verdict, as nodes."""
    for item in mappings(node):
        replies = {}
        for key, value in pairs(item.get("replies")):
            if key.text != CHAIN:
                replies[key.text] = items_of(value)
        yield replies


# A judge next to a prompt


def _judge_session_spec(root: Mapping, node: Mapping) -> SessionSpec | None:
    """Expand a judge next to a prompt into two sessions: one asks the question, the other asks the judge."""
    prompt, key = snippet(node.get("prompt"), True), root.key("grade")
    labels = {name: _texts(listed) for name, listed in _listed(node.get("labels"))}
    model = node.get("model")
    if prompt is None or key is None or not labels.get("correct") or not labels.get("wrong"):
        return None
    question = Turn(None, None, _made_reply(RESPONSE, "text", (), key), None, Loop(), None, key.position, True)
    every = tuple(label for name in OUTCOMES for label in labels.get(name, ()))
    read = Turn(prompt, None, _made_reply(VERDICT, "label", every, key), None, Loop(), None, key.position)
    is_said = _expression(IS_SAID, key)
    role, settings = _word(model, "judge"), _settings(node.get("settings"))
    sessions = (
        Session(ASK, SUBJECT, {}, None, None, None, Loop(), (question,), key.position),
        Session(JUDGE, role, settings, None, is_said, None, Loop(), (read,), key.position),
    )
    fallback = snippet(node.get("fallback"))
    judge = Judge(labels, snippet(node.get("reference")), fallback, node.position)
    return SessionSpec(sessions, _judged(judge, key), judge=judge)


def _listed(node: Node | None) -> Iterator[tuple[str, Sequence]]:
    for key, value in pairs(node):
        if isinstance(value, Sequence):
            yield key.text, value


def _texts(node: Sequence) -> tuple[str, ...]:
    return tuple(item.text for item in node.items if isinstance(item, Scalar))


def _made_reply(name: str, format: str, labels: tuple[str, ...], key: Scalar) -> ReplyUse:
    """Return the reply of a generated session, with the position of the key."""
    listed = Sequence(tuple(_scalar(label, key) for label in labels), key.position)
    options = Mapping(((_scalar("of", key), listed),) if labels else (), key.position)
    return ReplyUse(name, _scalar(format, key), options, LIMIT, key.position)


def _judged(judge: Judge, key: Scalar) -> Truth:
    """Return the expression for the verdict of the judge's label; a response that is the skip token needs no judge."""
    correct = f"{VERDICT} in {list(judge.labels['correct'])!r}"
    skips = [f"strip({RESPONSE}) == skip_token"]
    if judge.fallback is not None:
        correct = f"({correct}) if answered({VERDICT}) else (\n{judge.fallback.text}\n)"
    else:
        correct = f"{IS_SAID} and {correct}"  # a label that cannot be read leaves the reply unparsed
    if judge.labels.get("skipped"):
        skips.append(f"answered({VERDICT}) and {VERDICT} in {list(judge.labels['skipped'])!r}")
    parts = {"correct": _expression(correct, key), "skipped": _expression(" or ".join(skips), key)}
    return Truth("grade", parts, (), Loop(), {}, key.position)


def _scalar(text: str, key: Scalar) -> Scalar:
    return Scalar(text, text, "'", key.position, key.position.line + 1, "")


def _expression(text: str, key: Scalar) -> Snippet:
    return Snippet(text, _scalar(text, key))
