"""Hash functions and checksums: bytes in, bytes out, but for the checksums, which are integers."""

from __future__ import annotations

import hashlib
import hmac as stdlib_hmac
import zlib
from typing import Any

from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function


@library_function
def md5(data: bytes) -> bytes:
    """MD5 digest of the bytes, 16 bytes long.

    Not safe against collisions. Source: RFC 1321.

    >>> md5(b"abc").hex()[:16]
    '900150983cd24fb0'
    """
    return hashlib.md5(data, usedforsecurity=False).digest()


@library_function
def sha1(data: bytes) -> bytes:
    """SHA-1 digest of the bytes, 20 bytes long.

    Not safe against collisions. Source: FIPS 180-4.

    >>> sha1(b"abc").hex()[:16]
    'a9993e364706816a'
    """
    return hashlib.sha1(data, usedforsecurity=False).digest()


@library_function
def sha224(data: bytes) -> bytes:
    """SHA-224 digest of the bytes, 28 bytes long.

    Source: FIPS 180-4.

    >>> sha224(b"abc").hex()[:16]
    '23097d223405d822'
    """
    return hashlib.sha224(data).digest()


@library_function
def sha256(data: bytes) -> bytes:
    """SHA-256 digest of the bytes, 32 bytes long.

    Source: FIPS 180-4.

    >>> sha256(b"abc").hex()[:16]
    'ba7816bf8f01cfea'
    """
    return hashlib.sha256(data).digest()


@library_function
def sha384(data: bytes) -> bytes:
    """SHA-384 digest of the bytes, 48 bytes long.

    Source: FIPS 180-4.

    >>> sha384(b"abc").hex()[:16]
    'cb00753f45a35e8b'
    """
    return hashlib.sha384(data).digest()


@library_function
def sha512(data: bytes) -> bytes:
    """SHA-512 digest of the bytes, 64 bytes long.

    Source: FIPS 180-4.

    >>> sha512(b"abc").hex()[:16]
    'ddaf35a193617aba'
    """
    return hashlib.sha512(data).digest()


@library_function
def sha3_224(data: bytes) -> bytes:
    """SHA3-224 digest of the bytes, 28 bytes long.

    Source: FIPS 202.

    >>> sha3_224(b"abc").hex()[:16]
    'e642824c3f8cf24a'
    """
    return hashlib.sha3_224(data).digest()


@library_function
def sha3_256(data: bytes) -> bytes:
    """SHA3-256 digest of the bytes, 32 bytes long.

    Source: FIPS 202.

    >>> sha3_256(b"abc").hex()[:16]
    '3a985da74fe225b2'
    """
    return hashlib.sha3_256(data).digest()


@library_function
def sha3_384(data: bytes) -> bytes:
    """SHA3-384 digest of the bytes, 48 bytes long.

    Source: FIPS 202.

    >>> sha3_384(b"abc").hex()[:16]
    'ec01498288516fc9'
    """
    return hashlib.sha3_384(data).digest()


@library_function
def sha3_512(data: bytes) -> bytes:
    """SHA3-512 digest of the bytes, 64 bytes long.

    Source: FIPS 202.

    >>> sha3_512(b"abc").hex()[:16]
    'b751850b1a57168a'
    """
    return hashlib.sha3_512(data).digest()


@library_function
def blake2b(data: bytes) -> bytes:
    """BLAKE2b digest of the bytes, 64 bytes long.

    Source: RFC 7693.

    >>> blake2b(b"abc").hex()[:16]
    'ba80a53f981c4d0d'
    """
    return hashlib.blake2b(data).digest()


@library_function
def blake2s(data: bytes) -> bytes:
    """BLAKE2s digest of the bytes, 32 bytes long.

    Source: RFC 7693.

    >>> blake2s(b"abc").hex()[:16]
    '508c5e8c327c14e2'
    """
    return hashlib.blake2s(data).digest()


@library_function
def crc32(data: bytes) -> int:
    """CRC-32 checksum of the bytes, from 0 to 2**32 - 1.

    The one of Ethernet, ZIP and PNG. Source: RFC 1952, section 8.

    >>> crc32(b"123456789")
    3421780262
    """
    return zlib.crc32(data)


@library_function
def adler32(data: bytes) -> int:
    """Adler-32 checksum of the bytes, from 0 to 2**32 - 1.

    Source: RFC 1950, section 9.

    >>> adler32(b"Wikipedia")
    300286872
    """
    return zlib.adler32(data)


@library_function
def hmac(key: bytes, data: bytes, name: str) -> bytes:
    """Keyed digest (HMAC) of the bytes with the named hash function of this module.

    An error for another name. Source: RFC 2104.

    >>> hmac(b"key", b"data", "sha256").hex()[:16]
    '5031fe3d989c6d15'
    """
    if name not in HASHES:
        help = did_you_mean(name, HASHES) or f"there are {', '.join(HASHES)}"
        raise LanguageError("no hash function has this name", help)
    return stdlib_hmac.new(key, data, _constructor(name)).digest()


def _constructor(name: str) -> Any:
    return getattr(hashlib, name)


HASHES = (
    "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
    "blake2b", "blake2s",
)  # fmt: skip
