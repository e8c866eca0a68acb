"""`dia explain`: explain item difficulties by parameters and skills."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import click

from dia_runtime.commands.options import (
    PATH,
    SEED,
    bundle_option,
    chain_option,
    format_option,
    is_quiet,
    json_option,
    out_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo


@click.command("explain")
@runs_argument
@click.option("--bank", required=True, type=PATH, help="Bank calibrated from these runs.")
@bundle_option
@chain_option
@click.option("--folds", type=IntRange(2, 100), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the folds.")
@click.option(
    "--save", type=PATH, metavar="FILE", help="Write the bank with this explanation, for `dia compile --success`."
)
@format_option("text", "markdown", "latex", help="Output format.")
@json_option
@out_option
def command(
    runs: tuple[Path, ...],
    bank: Path,
    bundle: Path | None,
    chain: str,
    folds: int,
    seed: int,
    save: Path | None,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """Explain item difficulties by skills and template parameters.

    Effects are in logits; for numeric parameters, per standard deviation. Parameters are used for templates of which
    the bank has at least ten items (by default, a bank's items are instances). A model's slope shows how fast its
    success changes with difficulty. With --save, the bank remembers the explanation and the slopes, and `dia compile
    --success` can choose instances by their predicted difficulty.

    \b
    Example:
      dia explain idk.run --bank build/bank.json
    """
    from dia_runtime.psychometrics.explain import explain
    from dia_runtime.psychometrics.panel import UNITS, read_panel
    from dia_runtime.psychometrics.rasch.bank import read_bank, write_bank
    from dia_runtime.psychometrics.rasch.estimate import calibration_error
    from dia_runtime.report.scale_tables import explain_tables
    from dia_runtime.report.tables import FORMATS

    source_bank = read_bank(bank)
    if source_bank.unit not in UNITS:
        raise calibration_error(
            "this bank was calibrated from a table, which has no parameters", "calibrate the bank from runs"
        )
    with activity("explaining"):
        panel = read_panel(runs, source_bank.unit, chain, bundle)
        explanation = explain(panel, source_bank, folds, seed)
    result = explanation.result
    if save is not None:
        write_bank(replace(source_bank, explanation=explanation.as_record()), save)
    write_output(json.dumps(asdict(result), indent=2) + "\n" if as_json else FORMATS[form](explain_tables(result)), out)
    for note in () if is_quiet(False) else panel.notes:
        echo(f"note: {note}", err=True)
    return 0
