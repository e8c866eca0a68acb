"""Ed25519 signatures (RFC 8032) of a bundle's digest: keys in PEM, and the signature file in the bundle's folder."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.atomic_output import PRIVATE, atomic_file
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.cipher import passphrase_bytes
from dia_runtime.bundle.files import integrity_error, open_inside
from dia_runtime.bundle.key_file import encrypted_pem
from dia_runtime.bundle.manifest import DIGEST, SIGNATURE
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.strict_json import parse_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORMAT = 1
LONGEST_FILE = 1 << 16
LOCKED = b"ENCRYPTED PRIVATE KEY"
PAIR = "create a pair of keys with `dia keygen`"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """The files of a new pair of keys, and the public key in hex."""

    private: Path
    public: Path
    name: str


def keygen(place: Path, passphrase: str) -> KeyPair:
    """Create a pair of keys: the encrypted private key in this file, the public one next to it with `.pub`.

    Raises DiaError (exit 2) if one of the two files exists; they are never replaced.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = place.with_name(f"{place.name}.pub")
    key = Ed25519PrivateKey.generate()
    form, unlocked = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    clear = key.private_bytes(serialization.Encoding.DER, form, unlocked)
    encoded = encrypted_pem(clear, passphrase_bytes(passphrase))
    with atomic_file(public) as public_file, atomic_file(place, mode=PRIVATE) as private_file:
        private_file.write(encoded)
        public_file.write(_pem(key.public_key()))
    return KeyPair(place, public, _hex(key.public_key()))


def is_locked(place: Path) -> bool:
    """Return whether the private key in a file needs a passphrase. Raises DiaError (exit 2) for a missing file."""
    return LOCKED in _read(place)


def private_key(place: Path, passphrase: str | None) -> Ed25519PrivateKey:
    """Return the private key in a file. Raises DiaError: exit 2 if there is none, 3 for a wrong passphrase."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    encoded = _read(place)
    secret = None if passphrase is None else passphrase_bytes(passphrase)
    try:
        key = serialization.load_pem_private_key(encoded, secret)
    except Exception:
        if LOCKED in encoded:
            message = f"wrong passphrase for `{place}`, or the file is damaged"
            raise integrity_error(
                "E718", visible(message), "use the passphrase with which the key was created"
            ) from None
        fix = f"the private key is `{place.stem}`" if place.suffix == ".pub" and b"PUBLIC KEY" in encoded else PAIR
        raise _no_key(place, "private", fix) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(place, "private")
    return key


def public_key(place: Path) -> Ed25519PublicKey:
    """Return the public key in a file. Raises DiaError (exit 2) if there is none."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    encoded = _read(place)
    try:
        key = serialization.load_pem_public_key(encoded)
    except Exception:
        fix = f"the public key is `{place.name}.pub`" if b"PRIVATE KEY" in encoded else PAIR
        raise _no_key(place, "public", fix) from None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(place, "public")
    return key


def _read(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return file.read(LONGEST_FILE)
    except OSError as error:
        message = visible(f"the key `{place}` cannot be read: {error.strerror}")
        raise DiaError(Diagnostic("E717", message, None, PAIR)) from None


def _no_key(place: Path, kind: str, fix: str = PAIR) -> DiaError:
    return DiaError(
        Diagnostic(
            "E717", visible(f"`{place}` does not contain a {kind} Ed25519 key in PEM format"), None, visible(fix)
        )
    )


def _pem(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _hex(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def sign(bundle: Bundle, key: Ed25519PrivateKey, force: bool = False) -> dict[str, Any]:
    """Write the signature into the bundle's folder and return it. Raises DiaError (exit 2) if there is another one.

    The signed message is the bundle's digest as 64 hexadecimal digits in ASCII.
    """
    canary = bundle.manifest["canary"]
    signature = {
        "format": FORMAT,
        "algorithm": "Ed25519",
        "bundle_id": bundle.id,
        "public_key": _hex(key.public_key()),
        "signature": key.sign(bundle.id.encode()).hex(),
    } | ({"canary": canary} if canary else {})
    encoded = canonical_line(signature) + b"\n"
    place = bundle.path / SIGNATURE
    if not (place.is_file() and place.read_bytes() == encoded):
        with atomic_file(place, force, fix="replace it with --force") as file:
            file.write(encoded)
    return signature


def read_signature(folder: Path) -> dict[str, Any] | None:
    """Return the signature in a bundle's folder; None if there is none that is well-formed."""
    try:
        with open_inside(folder, SIGNATURE) as file:
            signature = parse_json(file.read(LONGEST_FILE))
    except (OSError, ValueError, DiaError):
        return None
    if not isinstance(signature, dict) or signature.get("format") != FORMAT or signature.get("algorithm") != "Ed25519":
        return None
    lengths = {"bundle_id": 64, "public_key": 64, "signature": 128}
    is_sound = all(type(signature.get(name)) is str and len(signature[name]) == size for name, size in lengths.items())
    return signature if is_sound and DIGEST.fullmatch(signature["bundle_id"]) else None


def signature_error(folder: Path, digest: str, key: Ed25519PublicKey | None = None) -> str | None:
    """Return why the bundle with that digest does not count as signed by the key; None if it does.

    Without a key, the signature may be missing; if there is one, it must match the key that it names.
    """
    if not (folder / SIGNATURE).exists():
        return None if key is None else "is missing: the bundle is not signed"
    signature = read_signature(folder)
    if signature is None:
        return "is not a signature"
    return _disagreement(signature, digest, key)


def _disagreement(signature: dict[str, Any], digest: str, key: Ed25519PublicKey | None) -> str | None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if key is not None and signature["public_key"] != _hex(key):
        return f"is by the key {visible(signature['public_key'])}, not by {_hex(key)}"
    if signature["bundle_id"] != digest:
        return f"signs the bundle {signature['bundle_id']}, not this one"
    try:
        key = key or Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
        key.verify(bytes.fromhex(signature["signature"]), digest.encode())
    except (InvalidSignature, ValueError):
        return "does not match this bundle and key"
    return None


def is_open_to_others(place: Path) -> bool:
    """Return whether others than its owner may read the file."""
    return os.name == "posix" and bool(stat.S_IMODE(place.stat().st_mode) & 0o077)
