"""Changes the code at random, one place at a time, and counts how often the tests notice.

    python tests/mutation/run.py                       every module of targets.yaml, 20 mutants each
    python tests/mutation/run.py draw verify           those modules
    python tests/mutation/run.py draw --mutants 0      every mutant of a module
    python tests/mutation/run.py draw --seed 7         another sample; of one seed, a smaller one is the start of a larger
    python tests/mutation/run.py --jobs 2 --json FILE  two modules at a time, with the results in a file

The mutants are made by cosmic-ray (`pip install cosmic-ray`). Which of them are tried depends on the seed and the code
alone, so that a run can be repeated. Everything happens in copies of the committed tree; the exit code is 1 where
fewer than 90 % are killed. Mutants that change nothing a test could see are listed in equivalent.yaml, with the reason;
those of annotations, of the sizes of caches, and of `==` into `is` (whether equal values are one object is up to
Python), are not tried.

The tests of a mutant run in a fork of a process that has loaded the libraries, but nothing of this project. They are
stopped, and the mutant counts as killed, after four times as long as the tests of the code itself, at least a minute.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import yaml
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, WorkItem

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WANTED = 0.9
SAME = ("_Eq_Is", "_Is_Eq", "_NotEq_IsNot", "_IsNot_NotEq")
SECONDS = 60  # for the tests of one mutant, or longer where the machine is slow
FACTOR = 4  # the tests of a mutant may take so many times as long as those of the code itself
LONGEST = 1800  # for the tests of the code itself
CONFIG = """[cosmic-ray]
module-path = {module!r}
timeout = {seconds}
test-command = {command!r}
excluded-modules = []

[cosmic-ray.distributor]
name = "local"
"""


@dataclass(frozen=True)
class Mutant:
    """One changed place: the lines before and after, and whether the tests failed."""

    module: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str


def main() -> int:
    """Run the mutants and print the table; the exit code."""
    targets = yaml.safe_load((HERE / "targets.yaml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(targets))
    parser.add_argument("--mutants", type=int, default=20, help="of each module; 0 for all of them (default: 20)")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in targets]:
        parser.error(f"no such target: {', '.join(unknown)}")
    names = options.names or list(targets)
    with ThreadPoolExecutor(options.jobs) as pool:
        tries = [pool.submit(tried, name, targets[name], options.mutants, options.seed) for name in names]
        mutants = [mutant for name, one in zip(names, tries, strict=True) for mutant in announced(name, one.result())]
    if options.json:
        options.json.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1), encoding="utf-8")
    counted = [mutant for mutant in mutants if mutant.outcome != "equivalent"]
    killed = sum(mutant.outcome == "killed" for mutant in counted)
    share = killed / len(counted) if counted else 1.0
    print(f"{killed} of {len(counted)} killed: {share:.1%}; {len(mutants) - len(counted)} equivalent")
    return 0 if share >= WANTED else 1


def announced(name: str, mutants: list[Mutant]) -> list[Mutant]:
    """The mutants of a target, after its row of the table and its survivors are printed."""
    counts = {outcome: sum(mutant.outcome == outcome for mutant in mutants) for outcome in ("killed", "survived")}
    equivalent = len(mutants) - sum(counts.values())
    print(
        f"{name:24} {counts['killed']:3} killed {counts['survived']:3} survived {equivalent:3} equivalent", flush=True
    )
    for mutant in mutants:
        if mutant.outcome == "survived":
            print(f"    {mutant.module}:{mutant.line}\n      - {mutant.before}\n      + {mutant.after}", flush=True)
    return mutants


def tried(name: str, target: dict[str, object], most: int, seed: str) -> list[Mutant]:
    """Every chosen mutant of a target with its outcome."""
    module, tests = str(target["module"]), str(target["tests"])
    with tempfile.TemporaryDirectory(prefix="dia-mutation-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(tree)], check=True)
        config, session = Path(folder) / "config.toml", Path(folder) / "session.sqlite"
        arguments = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0", *tests.split()]
        config.write_text(CONFIG.format(module=module, seconds=SECONDS, command="pytest"), encoding="utf-8")
        paths = os.pathsep.join(str(tree / part) for part in ("compiler", "runtime"))
        # Compiled files are known by size and second, which two mutants may share
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "DIA_EXAMPLES": "10"}
        cosmic_ray = str(Path(sys.executable).with_name("cosmic-ray"))
        subprocess.run([cosmic_ray, "init", str(config), str(session)], cwd=tree, env=environment, check=True)
        with use_db(session, WorkDB.Mode.open) as database:
            items = list(database.work_items)
        text = (tree / module).read_text(encoding="utf-8")
        begun = time.monotonic()
        with Runs(tree, environment, arguments) as runs:
            if code := runs.code(LONGEST):  # tests that fail anyway would kill every mutant
                why = f"take more than {LONGEST} s" if code == -signal.SIGALRM else "fail"
                sys.exit(f"{name}: the tests {why} without a mutant")
            seconds = max(SECONDS, FACTOR * math.ceil(time.monotonic() - begun))
            mutants = [outcome_of(tree, item.mutations[0], text, runs, seconds)
                       for item in choose(items, ast.parse(text), most, seed)]  # fmt: skip
        print(f"{name}: {len(mutants)} mutants in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        return sorted(mutants, key=lambda mutant: mutant.line)


LOADED = """
import os, signal, sys
for name in ("pytest", "_pytest.assertion.rewrite", "xdist.plugin", "hypothesis", "hypothesis.strategies", "numpy", "yaml",
             "scipy.optimize", "scipy.special", "scipy.stats", "sympy", "jsonschema", "click", "asyncio", "sqlite3"):
    try:
        __import__(name)
    except ImportError:
        pass
