"""`dia import`: tables of replies from elsewhere become a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, render_diagnostic, visible

from dia_runtime.commands.options import PATH, is_quiet, json_option, options_object, quiet_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.score import parse_points
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
    """What `dia import` is given."""

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
@click.option("--from", "kind", type=click.Choice(KINDS), required=True, help="What the files are.")
@click.option(
    "--bundle",
    type=PATH,
    metavar="BUNDLE",
    help="The bundle that was asked: its questions are joined by id, its answers grade.",
)
@click.option("-o", "--out", type=PATH, required=True, metavar="RUN", help="The file of the run.")
@click.option("--field", "fields", multiple=True, metavar="NAME=COLUMN", help="Which column holds what. Repeatable.")
@click.option("--letters", metavar="A-E", help="Answers are letters of options: A-E, or A,B,C.")
@click.option("--skip", metavar="TOKEN", help="What skips a question: E, or I-DO-NOT-KNOW.")
@click.option(
    "--type",
    "kind_of_answer",
    metavar="TYPE",
    default="text",
    show_default=True,
    help="What answers are, if not letters.",
)
@click.option(
    "--answer-format",
    metavar="FORMAT",
    default="whole",
    show_default=True,
    help="How replies mark answers, if not by letters.",
)
@click.option("--points", multiple=True, metavar="VERDICT=N", help="The points that the models were told. Repeatable.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Who replied: one name, or one a file.")
@click.option(
    "--benchmark", metavar="NAME", default="imported", show_default=True, help="What tables call the questions."
)
@click.option(
    "--experiment",
    "experiments",
    multiple=True,
    type=click.Choice(["exp1", "exp2", "exp3", "exp4"]),
    help="Of self-execution: take this experiment alone. Repeatable.",
)
@click.option("--keep", is_flag=True, help="Take what can be used, and tell what cannot.")
@click.option("--force", is_flag=True, help="Replace a run that is there.")
@json_option
@quiet_option("notes")
@options_object(ImportOptions)
def command(options: ImportOptions) -> int:
    """Make a run of tables or other harnesses' logs, to be scored like any other.

    Logs of inspect, lm-eval, lighteval, promptfoo and openai-batch have fields of their own. A log of a bundle's
    questions is joined to it with --bundle; a log of other questions brings their gold answers along.

    Every row of a table is one reply. Fields are id, gold and reply, which are needed, and model, attempt, accept,
    item, instance, template, variant, category, domain, level, skills, adversarial, number, error, finish_reason,
    prompt_tokens, completion_tokens, cost, seconds, model_version, asked_at and questions_root. Files packed by gzip
    or zstd are read as they are.

    \b
    Example:
      dia import specs/idk/sample/replies.jsonl --from jsonl --letters A-E --skip E --field model=model -o idk.run
    """

    done = _import(options)
    _print_diagnostics(done)
    if options.as_json:
        click.echo(json.dumps(import_json(done), indent=2))
        return 0
    click.echo(visible(str(done.path)))
    if not is_quiet(options.quiet):
        for name, replies in done.models.items():
            click.echo(visible(f"{name}: {replies} replies to {done.questions} questions"), err=True)
    return 0


def _import(options: ImportOptions) -> Imported:
    """The run that was made. Raises DiaError (exit 2) for options that do not fit each other."""
    from dia_runtime.integrations.importing.tables import import_tables

    kind, out, force, keep = options.kind, options.out, options.force, options.keep
    if kind == RECORDINGS:
        return _recordings(options)
    if options.experiments:
        raise _usage_error("only recordings of self-execution have experiments", "leave `--experiment` out")
    sources, columns_given = _sources(options.files, kind, options.models), _fields(options.fields)
    columns_by_field = _default_fields(kind, options.bundle is not None, bool(options.models)) | columns_given
    if options.bundle is not None:
        with activity(f"writing {out}", options.quiet):
            return _import_joined(sources, columns_by_field, options.bundle, out, force, keep)
    if kind == "openai-batch" and "gold" not in columns_given:
        raise _usage_error("answers of a batch come without gold answers", "name the bundle with `--bundle`")
    columns, format = _columns(options, columns_by_field)
    with activity(f"writing {out}", options.quiet):
        return import_tables(sources, columns, _form(format, options.points, options.benchmark), out, force, keep)


def _recordings(options: ImportOptions) -> Imported:
    from dia_runtime.integrations.self_execution.recordings import EXPERIMENTS, import_recordings

    if len(options.files) != 1 or not options.files[0].is_dir():
        raise _usage_error("recordings of self-execution are one folder", "name the folder that holds exp1 to exp4")
    return import_recordings(options.files[0], options.experiments or tuple(EXPERIMENTS), options.out, options.force)


def _import_joined(
    sources: Sequence[Source], named: dict[str, str], bundle: Path, out: Path, force: bool, keep: bool
) -> Imported:
    """A run of the bundle. Raises DiaError for options that say what the bundle says."""
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.integrations.importing.bundle_logs import import_joined
    from dia_runtime.integrations.importing.fields import Cells

    context = click.get_current_context()
    for name in OF_ANSWERS:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise _usage_error(f"`{option}` says what the bundle says", "leave it out, or `--bundle`")
    return import_joined(sources, Cells(named), open_bundle(bundle), out, force, keep)


def _default_fields(kind: str, is_joined: bool, is_named: bool) -> dict[str, str]:
    """Field -> column, as the kind of file has them before `--field` says otherwise."""
    from dia_runtime.integrations.importing.fields import NEEDED, ROOT
    from dia_runtime.integrations.reading.log_rows import ALWAYS

    names = set(NEEDED) if kind in TABLES else set(ALWAYS)
    names -= {"gold", "accept"} if is_joined else set()
    names -= {"model"} if is_named else set()
    return {name: name for name in (*ALWAYS, ROOT) if name in names}


def _print_diagnostics(done: Imported) -> None:
    """Prints what was left out."""
    for entry in done.faults[:MOST_PRINTED]:
        click.echo(render_diagnostic(replace(entry, severity="warning"), {}), err=True)
    if len(done.faults) > MOST_PRINTED:
        click.echo(f"and {len(done.faults) - MOST_PRINTED} more", err=True)


def import_json(done: Imported) -> dict[str, Any]:
    """What `dia import --json` prints."""
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
        message = f"{len(models)} names of models, but {len(files)} files"
        raise _usage_error(message, "give `--model` once, once a file, or a column by `--field model=COLUMN`")
    names: Sequence[str | None] = models if len(models) > 1 else [models[0] if models else None] * len(files)
    return [source(path, kind, name) for path, name in zip(files, names, strict=True)]


def _columns(options: ImportOptions, columns_by_field: dict[str, str]) -> tuple[Columns, dict[str, Any]]:
    """What the columns hold, and the answer format of the questions."""
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
        fix = did_you_mean(str(format["kind"]), FORMATS) or f"there are {', '.join(FORMATS)}"
        raise _usage_error(f"no answer format is called `{format['kind']}`", fix)
    if faults := FORMATS[format["kind"]].faults(format):
        raise _usage_error(faults[0])
    try:
        answer = typed(comparison)
    except DiaError as error:
        raise _usage_error(error.diagnostics[0].message, error.diagnostics[0].help) from None
    return Columns(columns_by_field, answer, comparison, options.skip), format


def _fields(texts: Iterable[str]) -> dict[str, str]:
    """Field -> column, from `gold=target`."""
    from dia_runtime.integrations.importing.fields import FIELDS

    columns = {}
    for text in texts:
        name, sign, column = text.partition("=")
        if not sign or not column:
            raise _usage_error(f"`--field {text}` names no column", "write `--field gold=target`")
        if name not in FIELDS:
            raise _usage_error(
                f"no field is called `{name}`", did_you_mean(name, FIELDS) or f"there are {', '.join(FIELDS)}"
            )
        columns[name] = column
    return columns


def _letters(text: str) -> list[str]:
    """The letters of `A-E` or `A,B,C`."""
    match = RANGE.fullmatch(text)
    if match and match[1] < match[2]:
        return [chr(code) for code in range(ord(match[1]), ord(match[2]) + 1)]
    if LETTERS.fullmatch(text):
        return list(text.replace(",", ""))
    raise _usage_error(f"`--letters {text}` names no letters", "write `A-E`, or `A,B,C`")


def _json_object(text: str, key: str) -> dict[str, Any]:
    """The mapping of a JSON text, or that of a bare word."""
    if not text.lstrip().startswith("{"):
        return {key: text}
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _usage_error(f"`{text[:60]}` is no JSON") from None
    if not isinstance(record.get(key), str):
        raise _usage_error(f"`{text[:60]}` has no `{key}`")
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
