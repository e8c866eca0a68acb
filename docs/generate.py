"""Writes the pages of the reference and the schemas that are made from the code; --check only lists the stale ones.

python docs/generate.py
python docs/generate.py --check
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import Any

import click
import yaml
from dia_compiler.analyze.check import HEALTH_WARNINGS
from dia_compiler.assets import BUILDERS
from dia_compiler.authoring.editor_schemas import editor_schema_text
from dia_compiler.commands.cli import COMMANDS, command_groups, dia
from dia_compiler.parse.spec_schema import FILES
from dia_compiler.types import TYPES
from dia_compiler.types.word_lists import WORD_LISTS, word_list
from dia_language.answers import ANSWER_TYPES
from dia_language.answers.option_schemas import OPTION_SCHEMAS
from dia_language.error_codes import CODES, GROUPS
from dia_language.functions import FUNCTIONS, Function, library
from dia_runtime.formats import FORMATS, Format, json_value, letter_compat, unmarked
from dia_runtime.formats.base import CHARACTERS
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.pictures import pictures
from dia_runtime.respondents.attachments import CAPABILITIES, CUSTOM, INTERFACES, OFFICE, TEXT_TYPES, Interface
from dia_runtime.scoring.figures import FIGURES as MODEL_FIGURES
from dia_runtime.scoring.figures import Family, Figure, compared_figures
from dia_runtime.scoring.score_schema import score_schema

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"
SCHEMAS = DOCS.parent / "schemas"
SPECS = DOCS.parent / "specs" / "dia_bench"
PROOFS = DOCS.parent / "tests" / "specs" / "proofs.yaml"
README = DOCS.parent / "README.md"
NOTE = "<!-- Made by docs/generate.py. Change the code and run that again. -->"


def functions() -> str:
    """The page of the function library, with one heading per field."""
    known = sorted((library()[name] for name in FUNCTIONS), key=lambda item: (item.module, item.name))
    fields = {item.module: sys.modules[item.raw.__module__] for item in known}
    parts = ["# Functions", NOTE, FUNCTIONS_HEAD, ", ".join(f"[{name}](#{name})" for name in fields)]
    for field, module in fields.items():
        held = [item for item in known if item.module == field]
        parts += [f"## {field}", literal(inspect.getdoc(module) or "")]
        parts += [", ".join(f"[{item.name}](#{item.name})" for item in held), *map(_function, held)]
    return page(parts)


FUNCTIONS_HEAD = (
    "All functions of the spec language, by group. In `{{ }}`, `x | f(a)` is the same call as `f(x, a)`: `x` is the "
    "first argument. The functions of [higher_order](#higher_order) take another function as their first argument. "
    "Optional arguments are in brackets.\n\n"
    "Each example is an [expression](language.md#expressions), followed by `->` and its value. You can paste the "
    "expression into a spec. Values are shown as prompts print them, with text in quotes: `1/2` is an exact "
    "fraction, `0.67` an exact decimal. Bytes cannot be printed, so examples convert them with `hex` or `text_of`.\n\n"
    "Long computations are charged in *steps*; an evaluation that exceeds its budget of steps is an error. "
    "`dia functions NAME` shows an entry in the terminal."
)


def _function(item: Function) -> str:
    arguments = "; ".join(f"`{name}`: {_with_code(words)}" for name, words in item.arguments)
    examples = "\n".join(f"{call} -> {result}" for call, result in item.examples)
    parts = [f"### {item.name}", f"`{item.signature}`", literal(item.text)]
    parts += [f"Arguments: {arguments}." if arguments else "", f"```text\n{examples}\n```" if examples else ""]
    if item.revision > 1:
        parts.append(f"Revision {item.revision}.")
    return "\n\n".join(part for part in parts if part)


def _with_code(words: str) -> str:
    """What a parameter accepts, with its default as code."""
    kind, mark, default = words.partition(", default ")
    return f"{kind}, default `{default}`" if mark else words


def builders() -> str:
    """The page of asset builders."""
    parts = ["# Asset builders", NOTE, BUILDERS_HEAD, ", ".join(f"[{name}](#{name})" for name in BUILDERS.own)]
    for name, item in BUILDERS.own.items():
        rows = [
            (f"`{key}`", "template" if held.reads == "template" else "data", "yes" if held.required else "", held.words)
            for key, held in item.options.items()
        ]
        made = "text" if item.is_text else f"bytes of the media type `{item.media_type}`"
        needs = f" Needs the extra `{item.extra}`." if item.extra else ""
        parts += [f"### {name}", f"{sentence(item.summary)} Produces {made}.{needs} Revision {item.revision}."]
        parts.append(table(("option", "kind", "required", "meaning"), rows))
    return page(parts)


BUILDERS_HEAD = (
    "Builders for `build:` under `assets`; [the spec language](assets.md) explains how to use assets. In "
    "`checks`, read the files back with the functions of the groups *archives*, *audio*, *drawings*, *elf*, *images*, "
    "*logs*, *pdf*, *plots*, *tables* and *web_pages*. The kind of an option is *template*, a text with `{{ }}`, or "
    "*data*, in which a text that starts with `= ` is an expression. A builder's *revision* rises when its results "
    "change. `dia types NAME` shows an entry in the terminal."
)


def types() -> str:
    """The page of parameter types and word lists."""
    parts = ["# Parameter types", NOTE, PARAMETERS_HEAD, ", ".join(f"[{name}](#{name})" for name in TYPES.own)]
    for name, item in TYPES.own.items():
        rows = [(f"`{key}`", "yes" if held.required else "", held.words) for key, held in item.options.items()]
        options = table(("option", "required", "meaning"), rows) if rows else "No options."
        parts += [f"## {name}", f"{sentence(item.summary)} Revision {item.revision}.", options]
    return page([*parts, "## Word lists", WORDS_HEAD, _word_lists()])


def answer_types() -> str:
    """The page of answer types and their options."""
    links = ", ".join(f"[{name}](#{name})" for name in ANSWER_TYPES)
    parts = ["# Answer types", NOTE, ANSWERS_HEAD, links, "## Options", OPTIONS_HEAD, _answer_options()]
    for name, kind in ANSWER_TYPES.items():
        own = ", ".join(f"`{option}`" for option in sorted(kind.options)) or "none"
        parts += [f"## {name}", literal(inspect.cleandoc(kind.__doc__ or "")), f"Options: {own}."]
    return page(parts)


def answer_formats() -> str:
    """The page of answer formats: how each marks the answer, and how its chains find it."""
    links = ", ".join(f"[{name}](#{name})" for name in FORMATS.own)
    parts = ["# Answer formats", NOTE, FORMATS_HEAD, links, "## Chains and steps", CHAINS_HEAD]
    parts += [f"## {UNMARKED_TITLE}", UNMARKED_HEAD, "## Long replies", LONG_REPLIES]
    for name, form in FORMATS.own.items():
        parts += [f"## {name}", *_format(name, form)]
    return page(parts)


def _word_lists() -> str:
    rows = [(f"`{name}`", sentence(held.holds), f"{len(word_list(name)):,}", str(held.revision))
            for name, held in WORD_LISTS.items()]  # fmt: skip
    return table(("name", "contents", "words", "revision"), rows)


def _answer_options() -> str:
    """The options of answers, with the types that accept each."""
    rows = []
    for option, held in OPTION_SCHEMAS.items():
        takers = [name for name, kind in ANSWER_TYPES.items() if option in kind.options]
        if takers:
            rows.append((f"`{option}`", literal(sentence(_said(held))), _values(held), ", ".join(takers)))
    return table(("option", "meaning", "values", "types"), rows)


def _values(held: Any) -> str:
    """The allowed values of an option, if the schema lists them."""
    if "enum" in held:
        return ", ".join(f"`{value}`" if value.strip() else f"`{json.dumps(value)}`" for value in held["enum"])
    inner = held.get("properties", {}).items()
    return "; ".join(f"`{key}`" + (f": {_values(value)}" if "enum" in value else "") for key, value in inner)


def _format(name: str, form: Format) -> Iterator[str]:
    """The description of a format, its options in specs, and the rules of its `compat` chain."""
    text = literal(inspect.getdoc(sys.modules[type(form).__module__]) or "")
    text = text.replace("an answer without its mark", f"an [answer without its mark](#{UNMARKED_ANCHOR})")
    yield text.replace(f"see {name}_compat.py", f"see [below](#the-chain-compat-of-{name})")
    described = [(key, option.description) for key, option in sorted(form.options.items()) if option.in_specs]
    rows = [(f"`{key}`", literal(sentence(words))) for key, words in described]
    yield table(("option in specs", "meaning"), rows) if rows else ""
    yield f"In a spec: `format: {flow(form.example(name))}`."
    compat = sys.modules.get(f"{type(form).__module__}_compat")
    if compat is not None:
        yield f"### The chain compat of {name}"
        yield literal(inspect.getdoc(compat) or "")


def flow(value: Any) -> str:
    """The value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value) if re.fullmatch(r"[\w .-]+", str(value)) else "'" + str(value).replace("'", "''") + "'"