import pytest
nothing = os.open(os.devnull, os.O_RDWR)
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.setsid()
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        code = 1
        try:
            signal.alarm(int(line))
            code = int(pytest.main(sys.argv[1:]))
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Runs:
    """Runs the tests again and again, each time in a new fork of a process with the libraries."""

    def __init__(self, tree: Path, environment: dict[str, str], arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOADED, *arguments],
            cwd=tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def code(self, seconds: int) -> int:
        """The exit code of the tests; that of a signal where they take longer than that."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate()


def outcome_of(tree: Path, mutation: MutationSpec, text: str, runs: Runs, seconds: int) -> Mutant:
    """The mutant, with what its tests made of it."""
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    changed = mutate_code(text, operator, mutation.occurrence)
    assert changed is not None
    path = tree / mutation.module_path
    path.write_text(changed, encoding="utf-8")
    code = runs.code(seconds)
    path.write_text(text, encoding="utf-8")
    print("." if code else "S", end="", file=sys.stderr, flush=True)
    lines = list(difflib.unified_diff(text.splitlines(), changed.splitlines(), lineterm="", n=0))[2:]
    before, after = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    mutant = Mutant(str(mutation.module_path), mutation.start_pos[0], mutation.operator_name, before, after, "killed")
    if code:
        return mutant
    return replace(mutant, outcome="equivalent" if is_equivalent(mutant) else "survived")


def choose(items: list[WorkItem], tree: ast.Module, most: int, seed: str) -> list[WorkItem]:
    """The mutants to try: a sample that depends on the seed and on what the mutants are, not on their random ids."""
    useful = [item for item in items if not is_pointless(item.mutations[0], tree)]
    useful.sort(key=lambda item: hashlib.sha256(f"{seed} {identity(item.mutations[0])}".encode()).digest())
    return useful[:most] if most else useful


def identity(mutation: MutationSpec) -> str:
    return f"{mutation.module_path} {mutation.operator_name} {mutation.occurrence} {mutation.operator_args}"


def is_pointless(mutation: MutationSpec, tree: ast.Module) -> bool:
    """Whether the mutant changes annotations or the size of a cache alone, or equality into identity."""
    if mutation.operator_name.endswith(SAME):
        return True
    start, end = mutation.start_pos, mutation.end_pos
    return any(first <= start and end <= last for first, last in without_effect(tree))


def without_effect(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the start and end of every annotation and every `lru_cache(...)`."""
    for node in ast.walk(tree):
        is_cache = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lru_cache"
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None), node if is_cache else None):
            if isinstance(part, ast.expr) and part.end_lineno is not None and part.end_col_offset is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def is_equivalent(mutant: Mutant) -> bool:
    known = yaml.safe_load((HERE / "equivalent.yaml").read_text(encoding="utf-8")) or []
    return any((entry["module"], entry["before"], entry["after"]) == (mutant.module, mutant.before, mutant.after)
               for entry in known)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
