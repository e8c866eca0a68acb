"""Merge parts into the bundle that one compile would have made, byte for byte.

The rows are those of the parts. Everything else is made from the specs that the parts hold, by the stages of a compile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from dia_language.confinement.permission import NO
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, visible
from dia_language.workers.pool import SECONDS, Task, WorkerPool

from dia_compiler.analyze.check import Checked, check
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.distribute.parts import (
    SPECS,
    StoredPart,
    TemplatePart,
    damaged_part,
    instance_range,
    part_folders,
    read_part,
)
from dia_compiler.distribute.task import ChunkResult, expand_rest
from dia_compiler.freeze.bundle_plan import BundlePlan, TemplateRows
from dia_compiler.freeze.health import check_health, row_statistics
from dia_compiler.freeze.output import CompileOptions, FrozenBundle, private_folder, reporting_write_errors
from dia_compiler.freeze.spool import ENTRY, Batch, IndexEntry, Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.freeze.versions import difference, versions
from dia_compiler.freeze.write_bundle import freeze
from dia_compiler.parse.discover import discover
from dia_compiler.parse.model import Template
from dia_compiler.pipeline.phases import job_of, plan_of, raise_errors, summary_of

MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class MergedBundle:
    """The bundle, the warnings about all rows together, and how many instances had to be made again."""

    frozen: FrozenBundle
    warnings: tuple[Diagnostic, ...]
    sources: dict[str, str]
    made_here: int = 0


def merge(
    paths: Sequence[Path], target: Path | None = None, jobs: int = 1, force: bool = False, allow_programs: str = NO
) -> MergedBundle:
    """Return the bundle of the parts, written at the target (default: where a compile would write it).

    Raises DiaError: exit code 2 for parts that are missing, given twice, or not from one compile, exit code 3 for a
    damaged one. Nothing is written then.
    """
    parts = parts_of_one_compile([read_part(folder) for path in paths for folder in part_folders(path)])
    options, specs = _order(parts[0], target, jobs, force, allow_programs), parts[0].folder / SPECS
    chosen = [specs / name for name in parts[0].facts["order"]["chosen"]]
    checked = check(discover(chosen or [specs]), options.is_strict, defers=True, programs=allow_programs)
    raise_errors(checked, is_strict=False)
    plan = plan_of(checked.benchmarks[0], options)
    plan.target = target
    _require_same_templates(plan, parts)
    with private_folder(plan.folder.parent) as private, reporting_write_errors(plan.folder):
        return _merged(plan, parts, checked, private)


def _order(first: StoredPart, target: Path | None, jobs: int, force: bool, programs: str) -> CompileOptions:
    order = first.facts["order"]
    names = ("k", "seed", "limit", "shard_size", "is_strict")
    out = None if target is None else target.parent
    return CompileOptions(**{name: order[name] for name in names}, out=out, jobs=jobs, force=force, programs=programs,
                 use_cache=False)  # fmt: skip


def parts_of_one_compile(parts: list[StoredPart]) -> list[StoredPart]:
    """Return the parts in order.

    Raises DiaError (exit 2) unless they are all parts of one compile with the same versions.
    """
    if not parts:
        raise DiaError(Diagnostic("E610", "there are no parts to merge"))
    first, here = parts[0], versions()
    for part in parts:
        why = _foreign(part.facts, first.facts)
        if why is not None:
            message = f"`{part.folder}` and `{first.folder}` are not parts of one bundle: {why}"
            raise DiaError(
                Diagnostic("E612", visible(message), None, "compile all parts with the same specs and options")
            )
        other = difference(part.facts["versions"], here)
        if other is not None:
            message = f"`{part.folder}` was made with {other}"
            help = "merge with the versions that made the parts, or compile the parts again"
            raise DiaError(Diagnostic("E612", visible(message), None, help))
    by_number: dict[int, StoredPart] = {}
    for part in parts:
        twin = by_number.setdefault(part.part_number.number, part)
        if twin is not part:
            message = f"part {part.part_number} is given twice: `{twin.folder}` and `{part.folder}`"
            raise DiaError(Diagnostic("E613", visible(message), None, "leave one of them out"))
    _require_all(by_number, first.part_number.of)
    return [by_number[number] for number in sorted(by_number)]


def _require_all(by_number: Mapping[int, StoredPart], of: int) -> None:
    missing = of - len(by_number)
    if missing:
        absent = [number for number in range(1, min(of, len(by_number) + MOST_TOLD) + 1) if number not in by_number]
        named = ", ".join(map(str, absent[:MOST_TOLD])) + (" ..." if missing > MOST_TOLD else "")
        message, help = f"{missing} of {of} parts are missing: numbers {named}", "compile them"
        if missing == 1:
            message = f"part {named} of {of} is missing"
            help = f"compile it: `dia compile ... --part {named}/{of}`"
        raise DiaError(Diagnostic("E613", message, None, help))


def _foreign(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return in words why two descriptions do not belong to one compile; None if they do."""
    if one["benchmark"] != other["benchmark"]:
        return f"one is of `{one['benchmark']}`, the other of `{other['benchmark']}`"
    if one["of"] != other["of"]:
        return f"one is of {one['of']} parts, the other of {other['of']}"
    for name, value in one["order"].items():
        if other["order"].get(name) != value:
            return f"one was made with {name} {value}, the other with {other['order'].get(name)}"
    for name in sorted({*one["specs"], *other["specs"]}):
        if one["specs"].get(name) != other["specs"].get(name):
            return f"`{name}` differs"
    if one["left_out"] != other["left_out"]:
        return "they leave out different templates"
    return None


