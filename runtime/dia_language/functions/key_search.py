"""Brute-force search for a key of which most bytes are known."""

from __future__ import annotations

from functools import cache
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function

BLOCK, ROUNDS = 16, 10
LEAST_KNOWN = 14
SHOWN = range(32, 127)
WORD = "<u4"  # a column, with its first row in the lowest byte


@library_function
def aes_candidates(data: bytes, known: bytes) -> list[bytes]:
    """All 16-byte keys that start with `known` and decrypt the data to printable ASCII, in ascending order.

    `known` is 14 to 16 bytes. `data` is one or more whole blocks, at most 65,536 bytes, encrypted by AES-128 in ECB
    mode with or without PKCS #7 padding. Printable characters are those from space to ~. Source: FIPS 197, section 5.3.

    Examples:
        [text_of(key) for key in aes_candidates(aes_encrypt(utf8("Meet me at noon."), utf8("0123456789abcdef"),
            "ECB", utf8(""), "none"), utf8("0123456789abcd"))] -> ["0123456789abcdef"]
    """
    if not LEAST_KNOWN <= len(known) <= BLOCK:
        raise LanguageError(f"`aes_candidates` needs {LEAST_KNOWN} to {BLOCK} known bytes of the key")
    if not data or len(data) % BLOCK or len(data) > 65_536:
        raise LanguageError(f"`aes_candidates` needs 1 to 4,096 whole blocks of {BLOCK:,} bytes")
    missing = BLOCK - len(known)
    charge(256**missing)
    keys = [known + rest.to_bytes(missing) for rest in _fitting(data[:BLOCK], known, len(data) == BLOCK)]
    return [key for key in keys if _is_shown(data, key)]


def _is_shown(data: bytes, key: bytes) -> bool:
    from Crypto.Cipher import AES

    plain = AES.new(key, AES.MODE_ECB).decrypt(data)
    size = plain[-1] if 1 <= plain[-1] <= BLOCK else 0
    body = plain[: len(plain) - size]
    return body.isascii() and body.decode("ascii").isprintable() and plain[len(body) :] == bytes([size]) * size


def _fitting(block: bytes, known_bytes: bytes, is_last: bool) -> list[int]:
    """The few key remainders, as numbers, for which the first block may be text; each is then checked in full."""
    import numpy

    state = list(numpy.frombuffer(block, dtype=WORD))
    keys, mixed = _schedules(known_bytes)
    state = [word ^ key for word, key in zip(state, keys[-4:], strict=True)]
    tables = _tables()
    for turn in range(ROUNDS - 1, 0, -1):
        round_key = mixed[4 * turn : 4 * turn + 4]
        state = [_shifted(tables["inner"], state, column) ^ round_key[column] for column in range(4)]
    plain = [_shifted(tables["last"], state, column) ^ keys[column] for column in range(4)]
    octets = numpy.stack(plain, axis=1).view(numpy.uint8)
    fits = ((octets >= (1 if is_last else SHOWN.start)) & (octets < SHOWN.stop)).all(axis=1)
    return [int(place) for place in numpy.flatnonzero(fits)]


def _schedules(known_bytes: bytes) -> tuple[list[Any], list[Any]]:
    """The 44 words of each key's schedule, and the same words after inverse MixColumns.

    MixColumns is linear, so the second list can be computed word by word. Source: FIPS 197, sections 5.2 and 5.3.5.
    """
    tables, keys = _tables(), _first_words(known_bytes)
    mixed = [_looked_up(tables["mixed"], [key] * 4) for key in keys]
    constant = 1
    for place in range(4, 4 * (ROUNDS + 1)):
        if place % 4:
            keys.append(keys[place - 4] ^ keys[place - 1])
            mixed.append(mixed[place - 4] ^ mixed[place - 1])
            continue
        turned = _turned(tables["boxed"], keys[place - 1]) ^ constant
        keys.append(keys[place - 4] ^ turned)
        mixed.append(mixed[place - 4] ^ _looked_up(tables["mixed"], [turned] * 4))
        constant = _times(constant, 2)
    return keys, mixed


def _first_words(known_bytes: bytes) -> list[Any]:
    """The four words of each key. Only the last one differs: its unknown bytes count upwards."""
    import numpy

    missing = BLOCK - len(known_bytes)
    least = int.from_bytes(known_bytes[12:] + bytes(missing))
    rests = numpy.arange(least, least + 256**missing, dtype=numpy.int64).astype(">u4").view(WORD)
    return [*(numpy.frombuffer(known_bytes[4 * place : 4 * place + 4], dtype=WORD) for place in range(3)), rests]


def _shifted(tables: list[Any], state: list[Any], column: int) -> Any:
    """One column of the next state; its row r comes from the column r positions earlier."""
    return _looked_up(tables, [state[(column - row) % 4] for row in range(4)])


def _turned(tables: list[Any], word: Any) -> Any:
    return _looked_up([tables[(row - 1) % 4] for row in range(4)], [word] * 4)


def _looked_up(tables: list[Any], words: list[Any]) -> Any:
    """The XOR of the four row tables at the words' bytes."""
    import numpy

    rows = [numpy.take(tables[row], _row(words[row], row)) for row in range(4)]
    return rows[0] ^ rows[1] ^ rows[2] ^ rows[3]


def _row(word: Any, row: int) -> Any:
    import numpy

    return numpy.ascontiguousarray(numpy.atleast_1d(word).view(numpy.uint8)[row::4])


@cache
def _tables() -> dict[str, list[Any]]:
    """For each row, the column that a byte produces: after the S-box, inverse MixColumns, or a decryption round."""
    boxes = _boxes()
    undone = sorted(range(256), key=boxes.__getitem__)
    unmixed = [[_times(byte, factor) for factor in (14, 9, 13, 11)] for byte in range(256)]
    columns = {
        "boxed": [[box, 0, 0, 0] for box in boxes],
        "mixed": unmixed,
        "inner": [unmixed[byte] for byte in undone],
        "last": [[byte, 0, 0, 0] for byte in undone],
    }
    return {name: [_table(columns_by_byte, row) for row in range(4)] for name, columns_by_byte in columns.items()}


def _table(columns: list[list[int]], row: int) -> Any:
    import numpy

    return numpy.array([int.from_bytes(bytes(c[-row:] + c[:-row]), "little") for c in columns], dtype=WORD)


def _boxes() -> list[int]:
    """The S-box: the inverse in GF(256), followed by the affine transformation. Source: FIPS 197, section 5.1.1."""
    powers = [1]
    while len(powers) < 255:
        powers.append(_times(powers[-1], 3))
    inverses = {power: powers[-place % 255] for place, power in enumerate(powers)}
    return [_affine(inverses.get(byte, 0)) for byte in range(256)]


def _affine(byte: int) -> int:
    doubled = byte << 8 | byte
    return 99 ^ byte ^ (doubled >> 7 & 255) ^ (doubled >> 6 & 255) ^ (doubled >> 5 & 255) ^ (doubled >> 4 & 255)


def _times(a: int, b: int) -> int:
    """The product in GF(256)."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product
