"""The manifest: its keys, its checksum, and how it is read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.files import path_errors
from dia_runtime.bundle.strict_json import parse_json

NAME = "manifest.json"
PROVENANCE = "provenance.json"
SIGNATURE = "signature.json"
# Files that manifests do not list: the manifest, the library versions that computed the answers, and the signature.
OUTSIDE = frozenset([NAME, PROVENANCE, SIGNATURE])
FORMAT = 1
LARGEST = 1 << 25
DIGEST = re.compile(r"[0-9a-f]{64}")

KEYS: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "language": (int,),
    "benchmark": (str,),
    "title": (str, type(None)),
    "version": (str, int),
    "license": (str, type(None)),
    "seed": (str, int, type(None)),  # absent in a sealed bundle
    "k": (int,),
    "counts": (dict,),
    "points": (dict,),
    "answer_format": (dict,),
    "questions_root": (str,),
    "files": (dict,),
    "functions": (dict,),
    "types": (dict,),
    "left_out": (list,),
    "canary": (str, type(None)),
    "checksum": (str,),
}


def checksum(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical manifest without the key `checksum`."""
    covered = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(manifest_bytes(covered)).hexdigest()


def with_checksum(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with their checksum, as `manifest_bytes` writes them."""
    return {**facts, "checksum": checksum(facts)}


def read_manifest(encoded: bytes) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the manifest, or None if it is unusable, and all its errors."""
    try:
        manifest = parse_json(encoded)
    except ValueError as error:
        return None, [f"cannot read it: {error}"]
    shape = _shape(manifest)
    if shape:
        return None, shape
    return manifest, _disagreements(manifest, encoded)


def _shape(manifest: Any) -> list[str]:
    if not isinstance(manifest, dict):
        return ["it is not an object"]
    if type(manifest.get("format")) is int and manifest["format"] != FORMAT:
        return [f"it has format {manifest['format']}; this version reads format {FORMAT}"]
    faults = [f"it lacks `{name}`" for name in KEYS if name not in manifest]
    faults += [
        f"its `{name}` has the wrong type"
        for name, kinds in KEYS.items()
        if name in manifest and type(manifest[name]) not in kinds
    ]
    return faults or _files(manifest["files"]) + _numbers(manifest)


def _files(files: dict[str, Any]) -> list[str]:
    faults = [f"the path {name!r} is refused: {why}" for name, why in path_errors(files).items()]
    for name, entry in files.items():
        if name in OUTSIDE:
            faults.append(f"it lists `{name}`, which it must not list")
        elif not _is_entry(entry):
            faults.append(f"its entry for `{name}` has no size and SHA-256")
    return faults


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and type(entry.get("size")) is int
        and entry["size"] >= 0
        and type(entry.get("sha256")) is str
        and DIGEST.fullmatch(entry["sha256"]) is not None
    )


def _numbers(manifest: dict[str, Any]) -> list[str]:
    counts = manifest["counts"]
    faults = [
        f"its `counts` lack the number of {name}"
        for name in ("templates", "items", "questions")
        if type(counts.get(name)) is not int
    ]
    if manifest["k"] < 1:
        faults.append("its `k` is below 1")
    if not all(isinstance(entry, dict) and {"template", "why"} <= entry.keys() for entry in manifest["left_out"]):
        faults.append("its `left_out` does not name templates with reasons")
    if not DIGEST.fullmatch(manifest["questions_root"]):
        faults.append("its `questions_root` is not a SHA-256")
    return faults


def _disagreements(manifest: dict[str, Any], encoded: bytes) -> list[str]:
    try:
        canonical, digest = manifest_bytes(manifest), checksum(manifest)
    except (ValueError, RecursionError) as error:
        return [f"it has no canonical form: {error}"]
    faults = []
    if digest != manifest["checksum"]:
        faults.append(f"its checksum is {manifest['checksum']}, but its content has {digest}")
    if canonical != encoded:
        faults.append("its bytes are not in canonical form")
    return faults
