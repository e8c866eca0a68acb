"""`dia new`: create a template or a benchmark to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.commands.terminal import echo

if TYPE_CHECKING:
    pass


@click.command("new")
@click.argument("name", metavar="ID")
@click.option("--benchmark", is_flag=True, help="Create a benchmark with a first template.")
@click.option("--choices", is_flag=True, help="Start from a multiple-choice question.")
@click.option("--sessions", is_flag=True, help="Start from a conversation.")
@click.option("--assets", is_flag=True, help="Start from a question about a file.")
@click.option("--catalog", is_flag=True, help="Start from a question composed of catalog entries.")
@click.option("--from", "table", type=click.Path(path_type=Path), metavar="FILE",
              help="Draft a question for each row of a .csv or .jsonl file.")  # fmt: skip
@click.option("--answer-column", metavar="COLUMN", help="With --from, the column of answers (default: guessed).")
@click.option("--from-question", "question", metavar="TEXT",
              help="Draft a template from this question: its numbers become parameters if the calculation of the "
                   "answer uses them. @FILE reads the question from a file.")  # fmt: skip
@click.option("--answer", metavar="TEXT",
              help="With --from-question: a number, a calculation (48 + 48 / 2 = 72), or a solution in the style of "
                   "GSM8K; @FILE reads it from a file.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path(), metavar="DIR",
              help="Folder of the benchmark that gets the template; with --benchmark, the folder in which to create it "
                   "(default: the current folder).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the file names as JSON.")
def command(
    name: str,
    benchmark: bool,
    table: Path | None,
    answer_column: str | None,
    question: str | None,
    answer: str | None,
    out: Path,
    as_json: bool,
    **kinds: bool,
) -> int:
    """Create a template, or a benchmark with one, that compiles and that you can adapt.

    --from and --from-question turn a table or a question into a draft, and print what they guessed.

    \b
    Example:
      dia new my_benchmark --benchmark
      dia new quiz --choices -o my_benchmark
      dia new pens --from-question "5 pens and 3 more are how many?" --answer 8 -o my_benchmark
    """
    from dia_compiler.authoring.scaffold import new_benchmark, new_template, start

    chosen = [f"--{kind}" for kind, is_chosen in kinds.items() if is_chosen]
    chosen += ["--from"] if table else []
    chosen += ["--from-question"] if question is not None else []
    if len(chosen) > 1:
        message = f"{chosen[0]} and {chosen[1]} cannot be combined"
        raise DiaError(Diagnostic("E600", message, None, "choose one of them"))
    if answer_column is not None and table is None:
        message = "--answer-column needs --from: it names a column of that file"
        raise DiaError(Diagnostic("E600", message, None, "add --from FILE"))
    if (question is None) != (answer is None):
        message = "--from-question and --answer belong together"
        raise DiaError(Diagnostic("E600", message, None, "give both"))
    if table is not None:
        from dia_compiler.authoring.from_table import draft_from_table

        draft = draft_from_table(table, answer_column)
    elif question is not None and answer is not None:
        from dia_compiler.authoring.from_question import draft_from_question

        draft = draft_from_question(_text(question), _text(answer))
    else:
        draft = start(*(kind.removeprefix("--") for kind in chosen))
    files = new_benchmark(name, out, draft) if benchmark else new_template(name, out, draft)
    if as_json:
        echo(json.dumps({"files": [path.as_posix() for path in files], "guesses": list(draft.guesses)}, indent=2))
        return 0
    for path in files:
        echo(path.as_posix())
    for guess in draft.guesses:
        echo(f"guessed: {guess}", err=True)
    checked = out / name if benchmark else files[0]
    echo(f"next: dia check {checked.as_posix()}", err=True)
    return 0


def _text(argument: str) -> str:
    """Return an argument, or the content of the file that `@FILE` names. Raises DiaError."""
    from dia_language.yaml_nodes import read_text

    return read_text(Path(argument[1:]), argument[1:]) if argument[:1] == "@" else argument
