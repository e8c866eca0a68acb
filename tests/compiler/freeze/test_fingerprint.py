"""A change of our own code makes every cached result stale, whichever of the packages it is in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

PACKAGES = sorted(path for folder in ("compiler", "runtime") for path in (ROOT / folder).glob("dia_*"))


def machinery(root: Path) -> str:
    """The digest of the machinery, as the copy below `root` computes it of itself."""
    code = "from dia_compiler.freeze.fingerprint import machinery; print(machinery())"
    path = os.pathsep.join((str(root / "compiler"), str(root / "runtime")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages and schemas, so that nothing of the checkout is edited."""
    root = tmp_path_factory.mktemp("checkout")
    for folder in [*PACKAGES, ROOT / "schemas"]:
        shutil.copytree(folder, root / folder.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def unedited(copy: Path) -> str:
    digest = machinery(copy)
    assert digest == machinery(copy), "the digest of unchanged files stays"
    return digest


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.name))
def test_an_edit_in_any_package_changes_the_digest(package: Path, copy: Path, unedited: str) -> None:
    module = max((copy / package.relative_to(ROOT)).rglob("*.py"))
    source, times = module.read_bytes(), module.stat()
    module.write_bytes(source + b"# edited\n")
    assert machinery(copy) != unedited, f"`fingerprint.machinery` leaves out {package.name}"
    module.write_bytes(source)
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert machinery(copy) == unedited


def test_there_are_three_packages() -> None:
    assert [path.name for path in PACKAGES] == ["dia_compiler", "dia_language", "dia_runtime"]
