"""Digests that `hashing` does not have, CRC checksums with any polynomial, and check digits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, names_help, unknown_name
from dia_language.functions import hashing
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

CRC_BITS = 64
BLAKE_BITS = {"blake2b": 512, "blake2s": 256}


@library_function
def digest(name: str, data: bytes) -> bytes:
    """The digest of `data` by the hash function called `name`.

    `name` is md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384, sha3_512, blake2b, blake2s, md4,
    ripemd160 or keccak256. Raises an error for any other name.

    Examples:
        hex(digest("md4", utf8("abc"))) -> "a448017aaf21d8525fc10ae87aa6729d"
    """
    if name in hashing.HASHES:
        return hashlib.new(name, data, usedforsecurity=False).digest()
    if name not in OTHERS:
        raise unknown_name("hash function", name, [*hashing.HASHES, *OTHERS])
    return OTHERS[name](data)


@library_function
def second_digest(name: str, data: bytes) -> bytes:
    """The digest of `data` by the hash function called `name`, from an independent implementation, for use in `checks`.

    `digest`, `sha256` and the like use Python's standard library; this function uses pycryptodome. `name` is md5,
    sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384, sha3_512, blake2b or blake2s. Raises an error
    for any other name.

    Examples:
        second_digest("sha256", utf8("abc")) == digest("sha256", utf8("abc")) -> True
    """
    if name not in hashing.HASHES:
        help = names_help(name, hashing.HASHES, most=len(hashing.HASHES))
        raise LanguageError(f"`second_digest` does not have the hash function `{name[:50]}`", help)
    charge(len(data) // 64)
    return bytes(_second(name)(data=data).digest())


@cache
def _second(name: str) -> Callable[..., Any]:
    from importlib import import_module

    standard_name = name.upper().replace("BLAKE2B", "BLAKE2b").replace("BLAKE2S", "BLAKE2s")
    make: Callable[..., Any] = import_module(f"Crypto.Hash.{standard_name}").new
    return partial(make, digest_bits=BLAKE_BITS[name]) if name in BLAKE_BITS else make


@library_function
def md4(data: bytes) -> bytes:
    """The MD4 digest of `data`, 16 bytes.

    Not collision-resistant, but still used in old protocols. Source: RFC 1320.

    Examples:
        hex(md4(utf8("abc"))) -> "a448017aaf21d8525fc10ae87aa6729d"
    """
    from Crypto.Hash import MD4

    charge(len(data) // 64)
    return bytes(MD4.new(data).digest())


@library_function
def ripemd160(data: bytes) -> bytes:
    """The RIPEMD-160 digest of `data`, 20 bytes.

    Source: Dobbertin, Bosselaers and Preneel (1996); ISO/IEC 10118-3.

    Examples:
        hex(ripemd160(utf8("abc")))[:16] -> "8eb208f7e05d987a"
    """
    from Crypto.Hash import RIPEMD160

    charge(len(data) // 64)
    return bytes(RIPEMD160.new(data).digest())


@library_function
def keccak256(data: bytes) -> bytes:
    """The Keccak-256 digest of `data`, 32 bytes.

    This is the variant that Ethereum uses. Its padding differs from that of SHA3-256. Source: G. Bertoni and others,
    The Keccak reference (2011).

    Examples:
        hex(keccak256(utf8("")))[:16] -> "c5d2460186f7233c"
    """
    from Crypto.Hash import keccak

    charge(len(data) // 64)
    return bytes(keccak.new(digest_bits=256, data=data).digest())


@library_function
def shake128(data: bytes, length: int) -> bytes:
    """The first `length` bytes of the SHAKE128 output for `data`.

    Source: FIPS 202, section 6.2.

    Examples:
        hex(shake128(utf8(""), 4)) -> "7f9c2ba4"
    """
    return hashlib.shake_128(data).digest(_sized("shake128", length))


@library_function
def shake256(data: bytes, length: int) -> bytes:
    """The first `length` bytes of the SHAKE256 output for `data`.

    Source: FIPS 202, section 6.2.

    Examples:
        hex(shake256(utf8(""), 4)) -> "46b9dd2b"
    """
    return hashlib.shake_256(data).digest(_sized("shake256", length))


@library_function
def crc(data: bytes, width: int, polynomial: int, initial: int = 0, reflected: bool = False, final: int = 0) -> int:
    """The cyclic redundancy check of `data`, `width` bits wide (1 to 64).

    Bit i of `polynomial` is the coefficient of x**i; the highest term, x**width, is left out. For example, 0x8005 is
    x**16 + x**15 + x**2 + 1. If `reflected` is true, the bits of each input byte and of the result are taken lowest
    first. `initial` is the starting value, and the result is XORed with `final`. CRC-16/MODBUS is crc(data, 16, 0x8005,
    0xFFFF, true). Costs one step per byte. Source: R. Williams, A painless guide to CRC error detection algorithms
    (1993).

    Examples:
        crc(utf8("123456789"), 16, 0x8005, 0xFFFF, true) -> 19255
    """
    top = 1 << width if 1 <= width <= CRC_BITS else 0
    if not all(0 <= part < top for part in (polynomial, initial, final)):
        raise LanguageError(f"`crc` needs a width from 1 to {CRC_BITS:,} bits, and numbers that fit into it")
    charge(len(data))
    register = initial
    for byte in data:
        for place in range(8):
            bit = byte >> (place if reflected else 7 - place) & 1
            is_out = register >> (width - 1) & 1 ^ bit
            register = (register << 1 & top - 1) ^ (polynomial if is_out else 0)
    return (int(f"{register:0{width}b}"[::-1], 2) if reflected else register) ^ final


@library_function
def luhn_digit(digits: str) -> str:
    """The check digit that, appended to `digits`, makes a number pass the Luhn check.

    Card numbers and device numbers (IMEI) use it. Source: ISO/IEC 7812-1, annex B.

    Examples:
        luhn_digit("7992739871") -> "3"
    """
    doubled = [value * (2 - place % 2) for place, value in enumerate(reversed(_digits("luhn_digit", digits)))]
    return str(-sum(value // 10 + value % 10 for value in doubled) % 10)


@library_function
def ean_digit(digits: str) -> str:
    """The check digit for the first 7, 11 or 12 digits of an EAN-8, UPC, EAN-13 or ISBN-13 number.

    Source: GS1 General Specifications, section 7.9.

    Examples:
        ean_digit("978030640615") -> "7"
    """
    if len(digits) not in (7, 11, 12):
        raise LanguageError("`ean_digit` takes 7, 11 or 12 digits")
    values = _digits("ean_digit", digits)
    return str(-sum(value * (3 - place % 2 * 2) for place, value in enumerate(reversed(values))) % 10)


@library_function
def isbn10_digit(digits: str) -> str:
    """The check digit for the first nine digits of an ISBN-10: a digit, or X for 10.

    Source: ISO 2108 (edition 3).

    Examples:
        isbn10_digit("030640615") -> "2"
        isbn10_digit("080442957") -> "X"
    """
    if len(digits) != 9:
        raise LanguageError("`isbn10_digit` takes 9 digits")
    total = sum((10 - place) * value for place, value in enumerate(_digits("isbn10_digit", digits)))
    return "X" if -total % 11 == 10 else str(-total % 11)


@library_function
def iban_digits(country: str, account: str) -> str:
    """The two check digits of an IBAN, which are written between the country code and the account number.

    `country` is two uppercase letters. `account` is 1 to 30 digits and uppercase letters. Source: ISO 13616, ISO/IEC
    7064 (MOD 97-10).

    Examples:
        iban_digits("GB", "WEST12345698765432") -> "82"
    """
    is_written = (country + account).isascii() and country.isalpha() and (country + account).isalnum()
    if (
        len(country) != 2
        or not 1 <= len(account) <= 30
        or not is_written
        or (country + account).upper() != (country + account)
    ):
        raise LanguageError(
            "`iban_digits` needs two uppercase letters and an account of 1 to 30 digits and uppercase letters"
        )
    number = int("".join(str(int(sign, 36)) for sign in account + country + "00"))
    return f"{98 - number % 97:02d}"


def _digits(name: str, digits: str) -> list[int]:
    if not digits.isascii() or not digits.isdigit() or len(digits) > 1000:
        raise LanguageError(f"`{name}` needs 1 to 1,000 digits")
    return [int(digit) for digit in digits]


def _sized(name: str, length: int) -> int:
    if not 0 <= length <= TEXT_LENGTH:
        raise LanguageError(f"`{name}` needs a length from 0 to {TEXT_LENGTH:,} bytes", code="E502")
    return length


OTHERS = {"md4": md4, "ripemd160": ripemd160, "keccak256": keccak256}
