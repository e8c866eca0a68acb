"""The file `sealed.bin`: a line that says how it is encrypted, followed by the sealed files in encrypted blocks."""

from __future__ import annotations

import contextlib
import io
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from dia_language.diagnostics import DiaError

from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.cipher import (
    COST,
    KEY,
    TAG,
    damaged_seal,
    decrypt_blocks,
    decrypt_secret,
    derive_key,
    encrypt_blocks,
    encrypt_secret,
    is_affordable,
    key_from_passphrase,
)
from dia_runtime.bundle.files import integrity_error, path_error
from dia_runtime.bundle.strict_json import parse_json

NAME = "sealed.bin"
FORMAT = 1
Members = Sequence[tuple[str, int, Iterable[bytes]]]
LONGEST_HEADER = 1 << 12
LONGEST_INDEX = 1 << 24
LEAST_ROOM = 1 << 16
NONCE = 12
SALT = 32
CONTENT = "dia seal 1: content"
HEX = {"key": KEY + TAG, "nonce": NONCE}
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of the file: parameters of scrypt, and the sealing key encrypted under the passphrase's key."""

    facts: Mapping[str, Any]

    def encoded(self) -> bytes:
        """Return the line, to which every block is bound."""
        return canonical_line(dict(self.facts)) + b"\n"

    def key(self, passphrase: str) -> bytes:
        """Return the sealing key. Raises DiaError (exit 3) for a wrong passphrase."""
        cost = self.facts["kdf"]
        key = key_from_passphrase(passphrase, bytes.fromhex(cost["salt"]), cost)
        encrypted, nonce = bytes.fromhex(self.facts["key"]), bytes.fromhex(self.facts["nonce"])
        sealing_key = decrypt_secret(key, nonce, encrypted, _bound_part(self.facts))
        if sealing_key is None:
            message = "wrong passphrase, or the first line of the seal was changed"
            raise integrity_error("E718", message, "use the passphrase with which the bundle was sealed")
        return sealing_key


def new_header(passphrase: str, sealing_key: bytes, questions_root: str) -> Header:
    """Return the header of a new seal, with a new salt and nonce."""
    salt, nonce = secrets.token_bytes(SALT), secrets.token_bytes(NONCE)
    facts = {
        "cipher": "AES-256-GCM",
        "format": FORMAT,
        "kdf": {"name": "scrypt", **COST, "salt": salt.hex()},
        "kind": "dia-seal",
        "nonce": nonce.hex(),
        "questions_root": questions_root,
    }
    key = encrypt_secret(key_from_passphrase(passphrase, salt, COST), nonce, sealing_key, _bound_part(facts))
    return Header({**facts, "key": key.hex()})


def _bound_part(facts: Mapping[str, Any]) -> bytes:
    """Return the header without the key, to which the key is bound."""
    return canonical_line({name: value for name, value in facts.items() if name != "key"})


def read_header(file: IO[bytes]) -> Header:
    """Return the header at the file's beginning. Raises DiaError (exit 3) for anything else."""
    raw = file.readline(LONGEST_HEADER)
    if not raw.endswith(b"\n"):
        raise _damaged("its first line is not a header, or is truncated")
    try:
        facts = parse_json(raw)
    except ValueError as error:
        raise _damaged(f"its first line is not a header: {error}") from None
    if not isinstance(facts, dict) or facts.get("kind") != "dia-seal":
        raise _damaged("its first line is not a header")
    if facts.get("format") != FORMAT:
        raise _damaged(f"it has format {str(facts.get('format'))[:20]}; this version reads format {FORMAT}")
    if why := _header_error(facts):
        raise _damaged(why)
    header = Header(facts)
    if header.encoded() != raw:
        raise _damaged("its first line is not in canonical form")
    return header


