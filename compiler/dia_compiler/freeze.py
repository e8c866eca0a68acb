"""Rows -> a bundle on disk, atomically: everything is written beside the target and moved there at the end."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dia_runtime.bundle.canonical import bundle_id, line, manifest_bytes
from dia_runtime.bundle.manifest import FORMAT, NAME, PROVENANCE, with_checksum
from dia_runtime.bundle.merkle import MerkleTree
from dia_runtime.language.diagnostics import DiaError, Diagnostic
from dia_runtime.language.functions import library

from dia_compiler.check import CheckedBenchmark
from dia_compiler.records import Expanded
from dia_compiler.settings import settings_of
from dia_compiler.spec import TypeUse
from dia_compiler.types import TYPES

LANGUAGE = 1
DEFAULT_OUT = Path("build")
LIBRARIES = ("sympy", "mpmath", "jinja2", "pyyaml", "google-re2", "gmpy2")
TEMPORARY = ".dia-"


@dataclass(slots=True)
class BundlePlan:
    """A bundle to be made: from which benchmark, how many instances, under which seed, where."""

    item: CheckedBenchmark
    k: int
    seed: str
    out: Path | None
    force: bool
    is_limited: bool = False

    @property
    def folder(self) -> Path:
        """Where the bundle will lie."""
        return (self.out or DEFAULT_OUT) / self.folder_name

    @property
    def folder_name(self) -> str:
        """`<benchmark>-<version>-k<k>`, and the seed where it is not the default."""
        facts = self.item.benchmark.facts
        name = self.item.benchmark.name + self._selection()
        suffix = "" if self.seed == "0" else f"-{seed_word(self.seed)}"
        return f"{name}-{facts.get('version', '0.0.0')}-k{self.k}{suffix}"

    @property
    def is_selection(self) -> bool:
        """Whether it holds some templates of the benchmark only."""
        return bool(self.item.folder.chosen) or self.is_limited

    def _selection(self) -> str:
        """Nothing for a whole benchmark; else the one template, or a digest of the names of several."""
        if not self.is_selection:
            return ""
        names = sorted(template.name for template in self.item.clean)
        if len(names) == 1:
            return f".{names[0]}"
        return "." + hashlib.sha256(" ".join(names).encode()).hexdigest()[:8]


def seed_word(seed: str) -> str:
    """The seed as a part of a folder's name: itself where it is short and plain, else 8 digits of its SHA-256."""
    plain = 1 <= len(seed) <= 16 and all(char in "abcdefghijklmnopqrstuvwxyz0123456789-" for char in seed)
    return seed if plain else hashlib.sha256(seed.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Frozen:
    """A bundle that lies on disk."""

    path: Path
    benchmark: str
    digest: str
    questions_root: str
    templates: int
    items: int
    questions: int
    left_out: tuple[dict[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """The entry that `dia compile --json` prints."""
        return {
            "path": self.path.as_posix(),
            "benchmark": self.benchmark,
            "digest": self.digest,
            "questions_root": self.questions_root,
            "templates": self.templates,
            "items": self.items,
            "questions": self.questions,
            "left_out": list(self.left_out),
        }


def freeze(plan: BundlePlan, expanded: Sequence[Expanded]) -> Frozen:
    """The bundle of the rows, written to its folder. Raises DiaError (exit code 2) where it may not or cannot be."""
    target = plan.folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        with _beside(target) as folder:
            frozen, encoded = _write(plan, expanded, folder)
            if _holds_already(target, encoded):
                return frozen
            _refuse_foreign(plan, target)
            _replace(folder, target)
        return frozen
    except OSError as error:
        message = f"the bundle cannot be written to `{target}`: {error.strerror or error}"
        raise DiaError(Diagnostic("E602", message, None, "free space, or choose another folder with -o")) from None


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A private folder on the target's disk, gone afterwards whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{os.getpid()}-", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Removes what compiles that were killed have left behind."""
    for path in parent.glob(f"{TEMPORARY}*-*"):
        owner = path.name.removeprefix(TEMPORARY).partition("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _write(plan: BundlePlan, expanded: Sequence[Expanded], folder: Path) -> tuple[Frozen, bytes]:
    """Writes every file of the bundle into the folder; gives what was made and the manifest's bytes."""
    tree = MerkleTree()
    files: dict[str, dict[str, Any]] = {}
    rows = [row for held in expanded for row in held.rows]
    for row in rows:
        tree.add(row.leaf)
    _put(folder, "questions.jsonl", (row.question for row in rows), files)
    _put(folder, "answers.jsonl", (row.answer for row in rows), files)
    canary = plan.item.benchmark.facts.get("canary")
    templates = [line(_template_record(held, plan) | ({"canary": canary} if canary else {})) for held in expanded]
    _put(folder, "templates.jsonl", templates, files)
    for name, content in sorted(plan.item.files.items()):
        _put_bytes(folder, f"specs/{name}", content, files)
    manifest = _manifest(plan, expanded, tree.root(), files)
    encoded = manifest_bytes(manifest)
    _save(folder / NAME, encoded)
    _save(folder / PROVENANCE, manifest_bytes(provenance(bundle_id(encoded))) + b"\n")
    counts = manifest["counts"]
    frozen = Frozen(
        plan.folder, plan.item.benchmark.name, bundle_id(encoded), tree.root(),
        counts["templates"], counts["items"], counts["questions"], tuple(manifest["left_out"]),
    )  # fmt: skip
    return frozen, encoded


def _put(folder: Path, name: str, lines: Iterable[bytes], files: dict[str, dict[str, Any]]) -> None:
    _put_bytes(folder, name, b"".join(part + b"\n" for part in lines), files)


def _put_bytes(folder: Path, name: str, content: bytes, files: dict[str, dict[str, Any]]) -> None:
    _save(folder / name, content)
    files[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _save(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _template_record(held: Expanded, plan: BundlePlan) -> dict[str, Any]:
    template, rows = held.template, held.rows
    assert held.summary is not None
    commonest = max(Counter(row.text for row in rows).values(), default=0)
    share = Fraction(commonest, len(rows)) if rows else Fraction(0)
    positions = [row.position for row in rows]
    facts = template.facts
    return {
        "template": template.name,
        "title": str(facts.get("title", "")),
        "number": facts.get("number"),
        "category": str(facts.get("category", "uncategorised")),
        "domain": str(facts.get("domain", facts.get("category", "uncategorised"))),
        "level": str(facts.get("level", "")),
        "adversarial": str(facts.get("adversarial", "none")),
        "degree_of_freedom": held.summary.freedom.as_json(),
        "items": 1,
        "positions": None if positions == list(range(len(rows))) else positions,
        "source": plan.item.relative(template.file),
        "sha256": plan.item.digest_of(template),
        "answers": {"distinct": len({row.text for row in rows}), "commonest_share": str(share)},
    }


def _manifest(
    plan: BundlePlan, expanded: Sequence[Expanded], root: str, files: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    benchmark = plan.item.benchmark
    settings = settings_of(benchmark, None, plan.seed)
    used = sorted({name for held in expanded if held.summary for name in held.summary.functions})
    known = library()
    questions = sum(len(held.rows) for held in expanded)
    return with_checksum(
        {
            "format": FORMAT,
            "language": LANGUAGE,
            "benchmark": benchmark.name,
            "title": str(benchmark.facts.get("title", benchmark.name)),
            "version": str(benchmark.facts.get("version", "0.0.0")),
            "license": benchmark.facts.get("license"),
            "seed": plan.seed,
            "k": plan.k,
            "counts": {"templates": len(expanded), "items": len(expanded), "questions": questions},
            "points": settings.stored_points,
            "answer_format": dict(settings.format),
            "questions_root": root,
            "files": files,
            "functions": {name: known[name].revision for name in used if name in known},
            "types": {name: TYPES[name].revision for name in sorted(_used_types(expanded))},
            "templates": [held.template.name for held in expanded],
            "selection": plan.is_selection,
            "left_out": [{"template": item.template, "why": item.why} for item in plan.item.left_out],
            "canary": benchmark.facts.get("canary"),
        }
    )


def _used_types(expanded: Sequence[Expanded]) -> set[str]:
    found: set[str] = set()
    for held in expanded:
        stack: list[Any] = [parameter.type for parameter in held.template.parameters]
        stack += [p.type for c in held.template.shared.catalogs for e in c.entries for p in e.parameters]
        while stack:
            part = stack.pop()
            if isinstance(part, TypeUse):
                found.add(part.kind)
                stack += part.options.values()
            elif isinstance(part, tuple):
                stack += part
            elif isinstance(part, dict):
                stack += part.values()
    return found


def provenance(digest: str) -> dict[str, Any]:
    """The versions that computed the truth; no clock, host, user or path."""
    versions = {}
    for name in (*LIBRARIES, "dia-spec"):
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        "bundle_id": digest,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "libraries": versions,
        "tools": {},
    }


def _holds_already(target: Path, encoded: bytes) -> bool:
    """Whether the very same bundle lies there, every file of it unchanged."""
    from dia_runtime.bundle.verify import verify

    if not (target / NAME).is_file() or (target / NAME).read_bytes() != encoded:
        return False
    return not verify(target)


def _refuse_foreign(plan: BundlePlan, target: Path) -> None:
    """Raises DiaError where something lies at the target that only --force may replace."""
    if plan.force or not _exists(target):
        return
    reason = _reason_to_keep(plan, target)
    if reason is not None:
        message = f"`{target}` {reason}"
        raise DiaError(Diagnostic("E601", message, None, "--force replaces it; -o chooses another folder"))


def _reason_to_keep(plan: BundlePlan, target: Path) -> str | None:
    if plan.out is not None:
        return "holds something else"
    if not (target / NAME).is_file():
        return "is not a bundle"
    if (target / "signature.json").exists():
        return "is signed"
    digest = hashlib.sha256((target / NAME).read_bytes()).hexdigest()
    run = _run_of(target.parent / "runs", digest)
    return f"is what the run `{run}` was asked from" if run else None


def _run_of(folder: Path, digest: str) -> Path | None:
    """A run in the folder that was asked from the bundle of that digest."""
    for path in sorted(folder.glob("*.run")):
        with contextlib.suppress(sqlite3.Error):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            with contextlib.closing(connection):
                found = connection.execute(
                    "SELECT 1 FROM meta WHERE key = 'bundle_id' AND value LIKE ?", (f"%{digest}%",)
                )
                if found.fetchone():
                    return path
    return None


def _exists(target: Path) -> bool:
    return target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir())))


def _replace(folder: Path, target: Path) -> None:
    """Moves the new bundle to the target; the old one, if any, steps aside and is removed."""
    folder.chmod(0o755)
    if not (target.exists() or target.is_symlink()):
        folder.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{os.getpid()}-", dir=target.parent)) / "old"
    try:
        target.rename(aside)
        folder.rename(target)
    except BaseException:  # an interrupt between the two must not cost the old one
        if _exists(aside) and not _exists(target):
            aside.rename(target)
        raise
    finally:
        shutil.rmtree(aside.parent, ignore_errors=True)
