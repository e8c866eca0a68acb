"""Commands that write, killed at random moments: the output is absent, old or whole, and nothing piles up."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from helpers.kills import KILLS

PASSPHRASE = "correct horse battery staple"
SPEC = """template: square
title: A square
params:
  n: {type: integer, min: 2, max: 99999}
answer: {value: n**2, type: integer}
prompt: What is the square of {{ n }}?
"""
ROWS = "".join(
    f'{{"id": "q{at}", "gold": "A", "reply": "Answer: {"AB"[at % 2]}", "model": "m"}}\n' for at in range(5000)
)

# The command, what it writes, and a command that fails if that is damaged.
WRITERS = {
    "compile": ("compile mine --k 300 -o out --force --no-cache", "out/mine-1.0.0-k300", "verify out/mine-1.0.0-k300"),
    "run": ("run build/mine-1.0.0-k300 --model oracle -o out", "out", "score out"),
    "score": ("score asked.run --json -o out", "out", None),
    "report": ("report asked.run -o out", "out", None),
    "plot": ("plot leaderboard asked.run other.run -o out.svg", "out.svg", None),
    "merge": ("merge asked.run other.run -o out --force", "out", "score out"),
    "pack": ("pack build/mine-1.0.0-k300 -o out --force", "out", "verify out"),
    "export": ("export build/mine-1.0.0-k300 --to jsonl -o out --force", "out", None),
    "seal": ("seal build/mine-1.0.0-k300 --weak --passphrase-file pass -o out --force", "out", "verify out"),
    "import": ("import rows.jsonl --from jsonl --letters A-B --field model=model -o out --force", "out", "score out"),
    "calibrate": ("calibrate panel.run --items instances -o out", "out", None),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("killed")
    (place / "mine").mkdir()
    (place / "mine" / "benchmark.yaml").write_text("language: 2\nbenchmark: mine\nversion: 1.0.0\n", encoding="utf-8")
    (place / "mine" / "square.yaml").write_text(SPEC, encoding="utf-8")
    (place / "rows.jsonl").write_text(ROWS, encoding="utf-8")
    (place / "pass").write_text(PASSPHRASE + "\n", encoding="utf-8")
    home = Path.cwd()
    os.chdir(place)
    try:
        for line in (
            "compile mine --k 300 -q",
            "run build/mine-1.0.0-k300 --model oracle -o asked.run -q",
            "run build/mine-1.0.0-k300 --model says:nothing -o other.run -q",
            *(f"run build/mine-1.0.0-k300 --model simulated:theta={theta} -o panel.run -q" for theta in (-1, 0, 1)),
        ):
            assert run(line.split()) == 0, line
        yield place
    finally:
        os.chdir(home)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_killed_command_leaves_nothing_half_written(name: str, folder: Path) -> None:
    command, output, check = WRITERS[name]
    _remove(folder / output)
    started = time.monotonic()
    assert run(command.split()) == 0
    duration = time.monotonic() - started
    whole = _content(folder / output)
    chance = random.Random(name)
    for _ in range(KILLS):
        if chance.random() < 0.5:
            _remove(folder / output)
        process = _start(command)
        time.sleep(chance.random() * duration * 1.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if name == "run":  # a run is written reply by reply, and the next one completes it
            continue
        assert not (folder / output).exists() or _content(folder / output).keys() == whole.keys()
        if check is not None and (folder / output).exists():
            assert run(check.split()) == 0
    assert _start(command).wait(timeout=120) == 0
    assert check is None or run(check.split()) == 0
    assert not list(folder.rglob(".dia-*")), "private folders pile up"


def _start(command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dia_compiler", *command.split()],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _content(path: Path) -> dict[str, int]:
    """Names and sizes of the files."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {one.relative_to(path).as_posix(): one.stat().st_size for one in files}


def _remove(path: Path) -> None:
    remove: Callable[[Path], None] = shutil.rmtree if path.is_dir() else lambda one: one.unlink(missing_ok=True)
    remove(path)
