"""`dia explain`: difficulty by parameters and skills."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from dia_runtime.commands.options import (
    PATH,
    SEED,
    bundle_option,
    chain_option,
    format_option,
    json_option,
    out_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity


@click.command("explain")
@runs_argument
@click.option("--bank", required=True, type=PATH, help="The bank that was calibrated from them.")
@bundle_option
@chain_option
@click.option("--folds", type=click.IntRange(2, 100), default=5, show_default=True, help="Parts that are held out.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the parts.")
@format_option("text", "markdown", "latex", help="The form of the table.")
@json_option
@out_option
def command(
    runs: tuple[Path, ...],
    bank: Path,
    bundle: Path | None,
    chain: str,
    folds: int,
    seed: int,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """Explain difficulties by the skills that items need and the parameters they were made with.

    Each effect is in logits; that of a number is for a step of one standard deviation. Templates with ten or more
    items have their parameters looked at.

    \b
    Example:
      dia explain idk.run --bank build/bank.json
    """
    from dia_runtime.psychometrics.explain import explain
    from dia_runtime.psychometrics.panel import UNITS, read_panel
    from dia_runtime.psychometrics.rasch.bank import read_bank
    from dia_runtime.psychometrics.rasch.estimate import calibration_error
    from dia_runtime.report.scale_tables import explain_tables
    from dia_runtime.report.tables import FORMATS

    source_bank = read_bank(bank)
    if source_bank.unit not in UNITS:
        raise calibration_error("a bank of a table's columns knows no parameters", "calibrate runs")
    with activity("explaining"):
        result = explain(read_panel(runs, source_bank.unit, chain, bundle), source_bank, folds, seed).result
    write_output(json.dumps(asdict(result), indent=2) + "\n" if as_json else FORMATS[form](explain_tables(result)), out)
    return 0
