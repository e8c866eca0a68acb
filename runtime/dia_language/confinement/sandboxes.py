"""Sandboxes for programs: no network, no other processes, only given files to read, and nothing to change.

bubblewrap creates them if it is installed, otherwise our own launcher with the system call `unshare`. Both are tested
before they are used. In either one, a program is process 2 below an init process, sees the same folders, and may make
the same system calls, so its behaviour and output do not depend on the sandbox.
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
UNSET = [word for name in ("_", "OLDPWD", "SHLVL") for word in ("--unsetenv", name)]  # added by some shells
MEND = "install bubblewrap and allow user namespaces; `--allow-programs=unconfined` runs programs with your own rights"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Files of a program: folders and files that it may read, and its own folder, which it sees as HOME.

    With `has_processes` it also sees /proc, with itself only. It sees the `hidden` folders, which are below readable
    ones, as empty.
    """

    readable: tuple[Path, ...]
    folder: Path
    is_writable: bool = False
    has_processes: bool = False
    hidden: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to confine a program: its name, how it wraps a command, and how many processes it adds."""

    name: str
    around: Callable[[Sequence[str], Workspace], list[str]]
    processes: int
    home: Callable[[Path], Path] = lambda folder: HOME


def _bubblewrapped(command: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the command wrapped in bubblewrap."""
    binds = [word for path in workspace.readable for word in ("--ro-bind", str(path), str(path))]
    binds += [word for path in workspace.hidden for word in ("--ro-bind", str(_empty(workspace)), str(path))]
    devices = [word for path in DEVICES for word in ("--dev-bind", str(path), str(path))]
    own = ["--bind" if workspace.is_writable else "--ro-bind", str(workspace.folder), str(HOME)]
    seccomp = call_filter()
    filtered = [] if seccomp is None else ["--seccomp", "9"]
    if seccomp is not None:
        (workspace.folder.parent / FILTER).write_bytes(seccomp)
    opened = [] if seccomp is None else ["/bin/sh", "-c", 'exec "$@" 9<"$0"', str(workspace.folder.parent / FILTER)]
    return [
        *opened, shutil.which("bwrap") or "bwrap", *filtered,
        "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session",
        "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL", "--hostname", "program", *UNSET,
        *binds, *devices, *own, *(["--proc", "/proc"] if workspace.has_processes else []),
        "--remount-ro", "/", "--chdir", "/", "--", *command,
    ]  # fmt: skip


def _unshared(command: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the command wrapped in our launcher, with its own namespaces and root next to the workspace."""
    root = workspace.folder.parent / "root"
    root.mkdir(exist_ok=True)
    access, proc = "rw" if workspace.is_writable else "ro", "proc" if workspace.has_processes else "-"
    seccomp = call_filter()
    return [
        *LAUNCHER, "confined", str(root), str(workspace.folder), access, proc,
        "-" if seccomp is None else seccomp.hex(),
        *map(str, workspace.readable),
        *(f"{_empty(workspace)}:{path}" for path in workspace.hidden), "--", *command,
    ]  # fmt: skip


def _empty(workspace: Workspace) -> Path:
    """Return an empty folder next to the workspace, which replaces hidden folders."""
    folder = workspace.folder.parent / "empty"
    folder.mkdir(exist_ok=True)
    return folder


def _open(command: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the command without a sandbox; the kernel ends it when this process dies."""
    return [*LAUNCHER, "open", "--", *command]


SANDBOXES = (Sandbox("bubblewrap", _bubblewrapped, 2), Sandbox("unshare", _unshared, 2))
NO_SANDBOX = Sandbox("unconfined", _open, 0, lambda folder: folder)


@cache
def confinement() -> Sandbox | None:
    """Return the first sandbox that works on this machine, or None."""
    return next(filter(works, SANDBOXES), None)


def works(sandbox: Sandbox) -> bool:
    """Return whether a shell starts in the sandbox, and can neither find files that it was not given nor write any."""
    shell = SHELL.resolve()
    with TemporaryDirectory(prefix="dia-program-") as folder:
        workspace = Workspace(tuple(readable([shell])), Path(folder, "own"))
        workspace.folder.mkdir()
        Path(folder, "hidden").touch()
        script = 'test ! -e "$0" && ! true 2>/dev/null > /program/file && echo inside'
        command = sandbox.around([str(shell), "-c", script, f"{folder}/hidden"], workspace)
        try:
            return run(bounded(command, Allowance()), b"", Allowance()).output == b"inside\n"
        except LanguageError:
            return False


def readable(paths: Iterable[Path]) -> list[Path]:
    """Return the paths and the system's libraries, without duplicates and paths inside others."""
    paths_to_bind: list[Path] = []
    for path in sorted({*filter(Path.exists, map(Path, LIBRARIES)), *paths}):
        if not any(folder in path.parents for folder in paths_to_bind if folder.is_dir()):
            paths_to_bind.append(path)
    return paths_to_bind


def chosen(permission: str) -> Sandbox:
    """Return the sandbox for a program. Raises LanguageError if none works and running without one is not allowed."""
    sandbox = confinement()
    if sandbox is not None:
        return sandbox
    if permission == UNCONFINED:
        return NO_SANDBOX
    raise LanguageError("no sandbox is available on this machine: neither bubblewrap nor `unshare` works", MEND)
