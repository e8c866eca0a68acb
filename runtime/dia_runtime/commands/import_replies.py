"""`dia import`: make a run from tables and from logs of other harnesses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from dia_language.diagnostics import DiaError, Diagnostic, counted, did_you_mean, render_diagnostic, visible

from dia_runtime.commands.options import PATH, is_quiet, json_option, options_object, quiet_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.score import parse_points
from dia_runtime.commands.terminal import echo
from dia_runtime.integrations.readers import READERS, TABLES

if TYPE_CHECKING:
    from dia_runtime.integrations.importing.fields import Columns
    from dia_runtime.integrations.importing.tables import Form, Imported, Source

RANGE = re.compile(r"([A-Z])-([A-Z])")
LETTERS = re.compile(r"[A-Z](?:,?[A-Z])+")
RECORDINGS = "self-execution"
KINDS = (*READERS, RECORDINGS)
MOST_PRINTED = 20
OF_ANSWERS = ("letters", "skip", "kind_of_answer", "answer_format", "points", "benchmark")


@dataclass(frozen=True)
class ImportOptions:
    """The arguments of `dia import`."""

    files: tuple[Path, ...]
    kind: str
    bundle: Path | None
    out: Path
    fields: tuple[str, ...]
    letters: str | None
    skip: str | None
    kind_of_answer: str
    answer_format: str
    points: tuple[str, ...]
    models: tuple[str, ...]
    benchmark: str
    experiments: tuple[str, ...]
    keep: bool
    force: bool
    as_json: bool
    quiet: bool


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--from", "kind", type=click.Choice(KINDS), required=True, help="Format of the files.")
@click.option(
    "--bundle",
    type=PATH,
    metavar="BUNDLE",
    help="Bundle whose questions were asked: rows are matched to it by id and graded with its answers.",
)
@click.option("-o", "--out", type=PATH, required=True, metavar="RUN", help="File for the run.")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=COLUMN", help="Column that contains a field. Repeatable."
)
@click.option("--letters", metavar="A-E", help="Answers are letters of options: A-E or A,B,C.")
@click.option("--skip", metavar="TOKEN", help="Reply that abstains, for example E or I-DO-NOT-KNOW.")
@click.option(
    "--type",
    "kind_of_answer",
    metavar="TYPE",
    default="text",
    show_default=True,
    help="Answer type, if answers are not letters.",
)
@click.option(
    "--answer-format",
    metavar="FORMAT",
    default="whole",
    show_default=True,
    help="Answer format: how replies mark their answer. Ignored with --letters.",
)
@click.option(
    "--points", multiple=True, metavar="VERDICT=N", help="Points of a verdict, as the prompts stated them. Repeatable."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Name of the model: one for all files or, repeated, one for each file, in their order.",
)
@click.option(
    "--benchmark", metavar="NAME", default="imported", show_default=True, help="Name for the set of questions."
)
@click.option(
    "--experiment",
    "experiments",
    multiple=True,
    type=click.Choice(["exp1", "exp2", "exp3", "exp4"]),
    help="For self-execution: import only this experiment. Repeatable.",
)
@click.option("--keep", is_flag=True, help="Import the valid rows and report the others.")
@click.option("--force", is_flag=True, help="Replace an existing run.")
@json_option
@quiet_option("notes")
@options_object(ImportOptions)
def command(options: ImportOptions) -> int:
    """Import replies from a table, or from the log of another harness, as a run that can be scored.

    For logs, dia knows which field contains what. If the log is about questions of a bundle, name the bundle with
    --bundle. Otherwise the log must contain the correct answers.

    In a table, every row is one reply. The fields id and reply are required; without --bundle, so is gold, the correct
    answer. They are read from the columns with these names, unless you give others with `--field`. Other fields are
    read only if you give their columns with `--field`: model, attempt, accept, item, instance, template, variant,
    category, domain, level, skills, adversarial, number, error, finish_reason, prompt_tokens, completion_tokens,
    reasoning_tokens, cost, seconds, model_version, asked_at, tool_transcript and questions_root. Files compressed with
    gzip or zstd need no unpacking.

    \b
    Example:
      dia import specs/idk/sample/replies.jsonl --from jsonl --letters A-E --skip E --field model=model -o idk.run
    """

    done = _import(options)
    _print_diagnostics(done)
    if options.as_json:
        echo(json.dumps(import_json(done), indent=2))
        return 0
    echo(str(done.path))
    if not is_quiet(options.quiet):
        for name, replies in done.models.items():
            echo(f"{name}: {counted(replies, 'reply', 'replies')} to {counted(done.questions, 'question')}", err=True)
    return 0


def _import(options: ImportOptions) -> Imported:
    """Import the files. Raises DiaError (exit 2) for options that contradict each other."""
    from dia_runtime.integrations.importing.tables import import_tables

    kind, out, force, keep = options.kind, options.out, options.force, options.keep
    if kind == RECORDINGS:
        return _recordings(options)
    if options.experiments:
        raise _usage_error("`--experiment` applies to `--from self-execution` only", "remove `--experiment`")
    sources, columns_given = _sources(options.files, kind, options.models), _fields(options.fields)
    columns_by_field = _default_fields(kind, options.bundle is not None, bool(options.models)) | columns_given
    if options.bundle is not None:
        with activity(f"writing {out}", options.quiet):
            return _import_joined(sources, columns_by_field, options.bundle, out, force, keep)
    if kind == "openai-batch" and "gold" not in columns_given:
        raise _usage_error(
            "the results of a batch do not contain the correct answers", "name the bundle with `--bundle`"
        )
    columns, format = _columns(options, columns_by_field)
    with activity(f"writing {out}", options.quiet):
        return import_tables(sources, columns, _form(format, options.points, options.benchmark), out, force, keep)


def _recordings(options: ImportOptions) -> Imported:
    from dia_runtime.integrations.self_execution.recordings import EXPERIMENTS, import_recordings

    if len(options.files) != 1 or not options.files[0].is_dir():
        raise _usage_error("`--from self-execution` needs one folder", "name the folder that contains exp1 to exp4")
    return import_recordings(options.files[0], options.experiments or tuple(EXPERIMENTS), options.out, options.force)


def _import_joined(
    sources: Sequence[Source], named: dict[str, str], bundle: Path, out: Path, force: bool, keep: bool
) -> Imported:
    """Import replies to a bundle's questions. Raises DiaError for options that the bundle already decides."""
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.integrations.importing.bundle_logs import import_joined
    from dia_runtime.integrations.importing.fields import Cells

    context = click.get_current_context()
    for name in OF_ANSWERS:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise _usage_error(
                f"`{option}` cannot be combined with `--bundle`, which already defines it", "remove one of the two"
            )
    return import_joined(sources, Cells(named), open_bundle(bundle), out, force, keep)


