"""How long a compile takes of which everything is unchanged, or one template has changed, and what it imports.

    python benchmarks/recompile.py [--specs FOLDER] [--repeat 5]

The aim is below 1 s for an unchanged compile of all shipped specs, the start of Python included, without sympy,
scipy.stats and jinja2.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

SPECS = Path(__file__).resolve().parent.parent / "specs"
WATCHED = ("sympy", "scipy.stats", "jinja2", "numpy", "networkx", "yaml", "jsonschema", "multiprocessing")


def compiled(specs: Path, out: Path, *options: str) -> tuple[float, str]:
    """The seconds of a compile, and what it printed on standard error."""
    command = [
        sys.executable,
        *options,
        "-m",
        "dia_compiler.commands.cli",
        "compile",
        str(specs),
        "-o",
        str(out),
        "--force",
    ]
    start = perf_counter()
    done = subprocess.run([*command, "-q"], capture_output=True, text=True, check=True)
    return perf_counter() - start, done.stderr


def imported(printed: str) -> list[str]:
    """The watched modules that `-X importtime` names."""
    found = set(re.findall(r"\|\s+([\w.]+)$", printed, re.MULTILINE))
    return [name for name in WATCHED if name in found]


def main() -> None:
    """Prints the times and the imports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specs", type=Path, default=SPECS)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dia-recompile-") as folder:
        specs, out = Path(shutil.copytree(options.specs, Path(folder) / "specs")), Path(folder) / "out"
        templates = [path for path in sorted(specs.rglob("*.yaml")) if path.name != "benchmark.yaml"]
        print(f"{'all anew':<24}{compiled(specs, out)[0]:>8.2f} s, {len(templates)} templates")
        times = [compiled(specs, out)[0] for _ in range(options.repeat)]
        print(f"{'nothing has changed':<24}{median(times):>8.2f} s")
        for number in range(3):
            with templates[0].open("a", encoding="utf-8") as file:
                file.write(f"# {number}\n")
            times[number] = compiled(specs, out)[0]
        print(f"{'one template has':<24}{median(times[:3]):>8.2f} s")
        names = imported(compiled(specs, out, "-X", "importtime")[1])
        print(f"imported when nothing has changed: {', '.join(names) or 'none of ' + ', '.join(WATCHED)}")


if __name__ == "__main__":
    main()
