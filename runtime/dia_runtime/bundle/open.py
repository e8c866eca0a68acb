"""An open bundle: its manifest, and its records one at a time."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle import manifest as manifests
from dia_runtime.bundle.canonical import bundle_id
from dia_runtime.bundle.files import Measured, integrity_error, measure, open_inside
from dia_runtime.bundle.record_schemas import schema_error
from dia_runtime.bundle.records import ANSWER, QUESTION, TEMPLATE, Shape, shape_error
from dia_runtime.bundle.strict_json import parse_json

LONGEST_LINE = 1 << 25
PIECE = 1 << 18
# In a line of a question. Keys are sorted, and no text matches, because its quotes are escaped.
INSTANCE = re.compile(rb'"instance":[0-9]+,"item":"([^"/]+)([^"]*)"')
SESSIONS = b'"sessions":['


class Layout(NamedTuple):
    """The smallest and the largest number of instances of a template's items, and whether they have sessions."""

    fewest: int
    most: int
    has_sessions: bool


@dataclass(frozen=True, slots=True)
class Bundle:
    """A frozen bundle. Its files are read when asked for, line by line, and checked while they are read.

    An iteration that reaches the end of a file has compared the file with the manifest: a file that differs
    raises DiaError (exit 3) with the digest expected and the digest found.
    """

    path: Path
    manifest: dict[str, Any]
    id: str

    @property
    def questions_root(self) -> str:
        """Return the digest of the questions, which runs, sealed bundles and packed bundles share."""
        return str(self.manifest["questions_root"])

    @property
    def has_answers(self) -> bool:
        """Return whether the bundle contains readable answers; they may be withheld or sealed."""
        return bool(self.names("answers"))

    @property
    def is_sealed(self) -> bool:
        """Return whether the bundle contains the answers, specs and seed in encrypted form."""
        return isinstance(self.manifest.get("sealed"), dict)

    def questions(self) -> Iterator[dict[str, Any]]:
        """Yield the questions in file order."""
        return self.records("questions", QUESTION)

    def layouts(self) -> dict[str, Layout]:
        """Return how many instances the items of each template have, and whether its questions have sessions.

        Questions are not parsed, so that this is quick for a large bundle.
        """
        counts: dict[str, Counter[bytes]] = {}
        with_sessions: set[str] = set()
        previous: bytes | None = None
        for name in self.names("questions"):
            with self._opened(name) as file:
                for raw in iter(partial(file.readline, LONGEST_LINE), b""):
                    match = INSTANCE.search(raw)
                    if match is None or match[0] == previous:  # the same instance in another wording
                        continue
                    template, previous = match[1].decode(errors="replace"), match[0]
                    counts.setdefault(template, Counter())[match[2]] += 1
                    if SESSIONS in raw:
                        with_sessions.add(template)
        return {
            template: Layout(min(items.values()), max(items.values()), template in with_sessions)
            for template, items in counts.items()
        }

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield the answers, in the order of the questions."""
        return self.records("answers", ANSWER)

    def templates(self) -> Iterator[dict[str, Any]]:
        """Yield the records of the templates."""
        return self.records("templates", TEMPLATE)

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a listed file, in pieces."""
        with self._opened(name) as file:
            yield from iter(partial(file.read, PIECE), b"")

    def verified_pieces(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a listed file. Raises DiaError (exit 3) at the end if they do not match the manifest."""
        digest, size = hashlib.sha256(), 0
        for piece in self.pieces(name):
            digest.update(piece)
            size += len(piece)
            yield piece
        measured = Measured(size, digest.hexdigest())
        if not self.agrees(name, measured):
            raise self.differs(name, measured)

    def names(self, kind: str) -> list[str]:
        """Return the files of a kind of record: `questions.jsonl`, or the shards `questions-00000.jsonl` and so on."""
        pattern = re.compile(rf"{kind}(-[0-9]{{5,}})?\.jsonl")
        measured = [name for name in self.manifest["files"] if pattern.fullmatch(name)]
        return sorted(measured, key=lambda name: (len(name), name))

    def records(self, kind: str, shape: Shape) -> Iterator[dict[str, Any]]:
        """Yield the records of a kind after checking them by their schema."""
        for name in self.names(kind):
            yield from self._file(name, shape, kind)

    def _file(self, name: str, shape: Shape, kind: str) -> Iterator[dict[str, Any]]:
        fault: str | None = None
        with self._opened(name) as file:
            reading = _Lines(file)
            for number, raw in enumerate(reading, 1):
                # After an error the rest is only hashed: a changed file is reported by its digests.
                if fault is None:
                    record, why = _record(raw, shape, kind)
                    if why is None:
                        yield record
                    else:
                        fault = f"line {number} of `{name}` is not a valid record: {why}"
        measured = reading.measured()
        if not self.agrees(name, measured):
            raise self.differs(name, measured)
        if fault:
            raise integrity_error("E707", visible(fault))

    def _opened(self, name: str) -> BinaryIO:
        try:
            file = open_inside(self.path, name)
        except FileNotFoundError:
            raise integrity_error("E704", f"`{name}` is missing from `{self.path}`") from None
        if os.fstat(file.fileno()).st_size != self.manifest["files"][name]["size"]:
            file.close()
            raise self.differs(name, measure(self.path, name, self.manifest["files"][name]["size"]))
        return file

    def agrees(self, name: str, measured: Measured) -> bool:
        """Return whether a file matches its entry in the manifest."""
        return measured == self.expected(name)

    def differs(self, name: str, measured: Measured) -> DiaError:
        """Return the error for a file that does not match the manifest."""
        expected = self.expected(name)
        return integrity_error("E703", f"`{name}` differs from the manifest: expected {expected}, found {measured}")

    def expected(self, name: str) -> Measured:
        """Return the size and digest that the manifest lists for a file."""
        entry = self.manifest["files"][name]
        return Measured(entry["size"], entry["sha256"])


class _Lines:
    """The lines of a file, which are hashed while they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.digest, self.size = file, hashlib.sha256(), 0

    def __iter__(self) -> Iterator[bytes]:
        while raw := self.file.readline(LONGEST_LINE):
            self.digest.update(raw)
            self.size += len(raw)
            yield raw

    def measured(self) -> Measured:
        return Measured(self.size, self.digest.hexdigest())


def _record(raw: bytes, shape: Shape, kind: str) -> tuple[dict[str, Any], str | None]:
    if not raw.endswith(b"\n"):
        return {}, "it is too long or truncated"
    try:
        record = parse_json(raw)
    except ValueError as error:
        return {}, str(error)
    return record, shape_error(record, shape) or schema_error(record, kind)


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open the bundle in a folder. The manifest is verified now, the other files while they are read.

    Raises DiaError: exit code 2 if there is no bundle, 3 if its manifest is damaged or not from dia.
    """
    folder = Path(path)
    encoded = manifest_file(folder)
    manifest, faults = manifests.read_manifest(encoded)
    if manifest is None or faults:
        message = f"`{manifests.NAME}` of `{folder}` is damaged or not from dia: {faults[0]}"
        raise integrity_error("E702", visible(message), "get a new copy of the bundle, or recompile it from its specs")
    return Bundle(folder, manifest, bundle_id(encoded))


def manifest_file(folder: Path) -> bytes:
    """Return the bytes of a bundle's manifest. Raises DiaError if the folder is not a bundle."""
    try:
        with open_inside(folder, manifests.NAME) as file:
            encoded = file.read(manifests.LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_bundle(folder) from None
    except PermissionError as error:
        raise DiaError(Diagnostic("E701", f"`{folder}` cannot be read: {error.strerror}")) from None
    if len(encoded) > manifests.LARGEST:
        raise integrity_error("E702", f"`{manifests.NAME}` of `{folder}` is larger than {manifests.LARGEST} bytes")
    return encoded


ARCHIVES = ((b"PK", "a zip archive"), (b"\x28\xb5\x2f\xfd", "a packed file"), (b"\x1f\x8b", "a gzip archive"))
TAR = b"ustar"


def _archive(place: Path) -> str | None:
    """Return which kind of archive the file is, or None."""
    if not place.is_file():
        return None
    with place.open("rb") as file:
        start = file.read(512)
    if start[257:262] == TAR:
        return "a tar archive"
    return next((kind for magic, kind in ARCHIVES if start.startswith(magic)), None)


def is_packed(place: Path) -> bool:
    """Return whether the file looks like the output of `dia pack`."""
    return _archive(place) == "a packed file"


def _has_specs(place: Path) -> bool:
    """Return whether `dia compile` takes the path: a template file, a benchmark, or a folder of benchmarks."""
    if place.is_file():
        return place.suffix in (".yaml", ".yml")
    return any(next(place.glob(pattern), None) is not None for pattern in ("benchmark.yaml", "*/benchmark.yaml"))


def _no_bundle(folder: Path) -> DiaError:
    help = "name the folder that `dia compile` wrote; it contains `manifest.json`"
    if kind := _archive(folder):
        message = f"`{folder}` is {kind}, not the folder of a bundle"
        return integrity_error("E725", visible(message), "use `dia unpack` to unpack the file from `dia pack`")
    if not folder.exists():
        return DiaError(Diagnostic("E701", f"`{folder}` does not exist", None, help))
    if any(folder.glob("questions*.jsonl")) or any(folder.glob("answers*.jsonl")):
        return integrity_error("E704", f"`{manifests.NAME}` is missing from `{folder}`")
    if _has_specs(folder):
        help = f"compile it first: `dia compile {folder}`, then name the folder that this writes"
        return DiaError(Diagnostic("E701", visible(f"`{folder}` contains specs, not a bundle"), None, visible(help)))
    if not folder.is_dir():
        return DiaError(Diagnostic("E701", f"`{folder}` is a file, not the folder of a bundle", None, help))
    inside = sorted(path.parent for path in folder.glob(f"*/{manifests.NAME}"))
    help = visible(f"did you mean `{inside[0]}`?") if inside else help
    return DiaError(Diagnostic("E701", f"`{folder}` does not contain a bundle", None, help))
