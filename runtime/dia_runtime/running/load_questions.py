"""Store a bundle's questions in a run, after checking that the bundle is intact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from dia_language.diagnostics import DiaError, visible
from dia_runtime.bundle.canonical import compact_json
from dia_runtime.bundle.files import integrity_error
from dia_runtime.bundle.merkle import MerkleTree
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.records import leaf_or_none
from dia_runtime.bundle.verify import file_problems
from dia_runtime.store.schema import StoredQuestion
from dia_runtime.store.store import Store

STORED_FACTS = ("benchmark", "title", "version", "license", "seed", "k", "counts", "points")
STEERING_FACTS = ("bank", "model", "ability", "success", "difficulty", "refused")
LABELS = ("template", "item", "instance", "variant", "category", "domain", "level")
NOT_FOR_GRADING = frozenset(["id", "template", "explanation", "canary"])
Record = Mapping[str, Any]


def load_questions(store: Store, bundle: Bundle) -> int:
    """Store the questions unless the run has them, and return their number.

    Raises DiaError (exit 3) if anything of the bundle is damaged, so that no question of such a bundle is
    ever asked. Files that are read here anyway are hashed while they pass, the others beforehand.
    """
    is_new = store.is_empty
    passing = [name for kind in ("questions", "answers", "templates") for name in bundle.names(kind)]
    problems = file_problems(bundle, passing if is_new else ())
    if problems:
        raise DiaError([problem.as_diagnostic() for problem in problems], 3)
    if is_new:
        facts = {name: bundle.manifest[name] for name in STORED_FACTS}
        if steering := bundle.manifest.get("steering"):  # what the instances were chosen for, without how
            facts["steering"] = {name: steering.get(name) for name in STEERING_FACTS}
        names = {"bundle_id": bundle.id, "questions_root": bundle.questions_root}
        store.initialize({**facts, **names}, _questions(bundle))
    return store.size


def _questions(bundle: Bundle) -> Iterator[StoredQuestion]:
    templates = {record["template"]: record for record in bundle.templates()}
    tree = MerkleTree()
    for position, (question, answer) in enumerate(_pairs(bundle)):
        leaf = leaf_or_none(question)
        if leaf is None:
            raise integrity_error("E707", visible(f"the question `{question['id']}` has no canonical form"))
        tree.add(leaf)
        yield _stored_question(position, leaf, question, answer, templates.get(question["template"], {}))
    if tree.root() != bundle.questions_root:
        raise integrity_error("E708", f"the questions of `{bundle.path}` do not match its `questions_root`")


def _pairs(bundle: Bundle) -> Iterator[tuple[Record, Record | None]]:
    """Yield each question with its answer, or with None if the answers are withheld."""
    if not bundle.has_answers:
        yield from ((question, None) for question in bundle.questions())
        return
    for question, answer in zip_longest(bundle.questions(), bundle.answers()):
        if question is None or answer is None or answer["id"] != question["id"]:
            raise integrity_error("E709", f"the answers of `{bundle.path}` do not match its questions")
        yield question, answer


def _stored_question(
    position: int, leaf: bytes, question: Record, answer: Record | None, template: Record
) -> StoredQuestion:
    grading = {name: value for name, value in (answer or {}).items() if name not in NOT_FOR_GRADING}
    return StoredQuestion(
        position=position,
        id=question["id"],
        leaf=leaf,
        **{name: question[name] for name in LABELS},
        adversarial=_label(template.get("adversarial")),
        number=_label(template.get("number")),
        format=compact_json(question["format"]),
        points=compact_json(question["points"]),
        grading=compact_json(grading) if answer else None,
        skills=compact_json(_skills(question.get("skills"))),
    )


def _skills(value: Any) -> list[str]:
    return [str(skill) for skill in value] if isinstance(value, list) else []


def _label(value: Any) -> Any:
    return value if value is None or type(value) is int else str(value)
