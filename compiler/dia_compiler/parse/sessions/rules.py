"""Rules for sessions that a schema cannot express: one way to grade, no prompt next to them, each key in its place."""

from __future__ import annotations

from dia_compiler.parse.model_builder import CHAIN
from dia_compiler.parse.sessions.model import KINDS
from dia_compiler.parse.sessions.model_builder import items_of, mappings
from dia_language.diagnostics import Diagnostics, did_you_mean
from dia_language.yaml_nodes import Mapping, Node, Scalar, Sequence, pairs


def has_sessions(root: Mapping) -> bool:
    """Return whether the template asks in sessions, explicitly or through a judge."""
    grade = root.get("grade")
    return root.get("sessions") is not None or (isinstance(grade, Mapping) and grade.get("judge") is not None)


def check_sessions(root: Mapping, diagnostics: Diagnostics) -> None:
    """Report what a schema cannot express: a second way to grade, a prompt next to sessions, a misplaced key."""
    _check_exclusive(root, diagnostics)
    _check_examples(root, diagnostics)
    grade = root.get("grade")
    is_judged = isinstance(grade, Mapping) and grade.get("judge") is not None
    if not has_sessions(root):
        for name in (*KINDS, "figures", "presets"):
            if (key := root.key(name)) is not None:
                diagnostics.error(
                    "E204", f"`{name}` refers to replies, so it needs `sessions`", key.position, ADD_SESSIONS
                )
        return
    for name in REFUSED:
        if (key := root.key(name)) is not None:
            diagnostics.error("E204", f"`{name}` cannot be used with `sessions`", key.position, REFUSED[name])
    _check_truth(root, diagnostics)
    for _, body in pairs(root.get("presets")):
        _check_preset(body, diagnostics)
    if is_judged and root.get("sessions") is None:
        _check_judge(root, grade, diagnostics)
    for key, body in pairs(root.get("variants")):
        if isinstance(body, Mapping) and (prompt := body.key("prompt")) is not None and not is_judged:
            message = f"the variant `{key.text}` has a prompt, but this template uses sessions"
            diagnostics.error("E204", message, prompt.position, "use `prepend`, `append` or a slot")
    deliver = root.get("deliver")
    for word in [deliver, *(value for _, value in pairs(deliver))]:
        if isinstance(word, Scalar) and word.text != "inline":
            diagnostics.error(
                "E204", "assets of sessions are always delivered inline", word.position, "remove `deliver`"
            )


def _check_examples(root: Mapping, diagnostics: Diagnostics) -> None:
    """Report examples of the wrong kind: texts are replies to a question, mappings are replies within sessions."""
    for item in mappings(root.get("examples")):
        for name in ("answer", "accepts", "rejects") if has_sessions(root) else ():
            if (key := item.key(name)) is not None:
                diagnostics.error(
                    "E204", f"`{name}` cannot be used with `sessions`", key.position, "put it under `replies`"
                )
        replies = item.get("replies")
        chain = replies.key(CHAIN) if isinstance(replies, Mapping) and has_sessions(root) else None
        if chain is not None:
            message = "replies of sessions are read by the chain of their formats"
            diagnostics.error("E204", message, chain.position, "remove `chain`")
        nodes = [node for _, listed in pairs(replies) for node in items_of(listed)]
        for node in nodes if not has_sessions(root) else ():
            if isinstance(node, Mapping):
                message = "a reply must be a single text; a mapping of replies needs `sessions`"
                diagnostics.error("E203", message, node.position, "quote it")


ADD_SESSIONS = "add `sessions: {name: {turns: [...]}}`, or `grade: {judge: ...}` with a prompt"
REFUSED = {
    "format": "each reply has its own format: `reply: {name: ..., format: ...}`",
    "mistakes": "use `decisions` or `figures` instead",
}


def _check_exclusive(root: Mapping, diagnostics: Diagnostics) -> None:
    kinds = [key for name in ("answer", "choices", "sessions") if (key := root.key(name)) is not None]
    if root.get("sessions") is not None:
        for key in kinds:
            if key.text != "sessions":
                message = (
                    f"a template has only one of `answer`, `choices` and `sessions`; this one also has `{key.text}`"
                )
                diagnostics.error("E204", message, key.position)
        if (prompt := root.key("prompt")) is not None:
            diagnostics.error(
                "E204",
                "`prompt` cannot be used with `sessions`",
                prompt.position,
                "put the text in a turn: `user: ...`",
            )


def _check_truth(root: Mapping, diagnostics: Diagnostics) -> None:
    truths = [key for name in KINDS if (key := root.key(name)) is not None]
    for key in sorted(truths, key=lambda key: key.position)[1:]:
        message, help = f"`{key.text}` is a second way to determine the verdict", f"use only one of {', '.join(KINDS)}"
        diagnostics.error("E204", message, key.position, help)
    if not truths:
        place = root.key("sessions") or root.pairs[0][0]
        message = "`sessions` need `grade`, `decisions` or `ranking`, which determine the verdict"
        diagnostics.error("E202", message, place.position, "add `grade: {correct: ...}`")
    grade = root.get("grade")
    if isinstance(grade, Mapping) and root.get("sessions") is not None:
        if (key := grade.key("judge")) is not None:
            message = "`judge` cannot be used with `sessions`"
            help = "let another model judge in a session of its own, with `model: judge`"
            diagnostics.error("E204", message, key.position, help)
        elif grade.get("correct") is None:
            diagnostics.error("E202", "`correct` is missing", grade.position, "add `correct: ...`")


def _check_preset(body: Node, diagnostics: Diagnostics) -> None:
    """Report a preset with an unknown study, and a second grading."""
    from dia_runtime.scoring.sessions.studies import STUDIES  # Report an unknown study, and a second way to grade.

    study = body.get("study") if isinstance(body, Mapping) else None
    if isinstance(study, Scalar) and study.text not in STUDIES:
        help = did_you_mean(study.text, STUDIES) or f"the studies are {', '.join(STUDIES)}"
        diagnostics.error("E204", f"unknown study `{study.text}`", study.position, help)
    truths = [key for name in KINDS if isinstance(body, Mapping) and (key := body.key(name)) is not None]
    for key in sorted(truths, key=lambda key: key.position)[1:]:
        message, help = f"`{key.text}` is a second way to determine the verdict", f"use only one of {', '.join(KINDS)}"
        diagnostics.error("E204", message, key.position, help)


def _check_judge(root: Mapping, grade: Node | None, diagnostics: Diagnostics) -> None:
    assert isinstance(grade, Mapping)
    for name in ("answer", "choices"):
        if (key := root.key(name)) is not None:
            message = f"`{name}` cannot be used with `judge`, which alone determines the verdict"
            diagnostics.error("E204", message, key.position, "give the judge the correct answer as its `reference`")
    for key, _ in grade.pairs:
        if key.text != "judge":
            diagnostics.error("E204", f"`{key.text}` cannot be used with `judge`", key.position, "use `labels` instead")
    judge = grade.get("judge")
    labels = judge.get("labels") if isinstance(judge, Mapping) else None
    labels_seen: dict[str, Scalar] = {}
    for _, listed in pairs(labels):
        for label in listed.items if isinstance(listed, Sequence) else ():
            if isinstance(label, Scalar) and labels_seen.setdefault(label.text.casefold(), label) is not label:
                diagnostics.error(
                    "E204", f"duplicate label `{label.text}`", label.position, "each label has one meaning"
                )
