"""`dia link`: put two banks on one scale."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.diagnostics import visible

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.ranges import FloatRange
from dia_runtime.commands.terminal import echo

if TYPE_CHECKING:
    from dia_runtime.psychometrics.linking import LinkResult


@click.command("link")
@click.argument("first", metavar="BANK", type=PATH)
@click.argument("second", metavar="OTHER", type=PATH)
@click.option(
    "--drift",
    type=FloatRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of standard errors from which an item counts as drifted.",
)
@click.option("-o", "--out", type=PATH, help="File for OTHER on the scale of BANK.")
@json_option
def command(first: Path, second: Path, drift: float, out: Path | None, as_json: bool) -> int:
    """Put two banks on one scale by their common items.

    Prints the shift with its standard error, and the items that drifted. Items whose difference deviates too much from
    the others are removed from the link, one at a time. If the difficulties of one bank spread much less than those of
    the other, a shift alone cannot put them on one scale, and a warning says so.

    \b
    Example:
      dia link build/bank.json build/jml.json
    """
    from dia_runtime.psychometrics.linking import link_banks
    from dia_runtime.psychometrics.rasch.bank import has_other_questions, read_bank, write_bank
    from dia_runtime.report.scale_tables import link_tables
    from dia_runtime.report.tables import as_text

    bank, second_bank = read_bank(first), read_bank(second)
    result, moved = link_banks(bank, second_bank, drift)
    if out is not None:
        write_bank(moved, out)
    echo(json.dumps(asdict(result), indent=2) if as_json else as_text(link_tables(result)), nl=as_json)
    if result.has_other_unit:
        echo(f"warning: {visible(_unreliable(result, first, second))}", err=True)
    if has_other_questions(bank, second_bank.questions_root):
        echo(
            "note: the banks are about different questions; items with the same name are treated as the same item",
            err=True,
        )
    if out is not None:
        echo(f"note: wrote {visible(str(second))}, on the scale of {visible(str(first))}, to {out}", err=True)
    return 0


def _unreliable(result: LinkResult, first: Path, second: Path) -> str:
    """Return why a shift does not link the banks, and what to do."""
    (narrow, low), (wide, high) = sorted(zip((first, second), result.spreads, strict=True), key=lambda entry: entry[1])
    p = "p < 0.001" if result.spread_p < 0.001 else f"p = {result.spread_p:.3f}"
    return (
        f"the banks cannot be linked reliably: the items in common have difficulties with a standard deviation of "
        f"{high:.3g} logits in {wide}, but of only {low:.2g} in {narrow} ({p}). A shift cannot correct this: the "
        f"replies behind {narrow} hardly tell its items apart, or its models discriminate less. Calibrate it with more "
        "replies, or more models"
    )
