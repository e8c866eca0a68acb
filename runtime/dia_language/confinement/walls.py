"""The walls around a program: no network, no other process, nothing to read but what it is given, nothing to change.

bubblewrap builds them where it is installed, else `unshare` with a root of our own; both are tried out once before they
are trusted.
"""

from __future__ import annotations

import shutil
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
    found = call_filter()
    filtered = [] if found is None else ["--seccomp", "9"]
    if found is not None:
        (room.folder.parent / FILTER).write_bytes(found)
    opened = [] if found is None else ["/bin/sh", "-c", 'exec "$@" 9<"$0"', str(room.folder.parent / FILTER)]
    return [
        *opened, *_tool("bwrap"), *filtered, "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session",
        "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL", "--hostname", "program",
        *binds, *devices, *own, *(["--proc", "/proc"] if room.has_processes else []),
        "--remount-ro", "/", "--chdir", "/", "--", *command,
    ]  # fmt: skip


# Runs as root of new namespaces: builds the root, then steps down to nobody, who has no rights over it.
BUILD = """set -e
root=$1; home=$2; way=$3; processes=$4; shift 4
mount -t tmpfs -o mode=755,size=1m tmpfs "$root"
lay() {
  if [ -d "$2" ]; then mkdir -p "$root$3"; else mkdir -p "$root${3%/*}"; : > "$root$3"; fi
  mount -o "$1" "$2" "$root$3"
}
lay rbind,$way,nosuid,nodev "$home" /program
[ "$processes" = no ] || { mkdir -p "$root/proc"; mount -t proc proc "$root/proc"; }
for device in /dev/null /dev/urandom; do lay rbind "$device" "$device"; done
while [ "$1" != -- ]; do lay rbind,ro,nosuid,nodev "$1" "$1"; shift; done
shift
mount -o remount,bind,ro "$root"
# no memory of System V, which belongs to no process; older kernels leave these numbers to the machine's root
for number in shmall msgmni; do { echo 0 > /proc/sys/kernel/$number; } 2>/dev/null || true; done
exec unshare --user --root="$root" --wd=/ -- "$@"
"""


def _unshared(command: Sequence[str], room: Room) -> list[str]:
    """The command in namespaces and a root that a shell builds from read-only binds; the root lies beside the room."""
    root = room.folder.parent / "root"
    root.mkdir(exist_ok=True)
    way = "rw" if room.is_writable else "ro"
    return [
        *_tool("setpriv"), "--pdeathsig", "KILL", "--no-new-privs", "--",
        *_tool("unshare"), "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts",
        "--fork", "--kill-child", "--", "/bin/sh", "-c", f"PATH={_path()}\n{BUILD}", "sh",
        str(root), str(room.folder), way, "yes" if room.has_processes else "no",
        *map(str, room.readable), "--", *command,
    ]  # fmt: skip


def _open(command: Sequence[str], room: Room) -> list[str]:
    """The command as it is; the kernel ends it when this process dies, where there is a tool that asks it to."""
    tool = shutil.which("setpriv")
    return [*([tool, "--pdeathsig", "KILL", "--no-new-privs", "--"] if tool else []), *command]


def _tool(name: str) -> list[str]:
    found = shutil.which(name)
    return [found if found is not None else name]


def _path() -> str:
    """Where the tools of the system lie."""
    return "/usr/sbin:/usr/bin:/sbin:/bin"


WALLS = (Wall("bubblewrap", _bubblewrapped, 2), Wall("unshare", _unshared, 1))
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
    found: list[Path] = []
    for path in sorted({*filter(Path.exists, map(Path, LIBRARIES)), *paths}):
        if not any(held in path.parents for held in found if held.is_dir()):
            found.append(path)
    return found


def chosen(permission: str) -> Wall:
    """The wall for a program. Raises LanguageError where nothing can confine and that is not allowed."""
    wall = confinement()
    if wall is not None:
        return wall
    if permission == UNCONFINED:
        return NO_WALL
    raise LanguageError("nothing here can confine a program: neither bubblewrap nor `unshare` works", MEND)
