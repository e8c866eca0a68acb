"""Golden files: what a command prints, held byte for byte; `--update-golden` writes them anew."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import platform
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from dia_language.workers.fork_server import CAN_FORK
from helpers.examples import examples
from helpers.workers import forked_workers, made_once

FOLDER = Path(__file__).parent / "golden"

gc.disable()  # until all tests are collected: what the collection makes stays, and looking for garbage in it takes an eighth
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for small matrices take time from the tests
os.fsync = os.fstat  # type: ignore[assignment]  # what tests write need not outlive a power failure; a wrong descriptor still fails
os.environ["COLUMNS"] = "100"  # as where no terminal is; pytest-xdist says 80 to its workers

# Two workers import hundreds of files, and hundreds of tests start processes that import hundreds of ours: all of that is
# compiled once, whatever the environment says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PRINTED = ("stdout", "stderr", "exit")
SKIPPED = "dia/skipped"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write the golden files anew; review the change.")
    parser.addoption("--skipped", action="store_true", help="Run what the last run without this option skipped.")


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import settings  # pytest rewrites and keeps its 80 files: only after bytecode is written

    settings.register_profile(
        "dia", deadline=None, max_examples=examples(100)
    )  # the machine decides how long one takes
    settings.load_profile("dia")
    if config.getoption("--skipped"):
        files = sorted({config.rootpath / name.partition("::")[0] for name in skipped_names(config)})
        if files and config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = [str(path) for path in files if path.exists()]  # no other file needs to be imported
    elif not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped(config))


def skipped_names(config: pytest.Config) -> set[str]:
    """The tests, and the whole files, that the last run without `--skipped` skipped."""
    return set(config.cache.get(SKIPPED, [])) if config.cache else set()


class Skipped:
    """Remembers what a run skips, for one with `--skipped` after more tools are installed."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.names = config, set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.names.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.names.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)  # there is none with `-p no:cacheprovider`
        if cache is not None and not self.config.option.collectonly:
            cache.set(SKIPPED, sorted(self.names))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every other worker of pytest-xdist imports the tests from the last to the first.

    In a fresh clone each file is then rewritten for its assertions by one of two workers, and read from the cache by the
    other, which saves a fifth of the collection's processor time.
    """
    report = yield
    if isinstance(collector, pytest.Directory) and _worker_number(collector.config) % 2:
        report.result.reverse()
    return report


def _worker_number(config: pytest.Config) -> int:
    return int(getattr(config, "workerinput", {"workerid": "gw0"})["workerid"].removeprefix("gw"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "tour" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)  # the tour takes a tenth of all everyday tests to compile
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path)  # the workers must agree on the order
    if config.getoption("--skipped"):
        names = skipped_names(config)
        skipped = [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & names]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(skipped)])
        items[:] = skipped


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fork the workers that a test starts, unless it is marked `spawned` or `slow`: those meet the workers' limits."""
    is_forked = CAN_FORK and not any(map(item.get_closest_marker, ("spawned", "slow")))
    with forked_workers() if is_forked else contextlib.nullcontext():
        return (yield)


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    exit: int


@dataclass(frozen=True, slots=True)
class Golden:
    """Compares texts with the files of tests/golden/NAME, or writes these files."""

    work: Path
    is_update: bool

    def run(self, name: str, *arguments: str) -> Printed:
        """What `dia ARGUMENTS` prints in a private folder with a copy of the golden folder's specs."""
        shutil.copytree(FOLDER / name / "specs", self.work / "specs")
        return run(self.work, *arguments)

    def holds(self, name: str, printed: Printed) -> None:
        """Fails where the command printed other than the golden files say; an empty text has no file."""
        found = {"stdout": printed.stdout, "stderr": printed.stderr, "exit": f"{printed.exit}\n"}
        for part in PRINTED:
            path = FOLDER / name / part
            if self.is_update:
                self.write(path, found[part])
            assert found[part] == (path.read_text(encoding="utf-8") if path.exists() else ""), path

    @staticmethod
    def write(path: Path, text: str) -> None:
        if text:
            path.write_text(text, encoding="utf-8")
        else:
            path.unlink(missing_ok=True)