PARAMETERS_HEAD = (
    "Types for `params` and their options. [Answer types](answer-types.md) and [answer formats](answer-formats.md) "
    "have pages of their own. `dia types NAME` shows an entry in the terminal.\n\n"
    "Every type also takes `where`: a condition, or a list of conditions, that the value must meet. In a condition, "
    "`it` stands for the value. The parameter's name works, too, except in nested types. Each type has a "
    "*revision*: a new revision draws different values from the same spec."
)
ANSWERS_HEAD = (
    "Types for `answer: {type: ...}`. The type decides how the correct answer is written, and how a reply is parsed "
    "and compared with it. Every type also takes [`accept`, `accept_if`, `share` and "
    "`unanswerable`](answers.md#answers).\n\n"
    "First, a [chain](answer-formats.md#chains-and-steps) finds the answer in the reply. Then the type parses it. "
    "*Lenient* below means the chain `lenient`, and *Strict* means the other chains, including `standard`, the "
    "default. An answer that is not a value of the type, such as `seven` for an integer, gets the verdict `wrong`, "
    "not `unparsed`.\n\n"
    "This page describes version 2 of the rules for reading replies, *rules 2*, which every bundle of this version "
    "of dia has. [Older bundles](answers.md#versions) may have rules 1."
)
WORDS_HEAD = (
    "Built-in lists for the type `words` (`from: NAME`). To use one in expressions, declare it in the spec: `lists: "
    "{pets: {words: animals}}`. Then `pets` is a list, as in `[pet for pet in pets if length(pet) == 4]`. `dia "
    "types animals` prints the words. Sentences, names and addresses are made from the lists, too. Each list has a "
    "revision, which rises with every change."
)
OPTIONS_HEAD = (
    "The last column shows which types take an option. The options of elements can be given in `of`, as in `{type: "
    "list, of: {type: text, case: fold}}`, or next to `type`, as in `{type: list, of: text, case: fold}`. If both "
    "are given, `of` wins.\n\n"
    "`tolerance: {places: n}` means half a unit in the n-th decimal place."
)
FORMATS_HEAD = (
    "Formats for `format: {kind: ...}`. A format tells the model how to mark its final answer, and finds this "
    "answer in the reply. In a bundle, the format of a question also has `skip` (the abstention token) and `rules`, "
    'as in `{"kind": "boxed", "rules": 2, "skip": "I-DO-NOT-KNOW"}`.'
)
CHAINS_HEAD = (
    "A *chain* is a list of steps, each of which looks for the answer in its own way. Every format has the chains "
    "`strict`, `standard` (the default) and `lenient`. Some formats also have `compat`, which reads replies like "
    "the evaluator of a published study.\n\n"
    "The steps are tried in order:\n\n"
    "- In `strict`, `standard` and `compat`, the first step that finds anything decides.\n"
    "- In `lenient`, the first step that finds a value of the expected type, such as a number, decides. If none "
    "does, the first that finds anything.\n\n"
    "`dia score --chain` selects the chain. `dia audit` shows the step that found each answer.\n\n"
    "Standard and lenient ignore reasoning in `<think>` blocks. Except in the format `whole`, they also ignore "
    "Markdown around the answer, such as `**131**`.\n\n"
    "This page describes version 2 of the [rules for reading replies](answers.md#versions), *rules 2*, which every "
    "bundle made by this version of dia uses. Under rules 1:\n\n"
    "- Standard is the same as strict.\n"
    "- Lenient finds only marked answers.\n"
    "- Reasoning and Markdown are mostly not ignored."
)
UNMARKED_TITLE = "Answers without their mark"
UNMARKED_ANCHOR = "answers-without-their-mark"
UNMARKED_HEAD = (
    "Small models often answer without the mark that the prompt asks for. After the steps for marked answers, "
    "lenient therefore looks for one word or number X in these places:\n\n"
    "| step | where |\n"
    "|---|---|\n"
    "| `said` | the last line that ends with `the answer is X` or `Answer: X` |\n"
    "| `sentence` | the last line, if it is a sentence such as `The sum of 3 and 4 is X.` |\n"
    "| `equation` | the only line that is an equation, such as `60 + 65 = X` |\n"
    "| `word` | a reply of one word |"
)
LONG_REPLIES = (
    "Of a long reply, only a part is searched for the answer:\n\n"
    "| format | chain or step | part |\n"
    "|---|---|---|\n"
    f"| `boxed`, `label`, `last_line` | all | the last {CHARACTERS:,} characters |\n"
    f"| `letter` | strict, standard, lenient | the last {CHARACTERS:,} characters |\n"
    f"| `letter` | compat | the first {letter_compat.CHARACTERS:,} characters |\n"
    f"| `json` | the step `last` | the last {json_value.SEARCHED:,} characters |\n"
    f"| `json` | compat | the first {CHARACTERS:,} characters |\n"
    f"| `regex` | all | the first {CHARACTERS:,} characters |\n"
    f"| `tagged`, `xml` | the steps `last` and `fenced` | the first {CHARACTERS:,} characters |\n"
    "| `boxed`, `json`, `last_line`, `tagged`, `xml` | the steps `said`, `sentence` and `equation` | the last "
    f"{unmarked.MOST} lines |\n\n"
    f"In `json`, `tagged` and `xml`, strict finds nothing in a reply of more than {CHARACTERS:,} characters."
)


