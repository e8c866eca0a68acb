"""Wrong specs: every message whole, with its line, column, caret and mend; and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

import pytest
from helpers.places import GOLDEN


class Printed(Protocol):
    stdout: str
    stderr: str
    exit: int


class Golden(Protocol):
    work: Path

    def run(self, name: str, *arguments: str) -> Printed: ...

    def holds(self, name: str, printed: Printed) -> None: ...


CHECK = ("check", "specs", "--jobs", "1")
COMPILE = ("compile", "specs", "-o", "out", "-q", "--jobs", "1")

# Folder -> the command, where it is another than `dia check`
COMMANDS: dict[str, tuple[str, ...]] = {
    "error_five_faults": COMPILE,
    "error_too_few": (*COMPILE, "--k", "10"),
    "check_json": (*CHECK, "--format", "json"),
    "check_github": (*CHECK, "--format", "github"),
    "warnings": (*COMPILE, "--k", "4", "--strict"),
}
NAMES = [*sorted(path.name for path in GOLDEN.glob("error_*")), "check_json", "check_github", "warnings"]
EXHAUSTED = "error_too_few"  # every search of it goes on to its limit


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name == EXHAUSTED)) for name in NAMES])
def test_wrong_specs_are_told_as_the_golden_files_say(name: str, golden: Golden) -> None:
    printed = golden.run(name, *COMMANDS.get(name, CHECK))
    golden.holds(name, printed)
    assert printed.exit == 2
    assert [path.name for path in golden.work.iterdir()] == ["specs"], "something was written"
    for word in ("Traceback", "NoneType", r"\bdict\b", "TypeError", "<class", r"Fraction\(", "Error:"):
        assert not re.search(word, printed.stderr)
