"""Seal a bundle: its answers go into an encrypted file, and a commitment to each of them stays readable."""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle import manifest as manifests
from dia_runtime.bundle import sealed_file
from dia_runtime.bundle.atomic_output import atomic_folder
from dia_runtime.bundle.canonical import bundle_id, canonical_line, manifest_bytes
from dia_runtime.bundle.cipher import KEY
from dia_runtime.bundle.commitments import FILE, commitment_record
from dia_runtime.bundle.files import integrity_error, open_inside
from dia_runtime.bundle.open import Bundle, manifest_file, open_bundle
from dia_runtime.bundle.verify import examine

FORMAT = 1
UNSEALED = "name the bundle with its answers, as `dia compile` or `dia unseal` wrote it"
LEAST_BITS = 128
# Entries of the manifest that stay public; the others would reveal specs, seed or answers.
PUBLIC = frozenset(
    ["format", "language", "benchmark", "title", "version", "license", "canary", "k", "counts", "points"]
).union(["answer_format", "questions_root", "templates", "selection", "left_out"])
EMPTIED = ("functions", "types", "builders", "word_lists")
# Entries of a template's record that stay public; any other could reveal its answers, its source or the seed.
PUBLIC_FACTS = frozenset(
    [
        "template",
        "title",
        "number",
        "category",
        "domain",
        "level",
        "adversarial",
        "degree_of_freedom",
        "items",
        "canary",
    ]
)
PUBLIC_FILES = re.compile(r"(questions(-[0-9]{5,})?\.jsonl|assets/.+)")
WORD = re.compile(r"(?:[A-Z]?[a-z]{2,11}|[A-Z]{3,12})(?![A-Za-z])[^A-Za-z0-9]*")
WORD_BITS = 14  # a word of a list of 16,384 words
# Character sets of seeds, the smallest first: pattern and number of characters.
ALPHABETS = ((r"[0-9]+", 10), (r"[0-9a-f]+|[0-9A-F]+", 16), (r"[a-z0-9]+|[A-Z0-9]+", 36), (r"[A-Za-z0-9]+", 62))


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed bundle on disk, and the digest of the bundle from which it was made."""

    path: Path
    id: str
    questions_root: str
    original: str
    answers: int


def seal(source: Path, passphrase: str, target: Path, is_weak: bool = False, force: bool = False) -> Sealed:
    """Write the sealed bundle to the target. Raises DiaError: exit 3 for a damaged bundle, 2 for a weak seed."""
    bundle = open_bundle(source)
    require_sealable(bundle, is_weak)
    if problems := examine(source).problems:
        raise DiaError([problem.as_diagnostic() for problem in problems], 3)
    key = secrets.token_bytes(KEY)
    header = sealed_file.new_header(passphrase, key, bundle.questions_root)
    with atomic_folder(target, force, source) as folder:
        public = _public_files(bundle)
        files: dict[str, Any] = {
            name: _write_file(folder, name, bundle.verified_pieces(name)) for name in sorted(public)
        }
        files[FILE] = _write_file(
            folder, FILE, (canonical_line(commitment_record(key, answer)) + b"\n" for answer in bundle.answers())
        )
        files["templates.jsonl"] = _write_file(folder, "templates.jsonl", map(_public_template, bundle.templates()))
        pieces = sealed_file.sealed_bytes(header, key, _members(bundle, public))
        files[sealed_file.NAME] = _write_file(folder, sealed_file.NAME, pieces)
        encoded = manifest_bytes(_public_manifest(bundle.manifest, files))
        (folder / manifests.NAME).write_bytes(encoded)
    answers = bundle.manifest["counts"]["questions"]
    return Sealed(target, bundle_id(encoded), bundle.questions_root, bundle.id, answers)


def require_sealable(bundle: Bundle, is_weak: bool) -> None:
    """Check that the bundle has answers and a seed that cannot be guessed. Raises DiaError (exit 2) otherwise."""
    if bundle.is_sealed:
        raise DiaError(Diagnostic("E723", visible(f"`{bundle.path}` is already sealed"), None, UNSEALED))
    if not bundle.has_answers:
        raise DiaError(Diagnostic("E723", visible(f"`{bundle.path}` has no answers to seal"), None, UNSEALED))
    if not is_weak:
        _refuse_weak(bundle.manifest["seed"])


def _refuse_weak(seed: Any) -> None:
    bits = seed_bits(str(seed))
    if bits < LEAST_BITS:
        message = f"the seed has only about {bits} bits, so it can be guessed and the answers generated from it"
        fix = f"use `dia compile --seed secret`, which draws 256 bits, or --weak to seal with fewer than {LEAST_BITS}"
        raise DiaError(Diagnostic("E722", message, None, fix))


def seed_bits(seed: str) -> int:
    """Return the maximum entropy of a seed in bits, by its characters; each of its words counts as one of 16,384.

    >>> seed_bits("0"), seed_bits("spring-2026-of-the-benchmark")
    (0, 88)
    >>> seed_bits("a8f3" * 16), seed_bits("0123456789abcdef" * 4)
    (128, 256)
    """
    size = next((size for pattern, size in ALPHABETS if re.fullmatch(pattern, seed)), 95)
    distinct = len(set(seed))
    each = math.log2(max(1, min(size, distinct) if distinct < 8 else size))
    words = [] if size <= 16 else [match[0] for match in WORD.finditer(seed)]
    if 5 * sum(map(len, words)) < 4 * len(seed):  # random letters make short words by chance
        words = []
    others = len(seed) - sum(map(len, words))
    return int(sum(min(WORD_BITS, len(word) * each) for word in words) + others * each)


def _public_files(bundle: Bundle) -> set[str]:
    """Yield the files that asking needs: the questions, and the assets that they name."""
    public = {name for name in bundle.manifest["files"] if PUBLIC_FILES.fullmatch(name)}
    questions = set(bundle.names("questions"))
    if public == questions:
        return questions
    named = {str(asset["path"]) for question in bundle.questions() for asset in question.get("assets", ())}
    return questions | (public & named)


def _members(bundle: Bundle, public: set[str]) -> list[tuple[str, int, Iterable[bytes]]]:
    """Yield the files to seal, the answers first, so that a single answer is found quickly."""
    encoded = manifest_file(bundle.path)
    if bundle_id(encoded) != bundle.id:
        raise integrity_error(
            "E702", visible(f"`{manifests.NAME}` of `{bundle.path}` changed while it was being sealed")
        )
    listed = sorted(name for name in bundle.manifest["files"] if name not in public)
    answers = bundle.names("answers")
    names = [*answers, *(name for name in listed if name not in answers)]
    members: list[tuple[str, int, Iterable[bytes]]] = [(manifests.NAME, len(encoded), (encoded,))]
    members += [(name, bundle.expected(name).size, bundle.verified_pieces(name)) for name in names]
    beside = [name for name in (manifests.PROVENANCE, manifests.SIGNATURE) if (bundle.path / name).is_file()]
    return members + [_whole(bundle, name) for name in beside]


def _whole(bundle: Bundle, name: str) -> tuple[str, int, Iterable[bytes]]:
    with open_inside(bundle.path, name) as file:
        content = file.read(manifests.LARGEST + 1)
    if len(content) > manifests.LARGEST:
        raise integrity_error("E702", f"`{name}` is larger than {manifests.LARGEST} bytes")
    return name, len(content), (content,)


def _public_template(record: Mapping[str, Any]) -> bytes:
    return canonical_line({name: value if name in PUBLIC_FACTS else None for name, value in record.items()}) + b"\n"


def _public_manifest(manifest: Mapping[str, Any], files: Mapping[str, Any]) -> dict[str, Any]:
    public = {name: value for name, value in manifest.items() if name in PUBLIC}
    sealed = {"format": FORMAT, "file": sealed_file.NAME, "commitments": FILE}
    emptied: dict[str, Any] = {name: {} for name in EMPTIED}
    return manifests.with_checksum({**public, **emptied, "seed": None, "files": dict(files), "sealed": sealed})


def _write_file(folder: Path, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    """Write a file, and return its entry in the manifest."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        digest, size = hashlib.sha256(), 0
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"size": size, "sha256": digest.hexdigest()}


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file that arrives in pieces, each with its end."""
    end = b""
    for piece in pieces:
        *complete, end = (end + piece).split(b"\n")
        for part in complete:
            yield part + b"\n"
    if end:
        yield end
