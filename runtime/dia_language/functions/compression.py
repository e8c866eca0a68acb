"""gzip and zlib data, written in stored blocks so that the bytes do not depend on the version of a library."""

from __future__ import annotations

import zlib

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

STORED = 65_535
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
ZLIB_HEADER = bytes.fromhex("7801")


@library_function
def gzip(data: bytes) -> bytes:
    """A gzip file with `data` in stored blocks, without a file name and with time 0.

    The result is slightly longer than the data; every gzip tool can unpack it. At most 999,000 bytes. Source: RFC 1951
    and 1952.

    Examples:
        hex(gzip(utf8(""))) -> "1f8b08000000000000ff010000ffff0000000000000000"
    """
    tail = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return GZIP_HEADER + _stored("gzip", data) + tail


@library_function
def gunzip(data: bytes) -> bytes:
    """The uncompressed content of a gzip file.

    Raises an error if the file is damaged, has more than 1,000,000 bytes of content, or is followed by other bytes.
    Source: RFC 1952.

    Examples:
        text_of(gunzip(gzip(utf8("abc")))) -> "abc"
    """
    return _unpacked("gunzip", "a gzip file", data, 31)


@library_function
def zlib_compress(data: bytes) -> bytes:
    """A zlib stream with `data` in stored blocks.

    The result is slightly longer than the data. At most 999,000 bytes. Source: RFC 1950 and 1951.

    Examples:
        hex(zlib_compress(utf8("abc"))) -> "7801010300fcff616263024d0127"
    """
    return ZLIB_HEADER + _stored("zlib_compress", data) + zlib.adler32(data).to_bytes(4)


@library_function
def zlib_decompress(data: bytes) -> bytes:
    """The uncompressed content of a zlib stream.

    Raises an error if the stream is damaged, has more than 1,000,000 bytes of content, or is followed by other bytes.
    Source: RFC 1950.

    Examples:
        text_of(zlib_decompress(zlib_compress(utf8("abc")))) -> "abc"
    """
    return _unpacked("zlib_decompress", "a zlib stream", data, 15)


def _stored(name: str, data: bytes) -> bytes:
    if len(data) > TEXT_LENGTH - 1000:
        raise LanguageError(f"`{name}` takes at most {TEXT_LENGTH - 1000:,} bytes", code="E502")
    charge(len(data) // 64)
    parts = [data[at : at + STORED] for at in range(0, len(data), STORED)] or [b""]
    return b"".join(_block(part, part is parts[-1]) for part in parts)


def _block(part: bytes, is_last: bool) -> bytes:
    size = len(part)
    return bytes([is_last]) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + part


def _unpacked(name: str, word: str, data: bytes, window: int) -> bytes:
    reader = zlib.decompressobj(window)
    try:
        content = reader.decompress(data, TEXT_LENGTH + 1)
    except zlib.error:
        raise LanguageError(f"the bytes are not {word}, or the data are damaged") from None
    charge(len(content) // 64)
    if len(content) > TEXT_LENGTH:
        raise LanguageError(f"the result of `{name}` would exceed {TEXT_LENGTH:,} bytes", code="E502")
    if not reader.eof or reader.unused_data:
        raise LanguageError(f"there are extra bytes after {word}")
    return content
