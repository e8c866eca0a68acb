"""The languages of programs: what runs each, with which options, and how to get it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from dia_language.diagnostics import LanguageError, install_extra

HEAP_MEGABYTES = 160
PARI_MEGABYTES = 128
# Folders of shared libraries that system programs load
LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32",
             "/usr/local/lib", "/etc/ld.so.cache", "/etc/alternatives")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """A language: the commands that may run it, the options before the file, the file's ending, what it reads.

    A language without input would read a line from its own file.
    """

    commands: tuple[str, ...]
    options: tuple[str, ...] = ()
    ending: str = ""
    folders: tuple[str, ...] = ()
    package: str = ""
    has_own_memory_limit: bool = False
    has_input: bool = True


LANGUAGES: dict[str, Language] = {
    "python": Language((sys.executable,), ("-I", "-S", "-B"), ".py", package="python3"),
    "c": Language(("gcc", "cc", "clang"), (), ".c", package="gcc"),
    "javascript": Language(
        ("node", "nodejs"), (f"--max-old-space-size={HEAP_MEGABYTES}", "--no-warnings"), ".js",
        ("/usr/share/nodejs", "/usr/share/node_modules"), "nodejs", has_own_memory_limit=True,
    ),
    "php": Language(("php",), ("-n", "-d", "display_errors=stderr", "-f"), ".php", package="php-cli"),
    "perl": Language(("perl",), (), ".pl", ("/usr/share/perl", "/usr/share/perl5", "/etc/perl"), "perl"),
    "ruby": Language(("ruby",), ("--disable=gems", "-EUTF-8:UTF-8"), ".rb", ("/usr/share/ruby",), "ruby"),
    "bash": Language(("bash",), ("--noprofile", "--norc"), ".sh", package="bash"),
    "pari": Language(
        ("gp",), ("-q", "-f", "-s", "32M", "-D", f"parisizemax={PARI_MEGABYTES}M", "-D", "recover=0"), ".gp",
        ("/usr/share/pari",), "pari-gp", has_input=False,
    ),
    "elf": Language((), (), "", ()),
}  # fmt: skip


@cache
def interpreter(name: str) -> Path | None:
    """Return the real path of the program that runs or compiles a language; None if there is none."""
    path = next(filter(None, map(shutil.which, LANGUAGES[name].commands)), None)
    if path is not None:
        return Path(path).resolve()
    return _zig() if name == "c" else None


def _zig() -> Path | None:
    """Return the compiler that the extra `binary` installs."""
    spec = find_spec("ziglang")
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((path for folder in folders if (path := Path(folder) / "zig").is_file()), None)


def needed(name: str) -> Path:
    """Return the program that runs or compiles a language. Raises LanguageError, which says how to get it."""
    path = interpreter(name)
    if path is not None:
        return path
    language = LANGUAGES[name]
    if name == "c":
        message = f"no C compiler found: neither {', '.join(language.commands)} nor the extra `binary` is installed"
        raise LanguageError(message, f"install `gcc`, or {install_extra('binary')}")
    raise LanguageError(
        f"`{language.commands[0]}` is not installed, so {name} cannot run", f"install the package `{language.package}`"
    )


def folders_of(name: str, program: Path | None) -> Iterator[Path]:
    """Return all folders that a program of the language reads: system libraries, and those of its interpreter."""
    yield from filter(Path.exists, map(Path, (*LIBRARIES, *LANGUAGES[name].folders)))
    if program is None:
        return
    yield program
    if program.parent.name in ("bin", "sbin"):
        yield from filter(Path.exists, (program.parent.parent / part for part in ("lib", "lib64")))


@cache
def version_of(name: str) -> str | None:
    """Return the first line of the interpreter's version; None if there is none."""
    import subprocess  # takes 5 ms, which a compile without changes does not need

    program = interpreter(name)
    if program is None:
        return None
    option = "version" if program.name == "zig" else "--version"
    try:
        done = subprocess.run([program, option], capture_output=True, timeout=10, env={}, check=False,
                              stdin=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in lines if line.strip()), "unknown")


def stamp() -> str:
    """Return what changes when an interpreter is replaced: its path, size and modification time."""
    paths = [path for name in LANGUAGES if (path := interpreter(name)) is not None]
    return " ".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path in paths if (stat := os.stat(path)))  # noqa: PTH116
