"""Searches for keys against a search of the package cryptography, key by key."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.binary(min_size=16, max_size=16)
TEXTS = st.text("".join(map(chr, range(32, 127))), min_size=1, max_size=70).map(str.encode)


def call(*arguments: Any) -> Any:
    reset()
    return library()["aes_candidates"].call(*arguments)


def encrypted(text: bytes, key: bytes) -> bytes:
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(padder.update(text) + padder.finalize()) + encryptor.finalize()


def decrypted(data: bytes, key: bytes) -> bytes:
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def is_shown(plain: bytes) -> bool:
    """Visible ASCII, as it stands or in front of padding."""
    unpadder = padding.PKCS7(128).unpadder()
    with suppress(ValueError):
        plain = unpadder.update(plain) + unpadder.finalize()
    return re.fullmatch(rb"[ -~]*", plain) is not None


@given(key=KEYS, text=TEXTS)
@settings(max_examples=examples(40), deadline=None)
def test_candidates_are_those_of_a_search_key_by_key(key: bytes, text: bytes) -> None:
    data = encrypted(text, key)
    searched = [key[:15] + bytes([last]) for last in range(256) if is_shown(decrypted(data, key[:15] + bytes([last])))]
    assert key in searched
    assert call(data, key[:15]) == searched
    assert call(data, key) == [key]


# The two last bytes run from 00 00 on: the sixteenth byte decides whether a block is text.
@pytest.mark.parametrize("text", [b"", b"Meet me.", b"Meet me at noon.", b"Meet me at noon, where we have met."])
def test_two_unknown_bytes_are_found(text: bytes) -> None:
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    data = encrypted(text, key)
    assert key in call(data, key[:14])
    assert all(is_shown(decrypted(data, found)) for found in call(data, key[:14]))


def test_blocks_that_no_key_makes_text_have_no_candidates() -> None:
    key = bytes(range(16))
    assert call(encrypted(b"\x80" * 16, key), key[:15]) == []
    assert call(encrypted(b"text\n", key), key) == []


@pytest.mark.long
def test_candidates_of_one_block_without_padding_are_those_of_the_whole_search() -> None:
    """All 65,536 keys, of a block under which texts of two signs and padding are likely too."""
    key = bytes(14) + b"\x01\x02"
    data = decrypted(bytes(16), key)
    searched = [
        candidate for rest in range(2**16) if is_shown(decrypted(data, candidate := key[:14] + rest.to_bytes(2)))
    ]
    assert call(data, key[:14]) == searched


@pytest.mark.parametrize(
    ("data", "known"),
    [
        (bytes(16), bytes(13)),
        (bytes(16), bytes(17)),
        (b"", bytes(14)),
        (bytes(15), bytes(14)),
        (bytes(65_552), bytes(14)),
    ],
)
def test_other_sizes_are_refused(data: bytes, known: bytes) -> None:
    with pytest.raises(LanguageError, match="`aes_candidates` needs"):
        call(data, known)
