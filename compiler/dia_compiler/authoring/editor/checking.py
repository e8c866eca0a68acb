"""What `dia check` reports about one file that is open in an editor: first from its text, then from its instances."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dia_compiler.analyze.check import Checked, check
from dia_compiler.analyze.prepare import prepare
from dia_compiler.distribute.gather import GatheredRows
from dia_compiler.distribute.task import TemplateJob, apply_limits
from dia_compiler.freeze.output import CompileOptions
from dia_compiler.generate.draw import value_text
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.parse.discover import BENCHMARK_FILE, Folder, folder_of_file
from dia_compiler.parse.kept_nodes import KeptNodes
from dia_compiler.parse.model import Benchmark, Template
from dia_compiler.pipeline.api import TRIAL
from dia_compiler.pipeline.phases import check_instances
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics
from dia_language.workers.pool import SECONDS, Outcome, Positions, Task, WorkerBug, WorkerPool

MODULE = "dia_compiler.authoring.editor.checking"
VALUE_LENGTH = 400  # characters of a value that are shown
PROMPT_LENGTH = 4_000
PROMPT, ANSWER = "prompt", "answer"  # shown of an instance besides its values

Unsaved = Mapping[Path, bytes]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The diagnostics of a check, in the order of `dia check`, and what was parsed; None if nothing could be."""

    diagnostics: tuple[Diagnostic, ...]
    checked: Checked | None = None
    values: dict[str, str] = field(default_factory=dict)  # of instance 0, by name

    def of_file(self, path: Path) -> list[Diagnostic]:
        """Return the diagnostics of one file, and those without a position, which also concern it."""
        return [entry for entry in self.diagnostics if entry.position is None or Path(entry.position.file) == path]

    def template(self, path: Path) -> Template | None:
        """Return the template of a file, if it could be read."""
        benchmarks = self.checked.benchmarks if self.checked is not None else []
        templates = (template for item in benchmarks for template in item.benchmark.templates)
        return next((template for template in templates if Path(template.file) == path), None)

    @property
    def benchmark(self) -> Benchmark | None:
        """Return the benchmark of the file, if it could be read."""
        return next((item.benchmark for item in self.checked.benchmarks), None) if self.checked is not None else None


class TextChecker:
    """Checks texts without making instances. It caches the nodes of unchanged files."""

    def __init__(self, programs: str) -> None:
        self.programs, self.parser = programs, KeptNodes()

    def check(self, path: Path, unsaved: Unsaved) -> FileCheck:
        """Return everything that can be known about a file without making instances."""
        try:
            folder = scope_of(path, unsaved)
            checked = check([folder], programs=self.programs, parser=self.parser, unsaved=unsaved, skips_others=True)
        except DiaError as error:
            return FileCheck(error.diagnostics)
        except Exception as error:
            return FileCheck((_bug(repr(error)),))
        return FileCheck(tuple(checked.diagnostics.ordered(checked.sources)), checked)


def _bug(text: str) -> Diagnostic:
    return Diagnostic("E900", f"a bug in dia: {text.strip().splitlines()[-1]}", None, None)


