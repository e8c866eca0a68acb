"""`dia diff`: what differs between two bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from dia_language.diagnostics import visible

from dia_runtime.bundle.diff import Difference, compare
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity

LINES = 10


@click.command("diff")
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@json_option
def command(old: Path, new: Path, as_json: bool) -> int:
    """Tell what differs between two bundles.

    First come the questions that are asked as before and have another answer; then changed answers, changed, added
    and removed questions, templates, specs, facts of the manifest, and versions of libraries. Exit code 1 where the
    bundles differ.

    \b
    Example:
      dia diff build/dia_bench-0.2.0-k5 build/dia_bench-0.3.3-k5
    """
    with activity("comparing"):
        difference = compare(open_bundle(old), open_bundle(new))
    facts = difference_json(difference)
    click.echo(json.dumps(facts, indent=2) if as_json else visible("\n".join(_text_lines(facts))))
    return 0 if difference.is_equal else 1


def difference_json(difference: Difference) -> dict[str, Any]:
    """What `dia diff --json` prints."""
    return {
        "old": _bundle_facts(difference.old),
        "new": _bundle_facts(difference.new),
        "equal": difference.is_equal,
        "same_questions": difference.old.questions_root == difference.new.questions_root,
        "answers_changed_alone": difference.alarming.as_json(),
        "answers_changed": difference.answers.as_json(),
        "questions_changed": difference.questions.as_json(),
        "questions_added": difference.added.as_json(),
        "questions_removed": difference.removed.as_json(),
        "questions_relabelled": difference.relabelled.as_json(),
        "templates": difference.templates,
        "specs": difference.specs,
        "manifest": difference.manifest,
        "versions": difference.versions,
    }


def _bundle_facts(bundle: Bundle) -> dict[str, str]:
    return {"path": bundle.path.as_posix(), "digest": bundle.id, "questions_root": bundle.questions_root}


HEADS = {
    "answers_changed_alone": "answers changed although the questions did not",
    "answers_changed": "answers changed with their questions",
    "questions_changed": "questions changed",
    "questions_added": "questions added",
    "questions_removed": "questions removed",
    "questions_relabelled": "questions with other facts, asked as before",
}


def _text_lines(facts: dict[str, Any]) -> Iterator[str]:
    old, new = facts["old"], facts["new"]
    if facts["equal"]:
        yield f"equal: {old['digest']}"
    else:
        yield f"old {old['path']}\n    {old['digest']}"
        yield f"new {new['path']}\n    {new['digest']}"
        yield f"questions: {'the same' if facts['same_questions'] else 'others'}"
    for name, head in HEADS.items():
        yield from _change_lines(head, facts[name])
    for what in ("templates", "specs"):
        for how, names in facts[what].items():
            if names:
                yield f"{what} {how}: {', '.join(names)}"
    for what, head in (("manifest", "manifest"), ("versions", "made with")):
        for entry in facts[what]:
            yield f"{head}: {entry['name']} {_short(entry['old'])} -> {_short(entry['new'])}"


def _change_lines(head: str, changes: dict[str, Any]) -> Iterator[str]:
    if not changes["count"]:
        return
    yield f"{head}: {changes['count']}"
    for entry in changes["listed"][:LINES]:
        yield f"  {entry['id']}{_old_and_new(entry) if 'old' in entry else ''}"
    if changes["count"] > LINES:
        yield f"  and {changes['count'] - LINES} more"


def _old_and_new(entry: dict[str, Any]) -> str:
    if entry["old"] == entry["new"]:
        return f": {_short(entry['old'])}, compared otherwise"
    return f": {_short(entry['old'])} -> {_short(entry['new'])}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
