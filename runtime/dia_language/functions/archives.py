"""The contents of ZIP files, plain or encrypted. Only the requested member is unpacked."""

from __future__ import annotations

import hashlib
import hmac
import io
import zipfile
import zlib

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record

AES_METHOD, STORED, DEFLATED = 99, 0, 8
LOCAL_HEADER, CHECK, MARK, ROUNDS = 30, 2, 10, 1000
MOST_MEMBERS = 10_000
IS_ENCRYPTED = 1
CIPHERS = {1: "aes128", 2: "aes192", 3: "aes256"}
# All that zipfile and zlib raise for bytes that are not a complete archive
DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, IndexError, KeyError, NotImplementedError, OSError, OverflowError,
    RuntimeError, UnicodeDecodeError, ValueError,
)  # fmt: skip


@library_function
def zip_names(archive: bytes) -> list[str]:
    """The names of the members of a ZIP file, in the order of its directory.

    Raises an error if the bytes are not a ZIP file or if it has more than 10,000 members.

    Examples:
        zip_names(from_base64("UEsDBBQAAAAAAAAAIVCsKpPYAgAAAAIAAAAFAAAAYS50eHRoaVBLAQIUAxQAAAAAAAAAIVCsKpPYAgAAAAIAAAAF"
            "AAAAAAAAAAAAAACkgQAAAABhLnR4dFBLBQYAAAAAAQABADMAAAAlAAAAAAA=")) -> ["a.txt"]
    """
    return [info.filename for info in _directory(archive).infolist()]


@library_function
def zip_info(archive: bytes, name: str) -> Record:
    """The directory entry of a member of a ZIP file: a record of size, packed, compression, cipher and time.

    `size` and `packed` are the number of bytes before and after compression. `compression` is stored, deflated or
    other. `cipher` is the text none, zipcrypto, aes128, aes192 or aes256. `time` is text such as 2020-01-01T00:00:00.
    These are the values that the directory states; they are not checked against the member. Source: PKWARE's APPNOTE
    6.3.10; WinZip's AES Encryption Information 1.04.

    Examples:
        zip_info(from_base64("UEsDBBQAAQAAAAAAIVCGphA2EQAAAAUAAAAFAAAAYS50eHS4HXBJZ+SuIpDSvpwLktP0hVBLAQIUAxQAAQAA"
            "AAAAIVCGphA2EQAAAAUAAAAFAAAAAAAAAAAAAACkgQAAAABhLnR4dFBLBQYAAAAAAQABADMAAAA0AAAAAAA="), "a.txt").cipher
            -> "zipcrypto"
    """
    info = _entry_of(_directory(archive), name)
    cipher, method = _cipher(info)
    compression = {STORED: "stored", DEFLATED: "deflated"}.get(method, "other")
    year, month, day, hour, minute, second = info.date_time
    time = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    return Record(size=info.file_size, packed=info.compress_size, compression=compression, cipher=cipher, time=time)


@library_function
def zip_member(archive: bytes, name: str, password: str = "") -> bytes:
    """The bytes of the member called `name` in a ZIP file, decrypted with `password` if the member is encrypted.

    Reads stored and deflated members, unencrypted or encrypted with ZipCrypto or AES. Raises an error if the password
    is wrong, the member is damaged, or it has more than 1,000,000 bytes.

    Examples:
        text_of(zip_member(from_base64("UEsDBBQAAQAAAAAAIVCGphA2EQAAAAUAAAAFAAAAYS50eHS4HXBJZ+SuIpDSvpwLktP0hVBLAQ"
            "IUAxQAAQAAAAAAIVCGphA2EQAAAAUAAAAFAAAAAAAAAAAAAACkgQAAAABhLnR4dF"
            "BLBQYAAAAAAQABADMAAAA0AAAAAAA="), "a.txt", "1234")) -> "hello"
    """
    directory = _directory(archive)
    info = _entry_of(directory, name)
    cipher, method = _cipher(info)
    if method not in (STORED, DEFLATED):
        raise LanguageError(f"the member `{name}` uses a compression method that is not supported")
    charge(min(info.compress_size, len(archive)))
    if cipher.startswith("aes"):
        return _within(name, _decrypted(archive, info, password, cipher, method))
    try:
        with directory.open(info, pwd=password.encode() if cipher == "zipcrypto" else None) as file:
            return _within(name, file.read(TEXT_LENGTH + 1))
    except DAMAGED as error:
        raise _unreadable(name, cipher, error) from None


