"""The files that a PATH means: a benchmark's folder, a folder of such folders, or one template of a benchmark."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from dia_language.diagnostics import DiaError, Diagnostic

BENCHMARK_FILE = "benchmark.yaml"
SUFFIXES = (".yaml", ".yml")
FILES = 2_000


@dataclass(slots=True)
class Folder:
    """A benchmark's folder with its spec files; `chosen` are those named on the command line, empty for all."""

    path: Path
    files: list[Path]
    chosen: set[Path] = field(default_factory=set)


def discover(paths: list[Path]) -> list[Folder]:
    """Return the benchmark folders that the paths name, in order and without repeats. Raises DiaError (exit code 2)."""
    folders: dict[Path, Folder] = {}
    for path in paths:
        for folder, chosen in _folders(path):
            folder_entry = folders.setdefault(folder.resolve(), Folder(folder, _spec_files(folder)))
            if chosen is not None:
                folder_entry.chosen.add(chosen.resolve())
    whole = {folder.resolve() for path in paths for folder, chosen in _folders(path) if chosen is None}
    for key, folder_entry in folders.items():
        if key in whole:
            folder_entry.chosen.clear()
    return list(folders.values())


def folder_of_file(path: Path) -> Folder:
    """Return the benchmark folder of one spec file, which need not exist yet. Raises DiaError (exit code 2)."""
    if path.is_file():
        return discover([path])[0]
    folder, chosen = _folder_of(path)
    files = _spec_files(folder) if folder.is_dir() else []
    return Folder(folder, files, set()) if chosen is None else Folder(folder, [*files, chosen], {chosen.resolve()})


def _folders(path: Path) -> list[tuple[Path, Path | None]]:
    if path.is_file():
        return [_folder_of(path)]
    if not path.is_dir():
        raise _refused(f"no file or folder `{path}`", "name the folder of a benchmark, or the file of a template")
    if (path / BENCHMARK_FILE).is_file():
        return [(path, None)]
    inner = sorted(place.parent for place in path.glob(f"*/{BENCHMARK_FILE}"))
    if not inner:
        message = f"no {BENCHMARK_FILE} in `{path}` or in a folder directly below it"
        raise _refused(message, "a benchmark is a folder with a benchmark.yaml; `dia new NAME --benchmark` creates one")
    return [(folder, None) for folder in inner]


def _folder_of(path: Path) -> tuple[Path, Path | None]:
    if path.suffix not in SUFFIXES:
        raise _refused(f"`{path}` is not a spec file", "spec files end in .yaml")
    if path.name == BENCHMARK_FILE:
        return path.parent, None
    for folder in (path.parent, *path.parent.parents):
        if (folder / BENCHMARK_FILE).is_file():
            return folder, path
    raise _refused(
        f"no {BENCHMARK_FILE} next to `{path}` or in a folder above it", "a template belongs in a benchmark's folder"
    )


def _refused(message: str, help: str) -> DiaError:
    return DiaError(Diagnostic("E101", message, None, help))


def _spec_files(folder: Path) -> list[Path]:
    """Return every spec file except benchmark.yaml, sorted by name; links that leave the folder are errors.

    A subfolder with a benchmark.yaml is another benchmark, or a bundle that contains its specs.
    """
    files, home, everything = [], folder.resolve(), list(folder.rglob("*"))
    others = {path.parent for path in everything if path.name == BENCHMARK_FILE} - {folder}
    specs = [(path.relative_to(folder), path) for path in everything if path.suffix in SUFFIXES]
    for relative, path in sorted(specs, key=lambda pair: pair[0].as_posix()):
        if any(part.startswith(".") for part in relative.parts) or (others and others & set(path.parents)):
            continue
        if path.is_symlink() and not _is_inside(path, home):  # other files are inside, because `rglob` follows no links
            raise _refused(f"`{path}` is a link that leads outside the folder", "copy the file into the folder")
        if not path.as_posix().isprintable():
            raise _refused(
                f"the name of `{path}` contains a character that cannot be printed",
                "rename it with letters, digits, - and _",
            )
        if path.is_dir():
            continue
        if not path.is_file():
            raise _refused(f"`{path}` is not a regular file", "remove it, or replace it with a file")
        if relative.parts != (BENCHMARK_FILE,):
            files.append(path)
    if len(files) > FILES:
        raise _refused(f"`{folder}` has more than {FILES} spec files", "split them into several benchmarks")
    return files


def inside(folder: Path, name: str) -> Path | None:
    """Return the file of that name in the folder, or None if the name leaves the folder, even by a link."""
    if not name or "\\" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    return folder / name if _is_inside(folder / name, folder.resolve()) else None


def _is_inside(path: Path, home: Path) -> bool:
    """Return whether the path is in the resolved folder after links are followed; a link to itself counts as inside.

    `Path.resolve` raises an error for such a link only before Python 3.13.
    """
    try:
        return Path(os.path.realpath(path)).is_relative_to(home)
    except (OSError, ValueError):
        return False
