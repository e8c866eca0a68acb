"""The bundle that has the answers of runs, after checking that it is theirs and undamaged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dia_language.counts import counted
from dia_language.diagnostics import visible

from dia_runtime.bundle.files import integrity_error, measure, open_inside
from dia_runtime.bundle.open import LONGEST_LINE, Bundle, open_bundle
from dia_runtime.bundle.records import leaf_or_none
from dia_runtime.bundle.strict_json import parse_json
from dia_runtime.store.store import Store, require_answers_of, require_root

KINDS = {"questions": "question", "answers": "answer"}  # the files that grading and pages read
MOST_NAMED = 5


def open_source(
    bundle: str | os.PathLike[str] | None, stores: Sequence[Store], others_allowed: bool = False
) -> Bundle | None:
    """Open the bundle with the answers of the runs; None if no bundle is named.

    Raises DiaError (exit 3) if a run has replies to other questions, or if a file of questions or answers is damaged.
    With `others_allowed`, runs of other bundles may be among them, but not alone.
    """
    if bundle is None:
        return None
    source = open_bundle(bundle)
    own = [store for store in stores if is_of(store, source)]
    for store in own if others_allowed and own else stores:
        require_root(store, source.questions_root)
        require_answers_of(store, source)
    for kind in KINDS:
        for name in source.names(kind):
            _require_intact(source, kind, name, own)
    return source


def is_of(store: Store, bundle: Bundle) -> bool:
    """Return whether the run has replies to the questions of this bundle."""
    return bool(store.facts.get("questions_root") == bundle.questions_root)


def _require_intact(bundle: Bundle, kind: str, name: str, stores: Sequence[Store]) -> None:
    """Check a file against the manifest. Raises DiaError (exit 3) that names the damaged records as far as possible."""
    expected = bundle.expected(name)
    try:
        measured = measure(bundle.path, name, expected.size)
    except FileNotFoundError:
        error = integrity_error("E704", f"`{name}` is missing from `{bundle.path}`")
    else:
        if measured == expected:
            return
        error = bundle.differs(name, measured)
    (diagnostic,) = error.diagnostics
    damaged = [] if not stores or diagnostic.code == "E704" else list(_damaged_records(bundle, kind, name, stores[0]))
    names = ", ".join(f"`{one}`" for one in damaged[:MOST_NAMED]) + (", ..." if len(damaged) > MOST_NAMED else "")
    listed = f". It differs from the run in {counted(len(damaged), KINDS[kind])}: {names}" if damaged else ""
    help = "get a new copy of the bundle, or compile it again"
    if stores and all(store.has_answers for store in stores):
        help = f"leave out `--bundle`, because the run contains its answers; or {help}"
    raise integrity_error(diagnostic.code, visible(diagnostic.message + listed), help)


def _damaged_records(bundle: Bundle, kind: str, name: str, store: Store) -> Iterator[str]:
    """Yield the ids of the file's records that differ from those in the run, and the lines that are no records."""
    is_same = _is_same_question if kind == "questions" else _is_same_answer
    with open_inside(bundle.path, name) as file:
        for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1):
            record = _parsed(raw)
            if store.position(str(record.get("id"))) is None:
                yield f"line {number}"
            elif not is_same(store, record):
                yield str(record["id"])


def _is_same_question(store: Store, question: Mapping[str, Any]) -> bool:
    position = store.position(str(question["id"]))
    return position is not None and leaf_or_none(question) == store.leaf(position)


def _is_same_answer(store: Store, answer: Mapping[str, Any]) -> bool:
    """Return whether the run has the same answer, as far as it has one."""
    grading = store.grading(str(answer["id"])) or {}
    return all(answer.get(name) == value for name, value in grading.items())


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        record = parse_json(raw)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
