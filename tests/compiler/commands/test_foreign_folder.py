"""A folder of strangers may hold Python files under the names of modules: no command imports them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SPEC = 'template: sum\ntitle: Sum\nparams: {n: {type: integer, min: 1, max: 99}}\nanswer: {value: n + 1, type: integer}\nprompt: "{{ n }} + 1?"\n'
SCRIPT = "import sys\nfrom dia_compiler.commands.cli import run\nif __name__ == '__main__':\n    sys.exit(run(sys.argv[1:]))\n"
NAMES = ("signal", "enum", "selectors", "multiprocessing", "sympy", "jinja2", "yaml", "pickle", "dia_compiler")


@pytest.mark.long
def test_nothing_in_the_current_folder_is_imported(tmp_path: Path) -> None:
    folder, mark = tmp_path / "foreign", tmp_path / "imported"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r} + ' ')\nraise SystemExit(3)\n")
    (folder / "benchmark.yaml").write_text("language: 1\nbenchmark: foreign\n")
    (folder / "sum.yaml").write_text(SPEC)
    # As the installed command `dia` does, a script has its own folder on the path, not the current one.
    script = tmp_path / "dia.py"
    script.write_text(SCRIPT)
    for arguments in (["check", "."], ["compile", ".", "--k", "3", "-o", "out"], ["preview", "sum.yaml"]):
        done = subprocess.run(
            [sys.executable, str(script), *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert not mark.exists(), mark.read_text()
        assert done.returncode == 0, done.stderr
