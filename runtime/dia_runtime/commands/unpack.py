"""`dia unpack`: the folder of a packed bundle."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("unpack")
@click.argument("archive", type=PATH)
@click.option("-o", "--out", type=PATH, metavar="DIR",
              help="Folder to write. Default: ARCHIVE without .tar.zst, next to ARCHIVE.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the contents of the folder.")
@json_option
def command(archive: Path, out: Path | None, force: bool, as_json: bool) -> int:
    """Unpack a bundle that `dia pack` made.

    Apart from `provenance.json` and `signature.json`, the files must be exactly those in the manifest, with the same
    sizes and digests. The whole archive is refused (exit code 3) for any other file, a path that leads out of the
    folder, a link, or a repeated name.

    \b
    Example:
      dia unpack build/dia_bench-1.0.0-k5.tar.zst -o unpacked
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
        echo(json.dumps(facts, indent=2))
        return 0
    echo(f"{target.as_posix()}\n  digest {bundle.id}")
    return 0
