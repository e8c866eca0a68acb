"""`dia sign`: add a signature to the files of a bundle."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_language.diagnostics import DiaError, visible

from dia_runtime.commands.options import PATH, is_quiet, json_option, quiet_option
from dia_runtime.commands.passphrase import passphrase, passphrase_file
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("sign")
@click.argument("bundle", type=PATH)
@click.option("--key", type=PATH, default=Path("dia.key"), show_default=True, metavar="FILE",
              help="Private key from `dia keygen`.")  # fmt: skip
@passphrase_file
@click.option("--force", is_flag=True, help="Replace an existing signature.")
@quiet_option("notes")
@json_option
def command(bundle: Path, key: Path, passphrase_file: Path | None, force: bool, quiet: bool, as_json: bool) -> int:
    """Sign the digest of a bundle with Ed25519.

    The signature is written to signature.json in the bundle's folder. It changes neither the digest nor any other file.
    If you also want to seal the bundle, seal it first: the sealed bundle has a different digest.

    \b
    Example:
      dia sign build/dia_bench-1.0.0-k5 --key mine.key --passphrase-file passphrase.txt
    """
    from dia_runtime.bundle import signing
    from dia_runtime.bundle.files import integrity_error
    from dia_runtime.bundle.manifest import SIGNATURE
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.bundle.verify import examine

    opened = open_bundle(bundle)
    with activity(f"verifying {bundle}", quiet):
        verification = examine(bundle)
    if verification.problems:
        raise DiaError([problem.as_diagnostic() for problem in verification.problems], 3)
    if verification.id != opened.id:
        raise integrity_error("E702", visible(f"`{bundle}` changed while it was being verified"))
    secret = passphrase(passphrase_file, f"the key {key}") if signing.is_locked(key) else None
    signature = signing.sign(opened, signing.private_key(key, secret), force)
    place = (bundle / SIGNATURE).as_posix()
    if as_json:
        facts = {"path": place, **{name: signature[name] for name in ("bundle_id", "public_key", "signature")}}
        echo(json.dumps(facts, indent=2))
        return 0
    echo(place)
    if not is_quiet(quiet):
        echo(f"  bundle {opened.id}, key {signature['public_key']}", err=True)
        if signing.is_open_to_others(key):
            echo(f"  note: other users can read {key}; run `chmod 600` on it", err=True)
    return 0
