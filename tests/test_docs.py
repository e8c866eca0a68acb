"""Every command that the docs show runs, and prints what they say; the generated pages are fresh.

In a page, in its order: a block ```yaml title="PATH" is written to that path; a line of a ```sh block, or one behind
`$ ` of a ```console block, is run in a folder that holds a copy of specs/. The last command of a block ends with the
code that `exit=N` states, every other one with 0. Each further line of a console block is a line that was printed, in
that order; `...` in it stands for anything.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import click
import pytest
from dia_compiler.cli import COMMANDS, EPILOG, dia, run
from dia_compiler.fuzz import Stream, Walker, derived, feistel, shuffled
from dia_compiler.spec import PLANNED_ANSWER_KEYS, PLANNED_ANSWERS, PLANNED_FORMATS, PLANNED_KEYS, PLANNED_TYPES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in [ROOT / "README.md", *DOCS.rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = re.compile(r"(python3 -m venv|git clone|\. \.venv/bin/activate)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
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
        code = run(shlex.split(line, comments=True)[1:])
        out, err = self.capture.readouterr()
        if target:
            Path(target.strip()).write_text(out, encoding="utf-8")
            out = ""
        return code, out + err

    def _bash(self, line: str) -> subprocess.CompletedProcess[str]:
        here = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=here, check=False)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell in a folder of its own that holds a copy of specs/."""
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.parametrize("page", list(filter(has_commands, PAGES)), ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, shell: Shell) -> None:
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


def test_the_examples_of_the_commands_run(shell: Shell) -> None:
    context = click.Context(dia)
    examples = [EPILOG.removeprefix("Example: ")]
    for name in COMMANDS:
        command = dia.get_command(context, name)
        assert command is not None
        found = re.findall(rf"^\s+(dia {name} .*)$", (command.help or "").partition("Example")[2], re.MULTILINE)
        assert found, f"`dia {name} --help` ends without an example"
        examples += found
    for example in examples:
        code, printed = shell.run(re.sub(r"build/dia_bench-\S+-k5", "build/dia_bench-0.1.0-k5", example))
        assert code == 0, f"{example}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


LANGUAGE = DOCS / "reference" / "language.md"
FRAGMENTS = [
    text
    for language, about, text in blocks(LANGUAGE)
    if language == "yaml" and not about and "\nparams:" in f"\n{text}"
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_fragment_of_the_language_page_compiles(fragment: str, shell: Shell) -> None:
    names = [line.strip().partition(":")[0] for line in fragment.partition("params:\n")[2].splitlines()]
    drawn = [name for name in names if re.search(rf"^  {name}: (?!.*entry)", fragment, re.MULTILINE)]
    spec = "template: fragment\ntitle: A fragment\n" + fragment
    if "\nanswer:" not in spec:
        spec += "answer: {value: length(values), type: integer}\n"
    shows = [f"{{{{ {name} }}}}" for name in drawn]
    shows += ["{% for step in steps %}{{ say(step) }} {% endfor %}"] if "steps" in names else []
    Path("specs/dia_bench/fragment.yaml").write_text(f'{spec}prompt: "{" ".join(shows)}"\n', encoding="utf-8")
    code, printed = shell.run("dia check specs/dia_bench/fragment.yaml")
    assert code == 0, printed


def test_the_example_of_the_language_page_comes_out(shell: Shell) -> None:
    (examples,) = (
        text for language, _, text in blocks(LANGUAGE) if language == "yaml" and text.startswith("examples:")
    )
    spec = """
template: fragment
title: A fragment
params: {n: {type: integer, min: 100, max: 999}}
answer: {value: next_prime(n), type: integer}
prompt: "{{ n }}"
"""
    Path("specs/dia_bench/fragment.yaml").write_text(spec + examples, encoding="utf-8")
    assert shell.run("dia check specs/dia_bench/fragment.yaml")[0] == 0
    Path("specs/dia_bench/fragment.yaml").write_text(spec + examples.replace("answer: 131", "answer: 133"))
    assert shell.run("dia check specs/dia_bench/fragment.yaml")[0] == 2


def test_the_language_page_names_what_is_refused() -> None:
    refused = LANGUAGE.read_text(encoding="utf-8").partition("## Not in this version")[2]
    named = [set(re.findall(r"`([a-z_]+)`", part)) for part in re.split(r"\n\n|;", refused.strip())]
    keys, types, answers, answer_keys, formats = named
    assert (keys, types, answers) == (PLANNED_KEYS, PLANNED_TYPES, PLANNED_ANSWERS)
    assert (answer_keys, formats - {"xml"}) == (PLANNED_ANSWER_KEYS, PLANNED_FORMATS)


def test_the_language_page_names_every_key() -> None:
    known = set()
    for name in ("benchmark", "template"):
        schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
        known |= set(schema["properties"])
    told = LANGUAGE.read_text(encoding="utf-8").partition("## Keys of benchmark.yaml")[2]
    assert known <= set(re.findall(r"`([a-z_]+)`", told))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_fresh() -> None:
    assert generator().stale() == []


def test_a_stale_page_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = generator()
    monkeypatch.setattr(made, "REFERENCE", tmp_path)
    assert made.main([]) == 0 and made.main(["--check"]) == 0
    (tmp_path / "types.md").write_text("# Types\n", encoding="utf-8")
    capsys.readouterr()
    assert made.main(["--check"]) == 1
    assert "docs/reference/types.md" in capsys.readouterr().err


def test_the_functions_are_called_by_the_names_of_the_language() -> None:
    assert re.findall(r"\b[a-z0-9]+_\(", (DOCS / "reference" / "functions.md").read_text(encoding="utf-8")) == []


def test_the_known_answers_of_the_docs_are_what_the_code_gives() -> None:
    page = (DOCS / "explanation" / "instances.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    held = json.loads(stated)
    key = bytes.fromhex(held["key"])
    stream = Stream(key)
    assert derived(key, 0, "vast", 17).hex() == held["H(key, 0, vast, 17)"]
    assert [stream.below(int(options)) for options in held["stream"]["options"]] == held["stream"]["draws"]
    assert list(shuffled(key, 10)) == held["table of 10"]
    assert [feistel(key, 1000, value) for value in range(6)] == held["feistel of 1000"]
    assert _walk(key) == held["walk"]


def _walk(key: bytes) -> list[list[object]]:
    """The first eight instances of the walk that the page describes."""

    def draw(choose):  # type: ignore[no-untyped-def]
        a = choose.below(5)
        b = choose.below(a + 1)
        c = choose.weighted((1, 3))
        choose.check((a + b + c) % 2 == 0)
        return [a, b, c, choose.where(lambda inner: inner.below(4), lambda value: value != 2)]

    walker = Walker(key, draw)
    found = [[position, value] for position in range(40) if (value := walker.at(position)) is not None]
    return found[:8]
