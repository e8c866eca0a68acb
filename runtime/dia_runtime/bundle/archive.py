"""A bundle as one file: a plain tar (USTAR, without times and owners) compressed by zstd, with the manifest first."""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle import manifest as manifests
from dia_runtime.bundle.atomic_output import REPLACE, atomic_file, atomic_folder, require_replaceable
from dia_runtime.bundle.canonical import bundle_id
from dia_runtime.bundle.files import integrity_error, open_inside, path_error
from dia_runtime.bundle.open import Bundle, manifest_file, open_bundle
from dia_runtime.bundle.verify import file_problems

BLOCK = 512
RECORD = 20 * BLOCK
READ = 1 << 18
CHUNK = 1 << 10  # limits a hostile zstd file to at most 32 MiB of memory
LEVEL = 12
LARGEST = 8 << 30  # the largest size that a USTAR header can contain
LARGEST_UNLISTED = 1 << 20  # of a file that manifests do not list
# An archive may unpack to this size, or to this multiple of its own size: bundles compress 3 to 60 times.
FREE = 1 << 26
RATIO = 300
WINDOW = 1 << 27  # bytes of memory that an untrusted archive may request
UNLISTED = (manifests.PROVENANCE, manifests.SIGNATURE)
SUFFIX = ".tar.zst"
KINDS = {tarfile.DIRTYPE: "a folder", tarfile.SYMTYPE: "a symbolic link", tarfile.LNKTYPE: "a hard link",
         tarfile.CHRTYPE: "a device", tarfile.BLKTYPE: "a device", tarfile.FIFOTYPE: "a pipe"}  # fmt: skip


def archive_name(bundle: Bundle) -> str:
    """Return `<benchmark>-<version>-k<k>`, the folder inside an archive and the stem of its name."""
    facts = bundle.manifest
    name = f"{facts['benchmark']}-{facts['version']}-k{facts['k']}" + ("-sealed" if bundle.is_sealed else "")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:90] or "bundle"


def pack(source: Path, target: Path, force: bool = False) -> Bundle:
    """Write the bundle to the target as one file, whose bytes depend only on the bundle's content.

    Raises DiaError: exit 3 for a damaged bundle, 2 for a path or size that the format does not allow.
    """
    import zstandard

    bundle = open_bundle(source)
    if problems := file_problems(bundle):
        raise DiaError([problem.as_diagnostic() for problem in problems], 3)
    require_replaceable(target, source)
    members = list(_members(bundle))
    total = sum(size for _, size in members)
    with atomic_file(target, force, fix=REPLACE) as file:
        packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=False, threads=0)
        with packer.stream_writer(file, closefd=False) as writer:
            for piece in _tar(bundle, members):
                writer.write(piece)
        if total > max(FREE, RATIO * file.tell()):
            message = (
                f"the bundle compresses to less than 1/{RATIO} of its size and would be refused as a decompression bomb"
            )
            raise DiaError(
                Diagnostic("E726", message, None, "pack it with `tar --zstd -cf`, and verify the unpacked folder")
            )
    return bundle


def _members(bundle: Bundle) -> Iterator[tuple[str, int]]:
    """Return the path and size of every file, in the order of the archive."""
    yield manifests.NAME, len(manifest_file(bundle.path))
    for name in sorted(bundle.manifest["files"]):
        yield name, bundle.expected(name).size
    for name in UNLISTED:
        if (bundle.path / name).is_file():
            size = (bundle.path / name).stat().st_size
            if size > LARGEST_UNLISTED:
                message = (
                    f"`{name}` is larger than {LARGEST_UNLISTED >> 20} MiB, so `dia unpack` would refuse the archive"
                )
                raise DiaError(
                    Diagnostic("E726", message, None, "remove it: the digest of the bundle does not cover it")
                )
            yield name, size


