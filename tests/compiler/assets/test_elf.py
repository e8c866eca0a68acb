"""Programs that are built, run where Linux runs them, and sources that must never reach the compiler."""

from __future__ import annotations

import ast
import contextlib
import errno
import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS, elf
from dia_compiler.assets.base import OptionFault, Site
from dia_compiler.assets.c_source import refusal
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library

pytest.importorskip("ziglang")
RUNS = sys.platform == "linux" and platform.machine() == "x86_64"
LOCKED = "0.17.1"
ECHO = """#define TWICE(x) ((x) * 2)
int main(int count, char **arguments) {
    char line[8], copy[64];
    for (int i = 1; i < count; i++) { put_number(TWICE(number_of(arguments[i]))); put("\\n"); }
    while (read_line(line, sizeof line) >= 0) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, line, length(line));
        put(same(copy, "secret") ? "yes\\n" : "no\\n");
    }
    return 3;
}
"""


def built(folder: Path, source: str, **options: Any) -> bytes:
    def entropy(count: int) -> bytes:
        raise AssertionError("a compiler draws nothing")

    builder = BUILDERS["elf"]
    held = {"source": source, **options}
    builder.validate(held)
    made = builder.build(held, Site(entropy, folder))
    assert isinstance(made, bytes)
    return made


def ran(program: bytes, folder: Path, *arguments: str, entered: str = "") -> tuple[int, str]:
    """Exit code and output of the program."""
    if not RUNS:
        pytest.skip("only Linux on x86-64 runs these programs")
    path = folder / "program"
    path.write_bytes(program)
    path.chmod(0o755)
    done = subprocess.run([path, *arguments], input=entered.encode(), capture_output=True, env={}, timeout=10)
    return done.returncode, done.stdout.decode()


def fault(folder: Path, source: str) -> OptionFault:
    with pytest.raises(OptionFault) as caught:
        built(folder, source)
    assert caught.value.option == "source"
    return caught.value


@pytest.mark.parametrize("optimise", ["none", "some", "most"])
@pytest.mark.parametrize("strip", [True, False])
def test_a_program_reads_and_writes_and_is_small(optimise: str, strip: bool, tmp_path: Path) -> None:
    program = built(tmp_path / "cache", ECHO, optimise=optimise, strip=strip)
    assert 1000 < len(program) < 3000
    asked = ran(program, tmp_path, "1", "-7", "9223372036854775807", "none", entered="secret\nsecrets\nsecre\n\nsecret")
    # A line holds seven characters here: the end of the second one comes as an empty line.
    assert asked == (3, "2\n-14\n-2\n0\n" + "yes\nno\nno\nno\nno\nyes\n")


def test_numbers_are_written_in_full(tmp_path: Path) -> None:
    numbers = [0, 1, -1, 10, 2**63 - 1, -(2**63), -(2**31) - 1]
    written = [
        f'put_number({number + 1 if number < -1 else number}LL - {int(number < -1)}); put("\\n");' for number in numbers
    ]
    program = built(tmp_path / "cache", f"int main(void) {{ {' '.join(written)} return 0; }}")
    assert ran(program, tmp_path) == (0, "".join(f"{number}\n" for number in numbers))


def test_signed_numbers_wrap_as_the_processor_does(tmp_path: Path) -> None:
    source = """int main(int count, char **arguments) {
        int x = 2147483647; long long y = 9223372036854775807LL;
        x += count; y += count;
        put(x < 0 ? "wrapped " : "not "); put_number(x); put(" "); put_number(y); put(" "); put_number(x * x);
        return 0;
    }"""
    for optimise in ("none", "some", "most"):
        program = built(tmp_path / "cache", source, optimise=optimise)
        assert ran(program, tmp_path) == (0, f"wrapped {-(2**31)} {-(2**63)} 0")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.long),
        {"optimise": "none", "strip": False},
        pytest.param({"optimise": "most", "strip": False}, marks=pytest.mark.long),
    ],
)
def test_folder_and_cache_leave_no_trace(options: dict[str, Any], tmp_path: Path) -> None:
    one = built(tmp_path / "one", ECHO, **options)
    other = tmp_path / "quite" / "another folder"
    built(other, "int main(void) { return 0; }")
    assert built(other, ECHO, **options) == one == built(other, ECHO, **options)
    assert str(tmp_path).encode() not in one