def run(folder: Path, *arguments: str) -> Printed:
    """What `dia ARGUMENTS` prints in the folder, and its exit code."""
    from dia_compiler.commands.cli import run as command

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = command(list(arguments))
    return Printed(out.getvalue(), errors.getvalue(), code)


@pytest.fixture
def dia() -> Callable[..., Printed]:
    """Runs `dia` in a folder: dia(folder, "check", "specs") gives what is printed and the exit code."""
    return run


@pytest.fixture
def golden(tmp_path: Path, request: pytest.FixtureRequest) -> Golden:
    """The golden files, and an empty folder to run commands in."""
    work = tmp_path / "work"
    work.mkdir()
    return Golden(work, request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def environment() -> Callable[[str], Path]:
    """A function that gives the folder with the programs of a harness."""
    from helpers.environments import prepared

    return prepared


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Write without waiting for the disk, which is a fifth of a run's time: no test sees whether a file survives a power
    failure."""
    from dia_runtime.store import store

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        patch.setattr(store, "SYNCHRONOUS", "OFF")
        yield


@pytest.fixture
def locked_builders() -> None:
    """Skips where bytes of assets are made by other versions than those of constraints.txt."""
    from dia_compiler.assets import OWN

    pairs = (FOLDER.parents[1] / "constraints.txt").read_text(encoding="utf-8").split()
    locked = dict(pair.split("==") for pair in pairs if "==" in pair)
    names = sorted({name for builder in OWN.values() for name in builder.libraries})
    others = {name: found for name in names if (found := metadata.version(name)) != locked[name]}
    if others:
        pytest.skip(f"the pinned bytes are those of other versions than {others}")
    if "ng" in zlib.ZLIB_RUNTIME_VERSION:
        pytest.skip("Python's zlib is zlib-ng, which packs otherwise")


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The bundle of k = 5 of the shipped benchmark, compiled by a process of its own as users do."""

    def compiled(folder: Path) -> None:
        specs = FOLDER.parents[1] / "specs" / "dia_bench"
        command = [sys.executable, "-m", "dia_compiler", "compile", str(specs), "--k", "5", "--jobs", "2", "-q"]
        done = subprocess.run([*command, "--no-cache", "-o", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return next(made_once("shipped", compiled, tmp_path_factory, request).glob("dia_bench-*"))


@pytest.fixture(scope="session")
def tour(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The bundle of k = 3 of the tour in the docs, made without a warning, where its programs can be run."""
    from dia_compiler import compile
    from dia_compiler.analyze.host_requirements import EXTRAS
    from dia_language.confinement.sandboxes import confinement

    needed = {
        "something that confines programs": confinement(),
        "bash": shutil.which("bash"),
        "perl": shutil.which("perl"),
        **{f"the extra `{extra}`": all(map(find_spec, EXTRAS[extra])) for extra in ("binary", "images")},
        "a processor that runs x86-64": platform.machine() == "x86_64",
    }
    missing = [name for name, held in needed.items() if not held]
    if missing:
        pytest.skip(f"the tour runs programs, for which this machine lacks {', '.join(missing)}")
    specs = FOLDER.parents[1] / "docs" / "examples" / "tour"

    def compiled(folder: Path) -> None:
        compile([specs], k=3, out=folder, jobs=1, is_strict=True, use_cache=False, allow_programs="confined")

    return next(made_once("tour", compiled, tmp_path_factory, request).glob("tour-*"))


def pytest_collection_finish() -> None:
    """Keep what the collection made out of the garbage collector's sight, whose marks would copy its pages in each fork."""
    gc.collect()
    gc.freeze()
    gc.enable()
