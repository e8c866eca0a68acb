"""Tasks of a worker: the templates of a path, and what `dia check` reports about each of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dia_compiler.analyze.check import CheckedBenchmark, check
from dia_compiler.analyze.settings import seed_of
from dia_compiler.distribute.gather import Gatherer
from dia_compiler.freeze.bundle_plan import BundlePlan
from dia_compiler.freeze.health import check_health, row_statistics
from dia_compiler.freeze.output import CompileOptions, scratch_folder
from dia_compiler.parse.discover import Folder, discover
from dia_compiler.parse.kept_nodes import KeptNodes
from dia_compiler.pipeline.api import TRIAL
from dia_compiler.pipeline.phases import explainer, trial_job
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, LanguageError
from dia_language.workers import heartbeat
from dia_language.workers.pool import SECONDS, Outcome, Positions, Task, WorkerPool
from dia_language.yaml_nodes import Mapping

Record = dict[str, Any]
PATIENT = 10  # checks in the background have a lower priority than what the page shows


PARSER = KeptNodes()  # of this worker


class InlinePool(WorkerPool):
    """A pool without processes, for a caller that is itself a worker: tasks run when their outcomes are requested."""

    def __init__(self) -> None:
        super().__init__(0)

    def run(self, tasks: Iterable[Task], label: str = "the evaluation") -> Generator[Outcome, None, None]:
        """Yield the outcomes of all tasks in order. Errors of a task become its diagnostics."""
        waiting = tasks if isinstance(tasks, deque) else deque(tasks)
        while waiting:
            task = waiting.popleft()
            diagnostics: tuple[Diagnostic, ...] = ()
            try:
                for item in task.function(*task.arguments):
                    heartbeat.end_evaluation()
                    if not isinstance(item, Positions):
                        yield Outcome(task.key, item)
            except DiaError as error:
                diagnostics = error.diagnostics
            except LanguageError as error:
                diagnostics = (Diagnostic(error.code, error.message, None, error.help),)
            yield Outcome(task.key, is_end=True, diagnostics=diagnostics)


def survey(paths: list[str], programs: str) -> Iterator[Record]:
    """Yield one record: the templates that the paths name, and the errors that need no instances.

    Raises DiaError for paths that name no benchmark.
    """
    folders = discover([Path(path) for path in paths])
    checked = check(folders, defers=True, programs=programs, parser=PARSER, skips_others=True)
    benchmarks = {item.folder.path: item for item in checked.benchmarks}
    yield {
        "benchmarks": [_benchmark(folder, benchmarks.get(folder.path)) for folder in folders],
        "diagnostics": excerpts(checked.diagnostics.ordered(checked.sources), checked.sources),
    }


def _benchmark(folder: Folder, item: CheckedBenchmark | None) -> Record:
    """Return the benchmark of a folder with its template files; `item` is None if it cannot be read."""
    templates = {template.file: template for template in item.benchmark.templates} if item is not None else {}
    clean = {template.file for template in item.clean} if item is not None else set()
    left_out = {entry.template: entry.why for entry in item.left_out} if item is not None else {}
    chosen = [path for path in folder.files if not folder.chosen or path.resolve() in folder.chosen]
    rows = []
    for path in chosen:
        template = templates.get(path.as_posix())
        if template is None and _is_catalog(path):
            continue
        facts = template.facts if template is not None else {}
        rows.append({
            "file": path.as_posix(),
            "name": template.name if template is not None and template.name else path.stem,
            "title": str(facts.get("title", "")),
            "category": str(facts.get("category", "")),
            "level": str(facts.get("level", "")),
            "skills": _skills(template.node) if template is not None else [],
            "seconds": _number(template.limits.get("seconds"), SECONDS) if template is not None else SECONDS,
            "is_clean": path.as_posix() in clean,
            "left_out": left_out.get(template.name) if template is not None else None,
        })  # fmt: skip
    facts = item.benchmark.facts if item is not None else {}
    return {
        "folder": folder.path.as_posix(),
        "name": item.benchmark.name if item is not None else folder.path.name,
        "title": str(facts.get("title", "")),
        "seed": seed_of(item.benchmark, None) if item is not None else "0",
        "templates": rows,
    }


def _is_catalog(path: Path) -> bool:
    """Return whether a spec file is a catalog, whose first key says so."""
    with suppress(OSError, UnicodeDecodeError):
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            if line.strip() and not line.lstrip().startswith(("#", "---")):
                return line.startswith("catalog:")
    return False


def _skills(node: Mapping) -> list[str]:
    skills = node.get("skills")
    return [str(getattr(item, "text", "")) for item in getattr(skills, "items", ())]


def _number(value: Any, default: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def states(paths: list[str], files: list[str], programs: str) -> Iterator[Record]:
    """Yield for each of the template files what `dia check` reports about it: `{"file", "diagnostics"}`.

    `is_blocked` is true for a template that cannot be checked because of errors in other files.

    The paths name the benchmarks of the files. A record with the file alone comes before the work on it.
    """
    with suppress(OSError, AttributeError):
        os.nice(PATIENT - os.nice(0))
    folders = discover([Path(path) for path in paths])
    options = CompileOptions(TRIAL, programs=programs)
    with scratch_folder() as scratch:
        checked = check(folders, defers=True, programs=programs, parser=PARSER, skips_others=True)
        static = checked.diagnostics.ordered(checked.sources)
        plans = [BundlePlan(item, seed_of(item.benchmark, None), options, False) for item in checked.benchmarks]
        left_out = {
            template.file
            for item in checked.benchmarks
            for template in item.benchmark.templates
            for entry in item.left_out
            if entry.template == template.name
        }
        clean = {template.file: (plan, template) for plan in plans for template in plan.item.clean}
        for file in files:
            entries = [entry for entry in static if entry.position is not None and entry.position.file == file]
            if file in clean:
                yield {"file": file}
                plan, template = clean[file]
                diagnostics = Diagnostics()
                gathering = Gatherer([trial_job(plan, template, scratch)], diagnostics, None, None, explainer([plan]))
                (rows,) = gathering.run(InlinePool())
                if rows.summary is not None:
                    figures = row_statistics(rows.spool)
                    check_health(template, rows.spool, rows.summary, figures, TRIAL, diagnostics, is_trial=True)
                entries = list(dict.fromkeys([*entries, *diagnostics.ordered(checked.sources)]))
            is_blocked = file not in clean and not entries and file not in left_out
            yield {"file": file, "diagnostics": excerpts(entries, checked.sources), "is_blocked": is_blocked}


def excerpts(entries: Iterable[Diagnostic], sources: dict[str, str]) -> list[Record]:
    """Return the diagnostics as `dia check --format json` prints them, each with its source line as `source`."""
    return [entry.as_json() | {"source": _source_line(entry, sources)} for entry in entries]


def _source_line(entry: Diagnostic, sources: dict[str, str]) -> str | None:
    place = entry.position
    if place is None:
        return None
    text = sources.get(place.file)
    if text is None:
        with suppress(OSError, UnicodeDecodeError):
            text = Path(place.file).read_text(encoding="utf-8-sig")
    lines = (text or "").split("\n")
    return lines[place.line - 1].rstrip("\r") if 1 <= place.line <= len(lines) else None
