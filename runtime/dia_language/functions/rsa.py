"""RSA: keys as records of n, e, d, p and q (n and e alone for a public one), padding and PEM texts."""

from __future__ import annotations

from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.argument_types import RsaKey
from dia_language.functions.modular import lcm, mod_inverse, mod_pow
from dia_language.functions.registry import library_function
from dia_language.limits import PRIME_BITS
from dia_language.numbers.values import Record

HASHES = {"md5": "MD5", "sha1": "SHA1", "sha224": "SHA224", "sha256": "SHA256", "sha384": "SHA384", "sha512": "SHA512"}
PUBLIC = ("n", "e")
PRIVATE = ("n", "e", "d", "p", "q")


@library_function
def rsa_key(p: int, q: int, e: int = 65537) -> Record:
    """RSA key with these two primes and this public exponent: a record of n, e, d, p and q.

    `d` is the inverse of e modulo lcm(p - 1, q - 1). Whether p and q are prime is not looked into, but they
    differ and are odd; e is odd, above 1, and prime to both less one. n has at most 8,192 bits.
    Source: RFC 8017, section 3.

    >>> rsa_key(61, 53, 17)
    {'n': 3233, 'e': 17, 'd': 413, 'p': 61, 'q': 53}
    """
    if p == q or min(p, q) < 3 or p % 2 == 0 or q % 2 == 0:
        raise LanguageError("`rsa_key` needs two different odd primes")
    if e < 3 or e % 2 == 0:
        raise LanguageError("`rsa_key` needs an odd public exponent above 1")
    if (p * q).bit_length() > PRIME_BITS:
        raise LanguageError(f"an RSA key has at most {PRIME_BITS} bits", code="E502")
    return Record(n=p * q, e=e, d=mod_inverse(e, lcm(p - 1, q - 1)), p=p, q=q)


@library_function
def rsa_encrypt(key: RsaKey, number: int) -> int:
    """Number to the public exponent modulo n: RSA without padding.

    The number is from 0 to n - 1. Source: RFC 8017, section 5.1.1.

    >>> rsa_encrypt(rsa_key(61, 53, 17), 65)
    2790
    """
    return mod_pow(_below(key, number), key["e"], key["n"])


@library_function
def rsa_decrypt(key: RsaKey, number: int) -> int:
    """Number whose `rsa_encrypt` is the number given: RSA without padding.

    The number is from 0 to n - 1; the key is a private one. Source: RFC 8017, section 5.1.2.

    >>> rsa_decrypt(rsa_key(61, 53, 17), 2790)
    65
    """
    return mod_pow(_below(key, number), _private("rsa_decrypt", key)["d"], key["n"])


@library_function
def rsa_oaep_encrypt(key: RsaKey, message: bytes, seed: bytes, name: str = "sha1") -> bytes:
    """RSA-OAEP ciphertext of the message, as long as n; the mask is MGF1 with the same hash function.

    The seed has the length of a digest (20 bytes with sha1), the message at most n's bytes less two digests
    and 2; the label is empty. Hash functions: md5, sha1, sha224, sha256, sha384, sha512. A key of 1,024 to
    8,192 bits. Source: RFC 8017, section 7.1.1.

    >>> key = rsa_key(2**607 - 1, 2**521 - 1)
    >>> rsa_oaep_decrypt(key, rsa_oaep_encrypt(key, b"abc", bytes(20)))
    b'abc'
    """
    hashed = _hash(name)
    size = hashed.digest_size
    if len(seed) != size:
        raise LanguageError(f"`rsa_oaep_encrypt` takes a seed of {size} bytes with {name}; this one has {len(seed)}")
    room = _bytes(key) - 2 * size - 2
    if len(message) > room:
        raise LanguageError(f"this key has room for {max(room, 0)} bytes with {name}; the message has {len(message)}")
    return bytes(_oaep(key, hashed, PUBLIC, seed).encrypt(message))


@library_function
def rsa_oaep_decrypt(key: RsaKey, ciphertext: bytes, name: str = "sha1") -> bytes:
    """Message whose `rsa_oaep_encrypt` is the ciphertext.

    The key is a private one. An error for a ciphertext that does not belong to it, and for another hash
    function. Source: RFC 8017, section 7.1.2.

    >>> key = rsa_key(2**607 - 1, 2**521 - 1)
    >>> rsa_oaep_decrypt(key, rsa_oaep_encrypt(key, b"abc", bytes(32), "sha256"), "sha256")
    b'abc'
    """
    cipher = _oaep(_private("rsa_oaep_decrypt", key), _hash(name), PRIVATE, b"")
    try:
        return bytes(cipher.decrypt(ciphertext))
    except (ValueError, TypeError):
        raise LanguageError("the ciphertext does not belong to this key and hash function") from None


