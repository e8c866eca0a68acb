"""`dia seal`: answers, specs and seed into one encrypted file."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_language.diagnostics import counted

from dia_runtime.commands.options import PATH, is_quiet, json_option, quiet_option
from dia_runtime.commands.passphrase import passphrase, passphrase_file
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("seal")
@click.argument("bundle", type=PATH)
@passphrase_file
@click.option("--weak", is_flag=True, help="Seal even if the seed has fewer than 128 bits.")
@click.option("-o", "--out", type=PATH, metavar="DIR",
              help="Folder to write. Default: BENCHMARK-VERSION-kK-sealed, next to BUNDLE.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the contents of the folder.")
@quiet_option("notes")
@json_option
def command(
    bundle: Path, passphrase_file: Path | None, weak: bool, out: Path | None, force: bool, quiet: bool, as_json: bool
) -> int:
    """Seal a bundle: encrypt its answers, specs and seed, and commit to each answer.

    The sealed bundle is a new folder that can be run, exported and published. To score its replies, use the original
    bundle, or restore it with `dia unseal`. Nobody, including you, can unseal without the passphrase.

    \b
    Example:
      dia seal build/dia_bench-1.0.0-k5 --weak --passphrase-file passphrase.txt
    """
    from dia_runtime.bundle.archive import archive_name
    from dia_runtime.bundle.atomic_output import named_path
    from dia_runtime.bundle.exposed_values import exposed_values
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.bundle.seal import require_sealable, seal

    opened = open_bundle(bundle)
    require_sealable(opened, weak)
    target = out or named_path(bundle).parent / f"{archive_name(opened)}-sealed"
    secret = passphrase(passphrase_file, f"the seal of {bundle}", is_new=True)
    with activity(f"sealing {bundle}", quiet):
        sealed = seal(bundle, secret, target, weak, force)
    if names := exposed_values(opened):
        listed = ", ".join(f"`{name}`" for name in names)
        note = f"warning: the questions contain the values of {listed} unencrypted, as sessions or grading use them"
        echo(note, err=True)
    if as_json:
        facts = {"path": sealed.path.as_posix(), "digest": sealed.id, "questions_root": sealed.questions_root}
        echo(json.dumps({**facts, "unsealed": sealed.original, "answers": sealed.answers}, indent=2))
        return 0
    echo(f"{sealed.path.as_posix()}\n  digest {sealed.id}")
    if not is_quiet(quiet):
        echo(f"  sealed {counted(sealed.answers, 'answer')}; not signed yet (`dia sign`)", err=True)
    return 0
