"""`dia verify`: the runtime's command, and `--recompile`, which needs the compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from dia_runtime.commands.progress import activity
from dia_runtime.commands.verify import command as runtime_command
from dia_runtime.commands.verify import is_vouched_for, print_verification, unpacked_folder, verification_facts

from dia_compiler.commands.programs import allow_programs


@click.command("verify")
@click.option("--recompile", is_flag=True, help="Compile the bundle again from its own specs and compare.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Number of worker processes for --recompile.")
@allow_programs
def command(
    bundle: Path,
    expect: str | None,
    public_key: Path | None,
    recompile: bool,
    jobs: int | None,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Find any changed, missing or added byte of a bundle.

    Says whether the bundle is complete (every listed file is there, and no other) and valid (every digest agrees), and
    names each file that is not. A bundle that `dia pack` made is verified as it is. With --recompile it is made again
    from its own specs, seed and k, and every difference is told. Exit code 3 where anything differs.

    \b
    Example:
      dia verify build/dia_bench-0.3.3-k5 --recompile
    """
    with unpacked_folder(bundle) as folder:
        with activity(f"verifying {bundle}"):
            facts = verification_facts(folder, expect, public_key, bundle)
        if recompile and not facts["problems"]:
            with activity(f"recompiling {bundle}"):
                facts["recompiled"] = _recompiled(folder, jobs, allow_programs)
    print_verification(facts, as_json, is_vouched_for(expect, public_key))
    if not as_json and "recompiled" in facts:
        _print_recompiled(facts["recompiled"])
    differs = facts["problems"] or (recompile and not facts.get("recompiled", {}).get("same"))
    return 3 if differs else 0


# What the runtime's own command takes, this one takes too.
command.params = [*runtime_command.params, *command.params]


def _recompiled(bundle: Path, jobs: int | None, programs: str) -> dict[str, Any]:
    from dia_compiler.recompile import recompile

    return recompile(bundle, jobs, programs)


def _print_recompiled(facts: dict[str, Any]) -> None:
    click.echo(f"  recompiled      {'the same bytes' if facts['same'] else 'other bytes'}")
    for difference in facts["differences"]:
        click.echo(f"  {difference}")
    if not facts["same"] and facts["versions"]:
        click.echo("  made with other versions: " + json.dumps(facts["versions"]))
