"""`dia doctor`: show what is installed and what is missing."""

from __future__ import annotations

import json
import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

import click
from dia_language.diagnostics import counted, install_extra
from dia_language.plugins import GROUPS
from dia_runtime.commands.terminal import echo

from dia_compiler.analyze.host_requirements import EXTRAS, lacks

LIBRARIES = (
    "aiohttp", "click", "cryptography", "google-re2", "jinja2", "jsonschema", "jsonschema-rs", "networkx", "numpy",
    "pycryptodome", "pyyaml", "rfc8785", "rich", "scipy", "sympy", "zstandard",
)  # fmt: skip
TOOLS = ("bash", "bwrap", "gp", "node", "perl", "php", "ruby", "unshare")
KEY = "_API_KEY"


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def command(as_json: bool) -> int:
    """Show versions, extras, tools, plug-ins and API keys (by name only).

    \b
    Example:
      dia doctor
    """
    facts = installation()
    if as_json:
        echo(json.dumps(facts, indent=2))
        return 0
    echo(f"dia {facts['dia']}, Python {facts['python']} ({facts['implementation']}), {counted(facts['cores'], 'core')}")
    _print("libraries", {name: installed or "missing" for name, installed in facts["libraries"].items()})
    _print(
        "extras",
        {name: installed or f"missing: {install_extra(name)}" for name, installed in facts["extras"].items()},
    )
    _print("tools", {name: "found" if is_here else "missing" for name, is_here in facts["tools"].items()})
    programs = facts["programs"]
    _print(
        "sandbox and interpreters for programs in specs",
        {"sandbox": programs["confinement"] or "missing: programs run only with `--allow-programs=unconfined`"}
        | {name: interpreter or "missing" for name, interpreter in programs["interpreters"].items()},
    )
    _print("plug-ins", {f"{item['name']} ({item['group']})": item["package"] for item in facts["plugins"]})
    _print("API keys", dict.fromkeys(facts["keys"], "set"))
    if not facts["has_fast_yaml"]:
        echo("PyYAML was built without libyaml: specs are read about 14 times slower", err=True)
    return 0


def installation() -> dict[str, Any]:
    """Return the facts that `dia doctor --json` prints; keys are given by name only."""
    import yaml

    return {
        "dia": version("dia-spec"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "cores": os.cpu_count() or 1,
        "has_fast_yaml": bool(yaml.__with_libyaml__),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "extras": {name: None if lacks("extra", name, Path()) else "installed" for name in sorted(EXTRAS)},
        "tools": {name: shutil.which(name) is not None for name in TOOLS},
        "programs": programs_here(),
        "plugins": [
            {"group": group, "name": point.name, "package": point.dist.metadata["Name"] if point.dist else ""}
            for group in GROUPS
            for point in sorted(entry_points(group=group), key=lambda point: point.name)
        ],
        "keys": sorted({name for name in os.environ if name.endswith(KEY)} | _names_in_env_file()),
    }


def programs_here() -> dict[str, Any]:
    """Return the sandbox for programs of specs on this machine, and the installed interpreters."""
    from dia_language.confinement.interpreters import LANGUAGES, version_of
    from dia_language.confinement.sandboxes import confinement

    sandbox = confinement()
    interpreters = {name: version_of(name) for name, language in LANGUAGES.items() if language.commands}
    return {"confinement": sandbox.name if sandbox is not None else None, "interpreters": interpreters}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _names_in_env_file() -> set[str]:
    """Return the names of keys in the `.env` of the current folder, without reading their values."""
    try:
        lines = Path(".env").read_text(encoding="utf-8", errors="replace")[:100_000].splitlines()
    except OSError:
        return set()
    names = {line.removeprefix("export ").partition("=")[0].strip() for line in lines if "=" in line}
    return {name for name in names if name.endswith(KEY) and name.isidentifier()}


def _print(title: str, table: dict[str, str]) -> None:
    echo(click.style(title, bold=True) + ("" if table else ": none"), is_styled=True)
    width = max(map(len, table), default=0)
    for name, value in table.items():
        echo(f"  {name.ljust(width)}  {value}")
