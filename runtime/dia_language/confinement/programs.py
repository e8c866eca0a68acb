"""Run a program in one language, from its source to its output."""

from __future__ import annotations

import platform
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from dia_language.confinement import permission
from dia_language.confinement.interpreters import LANGUAGES, folders_of, interpreter, needed, version_of
from dia_language.confinement.running import (
    SECONDS,
    Allowance,
    ProgramResult,
    bounded,
    over,
    run,
    too_much_memory,
)
from dia_language.confinement.sandboxes import Sandbox, Workspace, chosen, readable
from dia_language.diagnostics import LanguageError
from dia_language.limits import TEXT_LENGTH
from dia_language.workers import heartbeat

MAIN = "main"
SHARE = 0.85  # of the evaluation's remaining seconds: the rest is for reporting on the program
LEAST = 0.2
COMPILER_BYTES = 1 << 30
BINARY_BYTES = 8 << 20
ERROR_LENGTH = 200
LONGEST = 60.0
ZIG = ("cc", "-target", f"{platform.machine()}-linux-gnu.2.28")
SLOW = "install `gcc`, which is faster than the compiler of the extra `binary`, or raise `limits: {seconds: ...}`"
# How bubblewrap and our launcher report a file that the kernel cannot run, followed by different reasons
NOT_EXECUTABLE = re.compile(rb"(bwrap: execvp|launcher:) [^\n]*\n")
OUT_OF_MEMORY = re.compile(
    r"(?i)out of memory|MemoryError|NoMemoryError|allocate memory|memory size|PARI stack overflows"
)


def output_of(language: str, source: bytes, input_bytes: bytes) -> str:
    """Return what a program prints, without a final newline. Raises LanguageError unless it ends without an error."""
    sandbox = chosen(permission.permitted())
    if input_bytes and not LANGUAGES[language].has_input:
        raise LanguageError(f"a {language} program does not accept input", "write the values into its source")
    if language != "elf":
        needed(language)
        permission.note(language, version_of(language) or "unknown")
    if language == "c":
        return _output("elf", _compiled(source, sandbox.name), input_bytes, sandbox)
    return _output(language, source, input_bytes, sandbox)


def _output(language: str, source: bytes, input_bytes: bytes, sandbox: Sandbox) -> str:
    permission.note("confinement", sandbox.name)
    properties = LANGUAGES[language]
    allowance = Allowance(_seconds(), has_bounded_address_space=not properties.has_own_memory_limit)
    with TemporaryDirectory(prefix="dia-program-") as folder:
        workspace = _workspace(language, source, Path(folder))
        command = _command(language, sandbox.home(workspace.folder))
        result = _run(sandbox, command, workspace, input_bytes, allowance)
    return _text_of(result, allowance, sandbox.home(workspace.folder))


def _workspace(language: str, source: bytes, folder: Path) -> Workspace:
    """Return the folder with the program, and everything else that it may read."""
    own = folder / "own"
    own.mkdir()
    file = own / (MAIN + LANGUAGES[language].ending)
    file.write_bytes(source)
    file.chmod(0o555)
    program = interpreter(language) if LANGUAGES[language].commands else None
    return Workspace(tuple(readable(folders_of(language, program))), own)


def _command(language: str, home: Path) -> list[str]:
    properties = LANGUAGES[language]
    program = [str(needed(language))] if properties.commands else []
    return [*program, *properties.options, str(home / (MAIN + properties.ending))]


def _run(
    sandbox: Sandbox, command: Sequence[str], workspace: Workspace, input_bytes: bytes, allowance: Allowance
) -> ProgramResult:
    more = replace(allowance, processes_around=sandbox.processes)
    return run(bounded(sandbox.around(command, workspace), more), input_bytes, more, gathers=sandbox.processes == 0)


def _seconds(most: float = SECONDS) -> float:
    """Return the seconds for a program: its own limit, or most of what the evaluation has left."""
    left = heartbeat.seconds_left()
    return most if left is None else max(LEAST, min(most, left * SHARE))


