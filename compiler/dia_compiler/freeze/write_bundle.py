"""Rows -> a bundle on disk, atomically: everything is written next to the target and moved there at the end."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dia_language.functions import library
from dia_language.yaml_nodes import FILE_BYTES, Scalar
from dia_language.yaml_nodes import Mapping as MappingNode
from dia_runtime.bundle import merkle
from dia_runtime.bundle.canary import marked
from dia_runtime.bundle.canonical import bundle_id, canonical_line, manifest_bytes
from dia_runtime.bundle.manifest import FORMAT, NAME, PROVENANCE, with_checksum
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import file_problems
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import RULES

from dia_compiler.analyze.settings import settings_of
from dia_compiler.assets import BUILDERS
from dia_compiler.freeze.bundle_plan import BundlePlan, TemplateRows
from dia_compiler.freeze.output import FrozenBundle, refuse_foreign, replace, reporting_write_errors
from dia_compiler.freeze.shards import Files, write_file, write_lines
from dia_compiler.freeze.versions import LIBRARIES, installed
from dia_compiler.parse.model import Datum, Shared, Template, TypeUse
from dia_compiler.sampling.degrees_of_freedom import Freedom
from dia_compiler.types import TYPES
from dia_compiler.types.word_lists import WORD_LISTS

LANGUAGE = 2  # since 2, instructions say how to answer in other words, and replies are read by the rules of edition 2
NO_TOOLS: Mapping[str, str] = MappingProxyType({})


def freeze(plan: BundlePlan, ready: Sequence[TemplateRows], folder: Path) -> FrozenBundle:
    """Return the bundle of the rows, made in a private folder and moved to its own.

    Raises DiaError (exit code 2) if it may not or cannot be.
    """
    target = plan.folder
    with reporting_write_errors(target):
        folder.mkdir()
        frozen, encoded = _write(plan, ready, folder)
        if not _holds_already(target, encoded):
            refuse_foreign(target, plan.options)
            replace(folder, target)
    return frozen


def _write(plan: BundlePlan, ready: Sequence[TemplateRows], folder: Path) -> tuple[FrozenBundle, bytes]:
    """Write every file of the bundle into the folder; gives what was made and the manifest's bytes."""
    files: Files = {}
    row_count = sum(rows.spool.rows for rows in ready)
    shard = plan.options.shard_size if row_count > plan.options.shard_size else None
    for kind in ("questions", "answers"):
        write_lines(
            folder,
            kind,
            ((rows.spool.rows, rows.spool.parts[kind]) for rows in ready),
            shard,
            files,
        )
    for name, content in (artefact for rows in ready for artefact in rows.spool.assets()):
        if f"assets/{name}" not in files:
            write_file(folder, f"assets/{name}", content, files)
    canary = plan.item.benchmark.facts.get("canary")
    templates = [
        canonical_line(_template_record(rows, plan) | ({"canary": canary} if canary else {})) for rows in ready
    ]
    write_file(folder, "templates.jsonl", b"".join(part + b"\n" for part in templates), files)
    for name, content in sorted(plan.item.files.items()):
        write_file(folder, f"specs/{name}", _marked(name, content, canary), files)
    root = merkle.root(entry.leaf for rows in ready for entry in rows.spool.entries())
    manifest = _manifest(plan, ready, root, files)
    encoded = manifest_bytes(manifest)
    write_file(folder, NAME, encoded, {})
    plugins = plugins_of(manifest, {_format_kind(plan, rows) for rows in ready})
    libraries = {library for name in manifest["builders"] for library in BUILDERS[name].libraries}
    tools = {name: tool_version for rows in ready for name, tool_version in rows.summary.tools.items()}
    made_with = provenance(bundle_id(encoded), plugins, libraries, tools) | ({"canary": canary} if canary else {})
    write_file(folder, PROVENANCE, manifest_bytes(made_with) + b"\n", {})
    counts = manifest["counts"]
    frozen = FrozenBundle(
        plan.folder, plan.item.benchmark.name, bundle_id(encoded), root,
        counts["templates"], counts["items"], counts["questions"], tuple(manifest["left_out"]),
        sum(rows.statistics.instances for rows in ready),
    )  # fmt: skip
    return frozen, encoded


def _template_record(rows: TemplateRows, plan: BundlePlan) -> dict[str, Any]:
    template, statistics = rows.template, rows.statistics
    facts = template.facts
    return {
        "template": template.name,
        "title": str(facts.get("title", "")),
        "number": facts.get("number"),
        "category": str(facts.get("category", "uncategorised")),
        "domain": str(facts.get("domain", facts.get("category", "uncategorised"))),
        "level": str(facts.get("level", "")),
        "adversarial": str(facts.get("adversarial", "none")),
        "degree_of_freedom": _freedom(rows).as_json(),
        "items": statistics.items,
        "positions": None if statistics.positions is None else list(statistics.positions),
        "source": plan.item.relative(template.file),
        "sha256": _digest_of(template, plan),
        "answers": {"distinct": statistics.distinct, "commonest_share": str(statistics.commonest_share)},
    }


def _digest_of(template: Template, plan: BundlePlan) -> str:
    """Return the SHA-256 of the template's source file as the bundle holds it."""
    name = plan.item.relative(template.file)
    return hashlib.sha256(_marked(name, plan.item.files[name], plan.item.benchmark.facts.get("canary"))).hexdigest()


