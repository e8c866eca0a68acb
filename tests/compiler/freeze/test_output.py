"""What a compile leaves behind when it is interrupted, killed, out of room or in the way of something else."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.bundle import atomic_output
from dia_runtime.bundle.atomic_output import make_private_folder

BENCHMARK = "language: 1\nbenchmark: demo\n"
TEMPLATE = """\
template: t{}
title: A template
params: {{n: {{type: integer, bits: 256}}, word: {{type: string, alphabet: = letters, length: 2000}}}}
answer: {{value: n + {}, type: integer}}
prompt: "What is {{{{ n }}}} + {}? {{{{ word }}}}"
"""
HANGING = """\
template: hanging
title: A solver that does not end
params: {n: {type: integer, min: 1, max: 9}}
limits: {seconds: 300}
answer:
  value: integrate(exp(sin(symbol('x')**symbol('x'))) / log(cos(symbol('x')) + 2), symbol('x'))
  type: integer
prompt: What is {{ n }}?
"""
Dia = Callable[..., Any]
LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see the workers")


def specs(folder: Path, added: int = 1, templates: int = 3) -> Path:
    """The folder with specs of a few quick templates."""
    (folder / "specs").mkdir(parents=True, exist_ok=True)
    (folder / "specs" / "benchmark.yaml").write_text(BENCHMARK)
    for number in range(templates):
        (folder / "specs" / f"t{number}.yaml").write_text(TEMPLATE.format(number, added, added))
    return folder


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dia_compiler.commands.cli", "compile", "specs", "-o", "out", "-q", *arguments]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def children(process: int) -> set[int]:
    """The process's children by the kernel's book, theirs included."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found |= {int(child)} | children(int(child))
    return found


