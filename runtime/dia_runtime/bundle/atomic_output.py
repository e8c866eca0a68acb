"""Folders and files that appear completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.workers.processes import host, process_start

from dia_runtime.bundle.safe_paths import refuse_special_file

PRIVATE = 0o600
TEMPORARY = ".dia-"  # private folders are called .dia-MACHINE-PROCESS-SUFFIX
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
ELSEWHERE = "choose another location with -o"
REPLACE = f"replace it with --force, or {ELSEWHERE}"
ABANDONED_AFTER = 7 * 86_400  # seconds, for folders whose process cannot be looked up


def named_path(place: Path) -> Path:
    """Return the path with a real file name instead of `.` or `..`."""
    return place if place.name not in ("", "..") else place.resolve()


@contextlib.contextmanager
def atomic_folder(target: Path, force: bool = False, source: Path | None = None) -> Iterator[Path]:
    """Yield a private folder on the disk of the target. It is moved there at the end, and deleted on any error.

    Raises DiaError (exit 2) if the target exists and `force` is not set, or cannot be written. A folder that
    contains the source or the working folder is never replaced.
    """
    _require_free(target, force, REPLACE)
    require_replaceable(target, source)
    with write_errors(target), temporary_sibling(target) as private:
        new_folder = private / "made"
        new_folder.mkdir()
        yield new_folder
        _require_free(target, force, REPLACE)  # another process may have been quicker
        replace_with(new_folder, target, private / "old")


@contextlib.contextmanager
def atomic_file(
    target: Path, force: bool = False, mode: int | None = None, fix: str = ELSEWHERE
) -> Iterator[IO[bytes]]:
    """Yield a file that is moved to the target at the end, and deleted on any error. Raises the same errors.

    `fix` is the help for a target that exists; it depends on the options of the command.
    """
    _require_free(target, force, fix, is_file=True)
    with write_errors(target), temporary_sibling(target) as private:
        new_path = private / "made"
        with new_path.open("xb") as file:
            if mode is not None:
                new_path.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force:
            new_path.replace(target)
        else:
            _link(new_path, target, fix)


def require_replaceable(target: Path, source: Path | None = None) -> None:
    """Raise DiaError (exit 2) if replacing the target would delete the source or the working folder.

    The target must not be inside the source bundle either, because that would invalidate the bundle.
    """
    refuse_special_file(target)
    if source is not None and source.resolve() in target.resolve().parents:
        message = visible(f"`{target}` is inside `{source}`, which must not change")
        raise DiaError(Diagnostic("E601", message, None, ELSEWHERE))
    if not target.is_dir() or not any(target.iterdir()):
        return
    place = target.resolve()
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - Path.expanduser fails for a user without one
    protected = [Path.cwd(), home] + ([] if source is None else [source.resolve().parent])
    if any(below.is_relative_to(place) for below in protected):
        message = f"`{target}` is not replaced, because it contains other files than a result of dia"
        raise DiaError(Diagnostic("E601", visible(message), None, ELSEWHERE))


def _link(new_path: Path, target: Path, fix: str) -> None:
    """Give the file its name, without replacing a file that another process has created meanwhile."""
    try:
        os.link(new_path, target)
    except FileExistsError:
        raise _exists(target, fix) from None
    except OSError:  # a disk without links
        _require_free(target, False, fix, is_file=True)
        new_path.rename(target)


def _require_free(target: Path, force: bool, fix: str, is_file: bool = False) -> None:
    refuse_special_file(target)
    is_folder_in_the_way = is_file and target.is_dir()
    if force and not is_folder_in_the_way:
        return
    is_empty = not is_file and target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    if os.path.lexists(target) and not is_empty:
        raise _exists(target, ELSEWHERE if is_folder_in_the_way else fix)


def _exists(target: Path, fix: str) -> DiaError:
    return DiaError(Diagnostic("E601", visible(f"`{target}` already exists"), None, fix))


def replace_with(new_folder: Path, target: Path, old: Path) -> None:
    """Move the new folder to its target. The old one is moved away first, and restored if that fails."""
    if os.path.lexists(target):
        target.rename(old)
    try:
        new_folder.rename(target)
    except BaseException:
        if os.path.lexists(old):
            old.rename(target)
        raise


@contextlib.contextmanager
def temporary_sibling(target: Path) -> Iterator[Path]:
    """Yield a private folder next to the target; delete it afterwards, with created parents that are empty."""
    missing = [folder for folder in target.absolute().parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    private = make_private_folder(target.parent)
    try:
        yield private
    finally:
        shutil.rmtree(private, ignore_errors=True)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


def make_private_folder(parent: Path) -> Path:
    """Make a private folder in the parent, and remove those that killed processes left there."""
    for path in parent.glob(f"{TEMPORARY}*-*-*"):
        if _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{_machine()}-{os.getpid()}-", dir=parent))


def _is_abandoned(private: Path) -> bool:
    """Return whether the process that made a private folder has ended.

    A process of another machine that shares the disk, or from before this machine was restarted, cannot be looked up.
    """
    machine, process, _ = private.name.removeprefix(TEMPORARY).split("-", 2)
    if machine == _machine() and process.isdigit():
        return process_start(int(process)) is None
    with contextlib.suppress(OSError):
        return time.time() - private.stat().st_mtime > ABANDONED_AFTER
    return False


def _machine() -> str:
    return hashlib.sha256(host().encode()).hexdigest()[:8]


@contextlib.contextmanager
def write_errors(target: Path) -> Iterator[None]:
    """Turn errors of writing the target into DiaError (exit 2)."""
    try:
        yield
    except OSError as error:
        raise write_error(f"`{target}` cannot be written", error, ELSEWHERE) from None


def write_error(failure: str, error: OSError, other_place: str) -> DiaError:
    """Return the error (exit 2) for output that cannot be written. `other_place` is a fix for every reason."""
    help = f"free some disk space, or {other_place}" if error.errno in FULL_DISK else other_place
    return DiaError(Diagnostic("E602", visible(f"{failure}: {why_not_written(error)}"), None, help))


def why_not_written(error: OSError) -> str:
    """Return the reason of the operating system, or which part of the path is a file instead of a folder."""
    if isinstance(error, (FileExistsError, NotADirectoryError)) and error.filename is not None:
        path = Path(os.fsdecode(error.filename))
        for place in (path, *path.parents):
            if os.path.lexists(place) and not place.is_dir():
                return f"`{place}` is not a folder"
    return error.strerror or str(error)
