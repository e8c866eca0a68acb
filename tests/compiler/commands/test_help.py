"""`dia --help` lists every command once, under the heading of its group."""

from __future__ import annotations

import re

import pytest
from dia_compiler.commands.cli import COMMANDS, HEADINGS, run


def test_help_lists_every_command_under_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = re.findall(r"^(\S.*):$|^  ([a-z]+)  +[A-Z]", capsys.readouterr().out, re.MULTILINE)
    names = [heading or command for heading, command in listed if heading != "Options"]
    expected = [name for command in COMMANDS for name in (HEADINGS.get(command), command) if name]
    assert names == expected
    assert names[0] in HEADINGS.values()
