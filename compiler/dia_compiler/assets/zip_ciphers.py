"""The two ways to encrypt a member of a ZIP file: PKWARE's old stream cipher, and AES as in WinZip.

Sources: PKWARE's APPNOTE 6.3.10, section 6.1; WinZip, AES Encryption Information: AE-1 and AE-2, version 1.04.
"""

from __future__ import annotations

import hashlib
import hmac
import zlib

from dia_compiler.assets.base import Entropy

HEADER = 12
KEYS = (0x12345678, 0x23456789, 0x34567890)
CRC_TABLE = tuple(zlib.crc32(bytes([i]), 0xFFFFFFFF) ^ 0xFFFFFFFF for i in range(256))
AES_BITS = {"aes128": 128, "aes192": 192, "aes256": 256}
ROUNDS, CHECK, MARK = 1000, 2, 10


def zipcrypto(plain: bytes, password: bytes, checksum: int, entropy: Entropy) -> bytes:
    """Return the member encrypted by PKWARE's cipher, after twelve bytes, the last of which verifies the password."""
    one, two, three = KEYS
    table, encrypted = CRC_TABLE, bytearray()
    for byte in password + entropy(HEADER - 1) + bytes([checksum >> 24]) + plain:
        mixed = three & 0xFFFF | 2
        encrypted.append(byte ^ mixed * (mixed ^ 1) >> 8 & 255)
        one = one >> 8 ^ table[(one ^ byte) & 255]
        two = ((two + (one & 255)) * 134775813 + 1) & 0xFFFFFFFF
        three = three >> 8 ^ table[(three ^ two >> 24) & 255]
    return bytes(encrypted[len(password) :])  # the password updates the keys, and is not written


def aes(plain: bytes, password: bytes, cipher: str, entropy: Entropy) -> bytes:
    """Return salt, two bytes that verify the password, the member in AES counter mode, and ten bytes of HMAC."""
    from Crypto.Cipher import AES
    from Crypto.Util import Counter

    size = AES_BITS[cipher] // 8
    salt = entropy(size // 2)
    keys = hashlib.pbkdf2_hmac("sha1", password, salt, ROUNDS, 2 * size + CHECK)
    counter = Counter.new(128, initial_value=1, little_endian=True)
    hidden = AES.new(keys[:size], AES.MODE_CTR, counter=counter).encrypt(plain)
    mark = hmac.new(keys[size : 2 * size], hidden, "sha1").digest()[:MARK]
    return salt + keys[2 * size :] + hidden + mark


def aes_field(cipher: str, method: int) -> bytes:
    """Return the extra field that says how a member is encrypted (AE-2, which stores no checksum) and packed."""
    strength = AES_BITS[cipher] // 64 - 1
    return b"\x01\x99\x07\x00\x02\x00AE" + bytes([strength]) + method.to_bytes(2, "little")
