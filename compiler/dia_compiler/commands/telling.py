"""How commands print diagnostics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
from dia_runtime.language.diagnostics import Diagnostic, told


def is_quiet(ctx: click.Context) -> bool:
    """Whether -q was given, before or behind the command's name."""
    return bool(ctx.find_root().meta.get("dia.quiet"))


def is_verbose(ctx: click.Context) -> bool:
    """Whether -v was given, before or behind the command's name."""
    return bool(ctx.find_root().meta.get("dia.verbose"))


def print_diagnostics(entries: Iterable[Diagnostic], sources: Mapping[str, str]) -> None:
    """Prints each diagnostic with its excerpt on standard error."""
    for entry in entries:
        click.echo(told(entry, sources), err=True)


def diagnostics_json(entries: Iterable[Diagnostic]) -> str:
    """The diagnostics as one JSON object, `{"diagnostics": [...]}`."""
    return json.dumps({"diagnostics": [entry.as_json() for entry in entries]}, indent=2, ensure_ascii=False)


def github_lines(entries: Iterable[Diagnostic]) -> Iterable[str]:
    """The diagnostics as workflow commands that GitHub shows beside the lines of a change."""
    for entry in entries:
        place = entry.position
        where = f"file={_property(Path(place.file).as_posix())},line={place.line},col={place.column}," if place else ""
        text = entry.message + (f" - {entry.help}" if entry.help else "")
        yield f"::{entry.severity} {where}title={entry.code}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