def _require_same_templates(plan: BundlePlan, parts: Sequence[StoredPart]) -> None:
    """Raise DiaError (exit 2) unless the specs give the same templates here as on the machines that made the parts."""
    there = {item["template"] for item in parts[0].facts["left_out"]}
    for item in plan.item.left_out:
        if item.template not in there:
            message = f"the template `{item.template}` cannot be merged on this machine: it needs {item.why}"
            raise DiaError(Diagnostic("E612", message, None, "install it, or merge where the parts were made"))
    if there - {item.template for item in plan.item.left_out}:
        name = min(there)
        message = f"the parts were made without the template `{name}`, which this machine can compile"
        raise DiaError(Diagnostic("E612", visible(message), None, "merge where the parts were made"))
    for part in parts:
        expected = [
            (template.name, bounds[0])
            for place, template in enumerate(plan.item.clean)
            if (bounds := instance_range(template, plan.options.k, place, part.part_number)) is not None
        ]
        if [(entry["template"], entry["first"]) for entry in part.facts["templates"]] != expected:
            raise damaged_part(part.folder, "it does not contain the instances that this part should have")


def _merged(plan: BundlePlan, parts: Sequence[StoredPart], checked: Checked, private: Path) -> MergedBundle:
    try:
        return _frozen(plan, parts, checked, private)
    except ValueError:  # rows that no worker writes, although every digest matches
        raise damaged_part(parts[0].folder, "its rows, or those of another part, cannot be read") from None


def _frozen(plan: BundlePlan, parts: Sequence[StoredPart], checked: Checked, private: Path) -> MergedBundle:
    pieces_of_parts = [part.pieces() for part in parts]
    joined = [
        _JoinedTemplate(plan, template, [(part, pieces[template.name])
                                         for part, pieces in zip(parts, pieces_of_parts, strict=True)
                                         if template.name in pieces])
        for template in plan.item.clean
    ]  # fmt: skip
    before = len(checked.diagnostics.entries)
    _remake(
        [one for one in joined if one.broken is not None],
        checked,
        private,
        plan.options.jobs,
    )
    ready = [one.ready(checked.diagnostics) for one in joined]
    raise_errors(checked, plan.options.is_strict)
    frozen = freeze(plan, ready, private / "bundle")
    here = sum(one.spools[-1].rows for one in joined if one.broken is not None)
    return MergedBundle(frozen, tuple(checked.diagnostics.entries[before:]), checked.sources, here)


