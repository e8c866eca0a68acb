"""`dia unseal`: the bundle that was sealed."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.passphrase import passphrase, passphrase_file
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("unseal")
@click.argument("bundle", type=PATH)
@passphrase_file
@click.option("-o", "--out", type=PATH, metavar="DIR",
              help="Folder to write. Default: BENCHMARK-VERSION-kK-unsealed, next to BUNDLE.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the contents of the folder.")
@json_option
def command(bundle: Path, passphrase_file: Path | None, out: Path | None, force: bool, as_json: bool) -> int:
    """Restore a sealed bundle, byte for byte.

    The result has the same digest as the bundle before sealing, and each answer is compared with its commitment. Exit
    code 3, and no output, for a wrong passphrase or a changed byte.

    \b
    Example:
      dia unseal build/dia_bench-1.0.0-k5-sealed --passphrase-file passphrase.txt
    """
    from dia_runtime.bundle.archive import archive_name
    from dia_runtime.bundle.atomic_output import named_path
    from dia_runtime.bundle.unseal import sealed_bundle, unseal

    sealed = sealed_bundle(bundle)
    stem = archive_name(sealed).removesuffix("-sealed")
    target = out or named_path(bundle).parent / f"{stem}-unsealed"
    secret = passphrase(passphrase_file, f"the seal of {bundle}")
    with activity(f"unsealing {bundle}"):
        unsealed = unseal(bundle, secret, target, force)
    if as_json:
        facts = {"path": unsealed.path.as_posix(), "digest": unsealed.id, "questions_root": unsealed.questions_root}
        echo(json.dumps({**facts, "answers": unsealed.manifest["counts"]["questions"]}, indent=2))
        return 0
    echo(f"{unsealed.path.as_posix()}\n  digest {unsealed.id}")
    return 0
