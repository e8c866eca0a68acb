"""`dia keygen`: create a pair of keys for signing bundles."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dia_runtime.commands.options import PATH, is_quiet, json_option, quiet_option
from dia_runtime.commands.passphrase import passphrase, passphrase_file
from dia_runtime.commands.terminal import echo


@click.command("keygen")
@click.option("-o", "--out", type=PATH, default=Path("dia.key"), show_default=True,
              metavar="FILE", help="File for the private key; the public key has the same name plus .pub.")  # fmt: skip
@passphrase_file
@quiet_option("notes")
@json_option
def command(out: Path, passphrase_file: Path | None, quiet: bool, as_json: bool) -> int:
    """Create a pair of Ed25519 keys for signing bundles.

    The private key is encrypted with a passphrase: from --passphrase-file, the environment variable DIA_PASSPHRASE or a
    prompt. Existing files are never replaced.

    \b
    Example:
      dia keygen -o mine.key --passphrase-file passphrase.txt
    """
    from dia_runtime.bundle.signing import keygen

    pair = keygen(out, passphrase(passphrase_file, f"the new key {out}", is_new=True))
    if as_json:
        facts = {"private_key": pair.private.as_posix(), "public_key": pair.public.as_posix(), "key": pair.name}
        echo(json.dumps(facts, indent=2))
        return 0
    echo(f"{pair.private.as_posix()}\n{pair.public.as_posix()}")
    if not is_quiet(quiet):
        echo(f"  publish {pair.public.as_posix()}, the public key {pair.name}", err=True)
    return 0