def _unreadable(name: str, cipher: str, error: Exception) -> LanguageError:
    # zipfile reports a wrong password as RuntimeError, and an unsupported method as its subclass NotImplementedError.
    wrong = isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError)
    if cipher != "none" and wrong:
        return LanguageError(f"the password for the member `{name}` is wrong")
    return LanguageError(f"the member `{name}` is damaged" + (", or the password is wrong" if cipher != "none" else ""))


def _within(name: str, content: bytes) -> bytes:
    if len(content) > TEXT_LENGTH:
        raise LanguageError(f"the member `{name}` has more than {TEXT_LENGTH:,} bytes", code="E502")
    charge(len(content) // 64)
    return content


def _directory(archive: bytes) -> zipfile.ZipFile:
    charge(len(archive) // 64)
    try:
        directory = zipfile.ZipFile(io.BytesIO(archive))
    except DAMAGED:
        raise LanguageError("the bytes are not a ZIP file, or the file is damaged") from None
    if len(directory.infolist()) > MOST_MEMBERS:
        raise LanguageError(f"the ZIP file has more than {MOST_MEMBERS:,} members", code="E502")
    return directory


def _entry_of(directory: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    same = [info for info in directory.infolist() if info.filename == name]
    if len(same) != 1:
        help = did_you_mean(name, directory.namelist()) if not same else None
        raise LanguageError(f"the ZIP file has {'several members' if same else 'no member'} called `{name}`", help)
    return same[0]


def _cipher(info: zipfile.ZipInfo) -> tuple[str, int]:
    """The encryption method of a member, and its compression method."""
    if not info.flag_bits & IS_ENCRYPTED:
        return "none", info.compress_type
    if info.compress_type != AES_METHOD:
        return "zipcrypto", info.compress_type
    field = _aes_field(info.extra)
    if len(field) != 7 or field[4] not in CIPHERS:
        raise LanguageError(f"the member `{info.filename}` uses an encryption method that is not supported")
    return CIPHERS[field[4]], int.from_bytes(field[5:7], "little")


def _aes_field(extra: bytes) -> bytes:
    """The extra field with ID 0x9901, or empty bytes if there is none."""
    at = 0
    while at + 4 <= len(extra):
        size = int.from_bytes(extra[at + 2 : at + 4], "little")
        if extra[at : at + 2] == b"\x01\x99":
            return extra[at + 4 : at + 4 + size]
        at += 4 + size
    return b""


def _decrypted(archive: bytes, info: zipfile.ZipInfo, password: str, cipher: str, method: int) -> bytes:
    """An AES-encrypted member, decompressed up to one byte beyond the limit."""
    from Crypto.Cipher import AES
    from Crypto.Util import Counter

    size = int(cipher[3:]) // 8
    stored = _stored(archive, info)
    salt, check, hidden, mark = (
        stored[: size // 2], stored[size // 2 : size // 2 + CHECK], stored[size // 2 + CHECK : -MARK], stored[-MARK:],
    )  # fmt: skip
    if len(stored) < size // 2 + CHECK + MARK:
        raise LanguageError(f"the member `{info.filename}` is damaged")
    keys = hashlib.pbkdf2_hmac("sha1", password.encode(), salt, ROUNDS, 2 * size + CHECK)
    if keys[2 * size :] != check:
        raise LanguageError(f"the password for the member `{info.filename}` is wrong")
    if hmac.new(keys[size : 2 * size], hidden, "sha1").digest()[:MARK] != mark:
        raise LanguageError(f"the member `{info.filename}` is damaged, or the password is wrong")
    counter = Counter.new(128, initial_value=1, little_endian=True)
    packed: bytes = AES.new(keys[:size], AES.MODE_CTR, counter=counter).decrypt(hidden)
    return packed if method == STORED else _inflated(packed, info.filename)


def _inflated(packed: bytes, name: str) -> bytes:
    try:
        return zlib.decompressobj(-15).decompress(packed, TEXT_LENGTH + 1)
    except zlib.error:
        raise LanguageError(f"the member `{name}` is damaged") from None


def _stored(archive: bytes, info: zipfile.ZipInfo) -> bytes:
    """The member's raw bytes in the file."""
    header = archive[info.header_offset : info.header_offset + LOCAL_HEADER]
    if len(header) < LOCAL_HEADER or header[:4] != b"PK\x03\x04":
        raise LanguageError(f"the member `{info.filename}` is damaged")
    start = info.header_offset + LOCAL_HEADER + int.from_bytes(header[26:28], "little")
    start += int.from_bytes(header[28:30], "little")
    return archive[start : start + info.compress_size]
