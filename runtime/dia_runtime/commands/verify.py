"""`dia verify`: find every changed, missing or added byte of a bundle."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NotRequired, TypedDict

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, visible

from dia_runtime.bundle import signing
from dia_runtime.bundle.manifest import DIGEST, NAME, SIGNATURE
from dia_runtime.bundle.open import is_packed
from dia_runtime.bundle.verify import Problem, Recompiled, Verification, examine, signature_problems
from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


class SignatureFacts(TypedDict):
    """The key that a signature names, and whether the signature is valid; None if it was not checked."""

    public_key: str | None
    valid: bool | None


class ProblemFacts(TypedDict):
    """A difference between a bundle and its manifest."""

    kind: str
    code: str
    path: str
    message: str
    expected: str | None
    found: str | None


class VerificationFacts(TypedDict):
    """The result of `dia verify --json`; `recompiled` is present with --recompile."""

    bundle: str
    digest: str
    questions_root: str | None
    benchmark: str | None
    files: int
    bytes: int
    complete: bool
    valid: bool
    sealed: bool
    signature: SignatureFacts | None
    not_covered: list[str]
    problems: list[ProblemFacts]
    recompiled: NotRequired[Recompiled]


@click.command("verify")
@click.argument("bundle", type=PATH)
@click.option("--expect", metavar="DIGEST", help="Fail if the bundle's digest is not this one.")
@click.option(
    "--public-key",
    type=PATH,
    metavar="FILE",
    help="Public key from `dia keygen`: fail if the bundle is not signed with it.",
)
@json_option
def command(bundle: Path, expect: str | None, public_key: Path | None, as_json: bool) -> int:
    """Verify that no byte of a bundle has changed, except in `provenance.json` and `signature.json`.

    Reports whether the bundle is complete (every listed file exists, and no other) and valid (every digest matches),
    and lists the files that differ from the manifest. A packed bundle need not be unpacked first. Exit code 3 if
    anything differs.

    \b
    Example:
      dia verify build/dia_bench-1.0.0-k5
    """
    with unpacked_folder(bundle) as folder, activity(f"verifying {bundle}"):
        facts = verification_facts(folder, expect, public_key, bundle)
    print_verification(facts, as_json, is_vouched_for(expect, public_key))
    return 3 if facts["problems"] else 0


def is_vouched_for(expect: str | None, public_key: Path | None) -> bool:
    """Return whether an expected digest or a key confirms the origin of the bundle."""
    return expect is not None or public_key is not None


@contextmanager
def unpacked_folder(bundle: Path) -> Iterator[Path]:
    """Yield the bundle's folder; for a packed bundle, a temporary one. Raises DiaError (exit 3)."""
    if not is_packed(bundle):
        yield bundle
        return
    from dia_runtime.bundle.archive import extract
    from dia_runtime.bundle.atomic_output import write_error

    with ExitStack() as stack:
        try:
            private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dia-verify-")))
            with activity(f"unpacking {bundle}"):
                extract(bundle, private)
        except OSError as error:
            failure = f"cannot unpack `{bundle}` to a temporary folder"
            raise write_error(failure, error, "set TMPDIR to a folder on another disk") from None
        yield private


def verification_facts(
    bundle: Path, expect: str | None, public_key: Path | None = None, named_as: Path | None = None
) -> VerificationFacts:
    """Verify the bundle. Raises DiaError for a malformed digest or key."""
    digest = None if expect is None else _digest(expect)
    key = None if public_key is None else signing.public_key(public_key)
    verification = examine(bundle)
    problems = [*_pinned(verification, digest), *signature_problems(verification, key), *verification.problems]
    return verification_json(verification, problems, _signed_by(bundle, public_key, problems), named_as or bundle)


def _signed_by(bundle: Path, public_key: Path | None, problems: list[Problem]) -> SignatureFacts | None:
    if not (bundle / SIGNATURE).exists():
        return None
    signature = signing.read_signature(bundle)
    is_faulty = any(problem.kind == "signature" for problem in problems)
    is_valid = None if public_key is None and not is_faulty else not is_faulty
    return {"public_key": signature["public_key"] if signature else None, "valid": is_valid}


def print_verification(facts: VerificationFacts, as_json: bool, is_pinned: bool) -> None:
    """Print the facts, as JSON or as text."""
    echo(json.dumps(facts, indent=2) if as_json else _text(facts, is_pinned))


def _digest(text: str) -> str:
    digest = text.removeprefix("sha256:").lower()
    if not DIGEST.fullmatch(digest):
        help = "use the 64 hexadecimal digits that `dia compile` printed"
        raise DiaError(Diagnostic("E710", visible(f"`{text}` is not a digest"), None, help))
    return digest


def _pinned(verification: Verification, digest: str | None) -> list[Problem]:
    if digest in (None, verification.id):
        return []
    message = f"has the digest {verification.id}, expected {digest}"
    return [Problem("digest", NAME, message, digest, verification.id)]


def verification_json(
    verification: Verification, problems: list[Problem], signature: SignatureFacts | None, named_as: Path
) -> VerificationFacts:
    """Return what `dia verify --json` prints."""
    manifest = verification.manifest or {}
    return {
        "bundle": str(named_as),
        "digest": verification.id,
        "questions_root": manifest.get("questions_root"),
        "benchmark": manifest.get("benchmark"),
        "files": len(manifest.get("files", {})),
        "bytes": sum(entry["size"] for entry in manifest.get("files", {}).values()),
        "complete": verification.is_complete,
        "valid": verification.is_valid and not any(problem.kind in ("digest", "signature") for problem in problems),
        "sealed": isinstance(manifest.get("sealed"), dict),
        "signature": signature,
        "not_covered": list(verification.not_covered),
        "problems": [
            {
                "kind": problem.kind,
                "code": problem.code,
                "path": problem.path,
                "message": problem.message,
                "expected": problem.expected,
                "found": problem.found,
            }
            for problem in problems
        ],
    }


def _signature(signature: SignatureFacts) -> str:
    name = f"key {signature['public_key']}"
    if signature["valid"] is None:
        return f"present, {name}; not checked: use --public-key FILE"
    return f"valid, {name}" if signature["valid"] else "not valid"


def _text(facts: VerificationFacts, is_pinned: bool) -> str:
    complete, valid = ("" if is_so else "not " for is_so in (facts["complete"], facts["valid"]))
    lines = [
        f"{facts['bundle']}: {complete}complete, {valid}valid",
        f"  digest          {facts['digest']}",
        f"  questions root  {facts['questions_root'] or 'unknown'}",
        f"  covered         {counted(facts['files'], 'file')}, {counted(facts['bytes'], 'byte')}",
        f"  not covered     {', '.join(facts['not_covered']) or 'nothing'}",
    ]
    if facts["signature"]:
        lines.append(f"  signature       {_signature(facts['signature'])}")
    for problem in facts["problems"]:
        lines.append(f"  {problem['kind']:<9} {problem['code']}  `{problem['path']}` {problem['message']}")
    if not is_pinned and not facts["problems"]:
        lines.append(
            "  all covered files match the manifest; to verify who made them, use --expect DIGEST or a signature"
        )
    return visible("\n".join(lines))
