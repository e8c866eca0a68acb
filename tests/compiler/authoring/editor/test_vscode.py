"""The extension for VS Code: it is packed with what it needs, under the project's version, and finds the program."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from helpers.places import ROOT

EXTENSION = ROOT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))


def npm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *arguments], cwd=folder, capture_output=True, text=True, timeout=300)


def test_its_version_and_license_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert PACKAGE["version"] == lock["version"] == project["version"] and PACKAGE["license"] == project["license"]
    for page in (ROOT / "docs" / "howto" / "editor.md", EXTENSION / "README.md"):
        assert f"{PACKAGE['name']}-{PACKAGE['version']}.vsix" in page.read_text(encoding="utf-8")
    assert PACKAGE["capabilities"]["untrustedWorkspaces"]["supported"] is False


@pytest.mark.tools
def test_it_is_packed_with_what_it_needs(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path / "vscode"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "*.vsix"))
    installed = npm(folder, "ci", "--no-audit", "--no-fund")
    if installed.returncode and "network" in installed.stderr.lower():
        pytest.skip("npm cannot reach its registry")
    assert installed.returncode == 0, installed.stderr
    tested = npm(folder, "test")
    assert tested.returncode == 0, tested.stdout
    packed = npm(folder, "run", "package")
    assert packed.returncode == 0, packed.stdout + packed.stderr
    names = zipfile.ZipFile(folder / f"{PACKAGE['name']}-{PACKAGE['version']}.vsix").namelist()
    needed = ("extension.js", "server_path.js", "package.json", "node_modules/vscode-languageclient/package.json")
    assert [name for name in needed if f"extension/{name}" not in names] == []
    assert [name for name in names if name.endswith(".test.js") and "node_modules" not in name] == []
