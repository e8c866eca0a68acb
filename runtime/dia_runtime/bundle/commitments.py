"""Commitments to the answers of a sealed bundle, and proofs that reveal one answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from dia_language.diagnostics import DiaError, visible

from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.cipher import derive_key
from dia_runtime.bundle.files import integrity_error
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.records import ANSWER, shape_error
from dia_runtime.bundle.strict_json import parse_json

NAME = "commitments"
FILE = f"{NAME}.jsonl"
MARK = b"dia-commitment-1\n"
SALT = 32
PROOF_FORMAT = 1
Record = Mapping[str, Any]


def salt_of(sealing_key: bytes, id: str) -> bytes:
    """Return the 32 bytes of salt for a question's answer. They reveal neither the key nor another salt."""
    return derive_key(sealing_key, f"dia seal 1: salt of {id}")


def commitment(salt: bytes, answer: Record) -> str:
    """Return the SHA-256, in hex, of a mark, the salt and the answer's canonical line without its end."""
    try:
        encoded = canonical_line(answer)
    except (ValueError, RecursionError):
        raise integrity_error("E707", visible(f"the answer of `{answer['id']}` has no canonical form")) from None
    return hashlib.sha256(MARK + salt + encoded).hexdigest()


def commitment_record(sealing_key: bytes, answer: Record) -> dict[str, Any]:
    """Return the record of `commitments.jsonl` for an answer."""
    record = {"id": answer["id"], "commitment": commitment(salt_of(sealing_key, answer["id"]), answer)}
    return record | ({"canary": answer["canary"]} if "canary" in answer else {})


def make_proof(bundle: Bundle, sealing_key: bytes, answer: Record) -> dict[str, Any]:
    """Return an answer and its salt, with which anyone can check the answer's commitment."""
    salt = salt_of(sealing_key, answer["id"])
    return {
        "format": PROOF_FORMAT,
        "kind": "dia-proof",
        "bundle_id": bundle.id,
        "questions_root": bundle.questions_root,
        "id": answer["id"],
        "answer": dict(answer),
        "salt": salt.hex(),
        "commitment": commitment(salt, answer),
    }


def read_proof(encoded: bytes) -> dict[str, Any]:
    """Return the proof in a file's bytes. Raises DiaError (exit 3) for anything else."""
    try:
        proof = parse_json(encoded)
    except ValueError as error:
        raise _proof_error(f"it cannot be read: {error}") from None
    if not isinstance(proof, dict) or proof.get("kind") != "dia-proof":
        raise _proof_error("it is not a proof from `dia prove`")
    if proof.get("format") != PROOF_FORMAT:
        raise _proof_error(f"this version can only read format {PROOF_FORMAT}")
    if any(type(proof.get(name)) is not str for name in ("bundle_id", "questions_root", "id", "salt", "commitment")):
        raise _proof_error("a part of it is missing")
    if why := shape_error(proof.get("answer"), ANSWER):
        raise _proof_error(f"its answer is malformed: {why}")
    return proof


def check_proof(bundle: Bundle, proof: Record) -> None:
    """Check that the answer of the proof is the sealed one. Raises DiaError (exit 3) otherwise."""
    if proof["questions_root"] != bundle.questions_root:
        raise _proof_error("it is about other questions")
    if proof["bundle_id"] != bundle.id:
        raise _proof_error(f"it is for the bundle {proof['bundle_id']}, not {bundle.id}")
    if proof["answer"]["id"] != proof["id"]:
        raise _proof_error("its answer is for another question")
    salt = _salt(proof["salt"])
    try:
        actual = commitment(salt, proof["answer"])
    except DiaError:
        raise _proof_error("its answer has no canonical form") from None
    if actual != _commitment_in(bundle, proof["id"]):
        raise _proof_error(f"answer and salt do not match the commitment of `{proof['id']}`")


def _salt(text: str) -> bytes:
    try:
        salt = bytes.fromhex(text)
    except ValueError:
        salt = b""
    if len(salt) != SALT:
        raise _proof_error("its salt is not 32 bytes in hex")
    return salt


def _commitment_in(bundle: Bundle, id: str) -> str | None:
    """Return the bundle's commitment for a question, after comparing the whole file with the manifest."""
    matches = [str(record["commitment"]) for record in commitments(bundle) if record["id"] == id]
    if len(matches) != 1:
        raise _proof_error(f"the bundle has no commitment for `{id}`")
    return matches[0]


def commitments(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """Return the commitments of a sealed bundle, in the order of its questions."""
    return bundle.records(NAME, {"id": (str,), "commitment": (str,)})


def _proof_error(why: str) -> DiaError:
    help = "check it against the bundle from which `dia prove` made it, or ask for a new proof"
    return integrity_error("E724", visible(f"the proof is not valid: {why}"), help)
