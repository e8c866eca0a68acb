"""Compile a bundle again from its own specs, seed and k, and compare the result file by file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dia_language.confinement.interpreters import LANGUAGES, version_of
from dia_language.confinement.permission import NO
from dia_language.diagnostics import visible
from dia_language.functions import library
from dia_runtime.bundle.files import integrity_error
from dia_runtime.bundle.manifest import NAME, PROVENANCE
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import Recompiled

from dia_compiler.assets import BUILDERS
from dia_compiler.freeze.versions import installed
from dia_compiler.freeze.write_bundle import LANGUAGE, provenance
from dia_compiler.pipeline.api import compile
from dia_compiler.sampling.steering import steering_from
from dia_compiler.types import TYPES
from dia_compiler.types.word_lists import WORD_LISTS


def recompile(bundle: Path, jobs: int | None = None, allow_programs: str = NO) -> Recompiled:
    """Compile the specs of a bundle again, and compare the result with the bundle.

    Raises DiaError (exit code 3) if the bundle holds no specs or was made with revisions that this version lacks.
    """
    manifest = open_bundle(bundle).manifest
    if not (bundle / "specs").is_dir():
        message = visible(f"`{bundle}` contains no specs, so it cannot be compiled again")
        raise integrity_error("E712", message, "unseal it first if it is sealed, or leave out `--recompile`")
    differences = _revisions(manifest)
    if manifest["language"] != LANGUAGE:
        differences.append(
            f"the bundle was compiled under version {manifest['language']} of the spec language, "
            f"but this version of dia compiles under version {LANGUAGE}"
        )
    with tempfile.TemporaryDirectory(prefix="dia-recompile-") as folder:
        compiled = compile(
            [*_paths(bundle, manifest)], manifest["k"], manifest["seed"], folder, jobs, use_cache=False,
            allow_programs=allow_programs,
            steering=steering_from(manifest["steering"]) if "steering" in manifest else None,
        )  # fmt: skip
        fresh = compiled.bundles[0].path
        same = (fresh / NAME).read_bytes() == (bundle / NAME).read_bytes()
        if not same:
            differences += _differences(json.loads((fresh / NAME).read_bytes()), manifest)
    return {"same": same, "differences": differences, "versions": _versions(bundle)}


def _paths(bundle: Path, manifest: dict[str, Any]) -> list[Path]:
    """Return the folder of the specs, or the template files if the bundle was made from some of them."""
    rows = [json.loads(row) for row in (bundle / "templates.jsonl").read_bytes().splitlines()]
    sources = {row["source"] for row in rows}
    specs = {
        path.relative_to(bundle / "specs").as_posix()
        for path in (bundle / "specs").rglob("*.yaml")
        if path.name != "benchmark.yaml"
    }
    if manifest.get("selection"):
        return [bundle / "specs" / name for name in sorted(sources & specs)]
    return [bundle / "specs"]


def _revisions(manifest: dict[str, Any]) -> list[str]:
    """Return the functions, types and word lists that have another revision in this version."""
    functions = {name: item.revision for name, item in library().items()}
    types = {name: item.revision for name, item in TYPES.items()}
    builders = {name: item.revision for name, item in BUILDERS.items()}
    lists = {name: item.revision for name, item in WORD_LISTS.items()}
    tables = (
        ("function", manifest["functions"], functions),
        ("type", manifest["types"], types),
        ("asset builder", manifest.get("builders", {}), builders),
        ("word list", manifest.get("word_lists", {}), lists),
    )
    differences = []
    for kind, used, here in tables:
        for name, revision in used.items():
            if here.get(name) != revision:
                has = f"revision {here[name]}" if name in here else "none"
                differences.append(f"the {kind} `{name}` was used in revision {revision}, but this version has {has}")
    return differences


def _differences(fresh: dict[str, Any], old: dict[str, Any]) -> list[str]:
    differences = []
    for name in sorted({*fresh["files"], *old["files"]}):
        if fresh["files"].get(name) != old["files"].get(name):
            differences.append(f"`{name}` differs")
    differences += [
        f"the manifest's `{key}` differs"
        for key in sorted({*fresh, *old} - {"files", "checksum", "questions_root"})
        if fresh.get(key) != old.get(key)
    ]
    return differences


def _versions(bundle: Path) -> dict[str, list[str]]:
    """Return each library or interpreter whose version differs: the version that made the bundle, and ours."""
    try:
        stored = json.loads((bundle / PROVENANCE).read_bytes())
        tools = {name: version for name, version in stored.get("tools", {}).items() if name in LANGUAGES}
        before = {
            "python": stored["python"],
            **stored["libraries"],
            **stored.get("plugins", {}),
            **_of_programs(tools),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    fresh = provenance("", installed(stored.get("plugins", {})), _of_builders(stored["libraries"]))
    now = _of_programs({name: version_of(name) for name in tools})
    here = {"python": fresh["python"], **fresh["libraries"], **fresh["plugins"], **now}
    return {
        name: [str(before.get(name)), str(here.get(name))]
        for name in sorted({*before, *here})
        if before.get(name) != here.get(name)
    }


def _of_programs(tools: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the versions of interpreters, under names that no library has."""
    return {f"programs of {name}": version for name, version in tools.items()}


def _of_builders(libraries: Mapping[str, str]) -> set[str]:
    """Return the versions of the libraries that asset builders name."""
    return {name for builder in BUILDERS.values() for name in builder.libraries if name in libraries}
