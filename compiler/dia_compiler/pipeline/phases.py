"""The stages of a compile in order: check, expand (in workers, or from the cache), check all rows together, freeze."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.counts import freedom_text
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, Position
from dia_language.workers.pool import WorkerPool
from dia_runtime.bundle.files import path_errors

from dia_compiler.analyze.check import NO_FILES, Checked, CheckedBenchmark, check, faults_of
from dia_compiler.analyze.host_requirements import lacks
from dia_compiler.analyze.requirements import extras_of
from dia_compiler.analyze.settings import seed_of, settings_of
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.distribute.gather import GatheredRows, Gatherer, Progress
from dia_compiler.distribute.task import TemplateJob
from dia_compiler.freeze.bundle_plan import BundlePlan, TemplateRows
from dia_compiler.freeze.health import RowStatistics, check_health, row_statistics
from dia_compiler.freeze.output import CompileOptions, private_folder, reporting_write_errors, scratch_folder
from dia_compiler.freeze.spool import PARTS, Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.generate.expand import ALL
from dia_compiler.parse.discover import Folder
from dia_compiler.parse.model import Benchmark, Template
from dia_compiler.sampling.degrees_of_freedom import Freedom
from dia_compiler.sampling.steering import RANGE_OF_PREDICTIONS, Steering, SteeringRequest

if TYPE_CHECKING:  # modules that only a compile needs are imported there, so that a check starts sooner
    from dia_compiler.freeze.incremental import BundleResult, Inputs

BYTES_OF_A_QUESTION = 1_000  # with its answer, at least
MANY = 1_000_000  # questions; the system itself reports a disk that a smaller bundle fills
SPECS = "specs/"  # the folder of the specs in a bundle
HAS_EACH = "it has `each`, so its items are fixed"
MAKES_ALL = "it has `instances: all`, so every instance is made"
NO_PARAMETERS = "it has no parameters"
NOT_SEEN = frozenset({"title", "version", "license", "notes"})  # keys of a benchmark that no question depends on


class SpecFaults(DiaError):
    """The errors of the specs, with the texts of the files for excerpts."""

    def __init__(self, diagnostics: list[Diagnostic], sources: dict[str, str]) -> None:
        super().__init__(diagnostics)
        self.sources = sources


def make_bundles(
    to_make: list[tuple[Folder, Inputs | None]], options: CompileOptions, pool: WorkerPool, on_progress: Progress | None
) -> tuple[list[BundleResult], dict[str, str]]:
    """Return the bundles of the benchmarks with their warnings, and the texts of the specs; the pool makes their rows.

    Raises DiaError with every error of every spec; nothing is written then.
    """
    from dia_compiler.freeze.incremental import BundleResult
    from dia_compiler.freeze.write_bundle import freeze

    folders = [folder for folder, _ in to_make]
    with private_folder(options.folder) as private, reporting_write_errors(options.folder):
        checked = check(folders, options.is_strict, defers=True, programs=options.programs)
        plans = [plan_of(item, options) for item in checked.benchmarks]
        require_room(sum(options.k * len(plan.item.clean) for plan in plans), options.folder)
        inputs = {folder.path: folder_inputs for folder, folder_inputs in to_make}
        inputs_of_plans = [inputs[plan.item.folder.path] for plan in plans]  # a folder that cannot be read has no plan
        rows = _RowStore(plans, inputs_of_plans, private, checked.diagnostics, on_progress)
        resources = WorkerResources(str(private.absolute() / "tools"))
        ready = rows.rows_of_plans(pool, options, resources)
        raise_errors(checked, options.is_strict)
        bundles = [freeze(plan, each, private / f"bundle-{place}") for place, (plan, each) in enumerate(ready)]
        warnings = _warnings_by_benchmark(checked, folders)
        results = [BundleResult(frozen, diagnostics) for frozen, diagnostics in zip(bundles, warnings, strict=True)]
        if options.use_cache:
            rows.remember(results)
    return results, checked.sources


def check_instances(
    folders: list[Folder],
    options: CompileOptions,
    pool: WorkerPool,
    on_progress: Progress | None,
    estimates: bool = False,
    look: Callable[[TemplateJob, GatheredRows], None] | None = None,
    unsaved: Mapping[Path, bytes] = NO_FILES,
    compiled_k: int | None = None,
) -> Checked:
    """Return every error of every spec, including errors that only occur in the first k instances; nothing is written.

    With `estimates`, also the degrees of freedom of each template, estimated where they cannot be counted. `look` is
    called with the rows of each template that could be expanded, before they are deleted. `unsaved` is the same as for
    `check`. `compiled_k` is the number of instances that a compile will ask for, if k is larger.
    """
    with scratch_folder() as scratch:
        checked = check(
            folders, options.is_strict, defers=True, programs=options.programs, unsaved=unsaved, skips_others=True
        )
        plans = [plan_of(item, options) for item in checked.benchmarks]
        template_jobs = [
            replace(trial_job(plan, template, scratch, estimates), spreads=look is not None)
            for plan in plans
            for template in plan.item.clean
        ]
        private = None if look is None else Path(scratch)  # many rows are written to disk
        gathering = Gatherer(template_jobs, checked.diagnostics, private, on_progress, explainer(plans))
        for job, rows in zip(template_jobs, gathering.run(pool), strict=True):
            if rows.summary is None:
                continue
            statistics = row_statistics(rows.spool)
            k = compiled_k or options.k
            check_health(job.template, rows.spool, rows.summary, statistics, k, checked.diagnostics, is_trial=True)
            if estimates:
                freedom = freedom_text(rows.summary.freedom.as_json(), rows.summary.estimate)
                checked.freedoms[f"{job.benchmark.name}/{job.template.name}"] = freedom
            if look is not None:
                look(job, rows)
    return checked


def trial_job(plan: BundlePlan, template: Template, scratch: str, estimates: bool = False) -> TemplateJob:
    """Return the job that makes the first instances of a template for a check."""
    resources = WorkerResources(scratch, plan.item.programs)
    return replace(job_of(plan, template, is_trial=True), resources=resources, estimates=estimates)


def explainer(plans: list[BundlePlan]) -> Callable[[TemplateJob], list[Diagnostic]]:
    """Return a function that reports the errors of a template whose expressions were left to the workers."""
    items = {plan.item.benchmark.folder: plan.item for plan in plans}
    return lambda job: faults_of(items[job.benchmark.folder], job.template)


def plan_of(item: CheckedBenchmark, options: CompileOptions) -> BundlePlan:
    is_limited = options.limit is not None and options.limit < len(item.clean)
    item.clean = item.clean[: options.limit]
    if errors := path_errors(f"{SPECS}{name}" for name in item.files):
        raise DiaError(
            [_unusable_name(item.folder.path / name.removeprefix(SPECS), why) for name, why in errors.items()]
        )
    plan = BundlePlan(item, seed_of(item.benchmark, options.seed), options, is_limited)
    if options.steering is not None:
        _steer(plan, options.steering)
    return plan


def _unusable_name(file: Path, why: str) -> Diagnostic:
    message = f"a bundle cannot contain a file of this name: {why.replace(SPECS, '', 1)}"
    return Diagnostic("E604", message, Position(file.as_posix(), 1, 1), "rename the file")


def _steer(plan: BundlePlan, request: SteeringRequest | Steering) -> None:
    """Keep the templates whose instances can be chosen by their predicted difficulty. Raises DiaError if none can."""
    unfit = {template.name: why for template in plan.item.clean if (why := _why_unfit(template)) is not None}
    plan.steering = request.of([template.name for template in plan.item.clean if template.name not in unfit])
    if isinstance(request, SteeringRequest):
        plan.steering = plan.steering.refusing(unfit.items())
    plan.item.clean = [template for template in plan.item.clean if template.name in plan.steering.rules]
    require_steered(plan)


def _why_unfit(template: Template) -> str | None:
    """Return why the instances of a template cannot be chosen, or None if they can."""
    if template.each is not None:
        return HAS_EACH
    if template.instances == ALL:
        return MAKES_ALL
    return None if template.parameters else NO_PARAMETERS


def require_steered(plan: BundlePlan) -> None:
    """Raise DiaError (exit 2) with the reason for each template if instances of none can be chosen."""
    if plan.steering is None or plan.steering.rules:
        return
    name = plan.item.benchmark.name
    errors = [
        Diagnostic("E898", f"`{template}`: {why}", None, _steering_help(why)) for template, why in plan.steering.refused
    ]
    raise DiaError(errors or Diagnostic("E898", f"`{name}` has no template whose instances can be chosen", None))


def _steering_help(why: str) -> str | None:
    """Return what helps against the reason for which instances of a template cannot be chosen."""
    if why in (HAS_EACH, MAKES_ALL, NO_PARAMETERS):
        return None
    if RANGE_OF_PREDICTIONS in why:
        return "ask for a success or difficulty in this range"
    return "calibrate more instances"


def require_room(questions: int, folder: Path) -> None:
    """Raise DiaError (exit code 2) before a compile whose bundle needs more than the free disk space."""
    need, free = questions * BYTES_OF_A_QUESTION, shutil.disk_usage(folder).free
    if questions >= MANY and need > free:
        message = f"{questions:,} questions need at least {need / 1e9:,.0f} GB, and {free / 1e9:,.0f} GB are free"
        fix = "use a smaller --k, or compile parts on several machines with --part"
        raise DiaError(Diagnostic("E602", message, None, fix))


def raise_errors(checked: Checked, is_strict: bool) -> None:
    diagnostics = checked.diagnostics.ordered(checked.sources)
    if any(entry.severity == "error" or is_strict for entry in diagnostics):
        raise SpecFaults(diagnostics, checked.sources)


def _warnings_by_benchmark(checked: Checked, folders: list[Folder]) -> list[tuple[Diagnostic, ...]]:
    """Return the warnings of each benchmark; those that are in the files of no other one belong to the last."""
    diagnostics = checked.diagnostics.ordered(checked.sources)
    shared: list[list[Diagnostic]] = [[] for _ in folders]
    for entry in diagnostics:
        file = Path(entry.position.file) if entry.position else Path()
        owners = [place for place, folder in enumerate(folders) if folder.path in file.parents]
        shared[max(owners, key=lambda place: len(folders[place].path.parts), default=-1)].append(entry)
    return [tuple(entries) for entries in shared]


def job_of(plan: BundlePlan, template: Template, is_trial: bool = False) -> TemplateJob:
    """Return what a worker needs to expand the template, and nothing that its rows do not depend on."""
    item = plan.item
    facts = {name: value for name, value in item.benchmark.facts.items() if name not in NOT_SEEN}
    benchmark = Benchmark(
        item.benchmark.name, item.benchmark.folder, item.benchmark.file, facts, item.benchmark.prompt,
        item.benchmark.shared,
    )  # fmt: skip
    settings = settings_of(item.benchmark, template, plan.seed)
    if plan.steering is not None:
        settings = replace(settings, steering=plan.steering.of_template(template.name))
    return TemplateJob(
        template, benchmark, item.lists_of(template), settings, plan.options.k, facts.get("canary"), is_trial
    )


@dataclass(slots=True)
class _TemplateState:
    """A template of a plan: the worker's job, the key in the cache, and the rows from the cache or a worker."""

    plan: BundlePlan
    job: TemplateJob
    key: str | None
    ready: TemplateRows | None = None
    is_from_cache: bool = False


