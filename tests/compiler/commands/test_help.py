"""`dia --help` lists every command once, under the heading of its group; unknown options get a suggestion."""

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


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["pack", "x", "--foo"], ""),  # not --out, with which it shares one letter
        (["compile", "x", "--jbos", "3"], " Did you mean '--jobs'?"),
        (["compile", "x", "--Out", "y"], " Did you mean '--out'?"),
        (["run", "x", "--temp", "0"], " Did you mean '--temperature'?"),
    ],
)
def test_an_unknown_option_is_reported_with_a_similar_one(
    arguments: list[str], suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    unknown = next(word for word in arguments if word.startswith("--"))
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: No such option '{unknown}'.{suggestion}"
