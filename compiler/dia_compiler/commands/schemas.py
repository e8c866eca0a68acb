"""`dia schemas`: write the JSON schemas with which an editor completes and checks specs."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_runtime.commands.terminal import echo


@click.command("schemas")
@click.argument("folder", metavar="[FOLDER]", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "as_json", is_flag=True, help="Print the file names as JSON.")
def command(folder: Path, as_json: bool) -> int:
    """Write the JSON schemas of spec files to FOLDER/.schemas, for editors.

    `dia new` writes them too. Run this command again after installing a package that adds parameter types, answer
    formats or asset builders, and after declaring parameter types in benchmark.yaml, so that the schemas include them.
    An editor with a YAML language server finds the schemas by the first line of a spec:
    `# yaml-language-server: $schema=.schemas/template.schema.json`.

    \b
    Example:
      dia schemas my_benchmark
    """
    from dia_compiler.authoring.scaffold import write_schemas

    files = write_schemas(folder)
    if as_json:
        echo(json.dumps({"files": [path.as_posix() for path in files]}, indent=2))
        return 0
    for path in files:
        echo(path.as_posix())
    return 0