class _RowStore:
    """The rows of all templates of all bundles, and which of them are worth caching."""

    def __init__(
        self,
        plans: list[BundlePlan],
        inputs: list[Inputs | None],
        private: Path,
        diagnostics: Diagnostics,
        on_progress: Progress | None,
    ) -> None:
        self.plans, self.inputs, self.private, self.diagnostics = plans, inputs, private, diagnostics
        self.on_progress = on_progress
        self.states = [
            _TemplateState(plan, job, key)
            for plan, folder_inputs in zip(plans, inputs, strict=True)
            for job, key in _keyed(plan, folder_inputs)
        ]

    def rows_of_plans(
        self, pool: WorkerPool, options: CompileOptions, resources: WorkerResources
    ) -> list[tuple[BundlePlan, list[TemplateRows]]]:
        """Return the rows of every plan; errors are added to the diagnostics."""
        from dia_compiler.freeze.cache import Cache

        self.cache = Cache(options.folder, "templates")
        for state in self.states:
            self.recall(state)
        missing = [state for state in self.states if state.ready is None]
        template_jobs = [
            replace(state.job, resources=replace(resources, programs=state.plan.item.programs)) for state in missing
        ]
        gathering = Gatherer(template_jobs, self.diagnostics, self.private, self.on_progress, explainer(self.plans))
        for state, rows in zip(missing, gathering.run(pool), strict=True):
            self.look_at(state, rows)
        for plan in self.plans:
            require_steered(plan)
        return [(plan, [a.ready for a in self.states if a.plan is plan and a.ready]) for plan in self.plans]

    def look_at(self, state: _TemplateState, rows: GatheredRows) -> None:
        """Report what only all rows of a template together show."""
        if rows.summary is not None and rows.summary.refused is not None:
            assert state.plan.steering is not None
            state.plan.steering = state.plan.steering.refusing([(state.job.template.name, rows.summary.refused)])
        elif rows.summary is not None:
            state.ready = TemplateRows(rows.template, rows.spool, rows.summary, row_statistics(rows.spool))
            self.tell_health(state.ready, state.job.k)

    def tell_health(self, ready: TemplateRows, k: int) -> None:
        check_health(ready.template, ready.spool, ready.summary, ready.statistics, k, self.diagnostics, is_trial=False)

    def recall(self, state: _TemplateState) -> None:
        """Take the template's rows from the cache, if they are there."""
        facts = self.cache.read(state.key) if state.key is not None else None
        if facts is None or state.key is None:
            return
        spool = Spool()
        spool.rows, spool.sample = facts["rows"], facts["sample"]
        for name in PARTS:
            path = self.cache.path(state.key, name)
            spool.parts[name].path, spool.parts[name].size = path, path.stat().st_size
        summary, statistics = summary_of(facts["summary"]), RowStatistics(**_tuples(facts["figures"]))
        state.ready, state.is_from_cache = TemplateRows(state.job.template, spool, summary, statistics), True
        self.diagnostics.entries.extend(summary.warnings)
        self.tell_health(state.ready, state.job.k)
        if self.on_progress is not None:
            self.on_progress(state.job.name, spool.rows, spool.rows)

    def remember(self, results: list[BundleResult]) -> None:
        """Keep the rows and the bundles in the cache, unless a file has changed since it was read."""
        from dia_compiler.freeze.cache import trim
        from dia_compiler.freeze.incremental import inputs_of, remember_bundle

        for plan, folder_inputs, whole in zip(self.plans, self.inputs, results, strict=True):
            if (
                folder_inputs is None
                or not _is_known(plan, folder_inputs)
                or inputs_of(plan.item.folder, plan.options) != folder_inputs
            ):
                continue
            for state in self.states:
                if state.plan is plan and not state.is_from_cache:
                    self.store(state)
            remember_bundle(folder_inputs, plan.options, whole, _requirements(plan))
        trim(self.plans[0].options.folder)

    def store(self, state: _TemplateState) -> None:
        """Move the rows of a template, which has been frozen, to the cache."""
        ready = state.ready
        if ready is None or state.key is None:
            return
        try:
            for name, part in ready.spool.parts.items():
                part.flush(part.path or self.private / name)
        except OSError:  # the bundle is complete, so a full disk is not an error here
            return
        facts = {
            "rows": ready.spool.rows,
            "sample": ready.spool.sample,
            "summary": summary_facts(ready.summary),
            "figures": asdict(ready.statistics),
        }
        self.cache.store(state.key, facts, {name: part.path for name, part in ready.spool.parts.items() if part.path})