def _default_fields(kind: str, is_joined: bool, is_named: bool) -> dict[str, str]:
    """Return the column of each field, by default, for this kind of file."""
    from dia_runtime.integrations.importing.fields import NEEDED, ROOT
    from dia_runtime.integrations.reading.log_rows import ALWAYS

    names = set(NEEDED) if kind in TABLES else set(ALWAYS)
    names -= {"gold", "accept"} if is_joined else set()
    names -= {"model"} if is_named else set()
    return {name: name for name in (*ALWAYS, ROOT) if name in names}


def _print_diagnostics(done: Imported) -> None:
    """Print why rows were left out: each different reason once."""
    from dia_runtime.integrations.importing.tables import grouped

    reasons = grouped(done.faults)
    for entry in reasons[:MOST_PRINTED]:
        echo(render_diagnostic(replace(entry, severity="warning"), {}), err=True)
    if len(reasons) > MOST_PRINTED:
        echo(f"and {len(reasons) - MOST_PRINTED:,} more", err=True)


def import_json(done: Imported) -> dict[str, Any]:
    """Return what `dia import --json` prints."""
    return {
        "path": str(done.path),
        "questions_root": done.questions_root,
        "items": done.items,
        "questions": done.questions,
        "k": done.k,
        "models": [{"model": name, "replies": number} for name, number in done.models.items()],
        "faults": len(done.faults),
        "missing": done.missing,
    }