def test_a_foreign_environment_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = built(tmp_path / "one", ECHO)
    for name, value in {"CPATH": str(tmp_path), "TZ": "Pacific/Chatham", "CCC_OVERRIDE_OPTIONS": "#+-O0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert built(tmp_path / "two", ECHO) == usual


@pytest.mark.skipif(metadata.version("ziglang") != LOCKED, reason="another version of the compiler")
@pytest.mark.parametrize(
    "optimise, digest",
    [
        ("some", "a6421d514dff369aa1cec60515afc3286e502d4698f3b036e174546b9df2fed9"),
        ("none", "7eb8208cb1a0cb49324c0158f860ac6146ad57178d9968090fe48925838b2021"),
    ],
)
def test_the_bytes_are_those_known_beforehand(optimise: str, digest: str, tmp_path: Path) -> None:
    assert hashlib.sha256(built(tmp_path, ECHO, optimise=optimise)).hexdigest() == digest


def test_the_library_reads_sections_and_texts_of_a_program(tmp_path: Path) -> None:
    program = built(tmp_path, ECHO)
    reset()
    info = library()["elf_info"].call(program)
    assert info["machine"] == "x86-64" and ".rodata" in {section["name"] for section in info["sections"]}
    assert b"secret\0" in library()["elf_section"].call(program, ".rodata")
    assert "secret" in library()["elf_strings"].call(program)


@pytest.mark.parametrize(
    "source, told",
    [
        ("int main(void) { return y; }", "at line 1: use of undeclared identifier `y`"),
        ("\nint main(void) { return later(); }", "at line 2: call to undeclared function `later`"),
        ('int main(void) {\n  put("x")\n}', "at line 2: expected `;`"),
        ("int main(void) { return 0; ", "expected `}`"),
        ("int other(void) { return 0; }", "undefined symbol: main"),
        ("", "undefined symbol: main"),
        ('??=include "/etc/passwd"\nint main(void) { return 0; }', "at line 1: expected"),
        ("int put(int x) { return x; } int main(void) { return 0; }", "conflicting types for `put`"),
        ("int main(void) { return " + "(" * 5000 + "1" + ")" * 5000 + "; }", "bracket nesting"),
    ],
)
def test_the_compilers_first_message_is_told(source: str, told: str, tmp_path: Path) -> None:
    found = fault(tmp_path, source)
    assert found.message.startswith("the source does not compile") and told in found.message
    assert "[-W" not in found.message and str(tmp_path) not in found.message and "\n" not in found.message


MACROS = "#define A0 1\n" + "".join(f"#define A{n} A{n - 1}+A{n - 1}+A{n - 1}\n" for n in range(1, 30))


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        MACROS + "int main(void) { return A29; }",
        "char held[300000000] = {1}; int main(int n, char **a) { return held[n]; }",
        "(" * 90_000,
    ],
)
def test_sources_that_eat_time_or_room_end_soon(source: str, tmp_path: Path) -> None:
    fault(tmp_path, source)


@pytest.mark.parametrize(
    "source",
    [
        "#include <stdio.h>",
        '#include "/etc/passwd"',
        "  #  include </etc/passwd>",
        "/* a */ #include </etc/passwd>",
        '%:include "/etc/passwd"',
        'int x = 0; #embed "/etc/passwd"',
        '#embed "/etc/passwd"',
        "#inc\\\nlude </etc/passwd>",
        "#inc\\ \t\nlude </etc/passwd>",
        '__asm__(".incbin \\"/etc/passwd\\"");',
        'asm(".incbin \\"/etc/passwd\\"");',
        '__asm(".incbin \\"/etc/passwd\\"");',
        '#define glue(a, b) a##b\nglue(as, m)("");',
        "#define glue(a, b) a %:%: b",
        '/* // */ asm("");',
        '// "\nasm("");',
        "// a \\\n*/ asm",
        'char *a = "/*"; asm(""); char *b = "*/";',
        "char a = '\"'; asm(\"\"); char b = '\"';",
        'char *a = R"( " )"; asm(""); char *b = R"( " )";',
        'char *a = u8R"x( " )x"; asm(""); char *b = u8R"x( " )x";',
        "#define drop(x)\ndrop(1'\"') asm(\"\"); drop(1'\"')",
        '__attribute__((section(".rodata"))) int x;',
        "const char *where = __builtin_FILE();",
        '_Pragma("GCC dependency \\"/etc/passwd\\"")',
        "#pragma once",
        "#if __has_include(</etc/passwd>)\n#endif",
        '#line 1 "/etc/passwd"',
        "const char *when = __DATE__ __TIME__;",
        "const char *where = __FILE__;",
        "int a\\u0073m = 1;",
        "int a\rb;",
        "int a\0b;",
        "int \u202eb;",
        'char *unclosed = "asm',
        "x" * 100_001,
    ],
)
def test_sources_that_read_files_or_the_clock_are_refused(source: str, tmp_path: Path) -> None:
    assert refusal(source + "\nint main(void) { return 0; }") is not None
    assert fault(tmp_path, source + "\nint main(void) { return 0; }").help
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "source",
    [
        "  # define N 3\n\n\t#if N > 2\n#undef N\n#elif 1\n#else\n#endif\nint main(void) { return 0; }",
        "/* asm #include */ int main(void) { put(\"asm \\\" #include \\\\ ☃\"); return '\"' + '\\'' + 0x1p3 + 5 % 3; } // asm",
        "struct p { int x; }; noinline int twice(int x) { return x * 2; } int main(void) { struct p R = {.x = 1}; return twice(R.x); }",
        "_Bool even(unsigned x) { return !(x & 1); } int main(void) { return even(2) ? __builtin_popcount(7) : 1e3; }",
    ],
)
def test_plain_c_is_taken(source: str, tmp_path: Path) -> None:
    assert refusal(source) is None
    assert built(tmp_path, source)[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    "options, option",
    [
        ({"source": 7}, "source"),
        ({"source": "int main;", "optimise": "size"}, "optimise"),
        ({"source": "int main;", "optimise": ["some"]}, "optimise"),
        ({"source": "int main;", "strip": "yes"}, "strip"),
    ],
)
def test_options_of_another_kind_are_told(options: dict[str, Any], option: str) -> None:
    with pytest.raises(OptionFault) as caught:
        BUILDERS["elf"].validate(options)
    assert caught.value.option == option
    BUILDERS["elf"].validate({})


