"""Restore the bundle from a sealed bundle and its passphrase, or the answer to one question."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.bundle import sealed_file
from dia_runtime.bundle.atomic_output import atomic_folder
from dia_runtime.bundle.cipher import damaged_seal
from dia_runtime.bundle.commitments import commitment_record, commitments, make_proof
from dia_runtime.bundle.files import integrity_error, open_inside
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.bundle.records import ANSWER, shape_error
from dia_runtime.bundle.seal import PUBLIC, PUBLIC_FILES, lines_of
from dia_runtime.bundle.sealed_file import SealedFiles
from dia_runtime.bundle.strict_json import parse_json
from dia_runtime.bundle.verify import examine

SEALED_WRONG = "get a new copy; if that fails too, whoever sealed the bundle committed to other answers"
NEAR = 20_000  # in larger bundles, no similar id is suggested


def unseal(source: Path, passphrase: str, target: Path, force: bool = False) -> Bundle:
    """Write the bundle that was sealed, with the same bytes, to the target and return it.

    Raises DiaError (exit 3) for a wrong passphrase, and if a byte of the bundle or seal was changed; then nothing is
    written.
    """
    bundle = sealed_bundle(source)
    if problems := examine(source).problems:
        raise DiaError([problem.as_diagnostic() for problem in problems], 3)
    with _opened(bundle, passphrase) as (key, sealed_files), atomic_folder(target, force, source) as folder:
        for name, pieces in sealed_files.members():
            _write(folder, name, pieces)
        for name in filter(PUBLIC_FILES.fullmatch, bundle.manifest["files"]):
            _write(folder, name, bundle.pieces(name))
        _require_same(bundle, folder, key)
    return open_bundle(target)


def sealed_bundle(source: Path) -> Bundle:
    """Open a sealed bundle. Raises DiaError: exit 2 if it is not sealed, 3 for a seal of another version."""
    bundle = open_bundle(source)
    if not bundle.is_sealed:
        help = "`dia seal` seals a bundle; `dia show` shows the answers of one that is not sealed"
        raise DiaError(Diagnostic("E723", visible(f"`{source}` is not sealed"), None, help))
    facts = bundle.manifest["sealed"]
    if facts.get("format") != sealed_file.FORMAT or facts.get("file") != sealed_file.NAME:
        message = f"`{source}` was sealed by another version: this one reads format {sealed_file.FORMAT}"
        raise damaged_seal(message, "use the version of dia that sealed it")
    return bundle


@contextmanager
def _opened(bundle: Bundle, passphrase: str) -> Iterator[tuple[bytes, SealedFiles]]:
    """Return the sealing key and the sealed files."""
    if sealed_file.NAME not in bundle.manifest["files"]:
        raise damaged_seal(f"the manifest of `{bundle.path}` does not list `{sealed_file.NAME}`")
    try:
        file = open_inside(bundle.path, sealed_file.NAME)
    except FileNotFoundError:
        raise integrity_error("E704", visible(f"`{sealed_file.NAME}` is missing from `{bundle.path}`")) from None
    with file:
        header = sealed_file.read_header(file)
        if header.facts.get("questions_root") != bundle.questions_root:
            raise damaged_seal(f"`{sealed_file.NAME}` was sealed for other questions")
        key = header.key(passphrase)
        yield key, sealed_file.open_sealed(header, key, file)


def _write(folder: Path, name: str, pieces: Iterable[bytes]) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    except (FileExistsError, NotADirectoryError):
        raise damaged_seal(f"`{sealed_file.NAME}` contains `{name}`, but another file has that path") from None
    with file:
        file.writelines(pieces)


def _require_same(bundle: Bundle, folder: Path, key: bytes) -> None:
    """Check that the folder is a valid bundle of the same questions whose answers match all commitments."""
    if problems := examine(folder).problems:
        problem = problems[0].as_diagnostic().message
        raise damaged_seal(f"the sealed content is not a valid bundle: {problem}")
    unsealed = open_bundle(folder)
    if unsealed.questions_root != bundle.questions_root or unsealed.is_sealed:
        raise damaged_seal(f"`{sealed_file.NAME}` contains a bundle of other questions")
    _require_same_facts(bundle, unsealed)
    promised = ({"id": entry["id"], "commitment": entry["commitment"]} for entry in commitments(bundle))
    for answer in unsealed.answers():
        actual = commitment_record(key, answer)
        if next(promised, None) != {"id": actual["id"], "commitment": actual["commitment"]}:
            message = f"the answer of `{answer['id']}` does not match its commitment in the sealed bundle"
            raise integrity_error("E724", visible(message), SEALED_WRONG)


def _require_same_facts(bundle: Bundle, unsealed: Bundle) -> None:
    """Check that the public facts of the sealed bundle (points, k, labels ...) match those of the bundle inside."""
    for what, public, inside in _public_and_sealed_facts(bundle, unsealed):
        if public != inside:
            raise damaged_seal(f"{what} was changed after `{bundle.path}` was sealed")


def _public_and_sealed_facts(bundle: Bundle, unsealed: Bundle) -> Iterator[tuple[str, Any, Any]]:
    """Yield each public fact: its name, its value in the sealed bundle, and its value in the bundle inside."""
    for name in sorted(PUBLIC & bundle.manifest.keys()):
        yield f"`{name}` of its manifest", bundle.manifest[name], unsealed.manifest.get(name)
    sealed_templates = {record["template"]: record for record in unsealed.templates()}
    for record in bundle.templates():
        inside = sealed_templates.get(record["template"], {})
        public = {name: value for name, value in record.items() if value is not None}
        yield from ((f"`{name}` of a template", value, inside.get(name)) for name, value in public.items())


def prove(source: Path, id: str, passphrase: str) -> dict[str, Any]:
    """Return the proof for one question. Raises DiaError: exit 2 for an unknown question, 3 for a wrong passphrase."""
    bundle = sealed_bundle(source)
    name = _question(bundle, id)
    with _opened(bundle, passphrase) as (key, sealed_files):
        answer = _answer(sealed_files, name)
        promised = [entry["commitment"] for entry in commitments(bundle) if entry["id"] == name]
        proof = make_proof(bundle, key, answer)
    if promised != [proof["commitment"]]:
        message = f"the sealed answer of `{name}` does not match its commitment in the bundle"
        raise integrity_error("E724", visible(message), SEALED_WRONG)
    return proof


def _question(bundle: Bundle, id: str) -> str:
    """Return the full id of a question; the name of the benchmark may be omitted."""
    accepted, ids = {id, f"{bundle.manifest['benchmark']}/{id}"}, []
    for entry in commitments(bundle):
        if entry["id"] in accepted:
            return str(entry["id"])
        ids.append(entry["id"])
    near = did_you_mean(id, ids) if len(ids) <= NEAR else None
    raise DiaError(Diagnostic("E809", visible(f"`{bundle.path}` has no question `{id}`"), None, near))


def _answer(sealed_files: SealedFiles, id: str) -> dict[str, Any]:
    """Return the answer to the question with this id."""
    for name, pieces in sealed_files.members():
        if not name.startswith("answers"):
            deque(pieces, 0)  # skips them
            continue
        for raw in lines_of(pieces):
            if (answer := _record(raw))["id"] == id:
                return answer
    raise damaged_seal(f"`{sealed_file.NAME}` has no answer to `{id}`")


def _record(raw: bytes) -> dict[str, Any]:
    try:
        answer = parse_json(raw)
    except ValueError:
        answer = None
    if why := shape_error(answer, ANSWER):
        raise integrity_error("E707", f"a line of the sealed answers is not a valid record: {why}")
    record: dict[str, Any] = answer
    return record
