"""Compile specs to bundles. Unchanged results are reused; slow modules are imported only when needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dia_language.confinement.permission import NO, WORDS
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.workers.fork_server import may_fork
from dia_language.workers.pool import ForkingPool, WorkerPool

from dia_compiler.freeze.output import DEFAULT_K, SHARD, SPAN, CompileOptions, FrozenBundle
from dia_compiler.parse.discover import Folder, discover

if TYPE_CHECKING:
    from dia_compiler.analyze.check import Checked
    from dia_compiler.freeze.incremental import BundleResult, Inputs
    from dia_compiler.pipeline.part import Part
    from dia_compiler.probe.probe import Shortcut
    from dia_compiler.probe.rows import SkippedTemplate
    from dia_compiler.sampling.steering import Steering, SteeringRequest

Progress = Callable[[str, int, int], None]
TRIAL = 3  # instances of each template in a check
STRICT_TRIAL = 60  # instances in a check that also looks for shortcuts
PROBED = 400
HEAVY, MANY = ("sympy", "numpy"), 20  # this many templates surely need them, which saves each worker half a second


@dataclass(frozen=True, slots=True)
class Compilation:
    """The bundles that a compile made, the warnings, and the texts of the specs for excerpts."""

    bundles: tuple[FrozenBundle, ...]
    warnings: tuple[Diagnostic, ...]
    sources: dict[str, str]
    parts: tuple[Part, ...] = ()


def compile(
    paths: list[Path] | list[str],
    k: int = 5,
    seed: str | None = None,
    out: Path | str | None = None,
    jobs: int | None = None,
    is_strict: bool = False,
    force: bool = False,
    limit: int | None = None,
    on_progress: Progress | None = None,
    use_cache: bool = True,
    shard_size: int = SHARD,
    allow_programs: str = NO,
    part: str | None = None,
    cluster: str | None = None,
    steering: SteeringRequest | Steering | None = None,
) -> Compilation:
    """Compile the benchmarks that the paths name, and return their bundles, written under `out` (default: `build`).

    `seed` overrides the benchmarks' seeds. `jobs` is the number of worker processes (default: all cores). `limit` takes
    only the first templates of each benchmark. Results of earlier compiles are reused unless `use_cache` is false.
    Above `shard_size` questions, several files are written. `allow_programs` lets specs that do not come with dia run
    programs: "confined" in a sandbox, "unconfined" without one if none is available. `part` ("2/5") compiles the second
    of five parts for `dia merge`, and no bundle. `cluster` is the address of a Dask scheduler, or "local"; it is not
    contacted if all bundles are unchanged. `steering` keeps only instances of a predicted difficulty.

    Raises DiaError: exit code 2 for errors in the specs (all of them at once) or an output that may not be replaced, 4
    for a cluster that does not answer.
    """
    from dia_compiler.freeze.incremental import inputs_of, unchanged_bundle

    if k < 1:
        raise DiaError(Diagnostic("E600", "--k must be at least 1", None))
    if allow_programs not in WORDS:
        raise DiaError(Diagnostic("E600", f"`allow_programs` must be one of {', '.join(WORDS)}", None))
    place = Path(out) if out is not None else None
    workers = jobs or os.cpu_count() or 1
    options = CompileOptions(
        k, seed, place, workers, is_strict, force, limit, use_cache, shard_size, allow_programs, steering
    )
    if part is not None and steering is not None:
        help = "leave out --part; --jobs and --cluster divide the work too"
        raise DiaError(Diagnostic("E600", "--part cannot choose instances by their difficulty", None, help))
    if cluster is not None:
        from dia_compiler.distribute.cluster_address import require_address

        require_address(cluster)
    folders = discover([Path(path) for path in paths])
    if part is not None:
        return _part(folders, options, part, cluster, on_progress)
    inputs = [inputs_of(folder, options) for folder in folders]
    results = [
        result and unchanged_bundle(folder, result, options) for folder, result in zip(folders, inputs, strict=True)
    ]
    to_make = [
        (folder, folder_inputs)
        for folder, folder_inputs, result in zip(folders, inputs, results, strict=True)
        if result is None
    ]
    new_results, sources = _make_bundles(to_make, options, cluster, on_progress) if to_make else ([], {})
    fresh = iter(new_results)
    whole = [result or next(fresh) for result in results]
    return _compilation(whole, sources)


def _worker_pool(
    folders: list[Folder], jobs: int, k: int, cluster: str | None = None, forks: bool = False
) -> WorkerPool:
    """Start workers while the rest of dia is imported and the specs are read, as many as can be used.

    With `forks`, this process forks the workers of few templates, which costs them no imports.
    """
    if cluster is not None:
        from dia_compiler.distribute.cluster import ClusterPool

        return ClusterPool(cluster, jobs)
    files = sum(len(folder.chosen or folder.files) for folder in folders)
    most = jobs if k > SPAN else min(jobs, max(1, files))  # a large template is divided among all workers
    if forks and files < MANY and may_fork():
        return ForkingPool(most, "dia_compiler.distribute.task")
    return WorkerPool(most, "dia_compiler.distribute.task", HEAVY if files >= MANY else ())


def _part(
    folders: list[Folder], options: CompileOptions, part: str, cluster: str | None, on_progress: Progress | None
) -> Compilation:
    from dia_compiler.distribute.parts import parse_part_number

    number = parse_part_number(part)
    with _worker_pool(folders, options.jobs, options.k, cluster) as pool:
        from dia_compiler.pipeline.part import make_parts

        parts, warnings, sources = make_parts(folders, options, number, pool, on_progress)
    return Compilation((), warnings, sources, tuple(parts))


def _make_bundles(
    to_make: list[tuple[Folder, Inputs | None]],
    options: CompileOptions,
    cluster: str | None,
    on_progress: Progress | None,
) -> tuple[list[BundleResult], dict[str, str]]:
    with _worker_pool([folder for folder, _ in to_make], options.jobs, options.k, cluster) as pool:
        from dia_compiler.pipeline.phases import make_bundles

        return make_bundles(to_make, options, pool, on_progress)


def _compilation(whole: list[BundleResult], sources: dict[str, str]) -> Compilation:
    warnings = tuple(entry for result in whole for entry in result.warnings)
    for entry in warnings:
        if entry.position is not None and entry.position.file not in sources:
            sources[entry.position.file] = Path(entry.position.file).read_text(encoding="utf-8-sig")
    return Compilation(tuple(result.frozen for result in whole), warnings, sources)


def check_specs(
    paths: list[Path] | list[str],
    jobs: int | None = None,
    is_strict: bool = False,
    on_progress: Progress | None = None,
    allow_programs: str = NO,
    estimates: bool = False,
    finds_shortcuts: bool = False,
    k: int = TRIAL,
) -> Checked:
    """Return every error of every spec: in its text, in its examples, and in the first k instances of each template.

    With `estimates`, also the degrees of freedom of each template, estimated where they cannot be counted. With
    `finds_shortcuts`, more instances are made, and simple rules are tried on them.
    """
    options = CompileOptions(k, jobs=jobs or os.cpu_count() or 1, is_strict=is_strict, programs=allow_programs)
    if finds_shortcuts:
        options = replace(options, k=max(k, STRICT_TRIAL))
        return _probe([Path(path) for path in paths], options, on_progress, estimates, compiled_k=k).checked
    folders = discover([Path(path) for path in paths])
    with _worker_pool(folders, options.jobs, options.k, forks=True) as pool:
        from dia_compiler.pipeline.phases import check_instances

        return check_instances(folders, options, pool, on_progress, estimates)


@dataclass(frozen=True, slots=True)
class Probe:
    """The best shortcut of each template for which one can be sought, by position, and the result of the check."""

    checked: Checked
    shortcuts: tuple[Shortcut, ...]
    skipped: tuple[SkippedTemplate, ...]
    reasons: dict[tuple[str, str], str]  # the reasons for which specs allow a shortcut, by benchmark and template


def probe_specs(
    paths: list[Path] | list[str],
    k: int = PROBED,
    seed: str | None = None,
    jobs: int | None = None,
    allow_programs: str = NO,
    on_progress: Progress | None = None,
) -> Probe:
    """Return how often simple rules, which do not understand the questions, are right.

    They are learned on half of k instances of each template. Shortcuts above their limit are also warnings of the
    check, unless the template allows them. Raises DiaError (exit code 2) for `k` below 20 and for paths without specs;
    errors of the specs are in the check.
    """
    from dia_compiler.probe.probe import FEWEST

    if k < FEWEST:
        raise DiaError(
            Diagnostic("E600", f"--k must be at least {FEWEST}: rules are learned and tested on these instances", None)
        )
    options = CompileOptions(k, seed, jobs=jobs or os.cpu_count() or 1, programs=allow_programs)
    return _probe([Path(path) for path in paths], options, on_progress)


def _probe(
    paths: list[Path],
    options: CompileOptions,
    on_progress: Progress | None,
    estimates: bool = False,
    compiled_k: int = DEFAULT_K,
) -> Probe:
    folders = discover(paths)
    with _worker_pool(folders, options.jobs, options.k) as pool:
        from dia_compiler.pipeline.phases import check_instances
        from dia_compiler.probe.rows import Prober, left_out_of

        with Prober(options.jobs) as prober:
            checked = check_instances(
                folders, options, pool, on_progress, estimates, prober.look, compiled_k=compiled_k
            )
            shortcuts = prober.shortcuts(checked.diagnostics)
    skipped = sorted([*prober.skipped, *left_out_of(checked.benchmarks)], key=lambda one: (one.benchmark, one.template))
    return Probe(checked, shortcuts, tuple(skipped), prober.reasons)
