"""Further digests, checksums of any polynomial, and check digits of numbers that people copy by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions import hashing
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

CRC_BITS = 64
BLAKE_BITS = {"blake2b": 512, "blake2s": 256}


@library_function
def digest(name: str, data: bytes) -> bytes:
    """Digest of the bytes by the named hash function: md5, sha1, sha2 and sha3 in all lengths, blake2b and more.

    The others are blake2s, md4, ripemd160 and keccak256. An error for another name.

    >>> digest("md4", b"abc") == md4(b"abc")
    True
    """
    if name in hashing.HASHES:
        return hashlib.new(name, data, usedforsecurity=False).digest()
    if name not in OTHERS:
        names = (*hashing.HASHES, *OTHERS)
        raise LanguageError("no hash function has this name", did_you_mean(name, names) or f"there are {names}")
    return OTHERS[name](data)


@library_function
def second_digest(name: str, data: bytes) -> bytes:
    """Digest of the bytes by the named hash function as code of other authors computes it, for checks.

    `digest`, `sha256` and their like ask the standard library; this asks pycryptodome, which has its own code for md5,
    sha1, sha2 and sha3 in all lengths, blake2b and blake2s. An error for another name.

    >>> second_digest("sha256", b"abc") == digest("sha256", b"abc")
    True
    """
    if name not in hashing.HASHES:
        help = did_you_mean(name, hashing.HASHES) or f"there are {', '.join(hashing.HASHES)}"
        raise LanguageError("no hash function of a second origin has this name", help)
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
    """MD4 digest of the bytes, 16 bytes long.

    Broken; found in old protocols. Source: RFC 1320.

    >>> md4(b"abc").hex()
    'a448017aaf21d8525fc10ae87aa6729d'
    """
    from Crypto.Hash import MD4

    charge(len(data) // 64)
    return bytes(MD4.new(data).digest())


@library_function
def ripemd160(data: bytes) -> bytes:
    """RIPEMD-160 digest of the bytes, 20 bytes long.

    Source: Dobbertin, Bosselaers and Preneel (1996); ISO/IEC 10118-3.

    >>> ripemd160(b"abc").hex()[:16]
    '8eb208f7e05d987a'
    """
    from Crypto.Hash import RIPEMD160

    charge(len(data) // 64)
    return bytes(RIPEMD160.new(data).digest())


@library_function
def keccak256(data: bytes) -> bytes:
    """Keccak-256 digest of the bytes, 32 bytes long: that of Ethereum, which pads otherwise than SHA3-256.

    Source: G. Bertoni and others, The Keccak reference (2011).

    >>> keccak256(b"").hex()[:16]
    'c5d2460186f7233c'
    """
    from Crypto.Hash import keccak

    charge(len(data) // 64)
    return bytes(keccak.new(digest_bits=256, data=data).digest())


@library_function
def shake128(data: bytes, length: int) -> bytes:
    """First bytes of the endless digest SHAKE128, so many.

    Source: FIPS 202, section 6.2.

    >>> shake128(b"", 4).hex()
    '7f9c2ba4'
    """
    return hashlib.shake_128(data).digest(_sized("shake128", length))


@library_function
def shake256(data: bytes, length: int) -> bytes:
    """First bytes of the endless digest SHAKE256, so many.

    Source: FIPS 202, section 6.2.

    >>> shake256(b"", 4).hex()
    '46b9dd2b'
    """
    return hashlib.shake_256(data).digest(_sized("shake256", length))


@library_function
def crc(data: bytes, width: int, polynomial: int, initial: int = 0, reflected: bool = False, final: int = 0) -> int:
    """Cyclic redundancy check of the bytes with so many bits, from 1 to 64, in the model of Williams.

    The polynomial is written without its highest bit, the highest of the others first; `reflected` feeds and
    gives the bits of each byte with the lowest first. CRC-16 of Modbus: (data, 16, 0x8005, 0xFFFF, true).
    Costs a step for each byte. Source: R. Williams, A painless guide to CRC error detection algorithms (1993).

    >>> hex(crc(b"123456789", 16, 0x8005, 0xFFFF, True))
    '0x4b37'
    """
    top = 1 << width if 1 <= width <= CRC_BITS else 0
    if not all(0 <= part < top for part in (polynomial, initial, final)):
        raise LanguageError(f"`crc` takes 1 to {CRC_BITS} bits, and numbers that fit into them")
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
    """Digit to be written behind the digits of a card's or device's number, so that it passes Luhn's check.

    Source: ISO/IEC 7812-1, annex B.

    >>> luhn_digit("7992739871")
    '3'
    """
    doubled = [value * (2 - place % 2) for place, value in enumerate(reversed(_digits("luhn_digit", digits)))]
    return str(-sum(value // 10 + value % 10 for value in doubled) % 10)


@library_function
def ean_digit(digits: str) -> str:
    """Digit to be written behind 7, 11 or 12 digits of an article's number: EAN-8, UPC, EAN-13 and ISBN-13.

    Source: GS1 General Specifications, section 7.9.

    >>> ean_digit("978030640615")
    '7'
    """
    if len(digits) not in (7, 11, 12):
        raise LanguageError("`ean_digit` takes 7, 11 or 12 digits")
    values = _digits("ean_digit", digits)
    return str(-sum(value * (3 - place % 2 * 2) for place, value in enumerate(reversed(values))) % 10)


@library_function
def isbn10_digit(digits: str) -> str:
    """Digit, or X for 10, to be written behind the first nine digits of an old ISBN.

    Source: ISO 2108 (edition 3).

    >>> isbn10_digit("030640615"), isbn10_digit("080442957")
    ('2', 'X')
    """
    if len(digits) != 9:
        raise LanguageError("`isbn10_digit` takes 9 digits")
    total = sum((10 - place) * value for place, value in enumerate(_digits("isbn10_digit", digits)))
    return "X" if -total % 11 == 10 else str(-total % 11)


@library_function
def iban_digits(country: str, account: str) -> str:
    """Two check digits of an international bank account number, between country and account.

    The country has two capital letters, the account 1 to 30 digits and capital letters. Source: ISO 13616,
    ISO/IEC 7064 (MOD 97-10).

    >>> iban_digits("GB", "WEST12345698765432")
    '82'
    """
    is_written = (country + account).isascii() and country.isalpha() and (country + account).isalnum()
    if (
        len(country) != 2
        or not 1 <= len(account) <= 30
        or not is_written
        or (country + account).upper() != (country + account)
    ):
        raise LanguageError("an account has two capital letters as country and up to 30 digits and capital letters")
    number = int("".join(str(int(sign, 36)) for sign in account + country + "00"))
    return f"{98 - number % 97:02d}"


def _digits(name: str, digits: str) -> list[int]:
    if not digits.isascii() or not digits.isdigit() or len(digits) > 1000:
        raise LanguageError(f"`{name}` takes 1 to 1000 digits")
    return [int(digit) for digit in digits]


def _sized(name: str, length: int) -> int:
    if not 0 <= length <= TEXT_LENGTH:
        raise LanguageError(f"`{name}` gives 0 to {TEXT_LENGTH} bytes", code="E502")
    return length


OTHERS = {"md4": md4, "ripemd160": ripemd160, "keccak256": keccak256}
