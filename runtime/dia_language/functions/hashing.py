"""Hash functions and checksums. Digests are bytes; checksums are integers."""

from __future__ import annotations

import hashlib
import hmac as stdlib_hmac
import zlib
from typing import Any

from dia_language.diagnostics import unknown_name
from dia_language.functions.registry import library_function


@library_function
def md5(data: bytes) -> bytes:
    """The MD5 digest of `data`, 16 bytes.

    Not collision-resistant. Source: RFC 1321.

    Examples:
        hex(md5(utf8("abc")))[:16] -> "900150983cd24fb0"
    """
    return hashlib.md5(data, usedforsecurity=False).digest()


@library_function
def sha1(data: bytes) -> bytes:
    """The SHA-1 digest of `data`, 20 bytes.

    Not collision-resistant. Source: FIPS 180-4.

    Examples:
        hex(sha1(utf8("abc")))[:16] -> "a9993e364706816a"
    """
    return hashlib.sha1(data, usedforsecurity=False).digest()


@library_function
def sha224(data: bytes) -> bytes:
    """The SHA-224 digest of `data`, 28 bytes.

    Source: FIPS 180-4.

    Examples:
        hex(sha224(utf8("abc")))[:16] -> "23097d223405d822"
    """
    return hashlib.sha224(data).digest()


@library_function
def sha256(data: bytes) -> bytes:
    """The SHA-256 digest of `data`, 32 bytes.

    Source: FIPS 180-4.

    Examples:
        hex(sha256(utf8("abc")))[:16] -> "ba7816bf8f01cfea"
    """
    return hashlib.sha256(data).digest()


@library_function
def sha384(data: bytes) -> bytes:
    """The SHA-384 digest of `data`, 48 bytes.

    Source: FIPS 180-4.

    Examples:
        hex(sha384(utf8("abc")))[:16] -> "cb00753f45a35e8b"
    """
    return hashlib.sha384(data).digest()


@library_function
def sha512(data: bytes) -> bytes:
    """The SHA-512 digest of `data`, 64 bytes.

    Source: FIPS 180-4.

    Examples:
        hex(sha512(utf8("abc")))[:16] -> "ddaf35a193617aba"
    """
    return hashlib.sha512(data).digest()


@library_function
def sha3_224(data: bytes) -> bytes:
    """The SHA3-224 digest of `data`, 28 bytes.

    Source: FIPS 202.

    Examples:
        hex(sha3_224(utf8("abc")))[:16] -> "e642824c3f8cf24a"
    """
    return hashlib.sha3_224(data).digest()


@library_function
def sha3_256(data: bytes) -> bytes:
    """The SHA3-256 digest of `data`, 32 bytes.

    Source: FIPS 202.

    Examples:
        hex(sha3_256(utf8("abc")))[:16] -> "3a985da74fe225b2"
    """
    return hashlib.sha3_256(data).digest()


@library_function
def sha3_384(data: bytes) -> bytes:
    """The SHA3-384 digest of `data`, 48 bytes.

    Source: FIPS 202.

    Examples:
        hex(sha3_384(utf8("abc")))[:16] -> "ec01498288516fc9"
    """
    return hashlib.sha3_384(data).digest()


@library_function
def sha3_512(data: bytes) -> bytes:
    """The SHA3-512 digest of `data`, 64 bytes.

    Source: FIPS 202.

    Examples:
        hex(sha3_512(utf8("abc")))[:16] -> "b751850b1a57168a"
    """
    return hashlib.sha3_512(data).digest()


@library_function
def blake2b(data: bytes) -> bytes:
    """The BLAKE2b digest of `data`, 64 bytes.

    Source: RFC 7693.

    Examples:
        hex(blake2b(utf8("abc")))[:16] -> "ba80a53f981c4d0d"
    """
    return hashlib.blake2b(data).digest()


@library_function
def blake2s(data: bytes) -> bytes:
    """The BLAKE2s digest of `data`, 32 bytes.

    Source: RFC 7693.

    Examples:
        hex(blake2s(utf8("abc")))[:16] -> "508c5e8c327c14e2"
    """
    return hashlib.blake2s(data).digest()


@library_function
def crc32(data: bytes) -> int:
    """The CRC-32 checksum of `data`, from 0 to 2**32 - 1.

    Ethernet, ZIP and PNG use it. Source: RFC 1952, section 8.

    Examples:
        crc32(utf8("123456789")) -> 3421780262
    """
    return zlib.crc32(data)


@library_function
def adler32(data: bytes) -> int:
    """The Adler-32 checksum of `data`, from 0 to 2**32 - 1.

    Source: RFC 1950, section 9.

    Examples:
        adler32(utf8("Wikipedia")) -> 300286872
    """
    return zlib.adler32(data)


@library_function
def hmac(key: bytes, data: bytes, name: str) -> bytes:
    """The HMAC of `data` under `key`, with the hash function called `name`.

    `name` is md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384, sha3_512, blake2b or blake2s.
    Raises an error for any other name. Source: RFC 2104.

    Examples:
        hex(hmac(utf8("key"), utf8("data"), "sha256"))[:16] -> "5031fe3d989c6d15"
    """
    if name not in HASHES:
        raise unknown_name("hash function", name, HASHES)
    return stdlib_hmac.new(key, data, _constructor(name)).digest()


def _constructor(name: str) -> Any:
    return getattr(hashlib, name)


HASHES = (
    "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
    "blake2b", "blake2s",
)  # fmt: skip
