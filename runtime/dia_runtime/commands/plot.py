"""`dia plot`: draw one plot of runs or of a bank."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, names_help, visible

from dia_runtime.commands.options import (
    PATH,
    GradingOptions,
    grading_options,
    json_option,
    options_object,
    runs_argument,
)
from dia_runtime.commands.terminal import echo

if TYPE_CHECKING:
    from dia_runtime.report.pictures.figures import PictureData

SUFFIXES = (".svg", ".png")
COMPARED = ("rs",)


class Kinds(click.Command):
    """A command whose help lists the kinds of plots."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the kinds of plots, each with its title."""
        from dia_runtime.report.pictures import pictures

        with formatter.section("Kinds"):
            formatter.write_dl([(name, picture.title) for name, picture in pictures().items()])


@dataclass(frozen=True)
class PlotOptions(GradingOptions):
    """The arguments of `dia plot`."""

    kind: str
    runs: tuple[Path, ...]
    out: Path
    bank: Path | None
    item: str | None
    as_json: bool


@click.command("plot", cls=Kinds)
@click.argument("kind")
@runs_argument
@click.option("-o", "--out", required=True, type=PATH, help="File to write: .svg or .png.")
@click.option("--bank", type=PATH, help="For item-curves: bank with the curves to draw; RUN has the observed replies.")
@click.option("--item", metavar="ID", help="For item-curves: draw the curve of this item alone.")
@grading_options
@json_option
@options_object(PlotOptions)
def command(options: PlotOptions) -> int:
    """Draw one plot of runs, or of a bank, as an .svg or .png file.

    To plot a bank, give its file instead of RUN. Only item-curves needs both: the bank as --bank, and the runs with the
    observed replies.

    An .svg contains a text description and adapts to light and dark backgrounds. A .png needs matplotlib.

    \b
    Example:
      dia plot leaderboard build/runs/dia_bench-oracle.run -o build/leaderboard.svg
    """
    from dia_runtime.commands.score import parse_points
    from dia_runtime.report.page.write import replaced
    from dia_runtime.report.pictures import pictures
    from dia_runtime.report.pictures.png import png
    from dia_runtime.report.pictures.svg import svg
    from dia_runtime.scoring.score import score

    kind, out = options.kind, options.out
    kinds = pictures()
    _require_known(kind, kinds)
    _require_suffix(out)
    needs = kinds[kind].needs
    if options.item is not None and kind != "item-curves":
        message = f"`--item` is for the plot item-curves, not for {kind}"
        raise DiaError(Diagnostic("E872", message, None, "leave it out"))
    if "bank" in needs:
        data: PictureData = _of_bank(options, "observed" in needs)
    else:
        compare = COMPARED if "comparisons" in needs else ()
        points = parse_points(options.points)
        result = score(
            list(options.runs), options.chain, points, options.errors, options.bundle, options.over, compare=compare
        )
        data = {"score": result}
    drawing = kinds[kind].draw(data)
    encoded = png(drawing) if out.suffix.lower() == ".png" else svg(drawing).encode()
    with replaced(out) as file:
        file.write(encoded)
    facts: dict[str, Any] = {"path": str(out), "kind": kind, "title": drawing.title, "description": drawing.description}
    facts |= {"width": drawing.width, "height": drawing.height, "bytes": len(encoded)}
    echo(json.dumps(facts, indent=2) if options.as_json else str(out))
    return 0


def _of_bank(options: PlotOptions, with_replies: bool) -> PictureData:
    """Return a bank, and how often the models of the runs solved its items, as the plots need them."""
    from dia_runtime.psychometrics.panel import observed, read_panel
    from dia_runtime.psychometrics.rasch.bank import as_record, read_bank

    if options.bank is None and (with_replies or len(options.runs) > 1):
        help = "name it with `--bank FILE`; `dia calibrate RUN...` writes one"
        raise DiaError(Diagnostic("E872", f"the plot {options.kind} needs a bank", None, help))
    bank = read_bank(options.runs[0] if options.bank is None else options.bank)
    if options.item is not None:
        names = [entry.item for entry in bank.items]
        if options.item not in names:
            message = visible(f"the bank has no item `{options.item[:80]}`")
            raise DiaError(Diagnostic("E872", message, None, names_help(options.item, names)))
    data: PictureData = {"bank": as_record(bank), "item": options.item}
    if with_replies:
        unit = "instances" if bank.unit == "columns" else bank.unit
        panel = read_panel(options.runs, unit, options.chain, options.bundle)
        data["observed"] = observed(panel, {entry.model: entry.ability for entry in bank.models})
    return data


def _require_known(kind: str, kinds: Any) -> None:
    if kind not in kinds:
        help = did_you_mean(kind, kinds) or f"the plots are {', '.join(kinds)}"
        raise DiaError(Diagnostic("E872", visible(f"unknown plot `{kind}`"), None, help))


def _require_suffix(out: Path) -> None:
    if out.suffix.lower() not in SUFFIXES:
        message = visible(f"the name of the file `{out}` must end in .svg or .png")
        raise DiaError(Diagnostic("E872", message, None, visible(f"for example `-o {out.with_suffix('.svg').name}`")))