def _marked(name: str, content: bytes, canary: str | None) -> bytes:
    """Return a source file with the canary's sentence, unless the compile of the copy would find it too large."""
    with_canary = marked(name, content, canary)
    return with_canary if len(with_canary) <= FILE_BYTES else content


def _freedom(rows: TemplateRows) -> Freedom:
    """Return the degrees of freedom; if only a lower bound is known, at least the number of instances made."""
    freedom, statistics = rows.summary.freedom, rows.statistics
    if freedom.kind != "at_least" or statistics.items != 1:
        return freedom
    return Freedom("at_least", max(freedom.count or 0, statistics.instances))


def _manifest(plan: BundlePlan, ready: Sequence[TemplateRows], root: str, files: Files) -> dict[str, Any]:
    benchmark = plan.item.benchmark
    settings = settings_of(benchmark, None, plan.seed)
    used = sorted({name for rows in ready for name in rows.summary.functions})
    uses = _used_types(ready)
    functions = library()
    questions, items = (
        sum(rows.statistics.rows for rows in ready),
        sum(rows.statistics.items for rows in ready),
    )
    word_lists = _used_lists(uses) | _declared_lists([benchmark.shared, *(rows.template.shared for rows in ready)])
    return with_checksum(
        {
            "format": FORMAT,
            "language": LANGUAGE,
            "benchmark": benchmark.name,
            "title": str(benchmark.facts.get("title", benchmark.name)),
            "version": str(benchmark.facts.get("version", "0.0.0")),
            "license": benchmark.facts.get("license"),
            "seed": plan.seed,
            "k": plan.options.k,
            "counts": {"templates": len(ready), "items": items, "questions": questions},
            "points": settings.stored_points,
            "answer_format": dict(settings.format),
            "rules": RULES,
            "questions_root": root,
            "files": files,
            "functions": {name: functions[name].revision for name in used if name in functions},
            "types": {use: TYPES[use].revision for use in sorted({use.kind for use in uses})},
            "builders": {name: BUILDERS[name].revision for name in sorted(_used_builders(ready))},
            "word_lists": {name: WORD_LISTS[name].revision for name in sorted(word_lists)},
            "templates": [rows.template.name for rows in ready],
            "selection": plan.is_selection,
            "left_out": [{"template": item.template, "why": item.why} for item in plan.item.left_out],
            "canary": benchmark.facts.get("canary"),
            **({"steering": plan.steering.as_json()} if plan.steering is not None else {}),
        }
    )


def _used_builders(ready: Sequence[TemplateRows]) -> set[str]:
    """Return the asset builders that the templates use."""
    return {asset.build.text for rows in ready for asset in rows.template.assets}


def _used_types(ready: Sequence[TemplateRows]) -> list[TypeUse]:
    uses: list[TypeUse] = []
    for rows in ready:
        stack: list[Any] = [parameter.type for parameter in rows.template.parameters]
        stack += [p.type for v in rows.template.variants for p in v.parameters]
        stack += [p.type for c in rows.template.shared.catalogs for e in c.entries for p in e.parameters]
        while stack:
            part = stack.pop()
            if isinstance(part, TypeUse):
                uses.append(part)
                stack += part.options.values()
            elif isinstance(part, tuple):
                stack += part
            elif isinstance(part, dict):
                stack += part.values()
    return uses


def _declared_lists(shared: Iterable[Shared]) -> set[str]:
    """Return the built-in word lists that the specs name under `lists`."""
    nodes = [datum.node for part in shared for datum in part.lists.values()]
    names = [node.get("words") for node in nodes if isinstance(node, MappingNode)]
    return {name.text for name in names if isinstance(name, Scalar)}


def _used_lists(uses: Sequence[TypeUse]) -> set[str]:
    """Return the built-in word lists that the types may draw from."""
    names_used: set[str] = set()
    for use in uses:
        source = use.options.get("from") if use.kind == "words" else None
        named = source.node.text if isinstance(source, Datum) and isinstance(source.node, Scalar) else None
        names_used |= {named} if named in WORD_LISTS else TYPES[use.kind].word_lists
    return names_used


def _format_kind(plan: BundlePlan, rows: TemplateRows) -> str:
    """Return the answer format of a template."""
    return str(settings_of(plan.item.benchmark, rows.template, plan.seed).format["kind"])


def plugins_of(manifest: Mapping[str, Any], formats: Iterable[str]) -> dict[str, str]:
    """Return the packages whose functions, types, builders and formats a bundle uses, with their versions."""
    used = (
        (library().registry, manifest["functions"]),
        (TYPES, manifest["types"]),
        (BUILDERS, manifest["builders"]),
        (FORMATS, formats),
    )
    plugins = [registry.plugins[name] for registry, names in used for name in names if name not in registry.own]
    return {plugin.distribution: plugin.version for plugin in plugins}


def provenance(
    digest: str, plugins: Mapping[str, str], libraries: Iterable[str] = (), tools: Mapping[str, str] = NO_TOOLS
) -> dict[str, Any]:
    """Return the versions that computed the truth; no clock, host, user or path.

    The tools are the interpreters of programs that were run, and what confined them.
    """
    return {
        "bundle_id": digest,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "libraries": installed((*LIBRARIES, *sorted(libraries), "dia-spec")),
        "plugins": dict(plugins),
        "tools": dict(tools),
    }


def _holds_already(target: Path, encoded: bytes) -> bool:
    """Return whether the very same bundle is already there, with every file unchanged."""
    if not (target / NAME).is_file() or (target / NAME).read_bytes() != encoded:
        return False
    return not file_problems(open_bundle(target))
