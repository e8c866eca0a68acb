"""Changes the code at random, one place at a time, and counts how often the tests notice.

    python tests/mutation/run.py                       every module of targets.yaml, 20 mutants each
    python tests/mutation/run.py draw verify           those modules
    python tests/mutation/run.py draw --mutants 0      every mutant of a module
    python tests/mutation/run.py --jobs 2 --json FILE  two modules at a time, with the results in a file

The mutants are made by cosmic-ray (`pip install cosmic-ray`). Which of them are tried depends on the seed and the code
alone, so that a run can be repeated. Everything happens in copies of the committed tree; the exit code is 1 where
fewer than 90 % are killed. Mutants that change nothing a test could see are listed in equivalent.yaml, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WANTED = 0.9
SECONDS = 180  # for the tests of one mutant
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
        command = f"{sys.executable} -m pytest -x -q -n 0 -p no:cacheprovider --hypothesis-seed=0 {tests}"
        config.write_text(CONFIG.format(module=module, seconds=SECONDS, command=command), encoding="utf-8")
        paths = os.pathsep.join(str(tree / part) for part in ("compiler", "runtime"))
        # Compiled files are known by size and second, which two mutants may share
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}

        def run(*words: str) -> None:
            done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name}: {' '.join(words)} failed\n{done.stdout}{done.stderr}")

        run(*command.split())  # tests that fail anyway would kill every mutant
        cosmic_ray = str(Path(sys.executable).with_name("cosmic-ray"))
        run(cosmic_ray, "init", str(config), str(session))
        text = (tree / module).read_text(encoding="utf-8")
        with use_db(session, WorkDB.Mode.open) as database:
            chosen = choose(list(database.work_items), ast.parse(text), most, seed)
            for item in database.work_items:
                if item.job_id not in chosen:
                    database.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
        begun = time.monotonic()
        run(cosmic_ray, "exec", str(config), str(session))
        print(f"{name}: {len(chosen)} mutants in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        with use_db(session, WorkDB.Mode.open) as database:
            results = {job: result for job, result in database.results if job in chosen}
            items = {item.job_id: item.mutations[0] for item in database.work_items if item.job_id in chosen}
        return sorted((mutant_of(module, items[job], results[job]) for job in items), key=lambda mutant: mutant.line)


def choose(items: list[WorkItem], tree: ast.Module, most: int, seed: str) -> set[str]:
    """The jobs to run: a sample that depends on the seed and on what the mutants are, not on their random ids."""
    useful = [item for item in items if not is_pointless(item.mutations[0], tree)]
    useful.sort(key=lambda item: hashlib.sha256(f"{seed} {identity(item.mutations[0])}".encode()).digest())
    return {item.job_id for item in (useful[:most] if most else useful)}


def identity(mutation: MutationSpec) -> str:
    return f"{mutation.module_path} {mutation.operator_name} {mutation.occurrence} {mutation.operator_args}"


def is_pointless(mutation: MutationSpec, tree: ast.Module) -> bool:
    """Whether the mutant changes annotations alone, which nothing evaluates."""
    start, end = mutation.start_pos, mutation.end_pos
    return any(first <= start and end <= last for first, last in annotations(tree))


def annotations(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.expr) and part.end_lineno is not None and part.end_col_offset is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def mutant_of(module: str, mutation: MutationSpec, result: WorkResult) -> Mutant:
    lines = (result.diff or "").splitlines()
    before = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    after = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    mutant = Mutant(module, mutation.start_pos[0], mutation.operator_name, " ".join(before), " ".join(after), "")
    if result.test_outcome == TestOutcome.SURVIVED:
        outcome = "equivalent" if is_equivalent(mutant) else "survived"
    else:
        outcome = "killed"
    return Mutant(**{**asdict(mutant), "outcome": outcome})


def is_equivalent(mutant: Mutant) -> bool:
    known = yaml.safe_load((HERE / "equivalent.yaml").read_text(encoding="utf-8")) or []
    return any((entry["module"], entry["before"], entry["after"]) == (mutant.module, mutant.before, mutant.after)
               for entry in known)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
