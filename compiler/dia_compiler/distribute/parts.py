"""Parts of a compile: which instances each part contains, and the format of its folder.

A part is recognised by its `part.json`, which lists every other file with its SHA-256. Its content depends
only on the specs, the seed, k, its number and the number of parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_compiler.freeze.output import SPAN
from dia_compiler.freeze.shards import Files, write_file
from dia_compiler.freeze.spool import PARTS, Spool
from dia_compiler.generate.expand import ALL
from dia_compiler.parse.model import Template
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.files import measure, open_inside, path_error, walk
from dia_runtime.bundle.manifest import checksum, with_checksum
from dia_runtime.bundle.strict_json import parse_json

FORMAT = 1
NAME = "part.json"
LARGEST = 1 << 25
MOST = 1_000_000
ROWS, SPECS = "rows", "specs"
WRITTEN = re.compile(r"([0-9]{1,7})/([0-9]{1,7})", re.ASCII)
SHAPE: dict[str, type] = {
    "part": int, "of": int, "benchmark": str, "order": dict, "specs": dict, "left_out": list, "templates": list,
    "versions": dict, "files": dict,
}  # fmt: skip
ORDERED: dict[str, tuple[type, ...]] = {
    "seed": (str,), "k": (int,), "limit": (int, type(None)), "chosen": (list,), "shard_size": (int,),
    "is_strict": (bool,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartNumber:
    """The number of a part, and the number of parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_part_number(text: str) -> PartNumber:
    """Parse I/N. Raises DiaError (exit 2) if it is not a part."""
    match = WRITTEN.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of <= MOST:
        message = visible(f"`{text[:40]}` is not a part: give the number of the part and the number of parts")
        raise DiaError(Diagnostic("E600", message, None, "write `--part 1/4`, then 2/4, 3/4 and 4/4"))
    return PartNumber(number, of)


