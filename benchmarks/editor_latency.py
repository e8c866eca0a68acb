"""How long `dia lsp` takes to report on a changed spec, and `dia check` on one changed file.

python benchmarks/editor_latency.py [--edits N]

Types into the longest template of a copy of specs/dia_bench, through a client over standard input and output, and waits
for the two reports on each edit: that of the text, and that with its instances. Prints seconds: median, 95 %, the
shortest and the longest. Then it changes the file, and runs `dia check` on it as a new process, with its bytecode
cached, its standard error a terminal or not; `python -c pass` is printed as the floor. On a busy machine, compare the
shortest times and the processor time.
"""

from __future__ import annotations

import argparse
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from helpers.editor import Editor  # noqa: E402  (the client of the tests)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--edits", type=int, default=20, help="edits to wait for (default: 20)")
    edits = parser.parse_args().edits
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "dia_bench")
        shutil.copytree(ROOT / "specs" / "dia_bench", folder)
        path = max(folder.glob("d*.yaml"), key=lambda file: file.read_text(encoding="utf-8").count("\n"))
        text = path.read_text(encoding="utf-8")
        print(
            f"{path.name}, {text.count(chr(10))} lines, of a benchmark of {len(list(folder.glob('d*.yaml')))} templates"
        )
        type_into(folder, path, text, edits)
        check(path, text, edits)


def type_into(folder: Path, path: Path, text: str, edits: int) -> None:
    """Print how long the reports on edits take: a change of the notes, with every fifth edit an error."""
    editor = Editor(folder)
    editor.show(path, text)
    editor.wait(path)
    of_text, of_instances = [], []
    for number in range(edits):
        changed = text.replace("\nprompt:", f"\nnotes: edit {number}\nprompt:", 1) if "\nnotes:" not in text else text
        changed = changed.replace("\ntitle: ", f"\ntitle: {number} ", 1)
        if number % 5 == 4:
            changed = changed.replace("\nparams:", "\nparms:", 1)
        begin = time.perf_counter()
        editor.show(path, changed)
        editor.wait(path, checks=1)
        of_text.append(time.perf_counter() - begin)
        editor.wait(path)
        of_instances.append(time.perf_counter() - begin)
    editor.end()
    report("edit to the report of the text", of_text)
    report("edit to the report with instances", of_instances)


def check(path: Path, text: str, runs: int) -> None:
    """Print how long `dia check` of the changed file takes."""
    seconds, on_terminal, floor, busy = [], [], [], []
    main_end, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(path.parent / "bytecode")}  # as an installed dia has it
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for number in range(-1, runs):  # the first one writes the bytecode, and does not count
        path.write_text(text.replace("\ntitle: ", f"\ntitle: {number} ", 1), encoding="utf-8")
        check = [sys.executable, "-m", "dia_compiler", "check", str(path)]
        for command, into in ((check, seconds), (check, on_terminal), ([sys.executable, "-c", "pass"], floor)):
            stderr = terminal if into is on_terminal else subprocess.PIPE
            begin, used = time.perf_counter(), processor_time()
            subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=stderr, env=environment)
            if number >= 0:
                into.append(time.perf_counter() - begin)
                if into is seconds:
                    busy.append(processor_time() - used)
    report("dia check of the changed file", seconds)
    report("processor time of it", busy)
    report("dia check on a terminal", on_terminal)
    report("python -c pass", floor)
    os.close(main_end)
    os.close(terminal)


def processor_time() -> float:
    """Return the seconds of processor time of all programs that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def report(label: str, seconds: list[float]) -> None:
    """Print a line of figures."""
    high = quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    ends = f"shortest {min(seconds):7.3f} s  longest {max(seconds):7.3f} s"
    print(f"{label:36}{median(seconds):7.3f} s  95 % {high:7.3f} s  {ends}")


if __name__ == "__main__":
    main()
