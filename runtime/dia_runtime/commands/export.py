"""`dia export`: write a bundle for another harness, or the replies of a run."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from filecmp import cmpfiles
from itertools import chain
from pathlib import Path

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, did_you_mean, visible

from dia_runtime.bundle.atomic_output import replace_with, require_replaceable, temporary_sibling, write_error
from dia_runtime.bundle.files import path_error, walk
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.bundle.verify import file_problems
from dia_runtime.commands.options import PATH, is_quiet, json_option, quiet_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo
from dia_runtime.integrations.exporters import EXPORTERS, Exporter
from dia_runtime.integrations.exporting.base import Files
from dia_runtime.integrations.replies.export import RUN_EXPORTERS, respondents_of
from dia_runtime.store.store import read_store

COMMENTED = (".py", ".yaml", ".yml", ".toml")


@click.command("export")
@click.argument("bundle", metavar="BUNDLE_OR_RUN", type=PATH)
@click.option("--to", "target", required=True, metavar="TARGET", help="Harness or format; plug-ins can add more.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="For runs: export only this respondent. For openai-batch: the model to ask. Repeatable.",
)
@click.option("-o", "--out", type=PATH, help="Folder to write. Default: build/exports/BUNDLE-TARGET.")
@click.option("--force", is_flag=True, help="Replace the contents of the folder.")
@quiet_option("notes")
@json_option
def command(
    bundle: Path, target: str, models: tuple[str, ...], out: Path | None, force: bool, quiet: bool, as_json: bool
) -> int:
    """Export a bundle for another harness, or the replies of a run.

    TARGET for a bundle: lm-eval, inspect, lighteval, huggingface, promptfoo, openai-batch, dia-bench or jsonl. TARGET
    for a run: replies (JSON Lines) or replies-parquet.

    The output is deterministic: the same bundle gives the same files. An existing folder with other contents is
    replaced only with --force.

    \b
    Example:
      dia export build/dia_bench-1.0.0-k5 --to dia-bench
    """
    folder = out or Path("build") / "exports" / f"{bundle.resolve().name}-{target}"
    is_forced = force or out is None
    if is_forced:
        require_replaceable(folder, bundle)
    if target in RUN_EXPORTERS:
        with read_store(bundle) as store:
            respondents = respondents_of(store, models)
            with activity(f"writing {folder}", quiet):
                names = write(RUN_EXPORTERS[target].files(store, respondents), folder, is_forced)
            return _report(target, folder, names, store.size, quiet, as_json, visible(str(store.path)))
    exporter = _exporter(target, models)
    opened = open_bundle(bundle)
    with activity(f"verifying {bundle}", quiet):
        problems = file_problems(opened)
    if problems:
        raise DiaError([problem.as_diagnostic() for problem in problems], 3)
    with activity(f"writing {folder}", quiet):
        names = export(opened, exporter, folder, is_forced)
    return _report(target, folder, names, opened.manifest["counts"]["questions"], quiet, as_json)


def _report(
    target: str, folder: Path, names: list[str], questions: int, quiet: bool, as_json: bool, run: str | None = None
) -> int:
    """Print what was written."""
    if as_json:
        facts = {"target": target, "path": folder.as_posix(), "files": names, "questions": questions}
        echo(json.dumps(facts, indent=2))
        return 0
    echo(folder.as_posix())
    if not is_quiet(quiet):
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        what = f"{counted(questions, 'question')} for {target}" if run is None else f"replies of {run}"
        echo(f"  {what}: {listed}", err=True)
    return 0


def _exporter(target: str, models: tuple[str, ...]) -> Exporter:
    if target not in EXPORTERS:
        targets = sorted([*EXPORTERS, *RUN_EXPORTERS])
        fix = did_you_mean(target, targets) or f"the targets are {', '.join(targets)}"
        raise DiaError(Diagnostic("E715", visible(f"unknown target `{target}`"), None, fix))
    exporter = EXPORTERS[target]
    if exporter.takes_model:
        return type(exporter)(models)  # type: ignore[call-arg]
    if models:
        message = f"`--model` selects replies of a run, but `{target}` exports questions, which are for any model"
        raise DiaError(Diagnostic("E715", message, None, "leave out `--model`"))
    return exporter


def export(bundle: Bundle, exporter: Exporter, folder: Path, force: bool = False) -> list[str]:
    """Write the exporter's files to the folder, all of them or none, and return their names.

    Raises DiaError (exit code 2) if the folder has other contents or cannot be written.
    """
    return write(_with_canary(exporter.files(bundle), bundle.manifest["canary"]), folder, force)


def _with_canary(files: Files, canary: str | None) -> Files:
    """Yield the files; text files with comments start with the bundle's canary."""
    for name, pieces in files:
        is_marked = canary and name.endswith(COMMENTED) and not name.startswith("assets/")
        yield name, chain((_comment(name, str(canary)),), pieces) if is_marked else pieces


def _comment(name: str, canary: str) -> bytes:
    """Return the canary as one line of comment. An untrusted bundle can add neither a line nor an encoding."""
    encoding = "# coding: utf-8\n" if name.endswith(".py") else ""
    canary_text = visible(" ".join(canary.split()))
    return f"{encoding}# {canary_text}\n".encode()


def write(files: Files, folder: Path, force: bool = False) -> list[str]:
    """Write the files to the folder, all of them or none, and return their names."""
    with _write_errors(folder), temporary_sibling(folder) as private:
        new_folder = private / "made"
        new_folder.mkdir()
        names = [_write(new_folder, name, pieces) for name, pieces in files]
        if _is_empty(folder) or force:
            replace_with(new_folder, folder, private / "old")
        elif not _is_same(folder, new_folder):
            message = f"`{folder}` already exists with different content"
            raise DiaError(
                Diagnostic("E601", message, None, "use --force to replace it, or -o to choose another folder")
            )
    return names


def _write(new_folder: Path, name: str, pieces: Iterator[bytes]) -> str:
    """Write a file and return its name. Raises DiaError for a name that leads out of the folder."""
    why = path_error(name)
    if why is not None:
        message = visible(f"the exporter wants to write the file `{name}`, which is refused: {why}")
        raise DiaError(Diagnostic("E716", message, None, "nothing was written; tell the author of the plug-in"))
    path = new_folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(pieces)
    return name


def _is_empty(folder: Path) -> bool:
    return not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()))


def _is_same(folder: Path, new_folder: Path) -> bool:
    """Return whether two folders contain the same files."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = [sorted(walk(place)) for place in (folder, new_folder)]
    return names[0] == names[1] and not cmpfiles(folder, new_folder, [name for name, _ in names[0]], shallow=False)[1]


@contextlib.contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError:
        message = "a text of the bundle contains half a character (a lone surrogate), which UTF-8 cannot encode"
        raise DiaError(Diagnostic("E707", message, None, "`dia verify` names the question"), 3) from None
    except OSError as error:
        raise write_error(f"cannot write the export to `{folder}`", error, "choose another folder with -o") from None
