"""Deriving keys and password hashes from secrets. Salts and iteration counts are arguments; nothing is random."""

from __future__ import annotations

import hashlib

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.encoding import utf8
from dia_language.functions.hashing import hmac
from dia_language.functions.registry import library_function

KEY_LENGTH = 65_536
SCRYPT_MEMORY = 2**18
SCRYPT_WORK = 2**20
SHADOW_ROUNDS = 100_000
CRYPT64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SALT = frozenset(CRYPT64)
DERIVING = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512")

# The digest bytes encoded by each four characters, highest first: Drepper, step 22, and the order of md5-crypt
MD5_ORDER = "0 6 12, 1 7 13, 2 8 14, 3 9 15, 4 10 5, 11"
SHA256_ORDER = "0 10 20, 21 1 11, 12 22 2, 3 13 23, 24 4 14, 15 25 5, 6 16 26, 27 7 17, 18 28 8, 9 19 29, 31 30"
SHA512_ORDER = (
    "0 21 42, 22 43 1, 44 2 23, 3 24 45, 25 46 4, 47 5 26, 6 27 48, 28 49 7, 50 8 29, 9 30 51, 31 52 10, "
    "53 11 32, 12 33 54, 34 55 13, 56 14 35, 15 36 57, 37 58 16, 59 17 38, 18 39 60, 40 61 19, 62 20 41, 63"
)