class InstanceChecker:
    """Also checks instances, in one worker that is kept for the next check. Use it from one thread only."""

    def __init__(self, programs: str) -> None:
        self.programs = programs
        self.pool: KeptPool | None = None

    def start(self) -> None:
        """Start the worker, which is ready when the first check comes."""
        if self.pool is None:
            self.pool = KeptPool()

    def check(self, path: Path, unsaved: Unsaved) -> FileCheck | None:
        """Return what `dia check` reports about the file at a resolved path; None if the check was interrupted."""
        self.start()
        assert self.pool is not None
        pool = self.pool
        values: dict[str, str] = {}

        def look(job: TemplateJob, rows: GatheredRows) -> None:
            if not values:
                values.update(pool.first_values(job))

        pool.begin()
        try:
            folder = scope_of(path, unsaved)
            wants_values = bool(folder.chosen)
            options = CompileOptions(TRIAL, programs=self.programs)
            checked = check_instances([folder], options, pool, None, look=look if wants_values else None,
                                      unsaved=unsaved)  # fmt: skip
        except DiaError as error:
            return FileCheck(error.diagnostics)
        except Exception as error:  # report it and go on; a WorkerBug has the traceback of a worker
            return FileCheck((_bug(str(error) if isinstance(error, WorkerBug) else repr(error)),))
        finally:
            pool.refill()
        if pool.was_interrupted:
            return None
        return FileCheck(tuple(checked.diagnostics.ordered(checked.sources)), checked, values)

    def interrupt(self) -> None:
        """End the running check, from another thread."""
        if self.pool is not None:
            self.pool.stop()

    def close(self) -> None:
        """End the worker."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None


class KeptPool(WorkerPool):
    """One worker that stays for the next check. It can be stopped from another thread."""

    def __init__(self) -> None:
        super().__init__(1, MODULE)
        self.was_interrupted = False

    def begin(self) -> None:
        self.was_interrupted = False

    def stop(self) -> None:
        """Stop the worker; the rest of this check is skipped."""
        self.was_interrupted = True
        self.interrupt()

    def run(self, tasks: Iterable[Task], label: str = "the evaluation") -> Generator[Outcome, None, None]:
        """Yield the outcomes of all tasks as they come; a stopped check ends."""
        waiting = tasks if isinstance(tasks, deque) else deque(tasks)
        try:
            for outcome in self.outcomes(waiting, label):
                if self.was_interrupted:
                    break
                yield outcome
        finally:
            self.interrupt()
            for _ in self.outcomes(deque()):  # a worker whose outcomes are no longer needed
                pass

    def first_values(self, job: TemplateJob) -> dict[str, str]:
        """Return the values of the first instance in words; empty if it cannot be made."""
        seconds = float(job.template.limits.get("seconds", SECONDS))
        values: dict[str, str] = {}
        for outcome in self.run([Task(None, first_values, (job,), seconds)]):
            if not outcome.is_end:
                values = outcome.item
        return values


def first_values(job: TemplateJob) -> Iterator[Positions | dict[str, str]]:
    """Yield the values of a template's first instance in words, as a task of a worker. Raises DiaError."""
    prepared = prepare(job.template, job.benchmark, Diagnostics(), job.lists, job.resources.programs)
    yield Positions(prepared.places)
    apply_limits(job)
    expansion = expansion_of(prepared, job.settings, job.resources)
    draft = next(expansion.first_drafts(expansion.drawing.items[0], 1, is_trial=True))
    scope = dict(draft.scope)
    instance = expansion.make(draft._replace(scope=scope), prepared.wording)
    names = [*prepared.makers, *prepared.lets]
    values = {name: value_text(scope[name])[:VALUE_LENGTH] for name in names if name in scope}
    if instance.challenge:
        values |= {PROMPT: instance.challenge[:PROMPT_LENGTH], ANSWER: instance.text[:VALUE_LENGTH]}
    yield values


def scope_of(path: Path, unsaved: Unsaved) -> Folder:
    """Return what to check for a file: the template alone; for a catalog and benchmark.yaml the whole benchmark.

    Raises DiaError for a file that belongs to no benchmark.
    """
    folder = folder_of_file(path)
    new = [other for other in unsaved if other != path and not other.is_file() and home_of(other) == folder.path]
    folder.files += [other for other in sorted(new) if other.name != BENCHMARK_FILE]
    if folder.chosen and is_catalog(text_at(path, unsaved)):
        folder.chosen.clear()
    return folder


def home_of(path: Path) -> Path | None:
    """Return the folder of the benchmark that a spec file belongs to, if there is one."""
    return next((folder for folder in path.parents if (folder / BENCHMARK_FILE).is_file()), None)


def text_at(path: Path, unsaved: Unsaved) -> str:
    """Return the text of a file as the editor shows it; an empty one if it cannot be read."""
    try:
        raw = unsaved.get(path)
        return (path.read_bytes() if raw is None else raw).decode("utf-8", "replace")
    except OSError:
        return ""


def is_catalog(text: str) -> bool:
    """Return whether the first key of a spec file is `catalog`."""
    return _first_key_line(text).startswith("catalog:")


def is_spec(path: Path, text: str) -> bool:
    """Return whether a YAML file belongs to a benchmark or begins like a spec; other files are ignored."""
    is_named = path.name == BENCHMARK_FILE or _first_key_line(text).startswith(("template:", "catalog:"))
    return is_named or home_of(path) is not None


def _first_key_line(text: str) -> str:
    lines = text.removeprefix("\ufeff").splitlines()
    return next((line for line in lines if line.strip() and not line.lstrip().startswith(("#", "---"))), "")


def kind_of_file(path: Path, text: str) -> str:
    """Return `benchmark`, `catalog` or `template`, the names of the schemas."""
    if path.name == BENCHMARK_FILE:
        return "benchmark"
    return "catalog" if is_catalog(text) else "template"
