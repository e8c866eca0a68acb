"""Signatures and shared secrets on elliptic curves; a nonce is an argument, never the system's."""

from __future__ import annotations

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.argument_types import Curve, Point
from dia_language.functions.elliptic_curves import base_point, is_on_curve, named_curve, point_add, point_multiply
from dia_language.functions.hashing import HASHES, hmac
from dia_language.functions.registry import library_function
from dia_language.numbers.values import Record

SIZE = 32
COST = 40


@library_function
def ecdsa_sign(curve: Curve, key: int, digest: bytes, nonce: int) -> Record:
    """ECDSA signature of the digest on a named curve, with this private key and nonce: a record of r and s.

    Key and nonce are from 1 to n - 1; a longer digest counts with its first bits. An error for a nonce that
    gives r or s = 0. Source: FIPS 186-5, section 6.4.1.

    >>> c = named_curve("P-256")
    >>> ecdsa_verify(c, point_multiply(c, 5, base_point(c)), bytes(32), ecdsa_sign(c, 5, bytes(32), 7))
    True
    """
    base, n = base_point(curve), _order(curve)
    if not (0 < key < n and 0 < nonce < n):
        raise LanguageError("key and nonce are from 1 to n - 1")
    point = point_multiply(curve, nonce, base)
    r = point["x"] % n if point else 0
    s = pow(nonce, -1, n) * (_leading(digest, n) + r * key) % n
    if not r or not s:
        raise LanguageError("this nonce gives no signature", "take another one")
    return Record(r=r, s=s)


@library_function
def ecdsa_verify(curve: Curve, public: Point, digest: bytes, signature: Record) -> bool:
    """Whether the record of r and s is an ECDSA signature of the digest by the holder of the public point.

    An error for a public point that is not on the curve. Source: FIPS 186-5, section 6.4.2.

    >>> c = named_curve("P-256")
    >>> ecdsa_verify(c, base_point(c), bytes(32), ecdsa_sign(c, 5, bytes(32), 7))
    False
    """
    base, n = base_point(curve), _order(curve)
    if public is None or not is_on_curve(curve, public):
        raise LanguageError("the public point is not on the curve")
    r, s = (signature.get(name) for name in "rs")
    if type(r) is not int or type(s) is not int:
        raise LanguageError("a signature is a record of the integers r and s")
    if not (0 < r < n and 0 < s < n):
        return False
    inverse = pow(s, -1, n)
    first = point_multiply(curve, _leading(digest, n) * inverse % n, base)
    point = point_add(curve, first, point_multiply(curve, r * inverse % n, public))
    return point is not None and point["x"] % n == r


@library_function
def ecdsa_nonce(curve: Curve, key: int, digest: bytes, name: str = "sha256") -> int:
    """Nonce that RFC 6979 derives from private key and digest with HMAC and the named hash function.

    The hash function is that which made the digest. Source: RFC 6979, section 3.2.

    >>> c = named_curve("P-256")
    >>> ecdsa_nonce(c, 5, bytes(32)) == ecdsa_nonce(c, 6, bytes(32))
    False
    """
    n = _order(curve)
    if name not in HASHES:
        raise LanguageError("no hash function has this name", did_you_mean(name, HASHES))
    if not 0 < key < n:
        raise LanguageError("the key is from 1 to n - 1")
    size = (n.bit_length() + 7) // 8
    seed = key.to_bytes(size) + (_leading(digest, n) % n).to_bytes(size)
    return _generated(seed, n, name)


def _generated(seed: bytes, n: int, name: str) -> int:
    """The first number from 1 to n - 1 of the generator HMAC_DRBG."""
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
    """Public key of 32 bytes that belongs to the private key of 32 bytes.

    Source: RFC 8032, section 5.1.5.

    >>> ed25519_public_key(bytes(32)).hex()[:16]
    '3b6a27bcceb6a42d'
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private_key = Ed25519PrivateKey.from_private_bytes(_sized("ed25519_public_key", "key", key, SIZE))
    return private_key.public_key().public_bytes_raw()


@library_function
def ed25519_sign(key: bytes, message: bytes) -> bytes:
    """Ed25519 signature of 64 bytes of the message with the private key of 32 bytes.

    Source: RFC 8032, section 5.1.6.

    >>> ed25519_verify(ed25519_public_key(bytes(32)), b"abc", ed25519_sign(bytes(32), b"abc"))
    True
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    charge(COST + len(message) // 64)
    return Ed25519PrivateKey.from_private_bytes(_sized("ed25519_sign", "key", key, SIZE)).sign(message)


@library_function
def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the 64 bytes are an Ed25519 signature of the message by the holder of the public key.

    Source: RFC 8032, section 5.1.7.

    >>> ed25519_verify(ed25519_public_key(bytes(32)), b"abd", ed25519_sign(bytes(32), b"abc"))
    False
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
    """Secret of 32 bytes that the private key shares with the public key; with 9 the own public key.

    Both have 32 bytes, the lowest first. An error for a public key that gives zeros. Source: RFC 7748.

    >>> nine = bytes([9]) + bytes(31)
    >>> a, b = bytes([1] * 32), bytes([2] * 32)
    >>> x25519(a, x25519(b, nine)) == x25519(b, x25519(a, nine))
    True
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    charge(COST)
    own = X25519PrivateKey.from_private_bytes(_sized("x25519", "key", key, SIZE))
    other = X25519PublicKey.from_public_bytes(_sized("x25519", "public key", public, SIZE))
    try:
        return own.exchange(other)
    except ValueError:
        raise LanguageError("the public key gives a secret of zeros") from None


def _order(curve: Curve) -> int:
    """The base point's order; only named curves have one, and a record of an author's own must be as they are."""
    if "name" not in curve or curve != named_curve(str(curve["name"])):
        raise LanguageError("ECDSA needs a named curve", "`named_curve` gives one")
    return int(curve["n"])


def _leading(data: bytes, n: int) -> int:
    """The number in as many leading bits as n has."""
    return int.from_bytes(data) >> max(0, 8 * len(data) - n.bit_length())


def _sized(name: str, part: str, data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise LanguageError(f"`{name}` takes a {part} of {size} bytes; this one has {len(data)}")
    return data
