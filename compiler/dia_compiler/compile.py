"""The stages in order: discover, check, expand (in workers), freeze."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_runtime.language import watch
from dia_runtime.language.budgets import STEPS
from dia_runtime.language.diagnostics import DiaError, Diagnostic, Faults, Position
from dia_runtime.language.workers import SECONDS, Outcome, Places, Task, run_tasks

from dia_compiler.check import Checked, CheckedBenchmark, check
from dia_compiler.discover import discover
from dia_compiler.examples import check_examples
from dia_compiler.expand import Expansion, Freedom
from dia_compiler.freeze import BundlePlan, Frozen, freeze
from dia_compiler.fuzz import Exhausted
from dia_compiler.prepare import prepare
from dia_compiler.records import Expanded, Row, Summary, frozen_row
from dia_compiler.settings import Settings, seed_of, settings_of
from dia_compiler.spec import Benchmark, Template

BATCH = 100
TRIAL = 3

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Compilation:
    """The bundles that a compile made, the warnings, and the texts of the specs for excerpts."""

    bundles: tuple[Frozen, ...]
    warnings: tuple[Diagnostic, ...]
    sources: dict[str, str]


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
) -> Compilation:
    """The bundles of the benchmarks that the paths name, written under `out` (default: `build`).

    `seed` overrides the benchmarks' own; `jobs` is the number of worker processes (default: all cores); `limit` takes
    only the first templates of each benchmark. Raises DiaError: exit code 2 for faults of the specs (all of them at
    once) and for an output that may not be replaced.
    """
    if k < 1:
        raise DiaError(Diagnostic("E600", "--k must be at least 1", None))
    checked = check(discover([Path(path) for path in paths]), is_strict)
    plans = [_plan(item, k, seed_of(item.benchmark, seed), out, force, limit) for item in checked.benchmarks]
    expanded = _expanded(plans, checked.faults, jobs or os.cpu_count() or 1, k, on_progress)
    _refuse(checked, is_strict)
    bundles = tuple(freeze(plan, expanded[index]) for index, plan in enumerate(plans))
    return Compilation(bundles, tuple(checked.faults.ordered(checked.sources)), checked.sources)


def check_specs(
    paths: list[Path] | list[str], jobs: int | None = None, is_strict: bool = False, on_progress: Progress | None = None
) -> Checked:
    """Every fault of every spec: those that show without evaluating, then examples and three instances of the rest."""
    checked = check(discover([Path(path) for path in paths]), is_strict)
    plans = [_plan(item, TRIAL, seed_of(item.benchmark, None), None, False, None) for item in checked.benchmarks]
    _expanded(plans, checked.faults, jobs or os.cpu_count() or 1, TRIAL, on_progress, is_trial=True)
    return checked


def _plan(
    item: CheckedBenchmark, k: int, seed: str, out: Path | str | None, force: bool, limit: int | None
) -> BundlePlan:
    is_limited = limit is not None and limit < len(item.clean)
    item.clean = item.clean[:limit]
    return BundlePlan(item, k, seed, Path(out) if out is not None else None, force, is_limited)


def _refuse(checked: Checked, is_strict: bool) -> None:
    found = checked.faults.ordered(checked.sources)
    if any(entry.severity == "error" or is_strict for entry in found):
        raise SpecFaults(found, checked.sources)


class SpecFaults(DiaError):
    """The faults of the specs, with the texts of the files for excerpts."""

    def __init__(self, found: list[Diagnostic], sources: dict[str, str]) -> None:
        super().__init__(found)
        self.sources = sources


def _expanded(
    plans: list[BundlePlan],
    faults: Faults,
    jobs: int,
    k: int,
    on_progress: Progress | None,
    is_trial: bool = False,
) -> list[list[Expanded]]:
    """The rows of all templates of all benchmarks; what goes wrong is added to the faults."""
    results = [[Expanded(template) for template in plan.item.clean] for plan in plans]
    tasks = [
        Task((number, place), expand_template, _arguments(plan, template, k, is_trial), _seconds(template))
        for number, plan in enumerate(plans)
        for place, template in enumerate(plan.item.clean)
    ]
    with closing(run_tasks(tasks, min(jobs, max(1, len(tasks))))) as outcomes:
        for outcome in outcomes:
            number, place = outcome.key
            held = results[number][place]
            _take(outcome, held, faults)
            if on_progress is not None and (outcome.is_end or outcome.item):
                on_progress(held.template.name, len(held.rows), k if not outcome.is_end else len(held.rows))
    for row in results:
        for held in row:
            if held.summary is not None:
                _check_health(held, k, faults, is_trial)
    return results


def _seconds(template: Template) -> float:
    return float(template.limits.get("seconds", SECONDS))


def _arguments(plan: BundlePlan, template: Template, k: int, is_trial: bool) -> tuple[Any, ...]:
    benchmark = plan.item.benchmark
    settings = settings_of(benchmark, template, plan.seed)
    lists = plan.item.lists_of(template)
    canary = benchmark.facts.get("canary")
    light = Benchmark(
        benchmark.name, benchmark.folder, benchmark.file, benchmark.facts, benchmark.prompt, benchmark.shared
    )
    return template, light, lists, settings, k, canary, is_trial


def _take(outcome: Outcome, held: Expanded, faults: Faults) -> None:
    if outcome.is_end:
        for entry in outcome.diagnostics:
            place = entry.position or held.template.position
            faults.entries.append(Diagnostic(entry.code, entry.message, place, entry.help, entry.severity))
    elif isinstance(outcome.item, Summary):
        held.summary = outcome.item
        faults.entries.extend(outcome.item.warnings)
    else:
        held.rows.extend(outcome.item)


def expand_template(
    template: Template,
    benchmark: Benchmark,
    lists: dict[str, list[str]],
    settings: Settings,
    k: int,
    canary: str | None,
    is_trial: bool,
) -> Iterator[Any]:
    """The work of a worker: batches of rows, then the summary. Raises DiaError with every fault of the template."""
    faults = Faults()
    prepared = prepare(template, benchmark, faults, lists)
    yield Places(prepared.places)
    watch.allow(int(template.limits.get("steps", STEPS)))
    expansion = _checked_expansion(Expansion(prepared, settings), faults)
    freedom = expansion.freedom()
    k = _possible(k, freedom, template, is_trial)
    rows: list[Row] = []
    count = 0
    try:
        for instance in expansion.instances(k):
            rows.append(frozen_row(instance, expansion, canary))
            count += 1
            if len(rows) == BATCH:
                yield rows
                rows = []
    except Exhausted as found:
        raise _too_few(count, k, template, str(found)) from None
    if rows:
        yield rows
    if count < k and prepared.makers:
        raise _too_few(count, k, template, "the walk over all choices ends")
    walker = expansion.walker
    acceptance = (walker.drawn - walker.rejected, walker.drawn)
    warnings = tuple(entry for entry in faults.entries if entry.severity == "warning")
    yield Summary(freedom, acceptance, tuple(sorted(prepared.used_functions)), warnings)


def _checked_expansion(expansion: Expansion, faults: Faults) -> Expansion:
    """The expansion, when every domain that can be made without a draw is right and every example comes out."""
    makers = list(expansion.prepared.makers.values())
    for entry in expansion.prepared.entry_makers.values():
        makers += entry.values()
    before = len(faults.errors)
    for maker in makers:
        if maker.is_fixed:
            try:
                maker.make(dict(expansion.lists))
            except DiaError as error:
                faults.entries.extend(error.diagnostics)
    if len(faults.errors) == before:
        check_examples(expansion, faults)
    if faults.errors:
        raise DiaError(faults.errors)
    return expansion


def _possible(k: int, freedom: Freedom, template: Template, is_trial: bool) -> int:
    """The number of instances to make. Raises DiaError where there cannot be so many."""
    if not template.parameters:
        return 1
    if freedom.kind in ("exact", "at_most") and freedom.count is not None and freedom.count < k:
        if is_trial and freedom.count > 0:
            return freedom.count
        raise _too_few(freedom.count, k, template, None)
    return k


def _too_few(found: int, k: int, template: Template, why: str | None) -> DiaError:
    """The refusal of more instances than a template has, at the condition that may be too strict."""
    message = f"only {found} distinct instance{'' if found == 1 else 's'}, k is {k}"
    message = message if found else f"no instance can be made, k is {k}"
    mend = (f"{why}; " if why else "") + "widen a parameter, or loosen a `where`"
    place = template.where[0].position if template.where and why else template.position
    return DiaError(Diagnostic("E505", message, place, mend))


def _check_health(held: Expanded, k: int, faults: Faults, is_trial: bool) -> None:
    """Tells equal questions as an error, and the health warnings that only all instances together can show."""
    template, rows = held.template, held.rows
    assert held.summary is not None
    _check_distinct(held, faults)
    place = template.answer.position if template.answer else template.position
    warnings: dict[str, tuple[str, Position]] = {}
    if template.parameters and len(rows) > 2 and len({row.text for row in rows}) == 1:
        warnings["constant-answer"] = (f"all {len(rows)} instances have the answer `{rows[0].text[:40]}`", place)
    shown = sum(row.is_answer_shown for row in rows)
    if rows and 2 * shown > len(rows):
        message = f"the answer stands in the prompt in {shown} of {len(rows)} instances"
        warnings["answer-in-prompt"] = (message, place)
    accepted, drawn = held.summary.acceptance
    if drawn >= 200 and accepted * 100 < drawn:
        message = f"{accepted} of {drawn} draws meet every `where`: build the value instead of searching it"
        warnings["low-acceptance"] = (message, template.position)
    freedom = held.summary.freedom
    if freedom.kind == "exact" and freedom.count == k and template.parameters and not is_trial:
        warnings["k-equals-d"] = (f"the template can make no more than these {k} instances", template.position)
    for name, (message, where) in warnings.items():
        if name not in template.allow:
            faults.warn(name, message, where, f"mend it, or allow it: `allow: {{{name}: reason}}`")


def _check_distinct(held: Expanded, faults: Faults) -> None:
    seen: dict[bytes, int] = {}
    for number, row in enumerate(held.rows):
        first = seen.setdefault(row.content_digest, number)
        if first != number:
            message = f"instances {first} and {number} are the same question"
            mend = "a `where` that breaks the symmetry, such as `a <= b`, or a prompt that shows every parameter"
            faults.error("E506", message, held.template.position, mend)
            return