class _JoinedTemplate:
    """The rows of a template from all parts, as far as they follow each other.

    A part assumes that instances are at the positions of their numbers, unless the first ones are not. If a hole is
    in an earlier part after all, `broken` says from which number and position on they are made again.
    """

    def __init__(self, plan: BundlePlan, template: Template, pieces: Sequence[tuple[StoredPart, TemplatePart]]) -> None:
        self.plan, self.template = plan, template
        self.spools: list[Spool] = []
        self.broken: tuple[int, int] | None = None
        summaries = [self.reported_summary(part, piece) for part, piece in pieces]
        self.instances = summaries[0].instances if summaries else None
        self.summary = _added(summaries)
        number, position = 0, -1
        for part, piece in pieces:
            if piece.spool.rows and self.broken is None:
                first, last = self.ends(part, piece.spool)
                if self.instances is not None and first.instance != number:
                    raise damaged_part(
                        part.folder, f"its instances of `{template.name}` do not continue the previous ones"
                    )
                if first.position <= position:
                    self.broken = (number, position + 1)
                    break
                self.spools.append(piece.spool)
                self.require_artefacts(part, piece.spool)
                number, position = last.instance + 1, last.position
        if self.broken is None and self.instances is not None and number != self.instances:
            raise damaged_part(pieces[-1][0].folder, f"some of its instances of `{template.name}` are missing")

    def ready(self, diagnostics: Diagnostics) -> TemplateRows:
        """Return the template with all of its rows, and report what these show together."""
        spool = Spool.chained(self.spools)
        statistics = row_statistics(spool)
        check_health(self.template, spool, self.summary, statistics, self.plan.options.k, diagnostics, is_trial=False)
        return TemplateRows(self.template, spool, self.summary, statistics)

    def reported_summary(self, part: StoredPart, piece: TemplatePart) -> Summary:
        """Return the summary of the template that the workers of a part reported."""
        try:
            total = piece.summary["wanted"]
            if total is not None and type(total) is not int:
                raise TypeError
            return replace(summary_of(piece.summary), instances=total)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise damaged_part(part.folder, f"its record of `{self.template.name}` has the wrong shape") from None

    @staticmethod
    def require_artefacts(part: StoredPart, spool: Spool) -> None:
        """Raise DiaError (exit 3) unless each artefact of a part has the name that a compile would give it."""
        for name, content in spool.assets():
            digest, _, extension = name.partition(".")
            if sha256(content).hexdigest() != digest or not (extension.isascii() and extension.isalnum()):
                raise damaged_part(part.folder, "the name of an artefact does not match its content")

    @staticmethod
    def ends(part: StoredPart, spool: Spool) -> tuple[IndexEntry, IndexEntry]:
        """Return the entries of the first and the last row."""
        index = spool.parts["index"]
        if index.size != spool.rows * ENTRY.size or index.path is None:
            raise damaged_part(part.folder, "its rows and their index do not agree")
        with index.path.open("rb") as file:
            first = file.read(ENTRY.size)
            file.seek(index.size - ENTRY.size)
            last = file.read(ENTRY.size)
        return IndexEntry._make(ENTRY.unpack(first)), IndexEntry._make(ENTRY.unpack(last))

    def task(self, place: int, scratch: str) -> Task:
        """Return the task that makes the wrong rows again."""
        assert self.broken is not None and self.instances is not None
        job = replace(job_of(self.plan, self.template), resources=WorkerResources(scratch, self.plan.item.programs))
        seconds = float(self.template.limits.get("seconds", SECONDS))
        number, position = self.broken
        return Task(place, expand_rest, (job, number, self.instances, position), seconds)


def _added(summaries: Sequence[Summary]) -> Summary:
    whole, *others = summaries
    for summary in others:
        clash = next(
            (name for name, version in summary.tools.items() if whole.tools.get(name, version) != version),
            None,
        )
        if clash is not None:
            message = f"parts were made with other versions of `{clash}`"
            raise DiaError(
                Diagnostic("E612", visible(message), None, "compile them with the same versions of these tools")
            )
        whole = whole.with_draws(summary.acceptance, summary.tools)
    return whole


def _remake(broken: Sequence[_JoinedTemplate], checked: Checked, private: Path, jobs: int) -> None:
    """Make the instances after a hole that their part could not know about."""
    if not broken:
        return
    spools = [Spool(private, f"again-{place}") for place, _ in enumerate(broken)]
    tasks = deque(joined.task(place, str(private.absolute() / "tools")) for place, joined in enumerate(broken))
    with (
        WorkerPool(min(jobs, len(broken)), "dia_compiler.distribute.task") as pool,
        closing(pool.run(tasks)) as outcomes,
    ):
        for outcome in outcomes:
            joined, spool = broken[outcome.key], spools[outcome.key]
            if isinstance(outcome.item, Batch):
                spool.add(outcome.item)
            elif isinstance(outcome.item, ChunkResult):
                joined.summary = joined.summary.with_draws(outcome.item.acceptance, outcome.item.tools)
            for entry in outcome.diagnostics:
                place = entry.position or joined.template.position
                checked.diagnostics.entries.append(
                    Diagnostic(entry.code, entry.message, place, entry.help, entry.severity)
                )
    for joined, spool in zip(broken, spools, strict=True):
        joined.spools.append(spool)
