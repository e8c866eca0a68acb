"""Bytes and numbers in other signs, checksums and packed bytes against the standard library and published values."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import shutil
import subprocess
import zlib
from itertools import pairwise
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

DATA = st.binary(max_size=80)


@given(DATA)
def test_signs_are_those_of_the_standard_library_and_come_back(data: bytes) -> None:
    assert call("to_base64url", data) == base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert call("to_ascii85", data) == base64.a85encode(data).decode()
    assert call("to_bits", data, "") == (bin(int.from_bytes(b"\1" + data))[3:])
    for name in ("base64url", "base45", "ascii85", "bits"):
        assert call(f"from_{name}", call(f"to_{name}", data)) == data


def test_base45_gives_the_examples_of_rfc_9285() -> None:
    told = {"AB": "BB8", "Hello!!": "%69 VD92EX0", "base-45": "UJCLQE7W581", "ietf!": "QED8WEX0"}  # section 4.3, 4.4
    for text, shown in told.items():
        assert call("to_base45", text.encode()) == shown
        assert call("from_base45", shown) == text.encode()
    for text in ("GGW", ":::", "A", "a00", "00!", "::"):
        assert code("from_base45", text) == "E501"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("from_base64url", ["_=", "__4_==", "+/", "a", "aB"]), ("from_ascii85", ["zz!", "~", "vvvvv", "a b", "é"]),
        ("from_bits", ["1", "0101010", "2" * 8]), ("from_roman", ["", "IIII", "IC", "i", "MMMM", "XIIX", "M" * 9999]),
    ],
)  # fmt: skip
def test_malformed_texts_are_refused(name: str, texts: list[str]) -> None:
    for text in texts:
        assert code(name, text) == "E501"


@given(st.integers(0, 2**200), st.sampled_from(["big", "little"]))
def test_numbers_and_bytes_are_those_of_python(n: int, order: Any) -> None:
    assert call("integer_to_bytes", n, 26, order) == n.to_bytes(26, order)
    assert call("bytes_to_integer", n.to_bytes(26, order), order) == n
    size = (n.bit_length() + 7) // 8
    assert call("bytes_to_integer", call("integer_to_bytes", n, size)) == n
    assert code("integer_to_bytes", 256**size, size) == code("integer_to_bytes", -1, 5) == "E501"
    assert call("from_gray_code", call("gray_code", n)) == n


def test_sizes_are_bounded() -> None:
    assert code("integer_to_bytes", 1, 10**9) == code("bytes_to_integer", bytes(200_000)) == "E502"
    assert code("integer_to_bytes", 1, 1, "middle") == code("bytes_to_integer", b"", "") == "E501"
    assert code("to_bits", bytes(300_000)) == code("to_base45", bytes(600_000)) == "E502"
    assert code("to_ascii85", bytes(600_000)) == code("from_run_lengths", [["a", 10**9]]) == "E502"
    assert (
        code("to_roman", 0) == code("to_roman", 4000) == code("gray_code", -1) == code("from_gray_code", -1) == "E501"
    )
    assert code("from_run_lengths", [["a", -1]]) == code("from_run_lengths", [["a"]]) == "E501"


def test_gray_codes_differ_in_one_digit() -> None:
    codes = [call("gray_code", n) for n in range(256)]
    assert sorted(codes) == list(range(256))
    assert all((one ^ other).bit_count() == 1 for one, other in pairwise(codes))


def test_roman_numerals_are_those_of_the_rule_of_subtraction() -> None:
    assert [call("to_roman", n) for n in (1, 4, 9, 40, 90, 400, 900, 1666, 3999)] == [
        "I", "IV", "IX", "XL", "XC", "CD", "CM", "MDCLXVI", "MMMCMXCIX",
    ]  # fmt: skip
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    for n in range(1, 4000):
        shown = [values[sign] for sign in call("to_roman", n)] + [0]
        assert sum(one if one >= other else -one for one, other in pairwise(shown)) == n
        assert call("from_roman", call("to_roman", n)) == n


@given(st.lists(st.integers(0, 2)))
def test_run_lengths_come_back(items: list[int]) -> None:
    runs = call("run_lengths", items)
    assert [element for element, times in runs for _ in range(times)] == items == call("from_run_lengths", runs)
    assert all(one[0] != other[0] for one, other in pairwise(runs))


@settings(max_examples=examples(30))
@given(DATA)
def test_packed_bytes_are_unpacked_by_the_standard_library_and_back(data: bytes) -> None:
    assert gzip.decompress(call("gzip", data)) == zlib.decompress(call("zlib_compress", data)) == data
    assert call("gunzip", gzip.compress(data)) == call("zlib_decompress", zlib.compress(data)) == data
    assert call("gunzip", call("gzip", data)) == call("zlib_decompress", call("zlib_compress", data)) == data


@pytest.mark.skipif(shutil.which("gzip") is None, reason="needs gzip")
def test_packed_bytes_of_several_blocks_are_unpacked_by_the_command() -> None:
    data = bytes(range(256)) * 600
    told = subprocess.run(["gzip", "-dc"], input=call("gzip", data), capture_output=True, check=True).stdout
    assert told == data == call("gunzip", call("gzip", data))


def test_what_is_packed_badly_is_refused() -> None:
    packed = call("gzip", b"abc")
    for data in (b"", b"abc", packed[:-1], packed + b"x", packed[:-1] + b"\1", zlib.compress(b"a"), packed * 2):
        assert code("gunzip", data) == "E501"
    assert code("zlib_decompress", packed) == "E501"
    bomb = zlib.compress(bytes(2_000_000))
    assert code("zlib_decompress", bomb) == code("gunzip", gzip.compress(bytes(2_000_000))) == "E502"
    assert code("gzip", bytes(1_000_000)) == code("zlib_compress", bytes(1_000_000)) == "E502"


@settings(max_examples=examples(20))
@given(DATA)
def test_digests_by_name_are_those_of_their_functions(data: bytes) -> None:
    names = "md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s"
    for name in [*names.split(), "md4", "ripemd160", "keccak256"]:
        assert call("digest", name, data) == call(name, data)
    assert call("shake128", data, 50) == hashlib.shake_128(data).digest(50)
    told = hashes.Hash(hashes.SHAKE256(33))
    told.update(data)
    assert call("shake256", data, 33) == told.finalize()


def test_further_digests_give_published_values() -> None:
    # RFC 1320, appendix A.5; Dobbertin and others, appendix B; the empty input of Keccak, as Ethereum's yellow paper has it
    assert call("md4", b"message digest").hex() == "d9130a8164549fe818874806e1c7014b"
    assert call("ripemd160", b"").hex() == "9c1185a5c5e9fc54612808977ee8f548b2258d31"
    assert call("ripemd160", b"message digest").hex() == "5d0689ef49d2fae572b881b123a85ffa21595f36"
    assert call("keccak256", b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert code("digest", "md6", b"") == "E501" and code("shake128", b"", 10**9) == code("shake256", b"", -1) == "E502"


# Name, arguments and check value for 123456789: R. Williams and the catalogue of G. Cook
CRCS = [
    ("CRC-8/SMBUS", (8, 0x07), 0xF4), ("CRC-16/ARC", (16, 0x8005, 0, True), 0xBB3D),
    ("CRC-16/XMODEM", (16, 0x1021), 0x31C3), ("CRC-16/IBM-3740", (16, 0x1021, 0xFFFF), 0x29B1),
    ("CRC-16/KERMIT", (16, 0x1021, 0, True), 0x2189), ("CRC-24/OPENPGP", (24, 0x864CFB, 0xB704CE), 0x21CF02),
    ("CRC-32/BZIP2", (32, 0x04C11DB7, 0xFFFFFFFF, False, 0xFFFFFFFF), 0xFC891918),
    ("CRC-32/ISCSI", (32, 0x1EDC6F41, 0xFFFFFFFF, True, 0xFFFFFFFF), 0xE3069283),
    ("CRC-5/USB", (5, 0x05, 0x1F, True, 0x1F), 0x19),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "told"), CRCS)
def test_checks_are_those_of_the_catalogue(name: str, arguments: tuple[Any, ...], told: int) -> None:
    assert call("crc", b"123456789", *arguments) == told, name


@given(DATA)
def test_checks_are_those_of_the_standard_library(data: bytes) -> None:
    assert call("crc", data, 32, 0x04C11DB7, 0xFFFFFFFF, True, 0xFFFFFFFF) == zlib.crc32(data)
    assert call("crc", data, 16, 0x1021) == binascii.crc_hqx(data, 0)
    for arguments in ((0, 0), (65, 0), (8, 256), (8, 7, -1), (8, 7, 0, True, 256)):
        assert code("crc", data, *arguments) == "E501"


def test_check_digits_are_those_of_real_numbers() -> None:
    cards = ["4111111111111111", "5500005555555559", "378282246310005", "6011000990139424", "490154203237518"]
    assert [call("luhn_digit", card[:-1]) for card in cards] == [card[-1] for card in cards]
    articles = ["4006381333931", "9780306406157", "036000291452", "96385074", "73513537"]
    assert [call("ean_digit", number[:-1]) for number in articles] == [number[-1] for number in articles]
    books = ["0306406152", "080442957X", "0131103628", "3540678654"]
    assert [call("isbn10_digit", book[:-1]) for book in books] == [book[-1] for book in books]
    accounts = ["DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947"]
    assert [call("iban_digits", account[:2], account[4:]) for account in accounts] == [a[2:4] for a in accounts]


def test_numbers_without_a_check_digit_are_refused() -> None:
    for name, text in (("luhn_digit", ""), ("luhn_digit", "1a"), ("luhn_digit", "²"), ("ean_digit", "123")):
        assert code(name, text) == "E501"
    assert code("isbn10_digit", "12345678") == code("isbn10_digit", "12345678X") == "E501"
    for country, account in (
        ("D", "1"),
        ("de", "1"),
        ("DE", ""),
        ("DE", "1" * 31),
        ("D1", "1"),
        ("DÉ", "1"),
        ("DE", "a"),
    ):
        assert code("iban_digits", country, account) == "E501"
