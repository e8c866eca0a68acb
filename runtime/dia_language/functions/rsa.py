"""RSA keys, encryption, signatures and PEM. A key is a record of n, e, d, p and q; a public key has only n and e."""

from __future__ import annotations

from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
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
    """The RSA key with the primes `p` and `q` and the public exponent `e`: a record of n, e, d, p and q.

    `d` is the inverse of e modulo lcm(p - 1, q - 1). `p` and `q` must be odd and different; whether they are prime is
    not checked. `e` must be odd, greater than 1, and coprime to p - 1 and q - 1. n can have at most 8,192 bits. Source:
    RFC 8017, section 3.

    Examples:
        rsa_key(61, 53, 17) -> {n: 3233, e: 17, d: 413, p: 61, q: 53}
    """
    if p == q or min(p, q) < 3 or p % 2 == 0 or q % 2 == 0:
        raise LanguageError("`rsa_key` needs two different odd primes")
    if e < 3 or e % 2 == 0:
        raise LanguageError("`rsa_key` needs an odd public exponent greater than 1")
    if (p * q).bit_length() > PRIME_BITS:
        raise LanguageError(f"an RSA key can have at most {PRIME_BITS:,} bits", code="E502")
    return Record(n=p * q, e=e, d=mod_inverse(e, lcm(p - 1, q - 1)), p=p, q=q)


@library_function
def rsa_encrypt(key: RsaKey, number: int) -> int:
    """`number` raised to the public exponent modulo n: textbook RSA without padding.

    `number` must be from 0 to n - 1. Source: RFC 8017, section 5.1.1.

    Examples:
        rsa_encrypt(rsa_key(61, 53, 17), 65) -> 2790
    """
    return mod_pow(_below(key, number), key["e"], key["n"])


@library_function
def rsa_decrypt(key: RsaKey, number: int) -> int:
    """The plaintext number for an `rsa_encrypt` ciphertext: textbook RSA without padding.

    `number` must be from 0 to n - 1. Needs a private key. Source: RFC 8017, section 5.1.2.

    Examples:
        rsa_decrypt(rsa_key(61, 53, 17), 2790) -> 65
    """
    return mod_pow(_below(key, number), _private("rsa_decrypt", key)["d"], key["n"])


@library_function
def rsa_oaep_encrypt(key: RsaKey, message: bytes, seed: bytes, name: str = "sha1") -> bytes:
    """The RSA-OAEP ciphertext of `message`, as long as n. The label is empty; MGF1 uses the same hash function.

    `name` is the hash function: md5, sha1, sha224, sha256, sha384 or sha512. `seed` must be as long as its digest (20
    bytes for sha1), and the message can be at most as long as n minus two digests minus 2 bytes. The key must have
    1,024 to 8,192 bits. Source: RFC 8017, section 7.1.1.

    Examples:
        hex(rsa_oaep_encrypt(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc"), utf8("a seed of 20 bytes!!")))[:16]
            -> "0b6a12950449317f"
    """
    hashed = _hash(name)
    size = hashed.digest_size
    if len(seed) != size:
        raise LanguageError(f"`rsa_oaep_encrypt` needs a seed of {size} bytes with {name}; this one has {len(seed)}")
    room = _bytes(key) - 2 * size - 2
    if len(message) > room:
        raise LanguageError(
            f"with this key and {name}, the message can have at most {max(room, 0)} bytes; it has {len(message)}"
        )
    return bytes(_oaep(key, hashed, PUBLIC, seed).encrypt(message))


@library_function
def rsa_oaep_decrypt(key: RsaKey, ciphertext: bytes, name: str = "sha1") -> bytes:
    """The message of an RSA-OAEP ciphertext.

    Needs a private key. Raises an error if the ciphertext does not match the key, or for an unsupported hash function.
    Source: RFC 8017, section 7.1.2.

    Examples:
        text_of(rsa_oaep_decrypt(rsa_key(2**607 - 1, 2**521 - 1),
            rsa_oaep_encrypt(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc"), utf8("a seed of 20 bytes!!")))) -> "abc"
    """
    cipher = _oaep(_private("rsa_oaep_decrypt", key), _hash(name), PRIVATE, b"")
    try:
        return bytes(cipher.decrypt(ciphertext))
    except (ValueError, TypeError):
        raise LanguageError("the ciphertext does not match this key and hash function") from None


@library_function
def rsa_sign(key: RsaKey, message: bytes, name: str = "sha256") -> bytes:
    """The RSA signature (PKCS #1 v1.5) of `message`, as long as n, with the hash function called `name`.

    Needs a private key of 1,024 to 8,192 bits. Source: RFC 8017, section 8.2.1.

    Examples:
        hex(rsa_sign(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc")))[:16] -> "98b31f2ecc0bd611"
    """
    from Crypto.Signature import pkcs1_15

    hashed = _hash(name)
    built = _built(_private("rsa_sign", key), PRIVATE)
    return bytes(pkcs1_15.new(built).sign(hashed.new(message)))


