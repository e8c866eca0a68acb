"""Peak memory of a compile, all processes together, at k = 1,000 and k = 10,000.

    python benchmarks/memory.py [--few 1000] [--many 10000] [--jobs 2]

Compiles ten quick shipped families without the cache and adds up the resident memory of the process and of all its
workers twenty times a second (Linux). The aim is that ten times as many instances take at most 1.3 times the memory.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

SPECS = Path(__file__).resolve().parent.parent / "specs" / "dia_bench"
FAMILIES = (
    "d002_small_sum", "d004_small_product", "d006_triangular_number", "d007_remainder", "d008_small_square",
    "d011_digit_sum", "d016_big_gcd", "d017_arithmetic_series", "d022_median", "d123_failed_logins",
)  # fmt: skip
PAGE = os.sysconf("SC_PAGE_SIZE")


def chosen_specs(folder: Path) -> Path:
    """A copy of the benchmark with the ten families."""
    specs = folder / "specs"
    specs.mkdir()
    for name in ("benchmark", *FAMILIES):
        shutil.copy(SPECS / f"{name}.yaml", specs)
    return specs


def family(process: int) -> list[int]:
    """The process and everything that it has started."""
    members = [process]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                members += family(int(child))
    return members


def resident(processes: list[int]) -> int:
    """The bytes that the processes hold in memory."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    return total


def peak(specs: Path, out: Path, k: int, jobs: int) -> tuple[int, float]:
    """The most bytes that a compile held at once, and its seconds."""
    arguments = ["compile", str(specs), "--k", str(k), "--jobs", str(jobs), "-o", str(out), "-q", "--no-cache"]
    start, most = perf_counter(), 0
    process = subprocess.Popen(
        [sys.executable, "-m", "dia_compiler.commands.cli", *arguments], stdout=subprocess.DEVNULL
    )
    while process.poll() is None:
        most = max(most, resident(family(process.pid)))
        sleep(0.05)
    if process.returncode:
        raise SystemExit(process.returncode)
    return most, perf_counter() - start


def main() -> None:
    """Prints both peaks and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dia-memory-") as folder:
        specs, peaks = chosen_specs(Path(folder)), []
        for k in (options.few, options.many):
            most, seconds = peak(specs, Path(folder) / f"out{k}", k, options.jobs)
            peaks.append(most)
            print(f"k = {k:>7,}: {most / 2**20:>6,.0f} MiB at most, {seconds:,.1f} s")
    print(f"ratio {peaks[1] / peaks[0]:.2f}")


if __name__ == "__main__":
    main()