def _tar(bundle: Bundle, members: list[tuple[str, int]]) -> Iterator[bytes]:
    """Yield the bytes of the tar file."""
    folder, length = archive_name(bundle), 0
    for name, size in members:
        yield _header(f"{folder}/{name}", size)
        yield from (
            bundle.verified_pieces(name) if name in bundle.manifest["files"] else _unlisted_pieces(bundle, name, size)
        )
        yield bytes(-size % BLOCK)
        length += BLOCK + size + -size % BLOCK
    yield bytes(2 * BLOCK + -(length + 2 * BLOCK) % RECORD)


def _header(path: str, size: int) -> bytes:
    entry = tarfile.TarInfo(path)
    entry.size, entry.mode = size, 0o644
    if size >= LARGEST:
        message = visible(f"`{path}` is larger than 8 GiB, the limit of tar (USTAR)")
        raise DiaError(Diagnostic("E726", message, None, "compile with fewer or smaller assets"))
    try:
        return entry.tobuf(tarfile.USTAR_FORMAT)
    except ValueError:
        message = visible(f"`{path}` is too long for a path in tar (USTAR)")
        raise DiaError(Diagnostic("E726", message, None, "shorten the file names in specs/")) from None


def _unlisted_pieces(bundle: Bundle, name: str, size: int) -> Iterator[bytes]:
    total = 0
    with open_inside(bundle.path, name) as file:
        while piece := file.read(min(READ, size - total)):
            total += len(piece)
            yield piece
    if total != size:
        raise integrity_error("E703", visible(f"`{name}` changed while it was being packed"))


def unpack(source: Path, target: Path, force: bool = False) -> Bundle:
    """Unpack a bundle to the target. Raises DiaError (exit 3) for anything that `pack` does not write."""
    with atomic_folder(target, force, source) as folder:
        extract(source, folder)
    return open_bundle(target)


def extract(source: Path, folder: Path) -> None:
    """Write the files of an archive to an empty folder. Raises DiaError (exit 3) for an archive not made by dia."""
    try:
        file = source.open("rb")
    except OSError as error:
        raise DiaError(Diagnostic("E701", visible(f"`{source}` cannot be read: {error.strerror}"))) from None
    with file:
        tar = _Tar(source, file)
        try:
            _extract(tar, folder)
        except (FileExistsError, NotADirectoryError):
            raise tar.refused("one of its files has the path of a folder") from None


def _extract(tar: _Tar, folder: Path) -> None:
    place, size = tar.next() or ("", 0)
    prefix, _, name = place.rpartition("/")
    if name != manifests.NAME or "/" in prefix or size > manifests.LARGEST:
        raise tar.refused(f"it does not start with `{manifests.NAME}`")
    encoded = b"".join(tar.pieces(size))
    manifest, faults = manifests.read_manifest(encoded)
    if manifest is None or faults:
        raise tar.refused(f"its `{manifests.NAME}` is damaged or not from dia: {faults[0]}")
    tar.grant(sum(entry["size"] for entry in manifest["files"].values()))
    (folder / manifests.NAME).write_bytes(encoded)
    bundle, names = Bundle(folder, manifest, bundle_id(encoded)), {manifests.NAME}
    while member := tar.next():
        _extract_member(tar, bundle, names, member, f"{prefix}/" if prefix else "")
    missing = [name for name in manifest["files"] if name not in names]
    if missing:
        raise tar.refused(f"`{missing[0]}`, listed in its manifest, is missing")


