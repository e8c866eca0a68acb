"""The walls around a program: no network, no other process, nothing to read but what it is given, nothing to change.

bubblewrap builds them where it is installed, else our own launcher, by the system call `unshare`; both are tried out
once before they are trusted. Behind either a program is process 2 below an init process, sees the same folders, and may
make the same system calls: what it does and prints does not tell which of the two it was.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dia_language.confinement.interpreters import LIBRARIES
from dia_language.confinement.permission import UNCONFINED
from dia_language.confinement.running import Allowance, bounded, run
from dia_language.confinement.system_calls import call_filter
from dia_language.diagnostics import LanguageError

HOME: Final = Path("/program")
DEVICES = (Path("/dev/null"), Path("/dev/urandom"))
NOBODY, FILTER = "65534", "filter"
SHELL = Path("/bin/sh")
LAUNCHER = (sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("launcher.py")))
UNSET = [word for name in ("_", "OLDPWD", "SHLVL") for word in ("--unsetenv", name)]  # what some shells add
MEND = "install bubblewrap and allow user namespaces; `--allow-programs=unconfined` runs programs with your own rights"


@dataclass(frozen=True, slots=True)
class Room:
    """What a program finds: folders and files that it may read, and its own folder, which is shown as HOME.

    With `has_processes` there is /proc, where it sees itself.
    """

    readable: tuple[Path, ...]
    folder: Path
    is_writable: bool = False
    has_processes: bool = False


@dataclass(frozen=True, slots=True)
class Wall:
    """One way to lock a program in: its name, how a command is put behind it, how many processes it adds."""

    name: str
    around: Callable[[Sequence[str], Room], list[str]]
    processes: int
    home: Callable[[Path], Path] = lambda folder: HOME


def _bubblewrapped(command: Sequence[str], room: Room) -> list[str]:
    """The command in bubblewrap."""
    binds = [word for path in room.readable for word in ("--ro-bind", str(path), str(path))]
    devices = [word for path in DEVICES for word in ("--dev-bind", str(path), str(path))]
    own = ["--bind" if room.is_writable else "--ro-bind", str(room.folder), str(HOME)]
    seccomp = call_filter()
    filtered = [] if seccomp is None else ["--seccomp", "9"]
    if seccomp is not None:
        (room.folder.parent / FILTER).write_bytes(seccomp)
    opened = [] if seccomp is None else ["/bin/sh", "-c", 'exec "$@" 9<"$0"', str(room.folder.parent / FILTER)]
    return [
        *opened, shutil.which("bwrap") or "bwrap", *filtered,
        "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session",
        "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL", "--hostname", "program", *UNSET,
        *binds, *devices, *own, *(["--proc", "/proc"] if room.has_processes else []),
        "--remount-ro", "/", "--chdir", "/", "--", *command,
    ]  # fmt: skip


def _unshared(command: Sequence[str], room: Room) -> list[str]:
    """The command behind our launcher, in namespaces and a root of its own; the root lies beside the room."""
    root = room.folder.parent / "root"
    root.mkdir(exist_ok=True)
    access, proc = "rw" if room.is_writable else "ro", "proc" if room.has_processes else "-"
    seccomp = call_filter()
    return [
        *LAUNCHER, "confined", str(root), str(room.folder), access, proc, "-" if seccomp is None else seccomp.hex(),
        *map(str, room.readable), "--", *command,
    ]  # fmt: skip


def _open(command: Sequence[str], room: Room) -> list[str]:
    """The command as it is; the kernel ends it when this process dies."""
    return [*LAUNCHER, "open", "--", *command]


WALLS = (Wall("bubblewrap", _bubblewrapped, 2), Wall("unshare", _unshared, 2))
NO_WALL = Wall("unconfined", _open, 0, lambda folder: folder)


@cache
def confinement() -> Wall | None:
    """The first way of locking in that works here, tried out; None where none does."""
    return next(filter(works, WALLS), None)


def works(wall: Wall) -> bool:
    """Whether a shell behind the wall starts, and neither finds a file that it is not given nor writes one."""
    shell = SHELL.resolve()
    with TemporaryDirectory(prefix="dia-program-") as folder:
        room = Room(tuple(readable([shell])), Path(folder, "own"))
        room.folder.mkdir()
        Path(folder, "hidden").touch()
        script = 'test ! -e "$0" && ! true 2>/dev/null > /program/file && echo inside'
        command = wall.around([str(shell), "-c", script, f"{folder}/hidden"], room)
        try:
            return run(bounded(command, Allowance()), b"", Allowance()).output == b"inside\n"
        except LanguageError:
            return False


def readable(paths: Iterable[Path]) -> list[Path]:
    """The paths with the system's libraries, each once and none inside another."""
    paths_to_bind: list[Path] = []
    for path in sorted({*filter(Path.exists, map(Path, LIBRARIES)), *paths}):
        if not any(folder in path.parents for folder in paths_to_bind if folder.is_dir()):
            paths_to_bind.append(path)
    return paths_to_bind


def chosen(permission: str) -> Wall:
    """The wall for a program. Raises LanguageError where nothing can confine and that is not allowed."""
    wall = confinement()
    if wall is not None:
        return wall
    if permission == UNCONFINED:
        return NO_WALL
    raise LanguageError("no sandbox is available on this machine: neither bubblewrap nor `unshare` works", MEND)
