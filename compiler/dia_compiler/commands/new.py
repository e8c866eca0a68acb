"""`dia new`: create a template or a benchmark to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_runtime.commands.terminal import echo


@click.command("new")
@click.argument("name", metavar="ID")
@click.option("--benchmark", is_flag=True, help="Create a benchmark with a first template.")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path(), metavar="DIR",
              help="The benchmark's folder, or with --benchmark its parent folder (default: here).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the file names as JSON.")
def command(name: str, benchmark: bool, out: Path, as_json: bool) -> int:
    """Create a template, or a benchmark with one, that compiles and that you can adapt.

    \b
    Example:
      dia new my_benchmark --benchmark
    """
    from dia_compiler.authoring.scaffold import new_benchmark, new_template

    files = new_benchmark(name, out) if benchmark else new_template(name, out)
    if as_json:
        echo(json.dumps({"files": [path.as_posix() for path in files]}, indent=2))
        return 0
    for path in files:
        echo(path.as_posix())
    checked = out / name if benchmark else files[0]
    echo(f"next: dia check {checked.as_posix()}", err=True)
    return 0