def commands() -> str:
    """The page of the command line: every command with every option."""
    context = click.Context(dia, info_name="dia")
    groups = [
        (heading, ", ".join(f"[{name}](#dia-{name})" for name in names)) for heading, names in command_groups().items()
    ]
    parts = ["# Commands", NOTE, COMMANDS_HEAD, table(("task", "commands"), groups)]
    parts += ["## Exit codes", table(("code", "meaning"), EXIT_CODES)]
    parts += [
        "## Global options",
        "`--version` needs no command. The others may come before or after the command's name:",
        _options(dia.params),
    ]
    everywhere = {parameter.name for parameter in dia.params}
    for name in COMMANDS:
        command = dia.get_command(context, name)
        assert command is not None
        parts += [f"## dia {name}", f"```text\ndia {name} {_usage(command)}\n```", *_help(command)]
        parts.append(_options(item for item in command.params if item.name not in everywhere))
        if name == "plot":
            kinds = [(f"`{kind}`", picture.title) for kind, picture in pictures().items()]
            parts.append(table(("kind", "plot"), kinds))
    return page(parts)


COMMANDS_HEAD = (
    "Results go to standard output; progress, warnings and errors go to standard error. `--json` prints the "
    "result as JSON; the [schemas](schemas.md) describe each result. `NO_COLOR` is respected. `python -m "
    "dia_compiler` is the same as `dia`, except that Python then also imports from the current folder, so do not use "
    "it in a stranger's folder. [Set up your editor, shell and hooks](../howto/write-with-help.md) shows how "
    "to set default options in `dia.toml` and how to complete commands in the shell."
)
EXIT_CODES = (
    ("0", "done"),
    (
        "1",
        "a finding, such as bundles that differ, `check --strict` with warnings, a template over its limit in `probe`, "
        "or a run in which questions have no reply",
    ),
    ("2", "input or arguments: errors in specs, unknown names, an output that may not be replaced"),
    ("3", "integrity: a file is damaged, does not belong to the bundle, or cannot be verified"),
    ("4", "a provider or the network failed"),
    ("70", "a bug in dia: the message names the log file, and `--debug` shows the traceback"),
    ("130", "interrupted"),
)


