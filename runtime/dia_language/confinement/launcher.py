"""Start a program, confined by the kernel alone: run as a script, which imports nothing of this project.

`launcher.py confined ROOT FOLDER rw|ro PROC|- FILTER|- READABLE... -- COMMAND...` creates namespaces with our init
process as process 1 and the command as process 2, like bubblewrap: as process 1, the command would not receive signals
that it sends to itself. The init process reaps orphans, forwards no signals, and ends everything with the command. It
ends with the command's exit code, or with 128 plus the number of the signal that killed it. `launcher.py open --
COMMAND...` only prevents the command from gaining rights. Either dies with the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys

TYPE_CHECKING = False  # importing `typing` would take a quarter of the start of every program
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

# CLONE_NEW... of mounts, host name, System V objects, users, processes and network; of control groups, if they exist
NAMESPACES, CONTROL_GROUPS = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000, 0x02000000
READ_ONLY, NO_SETUID, NO_DEVICES, REMOUNT, BIND, MOVE, RECURSIVE, PRIVATE = 1, 2, 4, 32, 4096, 8192, 1 << 14, 1 << 18
# Restrictions of a mount that cannot be lifted without rights: flag of statvfs -> flag of mount
LOCKED = {1: 1, 2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
PARENT_DEATH_SIGNAL, SECCOMP, DROP_BOUND, NO_NEW_PRIVILEGES = 1, 22, 24, 38
CAPABILITIES, FILTER_MODE = 64, 2
UP, SET_FLAGS, INET, DATAGRAM = 1, 0x8914, 2, 2
DEVICES = ("/dev/null", "/dev/urandom")
HOME, NOBODY, HOST = "/program", 65534, b"program"
ENVIRONMENT = {"PWD": "/"}  # as bubblewrap leaves it
CANNOT_START, CANNOT_EXECUTE = 125, 126

LIBRARY = ctypes.CDLL(None, use_errno=True)


def main(mode: str, *words: str) -> NoReturn:
    parent = os.getppid()
    before, command = words[: words.index("--")], words[words.index("--") + 1 :]
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # which Python has changed
        signal.signal(number, signal.SIG_DFL)
    if mode == "open":
        die_with(parent)
        execute(command)
    root, folder, access, proc, call_filter, *readable = before
    try:
        enter_namespaces()
        die_with(parent)
        init = in_child(lambda: init_process(root, folder, access == "rw", proc != "-", call_filter, readable, command))
    except OSError as error:
        fail(error)
    close_all()
    end_like(init, ends_with_it=False)


def init_process(
    root: str, folder: str, is_writable: bool, has_proc: bool, call_filter: str, readable: Iterable[str],
    command: tuple[str, ...],
) -> NoReturn:  # fmt: skip
    """Run as process 1: build the root, start the command, and wait."""
    try:
        die_with(None)
        os.setsid()
        call("sethostname", HOST, len(HOST))
        raise_loopback()
        forbid_system_v()
        build_root(root, folder, is_writable, has_proc, readable)
        drop_rights()
        program = in_child(lambda: program_process(call_filter, command))
    except OSError as error:
        fail(error)
    close_all()
    end_like(program, ends_with_it=True)


def program_process(call_filter: str, command: tuple[str, ...]) -> NoReturn:
    """Run as process 2: become the command."""
    die_with(None)
    if call_filter != "-":
        lay_filter(bytes.fromhex(call_filter))
    execute(command)


def execute(command: tuple[str, ...]) -> NoReturn:
    try:
        os.execve(command[0], command, ENVIRONMENT)
    except OSError as error:
        os.write(2, f"launcher: {command[0]}: {os.strerror(error.errno or 0)}\n".encode())
        os._exit(CANNOT_EXECUTE)


def in_child(work: Callable[[], NoReturn]) -> int:
    """Do the work in a child process, and return its process id."""
    number = os.fork()
    if number == 0:
        work()
    return number


def end_like(number: int, ends_with_it: bool) -> NoReturn:
    """End like the child with that process id; if this is process 1, all others end with it."""
    while True:
        ended, status = os.waitpid(-1 if ends_with_it else number, 0)
        if ended == number:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def fail(error: OSError) -> NoReturn:
    os.write(2, f"{error}\n".encode())
    os._exit(CANNOT_START)


def close_all() -> None:
    """Close all pipes, so that only the program has them and their readers see when it closes them."""
    os.closerange(0, 3)


# Requests to the kernel


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library and return its result. Raises OSError if it fails."""
    result: int = getattr(LIBRARY, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def die_with(parent: int | None) -> None:
    """Let the kernel kill this process when its parent ends, and deny new rights; the parent may already have ended."""
    if sys.platform != "linux":
        return
    control(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    control(NO_NEW_PRIVILEGES, 1)
    if parent is not None and os.getppid() != parent:
        os._exit(CANNOT_START)


def control(option: int, value: int, more: Any = 0) -> None:
    none = ctypes.c_ulong(0)
    call("prctl", option, ctypes.c_ulong(value), more or none, none, none)


def enter_namespaces() -> None:
    """Enter new namespaces, with all rights inside and none outside; only children are in the process namespace."""
    user, group = os.geteuid(), os.getegid()
    try:
        call("unshare", NAMESPACES | CONTROL_GROUPS)
    except OSError:
        call("unshare", NAMESPACES)
    for file, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {user} 1"),
        ("gid_map", f"{NOBODY} {group} 1"),
    ):
        write(f"/proc/self/{file}", line)


def write(path: str, line: str) -> None:
    number = os.open(path, os.O_WRONLY)
    try:
        os.write(number, line.encode())
    finally:
        os.close(number)


def raise_loopback() -> None:
    """Let a program connect to itself only."""
    number = call("socket", INET, DATAGRAM, 0)
    call("ioctl", number, ctypes.c_ulong(SET_FLAGS), struct.pack("16sh22x", b"lo", UP))
    os.close(number)


def forbid_system_v() -> None:
    """Forbid memory that belongs to no process; older kernels reserve these limits to the machine's root."""
    for name in ("shmall", "msgmni"):
        try:
            write(f"/proc/sys/kernel/{name}", "0")
        except OSError:
            continue


def drop_rights() -> None:
    for number in range(CAPABILITIES):
        try:
            control(DROP_BOUND, number)
        except OSError:  # the right does not exist
            return


def lay_filter(program: bytes) -> None:
    """Install a filter on the system calls of this process and all its descendants."""
    steps = ctypes.create_string_buffer(program)
    control(SECCOMP, FILTER_MODE, struct.pack("HP", len(program) // 8, ctypes.addressof(steps)))


# The root


def build_root(root: str, folder: str, is_writable: bool, has_proc: bool, readable: Iterable[str]) -> None:
    """Build a root with the readable paths and the folder as HOME, and make it this process's own."""
    mount(None, "/", None, RECURSIVE | PRIVATE)
    mount("tmpfs", root, "tmpfs", NO_SETUID | NO_DEVICES, b"mode=755,size=1m")
    for path in readable:  # /shown:/at, if a folder is shown in place of another
        visible, _, place = path.partition(":/")
        bind(visible, f"{root}/{place}" if place else root + path, READ_ONLY | NO_SETUID | NO_DEVICES)
    for path in DEVICES:
        bind(path, root + path, NO_SETUID)
    bind(folder, root + HOME, NO_SETUID | NO_DEVICES | (0 if is_writable else READ_ONLY))
    if has_proc:
        os.makedirs(f"{root}/proc")
        mount("proc", f"{root}/proc", "proc", NO_SETUID | NO_DEVICES)
    mount(None, root, None, REMOUNT | BIND | READ_ONLY | NO_SETUID | NO_DEVICES)
    os.chdir(root)
    mount(root, "/", None, MOVE)
    os.chroot(".")
    os.chdir("/")


def bind(source: str, target: str, flags: int) -> None:
    """Mount a file or folder at a second place, and restrict it as the flags say, including mounts below it."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(source, target, None, BIND | RECURSIVE)
    real = os.path.realpath(target)
    for place in mounts():
        if place == real or place.startswith(f"{real}/"):
            locked = sum(flag for mount_flag, flag in LOCKED.items() if os.statvfs(place).f_flag & mount_flag)
            mount(None, place, None, REMOUNT | BIND | flags | locked)


def mounts() -> list[str]:
    """Return the mount points."""
    with open("/proc/self/mountinfo", "rb") as lines:
        fields = [line.split(b" ")[4] for line in lines]
    return [os.fsdecode(field.decode("unicode_escape").encode("latin-1")) for field in fields]


def mount(source: str | None, target: str, kind: str | None, flags: int, data: bytes | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    call("mount", *words, ctypes.c_ulong(flags), data)


if __name__ == "__main__":
    main(*sys.argv[1:])
