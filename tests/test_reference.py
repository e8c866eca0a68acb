"""The reference is what the code gives, and what the docs promise holds."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from dia_compiler.analyze import check as check_stage
from dia_compiler.analyze import items, snippets
from dia_compiler.commands.cli import run
from dia_compiler.distribute import task
from dia_compiler.freeze import cache, output
from dia_compiler.parse import discover, tables
from dia_compiler.parse.spec_schema import structure
from dia_compiler.sampling.instance_tree import Stream, Walker, derived, feistel, shuffled
from dia_compiler.types import TYPES
from dia_language import budgets, limits, yaml_nodes
from dia_language.answers import ANSWER_TYPES
from dia_language.expressions import syntax
from dia_language.templates import templates
from dia_language.workers import pool
from dia_runtime.formats import FORMATS, base
from dia_runtime.formats.replies import REPLY_FORMATS
from helpers.places import ROOT

DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
LANGUAGE = "\n".join(
    (REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    for name in ("language", "parameters", "answers", "variants", "sessions", "assets")
)
SNIPPETS = re.findall(r"^```yaml\n(.*?)^```$", LANGUAGE, re.MULTILINE | re.DOTALL)
FRAGMENTS = [text for text in SNIPPETS if "\nparams:" in f"\n{text}"]
CAPITALS = "country,capital,people\nChile,Santiago,20\nFrance,Paris,68\nGhana,Accra,34\nJapan,Tokyo,124\nPeru,Lima,34\n"
Check = Callable[[str], int]


def section(heading: str) -> str:
    """The text under a heading of the pages on the language, up to the next heading of its level or above."""
    level = len(heading.partition(" ")[0])
    return re.split(rf"\n#{{1,{level}}} ", f"\n{LANGUAGE}".partition(f"\n{heading}\n")[2])[0]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """The exit code of `dia check` for a template, alone in its benchmark."""

    def code(template: str) -> int:
        (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: docs\n", encoding="utf-8")
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "capitals.csv").write_text(CAPITALS, encoding="utf-8")
        (tmp_path / "fragment.yaml").write_text(f"template: fragment\ntitle: A fragment\n{template}", encoding="utf-8")
        return run(["check", str(tmp_path)])

    return code


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_fragment_of_the_language_pages_compiles(fragment: str, check: Check) -> None:
    names = [line.strip().partition(":")[0] for line in fragment.partition("params:\n")[2].splitlines()]
    drawn = [name for name in names if re.search(rf"^  {name}: (?!.*entry)", fragment, re.MULTILINE)]
    spec = fragment
    if "\nprompt:" in spec:
        assert check(spec) == 0
        return
    if "\nanswer:" not in spec:
        spec += "answer: {value: length(values), type: integer}\n"
    shows = [f"{{{{ {name} }}}}" for name in drawn]
    shows += ["{% for step in steps %}{{ say(step) }} {% endfor %}"] if "steps" in names else []
    assert check(f'{spec}prompt: "{" ".join(shows)}"\n') == 0


def test_the_example_of_the_language_pages_comes_out(check: Check) -> None:
    assert len(FRAGMENTS) == 6
    (examples,) = (text for text in SNIPPETS if text.startswith("examples:"))
    spec = """
