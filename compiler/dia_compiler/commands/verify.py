"""`dia verify`: the runtime's command with `--recompile`, which needs the compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_runtime.commands.progress import activity
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo
from dia_runtime.commands.verify import command as runtime_command
from dia_runtime.commands.verify import is_vouched_for, print_verification, unpacked_folder, verification_facts

from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_runtime.bundle.verify import Recompiled


@click.command("verify")
@click.option("--recompile", is_flag=True, help="Compile the bundle again from its own specs and compare.")
@click.option("--jobs", type=IntRange(min=1), metavar="N", help="Number of worker processes for --recompile.")
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
    """Verify that no byte of a bundle was changed, removed or added, except in `provenance.json` and `signature.json`.

    Reports whether the bundle is complete (every listed file is there, and no other) and valid (every digest matches),
    and names each file that differs from the manifest. A bundle packed by `dia pack` is verified without unpacking it
    first. With --recompile, compiles the bundle again from its own specs, seed and k, and reports every difference.
    Exit code 3 if anything differs.

    \b
    Example:
      dia verify build/dia_bench-1.0.0-k5 --recompile
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
    differs = facts["problems"] or (recompile and not ("recompiled" in facts and facts["recompiled"]["same"]))
    return 3 if differs else 0


# All options of the runtime's own command.
command.params = [*runtime_command.params, *command.params]


def _recompiled(bundle: Path, jobs: int | None, programs: str) -> Recompiled:
    from dia_compiler.pipeline.recompile import recompile

    return recompile(bundle, jobs, programs)


def _print_recompiled(facts: Recompiled) -> None:
    echo(f"  recompiled      {'identical' if facts['same'] else 'different'}")
    for difference in facts["differences"]:
        echo(f"  {difference}")
    if not facts["same"] and facts["versions"]:
        echo("  compiled with different versions: " + json.dumps(facts["versions"]))