def _usage(command: click.Command) -> str:
    context = click.Context(command, info_name=command.name)
    return " ".join(command.collect_usage_pieces(context))


def _help(command: click.Command) -> Iterator[str]:
    """The paragraphs of the help, the example as a block."""
    for part in inspect.cleandoc(command.help or "").replace("\b\n", "").split("\n\n"):
        head, _, rest = part.partition("\n")
        if head == "Example:":
            yield "Example:"
            yield f"```text\n{inspect.cleandoc(rest)}\n```"
        else:
            yield " ".join(part.split())


def _options(parameters: Iterable[click.Parameter]) -> str:
    rows = [(f"`{_name(item)}`", _words(item)) for item in parameters if isinstance(item, click.Option)]
    return table(("option", "meaning"), rows)


def _name(option: click.Option) -> str:
    shown = ", ".join(option.opts)
    if option.is_flag or option.count:
        return shown
    kind = option.type
    metavar = option.metavar or ("|".join(kind.choices) if isinstance(kind, click.Choice) else kind.name.upper())
    return f"{shown} {'N' if metavar.startswith('INTEGER') else metavar}"


def _words(option: click.Option) -> str:
    if not option.show_default or option.default is None:
        return option.help or ""
    default = ", ".join(option.default) if isinstance(option.default, tuple) else option.default
    return f"{option.help or ''} Default: {default}."