@lru_cache(maxsize=16)
def _compiled(source: bytes, sandbox_name: str) -> bytes:
    """Return the program that a C compiler makes from the source."""
    compiler = needed("c")
    sandbox = chosen(permission.permitted())
    is_zig = compiler.name == "zig"
    seconds = _seconds(LONGEST) if is_zig else _seconds()  # the compiler first builds its C library
    allowance = Allowance(seconds, COMPILER_BYTES, has_bounded_address_space=False, writes=BINARY_BYTES)
    with TemporaryDirectory(prefix="dia-program-") as folder:
        workspace = _workspace("c", source, Path(folder))
        workspace = replace(
            workspace, readable=tuple(readable(_of_compiler(compiler))), is_writable=True, has_processes=is_zig
        )
        home = sandbox.home(workspace.folder)
        words = [str(compiler), *(ZIG if is_zig else []), "-O1", "-o", str(home / "made")]
        command = [*words, str(home / f"{MAIN}.c"), "-lm"]
        script = f"TMPDIR={home} PATH=/usr/bin:/bin ZIG_GLOBAL_CACHE_DIR={home} ZIG_LOCAL_CACHE_DIR={home}"
        try:
            result = _run(sandbox, ["/usr/bin/env", *script.split(), *command], workspace, b"", allowance)
        except LanguageError as error:
            message = f"the C program cannot be compiled: {error.message.replace('the program', 'the compiler')}"
            raise LanguageError(message, SLOW, error.code) from None
        if result.code:
            error_line = _first_line(result.error_output, home)
            raise LanguageError(f"the C program cannot be compiled: {error_line or f'exit code {result.code}'}")
        return (workspace.folder / "made").read_bytes()


def _of_compiler(compiler: Path) -> list[Path]:
    """Return what a compiler reads: all files of the system."""
    own = compiler.parent if compiler.name == "zig" else compiler
    return [path for path in (Path("/usr"), own) if path.exists()]


def _text_of(result: ProgramResult, allowance: Allowance, home: Path) -> str:
    """Return the output as text. Raises LanguageError for a failure."""
    if result.code:
        raise _failure(result, allowance, home)
    try:
        text = result.output.decode("utf-8")
    except UnicodeDecodeError:
        raise LanguageError("the program's output is not UTF-8", "print text, such as hexadecimal digits") from None
    if len(text) > TEXT_LENGTH:
        raise over(f"wrote more than {TEXT_LENGTH:,} characters")
    return text.removesuffix("\n")


def _failure(result: ProgramResult, allowance: Allowance, home: Path) -> LanguageError:
    error_line = _first_line(result.error_output, home)
    if OUT_OF_MEMORY.search(result.error_output.decode("utf-8", "replace")):
        return too_much_memory(allowance)
    if NOT_EXECUTABLE.fullmatch(result.error_output) and not result.output:
        return LanguageError("the program ended with exit code 126: main cannot be executed")
    try:
        how = f"signal {signal.Signals(result.code - 128).name}"
    except ValueError:
        how = f"exit code {result.code}"
    lines = PYTHON_LINE.findall(result.error_output)
    where = f" (line {int(lines[-1])} of the program)" if lines else ""
    return LanguageError(f"the program ended with {how}" + (f": {error_line}{where}" if error_line else ""))


# A line of a traceback of Python
PYTHON_LINE = re.compile(rb'^ +File "[^"\n]*/' + MAIN.encode() + rb'\.py", line (\d{1,9})', re.MULTILINE)


def _first_line(error_output: bytes, home: Path) -> str:
    """Return the first line with the error, shortened and without the program's folder."""
    text = error_output.decode("utf-8", "replace").replace(f"{home}/", "")
    lines = [line for line in text.splitlines() if line.strip(" *")]
    telling = (line for line in lines if "rror" in line and not line.startswith((" ", "\t")))
    return next(telling, lines[0] if lines else "").strip(" *")[:ERROR_LENGTH]
