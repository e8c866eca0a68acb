"""Symmetric ciphers on bytes. Nonce, padding and associated data are arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function

BLOCK = 16
PADDINGS = ("pkcs7", "none")


@library_function
def xor_bytes(data: bytes, key: bytes) -> bytes:
    """`data` XORed with `key`, byte by byte; a shorter key is repeated.

    Raises an error for an empty key.

    Examples:
        text_of(xor_bytes(utf8("abc"), utf8(" "))) -> "ABC"
    """
    if not key:
        raise _unfit("`xor_bytes` needs a key of at least one byte")
    charge(len(data) // 64)
    stream = (key * (len(data) // len(key) + 1))[: len(data)]
    return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))


@library_function
def aes_encrypt(
    data: bytes, key: bytes, mode: str, nonce: bytes = b"", padding: str = "", associated: bytes = b""
) -> bytes:
    """The AES ciphertext of `data`; in GCM mode it is followed by the 16-byte tag.

    `key` has 16, 24 or 32 bytes. `mode` is ECB (no nonce), CBC or CTR (a 16-byte nonce: the initialization vector or
    the first counter block), or GCM (a nonce of any length except 0). `padding` applies to ECB and CBC: pkcs7 (used if
    `padding` is empty), or none, for which the data must fill whole blocks of 16 bytes. CTR and GCM take no padding.
    Only GCM takes associated data. Source: FIPS 197, NIST SP 800-38A and 800-38D, RFC 5652 section 6.3.

    Examples:
        hex(aes_encrypt(utf8("abc"), utf8("0123456789abcdef"), "ECB")) -> "1d25821c3e311eea2d4dd8633a25c1b5"
        hex(aes_encrypt(utf8("abc"), utf8("0123456789abcdef"), "CBC", utf8("a nonce, 16 long")))
            -> "3ab42ad1fc05287ddb3bc9d5cb925285"
    """
    is_padded = _is_padded("aes_encrypt", mode, padding)
    cipher = _aes("aes_encrypt", data, key, mode, nonce, associated)
    if mode == "GCM":
        body, tag = cipher.encrypt_and_digest(data)
        return bytes(body + tag)
    filled = data + _filler(data) if is_padded else _whole("aes_encrypt", mode, data)
    return bytes(cipher.encrypt(filled))


@library_function
def aes_decrypt(
    data: bytes, key: bytes, mode: str, nonce: bytes = b"", padding: str = "", associated: bytes = b""
) -> bytes:
    """The plaintext of `data`, which was encrypted by `aes_encrypt` with the same arguments.

    Raises an error for a ciphertext of invalid length, for malformed padding, and for a GCM tag that does not match,
    for example because the key is wrong. Source: as for `aes_encrypt`.

    Examples:
        text_of(aes_decrypt(aes_encrypt(utf8("abc"), utf8("0123456789abcdef"), "CBC", utf8("a nonce, 16 long")),
            utf8("0123456789abcdef"), "CBC", utf8("a nonce, 16 long"))) -> "abc"
    """
    is_padded = _is_padded("aes_decrypt", mode, padding)
    cipher = _aes("aes_decrypt", data, key, mode, nonce, associated)
    if mode == "GCM":
        return _verified("aes_decrypt", cipher.decrypt_and_verify, data)
    plain = bytes(cipher.decrypt(_whole("aes_decrypt", mode, data)))
    return _unpadded(plain) if is_padded else plain


@library_function
def chacha20(data: bytes, key: bytes, nonce: bytes, counter: int = 0) -> bytes:
    """`data` XORed with the ChaCha20 keystream; the same call encrypts and decrypts.

    `key` has 32 bytes and `nonce` 12. `counter` is that of the first block, from 0 to 2**32 - 1. Source: RFC 8439,
    section 2.4.

    Examples:
        hex(chacha20(from_hex(repeat("00", 8)), from_hex(repeat("00", 32)), from_hex(repeat("00", 12))))
            -> "76b8e0ada0f13d90"
    """
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    _sized("chacha20", "key", key, (32,))
    _sized("chacha20", "nonce", nonce, (12,))
    blocks = -(-len(data) // 64)
    if not 0 <= counter <= 2**32 - max(blocks, 1):
        raise _unfit("`chacha20` counts its blocks from 0 to 2**32 - 1")
    charge(blocks)
    start = counter.to_bytes(4, "little") + nonce
    return bytes(Cipher(ChaCha20(key, start), mode=None).encryptor().update(data))


@library_function
def chacha20_poly1305_encrypt(data: bytes, key: bytes, nonce: bytes, associated: bytes = b"") -> bytes:
    """The ChaCha20 ciphertext of `data`, followed by the 16-byte Poly1305 tag.

    `key` has 32 bytes and `nonce` 12. Source: RFC 8439, section 2.8.

    Examples:
        hex(chacha20_poly1305_encrypt(utf8("abc"), sha256(utf8("key")), utf8("twelve bytes")))
            -> "02afcb76908a4bd55d1944eb25c456ff780d6c"
    """
    body, tag = _chacha("chacha20_poly1305_encrypt", data, key, nonce, associated).encrypt_and_digest(data)
    return bytes(body + tag)


@library_function
def chacha20_poly1305_decrypt(data: bytes, key: bytes, nonce: bytes, associated: bytes = b"") -> bytes:
    """The plaintext of `data`, which was encrypted by `chacha20_poly1305_encrypt` with the same arguments.

    Raises an error if the tag does not match, for example because the key is wrong. Source: RFC 8439, section 2.8.

    Examples:
        text_of(chacha20_poly1305_decrypt(
            chacha20_poly1305_encrypt(utf8("abc"), sha256(utf8("key")), utf8("twelve bytes")),
            sha256(utf8("key")), utf8("twelve bytes"))) -> "abc"
    """
    cipher = _chacha("chacha20_poly1305_decrypt", data, key, nonce, associated)
    return _verified("chacha20_poly1305_decrypt", cipher.decrypt_and_verify, data)


@library_function
def rc4(data: bytes, key: bytes) -> bytes:
    """`data` XORed with the RC4 keystream; the same call encrypts and decrypts.

    `key` has 5 to 256 bytes. Not secure, but still used in old protocols and files. RFC 6229 has test vectors.

    Examples:
        hex(rc4(utf8("Attack at dawn"), utf8("Secret"))) -> "45a01f645fc35b383552544b9bf5"
    """
    from Crypto.Cipher import ARC4

    if not 5 <= len(key) <= 256:
        raise _unfit("`rc4` takes a key of 5 to 256 bytes")
    charge(len(data) // 64)
    return bytes(ARC4.new(key).encrypt(data))


def _aes(name: str, data: bytes, key: bytes, mode: str, nonce: bytes, associated: bytes) -> Any:
    from Crypto.Cipher import AES

    _sized(name, "key", key, (16, 24, 32))
    _fits_mode(name, mode, nonce, associated)
    charge((len(data) + len(associated)) // 64)
    if mode == "ECB":
        return AES.new(key, AES.MODE_ECB)
    if mode == "CBC":
        return AES.new(key, AES.MODE_CBC, iv=nonce)
    if mode == "CTR":
        return AES.new(key, AES.MODE_CTR, nonce=b"", initial_value=nonce)
    cipher = AES.new(key, AES.MODE_GCM, nonce=nonce)
    cipher.update(associated)
    return cipher


def _fits_mode(name: str, mode: str, nonce: bytes, associated: bytes) -> None:
    if mode in ("CBC", "CTR"):
        _sized(name, "nonce", nonce, (BLOCK,))
    elif mode == "ECB" and nonce:
        raise _unfit(f"`{name}` takes no nonce in ECB mode")
    elif mode == "GCM" and not nonce:
        raise _unfit(f"`{name}` needs a nonce in GCM mode", "12 bytes are common")
    if associated and mode != "GCM":
        raise _unfit(f"`{name}` takes associated data only in GCM mode")


def _is_padded(name: str, mode: str, padding: str) -> bool:
    if mode not in ("ECB", "CBC", "CTR", "GCM"):
        raise _unfit(f"unknown mode of `{name}`", "use ECB, CBC, CTR or GCM")
    if padding and padding not in PADDINGS:
        raise _unfit(f"unknown padding of `{name}`", did_you_mean(padding, PADDINGS) or "use pkcs7 or none")
    if padding == "pkcs7" and mode in ("CTR", "GCM"):
        raise _unfit(f"`{name}` takes no padding in {mode} mode")
    return mode in ("ECB", "CBC") and padding != "none"


def _filler(data: bytes) -> bytes:
    missing = BLOCK - len(data) % BLOCK
    return bytes([missing]) * missing


def _unpadded(plain: bytes) -> bytes:
    size = plain[-1] if plain else 0
    if not 1 <= size <= BLOCK or plain[-size:] != bytes([size]) * size:
        raise _unfit("the decrypted bytes do not end with valid PKCS #7 padding", "the key or the mode may be wrong")
    return plain[:-size]


def _whole(name: str, mode: str, data: bytes) -> bytes:
    if mode in ("ECB", "CBC") and len(data) % BLOCK:
        raise _unfit(f"`{name}` needs whole blocks of {BLOCK:,} bytes; these are {len(data)} bytes")
    return data


def _chacha(name: str, data: bytes, key: bytes, nonce: bytes, associated: bytes) -> Any:
    from Crypto.Cipher import ChaCha20_Poly1305

    _sized(name, "key", key, (32,))
    _sized(name, "nonce", nonce, (12,))
    charge((len(data) + len(associated)) // 64)
    cipher = ChaCha20_Poly1305.new(key=key, nonce=nonce)
    cipher.update(associated)
    return cipher


def _verified(name: str, decrypt: Callable[[bytes, bytes], bytes], data: bytes) -> bytes:
    if len(data) < BLOCK:
        raise _unfit(f"`{name}` needs a ciphertext followed by its tag of {BLOCK:,} bytes")
    try:
        return bytes(decrypt(data[:-BLOCK], data[-BLOCK:]))
    except ValueError:
        raise _unfit("the tag does not match the key, nonce and ciphertext") from None


def _sized(name: str, part: str, data: bytes, sizes: tuple[int, ...]) -> None:
    if len(data) not in sizes:
        expected = " or ".join(map(str, sizes))
        raise _unfit(f"`{name}` needs a {part} of {expected} bytes; this one has {len(data)}")


def _unfit(message: str, help: str | None = None) -> LanguageError:
    return LanguageError(message, help)
