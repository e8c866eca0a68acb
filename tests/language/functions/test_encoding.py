"""Encodings against coreutils, published vectors and plain arithmetic."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import pytest
from dia_language.diagnostics import LanguageError
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

DATA = [bytes(range(size)) for size in range(12)] + [b"\xff" * 61, bytes(range(256)), b"\0" * 5 + b"a"]
NAMES = ("base16", "base32", "base58", "base64", "base85")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.skipif(shutil.which("basenc") is None, reason="needs the command basenc of coreutils")
@pytest.mark.parametrize("name", ["base16", "base32", "base64"])
def test_encoders_agree_with_coreutils(name: str) -> None:
    for data in DATA:
        told = subprocess.run(["basenc", f"--{name}", "-w0"], input=data, capture_output=True, check=True).stdout
        assert call(f"to_{name}", data) == told.decode()


def test_published_vectors() -> None:
    # RFC 4648, section 10
    assert [call("to_base64", b"foobar"[:n]) for n in range(4)] == ["", "Zg==", "Zm8=", "Zm9v"]
    assert [call("to_base32", b"foobar"[:n]) for n in (1, 5, 6)] == [
        "MY======",
        "MZXW6YTB",
        "MZXW6YTBOI======",
    ]
    assert call("to_base16", b"foobar") == "666F6F626172"
    # draft-msporny-base58-03, section 5
    fox = b"The quick brown fox jumps over the lazy dog."
    assert call("to_base58", fox) == "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"
    assert call("to_base58", bytes.fromhex("0000287fb4cd")) == "11233QC4"


@given(st.binary(max_size=40))
def test_base85_agrees_with_arithmetic(data: bytes) -> None:
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    filled = data + b"\0" * (-len(data) % 4)
    shown = ""
    for at in range(0, len(filled), 4):
        number = int.from_bytes(filled[at : at + 4])
        shown += "".join(alphabet[number // 85**power % 85] for power in (4, 3, 2, 1, 0))
    assert call("to_base85", data) == shown[: len(shown) - (-len(data) % 4)]


@given(st.binary(max_size=60))
def test_decoders_undo_encoders(data: bytes) -> None:
    assert call("from_hex", call("hex", data)) == call("from_hex", call("hex", data).upper()) == data
    assert call("hex", data) == "".join(f"{byte:02x}" for byte in data)
    assert call("bytes_of", call("list_of", data)) == data
    assert call("list_of", data) == [data[at] for at in range(len(data))]
    for name in NAMES:
        text = call("encode", name, data)
        assert text == call(f"to_{name}", data)
        assert call("decode", name, text) == call(f"from_{name}", text) == data


@given(st.sampled_from(NAMES), st.text(alphabet="AB2Z=ab+/1l0~ -_", max_size=10))
def test_a_decoder_takes_nothing_but_what_its_encoder_writes(name: str, text: str) -> None:
    try:
        data = call("decode", name, text)
    except LanguageError:
        return
    assert call("encode", name, data) == text


@given(
    st.binary(max_size=300) | st.builds(bytes.__mul__, st.sampled_from([b"\0", b"\xff", b"\x54"]), st.integers(0, 60))
)
def test_encoders_write_what_pythons_own_write(data: bytes) -> None:
    assert call("to_base32", data) == base64.b32encode(data).decode()
    assert call("to_base85", data) == base64.b85encode(data).decode()
    assert call("from_base85", call("to_base85", data)) == data


NEARLY = st.tuples(st.binary(max_size=12), st.integers(0, 20), st.text("A2Z=~0!a", max_size=2))


@given(
    st.sampled_from([("base32", base64.b32encode, base64.b32decode), ("base85", base64.b85encode, base64.b85decode)]),
    NEARLY,
)
def test_decoders_take_what_pythons_own_decode_and_encode_again(
    codec: tuple[str, Any, Any], given: tuple[bytes, int, str]
) -> None:
    (name, encoder, decoder), (data, place, put) = codec, given
    text = encoder(data).decode()
    text = text[:place] + put + text[place + len(put) :]
    try:
        found = decoder(text)
    except ValueError:
        found = None
    if found is not None and encoder(found).decode() == text:
        assert call(f"from_{name}", text) == found
    else:
        assert code(f"from_{name}", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("from_hex", "0"), ("from_hex", "0g"), ("from_hex", "00 01"), ("from_hex", "٠٠"),
        ("from_base16", "ff"), ("from_base16", "F"),
        ("from_base32", "mzxw6ytb"), ("from_base32", "MY"), ("from_base32", "MZ======"),
        ("from_base32", "M1======"),
        ("from_base64", "Zg"), ("from_base64", "Zh=="), ("from_base64", "Zm9v\n"), ("from_base64", "Zm-_"),
        ("from_base64", "Zg==Zg=="), ("from_base64", "é"),
        ("from_base58", "0"), ("from_base58", "l"), ("from_base58", "1 "),
        ("from_base85", "~~~~~"), ("from_base85", " "), ("from_base85", "0"),
        ("percent_decode", "%"), ("percent_decode", "%4"), ("percent_decode", "%zz"),
        ("percent_decode", "%ff"),
    ],
)  # fmt: skip
def test_malformed_texts_are_refused(name: str, text: str) -> None:
    assert code(name, text) == "E501"


@given(TEXTS)
def test_text_and_bytes(text: str) -> None:
    data = call("utf8", text)
    assert data == b"".join(bytes(ord(c) for c in chr(ord(c)).encode().decode("latin-1")) for c in text)
    assert call("text_of", data) == text


@pytest.mark.parametrize("data", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82"])
def test_what_is_not_utf8_is_refused(data: bytes) -> None:
    assert code("text_of", data) == "E501"


@given(TEXTS)
def test_percents_agree_with_the_standard(text: str) -> None:
    free = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    shown = "".join(chr(b) if chr(b) in free else f"%{b:02X}" for b in text.encode())
    assert call("percent_encode", text) == shown
    assert call("percent_decode", shown) == text
    assert unquote(shown) == text


@given(st.text("%%0aF9gé+ ", max_size=12))
def test_percents_are_read_where_two_digits_follow_and_refused_elsewhere(text: str) -> None:
    data = unquote_to_bytes(text)
    is_text = data.decode(errors="replace").encode() == data
    if is_text and not re.search(r"%(?![0-9A-Fa-f]{2})", text):
        assert call("percent_decode", text) == data.decode()
    else:
        assert code("percent_decode", text) == "E501"


def test_unknown_names_and_wrong_numbers_are_refused() -> None:
    with pytest.raises(LanguageError) as caught:
        call("encode", "base46", b"")
    assert caught.value.help == "did you mean `base64`?"
    assert code("decode", "rot13", "") == code("bytes_of", [256]) == code("bytes_of", [-1]) == "E501"
    assert code("bytes_of", [10**30]) == code("utf8", "\ud800") == "E501"


def test_lengths_are_bounded() -> None:
    for name in ("hex", "to_base16", "to_base32", "to_base64", "to_base85", "to_base58"):
        assert code(name, bytes(600_000)) == "E502"
    assert code("from_base58", "z" * 400_000) == "E502"
    assert code("percent_encode", "a" * 400_000) == "E502"
    large = bytes([255]) * 50_000
    assert call("from_base58", call("to_base58", large)) == large
