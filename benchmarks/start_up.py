"""How long commands take to answer, beside a bare interpreter and a bare click program in the same run.

    python benchmarks/start_up.py [--repeat 15]

Bytecode is compiled first, as an installation does; the aim is `dia --help` below 0.25 s.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
DIA = ["-m", "dia_compiler.commands.cli"]
CLICK = "import click; click.command()(lambda: None).main(['--help'], standalone_mode=False)"
COMMANDS: dict[str, list[str]] = {
    "bare interpreter": ["-c", "pass"],
    "bare click program --help": ["-c", CLICK],
    "dia --help": [*DIA, "--help"],
    "dia --version": [*DIA, "--version"],
    "dia compile --help": [*DIA, "compile", "--help"],
    "dia run --help": [*DIA, "run", "--help"],
    "dia functions gcd": [*DIA, "functions", "gcd"],
    "dia check specs/": [*DIA, "check", str(ROOT / "specs")],
}


def seconds(arguments: list[str], repeat: int) -> float:
    """The median time of a command."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(repeat):
        start = perf_counter()
        subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)
        times.append(perf_counter() - start)
    return median(times)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    for folder in ("compiler", "runtime"):
        compileall.compile_dir(ROOT / folder, quiet=2)
    base = seconds(COMMANDS["bare interpreter"], repeat)
    print(f"{'command':<28}{'ms':>8}{'times bare':>12}")
    for name, arguments in COMMANDS.items():
        spent = seconds(arguments, 3 if "check" in name else repeat)
        print(f"{name:<28}{spent * 1e3:>8,.0f}{spent / base:>12.1f}")


if __name__ == "__main__":
    main()
