"""Atomic output: bundles are written to a private folder next to the target and moved at the end.

No file that might be valuable is replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.confinement.permission import NO
from dia_language.counts import counted
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.atomic_output import make_private_folder, write_error
from dia_runtime.bundle.manifest import NAME
from dia_runtime.bundle.safe_paths import refuse_special_file

if TYPE_CHECKING:
    from dia_compiler.sampling.steering import Steering, SteeringRequest

DEFAULT_OUT = Path("build")
SHARD = 100_000
DEFAULT_K = 5  # instances of a template in a compile without --k
SPAN = 200  # instances of a template that are made in one task


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The options of a compile: number of instances, seed, output folder and so on."""

    k: int = DEFAULT_K
    seed: str | None = None
    out: Path | None = None
    jobs: int = 1
    is_strict: bool = False
    force: bool = False
    limit: int | None = None
    use_cache: bool = True
    shard_size: int = SHARD
    programs: str = NO
    steering: SteeringRequest | Steering | None = None

    @property
    def folder(self) -> Path:
        """The folder for the bundles."""
        return self.out or DEFAULT_OUT


@dataclass(frozen=True, slots=True)
class FrozenBundle:
    """A bundle on disk."""

    path: Path
    benchmark: str
    digest: str
    questions_root: str
    templates: int
    items: int
    questions: int
    left_out: tuple[dict[str, str], ...]
    instances: int | None = None  # questions without variants; None if unknown

    @property
    def contents(self) -> str:
        """The numbers of questions and templates in words, and those of items and variants, if there are more."""
        items = f" of {counted(self.items, 'item')}" if self.items != self.templates else ""
        variants = 0 if self.instances is None else self.questions - self.instances
        note = f"; {variants:,} of them {'is a variant' if variants == 1 else 'are variants'}" if variants else ""
        return f"{counted(self.questions, 'question')}{items} of {counted(self.templates, 'template')}{note}"

    def as_json(self) -> dict[str, Any]:
        """Return the entry that `dia compile --json` prints."""
        return {
            "path": self.path.as_posix(),
            "benchmark": self.benchmark,
            "digest": self.digest,
            "questions_root": self.questions_root,
            "templates": self.templates,
            "items": self.items,
            "questions": self.questions,
            "left_out": list(self.left_out),
            "instances": self.instances,
        }


@contextlib.contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """Yield a private folder on the disk of the bundles.

    It is always deleted afterwards, with parents that are left empty.

    Raises DiaError (exit code 2) if it cannot be made.
    """
    new_folders = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    try:
        with reporting_write_errors(parent):
            parent.mkdir(parents=True, exist_ok=True)
            folder = make_private_folder(parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        for empty in new_folders:
            with contextlib.suppress(OSError):
                empty.rmdir()


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """Yield a temporary folder for files of asset builders; nothing else writes there.

    It is deleted even if a dying worker still writes to it.
    """
    with tempfile.TemporaryDirectory(prefix=f"dia-tools-{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def reporting_write_errors(target: Path) -> Iterator[None]:
    """Report errors while the target is written as DiaError (exit code 2)."""
    try:
        yield
    except OSError as error:
        failure = f"the bundle cannot be written to `{target}`"
        raise write_error(failure, error, "choose another folder with -o") from None


def refuse_foreign(target: Path, options: CompileOptions) -> None:
    """Raise DiaError if the target exists and only --force may replace it."""
    refuse_special_file(target)
    if options.force or not _exists(target):
        return
    reason = _reason_to_keep(target, options)
    if reason is not None:
        message = f"`{target}` {reason}"
        help = f"--force replaces it; `-o OTHER` writes the bundle to `OTHER/{target.name}`"
        raise DiaError(Diagnostic("E601", message, None, visible(help)))


def _reason_to_keep(target: Path, options: CompileOptions) -> str | None:
    if options.out is not None:
        return "already exists with different content"
    if not (target / NAME).is_file():
        return "is not a bundle"
    if (target / "signature.json").exists():
        return "is signed"
    if seal := _seal_of(target):
        return "is sealed" if seal == target else f"belongs to the seal `{seal}`"
    digest = hashlib.sha256((target / NAME).read_bytes()).hexdigest()
    run = _run_of(target.parent / "runs", digest)
    return f"was used by the run `{run}`" if run else None


def _seal_of(target: Path) -> Path | None:
    """Return a sealed bundle of the same questions next to the target, or the target itself."""
    root = _facts(target).get("questions_root")
    for path in (target, *sorted(target.parent.glob(f"*/{NAME}"))):
        folder = path if path == target else path.parent
        facts = _facts(folder)
        if facts.get("sealed") and facts.get("questions_root") == root:
            return folder
    return None


def _facts(folder: Path) -> dict[str, Any]:
    """Return the manifest of a bundle on disk; an empty one if it cannot be read."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        facts = json.loads((folder / NAME).read_bytes())
        return facts if isinstance(facts, dict) else {}
    return {}


def _run_of(folder: Path, digest: str) -> Path | None:
    """Return a run in the folder that was asked from the bundle of that digest."""
    import sqlite3

    for path in sorted(folder.glob("*.run")):
        with contextlib.suppress(sqlite3.Error):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            with contextlib.closing(connection):
                cursor = connection.execute(
                    "SELECT 1 FROM meta WHERE key = 'bundle_id' AND value LIKE ?", (f"%{digest}%",)
                )
                if cursor.fetchone():
                    return path
    return None


def _exists(target: Path) -> bool:
    return target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir())))


def replace(folder: Path, target: Path) -> None:
    """Move the new bundle to the target; an old one is moved aside first and then deleted."""
    folder.chmod(0o755)
    if not (target.exists() or target.is_symlink()):
        folder.rename(target)
        return
    aside = make_private_folder(target.parent) / "old"
    try:
        target.rename(aside)
        folder.rename(target)
    except BaseException:  # an interrupt between the two steps must not lose the old one
        if _exists(aside) and not _exists(target):
            aside.rename(target)
        raise
    finally:
        shutil.rmtree(aside.parent, ignore_errors=True)
