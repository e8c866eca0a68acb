"""`dia pack`: a bundle as one file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import click

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("pack")
@click.argument("bundle", type=PATH)
@click.option("-o", "--out", type=PATH, metavar="FILE",
              help="File to write. Default: BUNDLE.tar.zst, next to BUNDLE.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
def command(bundle: Path, out: Path | None, force: bool, as_json: bool) -> int:
    """Pack a bundle into one .tar.zst file.

    Packing is deterministic: with one version of zstd, the same bundle always gives the same file. The
    bundle's digest does not change.

    \b
    Example:
      dia pack build/dia_bench-1.0.0-k5
    """
    from dia_runtime.bundle.archive import SUFFIX, pack
    from dia_runtime.bundle.atomic_output import named_path

    place = named_path(bundle)
    target = out or place.with_name(f"{place.name}{SUFFIX}")
    with activity(f"packing {bundle}"):
        packed = pack(bundle, target, force)
    if as_json:
        with target.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        facts = {"path": target.as_posix(), "digest": packed.id, "bytes": target.stat().st_size, "sha256": digest}
        echo(json.dumps(facts, indent=2))
        return 0
    echo(target.as_posix())
    return 0
