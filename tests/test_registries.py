"""Every entry of a registry is complete: an entry that lacks a part fails with a message that says what to add.

docs/contributing has a recipe for each registry, which asks for the same parts.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import Builder
from dia_compiler.commands.cli import COMMANDS
from dia_compiler.types import TYPES
from dia_compiler.types.base import Domain, OptionKind, ParameterType
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import OPTION_SCHEMAS
from dia_language.functions import FUNCTIONS, KINDS, registry
from dia_language.functions.registry import library_function
from dia_runtime.bundle.open import Bundle
from dia_runtime.commands import plot, report
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import KINDS as OPTION_KINDS
from dia_runtime.formats.base import POINTS, Format, FormatOption, FormatRecord
from dia_runtime.formats.replies import REPLY_FORMATS, ReplyFormat
from dia_runtime.grading.verdicts import WITH_POINTS, Verdict
from dia_runtime.integrations.exporters import EXPORTERS
from dia_runtime.integrations.exporting.base import Exporter, Files, questions_and_answers
from dia_runtime.integrations.readers import LOGS, READERS
from dia_runtime.report.pictures.abstention import DRAWN_BY_DROP
from dia_runtime.report.pictures.palette import COLOURS
from dia_runtime.respondents.attachments import INTERFACES
from dia_runtime.respondents.providers import ENDPOINTS
from dia_runtime.respondents.registry import BASELINES, PREFIXES
from dia_runtime.scoring.figures import COMPARED, FIGURES, compared_figures
from dia_runtime.scoring.metrics import Tally
from helpers.answer_samples import SAMPLES, TEMPLATES
from helpers.places import ROOT

REFERENCE = ROOT / "docs" / "reference"
TESTS = ROOT / "tests"


@cache
def content(path: Path) -> str:
    """The text of a file, or of the tests in a folder."""
    files = sorted(path.glob("test_*.py")) if path.is_dir() else [path]
    return "\n".join(file.read_text("utf-8") for file in files)


# Functions


def missing_from_function(name: str) -> list[str]:
    """What to add to a function of the library."""
    raw = FUNCTIONS[name]
    doc = inspect.getdoc(raw) or ""
    field = raw.__module__.rpartition(".")[2]
    lacking = [
        f"annotate `{parameter.name}` with one of KINDS in functions/argument_checks.py, not `{parameter.annotation}`"
        for parameter in inspect.signature(raw).parameters.values()
        if parameter.annotation not in KINDS
    ]
    if not doc.split("\n")[0].endswith("."):
        lacking.append("begin its docstring with a sentence on one line, with a full stop")
    if not re.search(rf"Examples:\n(?s:.*)\b{name}\b", doc):
        lacking.append(f"add an example to its docstring: `{name}(...) -> value` after `Examples:`")
    if f'"{name}"' not in content(TESTS / "language" / "functions"):
        lacking.append(f'test it in tests/language/functions/test_{field}.py, as `call("{name}", ...)`')
    if f"\n### {name}\n" not in content(REFERENCE / "functions.md"):
        lacking.append("run `python docs/generate.py`, which adds it to docs/reference/functions.md")
    return lacking


def test_every_function_is_complete() -> None:
    lacking = {name: missing for name in FUNCTIONS if (missing := missing_from_function(name))}
    assert lacking == {}


def test_what_a_function_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FUNCTIONS", FUNCTIONS)
    monkeypatch.setitem(FUNCTIONS, "half_of", None)  # removed again after the test
    del FUNCTIONS["half_of"]

    @library_function
    def half_of(number: float) -> float:
        return number / 2

    assert [message.partition(" ")[0] for message in missing_from_function("half_of")] == [
        "annotate", "begin", "add", "test", "run",
    ]  # fmt: skip


def test_two_functions_of_one_name_are_refused() -> None:
    def gcd(number: int) -> int:
        return number

    with pytest.raises(ValueError, match="two library functions are called `gcd`"):
        library_function(gcd)


# Answer types


def missing_from_answer_type(name: str) -> list[str]:
    """What to add to an answer type."""
    kind = ANSWER_TYPES[name]
    lacking = [
        f"describe its option `{option}` in OPTION_SCHEMAS of answers/option_schemas.py"
        for option in sorted(kind.options - OPTION_SCHEMAS.keys())
    ]
    if kind.__dict__.get("name") != name:
        lacking.append(f'set `name = "{name}"` in {kind.__name__}')
    if not kind.__dict__.get("__doc__"):
        lacking.append(f"write a docstring for {kind.__name__}: what it is, and what strict and lenient readings take")
    if all(comparison["type"] != name for comparison, _ in SAMPLES):
        lacking.append("add a comparison with a truth to SAMPLES in tests/helpers/answer_samples.py")
    if f"type: {name}" not in TEMPLATES.get(name, ("",))[0]:
        lacking.append(f'add the answer of a template as "{name}" to TEMPLATES in tests/helpers/answer_samples.py')
    if f'"type": "{name}"' not in content(TESTS / "language" / "answers"):
        lacking.append("add replies that it accepts and rejects to tests/language/answers/test_reading.py")
    page = content(REFERENCE / "answers.md")
    if not re.search(rf"^- \{{value: .*\btype: {name}\b.*\}} +# ", page, re.MULTILINE):
        lacking.append("add an answer with the reply that it gets to the examples in docs/reference/answers.md")
    answers = page.partition("## Answers\n")[2].partition("\n## ")[0]
    if not re.search(rf"^\|[^|]*\|.*\b{name}\b.* \|$", answers, re.MULTILINE):
        lacking.append("name it in the table of answer types in docs/reference/answers.md")
    rows = "".join(re.findall(r"^\| (`[^|]*) \|", answers, re.MULTILINE))
    lacking += [
        f"describe the key `{option}` in the table of keys in docs/reference/answers.md"
        for option in sorted(kind.options)
        if f"`{option}`" not in rows
    ]
    if f"\n## {name}\n" not in content(REFERENCE / "answer-types.md"):
        lacking.append("run `python docs/generate.py`, which adds it to docs/reference/answer-types.md and the schemas")
    return lacking


@pytest.mark.parametrize("name", sorted(ANSWER_TYPES))
def test_every_answer_type_is_complete(name: str) -> None:
    lacking = missing_from_answer_type(name)
    assert lacking == [], "; ".join(lacking)


def test_what_an_answer_type_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class IncompleteAnswer(ANSWER_TYPES["text"]):  # type: ignore[misc]
        options = frozenset({"palette"})

    entry: Any = IncompleteAnswer
    monkeypatch.setitem(ANSWER_TYPES, "incomplete", entry)
    assert [message.partition(" ")[0] for message in missing_from_answer_type("incomplete")] == [
        "describe", "set", "write", "add", "add", "add", "add", "name", "describe", "run",
    ]  # fmt: skip


# Parameter types and asset builders

GENERATE = "run `python docs/generate.py`"


@cache
def sources(folder: str, pattern: str) -> str:
    """The text of all files below a folder, for questions of the kind `is this named anywhere`."""
    return "\n".join(path.read_text("utf-8") for path in sorted((ROOT / folder).rglob(pattern)))


def undescribed(owner: Any, options: Mapping[str, Any]) -> list[str]:
    """The steps left out in what the entry says of itself."""
    lacking = (
        [] if getattr(owner, "summary", "").strip() else ["give its class a `summary`: what it is, in a few words"]
    )
    for option, kind in options.items():
        if not kind.words.strip():
            lacking.append(f"describe the option `{option}`: what it sets, its default, and what may stand there")
        if kind.values and kind.default not in (None, *kind.values):
            lacking.append(f"let the default of the option `{option}` be one of its values")
    return lacking


@cache
def schema_names(key: str) -> set[str]:
    """The names for which the template schema lists options, by `type` of parameters or `build` of assets."""
    names: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            constant = node.get("if", {}).get("properties", {}).get(key, {}).get("const") if "if" in node else None
            names.update([constant] if constant else [])
            for part in node.values():
                walk(part)
        elif isinstance(node, list):
            for part in node:
                walk(part)

    walk(json.loads(content(ROOT / "schemas" / "template.schema.json")))
    return names


FROM_FILES = {"entry", "row", "rows"}  # their examples need a catalog or a data file, which the page on parameters has


def missing_from_parameter_type(name: str, kind: Any) -> list[str]:
    """What to add to a parameter type."""
    lacking = undescribed(kind, kind.options)
    page = content(REFERENCE / "parameters.md")
    table = page.partition("## Parameters\n")[2].partition("\n## ")[0]
    if not re.search(rf"^\|.*\b{name}\b.*\|$", table, re.MULTILINE):
        lacking.append("name it in the table under `## Parameters` of docs/reference/parameters.md")
    if name not in FROM_FILES and not re.search(rf"^- \{{type: {name}[,}}].*  # ", page, re.MULTILINE):
        lacking.append(
            f"add a line `- {{type: {name}, ...}}  # what it draws` to the examples of docs/reference/parameters.md"
        )
    if f"\n## {name}\n" not in content(REFERENCE / "types.md"):
        lacking.append(f"{GENERATE}: docs/reference/types.md lacks it")
    if name not in schema_names("type"):
        lacking.append(f"{GENERATE}: schemas/template.schema.json lacks it")
    if not re.search(rf"type: {name}\b|[\"']{name}[\"']", sources("tests/compiler", "*.py")):
        lacking.append("test what it draws, its bounds and its errors in tests/compiler/types/")
    if not re.search(rf"\btype: {name}\b", sources("tests/fuzzing/corpus/spec", "*")):
        lacking.append("use it in a spec in tests/fuzzing/corpus/spec")
    return lacking


@pytest.mark.parametrize("name", TYPES.own)
def test_every_parameter_type_is_complete(name: str) -> None:
    lacking = missing_from_parameter_type(name, TYPES.own[name])
    assert lacking == [], "; ".join(lacking)


def test_what_a_parameter_type_lacks_is_named() -> None:
    class Unfinished(ParameterType):
        summary = ""

        def domain(self, options: Mapping[str, Any]) -> Domain:
            raise NotImplementedError  # never called: only what the class declares is examined

    Unfinished.options = {"sides": OptionKind("data", "")}
    steps = "; ".join(missing_from_parameter_type("unfinished", Unfinished()))
    for step in (
        "`summary`",
        "`sides`",
        "table",
        "examples",
        "types.md",
        "template.schema.json",
        "test what",
        "corpus",
    ):
        assert step in steps


# Asset builders


def missing_from_builder(name: str, builder: Any) -> list[str]:
    """What to add to an asset builder."""
    lacking = undescribed(builder, builder.options)
    for fact in ("extension", "media_type"):
        if not getattr(builder, fact, ""):
            lacking.append(f"give its class the `{fact}` of its files")
    if builder.modules and not builder.libraries:
        lacking.append(
            "name the distributions of its `modules` in `libraries`, since its bytes depend on their versions"
        )
    if f"\n### {name}\n" not in content(REFERENCE / "builders.md"):
        lacking.append(f"{GENERATE}: docs/reference/builders.md lacks it")
    if name not in schema_names("build"):
        lacking.append(f"{GENERATE}: schemas/template.schema.json lacks it")
    if not re.search(rf"build: {name}\b", sources("docs/examples", "*.yaml") + sources("specs", "*.yaml")):
        lacking.append("use it in a template of docs/examples/tour or of specs/")
    if not re.search(rf"build: {name}\b|[\"']{name}[\"']", sources("tests/compiler/assets", "*.py")):
        lacking.append("test its bytes, its options and its errors in tests/compiler/assets/")
    return lacking


@pytest.mark.parametrize("name", BUILDERS.own)
def test_every_asset_builder_is_complete(name: str) -> None:
    lacking = missing_from_builder(name, BUILDERS.own[name])
    assert lacking == [], "; ".join(lacking)


def test_what_an_asset_builder_lacks_is_named() -> None:
    class Unfinished(Builder):
        summary = ""
        extension = ""
        media_type = ""
        modules = ("somewhere",)

        def build(self, options: Mapping[str, Any], site: Any) -> bytes:
            raise NotImplementedError  # never called: only what the class declares is examined

    Unfinished.options = {"side": OptionKind("data", "")}
    steps = "; ".join(missing_from_builder("unfinished", Unfinished()))
    for step in ("`summary`", "`side`", "`extension`", "`media_type`", "`libraries`", "builders.md",
                 "template.schema.json", "docs/examples", "test its bytes"):  # fmt: skip
        assert step in steps


# Commands


def missing_from_command(name: str) -> list[str]:
    """What to add to a command."""
    module, words = COMMANDS[name]
    command = importlib.import_module(module).command
    lacking = []
    if command.name != name:
        lacking.append(f'declare it as `@click.command("{name}")`')
    if not words.endswith("."):
        lacking.append("end its line in COMMANDS with a full stop")
    if f"dia {name}" not in (command.help or "").partition("Example:")[2]:
        lacking.append(f"end its docstring with `\\b`, `Example:` and a line that begins with `dia {name}`")
    lacking += [
        f"say what {option.opts[0]} does in its `help`"
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    if any("--json" in option.opts for option in command.params):
        if not (ROOT / "schemas" / f"{name}.schema.json").is_file():
            lacking.append(f"describe what --json prints in schemas/{name}.schema.json")
        texts = (path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))
        called = re.compile(rf'\(\[?\s*"{name}"|\b{name}\.schema\.json')
        if not any(called.search(text) and '"--json"' in text and "schema" in text for text in texts):
            lacking.append("check what --json prints by its schema, in tests/test_output_schemas.py")
    if not re.search(rf"^{name}( |$)", content(TESTS / "test_terminal.py"), re.MULTILINE):
        lacking.append("add a line that runs it to WALK in tests/test_terminal.py")
    if f"\n## dia {name}\n" not in content(REFERENCE / "commands.md"):
        lacking.append(f"{GENERATE}: docs/reference/commands.md lacks it")
    if f"dia {name}" not in sources("docs/howto", "*.md") + content(ROOT / "docs" / "tutorial.md"):
        lacking.append("show how to use it in a page of docs/howto")
    return lacking


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_complete(name: str) -> None:
    lacking = missing_from_command(name)
    assert lacking == [], "; ".join(lacking)


def test_what_a_command_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("other")
    @click.option("--json", "as_json", is_flag=True)
    def unfinished(as_json: bool) -> None:
        """Do nothing."""

    name = "-".join(["half", "done"])  # in no test as a whole
    monkeypatch.setitem(COMMANDS, name, ("dia_unfinished", "Do nothing"))
    monkeypatch.setitem(sys.modules, "dia_unfinished", SimpleNamespace(command=unfinished))  # type: ignore[arg-type]
    assert [message.partition(" ")[0] for message in missing_from_command(name)] == [
        "declare", "end", "end", "say", "describe", "check", "add", "run", "show",
    ]  # fmt: skip


# Figures and verdicts


def missing_from_figure(name: str) -> list[str]:
    """What to add to a figure; an entry that is wrong by itself cannot be made."""
    lacking = []
    if FIGURES[name].name != name:
        lacking.append(f"list it as `{FIGURES[name].name}`")
    if f'FIGURES["{name}"]' not in content(TESTS / "runtime" / "scoring"):
        lacking.append(f'compare FIGURES["{name}"] with a count by hand in tests/runtime/scoring/test_metrics.py')
    if f"\n| `{name}` | " not in content(REFERENCE / "figures.md"):
        lacking.append(f"{GENERATE}: docs/reference/figures.md lacks it")
    if name not in json.loads(content(ROOT / "schemas" / "score.schema.json"))["$defs"]["block"]["properties"]:
        lacking.append(f"{GENERATE}: schemas/score.schema.json lacks it")
    return lacking


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_complete(name: str) -> None:
    lacking = missing_from_figure(name)
    assert lacking == [], "; ".join(lacking)


def test_what_a_figure_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "_".join(["half", "made"])  # in no test as a whole
    monkeypatch.setitem(FIGURES, name, FIGURES["rs"])
    assert [message.partition(" ")[0] for message in missing_from_figure(name)] == ["list", "compare", "run", "run"]


def test_the_names_of_figures_that_code_writes_out_are_figures() -> None:
    used = {*COMPARED, *DRAWN_BY_DROP, *plot.COMPARED, *report.COMPARED}
    assert used <= set(compared_figures())


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_complete(verdict: Verdict) -> None:
    lacking = []
    if verdict not in Tally._fields:
        lacking.append("count it in Tally of scoring/metrics.py")
    if not {verdict.colour, f"on-{verdict.colour}"} <= COLOURS.keys():
        lacking.append(f"add the colours `{verdict.colour}` and `on-{verdict.colour}` to pictures/palette.py")
    if [other.sign for other in Verdict].count(verdict.sign) > 1:
        lacking.append("give it a `sign` that no other verdict has")
    if not verdict.meaning or f"\n| `{verdict}` | " not in content(REFERENCE / "figures.md"):
        lacking.append(f"say what it means, and {GENERATE}")
    if f'"{verdict}"' not in content(ROOT / "schemas" / "score.schema.json"):
        lacking.append(f"{GENERATE}: schemas/score.schema.json lacks it")
    assert lacking == [], "; ".join(lacking)


def test_verdicts_with_points_are_those_of_specs() -> None:
    assert POINTS == WITH_POINTS


# Answer formats and reply formats


def missing_from_options(options: Mapping[str, FormatOption]) -> list[str]:
    """The steps left out in the options of a format."""
    lacking = [
        f"describe the option `{key}`: what it sets and its default"
        for key, option in options.items()
        if not option.description.endswith(".")
    ]
    return lacking + [
        f"let the `kind` of the option `{key}` be one of KINDS in formats/base.py"
        for key, option in options.items()
        if option.kind not in OPTION_KINDS
    ]


def described_chains(form: Format) -> dict[str, list[str]]:
    """The steps of each chain, in order, as the tables in the docstrings of a format's module and its compat describe.

    A row has the steps, the chains and what is found. Tables of the chain `compat` alone have no column for chains.
    """
    module, chains = type(form).__module__, {name: [] for name in {*form.chains, "standard"}}  # type: dict[str, list[str]]
    modules = [sys.modules[name] for name in (module, f"{module}_compat") if name in sys.modules]
    for row in re.findall(r"^\| (`.*) \|$", "\n".join(inspect.getdoc(one) or "" for one in modules), re.MULTILINE):
        steps, *middle, _ = row.split(" | ")
        names = list(chains) if middle == ["all"] else middle[0].split(", ") if middle else ["compat"]
        for name in names:
            chains.setdefault(name, []).extend(re.findall(r"`([\w-]+)`", steps))
    return chains


def missing_from_format(name: str, form: Format) -> list[str]:
    """What to add to an answer format."""
    lacking = missing_from_options(form.options)
    lacking += [
        f"give the option `{key}`, which is required, an `example`"
        for key, option in form.options.items()
        if option.required and option.example is None
    ]
    record = {**form.example(name), "skip": "I-DO-NOT-KNOW"}
    if not lacking and form.faults(record):
        lacking.append(f"let its example be one: {'; '.join(form.faults(record))}")
    if not {"strict", "lenient"} <= form.chains.keys():
        lacking.append("give it the chains `strict` and `lenient`")
    described = described_chains(form)
    for chain in sorted({*form.chains, "standard"}):
        steps = [step for step, _ in form.chains.get(chain, form.chains.get("strict", ()))]
        if steps != described[chain]:
            row = "`| step | chains | what is found |`"
            lacking.append(f"describe the chain {chain} in rows {row} of the module's docstring: {', '.join(steps)}")
    if not re.search(rf"[\"']kind[\"']: [\"']{name}[\"']", content(TESTS / "runtime" / "formats")):
        lacking.append("test replies with what each chain finds in them in tests/runtime/formats/test_formats.py")
    if not any(re.search(rf"\bkind: {name}\b", form) for _, form, _ in TEMPLATES.values()):
        lacking.append("use it for a template in TEMPLATES of tests/helpers/answer_samples.py")
    if f'"kind": "{name}"' not in content(TESTS / "fuzzing" / "replies.py"):
        lacking.append("add a record to FORMATS of tests/fuzzing/replies.py")
    if not re.search(rf"\bkind: {name}\b", sources("docs/examples/tour", "*.yaml")):
        lacking.append("use it, with each option, in a template of docs/examples/tour")
    table = content(REFERENCE / "answers.md").partition("## Formats\n")[2].partition("\n## ")[0]
    if not re.search(rf"^\| `{name}` \|", table, re.MULTILINE):
        lacking.append("add a row to the table under `## Formats` of docs/reference/answers.md")
    if f"\n## {name}\n" not in content(REFERENCE / "answer-formats.md"):
        lacking.append(f"{GENERATE}: docs/reference/answer-formats.md lacks it")
    if name not in schema_names("kind"):
        lacking.append(f"{GENERATE}: schemas/template.schema.json lacks it")
    return lacking


@pytest.mark.parametrize("name", FORMATS.own)
def test_every_answer_format_is_complete(name: str) -> None:
    lacking = missing_from_format(name, FORMATS.own[name])
    assert lacking == [], "; ".join(lacking)


def test_what_an_answer_format_lacks_is_named() -> None:
    class Unfinished(Format):
        options = {"mark": FormatOption("sign", "", required=True)}
        chains = {"strict": (("found", lambda reply, format: None),)}

        def instruction(self, format: FormatRecord, answer_phrase: str) -> str:
            raise NotImplementedError  # never called: only what the class declares is examined

        def wrap(self, text: str, format: FormatRecord) -> str:
            raise NotImplementedError  # never called: the registry refuses the class first

    assert [message.partition(" ")[0] for message in missing_from_format("unfinished", Unfinished())] == [
        "describe", "let", "give", "give", "describe", "describe", "test", "use", "add", "use", "add", "run", "run",
    ]  # fmt: skip


def missing_from_reply_format(name: str, form: ReplyFormat) -> list[str]:
    """What to add to a reply format."""
    lacking = missing_from_options(form.options)
    if "strict" not in form.chains:
        lacking.append("give it the chain `strict`")
    module_words = inspect.getdoc(sys.modules[type(form).__module__]) or ""
    if not re.search(rf"^\| (?:\w+, )*{name}(?:, \w+)* \| (?:\w+, )*strict\b", module_words, re.MULTILINE):
        lacking.append(f"describe its chains in the table of its module's docstring: `| {name} | strict | ... |`")
    tests = content(TESTS / "runtime" / "formats" / "replies")
    if f'"{name}": {{"kind": "{name}"' not in tests:
        lacking.append("add a record to FORMATS in tests/runtime/formats/replies/test_replies.py, and values to VALUES")
    if f'\n    ("{name}", ' not in tests:
        lacking.append("add replies to CASES in tests/runtime/formats/replies/test_replies.py")
    if form.options and f'\n    ({{"kind": "{name}"' not in tests:
        lacking.append("add wrong options to BAD in tests/runtime/formats/replies/test_replies.py")
    table = content(REFERENCE / "sessions.md").partition("## Replies\n")[2].partition("\n#")[0]
    if not re.search(rf"^\|[^|]*`{name}`[^|]*\|.*\|$", table, re.MULTILINE):
        lacking.append("add a row to the table under `## Replies` of docs/reference/sessions.md")
    if not re.search(rf"\bformat: {name}\b", sources("docs/examples/sessions", "*.yaml")):
        lacking.append("use it in a template of docs/examples/sessions")
    reply = json.loads(content(ROOT / "schemas" / "template.schema.json"))["$defs"]["reply"]
    if name not in reply["properties"]["format"]["enum"]:
        lacking.append(f"{GENERATE}: schemas/template.schema.json lacks it")
    return lacking


@pytest.mark.parametrize("name", REPLY_FORMATS)
def test_every_reply_format_is_complete(name: str) -> None:
    lacking = missing_from_reply_format(name, REPLY_FORMATS[name])
    assert lacking == [], "; ".join(lacking)


def test_what_a_reply_format_lacks_is_named() -> None:
    class Unfinished(ReplyFormat):
        options = {"mark": FormatOption("sign", "")}
        chains = {}

        def instruction(self, format: FormatRecord) -> str:
            raise NotImplementedError  # never called: the registry refuses the class first

        def write(self, value: Any, format: FormatRecord) -> str:
            raise NotImplementedError  # never called: the registry refuses the class first

    assert [message.partition(" ")[0] for message in missing_from_reply_format("unfinished", Unfinished())] == [
        "describe", "let", "give", "describe", "add", "add", "add", "add", "use", "run",
    ]  # fmt: skip


# Exporters and importers


def missing_from_exporter(name: str, exporter: Any) -> list[str]:
    """What to add to an exporter."""
    lacking = []
    if not getattr(exporter, "summary", "").strip():
        lacking.append("give its class a `summary`: the harness, and what it gets")
    if not type(exporter).__doc__:
        lacking.append("write a docstring for its class: what its files are")
    if not re.search(rf"^\| `{name}` \| .", content(ROOT / "docs" / "howto" / "export.md"), re.MULTILINE):
        lacking.append("add a row with its files to the table of docs/howto/export.md")
    export_help = importlib.import_module(COMMANDS["export"][0]).command.help
    if not re.search(rf"\b{name}\b", export_help):
        lacking.append("name it in the docstring of the command in commands/export.py")
    page = content(REFERENCE / "commands.md").partition("\n## dia export\n")[2].partition("\n## ")[0]
    if not re.search(rf"\b{name}\b", page):
        lacking.append(f"{GENERATE}: docs/reference/commands.md lacks it")
    source = inspect.getsource(sys.modules[type(exporter).__module__])
    page = " ".join(content(ROOT / "docs" / "howto" / "export.md").split())
    unsealed = page.partition("bundle can be exported without its answers to ")[2].partition(
        "; the other targets need"
    )[0]
    if "questions_and_answers(" in source and f"`{name}`" not in unsealed:
        lacking.append("name it in docs/howto/export.md among the targets that need no answers")
    if not re.search(rf"[\"']{name}[\"']", sources("tests/runtime/integrations", "*.py")):
        lacking.append("test its files in tests/runtime/integrations/: what the harness reads is what the bundle says")
    return lacking


@pytest.mark.parametrize("name", EXPORTERS.own)
def test_every_exporter_is_complete(name: str) -> None:
    lacking = missing_from_exporter(name, EXPORTERS.own[name])
    assert lacking == [], "; ".join(lacking)


def test_what_an_exporter_lacks_is_named() -> None:
    class Unfinished(Exporter):
        def files(self, bundle: Bundle) -> Files:
            list(questions_and_answers(bundle))
            raise NotImplementedError  # never called: the registry refuses the class first

    name = "-".join(["half", "made"])  # in no test as a whole
    assert [message.partition(" ")[0] for message in missing_from_exporter(name, Unfinished())] == [
        "give", "write", "add", "name", "run", "name", "test",
    ]  # fmt: skip


def missing_from_importer(name: str) -> list[str]:
    """What to add to an importer."""
    module = importlib.import_module(READERS[name])
    lacking = []
    if not (inspect.getdoc(module) or "").strip():
        lacking.append("describe the files in the docstring of its module")
    if not callable(getattr(module, "rows", None)):
        lacking.append("write its function `rows(path)`, which yields a Row or a DiaError for each reply")
    page = "import-logs.md" if name in LOGS else "import-replies.md"
    pattern = rf"^\| `{name}` \| .+ \| .+ \|$" if name in LOGS else rf"`?{name}`?"
    if not re.search(pattern, content(ROOT / "docs" / "howto" / page), re.MULTILINE):
        lacking.append(f"say in docs/howto/{page} what it reads and how that is written")
    if not re.search(rf"--from [^\n]*\b{name}\b", content(REFERENCE / "commands.md")):
        lacking.append(f"{GENERATE}: docs/reference/commands.md lacks it")
    if not re.search(rf"[\"']{name}[\"']", sources("tests/runtime/integrations", "*.py")):
        lacking.append("test it with a recorded file, and with damaged ones, in tests/runtime/integrations/")
    return lacking


@pytest.mark.parametrize("name", READERS)
def test_every_importer_is_complete(name: str) -> None:
    lacking = missing_from_importer(name)
    assert lacking == [], "; ".join(lacking)


def test_what_an_importer_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "-".join(["half", "made"])  # in no test as a whole
    monkeypatch.setitem(READERS, name, "dia_unfinished")
    monkeypatch.setitem(LOGS, name, "dia_unfinished")
    monkeypatch.setitem(sys.modules, "dia_unfinished", ModuleType("dia_unfinished"))
    assert [message.partition(" ")[0] for message in missing_from_importer(name)] == [
        "describe", "write", "say", "run", "test",
    ]  # fmt: skip


# Respondents

RUN_HELP = (importlib.import_module("dia_runtime.commands.run").command.help or "").replace("\n", " ")


def missing_from_respondent(prefix: str) -> list[str]:
    """What to add to a respondent that is named by a prefix, such as `replay:FILE`."""
    module, class_name = PREFIXES[prefix]
    kind = getattr(importlib.import_module(module), class_name)
    lacking = []
    parameters = list(inspect.signature(kind).parameters)
    if len(parameters) != 4 or parameters[0] != "name" or parameters[2:] != ["settings", "options"]:
        lacking.append("make it of (name, argument, settings, options)")
    lacking += [f"give it `{name}`, as AsyncRespondent has it" for name in ("settings", "provider", "ask", "close")
                if not hasattr(kind, name)]  # fmt: skip
    if not (kind.__init__.__doc__ and "DiaError" in kind.__init__.__doc__):
        lacking.append(
            "say in the docstring of `__init__` when it raises DiaError: for an argument that makes no sense"
        )
    if f"{prefix}:" not in RUN_HELP:
        lacking.append(f"name `{prefix}:...` in the docstring of `dia run`, in commands/run.py")
    if f"`{prefix}:" not in content(ROOT / "docs" / "howto" / "ask-by-hand-or-program.md"):
        lacking.append(f"add a row for `{prefix}:...` to the table of docs/howto/ask-by-hand-or-program.md")
    if not re.search(rf"""["']{prefix}:""", sources("tests/runtime", "test_*.py")):
        lacking.append(f"test `{prefix}:...` in tests/runtime/respondents/")
    return lacking


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_respondent_is_complete(prefix: str) -> None:
    lacking = missing_from_respondent(prefix)
    assert lacking == [], "; ".join(lacking)


