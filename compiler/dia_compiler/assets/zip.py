"""ZIP files, plain or encrypted, written by ourselves: the same members give the same bytes everywhere.

Deflated bytes are those of the zlib that Python was built with; `compression: stored`, the default, depends on nothing.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dia_compiler.assets.base import Builder, OptionFault, Site, data
from dia_compiler.assets.zip_ciphers import AES_BITS, aes, aes_field, zipcrypto

CIPHERS = ("none", "zipcrypto", *AES_BITS)
METHODS = {"stored": 0, "deflated": 8}
AES_METHOD = 99
MOST_FILES, MOST_BYTES, LONGEST_NAME, LONGEST_PASSWORD = 1_000, 1_000_000, 1_000, 128
LONGEST_COMMENT = 10_000
TIME = "2020-01-01T00:00:00"
TIME_SHAPE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", re.ASCII)
IS_ENCRYPTED, IS_UTF8 = 1, 1 << 11
DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Member:
    """A member as stored in the file: its header fields, and its compressed and encrypted bytes."""

    fields: bytes
    name: bytes
    extra: bytes
    packed: bytes
    mode: int


class Zip(Builder):
    summary = "a ZIP file, plain or encrypted"
    options = {
        "files": data(
            "the members: a mapping from name to text or bytes, or a list of {name, text or data, time}", required=True
        ),
        "password": data("the password of all members"),
        "cipher": data("none, zipcrypto, aes128, aes192 or aes256 (default aes256 with a password)"),
        "compression": data("stored or deflated (default stored)"),
        "time": data("the time of members without their own (default 2020-01-01T00:00:00)"),
        "comment": data("an unencrypted comment for the whole file"),
    }
    extension = "zip"
    media_type = "application/zip"

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for what a ZIP file cannot contain."""
        _one_of(options, "cipher", CIPHERS)
        _one_of(options, "compression", tuple(METHODS))
        _moment(options.get("time", TIME), "time")
        _text_within(options, "comment", LONGEST_COMMENT)
        _text_within(options, "password", LONGEST_PASSWORD)
        if "files" in options:
            _members(options["files"], TIME)

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        password, cipher = _protection(options)
        method = METHODS[options.get("compression", "stored")]
        body, directory = bytearray(), bytearray()
        members = _members(options["files"], options.get("time", TIME))
        for name, content, time in members:
            member = _member(name, content, time, method, cipher, password, site)
            directory += _entry(member, len(body))
            body += b"PK\x03\x04" + member.fields + member.name + member.extra + member.packed
        comment: bytes = options.get("comment", "").encode()
        counts = struct.pack(
            "<4s4H2LH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), len(comment)
        )
        return bytes(body + directory) + counts + comment


