"""`dia audit`: the replies on which two chains differ."""

from __future__ import annotations

import json
from pathlib import Path

import click
from dia_language.counts import counted

from dia_runtime.commands.options import (
    PATH,
    bundle_option,
    format_option,
    json_option,
    out_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo


@click.command("audit")
@runs_argument
@click.option(
    "--chains",
    default="strict,compat",
    show_default=True,
    metavar="A,B",
    help="The two chains to compare: standard, strict, lenient or compat.",
)
@click.option(
    "--labelled",
    type=PATH,
    metavar="FILE",
    help='Compare verdicts with human labels instead: JSON Lines with "id" and "verdict".',
)
@bundle_option
@format_option("text", "csv", "markdown", help="Output format; CSV contains only the replies.")
@json_option
@out_option
def command(
    runs: tuple[Path, ...],
    chains: str,
    labelled: Path | None,
    bundle: Path | None,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """List every reply that two chains read or grade differently, and the effect on the figures.

    A chain is a way to read an answer from a reply: standard, strict, lenient or compat (if the answer format has it).
    For each reply you see what both chains read, which step decided, and the reply itself, shortened if it is long.
    With --labelled, the verdicts of the first chain (or of the judge, if the run has one) are compared with human
    verdicts on a sample. In the file of human verdicts, an "id" may omit the benchmark's name, and a line may add
    "model" and "attempt".

    \b
    Example:
      dia audit build/runs/dia_bench-oracle.run --chains strict,lenient
    """
    from dia_runtime.report.audit_tables import AGREEMENT_FORMATS, FORMATS
    from dia_runtime.scoring.agreement import agreement
    from dia_runtime.scoring.audit import audit

    named = [name.strip() for name in chains.split(",")]
    if labelled is not None:
        with activity("grading"):
            result_of_labels = agreement(list(runs), labelled, named[0], bundle)
        write_output(
            json.dumps(result_of_labels, indent=2) + "\n" if as_json else AGREEMENT_FORMATS[form](result_of_labels), out
        )
        if missing := result_of_labels["without_reply"]:
            of = counted(result_of_labels["labels"], "label")
            echo(f"warning: {missing:,} of {of} have no reply in the run; check their `model` and `attempt`", err=True)
        return 0
    with activity("grading"):
        result = audit(list(runs), named, bundle)
    write_output(json.dumps(result, indent=2) + "\n" if as_json else FORMATS[form](result), out)
    return 0
