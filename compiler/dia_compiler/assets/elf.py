"""Programs for Linux on x86-64, compiled from freestanding C: an ELF file of one to three kilobytes.

The compiler is that of the package ziglang, which makes the same bytes on every system. There is no C library;
elf_start.c defines the functions that a source may call.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from shutil import disk_usage
from typing import Any

from dia_language.diagnostics import install_extra

from dia_compiler.assets.base import Builder, OptionFault, Site, data, template
from dia_compiler.assets.c_source import refusal

LEVELS = {"none": "-O0", "some": "-O1", "most": "-O2"}
SECONDS, SECONDS_OF_WORK = 20, 4
FILE_BYTES, MEMORY_BYTES, LEAST_ROOM = 16 << 20, 512 << 20, 1 << 20
# A shell limits the compiler's time, memory and output, even if its worker is killed. A copy of the worker could do so
# itself, but costs more to start. Tighter limits stay in force.
BOUNDS = f"ulimit -f {FILE_BYTES // 512}; ulimit -t {SECONDS_OF_WORK}; ulimit -v {MEMORY_BYTES // 1024}"
BOUNDED = ("/bin/sh", "-c", f'{{ {BOUNDS}; }} 2>/dev/null; exec "$@"', "sh")
# Signed numbers wrap, which plain C leaves undefined; no debug tables, no random addresses, no stack checks; loops are
# not unrolled, so that the constants in them can be read.
FLAGS = (
    "-target", "x86_64-freestanding-none", "-mcpu=x86_64", "-std=gnu17", "-static", "-nostdlib", "-ffreestanding",
    "-fwrapv", "-fno-sanitize=all", "-fno-stack-protector", "-fno-pic", "-fno-pie", "-g0", "-w",
    "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Qn", "-fno-unroll-loops", "-fno-vectorize",
    "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,--build-id=none",
)  # fmt: skip
MESSAGE = re.compile(r"^(?:[^\n:]*:(?P<line>[0-9]+):[0-9]+: |[^\n]*?)(?:fatal )?error: (?P<message>.+)$", re.MULTILINE)
SHELL_FAILED = (126, 127)  # exit codes of a shell that cannot start a program
NOT_STARTED = "the compiler cannot be started"
INSTALL = install_extra("binary")
HELP = "C without a standard library: `put`, `put_number`, `same`, `read_line`, `number_of` and `length` are available"


class Elf(Builder):
    summary = "a C program, compiled for Linux on x86-64"
    options = {
        "source": template(
            "the C source, with a function `main` and without `#include`; there is no C library, but `put`, "
            "`put_number`, `same`, `read_line`, `number_of` and `length` can be called",
            required=True,
        ),
        "optimise": data("optimization level: none, some or most (default some)"),
        "strip": data("whether to remove function names (default true)"),
    }
    extension = "elf"
    media_type = "application/x-executable"
    extra = "binary"
    modules = ("ziglang",)
    libraries = ("ziglang",)

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for an unknown level and for a source that holds more than plain C."""
        if options.get("optimise", "some") not in tuple(LEVELS):
            raise OptionFault("optimise", f"`optimise` must be one of {', '.join(LEVELS)}")
        if not isinstance(options.get("strip", True), bool):
            raise OptionFault("strip", "`strip` must be true or false")
        if "source" in options:
            _checked(options["source"])

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        self.validate(options)
        start = files(__package__).joinpath("elf_start.c").read_text("utf-8")
        flags = [*FLAGS, LEVELS[options.get("optimise", "some")], *(["-s"] if options.get("strip", True) else [])]
        site.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=site.folder, ignore_cleanup_errors=True) as folder:
            place = Path(folder)
            (place / "in.c").write_text(f'{start}#line 1 "source"\n{options["source"]}\n', "utf-8", newline="\n")
            _compile(place, flags)
            return (place / "out").read_bytes()


def _checked(source: Any) -> None:
    if not isinstance(source, str):
        raise OptionFault("source", "`source` must be text")
    refused = refusal(source)
    if refused:
        raise OptionFault(
            "source", f"line {refused.line} of the source contains {refused.what}, which is not allowed here", HELP
        )


def _compile(place: Path, flags: list[str]) -> None:
    """Compile `in.c` to `out`. Raises OptionFault with the compiler's first message, OSError if the disk is full."""
    is_posix = os.name == "posix"
    command = [*(BOUNDED if is_posix else ()), str(_compiler()), "cc", *flags, "-o", "out", "in.c"]
    try:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=_environment(place),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=is_posix,
        )
    except OSError:
        raise OptionFault("source", NOT_STARTED, INSTALL) from None
    with process, _buried(process) if is_posix else contextlib.nullcontext():
        complaint = _complaint(process)
    if is_posix and process.returncode in SHELL_FAILED:
        raise OptionFault("source", NOT_STARTED, INSTALL)
    if process.returncode or not (place / "out").is_file():
        output = complaint.decode("utf-8", "replace")
        if os.strerror(errno.ENOSPC) in output or (not MESSAGE.search(output) and disk_usage(place).free < LEAST_ROOM):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise OptionFault("source", _first_message(output), HELP)


def _complaint(process: subprocess.Popen[bytes]) -> bytes:
    """Return the compiler's output. Raises OptionFault if it runs too long."""
    try:
        return process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise OptionFault("source", f"the compiler ran longer than {SECONDS} s", "shorten the source") from None


@contextlib.contextmanager
def _buried(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the compiler and its child processes at the end, even if this process is killed first.

    A shell waits for the end of a pipe that only this process has open.
    """
    command = ["/bin/sh", "-c", 'read nothing; kill -KILL "-$1" 2>&-', "sh", str(process.pid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", env={}, start_new_session=True) as keeper:
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            keeper.kill()


def _compiler() -> Path:
    """Return the compiler's executable; the package's entry point would start Python again."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise OptionFault("source", "no compiler found", INSTALL)
    return Path(spec.origin).with_name("zig.exe" if sys.platform == "win32" else "zig")


def _environment(place: Path) -> dict[str, str]:
    """Return an environment without the user's variables, except the one that Windows needs to start a process.

    The compiler's caches are in the private folder, because reusing them would save nothing.
    """
    inherited = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    folder = str(place.resolve())
    return {**inherited, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder, "TMPDIR": folder}


def _first_message(output: str) -> str:
    """Return the compiler's first message as one sentence, with our quotes."""
    match = MESSAGE.search(output)
    if match is None or "frontend command failed" in match["message"]:
        return "the compiler gave up on the source"
    message = re.sub(r" \[-W[^\]]*\]$", "", match["message"].strip()).replace("'", "`")
    where = f" at line {match['line']}" if match["line"] else ""
    return f"the source does not compile{where}: {message}"
