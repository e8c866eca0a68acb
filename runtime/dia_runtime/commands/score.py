"""`dia score`: the figures of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.commands.options import (
    PATH,
    GradingOptions,
    as_json_text,
    choice_option,
    format_option,
    grading_options,
    is_quiet,
    json_option,
    labels_option,
    options_object,
    out_option,
    quiet_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity

if TYPE_CHECKING:
    from dia_runtime.scoring.results import Score


STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "heading": {"dim": True},
    "warning": {"fg": "yellow"},
    "error": {"fg": "red"},
    "clear": {"fg": "green"},
    "command": {"fg": "cyan"},
}


def _painted(text: str, role: str) -> str:
    """Return the text in the colour of its role; `write_output` removes colours where nothing shows them."""
    return click.style(text, **STYLES[role])


class _Score(click.Command):
    """A command whose option `--compare` may stand without a word behind it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments that are left, as click reads them."""
        return super().parse_args(ctx, with_default_figures(args))


def with_default_figures(words: Sequence[str]) -> list[str]:
    """The words with the usual figures behind a `--compare` that names none: what follows it is then a run.

    >>> spelled_out(["a.run", "--compare", "b.run"])
    ['a.run', '--compare', 'trad_score,rs', 'b.run']
    """
    from dia_runtime.scoring.figures import COMPARED, compared_figures

    spelled: list[str] = []
    for at, word in enumerate(words):
        spelled.append(word)
        following = words[at + 1] if at + 1 < len(words) else ""
        if word == "--compare" and not set(following.split(",")) & set(compared_figures()):
            spelled.append(",".join(COMPARED))
    return spelled


@dataclass(frozen=True)
class ScoreOptions(GradingOptions):
    """What `dia score` is given."""

    runs: tuple[Path, ...]
    preset: str | None
    ensemble: str | None
    ties: str
    skips: str
    by: tuple[str, ...]
    interval: str
    resamples: int
    seed: int
    compare: tuple[str, ...]
    labels: Path | None
    bank: Path | None
    power: bool
    difference: float | None
    show: tuple[str, ...]
    tables: str
    form: str
    as_json: bool
    out: Path | None
    quiet: bool


@click.command("score", cls=_Score)
@runs_argument
@grading_options
@choice_option(
    "--preset",
    choices=["paper"],
    help="Read as the published evaluators did, and add the figures of a published study.",
)
@choice_option(
    "--ensemble",
    choices=["vote", "outcomes"],
    help="Add all models as one: by the answer, or the outcome, that most gave.",
)
@choice_option(
    "--ties",
    choices=["skip", "first", "wrong"],
    default="skip",
    help="What a tie of the ensemble becomes; first: what the first of those models said.",
)
@choice_option(
    "--skips",
    choices=["count", "ignore"],
    default="count",
    help="Whether a skip votes, or is silent while others answer.",
)
@click.option("--by", multiple=True, metavar="LABEL", help="Print the figures by this label. Repeatable.")
@choice_option(
    "--interval",
    choices=["bca", "percentile", "none"],
    default="bca",
    help="How intervals of 95 % come from resampled items.",
)
@click.option(
    "--resamples", type=int, default=10_000, show_default=True, metavar="N", help="Resample the items so often."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Begin the resamples there.")
@click.option(
    "--compare",
    multiple=True,
    metavar="[FIGURE]",
    help="Compare all pairs of models on the same questions by this figure (trad_score and rs). Repeatable.",
)
@labels_option
@click.option(
    "--bank",
    "--abilities",
    "bank",
    type=PATH,
    metavar="FILE",
    help="Correlate figures of sessions with the abilities that this bank has of the models.",
)
@click.option("--power", is_flag=True, help="Say which differences the benchmark can see.")
@click.option(
    "--difference", type=float, metavar="SHARE", help="Say what it takes to see this one (0.05: five percent)."
)
@click.option(
    "--show",
    multiple=True,
    type=click.Choice(["selective", "mistakes"]),
    help="Print more: what abstaining brings; what named mistakes explain. Repeatable.",
)
@choice_option(
    "--tables",
    choices=["summary", "all"],
    default="summary",
    help="summary: one ranked table and what stands out in it. all: every figure, by category, domain, level and "
    "variant. The other formats always contain all tables.",
)
@format_option("text", "csv", "markdown", "latex")
@json_option
@out_option
@quiet_option("notes")
@options_object(ScoreOptions)
def command(options: ScoreOptions) -> int:
    """Grade the replies of runs and print the figures.

    Tables print shares in percent, with standard errors and intervals of 95 %; JSON holds them between 0 and 1.
    While a run has errors, a figure is printed as the two ends that it can still come to. Labels to group by are
    category, domain, level, skill, variant, template, item, adversarial and number, and those of `--labels`.

    \b
    Example:
      dia score build/runs/dia_bench-oracle.run
    """
    from dia_runtime.scoring.ensemble import Policy
    from dia_runtime.scoring.score import score

    policy = Policy(options.ensemble, options.ties, options.skips) if options.ensemble else None
    with activity("grading", options.quiet):
        result = score(
            list(options.runs),
            options.chain,
            parse_points(options.points),
            options.errors,
            options.bundle,
            options.over,
            options.by,
            policy,
            interval=options.interval,
            resamples=options.resamples,
            seed=options.seed,
            compare=[name for names in options.compare for name in names.split(",")],
            labels=options.labels,
            power=options.power or options.difference is not None,
            difference=options.difference,
            preset=options.preset,
            bank=options.bank,
        )
    write_output(_output(result, options), options.out)
    if not is_quiet(options.quiet):
        is_summary = not options.as_json and options.form == "text" and options.tables == "summary"
        for note in [*notes_on_rules(result), *([] if is_summary else notes_on_gaps(result))]:
            click.echo(f"note: {visible(note)}", err=True)
    return 0


def _output(result: Score, options: ScoreOptions) -> str:
    """The result in the form that the options ask for."""
    if options.as_json:
        return as_json_text(result)
    if options.form != "text" or options.tables == "all":
        return all_tables(result, options.by, options.show, options.form)
    from dia_runtime.report.score_screen import score_screen
    from dia_runtime.report.screens import WIDTH, plain

    width = WIDTH if options.out else get_terminal_size((WIDTH, 24)).columns
    paint = plain if options.out else _painted
    return score_screen(result, options.by, options.show, width, paint, has_notes=not is_quiet(options.quiet))


def all_tables(result: Score, by: Sequence[str], show: Sequence[str], form: str) -> str:
    """The tables; of CSV those of other kinds come behind an empty line each."""
    from dia_runtime.report import tables
    from dia_runtime.report.comparison_tables import SHOWS, comparison_tables, models_by, variant_tables
    from dia_runtime.report.session_tables import session_tables

    result = tables.with_own_names(result)
    other_labels = [label for label in by if label not in result["by_respondent"]]
    figures = tables.score_tables(result, other_labels)[: 1 if by and not other_labels else None]
    effects = [] if other_labels and "variant" not in other_labels else variant_tables(result)
    more = [*effects, *(table for name in show for table in SHOWS[name](result))]
    more += comparison_tables(models_by(result, by))
    more += [] if by else session_tables(result)
    if form == "csv":
        return "\n".join([tables.as_csv(figures), *map(tables.as_rows, more)])
    return tables.FORMATS[form]([*figures, *([] if by else tables.ladder_tables(result)), *more])


def parse_points(texts: Iterable[str]) -> dict[str, str]:
    """Verdict -> points, from `wrong=-1` or `wrong=-1,skipped=0`."""
    points = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, sign, value = text.partition("=")
        if not sign:
            help = "write a verdict and its points: `--points wrong=-1`"
            raise DiaError(Diagnostic("E811", visible(f"`{text}` sets no points"), None, help))
        points[name.strip()] = value.strip()
    return points


def notes(result: Score) -> list[str]:
    """Return what a reader of the tables must know."""
    return [*notes_on_rules(result), *notes_on_gaps(result)]


def notes_on_rules(result: Score) -> Iterator[str]:
    """Report points that the models were not given, items of different sizes, and models that the bank lacks."""
    from dia_runtime.report.tables import with_own_names

    if result["points_differ"]:
        prompted = "; ".join(
            " ".join(f"{name}={value}" for name, value in points.items()) for points in result["points_told"]
        )
        changed = " ".join(f"{name}={value}" for name, value in result["points"].items())
        yield (
            f"the points {changed} differ from those in the prompts ({prompted}): with them, models might have "
            "abstained more or less often"
        )
    if result["k_varies"]:
        items, many = ("questions", "attempts") if result["over"] == "attempts" else ("items", "instances")
        yield f"not all {items} have the same number of {many}: RS is the sum of the mean points of the {items}"
    for model in with_own_names(result)["models"]:
        if model.get("ability", model) is None:
            yield f"{model['model']}: not in the bank, so correlations with ability leave it out"


def notes_on_gaps(result: Score) -> Iterator[str]:
    """Report questions that were not asked or ended in an error; the summary lists them among what stands out."""
    from dia_runtime.report.tables import counted, with_own_names

    for model in with_own_names(result)["models"]:
        missing, errors = model["missing"], model["counts"]["error"]
        if missing:
            yield f"{model['model']}: {counted(missing, 'question')} never asked; no figure counts them"
        if errors:
            yield f"{model['model']}: {counted(errors, 'error')}; the same `dia run` command asks these questions again"
