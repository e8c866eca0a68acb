"""Digital signatures and key agreement on elliptic curves. Nonces are arguments; nothing is random."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.argument_types import Curve, Point
from dia_language.functions.elliptic_curves import base_point, is_on_curve, named_curve, point_add, point_multiply
from dia_language.functions.hashing import HASHES, hmac
from dia_language.functions.registry import library_function
from dia_language.numbers.values import Record

SIZE = 32
COST = 40


@library_function
def ecdsa_sign(curve: Curve, key: int, digest: bytes, nonce: int) -> Record:
    """The ECDSA signature of `digest` on a named curve: a record of r and s.

    `key` and `nonce` must be from 1 to n - 1. If the digest is longer than n, only its leading bits are used. Raises an
    error for a nonce for which r or s is 0. Source: FIPS 186-5, section 6.4.1.

    Examples:
        ecdsa_sign(named_curve("P-256"), 5, sha256(utf8("abc")), 7).r % 1000 -> 771
    """
    base, n = base_point(curve), _order(curve)
    if not (0 < key < n and 0 < nonce < n):
        raise LanguageError("key and nonce must be from 1 to n - 1")
    point = point_multiply(curve, nonce, base)
    r = point["x"] % n if point else 0
    s = pow(nonce, -1, n) * (_leading(digest, n) + r * key) % n
    if not r or not s:
        raise LanguageError("this nonce does not give a signature", "use another nonce")
    return Record(r=r, s=s)


@library_function
def ecdsa_verify(curve: Curve, public: Point, digest: bytes, signature: Record) -> bool:
    """Whether `signature`, a record of r and s, is a valid ECDSA signature of `digest` for the public key `public`.

    Raises an error if the public key is not on the curve. Source: FIPS 186-5, section 6.4.2.

    Examples:
        ecdsa_verify(named_curve("P-256"), point_multiply(named_curve("P-256"), 5, base_point(named_curve("P-256"))),
            sha256(utf8("abc")), ecdsa_sign(named_curve("P-256"), 5, sha256(utf8("abc")), 7)) -> True
    """
    base, n = base_point(curve), _order(curve)
    if public is None or not is_on_curve(curve, public):
        raise LanguageError("the public point is not on the curve")
    r, s = (signature.get(name) for name in "rs")
    if type(r) is not int or type(s) is not int:
        raise LanguageError("the signature must be a record of the integers r and s")
    if not (0 < r < n and 0 < s < n):
        return False
    inverse = pow(s, -1, n)
    first = point_multiply(curve, _leading(digest, n) * inverse % n, base)
    point = point_add(curve, first, point_multiply(curve, r * inverse % n, public))
    return point is not None and point["x"] % n == r


@library_function
def ecdsa_nonce(curve: Curve, key: int, digest: bytes, name: str = "sha256") -> int:
    """The deterministic ECDSA nonce of RFC 6979 for a private key and a digest.

    `name` must be the hash function that produced the digest. Source: RFC 6979, section 3.2.

    Examples:
        ecdsa_nonce(named_curve("P-256"), 5, sha256(utf8("abc"))) % 1000 -> 925
    """
    n = _order(curve)
    if name not in HASHES:
        raise unknown_name("hash function", name, HASHES)
    if not 0 < key < n:
        raise LanguageError("the key must be from 1 to n - 1")
    size = (n.bit_length() + 7) // 8
    seed = key.to_bytes(size) + (_leading(digest, n) % n).to_bytes(size)
    return _generated(seed, n, name)


def _generated(seed: bytes, n: int, name: str) -> int:
    """The first number from 1 to n - 1 that HMAC_DRBG generates."""
    width = len(hmac(b"", b"", name))
    k, v = bytes(width), b"\1" * width
    for mark in (b"\0", b"\1"):
        k = hmac(k, v + mark + seed, name)
        v = hmac(k, v, name)
    while True:
        charge(1)
        stream = b""
        while 8 * len(stream) < n.bit_length():
            v = hmac(k, v, name)
            stream += v
        number = _leading(stream, n)
        if 0 < number < n:
            return number
        k = hmac(k, v + b"\0", name)
        v = hmac(k, v, name)


@library_function
def ed25519_public_key(key: bytes) -> bytes:
    """The 32-byte Ed25519 public key for a 32-byte private key.

    Source: RFC 8032, section 5.1.5.

    Examples:
        hex(ed25519_public_key(utf8("thirty-two bytes of private key!")))[:16] -> "e1866cb3d5997dc7"
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private_key = Ed25519PrivateKey.from_private_bytes(_sized("ed25519_public_key", "key", key, SIZE))
    return private_key.public_key().public_bytes_raw()


@library_function
def ed25519_sign(key: bytes, message: bytes) -> bytes:
    """The 64-byte Ed25519 signature of `message` with a 32-byte private key.

    Source: RFC 8032, section 5.1.6.

    Examples:
        hex(ed25519_sign(utf8("thirty-two bytes of private key!"), utf8("abc")))[:16] -> "9b409e6a76f2b759"
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    charge(COST + len(message) // 64)
    return Ed25519PrivateKey.from_private_bytes(_sized("ed25519_sign", "key", key, SIZE)).sign(message)


@library_function
def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` (64 bytes) is a valid Ed25519 signature of `message` for the public key `public`.

    Source: RFC 8032, section 5.1.7.

    Examples:
        ed25519_verify(ed25519_public_key(utf8("thirty-two bytes of private key!")), utf8("abc"),
            ed25519_sign(utf8("thirty-two bytes of private key!"), utf8("abc"))) -> True
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    charge(COST + len(message) // 64)
    public_key = Ed25519PublicKey.from_public_bytes(_sized("ed25519_verify", "public key", public, SIZE))
    try:
        public_key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


@library_function
def x25519(key: bytes, public: bytes) -> bytes:
    """The 32-byte shared secret of a private key and another party's public key (X25519).

    Both keys have 32 bytes, lowest byte first. With the public value 9, the result is the public key for `key`. Raises
    an error for a public key that gives an all-zero secret. Source: RFC 7748.

    Examples:
        hex(x25519(sha256(utf8("Ann")), integer_to_bytes(9, 32, "little")))[:16] -> "e97400b6abd515c0"
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    charge(COST)
    own = X25519PrivateKey.from_private_bytes(_sized("x25519", "key", key, SIZE))
    other = X25519PublicKey.from_public_bytes(_sized("x25519", "public key", public, SIZE))
    try:
        return own.exchange(other)
    except ValueError:
        raise LanguageError("this public key gives an all-zero secret") from None


def _order(curve: Curve) -> int:
    """The order of the base point. Only named curves have one, and a record written by hand must equal one of them."""
    if "name" not in curve or curve != named_curve(str(curve["name"])):
        raise LanguageError("ECDSA needs a named curve", "create one with `named_curve`")
    return int(curve["n"])


def _leading(data: bytes, n: int) -> int:
    """The leading bits of the digest as a number, as many as n has."""
    return int.from_bytes(data) >> max(0, 8 * len(data) - n.bit_length())


def _sized(name: str, part: str, data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise LanguageError(f"`{name}` needs a {part} of {size} bytes; this one has {len(data)}")
    return data
