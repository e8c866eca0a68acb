"""Recognise a compile that would repeat an existing bundle, by the digests of all files, without parsing specs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_runtime.bundle.manifest import NAME
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import file_problems

from dia_compiler.analyze.host_requirements import lacks
from dia_compiler.freeze.cache import Cache
from dia_compiler.freeze.fingerprint import digest_of, folder_files, machinery
from dia_compiler.freeze.output import CompileOptions, FrozenBundle
from dia_compiler.parse.discover import Folder


@dataclass(frozen=True, slots=True)
class BundleResult:
    """An existing bundle that a compile would make again, and the warnings of the compile that made it."""

    frozen: FrozenBundle
    warnings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that a bundle is made from: the digests of its files, and the cache key of all of it."""

    files: dict[str, str]
    key: str


def inputs_of(folder: Folder, options: CompileOptions) -> Inputs | None:
    """Return the inputs of a benchmark's bundle, or None if they cannot be determined quickly."""
    if not options.use_cache:
        return None
    try:
        files = folder_files(folder.path, options.folder)
        if files is None:
            return None
        chosen = sorted(path.relative_to(folder.path.resolve()).as_posix() for path in folder.chosen)
    except (OSError, ValueError):
        return None
    choices = [options.k, options.seed, options.is_strict, options.limit, options.shard_size]
    if options.steering is not None:
        choices.append(options.steering.key)
    description = json.dumps([folder.path.as_posix(), chosen, choices, sorted(files.items())])
    return Inputs(files, digest_of([machinery(), description]))


def unchanged_bundle(folder: Folder, inputs: Inputs, options: CompileOptions) -> BundleResult | None:
    """Return the existing bundle if a compile would make it byte for byte; otherwise None."""
    facts = Cache(options.folder, "bundles").read(inputs.key)
    if facts is None:
        return None
    if any(lacks(kind, name, folder.path) != why for kind, name, why in facts["requires"]):
        return None
    frozen = FrozenBundle(options.folder / facts["name"], **facts["frozen"], left_out=tuple(facts["left_out"]))
    if not _lies_there(frozen):
        return None
    return BundleResult(frozen, tuple(warning_from_json(entry) for entry in facts["warnings"]))


def _lies_there(frozen: FrozenBundle) -> bool:
    """Return whether the bundle with that digest is at its path, with every file unchanged."""
    if not (frozen.path / NAME).is_file():
        return False
    try:
        bundle = open_bundle(frozen.path)
        return bundle.id == frozen.digest and not file_problems(bundle)
    except (DiaError, OSError):
        return False


def remember_bundle(
    inputs: Inputs, options: CompileOptions, result: BundleResult, requires: Iterable[tuple[str, str, str | None]]
) -> None:
    """Keep in the cache that these inputs give this bundle."""
    facts = result.frozen.as_json()
    name, left_out = Path(facts.pop("path")).name, facts.pop("left_out")
    warnings = [entry.as_json() for entry in result.warnings]
    entry = {"name": name, "frozen": facts, "left_out": left_out, "warnings": warnings, "requires": list(requires)}
    Cache(options.folder, "bundles").store(inputs.key, entry, {})


def warning_from_json(entry: Mapping[str, Any]) -> Diagnostic:
    """Return the diagnostic that its `as_json` gave."""
    place = None if entry["path"] is None else Position(entry["path"], entry["line"], entry["column"])
    return Diagnostic(entry["code"], entry["message"], place, entry["help"], entry["severity"])
