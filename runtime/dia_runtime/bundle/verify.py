"""Differences between a bundle's folder and its manifest, and between its records and its root."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from dia_language.diagnostics import DiaError, Diagnostic, counted, visible

from dia_runtime.bundle import manifest as manifests
from dia_runtime.bundle.canonical import bundle_id
from dia_runtime.bundle.commitments import FILE as COMMITMENTS
from dia_runtime.bundle.commitments import commitments
from dia_runtime.bundle.files import integrity_error, measure, walk
from dia_runtime.bundle.merkle import MerkleTree
from dia_runtime.bundle.open import Bundle, manifest_file
from dia_runtime.bundle.records import is_listed, leaf_or_none, question_id
from dia_runtime.bundle.signing import signature_error

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

INCOMPLETE = frozenset(["missing", "added", "renamed"])
CODES = {
    "manifest": "E702",
    "changed": "E703",
    "missing": "E704",
    "added": "E705",
    "renamed": "E705",
    "link": "E706",
    "record": "E707",
    "answers": "E709",
    "signature": "E719",
    "digest": "E703",
}


class Recompiled(TypedDict):
    """The result of compiling again: whether it is the same, the differences in words, and the versions that differ."""

    same: bool
    differences: list[str]
    versions: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Problem:
    """One difference: its kind, its file, what was expected and what was found."""

    kind: str
    path: str
    message: str
    expected: str | None = None
    found: str | None = None

    @property
    def code(self) -> str:
        """Return the error code of its kind."""
        return CODES.get(self.kind, "E708")

    def as_diagnostic(self) -> Diagnostic:
        return Diagnostic(self.code, visible(f"`{self.path}` {self.message}"))


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of reading every byte of a bundle."""

    path: Path
    id: str
    manifest: dict[str, Any] | None
    problems: tuple[Problem, ...]
    not_covered: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether every listed file exists under its name, and no other file."""
        return self.manifest is not None and not any(entry.kind in INCOMPLETE for entry in self.problems)

    @property
    def is_valid(self) -> bool:
        """Return whether every existing file matches the manifest."""
        return self.manifest is not None and all(entry.kind in INCOMPLETE for entry in self.problems)


def verify(path: str | os.PathLike[str]) -> list[Problem]:
    """Return every difference between a bundle and its manifest, and the errors of its signature if it has one.

    The list is empty for a bundle that is complete and valid. Raises DiaError (exit 2) if there is no bundle.
    """
    verification = examine(path)
    return [*signature_problems(verification), *verification.problems]


def signature_problems(verification: Verification, key: Ed25519PublicKey | None = None) -> list[Problem]:
    """Return the errors of the signature by the key, or, without a key, by the one that an existing signature names."""
    why = signature_error(verification.path, verification.id, key)
    return [] if why is None else [Problem("signature", manifests.SIGNATURE, why)]


def examine(path: str | os.PathLike[str]) -> Verification:
    """Return the bundle's id, its manifest and every problem. Raises DiaError (exit 2) if there is no bundle."""
    folder = Path(path)
    encoded = manifest_file(folder)
    manifest, faults = manifests.read_manifest(encoded)
    name = bundle_id(encoded)
    problems = [Problem("manifest", manifests.NAME, f"is damaged or not from dia: {fault}") for fault in faults]
    if manifest is None:
        return Verification(folder, name, None, tuple(problems), _not_covered(folder))
    bundle = Bundle(folder, manifest, name)
    try:
        problems += file_problems(bundle)
        problems += record_problems(bundle, {entry.path for entry in problems})
    except OSError as error:
        message = visible(
            f"`{error.filename or folder}` cannot be read, so the bundle is not verified: {error.strerror}"
        )
        raise integrity_error("E711", message, "allow reading the file, or copy the bundle again") from None
    return Verification(folder, name, manifest, tuple(problems), _not_covered(folder))


def _not_covered(folder: Path) -> tuple[str, ...]:
    """Return the existing files that the bundle's digest does not cover."""
    return tuple(name for name in (manifests.PROVENANCE, manifests.SIGNATURE) if (folder / name).exists())