@library_function
def pbkdf2(password: bytes, salt: bytes, iterations: int, length: int, name: str = "sha256") -> bytes:
    """A key of `length` bytes derived from `password` by PBKDF2, with HMAC and the hash function called `name`.

    `name` is md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384 or sha3_512. Each iteration of
    each block costs one step; 1,000,000 iterations of one block fit into the budget of an evaluation. Source: RFC 8018,
    section 5.2.

    Examples:
        hex(pbkdf2(utf8("password"), utf8("salt"), 1, 20, "sha1")) -> "0c60c80f961f0e71f3a9b524af6012062fe037a6"
    """
    size = len(hashlib.new(_deriving(name)).digest())
    _sized("pbkdf2", length)
    if iterations < 1:
        raise LanguageError("`pbkdf2` needs 1 or more iterations")
    charge(iterations * -(-length // size))
    return hashlib.pbkdf2_hmac(name, password, salt, iterations, length)


@library_function
def hkdf(secret: bytes, salt: bytes, info: bytes, length: int, name: str = "sha256") -> bytes:
    """A key of `length` bytes derived from `secret` by HKDF with the hash function called `name`.

    `name` is md5, sha1, sha224, sha256, sha384, sha512, sha3_224, sha3_256, sha3_384 or sha3_512. `length` can be at
    most 255 times the length of a digest. Source: RFC 5869.

    Examples:
        hex(hkdf(utf8("secret"), utf8("salt"), utf8("session"), 8)) -> "2baf2709adcaa8e0"
    """
    size = len(hashlib.new(_deriving(name)).digest())
    if not 1 <= length <= 255 * size:
        raise LanguageError(
            f"`hkdf` needs a length from 1 to {255 * size} bytes with {name}", code="E502" if length > 0 else "E501"
        )
    extracted = hmac(salt or bytes(size), secret, name)
    block, key = b"", b""
    for place in range(1, -(-length // size) + 1):
        block = hmac(extracted, block + info + bytes([place]), name)
        key += block
    return key[:length]


@library_function
def scrypt(password: bytes, salt: bytes, n: int, r: int, p: int, length: int) -> bytes:
    """A key of `length` bytes derived from `password` by scrypt.

    `n` must be a power of 2 greater than 1, n * r at most 262,144 (32 MiB), and n * r * p at most 1,048,576. Source:
    RFC 7914.

    Examples:
        hex(scrypt(utf8(""), utf8(""), 16, 1, 1, 64))[:32] -> "77d6576238657b203b19ca42c18a0497"
    """
    _sized("scrypt", length)
    if n < 2 or n & (n - 1) or r < 1 or p < 1:
        raise LanguageError("`scrypt` needs `n` to be a power of 2 greater than 1, and positive `r` and `p`")
    if n * r > SCRYPT_MEMORY or n * r * p > SCRYPT_WORK:
        raise LanguageError(
            f"`scrypt` needs n * r up to {SCRYPT_MEMORY:,} and n * r * p up to {SCRYPT_WORK:,}", code="E502"
        )
    charge(n * r * p)
    return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=2**26, dklen=length)


@library_function
def shadow_hash(password: str, salt: str, scheme: str = "sha512", rounds: int = 5000) -> str:
    """The entry for a password in a Unix shadow file, such as $6$salt$hash.

    `scheme` is sha512 ($6$), sha256 ($5$) or md5 ($1$). `salt` is 1 to 16 characters (for md5, 1 to 8) from
    ./0-9A-Za-z. `rounds` must be from 1,000 to 100,000 and is written into the entry unless it is 5,000; md5 always
    uses 1,000 rounds. The password has at most 256 bytes. Source: U. Drepper, "Unix crypt using SHA-256 and SHA-512"
    (2008); P.-H. Kamp's md5crypt.

    Examples:
        shadow_hash("Hello world!", "saltstring", "sha256")
            -> "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
    """
    secret = utf8(password)
    if scheme not in ("md5", "sha256", "sha512"):
        raise LanguageError("unknown scheme of `shadow_hash`", "use md5, sha256 or sha512")
    if not 1 <= len(salt) <= (8 if scheme == "md5" else 16) or not SALT.issuperset(salt):
        raise LanguageError("the salt must be 1 to 16 (with md5, 1 to 8) characters from ./0-9A-Za-z")
    if len(secret) > 256:
        raise LanguageError("`shadow_hash` accepts passwords of at most 256 bytes", code="E502")
    if scheme == "md5":
        return f"$1${salt}${_crypt64(_md5_crypt(secret, salt.encode()), MD5_ORDER)}"
    if not 1000 <= rounds <= SHADOW_ROUNDS:
        raise LanguageError(f"`shadow_hash` needs 1,000 to {SHADOW_ROUNDS:,} rounds", code="E502")
    charge(rounds)
    rounds_field = "" if rounds == 5000 else f"rounds={rounds}$"
    order, mark = (SHA256_ORDER, "5") if scheme == "sha256" else (SHA512_ORDER, "6")
    return f"${mark}${rounds_field}{salt}${_crypt64(_sha_crypt(secret, salt.encode(), scheme, rounds), order)}"


@library_function
def ntlm_hash(password: str) -> bytes:
    """The NTLM hash of the password as Windows stores it: the MD4 digest of its UTF-16 form, 16 bytes.

    Source: Microsoft, MS-NLMP, section 3.3.1 (NTOWFv1).

    Examples:
        hex(ntlm_hash("password")) -> "8846f7eaee8fb117ad06bdd830b7586c"
    """
    from Crypto.Hash import MD4

    utf8(password)
    return bytes(MD4.new(password.encode("utf-16-le")).digest())


@library_function
def hotp(secret: bytes, counter: int, length: int = 6, name: str = "sha1") -> str:
    """The one-time code (HOTP) of `length` digits for `counter`.

    `name` is the hash function. For a time-based code (TOTP), the counter is the Unix time divided by 30, rounded down.
    `length` must be from 6 to 10 and `counter` from 0 to 2**64 - 1. Source: RFC 4226, section 5.3; RFC 6238.

    Examples:
        hotp(utf8("12345678901234567890"), 0) -> "755224"
        hotp(utf8("12345678901234567890"), 59 // 30, 8) -> "94287082"
    """
    if not 0 <= counter < 2**64 or not 6 <= length <= 10:
        raise LanguageError("`hotp` needs a counter from 0 to 2**64 - 1 and a length from 6 to 10")
    digest = hmac(secret, counter.to_bytes(8), _deriving(name))
    at = digest[-1] & 15
    number = int.from_bytes(digest[at : at + 4]) & 0x7FFFFFFF
    return str(number % 10**length).rjust(length, "0")


def _md5_crypt(secret: bytes, salt: bytes) -> bytes:
    charge(1000)
    other = _digest("md5", secret + salt + secret)
    message = secret + b"$1$" + salt + _stretched(other, len(secret))
    size = len(secret)
    while size:
        message += b"\0" if size & 1 else secret[:1]
        size >>= 1
    digest = _digest("md5", message)
    for turn in range(1000):
        digest = _digest("md5", _turned(turn, digest, secret, salt))
    return digest


def _sha_crypt(secret: bytes, salt: bytes, name: str, rounds: int) -> bytes:
    other = _digest(name, secret + salt + secret)
    message = secret + salt + _stretched(other, len(secret))
    size = len(secret)
    while size:
        message += other if size & 1 else secret
        size >>= 1
    digest = _digest(name, message)
    p = _stretched(_digest(name, secret * len(secret)), len(secret))
    s = _stretched(_digest(name, salt * (16 + digest[0])), len(salt))
    for turn in range(rounds):
        digest = _digest(name, _turned(turn, digest, p, s))
    return digest


def _turned(turn: int, digest: bytes, secret: bytes, salt: bytes) -> bytes:
    """The input of one round, which is the same in both schemes."""
    middle = (salt if turn % 3 else b"") + (secret if turn % 7 else b"")
    return secret + middle + digest if turn & 1 else digest + middle + secret


def _stretched(digest: bytes, size: int) -> bytes:
    return (digest * (size // len(digest) + 1))[:size]


def _crypt64(digest: bytes, order: str) -> str:
    groups = [[digest[int(place)] for place in group.split()] for group in order.split(", ")]
    return "".join(map(_signs, groups))


def _signs(group: list[int]) -> str:
    number = int.from_bytes(bytes(group))
    return "".join(CRYPT64[number >> 6 * place & 63] for place in range(len(group) + 1))


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.new(name, data, usedforsecurity=False).digest()


def _deriving(name: str) -> str:
    if name not in DERIVING:
        raise unknown_name("hash function for keys", name, DERIVING)
    return name


def _sized(name: str, length: int) -> None:
    if not 1 <= length <= KEY_LENGTH:
        raise LanguageError(
            f"`{name}` needs a length from 1 to {KEY_LENGTH:,} bytes", code="E502" if length > 0 else "E501"
        )