def _header_error(facts: dict[str, Any]) -> str | None:
    """Return what is wrong with the parts of a header, or None."""
    cost = facts.get("kdf")
    if facts.get("cipher") != "AES-256-GCM" or not isinstance(cost, dict) or cost.get("name") != "scrypt":
        return "it is encrypted in a way that this version does not support"
    if not is_affordable(cost):
        return "its scrypt parameters are invalid, or need more than 256 MiB of memory"
    if not _is_hex(cost.get("salt"), SALT):
        return "its salt is not 32 bytes in hex"
    malformed = [name for name, size in HEX.items() if not _is_hex(facts.get(name), size)]
    return f"its {malformed[0]} has the wrong length" if malformed else None


def _is_hex(text: Any, size: int) -> bool:
    if not isinstance(text, str) or len(text) != 2 * size:
        return False
    with contextlib.suppress(ValueError):
        return bytes.fromhex(text).hex() == text
    return False


def _damaged(why: str) -> DiaError:
    return damaged_seal(f"`{NAME}` is damaged or not from dia: {why}")


def sealed_bytes(header: Header, sealing_key: bytes, members: Members) -> Iterator[bytes]:
    """Yield the bytes of the file, from the path, size and pieces of each file to be sealed."""
    encoded = header.encoded()
    yield encoded
    yield from encrypt_blocks(derive_key(sealing_key, CONTENT), encoded, _cleartext(members))


def _cleartext(members: Members) -> Iterator[bytes]:
    index = canonical_line({"files": [{"path": path, "size": size} for path, size, _ in members]}) + b"\n"
    size = len(index) + sum(size for _, size, _ in members)
    yield index
    for _, _, pieces in members:
        yield from pieces
    padding = padded_size(size, secrets.randbelow) - size
    while padding:
        yield bytes(min(padding, BLOCK))
        padding -= min(padding, BLOCK)


def padded_size(size: int, below: Callable[[int], int]) -> int:
    """Return the size to which content of this size is padded: a multiple of a room, with a random first boundary.

    A room is the largest power of two that is at most an eighth of the size, but at least 64 KiB. Because the first
    boundary is uniformly random within a room, two contents whose sizes differ by d bytes, and which have the same
    room, can be distinguished by the size of their seals with an advantage of at most d / room.
    """
    room = max(LEAST_ROOM, 1 << max(0, size.bit_length() - 4))
    return -(-(size + below(room)) // room) * room


@dataclass(slots=True)
class SealedFiles:
    """The files of a seal, one after the other."""

    pieces: Iterator[bytes]
    files: list[tuple[str, int]]
    _buffer: bytes

    def members(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield the path and pieces of each file; it must be read to its end before the next. The rest is padding."""
        for path, size in self.files:
            yield path, self._take(size)
        for piece in (self._buffer, *self.pieces):
            if piece.strip(b"\0"):
                raise _damaged("there is extra data after its files")

    def _take(self, size: int) -> Iterator[bytes]:
        while size:
            if not self._buffer:
                self._buffer = next(self.pieces, b"")
                if not self._buffer:
                    raise _damaged("it ends in the middle of a file")
            piece, self._buffer = self._buffer[:size], self._buffer[size:]
            size -= len(piece)
            yield piece


def open_sealed(header: Header, sealing_key: bytes, file: IO[bytes]) -> SealedFiles:
    """Open the sealed files. Raises DiaError (exit 3), also while they are read, if a byte was changed or cut off."""
    pieces = decrypt_blocks(derive_key(sealing_key, CONTENT), header.encoded(), file)
    index = io.BytesIO()
    for piece in pieces:
        index.write(piece)
        if b"\n" in piece or index.tell() > LONGEST_INDEX:
            break
    raw, end, after = index.getvalue().partition(b"\n")
    try:
        files = _listed(parse_json(raw)) if end else None
    except ValueError:
        files = None
    if files is None:
        raise _damaged("it has no list of its files")
    return SealedFiles(pieces, files, after)


def _listed(index: Any) -> list[tuple[str, int]] | None:
    entries = index.get("files") if isinstance(index, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return None
    files = [(entry.get("path"), entry.get("size")) for entry in entries]
    names = [path for path, _ in files]
    is_sound = all(
        type(path) is str and path_error(path) is None and type(size) is int and size >= 0 for path, size in files
    )
    return files if is_sound and len(set(names)) == len(names) else None
