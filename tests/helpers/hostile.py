"""Hostile specs for tests: laid out in a folder, put through the command line, measured."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

BENCHMARK = "language: 1\nbenchmark: demo\n"
Dia = Callable[..., Any]
LONG_REPLY = "a" * 10_000_000


def template(value: str = "n + 10", prompt: str = "What is {{ n }}?", n: str = "{type: integer, min: 1, max: 9}",
             more: str = "", answer: str = "integer") -> str:  # fmt: skip
    """A template whose solver stands on line 6 from column 5 on, its prompt on line 9 from column 3 on."""
    return (
        f"template: t\ntitle: A template\nparams: {{n: {n}}}\nanswer:\n  value: |\n    {value}\n  type: {answer}\n"
        f"prompt: |\n  {prompt}\n{more}"
    )


class Fault(NamedTuple):
    """One fault as the command line tells it."""

    file: str
    line: int
    column: int
    code: str
    message: str


def faults(stderr: str) -> list[Fault]:
    found = re.findall(r"^(?:(\S+?):(\d+):(\d+): )?error\[(E\d+)\]: (.*)$", stderr, re.MULTILINE)
    return [Fault(file, int(line or 0), int(column or 0), code, text) for file, line, column, code, text in found]


Content = str | bytes | Callable[[Path], object]


def laid_out(folder: Path, files: dict[str, Content]) -> Path:
    """The folder with `specs/` in it that holds the files; a function makes its file itself."""
    specs = folder / "specs"
    specs.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = specs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


COMPILE = ("compile", "specs", "-o", "out", "-q", "--jobs", "1")


def one_fault(folder: Path, dia: Dia, *arguments: str) -> Fault:
    """The one fault of the specs, told within 10 s; nothing is written and nothing was run."""
    start = time.monotonic()
    printed = dia(folder, *(arguments or COMPILE))
    assert time.monotonic() - start < 10
    assert printed.exit == 2 and "Traceback" not in printed.stderr, printed.stderr
    found = faults(printed.stderr)
    assert len(found) == 1, printed.stderr
    assert [path.name for path in folder.iterdir()] == ["specs"]
    return found[0]


def refuse(folder: Path, dia: Dia, text: Content, expected: tuple[str, int, int, str]) -> None:
    """The spec has the one expected fault: code, line, column and a word of the message."""
    fault = one_fault(laid_out(folder, {"benchmark.yaml": BENCHMARK, "t.yaml": text}), dia)
    code, line, column, word = expected
    assert (fault.code, fault.line, fault.column) == (code, line, column), fault
    assert fault.file == "specs/t.yaml" and word in fault.message, fault


def filled(unit: bytes, count: int, head: bytes = b"", tail: bytes = b"") -> Callable[[Path], object]:
    """Content that is made when it is written: every fork of a worker would copy the pages of kept megabytes."""
    return lambda path: path.write_bytes(head + unit * count + tail)


def link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


class Ended(NamedTuple):
    """How a process ended: exit code, standard error, seconds, the memory of its largest process in MiB, and the
    seconds of processor time of all of them, which do not depend on what else the computer does.
    """

    code: int
    stderr: str
    seconds: float
    mebibytes: int
    processor: float


# A process begins with the peak of memory of the one that starts it, so a small one has to stand between.
BETWEEN = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[2:], stdout=sys.stderr)
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss, usage.ru_utime + usage.ru_stime], file)
"""


def measured(folder: Path, *arguments: str) -> Ended:
    """Runs the command line as a process of its own, and measures it with its workers."""
    start, figures = time.monotonic(), folder / "figures"
    command = [sys.executable, "-m", "dia_compiler.commands.cli", *arguments]
    between = [sys.executable, "-I", "-S", "-c", BETWEEN, str(figures), *command]
    done = subprocess.run(between, cwd=folder, stderr=subprocess.PIPE, text=True, check=True)
    code, most, processor = json.loads(figures.read_text())
    figures.unlink()
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Ended(code, done.stderr, time.monotonic() - start, most // unit, processor)