def file_problems(bundle: Bundle, already_read: Collection[str] = ()) -> list[Problem]:
    """Return the files that are missing, added, renamed, changed or links; `already_read` are not hashed."""
    listed = bundle.manifest["files"]
    present = dict(walk(bundle.path))
    links = [name for name, is_regular in present.items() if not is_regular]
    missing = [name for name in listed if name not in present]
    added = [name for name in present if name not in listed and name not in manifests.OUTSIDE | set(links)]
    problems = [Problem("link", name, "is a link or not a regular file") for name in links]
    problems += _moved(bundle, missing, added)
    changed = (name for name in listed if present.get(name) and name not in already_read)
    return problems + [problem for name in changed if (problem := _changed(bundle, name))]


def _changed(bundle: Bundle, name: str) -> Problem | None:
    measured, expected = measure(bundle.path, name, bundle.expected(name).size), bundle.expected(name)
    if measured == expected:
        return None
    message = f"differs from the manifest: expected {expected}, found {measured}"
    return Problem("changed", name, message, expected.sha256, measured.sha256)


def _moved(bundle: Bundle, missing: list[str], added: list[str]) -> Iterator[Problem]:
    """Yield missing and added files; a missing file that exists under another name is reported as renamed."""
    names_by_content = {bundle.expected(name): name for name in reversed(missing)}
    renamed = set()
    for name in added:
        origin = _origin(bundle, name, names_by_content)
        if origin and origin not in renamed:
            renamed.add(origin)
            yield Problem("renamed", name, f"is `{origin}` under another name", origin, name)
        else:
            yield Problem("added", name, "is not listed in the manifest")
    for name in missing:
        if name not in renamed:
            yield Problem("missing", name, "is missing", bundle.expected(name).sha256)


def _origin(bundle: Bundle, name: str, names_by_content: dict[Any, str]) -> str | None:
    size = (bundle.path / name).lstat().st_size
    if not any(entry.size == size for entry in names_by_content):
        return None
    return names_by_content.get(measure(bundle.path, name, size))


def record_problems(bundle: Bundle, faulty: Collection[str] = ()) -> list[Problem]:
    """Yield contradictions between records and manifest: root, ids, order, counts; `faulty` files are left out."""
    problems: list[Problem] = []
    question_files, answer_files = bundle.names("questions"), bundle.names("answers")
    try:
        if not set(question_files) & set(faulty):
            has_answers = bool(answer_files) and not set(answer_files) & set(faulty)
            problems += _question_problems(bundle, has_answers)
        if bundle.is_sealed and not {*question_files, COMMITMENTS} & set(faulty):
            problems += _commitment_problems(bundle)
        if not set(bundle.names("templates")) & set(faulty):
            problems += _count_problems(bundle, "templates", sum(1 for _ in bundle.templates()))
    except DiaError as error:
        problems += [_record_problem(entry, [*question_files, *answer_files]) for entry in error.diagnostics]
    return problems


def _commitment_problems(bundle: Bundle) -> Iterator[Problem]:
    """Yield the problems of a sealed bundle whose commitments are not one for each question, in order."""
    promised, count = commitments(bundle), 0
    for count, question in enumerate(bundle.questions(), 1):
        entry = next(promised, None)
        if entry is None or entry["id"] != question["id"]:
            id = None if entry is None else str(entry["id"])
            message = f"commits to `{id}` at line {count}, where the question is `{question['id']}`"
            yield Problem("answers", COMMITMENTS, message, question["id"], id)
            return
    if surplus := sum(1 for _ in promised):
        yield Problem("answers", COMMITMENTS, f"has {surplus} more commitments than there are questions", str(count))


def _record_problem(entry: Diagnostic, names: Iterable[str]) -> Problem:
    name = next((name for name in names if f"`{name}`" in entry.message), "templates.jsonl")
    return Problem("record", name, f"cannot be used: {entry.message}")