def _sources(files: Sequence[Path], kind: str, models: Sequence[str]) -> list[Source]:
    from dia_runtime.integrations.importing.tables import source

    if len(models) > 1 and len(models) != len(files):
        message = f"{len(models)} model names for {counted(len(files), 'file')}"
        raise _usage_error(
            message, "give `--model` once, once for each file, or name a column with `--field model=COLUMN`"
        )
    names: Sequence[str | None] = models if len(models) > 1 else [models[0] if models else None] * len(files)
    return [source(path, kind, name) for path, name in zip(files, names, strict=True)]


def _columns(options: ImportOptions, columns_by_field: dict[str, str]) -> tuple[Columns, dict[str, Any]]:
    """Return the meaning of the columns, and the answer format of the questions."""
    from dia_language.answers import ANSWER_TYPES

    from dia_runtime.formats import FORMATS
    from dia_runtime.grading.grader import typed
    from dia_runtime.integrations.importing.fields import Columns

    if options.letters is None:
        comparison = _json_object(options.kind_of_answer, "type")
        format = _json_object(options.answer_format, "kind")
    else:
        of = _letters(options.letters)
        comparison, format = {"type": "choice", "of": of}, {"kind": "letter", "of": of}
    format |= {"skip": options.skip} if options.skip else {}
    if format["kind"] not in FORMATS:
        fix = did_you_mean(str(format["kind"]), FORMATS) or f"the formats are {', '.join(FORMATS)}"
        raise _usage_error(f"unknown answer format `{format['kind']}`", fix)
    if faults := FORMATS[format["kind"]].faults(format):
        message, _, help = faults[0].partition("; ")
        help = "give the letters with `--letters A-E`" if format["kind"] == "letter" else help
        raise _usage_error(message, help or None)
    if comparison["type"] not in ANSWER_TYPES:
        fix = did_you_mean(str(comparison["type"]), ANSWER_TYPES) or f"the types are {', '.join(ANSWER_TYPES)}"
        raise _usage_error(f"unknown answer type `{comparison['type']}`", fix)
    try:
        answer = typed(comparison)
    except DiaError as error:
        raise _usage_error(error.diagnostics[0].message, error.diagnostics[0].help) from None
    return Columns(columns_by_field, answer, comparison, options.skip), format


def _fields(texts: Iterable[str]) -> dict[str, str]:
    """Return the column of each field, from texts such as `gold=target`."""
    from dia_runtime.integrations.importing.fields import FIELDS

    columns = {}
    for text in texts:
        name, sign, column = text.partition("=")
        if not sign or not column:
            raise _usage_error(
                f"`--field {text}` does not have the form NAME=COLUMN", "write, for example, `--field gold=target`"
            )
        if name not in FIELDS:
            raise _usage_error(
                f"unknown field `{name}`", did_you_mean(name, FIELDS) or f"the fields are {', '.join(FIELDS)}"
            )
        columns[name] = column
    return columns


def _letters(text: str) -> list[str]:
    """Return the letters of `A-E` or `A,B,C`."""
    match = RANGE.fullmatch(text)
    if match and match[1] < match[2]:
        return [chr(code) for code in range(ord(match[1]), ord(match[2]) + 1)]
    if LETTERS.fullmatch(text):
        return list(text.replace(",", ""))
    raise _usage_error(f"`--letters {text}` is not a list of letters", "write `A-E` or `A,B,C`")


def _json_object(text: str, key: str) -> dict[str, Any]:
    """Return the mapping of a JSON text; a bare word is the value of `key`."""
    if not text.lstrip().startswith("{"):
        return {key: text}
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _usage_error(f"`{text[:60]}` is not valid JSON") from None
    if not isinstance(record.get(key), str):
        raise _usage_error(f"`{text[:60]}` lacks the key `{key}`")
    return dict(record)


def _form(format: dict[str, Any], points: tuple[str, ...], benchmark: str) -> Form:
    from dia_runtime.grading.judge import worth
    from dia_runtime.integrations.importing.tables import Form

    prompted = {name: str(worth(name, value)) for name, value in parse_points(points).items()}
    worths = {"correct": "1", "skipped": "0", "wrong": "-1", **prompted}
    exact = {name: int(value) if "/" not in value else value for name, value in worths.items()}
    return Form(format, exact, benchmark, bool(points))


def _usage_error(message: str, help: str | None = None) -> DiaError:
    return DiaError(Diagnostic("E864", visible(message), None, help))
