"""Every command that the docs show runs, and prints what they say.

In a page, in its order: a block ```yaml title="PATH" is written to that path; a line of a ```sh block, or one behind
`$ ` of a ```console block, is run in a folder that holds a copy of specs/. The last command of a block ends with the
code that `exit=N` states, every other one with 0. Each further line of a console block is a line that was printed, in
that order; `...` in it stands for anything.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import click
import pytest
from dia_compiler.commands.cli import COMMANDS, EPILOG, dia, run
from dia_language.confinement.sandboxes import confinement
from helpers.places import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = re.compile(r"(python3 -m venv|git clone|\. \.venv/bin/activate)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
LONG = pytest.mark.long
EVERYDAY_PAGES = {"calibrate", "language", "multiple-choice", "tutorial"}
SETTING = re.compile(r"([a-z_]+)=(\$\(.*\))")


@dataclass
class Shell:
    """Runs the lines of a page: commands of dia in this process, anything else in bash."""

    capture: pytest.CaptureFixture[str]
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, line: str) -> tuple[int, str]:
        """The exit code of a line, and what it printed."""
        if line.startswith("dia "):
            return self._dia(line)
        setting = SETTING.fullmatch(line)
        done = self._bash(f"echo {setting[2]}" if setting else line)
        if setting:
            self.variables[setting[1]] = done.stdout.strip()
        return done.returncode, done.stdout + done.stderr

    def _dia(self, line: str) -> tuple[int, str]:
        for name, value in self.variables.items():
            line = line.replace(f"${name}", value)
        line, _, target = line.partition(" > ")
        self.capture.readouterr()
        if line.startswith("dia studio "):
            return self._studio(line)
        code = run(shlex.split(line, comments=True)[1:])
        out, err = self.capture.readouterr()
        if target:
            Path(target.strip()).write_text(out, encoding="utf-8")
            out = ""
        return code, out + err

    def _studio(self, line: str) -> tuple[int, str]:
        """Starts the studio, and ends it by Ctrl-C when it has printed its address."""
        command = [sys.executable, "-m", "dia_compiler", *shlex.split(line)[1:]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            printed = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            return process.wait(30), printed

    def _bash(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell in a folder of its own that holds a copy of specs/."""
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return Shell(capsys)


def blocks(page: Path) -> Iterator[tuple[str, str, str]]:
    """Language, information and text of each fenced block."""
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2].strip(), found[3]


def lines_of(language: str, text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it is said to print."""
    done: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if language == "sh" or line.startswith("$ "):
            command = _command(line.removeprefix("$ "))
            if command:
                done.append((command, []))
        elif done and line.strip():
            done[-1][1].append(line)
    return done


def _command(line: str) -> str:
    """The command to run: of an install line what comes last, if that is one of dia."""
    line = line.strip()
    if INSTALL.match(line):
        last = line.rpartition("&& ")[2]
        line = last if last.startswith(".venv/bin/dia ") else ""
    return "" if line.startswith("#") else line.removeprefix(".venv/bin/")


def require_printed(expected: list[str], printed: str, command: str) -> None:
    """Fails where an expected line was not printed, behind the one before it."""
    rest = iter(printed.splitlines())
    for line in expected:
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("..."))))
        assert any(pattern.fullmatch(found.strip()) for found in rest), f"{command}\nwants {line!r} in\n{printed}"


def has_commands(page: Path) -> bool:
    return any(language in ("sh", "console") for language, _, _ in blocks(page))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.stem in EVERYDAY_PAGES else LONG, id=page.stem)
        for page in PAGES
        if has_commands(page)
    ],
)
def test_the_commands_of_a_page_run(page: Path, shell: Shell) -> None:
    if "--allow-programs" in page.read_text(encoding="utf-8") and confinement() is None:
        pytest.skip("nothing here can confine the programs of this page")
    for language, information, text in blocks(page):
        title, stated = re.search(r'title="([^"]+)"', information), re.search(r"exit=(\d+)", information)
        if title:
            Path(title[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(title[1]).write_text(text, encoding="utf-8")
        elif language in ("sh", "console"):
            commands = lines_of(language, text)
            for number, (command, expected) in enumerate(commands):
                code, printed = shell.run(command)
                wanted = int(stated[1]) if stated and number == len(commands) - 1 else 0
                assert code == wanted, f"{command}\n{printed}"
                require_printed(expected, printed, command)


@LONG
def test_the_examples_of_the_commands_run(shell: Shell) -> None:
    context = click.Context(dia)
    examples = [EPILOG.removeprefix("Example: ")]
    for name in COMMANDS:
        command = dia.get_command(context, name)
        assert command is not None
        found = re.findall(rf"^\s+(dia {name}\b.*)$", (command.help or "").partition("Example")[2], re.MULTILINE)
        assert found, f"`dia {name} --help` ends without an example"
        examples += found
    Path("passphrase.txt").write_text("seven quiet herons\n", encoding="utf-8")  # of those that sign and seal
    for example in examples:
        code, printed = shell.run(re.sub(r"build/dia_bench-\S+-k5", "build/dia_bench-1.0.0-k5", example))
        assert code == 0, f"{example}\n{printed}"


def test_the_citation_names_the_present_version() -> None:
    project, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CITATION.cff"))
    version = re.search(r'^version = "(.+)"$', project, re.MULTILINE)
    assert version is not None and re.search(rf"^version: {re.escape(version[1])}$", citation, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        if not target.startswith("https://"):
            path, _, heading = target.partition("#")
            there = page.parent / path if path else page
            assert there.exists(), target
            assert not heading or heading in anchors(there), target


@cache
def anchors(page: Path) -> set[str]:
    """The names by which links reach the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_excerpts_of_the_plug_in_stand_in_it() -> None:
    package, page = DOCS / "examples" / "dia-dice", DOCS / "howto" / "extend-with-a-package.md"
    wholes = {"python": package / "src" / "dia_dice.py", "toml": package / "pyproject.toml",
              "yaml": ROOT / "tests" / "test_plugin.py"}  # fmt: skip
    found = [(language, text) for language, _, text in blocks(page) if language in wholes]
    assert len(found) >= 7
    for language, text in found:
        whole = wholes[language].read_text(encoding="utf-8").replace("\\n", "\n")
        assert text in whole, text
