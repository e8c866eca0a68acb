"""`dia diff`: what differs between two bundles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import click
from dia_language.diagnostics import visible

from dia_runtime.bundle.diff import Change, ChangesRecord, Difference, FactChange, compare
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo

LINES = 10


@click.command("diff")
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@json_option
def command(old: Path, new: Path, as_json: bool) -> int:
    """Show what differs between two bundles.

    Lists the questions in groups: unchanged questions with a changed answer (or grading), changed questions with a
    changed answer, all changed questions (including those of the group before), added and removed ones, and unchanged
    questions with changed metadata. The differences in templates, specs, manifest entries and library versions follow.
    Exit code 1 if the bundles differ.

    \b
    Example:
      dia diff build/dia_bench-0.2.0-k5 build/dia_bench-1.0.0-k5
    """
    with activity("comparing"):
        difference = compare(open_bundle(old), open_bundle(new))
    facts = difference_json(difference)
    echo(json.dumps(facts, indent=2) if as_json else visible("\n".join(_text_lines(facts))))
    return 0 if difference.is_equal else 1


class BundleFacts(TypedDict):
    """Which bundle was compared."""

    path: str
    digest: str
    questions_root: str


class DifferenceRecord(TypedDict):
    """What `dia diff --json` prints."""

    old: BundleFacts
    new: BundleFacts
    equal: bool
    same_questions: bool
    answers_changed_alone: ChangesRecord
    answers_changed: ChangesRecord
    questions_changed: ChangesRecord
    questions_added: ChangesRecord
    questions_removed: ChangesRecord
    questions_relabelled: ChangesRecord
    templates: dict[str, list[str]]
    specs: dict[str, list[str]]
    manifest: list[FactChange]
    versions: list[FactChange]


def difference_json(difference: Difference) -> DifferenceRecord:
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


def _bundle_facts(bundle: Bundle) -> BundleFacts:
    return {"path": bundle.path.as_posix(), "digest": bundle.id, "questions_root": bundle.questions_root}


def _text_lines(facts: DifferenceRecord) -> Iterator[str]:
    old, new = facts["old"], facts["new"]
    if facts["equal"]:
        yield f"equal: {old['digest']}"
    else:
        yield f"old {old['path']}\n    {old['digest']}"
        yield f"new {new['path']}\n    {new['digest']}"
        others = facts["questions_added"]["count"] + facts["questions_removed"]["count"]
        if others and not facts["questions_changed"]["count"]:
            yield "questions differ: some were added or removed, none changed"
        else:
            yield f"questions {'are the same' if facts['same_questions'] else 'differ'}"
    yield from _change_lines("answers changed, questions unchanged", facts["answers_changed_alone"])
    yield from _change_lines("answers and questions changed", facts["answers_changed"])
    both = facts["answers_changed"]["count"]
    note = f" ({both:,} of them with a changed answer)" if both else ""
    yield from _change_lines("questions changed", facts["questions_changed"], note)
    yield from _change_lines("questions added", facts["questions_added"])
    yield from _change_lines("questions removed", facts["questions_removed"])
    yield from _change_lines("metadata changed, questions unchanged", facts["questions_relabelled"])
    for what, names_by_change in (("templates", facts["templates"]), ("specs", facts["specs"])):
        for how, names in names_by_change.items():
            if names:
                yield f"{what} {how}: {', '.join(names)}"
    for head, entries in (("manifest", facts["manifest"]), ("made with", facts["versions"])):
        for entry in entries:
            yield f"{head}: {entry['name']} {_short(entry['old'])} -> {_short(entry['new'])}"


def _change_lines(head: str, changes: ChangesRecord, note: str = "") -> Iterator[str]:
    if not changes["count"]:
        return
    yield f"{head}: {changes['count']:,}{note}"
    for entry in changes["listed"][:LINES]:
        yield f"  {entry['id']}{_old_and_new(entry)}"
    if changes["count"] > LINES:
        yield f"  and {changes['count'] - LINES:,} more"


def _old_and_new(entry: Change) -> str:
    if "old" not in entry or "new" not in entry:
        return ""
    if entry["old"] == entry["new"]:
        return f": {_short(entry['old'])}, same text but compared differently"
    return f": {_short(entry['old'])} -> {_short(entry['new'])}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