def waited(holds: Callable[[], Any], seconds: float = 10) -> Any:
    """What `holds` gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def alive(processes: set[int]) -> set[int]:
    """Those of the processes that still run (a dead one that nobody has waited for does not)."""
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                found.add(process)
    return found


def busy_workers(process: subprocess.Popen[str]) -> set[int]:
    """The children of the process once one of them has used half a second of processor time."""

    def ticks(child: int) -> int:
        with contextlib.suppress(OSError):
            return int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11])
        return 0

    def found() -> set[int]:
        held = children(process.pid)
        return held if any(ticks(child) > os.sysconf("SC_CLK_TCK") // 2 for child in held) else set()

    return set(waited(found))


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("is_whole_group", [True, False], ids=["as a terminal does", "the parent alone"])
def test_an_interrupt_ends_everything_at_once(is_whole_group: bool, tmp_path: Path) -> None:
    (specs(tmp_path) / "specs" / "hanging.yaml").write_text(HANGING)
    process = started(tmp_path, "--jobs", "2")
    workers = busy_workers(process)
    start = time.monotonic()
    if is_whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert time.monotonic() - start < 3
    assert process.returncode == 130 and errors == "interrupted\n"
    waited(lambda: not alive(workers), 3)
    assert [path.name for path in tmp_path.iterdir()] == ["specs"]


@pytest.mark.slow
@LINUX
def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    (specs(tmp_path) / "specs" / "hanging.yaml").write_text(HANGING)
    process = started(tmp_path, "--jobs", "2")
    workers = busy_workers(process)
    process.kill()
    process.communicate(timeout=10)
    waited(lambda: not alive(workers), 3)


def names(folder: Path) -> list[str]:
    """What lies in an output folder beside the cache."""
    return [path.name for path in folder.iterdir() if path.name != ".cache"]


def whole(folder: Path, dia: Dia) -> bool:
    """Whether a bundle lies there, which then is whole."""
    bundle = folder / "out" / "demo-0.0.0-k5"
    if not bundle.exists():
        return False
    printed = dia(folder, "verify", str(bundle))
    assert printed.exit == 0, printed.stderr
    return True


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_ended_at_any_moment_it_leaves_a_whole_bundle_or_none(how: signal.Signals, tmp_path: Path, dia: Dia) -> None:
    moments = random.Random(how.value)  # the moments differ between machines anyway
    specs(tmp_path)
    assert dia(tmp_path, "compile", "specs", "-o", "out", "-q").exit == 0
    for attempt in range(20 if how == signal.SIGKILL else 4):
        specs(tmp_path, added=attempt + 2)
        process = started(tmp_path, "--force")
        time.sleep(moments.uniform(0.1, 0.75))
        process.send_signal(how)
        _, errors = process.communicate(timeout=10)
        assert process.returncode in (0, -how, 130), errors
        whole(tmp_path, dia)
        if how == signal.SIGINT:
            assert names(tmp_path / "out") == ["demo-0.0.0-k5"]
    assert dia(tmp_path, "compile", "specs", "-o", "out", "-q", "--force").exit == 0
    assert whole(tmp_path, dia) and names(tmp_path / "out") == ["demo-0.0.0-k5"]


def test_what_a_killed_compile_left_is_swept_and_nothing_else(tmp_path: Path, dia: Dia) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    out = specs(tmp_path) / "out"
    out.mkdir()
    private = make_private_folder(out)
    machine = private.name.split("-")[1]
    removed = [f".dia-{machine}-{gone.pid}-abc", f".dia-elsewhere-{os.getppid()}-old"]
    kept = [f".dia-{machine}-{os.getppid()}-abc", f".dia-elsewhere-{gone.pid}-new", ".dia-notes", "notes", private.name]
    for name in (*removed, *kept):
        (out / name).mkdir(exist_ok=True)
    long_ago = time.time() - atomic_output.ABANDONED_AFTER - 60
    os.utime(out / removed[1], (long_ago, long_ago))
    assert dia(tmp_path, "compile", "specs", "-o", "out", "-q").exit == 0
    assert set(names(out)) == {*kept, "demo-0.0.0-k5"}


def one_line(printed: Any, word: str) -> None:
    """The command failed with one message and its mend, and exit code 2."""
    message, mend = printed.stderr.splitlines()
    assert re.match(r"error\[E60[12]\]: ", message) and word in message and mend.startswith("  help: ")
    assert printed.exit == 2 and not printed.stdout


def test_an_output_that_cannot_be_made_is_told_in_one_line(tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path)
    (tmp_path / "file").write_text("in the way")
    for out in ("file/out", "file"):
        result = dia(tmp_path, "compile", "specs", "-o", out, "-q")
        one_line(result, "cannot be written")
        assert result.stderr.endswith(": `file` is not a folder\n  help: choose another folder with -o\n")
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o555)
    if os.access(out, os.W_OK):
        pytest.skip("this user may write everywhere")
    one_line(dia(tmp_path, "compile", "specs", "-o", "out", "-q"), "Permission denied")
    assert not list(out.iterdir())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True
        ).returncode
    ):
        pytest.skip("this user may not mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_in_one_line_and_keeps_the_old_bundle(small_disk: Path, tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path, templates=1)
    assert dia(tmp_path, "compile", "specs", "-o", str(small_disk), "-q").exit == 0
    before = (small_disk / "demo-0.0.0-k5" / "manifest.json").read_bytes()
    specs(tmp_path, added=2, templates=5)
    one_line(dia(tmp_path, "compile", "specs", "-o", str(small_disk), "-q", "--force"), "No space left")
    assert names(small_disk) == ["demo-0.0.0-k5"]
    assert (small_disk / "demo-0.0.0-k5" / "manifest.json").read_bytes() == before


def test_a_disk_without_room_for_the_cache_still_takes_the_bundle(small_disk: Path, tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path, templates=1)
    filler = small_disk / ".cache" / "templates"
    filler.mkdir(parents=True)
    printed = dia(tmp_path, "compile", "specs", "-o", "plain", "-q", "--no-cache")
    taken = sum(path.stat().st_size + 4096 for path in (tmp_path / "plain").rglob("*"))
    (filler / "filler").write_bytes(bytes(max(0, (64 << 10) - taken - 4096) // 4096 * 4096))
    printed = dia(tmp_path, "compile", "specs", "-o", str(small_disk), "-q")
    assert printed.exit in (0, 2) and "Traceback" not in printed.stderr
    if printed.exit == 0:
        assert dia(tmp_path, "verify", str(small_disk / "demo-0.0.0-k5")).exit == 0
    else:
        one_line(printed, "No space left")
    assert names(small_disk) == ["demo-0.0.0-k5"] * (printed.exit == 0)


@pytest.mark.parametrize("held", ["bundle", "folder", "file", "link"])
def test_something_else_is_replaced_by_force_alone(held: str, tmp_path: Path, dia: Dia) -> None:
    target = specs(tmp_path) / "out" / "demo-0.0.0-k5"
    arguments = ("compile", "specs", "-o", "out", "-q")
    if held == "bundle":
        assert dia(tmp_path, *arguments).exit == 0
        specs(tmp_path, added=2)
    elif held == "folder":
        target.mkdir(parents=True)
        (target / "thesis.txt").write_text("years of work")
    else:
        target.parent.mkdir()
        (tmp_path / "thesis.txt").write_text("years of work")
        target.symlink_to(tmp_path / "thesis.txt") if held == "link" else target.write_text("years of work")
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    one_line(dia(tmp_path, *arguments), "already exists with different content")
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    assert dia(tmp_path, *arguments, "--force").exit == 0
    assert whole(tmp_path, dia) and not target.is_symlink()
    assert names(target.parent) == [target.name]
    assert held != "link" or (tmp_path / "thesis.txt").read_text() == "years of work"


def test_the_same_content_again_changes_nothing(tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path)
    printed = [dia(tmp_path, "compile", "specs", "-o", "out", "-q") for _ in range(2)]
    assert printed[0] == printed[1] and printed[0].exit == 0
    bundle = tmp_path / "out" / "demo-0.0.0-k5"
    files = {path: path.stat().st_mtime_ns for path in bundle.rglob("*")}
    for extra in ("--force", "--no-cache"):
        assert dia(tmp_path, "compile", "specs", "-o", "out", "-q", extra).exit == 0
        assert {path: path.stat().st_mtime_ns for path in bundle.rglob("*")} == files


def test_a_strict_check_ends_with_1_for_warnings(tmp_path: Path, dia: Dia) -> None:
    specs(tmp_path, templates=1)
    path = tmp_path / "specs" / "t0.yaml"
    path.write_text(path.read_text().replace("params: {", "params: {unused: {type: boolean}, "))
    assert [dia(tmp_path, "check", "specs", *extra).exit for extra in ((), ("--strict",))] == [0, 1]


def test_an_interrupt_while_modules_are_read_is_told_in_one_word() -> None:
    program = (
        "import builtins, dia_compiler.commands.entry as entry; real = builtins.__import__\n"
        "def interrupted(name, *more, **named):\n"
        "    if name == 'click': raise KeyboardInterrupt\n"
        "    return real(name, *more, **named)\n"
        "builtins.__import__ = interrupted; entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("more", [[], ["--part", "1/2"]])
def test_more_questions_than_the_disk_can_hold_are_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.yaml").write_text(
        "language: 2\nbenchmark: mine\nversion: 1.0.0\n", encoding="utf-8"
    )
    (tmp_path / "mine" / "square.yaml").write_text(
        "template: square\ntitle: A square\nparams: {n: {type: integer, min: 1, max: = 10**40}}\n"
        "answer: {value: n**2, type: integer}\nprompt: What is the square of {{ n }}?\n",
        encoding="utf-8",
    )
    assert run(["compile", str(tmp_path / "mine"), "-o", str(tmp_path / "out"), "--k", str(10**15), *more]) == 2
    printed = capsys.readouterr().err
    assert "E602" in printed and "questions need at least" in printed and "--part" in printed
    assert not (tmp_path / "out").exists()