def error_codes() -> str:
    """The page of error codes, one heading a group."""
    parts = ["# Error codes", NOTE, ERRORS_HEAD]
    for group, title in GROUPS.items():
        rows = [(code, title, meaning) for code, (title, meaning) in CODES.items() if code.startswith(group)]
        parts += [f"## {group}xx: {title}" if group != "E9" else f"## {title}"]
        parts.append(table(("code", "error", "meaning and fix"), rows))
    return page(parts)


ERRORS_HEAD = (
    "An error is printed as `error[code]: what is wrong`, with a suggested fix where there is one. If it has a place "
    "in a file, `path:line:column:` comes first, usually with the source line and a caret. A code keeps its meaning, "
    "but the wording of messages may improve. Warnings have "
    "[names](health-warnings.md) instead of codes."
)


def figures() -> str:
    """The page of verdicts and figures."""
    verdicts = [(f"`{verdict}`", sentence(verdict.meaning)) for verdict in Verdict]
    parts = ["# Names of verdicts and figures", NOTE, FIGURE_NAMES_HEAD, "## Verdicts", VERDICTS_HEAD]
    parts.append(table(("verdict", "meaning"), verdicts))
    parts += ["## Figures", MODEL_FIGURES_HEAD]
    for family in Family:
        rows = [_figure_row(figure) for figure in MODEL_FIGURES.values() if figure.family is family]
        headings = ("name", "heading in tables", "in words", "meaning", "unit", "better", "compared", "plot")
        parts += [f"### {family.value.capitalize()}", table(headings, rows)]
    return page(parts)


FIGURE_NAMES_HEAD = (
    "What the verdicts and figures are called in JSON, tables, reports and plots. "
    "[Verdicts and figures](../explanation/figures.md) has the formulas."
)
VERDICTS_HEAD = "The verdict on each reply, in the order of tables and plots."
MODEL_FIGURES_HEAD = (
    "The main figures that `dia score` computes for every model; [the page with the formulas]"
    "(../explanation/figures.md#figures) also has the others. The name is the key in JSON and the argument of "
    "`--compare`, which takes the figures with yes under *compared*; tables print shares in percent (the first table "
    "of `dia score` leaves out the % of the headings, and the @k of Conf). Reports, plots and titles of tables use the "
    "words of the column *in words*. *Plot* is the kind of `dia plot` that shows only this figure."
)
DIRECTIONS = {True: "more", False: "less", None: ""}


def _figure_row(figure: Figure) -> tuple[str, ...]:
    is_compared = "yes" if figure.name in compared_figures() else ""
    picture = f"`{figure.leaderboard.kind}`" if figure.leaderboard else ""
    better = DIRECTIONS[figure.more_is_better]
    unit = figure.unit.name.lower()
    return f"`{figure.name}`", figure.heading, figure.label, figure.meaning, unit, better, is_compared, picture