params: {n: {type: integer, min: 100, max: 999}}
answer: {value: next_prime(n), type: integer}
prompt: "{{ n }}"
"""
    assert check(spec + examples) == 0
    assert check(spec + examples.replace("answer: 131", "answer: 133")) == 2


def test_the_types_of_the_language_pages_draw_what_they_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (text for text in SNIPPETS if text.startswith("- {type:"))
    found = re.findall(r"^- (\{type: .*\})  # (.*)$", block, re.MULTILINE)
    (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: types\n", encoding="utf-8")
    rest = 'answer: {value: n, type: integer}\nallow: {unused-parameter: p is not asked for}\nprompt: "{{ n }}"\n'
    for number, (use, _) in enumerate(found, 1):
        parameters = f"params: {{p: {use}, n: {{type: integer, min: 1, max: 1000000}}}}\n"
        spec = f"template: t{number:02}\ntitle: T\n{parameters}{rest}"
        (tmp_path / f"t{number:02}.yaml").write_text(spec, encoding="utf-8")
    assert run(["preview", str(tmp_path), "--instance", "0", "--json", "-q"]) == 0, capsys.readouterr().err
    drawn = [held["instances"][0]["parameters"]["p"] for held in json.loads(capsys.readouterr().out)["templates"]]
    for value, (use, told) in zip(drawn, found, strict=True):
        assert value.startswith(told.removesuffix("...")) if told.endswith("...") else value == told, (
            f"- {use}  # {value}"
        )
    assert {yaml.safe_load(use)["type"] for use, _ in found} == TYPES.own.keys() - {"entry", "row", "rows"}


def test_the_answers_of_the_language_pages_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = (text for text in SNIPPETS if text.startswith("- {value:"))
    found = re.findall(r"^- (\{value: .*\}) +# (.*)$", block, re.MULTILINE)
    (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: answers\n", encoding="utf-8")
    for number, (answer, reply) in enumerate(found):
        right = json.dumps(f"<xml>{reply}</xml>")
        spec = f"template: a{number}\ntitle: A\nanswer: {answer}\nprompt: A?\nexamples: [{{params: {{}}, replies: {{correct: [{right}]}}}}]\n"
        (tmp_path / f"a{number}.yaml").write_text(spec, encoding="utf-8")
    assert run(["check", str(tmp_path)]) == 0, capsys.readouterr().err
    assert {yaml.safe_load(answer)["type"] for answer, _ in found} == ANSWER_TYPES.keys()


def test_the_language_pages_name_every_type_answer_and_format() -> None:
    told = [section(f"## {head}") for head in ("Parameters", "Answers", "Formats")]
    words = [{word for row in re.findall(r"^\|[^|]*\| (.*?) \|$", part, re.MULTILINE) for word in row.split(", ")}
             for part in told]  # fmt: skip
    assert TYPES.own.keys() == words[0] - {"types"}
    assert ANSWER_TYPES.keys() <= words[1]
    assert set(re.findall(r"^\| `(\w+)` \|", told[2], re.MULTILINE)) == FORMATS.own.keys()


def test_the_language_pages_name_every_key_of_an_answer() -> None:
    schema = structure("template")["properties"]
    for head, keys in (("## Answers", schema["answer"]), ("## Multiple choice", schema["choices"]),
                       ("# Variants and slots", schema["variants"]["additionalProperties"])):  # fmt: skip
        rows = "".join(re.findall(r"^\| (`[^|]*) \|", section(head), re.MULTILINE))
        assert set(re.findall(r"`(\w+)`", rows)) == set(keys["properties"]), head


def test_the_language_pages_name_every_key_of_sessions() -> None:
    held = structure("template")["$defs"]
    told = section("# Sessions")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", told))))
    judge = held["grade"]["properties"]["judge"]["properties"]
    for name in ("session", "turn", "reply", "settings", "grade", "decisions", "ranking"):
        assert set(held[name]["properties"]) <= words, name
    assert set(judge) | set(held["figures"]["additionalProperties"]["properties"]) <= words
    assert REPLY_FORMATS.keys() <= words


def test_the_language_pages_name_every_key() -> None:
    known = set()
    for name in ("benchmark", "template"):
        schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
        known |= set(schema["properties"])
    told = LANGUAGE.partition("## Keys of benchmark.yaml")[2]
    assert known <= set(re.findall(r"`([a-z_]+)`", told))


def test_the_limits_that_the_docs_promise_are_those_of_the_code() -> None:
    page = (DOCS / "explanation" / "security.md").read_text(encoding="utf-8")
    held = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", page.partition("## Limits")[2], re.MULTILINE))
    assert (
        held["a spec file"]
        == f"{yaml_nodes.FILE_BYTES >> 20} MiB, {yaml_nodes.DEPTH} levels, {yaml_nodes.NODES:,} nodes"
    )
    assert held["entries of one key, such as `let` or `checks`"] == f"{check_stage.DECLARED:,}"
    assert (
        held["all expressions and texts with `{{ }}` that one template uses"] == f"{snippets.CHARACTERS:,} characters"
    )
    assert held["a benchmark"] == f"{discover.FILES:,} spec files"
    assert held["all specs and word lists that one command reads"] == (
        f"{check_stage.BYTES_TOGETHER >> 20} MiB, {check_stage.NODES_TOGETHER:,} nodes"
    )
    assert held["an expression"] == f"{syntax.TEXT_LIMIT:,} characters"
    assert held["a text with `{{ }}`"] == f"{templates.SOURCE_LIMIT:,} characters"
    assert held["an integer"] == f"{limits.INTEGER_BITS:,} bits"
    assert held["a text, a list"] == f"{limits.TEXT_LENGTH:,} characters, elements"
    assert held["an integer that is tested for primality or factored"] == f"{limits.PRIME_BITS:,} bits"
    assert held["steps to evaluate one expression"].startswith(f"{budgets.STEPS:,} (")
    assert held["seconds to evaluate one expression"].startswith(f"{pool.SECONDS:g} (")
    assert held["memory of a worker process"].startswith(f"{pool.MEMORY_BYTES >> 20} MiB ")
    assert limits.TEXT_LENGTH == limits.LIST_LENGTH
    sizes = f"{tables.MOST_ROWS:,} rows, {tables.MOST_VALUES:,} values, {tables.MOST_COLUMNS:,} columns"
    assert held["a data file"] == f"{tables.FILE_BYTES // 1_000_000} MB, {sizes}"
    assert held["items of one template"] == f"{items.MOST:,}"
    assert held["a reply that is searched for an answer"] == f"{base.CHARACTERS:,} characters"


def test_the_sizes_that_the_page_on_large_compiles_gives_are_those_of_the_code() -> None:
    page = " ".join((DOCS / "howto" / "compile-large.md").read_text(encoding="utf-8").split())
    assert f"A template with more than {task.SPAN} instances is split between workers" in page
    assert f"with {output.SHARD:,} lines each" in page
    assert f"The cache holds at most {cache.LARGEST_CACHE >> 20} MiB" in page


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_fresh() -> None:
    assert generator().stale() == []


def test_a_stale_page_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = generator()
    for name in ("REFERENCE", "SCHEMAS"):
        monkeypatch.setattr(made, name, tmp_path)
    monkeypatch.setitem(made.FOLDERS, tmp_path, "docs/reference")
    monkeypatch.setattr(made, "README", shutil.copy(made.README, tmp_path / "README.md"))
    assert made.main([]) == 0 and made.main(["--check"]) == 0
    (tmp_path / "types.md").write_text("# Types\n", encoding="utf-8")
    capsys.readouterr()
    assert made.main(["--check"]) == 1
    assert "docs/reference/types.md" in capsys.readouterr().err


def test_the_examples_of_formats_are_formats() -> None:
    for name, form in FORMATS.own.items():
        record = yaml.safe_load(generator().flow(form.example(name)))
        assert record == form.example(name) and form.faults({**record, "skip": "I-DO-NOT-KNOW"}) == []


def test_every_option_of_answers_and_formats_is_described() -> None:
    page = (REFERENCE / "answer-types.md").read_text(encoding="utf-8")
    options = page.partition("\n## Options\n")[2].partition("\n## ")[0]
    wanted = {option for kind in ANSWER_TYPES.values() for option in kind.options}
    assert set(re.findall(r"^\| `([a-z]+)` \| ", options, re.MULTILINE)) == wanted
    formats = (REFERENCE / "answer-formats.md").read_text(encoding="utf-8")
    for name, form in FORMATS.own.items():
        described = formats.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        options = {key for key, option in form.options.items() if option.in_specs}
        assert set(re.findall(r"^\| `([a-z]+)` \| ", described, re.MULTILINE)) >= options, name


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
