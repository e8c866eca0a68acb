"""`dia scan`: search a corpus for a benchmark's canaries and prompts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, visible

from dia_runtime.commands.options import PATH, is_quiet, json_option, out_option, quiet_option, write_output
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import overwrite

if TYPE_CHECKING:
    from dia_runtime.scanning.scan import MatchesRecord, OnProgress, ScanResult

SHOWN = 10


@click.command("scan")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--bundle", type=PATH, help="Search for the prompts and the canary of this bundle.")
@click.option("--canary", "canaries", multiple=True, metavar="TEXT", help="Search for this canary. Repeatable.")
@click.option("--words", type=IntRange(5, 50), default=13, show_default=True, metavar="N",
              help="Length of the prompt fragments, in words.")  # fmt: skip
@click.option("--limit", type=IntRange(min=0), default=100, show_default=True, metavar="N",
              help="List at most N matches of each kind; all are counted.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with code 1 if anything was found.")
@json_option
@out_option
@quiet_option("progress")
def command(
    files: tuple[Path, ...],
    bundle: Path | None,
    canaries: tuple[str, ...],
    words: int,
    limit: int,
    strict: bool,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> int:
    """Search a corpus for a benchmark: its canaries, its prompts and fragments of prompts.

    A FILE is text or JSON Lines, plain or compressed (.gz, .zst), a tar file of them such as a packed bundle, or a
    folder of such files. Canaries written by dia are found without any option. Spaces, punctuation and case are
    ignored.

    \b
    Example:
      dia scan build/dia_bench-1.0.0-k5/questions.jsonl --bundle build/dia_bench-1.0.0-k5
    """
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.scanning.scan import scan
    from dia_runtime.scanning.words import normalized_words

    for canary in canaries:
        if not normalized_words(canary.encode("utf-8", "replace")).strip():
            message = visible(f"the canary `{canary[:40]}` has neither letters nor digits, so nothing can match it")
            raise DiaError(Diagnostic("E727", message, None, "use --canary with its text or GUID"))
    opened = None if bundle is None else open_bundle(bundle)
    tell = None if is_quiet(quiet) or not sys.stderr.isatty() else _progress()
    result = scan(list(_all_files(files)), opened, canaries, words, limit, tell)
    write_output(json.dumps(result, indent=2) + "\n" if as_json else visible(_text(result)), out)
    if tell is not None:
        overwrite()
    is_found = any(entry["count"] for entry in (*result["canaries"], result["exact"], result["partial"]))
    return 1 if strict and is_found else 0


def _all_files(files: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and the files in folders, sorted by name."""
    for path in files:
        if path.is_dir():
            yield from (place for place in sorted(path.rglob("*")) if place.is_file() and not place.is_symlink())
        elif path.is_file():
            yield path
        elif path.exists():  # a pipe might never end
            raise DiaError(Diagnostic("E727", visible(f"`{path}` is neither a file nor a folder")))
        else:
            raise DiaError(Diagnostic("E727", visible(f"`{path}` does not exist")))


def _progress() -> OnProgress:
    """Return a callback that shows the file and how much of it was read."""

    def tell(file: str, size: int) -> None:
        overwrite(f"{visible(file)[-60:]}: {size / 1e6:,.0f} MB")

    return tell


def _text(result: ScanResult) -> str:
    lines = [f"{counted(len(result['files']), 'file')}, {counted(result['bytes'], 'byte')}"]
    for entry in result["canaries"]:
        lines += [f"canary {entry['canary']}: {counted(entry['count'], 'time')}", *_match_lines(entry)]
    if not (result["canaries"] or result["bundle"]):
        lines.append("found no canary written by dia; to search for prompts too, use --bundle")
    if result["bundle"]:
        exact, partial = result["exact"], result["partial"]
        lines += [
            f"whole prompts: {counted(exact['count'], 'time')}, from {counted(exact['questions'], 'question')}",
            *_match_lines(exact),
        ]
        head = (
            f"fragments of prompts: {counted(partial['count'], 'time')}, from "
            f"{counted(partial['questions'], 'question')}"
        )
        lines += [f"{head} and {counted(partial['templates'], 'template')}", *_match_lines(partial)]
        if result["too_short"]:
            lines.append(f"{counted(result['too_short'], 'question')} too short to search for")
    return "\n".join(lines) + "\n"


def _match_lines(matches: MatchesRecord) -> list[str]:
    lines = []
    for entry in matches["at"][:SHOWN]:
        what = entry.get("question") or entry.get("template") or ("instructions" if "runs" in entry else "")
        lines.append(f"  {entry['file']}:{entry['line']}, offset {entry['offset']}  {what}".rstrip())
    more = matches["count"] - len(lines)
    return [*lines, f"  and {more:,} more"] if more else lines