@library_function
def rsa_sign(key: RsaKey, message: bytes, name: str = "sha256") -> bytes:
    """Signature of the message (PKCS #1 v1.5), as long as n, over its digest by the named hash function.

    The key is a private one of 1,024 to 8,192 bits. Source: RFC 8017, section 8.2.1.

    >>> key = rsa_key(2**607 - 1, 2**521 - 1)
    >>> rsa_verify(key, b"abc", rsa_sign(key, b"abc"))
    True
    """
    from Crypto.Signature import pkcs1_15

    hashed = _hash(name)
    built = _built(_private("rsa_sign", key), PRIVATE)
    return bytes(pkcs1_15.new(built).sign(hashed.new(message)))


@library_function
def rsa_verify(key: RsaKey, message: bytes, signature: bytes, name: str = "sha256") -> bool:
    """Whether the signature is the one that `rsa_sign` gives for the message.

    The public key is enough. Source: RFC 8017, section 8.2.2.

    >>> key = rsa_key(2**607 - 1, 2**521 - 1)
    >>> rsa_verify(key, b"abd", rsa_sign(key, b"abc"))
    False
    """
    from Crypto.Signature import pkcs1_15

    hashed = _hash(name)
    try:
        pkcs1_15.new(_built(key, PUBLIC)).verify(hashed.new(message), signature)
    except ValueError:
        return False
    return True


@library_function
def rsa_private_pem(key: RsaKey) -> str:
    """PEM text of the private key (PKCS #8, not encrypted), without a newline at its end.

    A key of 1,024 to 8,192 bits. Source: RFC 5208, RFC 7468.

    >>> rsa_private_pem(rsa_key(2**607 - 1, 2**521 - 1))[:27]
    '-----BEGIN PRIVATE KEY-----'
    """
    built = _built(_private("rsa_private_pem", key), PRIVATE)
    return bytes(built.export_key("PEM", pkcs=8)).decode("ascii")


@library_function
def rsa_public_pem(key: RsaKey) -> str:
    """PEM text of the public key (SubjectPublicKeyInfo), without a newline at its end.

    A key of 1,024 to 8,192 bits. Source: RFC 5280, RFC 7468.

    >>> rsa_public_pem(rsa_key(2**607 - 1, 2**521 - 1))[:26]
    '-----BEGIN PUBLIC KEY-----'
    """
    return bytes(_built(key, PUBLIC).export_key("PEM")).decode("ascii")


@library_function
def rsa_from_pem(text: str) -> Record:
    """Key that the PEM text holds: n, e, d, p and q of a private one, n and e of a public one.

    Reads PKCS #1, PKCS #8 and SubjectPublicKeyInfo; an error for another text, for an encrypted key and for
    numbers that do not belong together.

    >>> key = rsa_key(2**607 - 1, 2**521 - 1)
    >>> rsa_from_pem(rsa_private_pem(key)) == key
    True
    """
    from Crypto.PublicKey import RSA

    charge(len(text))
    if len(text) > 2 * PRIME_BITS:
        raise LanguageError(f"a PEM text has at most {2 * PRIME_BITS} characters here", code="E502")
    try:
        read = RSA.import_key(text)
    except (ValueError, IndexError, TypeError, UnicodeEncodeError):
        raise LanguageError("the text is no RSA key in PEM") from None
    names = PRIVATE if read.has_private() else PUBLIC
    return Record((name, int(getattr(read, name))) for name in names)


def _oaep(key: RsaKey, hashed: Any, names: tuple[str, ...], seed: bytes) -> Any:
    from Crypto.Cipher import PKCS1_OAEP

    return PKCS1_OAEP.new(_built(key, names), hashAlgo=hashed, randfunc=lambda size: seed[:size])


def _built(key: RsaKey, names: tuple[str, ...]) -> Any:
    from Crypto.PublicKey import RSA

    bits = key["n"].bit_length()
    if not 1024 <= bits <= PRIME_BITS:
        raise LanguageError(f"a key of 1024 to {PRIME_BITS} bits is needed; this one has {bits}")
    if not 1 < key["e"] < key["n"] or key["e"] % 2 == 0 or key["n"] % 2 == 0:
        raise LanguageError("the numbers of this key do not belong together")
    charge(bits * (bits // 64) ** 2 // 100)
    return RSA.construct(tuple(key[name] for name in names), consistency_check=False)


def _private(name: str, key: RsaKey) -> RsaKey:
    if not all(part in key for part in PRIVATE):
        raise LanguageError(f"`{name}` needs a private key, with n, e, d, p and q")
    n, e, d, p, q = (key[part] for part in PRIVATE)
    if min(p, q, d) < 2 or p * q != n or e * d % lcm(p - 1, q - 1) != 1:
        raise LanguageError("the numbers of this key do not belong together", "`rsa_key` makes one of two primes")
    return key


def _below(key: RsaKey, number: int) -> int:
    if not 0 <= number < key["n"]:
        raise LanguageError("the number is from 0 to n - 1")
    return number


def _bytes(key: RsaKey) -> int:
    return int((key["n"].bit_length() + 7) // 8)


def _hash(name: str) -> Any:
    from importlib import import_module

    if name not in HASHES:
        raise LanguageError(
            "RSA is used here with no hash function of this name",
            did_you_mean(name, HASHES) or f"there are {', '.join(HASHES)}",
        )
    return import_module(f"Crypto.Hash.{HASHES[name]}")