@library_function
def rsa_verify(key: RsaKey, message: bytes, signature: bytes, name: str = "sha256") -> bool:
    """Whether `signature` is the RSA signature (PKCS #1 v1.5) of `message`.

    Needs only the public key. Source: RFC 8017, section 8.2.2.

    Examples:
        rsa_verify(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc"),
            rsa_sign(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc"))) -> True
        rsa_verify(rsa_key(2**607 - 1, 2**521 - 1), utf8("abd"),
            rsa_sign(rsa_key(2**607 - 1, 2**521 - 1), utf8("abc"))) -> False
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
    """The private key as PEM text (PKCS #8, not encrypted), without a newline at the end.

    The key must have 1,024 to 8,192 bits. Source: RFC 5208, RFC 7468.

    Examples:
        lines(rsa_private_pem(rsa_key(2**607 - 1, 2**521 - 1)))[0] -> "-----BEGIN PRIVATE KEY-----"
    """
    built = _built(_private("rsa_private_pem", key), PRIVATE)
    return bytes(built.export_key("PEM", pkcs=8)).decode("ascii")


@library_function
def rsa_public_pem(key: RsaKey) -> str:
    """The public key as PEM text (SubjectPublicKeyInfo), without a newline at the end.

    The key must have 1,024 to 8,192 bits. Source: RFC 5280, RFC 7468.

    Examples:
        lines(rsa_public_pem(rsa_key(2**607 - 1, 2**521 - 1)))[0] -> "-----BEGIN PUBLIC KEY-----"
    """
    return bytes(_built(key, PUBLIC).export_key("PEM")).decode("ascii")


@library_function
def rsa_from_pem(text: str) -> Record:
    """The key in a PEM text: a record of n, e, d, p and q for a private key, of n and e for a public key.

    Reads PKCS #1, PKCS #8 and SubjectPublicKeyInfo. Raises an error for any other text, for an encrypted key, and for
    inconsistent numbers.

    Examples:
        rsa_from_pem(rsa_private_pem(rsa_key(2**607 - 1, 2**521 - 1))) == rsa_key(2**607 - 1, 2**521 - 1) -> True
    """
    from Crypto.PublicKey import RSA

    charge(len(text))
    if len(text) > 2 * PRIME_BITS:
        raise LanguageError(f"the PEM text exceeds {2 * PRIME_BITS:,} characters", code="E502")
    try:
        read = RSA.import_key(text)
    except (ValueError, IndexError, TypeError, UnicodeEncodeError):
        raise LanguageError("the text is not an RSA key in PEM format") from None
    names = PRIVATE if read.has_private() else PUBLIC
    return Record((name, int(getattr(read, name))) for name in names)


def _oaep(key: RsaKey, hashed: Any, names: tuple[str, ...], seed: bytes) -> Any:
    from Crypto.Cipher import PKCS1_OAEP

    return PKCS1_OAEP.new(_built(key, names), hashAlgo=hashed, randfunc=lambda size: seed[:size])


def _built(key: RsaKey, names: tuple[str, ...]) -> Any:
    from Crypto.PublicKey import RSA

    bits = key["n"].bit_length()
    if not 1024 <= bits <= PRIME_BITS:
        raise LanguageError(f"the key must have 1,024 to {PRIME_BITS:,} bits; this one has {bits}")
    if not 1 < key["e"] < key["n"] or key["e"] % 2 == 0 or key["n"] % 2 == 0:
        raise LanguageError("the numbers of this key are inconsistent")
    charge(bits * (bits // 64) ** 2 // 100)
    return RSA.construct(tuple(key[name] for name in names), consistency_check=False)


def _private(name: str, key: RsaKey) -> RsaKey:
    if not all(part in key for part in PRIVATE):
        raise LanguageError(f"`{name}` needs a private key, with n, e, d, p and q")
    n, e, d, p, q = (key[part] for part in PRIVATE)
    if min(p, q, d) < 2 or p * q != n or e * d % lcm(p - 1, q - 1) != 1:
        raise LanguageError("the numbers of this key are inconsistent", "create a key with `rsa_key`")
    return key


def _below(key: RsaKey, number: int) -> int:
    if not 0 <= number < key["n"]:
        raise LanguageError("the number must be from 0 to n - 1")
    return number


def _bytes(key: RsaKey) -> int:
    return int((key["n"].bit_length() + 7) // 8)


def _hash(name: str) -> Any:
    from importlib import import_module

    if name not in HASHES:
        raise unknown_name("hash function for RSA", name, HASHES)
    return import_module(f"Crypto.Hash.{HASHES[name]}")
