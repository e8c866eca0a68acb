"""Ciphers against the vectors of NIST and the RFCs, the package cryptography and the openssl command."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
BLOCK = st.binary(min_size=16, max_size=16)
DATA = st.binary(max_size=100)

# NIST SP 800-38A, appendix F: key, counter or vector, and four blocks
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
VECTOR = bytes(range(16))
COUNTER = bytes(range(0xF0, 0x100))
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
FIRST_BLOCKS = {
    ("ECB", b""): "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf",
    ("CBC", VECTOR): "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
    ("CTR", COUNTER): "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff",
}


def test_aes_gives_the_vectors_of_nist() -> None:
    # FIPS 197, appendix C: AES-128, -192 and -256 of one block
    block, told = (
        bytes.fromhex("00112233445566778899aabbccddeeff"),
        {
            16: "69c4e0d86a7b0430d8cdb78070b4c55a",
            24: "dda97ca4864cdfe06eaf70a0ec0d7191",
            32: "8ea2b7ca516745bfeafc49904b496089",
        },
    )
    for size, shown in told.items():
        assert call("aes_encrypt", block, bytes(range(size)), "ECB", b"", "none").hex() == shown
    for (mode, nonce), shown in FIRST_BLOCKS.items():
        padding = "" if mode == "CTR" else "none"
        sealed = call("aes_encrypt", PLAIN, KEY, mode, nonce, padding)
        assert sealed[:32].hex() == shown
        assert call("aes_decrypt", sealed, KEY, mode, nonce, padding) == PLAIN


@settings(max_examples=examples(30))
@given(KEYS, BLOCK, DATA)
def test_aes_agrees_with_another_library(key: bytes, nonce: bytes, data: bytes) -> None:
    padder = padding.PKCS7(128).padder()
    padded = padder.update(data) + padder.finalize()
    kinds: list[tuple[str, Any, bytes, bytes]] = [
        ("ECB", modes.ECB(), b"", padded), ("CBC", modes.CBC(nonce), nonce, padded), ("CTR", modes.CTR(nonce), nonce, data)
    ]  # fmt: skip
    for name, mode, given_nonce, whole in kinds:
        sealed = Cipher(algorithms.AES(key), mode).encryptor().update(whole)
        assert call("aes_encrypt", data, key, name, given_nonce) == sealed
        assert call("aes_decrypt", sealed, key, name, given_nonce) == data


@settings(max_examples=examples(30))
@given(KEYS, st.binary(min_size=8, max_size=30), DATA, DATA)
def test_gcm_agrees_with_another_library(key: bytes, nonce: bytes, data: bytes, other: bytes) -> None:
    sealed = AESGCM(key).encrypt(nonce, data, other)
    assert call("aes_encrypt", data, key, "GCM", nonce, "", other) == sealed
    assert call("aes_decrypt", sealed, key, "GCM", nonce, "", other) == data
    assert code("aes_decrypt", sealed, key, "GCM", nonce, "", other + b"x") == "E501"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_aes_agrees_with_the_command() -> None:
    command = ["openssl", "enc", "-aes-256-cbc", "-K", (KEY * 2).hex(), "-iv", VECTOR.hex()]
    told = subprocess.run(command, input=b"attack at dawn", capture_output=True, check=True).stdout
    assert call("aes_encrypt", b"attack at dawn", KEY * 2, "CBC", VECTOR) == told


@pytest.mark.parametrize(
    "arguments",
    [
        (b"a", KEY[:15], "ECB"), (b"a", KEY, "ecb"), (b"a", KEY, "ECB", VECTOR), (b"a", KEY, "ECB", b"", "none"),
        (b"a", KEY, "CBC"), (b"a", KEY, "CTR", VECTOR, "pkcs7"), (b"a", KEY, "GCM"), (b"a", KEY, "ECB", b"", "zero"),
        (b"a", KEY, "CBC", VECTOR, "", b"associated"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...]) -> None:
    assert code("aes_encrypt", *arguments) == code("aes_decrypt", *arguments) == "E501"


def test_bad_padding_and_short_tags_are_refused() -> None:
    for last in (b"\0", b"\x11", b"\x01\x02"):
        sealed = call("aes_encrypt", bytes(16 - len(last)) + last, KEY, "ECB", b"", "none")
        assert code("aes_decrypt", sealed, KEY, "ECB") == "E501"
    assert code("aes_decrypt", b"", KEY, "ECB") == code("aes_decrypt", b"abc", KEY, "GCM", VECTOR) == "E501"


def test_chacha20_gives_the_vectors_of_rfc_8439() -> None:
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    sealed = call("chacha20", text, bytes(range(32)), bytes.fromhex("000000000000004a00000000"), 1)  # section 2.4.2
    assert sealed[:16].hex() == "6e2e359a2568f98041ba0728dd0d6981"
    assert call("chacha20", sealed, bytes(range(32)), bytes.fromhex("000000000000004a00000000"), 1) == text
    key, nonce = bytes(range(0x80, 0xA0)), bytes.fromhex("070000004041424344454647")  # section 2.8.2
    both = call("chacha20_poly1305_encrypt", text, key, nonce, bytes.fromhex("50515253c0c1c2c3c4c5c6c7"))
    assert both[-16:].hex() == "1ae10b594f09e26a7e902ecbd0600691"


@settings(max_examples=examples(30))
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=12, max_size=12), DATA, DATA)
def test_chacha20_poly1305_agrees_with_another_library(key: bytes, nonce: bytes, data: bytes, other: bytes) -> None:
    sealed = ChaCha20Poly1305(key).encrypt(nonce, data, other)
    assert call("chacha20_poly1305_encrypt", data, key, nonce, other) == sealed
    assert call("chacha20_poly1305_decrypt", sealed, key, nonce, other) == data
    assert call("chacha20", data, key, nonce, 1) == sealed[:-16]
    assert code("chacha20_poly1305_decrypt", sealed[:-1] + bytes([sealed[-1] ^ 1]), key, nonce, other) == "E501"


def test_keys_and_counters_of_a_wrong_size_are_refused() -> None:
    assert code("chacha20", b"a", bytes(16), bytes(12)) == code("chacha20", b"a", bytes(32), bytes(8)) == "E501"
    assert code("chacha20", b"a", bytes(32), bytes(12), 2**32) == "E501"
    assert code("chacha20", bytes(65), bytes(32), bytes(12), 2**32 - 1) == "E501"
    assert call("chacha20", bytes(64), bytes(32), bytes(12), 2**32 - 1)
    assert code("chacha20_poly1305_decrypt", b"abc", bytes(32), bytes(12)) == "E501"
    assert code("rc4", b"a", b"key") == "E501"


def test_rc4_gives_the_stream_of_rfc_6229() -> None:
    assert call("rc4", bytes(16), bytes([1, 2, 3, 4, 5])).hex() == "b2396305f03dc027ccc3524a0a1118a8"


@given(DATA, st.binary(min_size=1, max_size=9))
def test_xor_is_the_one_written_out(data: bytes, key: bytes) -> None:
    told = bytes(byte ^ key[place % len(key)] for place, byte in enumerate(data))
    assert call("xor_bytes", data, key) == told
    assert call("xor_bytes", told, key) == data
    assert code("xor_bytes", data, b"") == "E501"