def _one_of(options: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> None:
    if options.get(name, allowed[0]) not in allowed:
        raise OptionFault(name, f"`{name}` must be one of {', '.join(allowed)}")


def _text_within(options: Mapping[str, Any], name: str, most: int) -> None:
    text = options.get(name, "")
    if not isinstance(text, str) or len(_encoded(text, name)) > most:
        raise OptionFault(name, f"`{name}` must be text of at most {most} bytes")


def _encoded(text: str, option: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise OptionFault(option, f"`{option}` contains half of a surrogate pair") from None


def _protection(options: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return password and cipher. Raises OptionFault if only one of them is given."""
    password = options.get("password", "")
    cipher = options.get("cipher", "aes256" if password else "none")
    if password and cipher == "none":
        raise OptionFault("cipher", "`cipher: none` takes no password", "choose another cipher, or remove the password")
    if cipher != "none" and not password:
        raise OptionFault("password" if "password" in options else "cipher", f"`{cipher}` needs a password")
    return password.encode(), cipher


def _members(files: Any, time: str) -> list[tuple[bytes, bytes, tuple[int, int]]]:
    """Return the name, content and time of each member. Raises OptionFault."""
    if isinstance(files, Mapping):
        files = [
            {"name": name, "data" if isinstance(member, bytes) else "text": member} for name, member in files.items()
        ]
    if not isinstance(files, list) or not 1 <= len(files) <= MOST_FILES:
        raise OptionFault(
            "files", f"`files` must hold 1 to {MOST_FILES:,} members", "for example {note.txt: some text}"
        )
    usual = _moment(time, "time")
    members = [_read_member(one, usual) for one in files]
    names = [name for name, _, _ in members]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionFault("files", f"duplicate name `{twice.decode()}` in `files`")
    nested = [name for name in names if b"/" in name]
    folders = {name[:place] for name in nested for place, byte in enumerate(name) if byte == ord("/")}
    if both := folders.intersection(names):
        raise OptionFault(
            "files", f"`{min(both).decode()}` is both a member and a folder of other members", "rename one of them"
        )
    if sum(len(content) for _, content, _ in members) > MOST_BYTES:
        raise OptionFault("files", f"the members of `files` have more than {MOST_BYTES:,} bytes in total")
    return members


def _read_member(one: Any, usual: tuple[int, int]) -> tuple[bytes, bytes, tuple[int, int]]:
    if not isinstance(one, Mapping) or "name" not in one or not one.keys() <= {"name", "text", "data", "time"}:
        raise OptionFault(
            "files", "a member of `files` is a record with `name`, `text` or `data`, and optionally `time`"
        )
    name = _named(one["name"])
    content = one.get("text", one.get("data"))
    if ("text" in one) == ("data" in one) or not isinstance(content, str if "text" in one else bytes):
        raise OptionFault("files", f"the member `{name}` needs either a `text` or bytes as `data`")
    encoded = _encoded(content, "files") if isinstance(content, str) else content
    return name.encode(), encoded, _moment(one["time"], "files") if "time" in one else usual


def _named(name: Any) -> str:
    """Return the name of a member that unpacks within its folder. Raises OptionFault for others."""
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(_encoded(name, "files")) <= LONGEST_NAME:
        raise OptionFault("files", f"the name of a member must be 1 to {LONGEST_NAME:,} printable bytes of text")
    parts = name.split("/")
    if "\\" in name or DRIVE.match(name) or any(part in ("", ".", "..") for part in parts):
        raise OptionFault(
            "files", f"the name `{name}` is not a file inside the archive", "use a name such as notes/a.txt"
        )
    return name


def _moment(text: Any, option: str) -> tuple[int, int]:
    """Return time and date in the format's two-second steps. Raises OptionFault."""
    try:
        if not isinstance(text, str) or not TIME_SHAPE.fullmatch(text.removesuffix("Z")):
            raise ValueError
        at = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        raise OptionFault(option, "a member's time must look like 2020-01-31T12:00:00") from None
    if not 1980 <= at.year <= 2107:
        raise OptionFault(option, "a member's time must be between 1980 and 2107")
    return at.hour << 11 | at.minute << 5 | at.second // 2, (at.year - 1980) << 9 | at.month << 5 | at.day


def _member(
    name: bytes, content: bytes, time: tuple[int, int], method: int, cipher: str, password: bytes, site: Site
) -> Member:
    packed = _deflated(content) if method else content
    checksum = zlib.crc32(content)
    flags = (IS_UTF8 if not name.isascii() else 0) | (IS_ENCRYPTED if cipher != "none" else 0)
    extra = b""
    if cipher == "zipcrypto":
        packed = zipcrypto(packed, password, checksum, site.entropy)
    elif cipher != "none":
        packed, extra = aes(packed, password, cipher, site.entropy), aes_field(cipher, method)
        checksum, method = 0, AES_METHOD
    version = 51 if method == AES_METHOD else 20
    sizes = (checksum, len(packed), len(content), len(name), len(extra))
    return Member(struct.pack("<5H3L2H", version, flags, method, *time, *sizes), name, extra, packed, 0o100644)


def _deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def _entry(member: Member, offset: int) -> bytes:
    """Return the member's record in the directory at the end; marked as made on Unix and readable by all."""
    made_by = 3 << 8 | member.fields[0]
    tail = struct.pack("<3H2L", 0, 0, 0, member.mode << 16, offset)
    return b"PK\x01\x02" + made_by.to_bytes(2, "little") + member.fields + tail + member.name + member.extra
