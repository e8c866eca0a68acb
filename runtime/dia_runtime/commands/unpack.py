"""`dia unpack`: the folder of a packed bundle."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_language.diagnostics import visible

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity


@click.command("unpack")
@click.argument("archive", type=PATH)
@click.option("-o", "--out", type=PATH, metavar="DIR",
              help="The folder to write. Default: beside ARCHIVE, its name without .tar.zst.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what lies in the folder.")
@json_option
def command(archive: Path, out: Path | None, force: bool, as_json: bool) -> int:
    """Unpack a bundle that `dia pack` made.

    Only what its manifest lists is taken, in the size and with the digest that the manifest says; anything else, a path
    that leaves the folder, a link, a name that stands twice, refuses the whole archive (exit code 3).

    \b
    Example:
      dia unpack build/dia_bench-0.3.3-k5.tar.zst -o unpacked
    """
    from dia_runtime.bundle.archive import SUFFIX, unpack
    from dia_runtime.bundle.atomic_output import named_path

    place = named_path(archive)
    stem = place.name.removesuffix(SUFFIX)
    target = out or place.with_name(stem if stem != place.name else f"{place.name}.unpacked")
    with activity(f"unpacking {archive}"):
        bundle = unpack(archive, target, force)
    if as_json:
        facts = {"path": target.as_posix(), "digest": bundle.id, "questions_root": bundle.questions_root}
        click.echo(json.dumps(facts, indent=2))
        return 0
    click.echo(visible(f"{target.as_posix()}\n  digest {bundle.id}"))
    return 0
