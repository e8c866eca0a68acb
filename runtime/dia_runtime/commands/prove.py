"""`dia prove`: reveal one answer of a sealed bundle, and compare it with its commitment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.passphrase import passphrase, passphrase_file
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo

LONGEST = 1 << 26


@click.command("prove")
@click.argument("bundle", type=PATH)
@click.argument("id", required=False)
@click.option("--check", type=PATH, metavar="PROOF", help="Check this proof; needs no passphrase.")
@passphrase_file
@click.option("-o", "--out", type=PATH, metavar="FILE", help="File for the proof.")
@json_option
def command(
    bundle: Path, id: str | None, check: Path | None, passphrase_file: Path | None, out: Path | None, as_json: bool
) -> int:
    """Reveal one answer of a sealed bundle, with a proof that it is unchanged.

    With the passphrase and a question's ID, dia writes a proof: the answer, with its parameters and explanation, and
    the salt of its commitment. With --check, anyone can compare a proof with the commitment in the sealed bundle. Exit
    code 3 if it is not the sealed answer.

    \b
    Example:
      dia prove build/dia_bench-1.0.0-k5-sealed next_prime/0 --passphrase-file passphrase.txt -o proof.json
    """
    if (id is None) == (check is None):
        raise DiaError(Diagnostic("E600", "give either the ID of a question or a proof with --check"))
    if check is not None:
        return _check(bundle, check, as_json)
    return _make(bundle, str(id), passphrase_file, out, as_json)


def _make(bundle: Path, id: str, passphrase_file: Path | None, out: Path | None, as_json: bool) -> int:
    from dia_runtime.bundle.atomic_output import atomic_file
    from dia_runtime.bundle.unseal import prove, sealed_bundle

    sealed_bundle(bundle)  # only such a bundle has a passphrase
    secret = passphrase(passphrase_file, f"the seal of {bundle}")
    with activity(f"opening {bundle}"):
        proof = prove(bundle, id, secret)
    text = json.dumps(proof, indent=2, ensure_ascii=False) + "\n"
    if out is not None:
        with atomic_file(out) as file:
            file.write(text.encode())
    if out is None or as_json:
        echo(text, nl=False)
    else:
        echo(out.as_posix())
    return 0


def _check(bundle: Path, check: Path, as_json: bool) -> int:
    from dia_runtime.bundle.commitments import check_proof, read_proof
    from dia_runtime.bundle.unseal import sealed_bundle

    sealed, proof = sealed_bundle(bundle), read_proof(_read(check))
    check_proof(sealed, proof)
    if as_json:
        echo(json.dumps({**_proof_facts(proof), "valid": True}, indent=2))
    else:
        answer = proof["answer"]["text"]
        echo(f"{proof['id']}: the answer {answer!r} is the sealed one\n  bundle {sealed.id}")
    return 0


def _proof_facts(proof: dict[str, Any]) -> dict[str, Any]:
    names = ("bundle_id", "questions_root", "id", "commitment")
    return {name: proof[name] for name in names} | {"text": proof["answer"]["text"]}


def _read(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return file.read(LONGEST)
    except OSError as error:
        message = visible(f"the proof `{place}` cannot be read: {error.strerror}")
        raise DiaError(Diagnostic("E724", message, None, "name a file that `dia prove -o` wrote")) from None
