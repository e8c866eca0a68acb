"""The reference is what the code gives, and what the docs promise holds."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from dia_compiler import check as check_stage
from dia_compiler import discover, prepare, read, render
from dia_compiler.cli import run
from dia_compiler.fuzz import Stream, Walker, derived, feistel, shuffled
from dia_compiler.planned import PLANNED_ANSWER_KEYS, PLANNED_ANSWERS, PLANNED_FORMATS, PLANNED_KEYS, PLANNED_TYPES
from dia_runtime.language import budgets, limits, syntax, workers

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LANGUAGE = DOCS / "reference" / "language.md"
SNIPPETS = re.findall(r"^```yaml\n(.*?)^```$", LANGUAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
FRAGMENTS = [text for text in SNIPPETS if "\nparams:" in f"\n{text}"]
Check = Callable[[str], int]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """The exit code of `dia check` for a template, alone in its benchmark."""

    def code(template: str) -> int:
        (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: docs\n", encoding="utf-8")
        (tmp_path / "fragment.yaml").write_text(f"template: fragment\ntitle: A fragment\n{template}", encoding="utf-8")
        return run(["check", str(tmp_path)])

    return code


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_fragment_of_the_language_page_compiles(fragment: str, check: Check) -> None:
    names = [line.strip().partition(":")[0] for line in fragment.partition("params:\n")[2].splitlines()]
    drawn = [name for name in names if re.search(rf"^  {name}: (?!.*entry)", fragment, re.MULTILINE)]
    spec = fragment
    if "\nanswer:" not in spec:
        spec += "answer: {value: length(values), type: integer}\n"
    shows = [f"{{{{ {name} }}}}" for name in drawn]
    shows += ["{% for step in steps %}{{ say(step) }} {% endfor %}"] if "steps" in names else []
    assert check(f'{spec}prompt: "{" ".join(shows)}"\n') == 0


def test_the_example_of_the_language_page_comes_out(check: Check) -> None:
    assert len(FRAGMENTS) == 2
    (examples,) = (text for text in SNIPPETS if text.startswith("examples:"))
    spec = """
params: {n: {type: integer, min: 100, max: 999}}
answer: {value: next_prime(n), type: integer}
prompt: "{{ n }}"
"""
    assert check(spec + examples) == 0
    assert check(spec + examples.replace("answer: 131", "answer: 133")) == 2


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


def test_the_limits_that_the_docs_promise_are_those_of_the_code() -> None:
    page = (DOCS / "explanation" / "security.md").read_text(encoding="utf-8")
    held = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", page.partition("## Limits")[2], re.MULTILINE))
    assert held["a spec file"] == f"{read.FILE_BYTES >> 20} MiB, {read.DEPTH} levels, {read.NODES:,} nodes"
    assert held["entries of one key, such as `let` or `checks`"] == f"{check_stage.DECLARED:,}"
    assert held["expressions and templates that one template uses"] == f"{prepare.CHARACTERS:,} characters"
    assert held["a benchmark"] == f"{discover.FILES:,} spec files"
    assert held["an expression"] == f"{syntax.TEXT_LIMIT:,} characters"
    assert held["a template's source"] == f"{render.SOURCE_LIMIT:,} characters"
    assert held["an integer"] == f"{limits.INTEGER_BITS:,} bits"
    assert held["a text, a list"] == f"{limits.TEXT_LENGTH:,} characters, elements"
    assert held["an integer that is tested for primality or factored"] == f"{limits.PRIME_BITS:,} bits"
    assert held["steps of one evaluation"].startswith(f"{budgets.STEPS:,} (")
    assert held["seconds of one evaluation"].startswith(f"{workers.SECONDS:g} (")
    assert held["memory of a worker process"].startswith(f"{workers.MEMORY_BYTES >> 20} MiB ")
    assert limits.TEXT_LENGTH == limits.LIST_LENGTH


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