def test_what_a_respondent_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unfinished:
        def __init__(self, name: str) -> None: ...

    prefix = "-".join(["half", "asked"])
    module = SimpleNamespace(Unfinished=Unfinished)
    monkeypatch.setitem(sys.modules, "dia_unfinished", module)  # type: ignore[arg-type]
    monkeypatch.setitem(PREFIXES, prefix, ("dia_unfinished", "Unfinished"))
    assert len(missing_from_respondent(prefix)) == 9


def missing_from_baseline(name: str) -> list[str]:
    """What to add to a baseline."""
    kind: Any = BASELINES[name]
    lacking = [] if kind.name == name else [f"set its `name` to `{name}`"]
    if not re.search(rf"\b{name}\b", RUN_HELP):
        lacking.append(f"name `{name}` in the docstring of `dia run`, in commands/run.py")
    if not re.search(rf"^\| `{name}` \| .", content(ROOT / "docs" / "howto" / "answer-and-score.md"), re.MULTILINE):
        lacking.append(f"add a row for `{name}`, with what it replies, to the table of docs/howto/answer-and-score.md")
    if f'"{name}"' not in content(TESTS / "runtime" / "respondents"):
        lacking.append(f"test `{name}` in tests/runtime/respondents/test_baselines.py")
    return lacking


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_is_complete(name: str) -> None:
    lacking = missing_from_baseline(name)
    assert lacking == [], "; ".join(lacking)


def test_what_a_baseline_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "-".join(["half", "asked"])  # in no test as a whole
    monkeypatch.setitem(BASELINES, name, BASELINES["oracle"])
    assert [message.partition(" ")[0] for message in missing_from_baseline(name)] == ["set", "name", "add", "test"]


def missing_from_provider(name: str) -> list[str]:
    """What to add to a provider that is asked directly."""
    lacking = []
    if name not in INTERFACES:
        lacking.append("say in INTERFACES of respondents/attachments.py which attachments it accepts")
    page = content(ROOT / "docs" / "howto" / "ask-models.md")
    if not re.search(rf"^\|.*`{name}`.*`{ENDPOINTS[name][1]}`", page, re.MULTILINE):
        lacking.append("add it and its key to the table of docs/howto/ask-models.md")
    return lacking


@pytest.mark.parametrize("name", ENDPOINTS)
def test_every_provider_is_complete(name: str) -> None:
    lacking = missing_from_provider(name)
    assert lacking == [], "; ".join(lacking)


def test_what_a_provider_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENDPOINTS, "half_asked", ("http://localhost/v1", "HALF_ASKED_API_KEY"))
    assert [message.partition(" ")[0] for message in missing_from_provider("half_asked")] == ["say", "add"]