def _question_problems(bundle: Bundle, has_answers: bool) -> Iterator[Problem]:
    """Yield problems of the questions and their answers; both are read once, in parallel."""
    place = ", ".join(bundle.names("questions")) or "questions.jsonl"
    tree, ids, benchmark = MerkleTree(), _Ids(), bundle.manifest["benchmark"]
    answers = _Answers(bundle) if has_answers else None
    for question in bundle.questions():
        leaf = leaf_or_none(question)
        if leaf is None:  # the root cannot cover it
            yield Problem("record", place, f"has the question `{question['id']}`, which has no canonical form")
        tree.add(leaf or bytes(32))
        ids.add(question)
        if question["id"] != question_id(benchmark, question):
            ids.are_ordered = False
            yield Problem("record", place, f"has the id `{question['id']}`, which does not match its other fields")
        if answers is not None:
            yield from answers.compare(question["id"])
        for asset in question.get("assets", ()):
            if not is_listed(asset, bundle.manifest["files"]):
                yield Problem("record", place, f"names an asset of `{question['id']}` that the manifest does not list")
    if not ids.are_ordered and _has_duplicate_ids(bundle):
        yield Problem("record", place, "has two questions with the same id")
    yield from _count_problems(bundle, "questions", ids.count, place)
    yield from _count_problems(bundle, "items", len(ids.items), place)
    if tree.root() != bundle.questions_root:
        message = f"has the questions root {tree.root()}, but the manifest says {bundle.questions_root}"
        yield Problem("root", place, message, bundle.questions_root, tree.root())
    if answers is not None:
        yield from answers.end(ids.count)


class _Ids:
    """Checks that questions have the order in which bundles are compiled: item by item, instances ascending.

    As long as they do, no two ids can be equal, and only the names of items need to be remembered.
    """

    def __init__(self) -> None:
        self.count, self.items, self.are_ordered = 0, set[str](), True
        self.item, self.instance, self.variants = "", -1, set[str | None]()

    def add(self, question: dict[str, Any]) -> None:
        """Add the id of the next question."""
        self.count += 1
        item, instance, variant = question["item"], question["instance"], question["variant"]
        if item != self.item or self.count == 1:
            self.are_ordered &= item not in self.items
            self.items.add(item)
            self.item, self.instance, self.variants = item, instance, {variant}
        elif instance != self.instance:
            self.are_ordered &= instance > self.instance
            self.instance, self.variants = instance, {variant}
        else:
            self.are_ordered &= variant not in self.variants
            self.variants.add(variant)


def _has_duplicate_ids(bundle: Bundle) -> bool:
    """Return whether two questions have the same id, anywhere in the bundle."""
    digests: set[bytes] = set()
    for count, question in enumerate(bundle.questions(), 1):
        digests.add(hashlib.sha256(question["id"].encode("utf-8", "surrogatepass")).digest()[:16])
        if len(digests) != count:
            return True
    return False


class _Answers:
    """The answers of a bundle, compared with its questions one by one."""

    def __init__(self, bundle: Bundle) -> None:
        self.place = ", ".join(bundle.names("answers"))
        self.left = bundle.answers()
        self.count, self.agrees = 0, True

    def compare(self, id: str) -> Iterator[Problem]:
        """Compare the next answer with this id; report the first that has another."""
        answer = next(self.left, None)
        if answer is None:
            return
        self.count += 1
        if self.agrees and answer["id"] != id:
            self.agrees = False
            message = f"answers `{answer['id']}` at line {self.count}, where the question is `{id}`"
            yield Problem("answers", self.place, message, id, answer["id"])

    def end(self, questions: int) -> Iterator[Problem]:
        """Read the rest; report if the number of answers differs from the number of questions."""
        self.count += sum(1 for _ in self.left)
        if self.agrees and self.count != questions:
            message = f"has {counted(self.count, 'answer')} for {counted(questions, 'question')}"
            yield Problem("answers", self.place, message, str(questions), str(self.count))


def _count_problems(bundle: Bundle, name: str, count: int, place: str = "templates.jsonl") -> Iterator[Problem]:
    expected = bundle.manifest["counts"][name]
    if count != expected:
        message = f"gives {count} {name}, the manifest says {expected}"
        yield Problem("counts", place, message, str(expected), str(count))
