"""One part of a compile: its share of the instances, in a separate folder that `merge` joins with the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.workers.pool import WorkerPool

from dia_compiler.analyze.check import check
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.distribute.gather import GatheredRows, Gatherer, Progress
from dia_compiler.distribute.parts import NAME, PartNumber, TemplatePart, instance_range, write_part
from dia_compiler.distribute.task import TemplateJob
from dia_compiler.freeze.bundle_plan import BundlePlan
from dia_compiler.freeze.output import CompileOptions, private_folder, reporting_write_errors
from dia_compiler.freeze.output import replace as moved
from dia_compiler.freeze.versions import versions
from dia_compiler.parse.discover import Folder
from dia_compiler.pipeline.phases import explainer, job_of, plan_of, raise_errors, require_room, summary_facts


@dataclass(frozen=True, slots=True)
class Part:
    """A part on disk."""

    path: Path
    benchmark: str
    part: int
    of: int
    questions: int

    def as_json(self) -> dict[str, Any]:
        """Return the entry that `dia compile --part I/N --json` prints."""
        return {**asdict(self), "path": self.path.as_posix()}


def make_parts(
    folders: list[Folder], options: CompileOptions, number: PartNumber, pool: WorkerPool, on_progress: Progress | None
) -> tuple[list[Part], tuple[Diagnostic, ...], dict[str, str]]:
    """Return the part of each benchmark's bundle, the warnings, and the texts of the specs.

    Raises DiaError with every error; nothing is written then.
    """
    with private_folder(options.folder) as private, reporting_write_errors(options.folder):
        checked = check(folders, options.is_strict, defers=True, programs=options.programs)
        plans = [plan_of(item, options) for item in checked.benchmarks]
        require_room(sum(options.k * len(plan.item.clean) for plan in plans) // number.of, options.folder)
        resources = WorkerResources(str(private.absolute() / "tools"))
        jobs_of_plans = [(plan, job) for plan in plans for job in _works(plan, number, resources)]
        template_jobs = [job for _, job in jobs_of_plans]
        gathering = Gatherer(template_jobs, checked.diagnostics, private, on_progress, explainer(plans))
        gathered = gathering.run(pool)
        raise_errors(checked, options.is_strict)
        parts = [
            _written(
                plan, number,
                [(job, rows) for (of, job), rows in zip(jobs_of_plans, gathered, strict=True) if of is plan],
                private / f"part-{place}",
            )
            for place, plan in enumerate(plans)
        ]  # fmt: skip
    return parts, tuple(checked.diagnostics.ordered(checked.sources)), checked.sources


def _works(plan: BundlePlan, number: PartNumber, resources: WorkerResources) -> list[TemplateJob]:
    template_jobs = []
    for place, template in enumerate(plan.item.clean):
        bounds = instance_range(template, plan.options.k, place, number)
        if bounds is not None:
            job_resources = replace(resources, programs=plan.item.programs)
            template_jobs.append(
                replace(job_of(plan, template), resources=job_resources, first=bounds[0], last=bounds[1])
            )
    return template_jobs


def _written(
    plan: BundlePlan, number: PartNumber, gathered: list[tuple[TemplateJob, GatheredRows]], folder: Path
) -> Part:
    """Write the part in a private folder, move it to its place, and return it."""
    target = plan.options.folder / f"{plan.folder_name}.part-{number.number}-of-{number.of}"
    pieces = [TemplatePart(job.template.name, job.first, rows.spool, _merge_facts(rows)) for job, rows in gathered]
    folder.mkdir()
    rows = write_part(folder, _facts(plan, number), plan.item.files, pieces)
    _refuse_foreign(target, plan.options)
    moved(folder, target)
    return Part(target, plan.item.benchmark.name, number.number, number.of, rows)


def _merge_facts(rows: GatheredRows) -> dict[str, Any]:
    """Return what merging needs of the template besides its rows."""
    assert rows.summary is not None
    return {**summary_facts(replace(rows.summary, warnings=())), "wanted": rows.summary.instances}


def _facts(plan: BundlePlan, number: PartNumber) -> dict[str, Any]:
    options, folder = plan.options, plan.item.folder
    chosen = sorted(path.relative_to(folder.path.resolve()).as_posix() for path in folder.chosen)
    return {
        "part": number.number,
        "of": number.of,
        "benchmark": plan.item.benchmark.name,
        "order": {
            "seed": plan.seed, "k": options.k, "limit": options.limit, "chosen": chosen,
            "shard_size": options.shard_size, "is_strict": options.is_strict,
        },
        "left_out": [{"template": item.template, "why": item.why} for item in plan.item.left_out],
        "versions": versions(),
    }  # fmt: skip


def _refuse_foreign(target: Path, options: CompileOptions) -> None:
    """Raise DiaError (exit 2) if the target exists and is not a part; an older part is replaced."""
    is_part = (target / NAME).is_file() and not target.is_symlink()
    if options.force or is_part or not (target.exists() or target.is_symlink()):
        return
    message = f"`{target}` already exists with different content"
    raise DiaError(Diagnostic("E601", message, None, "--force replaces it; -o chooses another folder"))