def test_a_missing_compiler_is_told_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dia_compiler.assets.elf.find_spec", lambda name: None)
    assert ".[binary]" in str(fault(tmp_path, "int main(void) { return 0; }").help)


@pytest.mark.skipif(os.name != "posix", reason="a shell bounds the compiler")
@pytest.mark.parametrize("content, mode", [(None, 0), (b"no program", 0o700), (b"", 0o600)])
def test_a_compiler_that_does_not_start_is_told(
    content: bytes | None, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "zig"
    if content is not None:
        compiler.write_bytes(b"\x7fELF" + content)
        compiler.chmod(mode)
    monkeypatch.setattr("dia_compiler.assets.elf._compiler", lambda: compiler)
    assert "cannot be started" in str(fault(tmp_path / "made", "int main(void) { return 0; }"))


@pytest.mark.skipif(os.name != "posix", reason="a shell bounds the compiler")
@pytest.mark.parametrize("before", ["", "ulimit -t 3; ulimit -v 400000"])
def test_what_runs_behind_the_shell_is_bounded(before: str) -> None:
    show = "import resource as r; print(*map(r.getrlimit, (r.RLIMIT_FSIZE, r.RLIMIT_CPU, r.RLIMIT_AS)), sep='\\n')"
    command = ["/bin/sh", "-c", f'{before or ":"}; exec "$@"', "sh", *elf.BOUNDED, sys.executable, "-c", show]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    file, seconds, memory = (ast.literal_eval(line) for line in shown[:3])
    assert file == (elf.FILE_BYTES,) * 2
    assert 0 < max(seconds) <= elf.SECONDS_OF_WORK and 0 < max(memory) <= elf.MEMORY_BYTES


def test_bytes_that_are_no_program_are_told() -> None:
    reset()
    for name in ("elf_info", "elf_strings"):
        with pytest.raises(LanguageError):
            library()[name].call(b"\x7fELF")


# The preprocessor counts to a billion, which takes no memory.
LONG_WORK = "".join(f"#define A{n} {'+'.join([f'A{n - 1}'] * 10)}\n" for n in range(1, 10))
LONG_WORK = f"#define A0 1\n{LONG_WORK}#if A9\n#endif\nint main(void) {{ return 0; }}"
BUILDS = """
import sys
from pathlib import Path
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import Site
BUILDERS["elf"].build({"source": sys.argv[2]}, Site(bytes, Path(sys.argv[1])))
"""


def compiling_in(folder: Path) -> list[int]:
    """The processes that work in the folder or below."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and str(process.joinpath("cwd").readlink()).startswith(str(folder)):
                found.append(int(process.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_compiler_does_not_outlive_the_worker_that_is_killed(tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", BUILDS, str(tmp_path), LONG_WORK])
    try:
        ends = monotonic() + 20
        while len(compiling_in(tmp_path)) < 2 and monotonic() < ends and worker.poll() is None:
            sleep(0.02)
        assert len(compiling_in(tmp_path)) >= 2, "the compiler and the process that it starts"
    finally:
        worker.kill()
        worker.wait()
    ends = monotonic() + 1.5  # far below the seconds of work that the kernel grants them
    while compiling_in(tmp_path) and monotonic() < ends:
        sleep(0.02)
    assert compiling_in(tmp_path) == []


def test_a_build_leaves_nothing_in_its_folder(tmp_path: Path) -> None:
    built(tmp_path, "int main(void) { return 0; }")
    fault(tmp_path, "int main(void) { return later(); }")
    fault(tmp_path, "char x[] = { [0x7fffffff] = 1 }; int main(void) { return x[9]; }")
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_crashes_is_told_in_our_own_words(tmp_path: Path) -> None:
    assert fault(tmp_path, "int main(void) { int x = 1; return " + "- " * 45_000 + "x; }").message == (
        "the compiler gave up on the source"
    )


def test_a_full_disk_is_not_told_as_a_fault_of_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on the size of files stands for it: the compiler says nothing that can be understood then."""
    monkeypatch.setattr(elf, "BOUNDED", ("/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh"))
    assert fault(tmp_path, "int main(void) { return 0; }").message == "the compiler gave up on the source"
    monkeypatch.setattr(elf, "disk_usage", lambda place: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        built(tmp_path, "int main(void) { return 0; }")
