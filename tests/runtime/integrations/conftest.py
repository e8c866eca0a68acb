"""One benchmark for all harnesses, and a shell to run them in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from helpers.tricky import Case, Command, compiled


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The benchmark with its model."""
    folder = tmp_path_factory.mktemp("tricky")
    return Case(folder, compiled(folder))


@pytest.fixture
def shell(tmp_path: Path) -> Command:
    """A function that runs a command line in a folder of its own, with programs of a harness and nothing of ours."""

    def line(text: str, programs: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
        here = {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path), **variables}
        return subprocess.run(["bash", "-c", text], cwd=tmp_path, env=here, capture_output=True, text=True, check=False)

    return line