def _extract_member(tar: _Tar, bundle: Bundle, names: set[str], member: tuple[str, int], prefix: str) -> None:
    """Write a member if the manifest lists it and it has not been written yet."""
    place, size = member
    name = place.removeprefix(prefix)
    files = bundle.manifest["files"]
    if not place.startswith(prefix) or (name not in files and name not in (*UNLISTED, manifests.NAME)):
        raise tar.refused(f"it contains `{place}`, which its manifest does not list")
    if name in names:
        raise tar.refused(f"it contains `{place}` twice")
    if size != files[name]["size"] if name in files else size > LARGEST_UNLISTED:
        raise tar.refused(f"`{place}` does not have the size in its manifest")
    names.add(name)
    path = bundle.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for piece in tar.pieces(size):
            digest.update(piece)
            file.write(piece)
    if name in files and digest.hexdigest() != files[name]["sha256"]:
        expected = f"expected sha256 {files[name]['sha256']}, found sha256 {digest.hexdigest()}"
        raise integrity_error("E703", visible(f"`{name}` differs from the manifest: {expected}"))


class _Tar:
    """The members of a packed tar file, one after the other; never more bytes than were allowed."""

    def __init__(self, source: Path, file: IO[bytes]) -> None:
        self.source, self.left = source, manifests.LARGEST
        self.size = source.stat().st_size
        start = file.read(4)
        file.seek(0)
        if start != b"\x28\xb5\x2f\xfd":
            raise self.refused("it is not compressed with zstd")
        self.clear, self.buffer = self._cleared(file), bytearray()

    def refused(self, why: str) -> DiaError:
        """Return the error for an archive that is rejected."""
        message = visible(f"the archive `{self.source}` is refused: {why}")
        return integrity_error(
            "E725", message, "`dia unpack` accepts only archives from `dia pack`; nothing was written"
        )

    def grant(self, size: int) -> None:
        """Count `size` unpacked bytes. Raises DiaError if they far exceed the archive's own size."""
        if size > max(FREE, RATIO * self.size):
            raise self.refused(f"it unpacks to more than {RATIO} times its size")
        self.left = size + (len(UNLISTED) + 1) * LARGEST_UNLISTED

    def next(self) -> tuple[str, int] | None:
        """Return the path and size of the next member, a regular file inside the folder; None at the end."""
        block = self._read(BLOCK)
        if not block.strip(b"\0"):
            self._end()
            return None
        try:
            entry = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError):
            raise self.refused("it is not a tar file") from None
        if entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise self.refused(f"`{entry.name}` is {KINDS.get(entry.type, 'not a regular file')}")
        if why := path_error(entry.name):
            raise self.refused(f"the path `{entry.name}`: {why}")
        if not 0 <= entry.size < LARGEST:
            raise self.refused(f"`{entry.name}` has an impossible size")
        return entry.name, entry.size

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of the latest member."""
        self.left -= size
        if self.left < 0:
            raise self.refused("it contains more data than its manifest says")
        padding = -size % BLOCK
        while size:
            piece = self._read(min(READ, size))
            size -= len(piece)
            yield piece
        if self._read(padding).strip(b"\0"):
            raise self.refused("there is extra data between its files")

    def _read(self, size: int) -> bytes:
        piece = self._take(size)
        if len(piece) != size:
            raise self.refused("it is truncated")
        return piece

    def _take(self, size: int) -> bytes:
        """Return this many bytes, or fewer at the end of the file."""
        while len(self.buffer) < size and (piece := next(self.clear, b"")):
            self.buffer += piece
        start = bytes(self.buffer[:size])
        del self.buffer[:size]
        return start

    def _end(self) -> None:
        """Check that only zeros of at most one record are left."""
        remainder = self._take(RECORD)
        if remainder.strip(b"\0") or self._take(1):
            raise self.refused("there is extra data after its end")

    def _cleared(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield the decompressed content in pieces; the file must be exactly one frame of zstd."""
        import zstandard

        frame = zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
        try:
            while not frame.eof and (chunk := file.read(CHUNK)):
                if piece := frame.decompress(chunk):
                    yield piece
        except zstandard.ZstdError as error:
            raise self.refused(f"it is damaged: {error}") from None
        if not frame.eof:
            raise self.refused("it is truncated")
        if frame.unused_data or file.read(1):
            raise self.refused("there is extra data after its end")