def health_warnings() -> str:
    """The page of health warnings."""
    rows = [(f"`{name}`", sentence(meaning)) for name, meaning in HEALTH_WARNINGS.items()]
    return page(["# Health warnings", NOTE, WARNINGS_HEAD, table(("name", "meaning"), rows), WARNINGS_TAIL])


WARNINGS_HEAD = (
    "A health warning means that a spec works, but probably not as intended. `dia check` and `dia compile` print the "
    "warnings; with `--strict` they make the command fail. Some look at the instances that the command makes. "
    "`dia check` makes only three, so such a warning may be due to chance: `dia check --k 100` looks at more."
)
WARNINGS_TAIL = (
    "To accept a warning in a template, write its name and a reason:\n\n"
    "```yaml\nallow:\n  answer-ignores-parameter: the colours are only names\n```"
)


def schemas() -> str:
    """The page of JSON Schemas: what each describes and its top-level keys."""
    parts = ["# Schemas", NOTE, SCHEMAS_HEAD]
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        parts += [f"## {path.name.removesuffix('.schema.json')}", f"`schemas/{path.name}`: {schema['title']}."]
        parts.append(schema["description"])
        parts += _keys_of(schema)
        alternatives: list[str] = []
        for shape in schema.get("oneOf", []):
            if "properties" in shape:
                parts += [shape["description"], *_keys_of(shape)]
            else:
                alternatives += [f"`{key}`" for key in shape["required"]]
        parts += [f"Either {' or '.join(alternatives)} is there."] if alternatives else []
    return page(parts)


def _keys_of(shape: dict[str, Any]) -> list[str]:
    """The table of the keys that an object can have; nothing if it has no fixed keys."""
    required = set(shape.get("required", ()))
    rows = [(f"`{key}`", _kind(value), "yes" if key in required else "", _said(value))
            for key, value in shape.get("properties", {}).items()]  # fmt: skip
    return [table(("key", "kind", "required", "meaning"), rows)] if rows else []


