"""How much faster two workers are than one, on work that divides.

    python benchmarks/jobs.py [--k 2000] [--jobs 2]

Compiles without the cache: the whole shipped benchmark at k = 100; one large family alone, which is divided into
stretches once its first 200 instances are made; and ten quick families together, in which a question takes a worker
hardly longer than it takes to be put in its place. The bytes are compared too. The aim is 1.7 times the speed of one
worker.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from memory import FAMILIES, SPECS

ALONE = "d012_ten_primality_tests"


def chosen_specs(folder: Path, names: tuple[str, ...]) -> Path:
    """A copy of the benchmark with some families."""
    folder.mkdir()
    for name in ("benchmark", *names):
        shutil.copy(SPECS / f"{name}.yaml", folder)
    return folder


def compiled(specs: Path, out: Path, k: int, jobs: int) -> tuple[float, str]:
    """The seconds of a compile, and the digest of its bundle."""
    arguments = ["compile", str(specs), "--k", str(k), "--jobs", str(jobs), "-o", str(out), "-q", "--no-cache"]
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "dia_compiler.commands.cli", *arguments], check=True, capture_output=True, text=True
    )
    return perf_counter() - start, done.stdout.split()[-1]


def main() -> None:
    """Prints the seconds and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=2_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dia-jobs-") as folder:
        works = {
            "the benchmark": (SPECS, 100),
            "one large family": (chosen_specs(Path(folder) / "one", (ALONE,)), options.k),
            "ten families": (chosen_specs(Path(folder) / "ten", FAMILIES), options.k),
        }
        for number, (name, (specs, k)) in enumerate(works.items()):
            one, first = compiled(specs, Path(folder) / f"out{number}", k, 1)
            many, second = compiled(specs, Path(folder) / f"other{number}", k, options.jobs)
            same = "same bytes" if first == second else "OTHER BYTES"
            print(f"{name:<18} 1 worker {one:6.1f} s, {options.jobs} workers {many:6.1f} s: {one / many:.2f}, {same}")


if __name__ == "__main__":
    main()
