"""`dia check`: every fault of every spec."""

from __future__ import annotations

from pathlib import Path

import click

from dia_compiler.commands.telling import diagnostics_json, github_lines, print_diagnostics


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True,
              help="How faults are printed.")  # fmt: skip
@click.option("--strict", is_flag=True, help="End with exit code 1 when there are warnings.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes (default: all cores).")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(paths: tuple[Path, ...], form: str, strict: bool, jobs: int | None, as_json: bool) -> int:
    """Find every fault of every spec, with its place and its mend.

    Runs the worked examples of each template and makes three of its instances; writes nothing.

    \b
    Example:
      dia check specs/
    """
    from dia_compiler.compile import check_specs

    checked = check_specs(list(paths), jobs)
    found = checked.faults.ordered(checked.sources)
    errors = [entry for entry in found if entry.severity == "error"]
    if as_json or form == "json":
        click.echo(diagnostics_json(found))
    elif form == "github":
        for line in github_lines(found):
            click.echo(line)
    else:
        print_diagnostics(found, checked.sources)
        for item in checked.benchmarks:
            for left in item.left_out:
                click.echo(f"left out: {left.template} needs {left.why}", err=True)
        templates = sum(len(item.benchmark.templates) for item in checked.benchmarks)
        warnings = len(found) - len(errors)
        counts = ((templates, "template"), (len(errors), "error"), (warnings, "warning"))
        click.echo(", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts))
    if errors:
        return 2
    return 1 if strict and found else 0