def instance_range(template: Template, k: int, place: int, part: PartNumber) -> tuple[int, int | None] | None:
    """Return the first instance and the end of the part's instances of a template; None if it has none.

    A template of many consecutive instances is divided among all parts. Any other template is in one part.
    """
    count = k if template.instances is None else template.instances
    is_divided = template.each is None and not template.is_boundary_first and count != ALL and int(str(count)) > SPAN
    if not is_divided:
        return (0, None) if place % part.of == part.number - 1 else None
    first, last = (int(str(count)) * at // part.of for at in (part.number - 1, part.number))
    return (first, last) if first < last else None


@dataclass(frozen=True, slots=True)
class TemplatePart:
    """The rows of a template in a part, and what its workers reported."""

    template: str
    first: int
    spool: Spool
    summary: Mapping[str, Any]


def write_part(folder: Path, facts: Mapping[str, Any], specs: Mapping[str, bytes], pieces: list[TemplatePart]) -> int:
    """Write the part into an empty folder, and return the number of rows."""
    files: Files = {}
    for name, content in sorted(specs.items()):
        write_file(folder, f"{SPECS}/{name}", content, files)
    (folder / ROWS).mkdir(exist_ok=True)
    for number, piece in enumerate(pieces):
        for kind, part in piece.spool.parts.items():
            name = f"{ROWS}/{number}.{kind}"
            part.flush(part.path or folder / name)
            if part.path is not None:
                part.path.rename(folder / name)
            measured = measure(folder, name, part.size)
            files[name] = {"size": measured.size, "sha256": measured.sha256}
    templates = [
        {"template": piece.template, "first": piece.first, "rows": piece.spool.rows, "sample": piece.spool.sample,
         "summary": piece.summary}
        for piece in pieces
    ]  # fmt: skip
    spec_digests = {name: files[f"{SPECS}/{name}"]["sha256"] for name in specs}
    described = with_checksum(
        {"format": FORMAT, **facts, "specs": spec_digests, "templates": templates, "files": files}
    )
    write_file(folder, NAME, manifest_bytes(described), {})
    return sum(piece.spool.rows for piece in pieces)


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part on disk, whose files match its `part.json`."""

    folder: Path
    facts: Mapping[str, Any]

    @property
    def part_number(self) -> PartNumber:
        """The number of the part, and the number of parts."""
        return PartNumber(self.facts["part"], self.facts["of"])

    def pieces(self) -> dict[str, TemplatePart]:
        """Template -> its rows in the part."""
        pieces = {}
        for number, entry in enumerate(self.facts["templates"]):
            spool = Spool()
            spool.rows, spool.sample = entry["rows"], entry["sample"]
            for kind in PARTS:
                part = spool.parts[kind]
                part.path = self.folder / ROWS / f"{number}.{kind}"
                part.size = self.facts["files"][f"{ROWS}/{number}.{kind}"]["size"]
            pieces[entry["template"]] = TemplatePart(entry["template"], entry["first"], spool, entry["summary"])
        return pieces


def part_folders(path: Path) -> list[Path]:
    """Return the part at the path, or those directly in the folder. Raises DiaError (exit 2) if there are none."""
    if (path / NAME).is_file():
        return [path]
    below = sorted(place.parent for place in path.glob(f"*/{NAME}")) if path.is_dir() else []
    if not below:
        help = "name run files, or folders that `dia compile --part I/N` made"
        raise DiaError(Diagnostic("E610", visible(f"`{path}` is not a part and contains none"), None, help))
    return below


def read_part(folder: Path) -> StoredPart:
    """Return the part at this path. Raises DiaError (exit 3) if any byte was changed."""
    try:
        with open_inside(folder, NAME) as file:
            encoded = file.read(LARGEST + 1)
        facts: Any = parse_json(encoded) if len(encoded) <= LARGEST else None
        if not _is_whole(facts, encoded):
            raise damaged_part(folder, f"`{NAME}` does not match its own checksum")
        for name, entry in facts["files"].items():
            measured = measure(folder, name, entry["size"])
            if (measured.size, measured.sha256) != (entry["size"], entry["sha256"]):
                raise damaged_part(folder, f"the contents of `{name}` do not match `{NAME}`")
        for name, _ in walk(folder):
            if name != NAME and name not in facts["files"]:
                raise damaged_part(folder, f"`{name}` is not listed in `{NAME}`")
    except (OSError, ValueError) as error:
        why = f"`{Path(error.filename).name}` is missing" if isinstance(error, FileNotFoundError) else str(error)
        raise damaged_part(folder, why) from None
    return StoredPart(folder, facts)


def damaged_part(folder: Path, why: str) -> DiaError:
    """Return the error for a damaged part (exit 3)."""
    message = visible(f"the part `{folder}` is damaged: {why}")
    return DiaError(Diagnostic("E611", message, None, "compile this part again"), 3)


def _is_whole(facts: Any, encoded: bytes) -> bool:
    """Return whether the description has the right shape and matches its checksum."""
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        return False
    if any(type(facts.get(name)) is not kind for name, kind in SHAPE.items()):
        return False
    order, files = facts["order"], facts["files"]
    if any(type(order.get(name)) not in kinds for name, kinds in ORDERED.items()):
        return False
    if not (_is_possible(facts) and all(f"{SPECS}/{name}" in files for name in order["chosen"])):
        return False
    if not all(_is_entry(name, entry) for name, entry in files.items()):
        return False
    expected = {f"{SPECS}/{name}": digest for name, digest in facts["specs"].items()}
    if any(files.get(name, {}).get("sha256") != digest for name, digest in expected.items()):
        return False
    if not all(_is_template_entry(described, number, files) for number, described in enumerate(facts["templates"])):
        return False
    return facts.get("checksum") == checksum(facts) and manifest_bytes(facts) == encoded


def _is_possible(facts: Mapping[str, Any]) -> bool:
    """Return whether numbers are in range, and lists have the right elements."""
    order = facts["order"]
    texts_of_facts = [facts["versions"].values(), facts["specs"].values(), order["chosen"]]
    return (
        1 <= facts["part"] <= facts["of"] <= MOST
        and min(order["k"], order["shard_size"], 1 if order["limit"] is None else order["limit"]) >= 1
        and all(isinstance(text, str) for texts in texts_of_facts for text in texts)
        and all(isinstance(item, dict) and type(item.get("template")) is str for item in facts["left_out"])
    )


def _is_entry(name: str, entry: Any) -> bool:
    return (
        path_error(name) is None
        and isinstance(entry, dict)
        and type(entry.get("size")) is int
        and type(entry.get("sha256")) is str
    )


def _is_template_entry(entry: Any, number: int, files: Mapping[str, Any]) -> bool:
    """Return whether the entry of a template has the right shape, and its files are listed."""
    kinds = {"template": str, "first": int, "rows": int, "sample": str, "summary": dict}
    return (
        isinstance(entry, dict)
        and all(type(entry.get(name)) is kind for name, kind in kinds.items())
        and all(f"{ROWS}/{number}.{kind}" in files for kind in PARTS)
    )
