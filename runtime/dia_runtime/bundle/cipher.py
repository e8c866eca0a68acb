"""The cryptography of seals: a key from a passphrase, keys derived from a key, and a stream of encrypted pieces.

`docs/explanation/seals.md` describes the whole format, so that other programs can read a seal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import IO, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.files import integrity_error

KEY = 32
TAG = 16
PIECE = 1 << 16
COST = {"n": 1 << 17, "r": 8, "p": 1}  # 128 MiB and about 0.4 s for each guess
MOST_MEMORY = 1 << 28  # memory and time that an untrusted seal may cost this computer
MOST_PASSES = 4
LONGEST_PASSPHRASE = 1024


def damaged_seal(message: str, help: str = "get a new copy of the sealed bundle") -> DiaError:
    """Return the error for a seal that was changed or that belongs to another bundle: exit code 3."""
    return integrity_error("E721", visible(message), help)


def passphrase_bytes(passphrase: str) -> bytes:
    """Return the passphrase in UTF-8, normalised (NFC), so that it is the same from keyboards of all systems.

    Raises DiaError (exit 2) if it is empty or too long.
    """
    encoded = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    if not encoded or len(encoded) > LONGEST_PASSPHRASE:
        message = f"a passphrase must have 1 to {LONGEST_PASSPHRASE:,} bytes in UTF-8, not {len(encoded):,}"
        raise DiaError(Diagnostic("E718", message, None, "choose another passphrase"))
    return encoded


def key_from_passphrase(passphrase: str, salt: bytes, cost: dict[str, int]) -> bytes:
    """Return the 32 bytes that scrypt (RFC 7914) derives from a passphrase."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt, KEY, cost["n"], cost["r"], cost["p"]).derive(passphrase_bytes(passphrase))


def is_affordable(cost: Any) -> bool:
    """Return whether these are parameters of scrypt that an untrusted file may make this computer use."""
    if not isinstance(cost, dict) or any(type(cost.get(name)) is not int for name in ("n", "r", "p")):
        return False
    n, r, p = int(cost["n"]), int(cost["r"]), int(cost["p"])
    is_power = n > 1 and n & (n - 1) == 0
    return is_power and 1 <= r <= 64 and 1 <= p <= MOST_PASSES and 128 * n * r <= MOST_MEMORY


def derive_key(key: bytes, purpose: str) -> bytes:
    """Return the 32 bytes that HKDF-SHA-256 (RFC 5869, no salt) derives from a random key for a purpose."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), KEY, None, purpose.encode("utf-8", "surrogatepass")).derive(key)


def encrypt_secret(key: bytes, nonce: bytes, secret: bytes, beside: bytes) -> bytes:
    """Return the secret encrypted with AES-256-GCM, authenticated together with the data next to it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key).encrypt(nonce, secret, beside)


def decrypt_secret(key: bytes, nonce: bytes, encrypted: bytes, beside: bytes) -> bytes | None:
    """Return the decrypted secret; None if the key, the bytes or the authenticated data are wrong."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, encrypted, beside)
    except InvalidTag:
        return None


def encrypt_blocks(key: bytes, beside: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces in blocks of 64 KiB, each encrypted under its number; the last one is marked as the last."""
    number, buffer = 0, bytearray()
    for piece in pieces:
        buffer += piece
        while len(buffer) > PIECE:  # never the last block, which may be full
            yield encrypt_secret(key, _nonce(number, False), bytes(buffer[:PIECE]), beside)
            del buffer[:PIECE]
            number += 1
    yield encrypt_secret(key, _nonce(number, True), bytes(buffer), beside)


def decrypt_blocks(key: bytes, beside: bytes, file: IO[bytes]) -> Iterator[bytes]:
    """Yield the decrypted blocks.

    Raises DiaError (exit 3) at the first block that was changed, moved, cut off or added.
    """
    number, block = 0, file.read(PIECE + TAG)
    while True:
        after = file.read(PIECE + TAG)
        clear = decrypt_secret(key, _nonce(number, not after), block, beside)
        if clear is None:
            message = f"the seal is damaged: it was changed or truncated in or before block {number + 1}"
            raise damaged_seal(message)
        yield clear
        if not after:
            return
        number, block = number + 1, after


def _nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
