"""One bundle made in four ways: by one process, by workers, in parts that are merged, and by Dask workers.

    python benchmarks/cluster_speed.py [--k 5000] [--workers 1,2] [--parts 4] [--ways one,jobs,parts,dask]

Compiles ten quick shipped families without the cache. For each way it prints seconds (those of the clock, and of all
processors together), questions a second, the largest resident memory of any single process, and whether the bundle has
the name that the first way gave. Then the efficiency by number of workers: the time of one, divided by that of n and
by n. The aims: the same name, each process below 400 MiB, Dask at most 15 % slower than --jobs with as many workers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

from jobs import chosen_specs
from memory import family, resident

COMMAND = [sys.executable, "-m", "dia_compiler.commands.cli"]
# Quick ones that can make 100,000 instances and more
FAMILIES = (
    "d002_small_sum", "d003_absolute_difference", "d004_small_product", "d006_triangular_number", "d007_remainder",
    "d011_digit_sum", "d016_big_gcd", "d017_arithmetic_series", "d022_median", "d123_failed_logins",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What one way took: seconds, seconds of processors, the largest process, and the bundle."""

    name: str
    seconds: float
    processor: float
    largest: int
    bundle: Path

    @property
    def digest(self) -> str:
        """The bundle's name."""
        return hashlib.sha256((self.bundle / "manifest.json").read_bytes()).hexdigest()


class Watch:
    """Runs commands, and keeps the largest memory that any of their processes held."""

    def __init__(self) -> None:
        self.largest = 0

    def run(self, *commands: list[str]) -> None:
        """Runs the commands at the same time, until all have ended."""
        processes = [subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL) for words in commands]
        while any(process.poll() is None for process in processes):
            for process in processes:
                self.largest = max([self.largest, *(resident([one]) for one in set(family(process.pid)))])
            sleep(0.1)
        if any(process.returncode for process in processes):
            raise SystemExit("a command failed")


def measured(name: str, bundle: Path, steps: Iterator[list[list[str]]]) -> Measured:
    """What the steps took, each of which is some commands at once."""
    watch, begun, before = Watch(), perf_counter(), processor_seconds()
    for commands in steps:
        watch.run(*commands)
    return Measured(name, perf_counter() - begun, processor_seconds() - before, watch.largest, bundle)


def processor_seconds() -> float:
    """Seconds of processors that ended children have taken."""
    found = os.times()
    return found.children_user + found.children_system


def compile_words(specs: Path, out: Path, k: int, *more: str) -> list[str]:
    """The command that compiles."""
    return ["compile", str(specs), "--k", str(k), "-o", str(out), "-q", "--no-cache", *more]


def whole(name: str, specs: Path, folder: Path, k: int, *more: str) -> Measured:
    """A compile in one command."""
    out = folder / name.replace(" ", "-")
    found = measured(name, out, iter([[compile_words(specs, out, k, *more)]]))
    (bundle,) = (path for path in out.iterdir() if path.is_dir() and not path.name.startswith("."))
    return Measured(name, found.seconds, found.processor, found.largest, bundle)


def in_parts(specs: Path, folder: Path, k: int, parts: int, at_once: int) -> Measured:
    """A compile in parts, some of them at once, and their merging."""
    out, bundle = folder / "parts", folder / "merged"
    commands = [
        compile_words(specs, out, k, "--jobs", "1", "--part", f"{number}/{parts}") for number in range(1, parts + 1)
    ]
    steps = [commands[first : first + at_once] for first in range(0, parts, at_once)]
    made = measured("", bundle, iter(steps))
    joined = measured("", bundle, iter([[["merge", str(out), "-o", str(bundle), "-q"]]]))
    print(f"  parts {made.seconds:.1f} s, merging {joined.seconds:.1f} s", flush=True)
    shutil.rmtree(out)
    name = f"{parts} parts, {at_once} at once"
    largest = max(made.largest, joined.largest)
    return Measured(name, made.seconds + joined.seconds, made.processor + joined.processor, largest, bundle)


def shards_verified(bundle: Path) -> int:
    """How many shards there are, each of which is what the manifest says of it, read on its own."""
    files = json.loads((bundle / "manifest.json").read_bytes())["files"]
    names = [name for name in files if name.endswith(".jsonl")]
    for name in names:
        with (bundle / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != files[name]["sha256"]:
                raise SystemExit(f"{name} has other bytes")
    return len(names)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=5_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--ways", default="one,jobs,parts,dask")
    options = parser.parse_args()
    workers = [int(word) for word in options.workers.split(",")]
    ways, found = options.ways.split(","), list[Measured]()
    with tempfile.TemporaryDirectory(prefix="dia-cluster-") as name:
        folder = Path(name)
        specs = chosen_specs(folder / "specs", FAMILIES)
        for way in ways:
            if way == "one":
                told(whole("one process", specs, folder, options.k, "--jobs", "1"), found, options.k)
            elif way == "parts":
                told(in_parts(specs, folder, options.k, options.parts, max(workers)), found, options.k)
            else:
                more = ["--cluster", "local"] if way == "dask" else []
                for number in workers:
                    if way == "dask" or number > 1 or "one" not in ways:
                        name = f"{way} {number}"
                        told(whole(name, specs, folder, options.k, "--jobs", str(number), *more), found, options.k)
    efficiency(found, workers)


def told(way: Measured, found: list[Measured], k: int) -> None:
    """Prints a way's figures, and checks the bundle, of which only the first is kept."""
    is_same = "same name" if not found or way.digest == found[0].digest else "ANOTHER NAME"
    shards = shards_verified(way.bundle)
    print(
        f"{way.name:<20} {way.seconds:7.1f} s, {way.processor:7.1f} s of processors, {10 * k / way.seconds:7,.0f} "
        f"questions/s, largest process {way.largest / 2**20:4.0f} MiB, {is_same}, {shards} files verified",
        flush=True,
    )
    if not found:
        print(f"  {way.digest}", flush=True)
    else:
        shutil.rmtree(way.bundle)
    found.append(way)


def efficiency(found: list[Measured], workers: list[int]) -> None:
    """Prints what each number of workers makes of the time of one."""
    seconds = {way.name: way.seconds for way in found}
    for kind in ("jobs", "dask"):
        alone = seconds.get(f"{kind} 1", seconds.get("one process"))
        for number in workers:
            there = seconds.get(f"{kind} {number}")
            if alone and there and number > 1:
                print(f"efficiency of {number} workers ({kind}): {alone / there / number:.0%}")
    for number in workers:
        one, other = seconds.get(f"jobs {number}"), seconds.get(f"dask {number}")
        if one and other:
            print(f"Dask with {number} workers takes {other / one - 1:+.1%} against --jobs {number}")


if __name__ == "__main__":
    main()