SCHEMAS_HEAD = (
    "The JSON Schemas (draft 2020-12) of every file and every JSON output. They are in `schemas/`, and in an installed "
    "package in `dia_runtime/_data/schemas/`. Outputs may gain keys; none is renamed or dropped. A kind that is not a "
    "type of JSON, such as *encoded*, is defined under `$defs` in the schema."
)


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        return "refused by this version"
    if "const" in value:
        return f"`{_json_or_text(value['const'])}`"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(map(_kind, value["anyOf"])))
    if "enum" in value:
        return "one of " + ", ".join(f"`{_json_or_text(item)}`" for item in value["enum"])
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    kind = value.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _json_or_text(value: Any) -> str:
    """A value as the page shows it: text without quotes, everything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _said(value: Any) -> str:
    return str(value.get("description", "")) if isinstance(value, dict) else ""


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; bars within cells are escaped."""
    lines = [headings, ("---",) * len(headings), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def literal(text: str) -> str:
    """The text of a docstring with what Markdown would take for tags, emphasis, bullets or headings escaped, but
    between backticks."""
    text = re.sub(r"^([+#])", r"\\\1", text, flags=re.MULTILINE)
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "`".join(parts)


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def page(parts: Iterable[str]) -> str:
    """The parts as one page, an empty line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def attachments() -> str:
    """The page on the attachments that providers accept."""
    rows = []
    for provider, interface in INTERFACES.items():
        links = ", ".join(f"[{number}]({url})" for number, url in enumerate(interface.sources, 1))
        name = "anything with `--base-url`" if provider == CUSTOM else f"`{provider}`"
        rows.append((name, *(_accepted(interface, start) for start in ("image/", "audio/", "application/")), links))
    heads = ("provider", "images", "audio", "documents", "sources")
    capabilities = table(
        ("attachment", "capability in litellm's table"),
        ((f"`{pattern}`", f"`supports_{name}`") for pattern, name in CAPABILITIES.items()),
    )
    listed = ", ".join(f"`{provider}`" for provider, interface in INTERFACES.items() if interface.is_listed)
    text_types = ", ".join(f"`{name}`" for name in sorted(TEXT_TYPES))
    parts = ["# Attachments", NOTE, ATTACHMENTS_HEAD.format(text_types=text_types), table(heads, rows)]
    return page([*parts, ATTACHMENTS_MODELS.format(listed=listed), capabilities])


OFFICE_NAMES = dict(zip(OFFICE, ("doc", "xls", "docx", "xlsx"), strict=True))


def _accepted(interface: Interface, start: str) -> str:
    """The media types that begin so, without this beginning."""
    names = [
        OFFICE_NAMES.get(name, name.removeprefix(start)) for name in interface.media_types if name.startswith(start)
    ]
    return ", ".join("all" if name == "*" else name for name in names) or "none"


MORE_ON = {"boundary": ", of which `refusal` measures two of the abilities"}
ATTACHMENTS_HEAD = (
    "The attachments that `dia run` sends to each provider, by media type. A question with any other attachment is not "
    "asked of these providers, as [Ask models](../howto/ask-models.md#attachments) explains.\n\n"
    "Text is not in the table, because dia sends it as text, which every model accepts: `text/*`, {text_types}, if the "
    "file is valid UTF-8."
)
ATTACHMENTS_MODELS = (
    "`vertex_ai/` models are asked through the interface of Gemini or Anthropic, depending on their name. If litellm "
    "is installed, its table of models can forbid an attachment. It does so if the model's entry says that the model "
    "lacks the capability. For {listed}, whose entries list every capability, it also does so if the entry does not "
    "mention the capability. A model without an entry is not restricted by that table. litellm's table never allows "
    "more than the table above; only for a provider that is not in the table above, litellm's table alone counts."
)


def families() -> str:
    """The page of the families that ship with the project, one table a benchmark."""
    parts = ["# Shipped families", NOTE, FAMILIES_HEAD]
    for path in sorted(SPECS.parent.glob("*/benchmark.yaml")):
        held = [one for spec in path.parent.rglob("*.yaml") if "template" in (one := _head(spec))]
        ordered = sorted(held, key=lambda one: (int(one.get("number", 0)), one["template"]))
        plain = ("title", "category", "level")
        rows = [
            (one.get("number", ""), f"`{one['template']}`", *(one.get(key, "") for key in plain), f"`{one['file']}`")
            for one in ordered
        ]
        parts += [
            f"## {path.parent.name}",
            f"*{_head(path).get('title', '')}* ({len(rows)} templates{MORE_ON.get(path.parent.name, '')})",
        ]
        parts.append(table(("number", "template", "title", "category", "level", "file"), rows))
        if path.parent == SPECS:
            parts += ["### Figures and proofs", FIGURES_HEAD, _figures()]
    return page(parts)


def _figures() -> str:
    """What docs/measure_families.py has measured of each family, and how its truths are proven."""
    held = json.loads((DOCS / "families.json").read_text(encoding="utf-8"))
    proofs = yaml.safe_load(PROOFS.read_text(encoding="utf-8"))
    rows = [
        (
            str(one["number"]),
            f"`{name}`",
            _freedom(**one["degree_of_freedom"]),
            str(one["answers"]["distinct"]),
            _percent(Fraction(one["answers"]["commonest_share"])) + (" \\*" if name in proofs["common"] else ""),
            "{:,} / {:,}".format(*one["characters"]),
            proofs["proofs"].get(name, ""),
        )
        for name, one in held.items()
    ]
    headings = ("number", "template", "freedom", "answers", "most common", "characters", "recomputed by")
    reasons = [f"- `{name}`: {reason}." for name, reason in proofs["common"].items()]
    return "\n\n".join([table(headings, rows), "\\* Why one answer is so common:", "\n".join(reasons)])


def _freedom(kind: str, count: str | None) -> str:
    """The degree of freedom in words."""
    if count is None:
        return "vast"
    words = {"exact": "", "at_most": "at most ", "at_least": "at least "}[kind]
    number = int(count)
    return words + (f"{number:,}" if number < 10**9 else f"{count[0]}.{count[1]}e{len(count) - 1}")


def _percent(share: Fraction) -> str:
    """The share in percent, in tenths of one."""
    tenths = round(share * 1000)
    return f"{tenths // 10}.{tenths % 10} %"


FIGURES_HEAD = (
    "Measured by `python docs/measure_families.py` at k = 200. Freedom: the number of different instances, counted or "
    "bounded (vast: more than 2^128). Answers: how many of the 200 answers differ. Most common: the share of the most "
    "common answer. Characters: median and maximum length of the prompt. Recomputed by: how the tests compute each "
    "answer from the prompt, or verify it, without the code that made it."
)
FAMILIES_HEAD = (
    "The specs that come with dia. A *family* is one template with all its instances. The column *number* has the "
    "number of the question that a family follows in a published benchmark. `dia preview FILE` shows instances."
)


def _head(path: Path) -> dict[str, str]:
    """The plain facts of a spec by their keys, and its path."""
    found = re.findall(r"^(\w+): (\S.*?)(?: +#.*)?$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {key: value.strip("'\"") for key, value in found} | {"file": path.relative_to(SPECS.parents[1]).as_posix()}


def with_figures(text: str) -> str:
    """Return the README with a fresh paragraph between its marks: the shipped benchmarks, and what the language has."""
    benchmarks = [path.parent for path in SPECS.parent.glob("*/benchmark.yaml")]
    templates, families = (
        sum("template" in _head(path) for folder in folders for path in folder.rglob("*.yaml"))
        for folders in (benchmarks, [SPECS])
    )
    figures = (
        f"It comes with {templates} templates in {len(benchmarks)} [benchmarks](docs/reference/families.md): "
        f"{families} of them follow *Dynamic Intelligence Assessment* (Bisztray and others, 2024); the others are word "
        "problems, algebra, puzzles, questions that a model should decline, tests of instruction following and "
        "refusal, and conversations "
        f"about a model's own behaviour. For your own templates, it has {len(FUNCTIONS)} functions, {len(TYPES.own)} "
        f"parameter types, {len(ANSWER_TYPES)} answer types and {len(FORMATS.own)} answer formats."
    )
    figures = fill(figures, 120, break_long_words=False, break_on_hyphens=False)
    return FIGURES.sub(lambda found: f"{found[1]}{figures}\n{found[2]}", text)


FIGURES = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.DOTALL)
PAGES: dict[str, Callable[[], str]] = {
    "functions.md": functions,
    "types.md": types,
    "answer-types.md": answer_types,
    "answer-formats.md": answer_formats,
    "builders.md": builders,
    "commands.md": commands,
    "error-codes.md": error_codes,
    "figures.md": figures,
    "schemas.md": schemas,
    "health-warnings.md": health_warnings,
    "families.md": families,
    "attachments.md": attachments,
}


def stale() -> list[str]:
    """The files that are missing or differ from what the code gives."""
    return [_name_of(path) for path, text in _made() if _held(path) != text]


def _made() -> Iterator[tuple[Path, str]]:
    """Each file as the code gives it; schemas come first, because a page is made of them."""
    yield from ((SCHEMAS / f"{name}.schema.json", editor_schema_text(name)) for name in FILES)
    yield SCHEMAS / "score.schema.json", json.dumps(score_schema(), indent=2, ensure_ascii=False) + "\n"
    yield from ((REFERENCE / name, made()) for name, made in PAGES.items())
    yield README, with_figures(README.read_text(encoding="utf-8"))


FOLDERS = {REFERENCE: "docs/reference", SCHEMAS: "schemas"}


def _name_of(path: Path) -> str:
    """The file's path as it is told."""
    return "README.md" if path == README else f"{FOLDERS[path.parent]}/{path.name}"


def _held(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def main(arguments: list[str]) -> int:
    """The exit code: 0, or 1 where --check finds stale pages."""
    if arguments not in ([], ["--check"]):
        print("usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    is_check, is_stale = bool(arguments), False
    for path, text in _made():
        if _held(path) == text:
            continue
        is_stale, name = True, _name_of(path)
        if is_check:
            print(f"stale: {name}; run `python docs/generate.py`", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(name)
    return 1 if is_check and is_stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