def _keyed(plan: BundlePlan, folder_inputs: Inputs | None) -> Iterator[tuple[TemplateJob, str | None]]:
    """Return the job of each template and its key: a digest of the job, of data files and of the code."""
    from dia_compiler.freeze.fingerprint import digest_of, machinery

    specs = set(plan.item.files)
    data = sorted(pair for pair in folder_inputs.files.items() if pair[0] not in specs) if folder_inputs else []
    for template in plan.item.clean:
        job = job_of(plan, template)
        key = digest_of([machinery(), repr(data), pickle.dumps(job, protocol=5)]) if folder_inputs else None
        yield job, key


def _is_known(plan: BundlePlan, folder_inputs: Inputs) -> bool:
    """Return whether the digest of every file that was read is known."""
    return set(plan.item.files) <= set(folder_inputs.files)


def _requirements(plan: BundlePlan) -> list[tuple[str, str, str | None]]:
    """Return what the templates require, and which of it the machine lacks."""
    folder = plan.item.folder.path
    templates = plan.item.benchmark.templates
    pairs = {(key.text, value.text) for template in templates for key, value in template.requires}
    pairs |= {("extra", name) for template in templates for name in extras_of(template)}
    return [(kind, name, lacks(kind, name, folder)) for kind, name in sorted(pairs)]


def summary_facts(summary: Summary) -> dict[str, Any]:
    return {
        "freedom": [summary.freedom.kind, summary.freedom.as_json()["count"]],
        "acceptance": summary.acceptance,
        "functions": summary.functions,
        "tools": summary.tools,
        "warnings": [entry.as_json() for entry in summary.warnings],
    }


def summary_of(facts: Mapping[str, Any]) -> Summary:
    from dia_compiler.freeze.incremental import warning_from_json

    kind, count = facts["freedom"]
    warnings = tuple(warning_from_json(entry) for entry in facts["warnings"])
    freedom = Freedom(kind, None if count is None else int(count))
    return Summary(freedom, tuple(facts["acceptance"]), tuple(facts["functions"]), warnings, tools=facts["tools"])


def _tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
