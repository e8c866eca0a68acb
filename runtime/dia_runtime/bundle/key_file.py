"""A private key in PEM under a passphrase: PKCS#8 (RFC 5958) with PBES2 (RFC 8018), as openssl and others read it.

The library that reads these files writes them with 2,048 rounds of PBKDF2, which hardly slow an attacker down. So the
few bytes around the encrypted key are written here, with 600,000 rounds (OWASP, Password Storage Cheat Sheet, 2023).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import textwrap

ROUNDS = 600_000
SALT = 16
SEQUENCE, INTEGER, OCTETS, NULL, NAME = 0x30, 0x02, 0x04, 0x05, 0x06
# The names of algorithms, in DER: 1.2.840.113549.1.5.13, ...5.12, 1.2.840.113549.2.9, 2.16.840.1.101.3.4.1.42
PBES2 = bytes.fromhex("2a864886f70d01050d")
PBKDF2 = bytes.fromhex("2a864886f70d01050c")
HMAC_SHA256 = bytes.fromhex("2a864886f70d0209")
AES_256_CBC = bytes.fromhex("60864801650304012a")


def encrypted_pem(key: bytes, passphrase: bytes) -> bytes:
    """Return the encrypted PEM file of a private key in PKCS#8 (DER)."""
    salt, start = secrets.token_bytes(SALT), secrets.token_bytes(16)
    secret = hashlib.pbkdf2_hmac("sha256", passphrase, salt, ROUNDS, 32)
    rounds = ROUNDS.to_bytes(ROUNDS.bit_length() // 8 + 1, "big")
    method = _der(SEQUENCE, _der(NAME, HMAC_SHA256), _der(NULL))
    derivation = _der(SEQUENCE, _der(OCTETS, salt), _der(INTEGER, rounds), method)
    parts = _der(SEQUENCE, _der(NAME, PBKDF2), derivation), _der(SEQUENCE, _der(NAME, AES_256_CBC), _der(OCTETS, start))
    algorithm = _der(SEQUENCE, _der(NAME, PBES2), _der(SEQUENCE, *parts))
    body = base64.b64encode(_der(SEQUENCE, algorithm, _der(OCTETS, _encrypted(key, secret, start)))).decode()
    lines = "\n".join(textwrap.wrap(body, 64))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{lines}\n-----END ENCRYPTED PRIVATE KEY-----\n".encode()


def _encrypted(key: bytes, secret: bytes, start: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    missing = 16 - len(key) % 16
    cipher = Cipher(AES(secret), CBC(start)).encryptor()
    return cipher.update(key + bytes([missing]) * missing) + cipher.finalize()


def _der(tag: int, *parts: bytes) -> bytes:
    """Encode a value in DER: its tag, its length and its parts."""
    body = b"".join(parts)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 128 + len(length)]) + length + body
