"""Hash functions against pycryptodome, which has its own code for each, and published values."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from Crypto.Hash import (
    HMAC,
    MD5,
    SHA1,
    SHA3_224,
    SHA3_256,
    SHA3_384,
    SHA3_512,
    SHA224,
    SHA256,
    SHA384,
    SHA512,
    BLAKE2b,
    BLAKE2s,
)
from dia_language.diagnostics import LanguageError
from dia_language.functions.hashing import HASHES
from helpers.library_calls import call
from hypothesis import given
from hypothesis import strategies as st

MODULES: dict[str, Any] = {
    "md5": MD5, "sha1": SHA1, "sha224": SHA224, "sha256": SHA256, "sha384": SHA384, "sha512": SHA512,
    "sha3_224": SHA3_224, "sha3_256": SHA3_256, "sha3_384": SHA3_384, "sha3_512": SHA3_512,
}  # fmt: skip


@given(st.binary(max_size=300), st.binary(max_size=200))
def test_digests_agree_with_pycryptodome(data: bytes, key: bytes) -> None:
    for name, module in MODULES.items():
        assert call(name, data) == module.new(data).digest()
        assert call("hmac", key, data, name) == HMAC.new(key, data, module).digest()
    assert call("blake2b", data) == BLAKE2b.new(data=data, digest_bits=512).digest()
    assert call("blake2s", data) == BLAKE2s.new(data=data, digest_bits=256).digest()


@given(st.binary(max_size=300))
def test_the_second_digest_is_the_first_one(data: bytes) -> None:
    for name in HASHES:
        assert call("second_digest", name, data) == call(name, data)


def test_the_second_digest_asks_the_standard_library_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HASHES:
        monkeypatch.delattr(hashlib, name)
    assert call("second_digest", "sha256", b"abc").hex()[:16] == "ba7816bf8f01cfea"


def test_published_digests() -> None:
    # FIPS 180-4 and RFC 1321 examples; RFC 7693, appendix A; RFC 2202 and RFC 4231, test case 2
    assert call("md5", b"abc").hex() == "900150983cd24fb0d6963f7d28e17f72"
    assert call("sha1", b"abc").hex() == "a9993e364706816aba3e25717850c26c9cd0d89d"
    assert call("sha256", b"abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert call("blake2s", b"abc").hex() == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
    data = b"what do ya want for nothing?"
    assert call("hmac", b"Jefe", data, "md5").hex() == "750c783e6ab0b503eaa86e310a5db738"
    assert call("hmac", b"Jefe", data, "sha256").hex() == (
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


@given(st.binary(max_size=60))
def test_checksums_agree_with_their_definitions(data: bytes) -> None:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    low, high = 1, 0
    for byte in data:
        low = (low + byte) % 65521
        high = (high + low) % 65521
    assert call("crc32", data) == crc ^ 0xFFFFFFFF
    assert call("adler32", data) == high << 16 | low


def test_published_checksums() -> None:
    assert call("crc32", b"123456789") == 0xCBF43926
    assert call("adler32", b"Wikipedia") == 0x11E60398


def test_text_and_unknown_names_are_refused() -> None:
    with pytest.raises(LanguageError, match="needs bytes"):
        call("sha256", "abc")
    with pytest.raises(LanguageError, match="unknown hash function") as caught:
        call("hmac", b"", b"", "sha-256")
    assert caught.value.help == "did you mean `sha256`?"
    with pytest.raises(LanguageError, match="does not have the hash function `md4`"):
        call("second_digest", "md4", b"")
