"""`dia score`: the figures of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, did_you_mean, visible

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
    price_option,
    quiet_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo

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
    """A command whose option `--compare` may be given without a value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments after adding the default figures. Raises DiaError (exit 2) for an unknown figure."""
        if not ctx.resilient_parsing:
            _require_figures_or_runs(args)
        return super().parse_args(ctx, with_default_figures(args))


def with_default_figures(words: Sequence[str]) -> list[str]:
    """Return the arguments with the default figures after each `--compare` that names none.

    >>> with_default_figures(["a.run", "--compare", "b.run"])
    ['a.run', '--compare', 'trad_score,rs', 'b.run']
    """
    from dia_runtime.scoring.figures import COMPARED

    spelled: list[str] = []
    for word, following in pairwise([*words, ""]):
        spelled.append(word)
        if word == "--compare" and not _has_figure(following):
            spelled.append(",".join(COMPARED))
    return spelled


def _has_figure(word: str) -> bool:
    """Return whether one of the names in a word after `--compare` is a figure; otherwise the word is a run."""
    return bool({*word.split(",")} & {*_comparable()})


def _comparable() -> tuple[str, ...]:
    from dia_runtime.scoring.figures import compared_figures
    from dia_runtime.scoring.tool_effects import TOOLS

    return (*compared_figures(), TOOLS)


def _require_figures_or_runs(words: Sequence[str]) -> None:
    """Raise DiaError (exit 2) for a word after `--compare` that is neither a figure nor an existing file."""
    for word, following in pairwise([*words, ""]):
        is_name = word == "--compare" and following and not following.startswith("-")
        if is_name and not _has_figure(following) and not Path(following).exists():
            message = visible(f"`{following}` is neither a figure nor a run")
            help = did_you_mean(following, _comparable()) or f"the figures are {', '.join(_comparable())}"
            raise DiaError(Diagnostic("E801", message, None, help))


@dataclass(frozen=True)
class ScoreOptions(GradingOptions):
    """The arguments of `dia score`."""

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
    prices: tuple[str, ...]
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
    choices=["paper", "dia-bench"],
    help="paper: grade as the published code of each study does (DIA-Bench, evaluate-idk, Self-Execution Benchmark; "
    "chain compat), and for conversations of the Self-Execution Benchmark, add its figures. dia-bench: grade as the "
    "text of the DIA-Bench paper says (chain strict), which differs from its code. Both count errors as wrong.",
)
@choice_option(
    "--ensemble",
    choices=["vote", "outcomes"],
    help="Add an ensemble of all models: the majority of their answers, or of their outcomes (correct, skipped or "
    "wrong).",
)
@choice_option(
    "--ties",
    choices=["skip", "first", "wrong"],
    default="skip",
    help="How the ensemble counts a tie: as an abstention, as the reply of the first model that gave one of the tied "
    "answers, or as wrong.",
)
@choice_option(
    "--skips",
    choices=["count", "ignore"],
    default="count",
    help="Whether an abstention is a vote, or is ignored while other models answer.",
)
@click.option("--by", multiple=True, metavar="LABEL", help="Also print the figures by this label. Repeatable.")
@choice_option(
    "--interval",
    choices=["bca", "percentile", "bound", "none"],
    default="bca",
    help="Method for 95 % confidence intervals. bca, percentile: bootstrap over items. bound: a conservative bound "
    "instead of a bootstrap; it is wider, because it allows for values that no item showed. If the items are too few "
    "or too alike for bca, bound is used in its place, for figures that have one (docs/explanation/uncertainty.md).",
)
@click.option(
    "--resamples", type=int, default=10_000, show_default=True, metavar="N", help="Number of bootstrap resamples."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the bootstrap.")
@click.option(
    "--compare",
    multiple=True,
    metavar="[FIGURE]",
    help="Compare all pairs of models on the same questions by this figure (default: both trad_score, which is the "
    "share of correct replies, and rs, the reliability score). `--compare tools` compares each model's runs with tools "
    "to its runs without. Repeatable.",
)
@labels_option
@price_option
@click.option(
    "--bank",
    "--abilities",
    "bank",
    type=PATH,
    metavar="FILE",
    help="Correlate figures of sessions with the models' abilities in this bank.",
)
@click.option("--power", is_flag=True, help="Print the smallest differences that the benchmark can detect.")
@click.option(
    "--difference",
    type=float,
    metavar="SHARE",
    help="Print how many items are needed to detect this difference (0.05: five percentage points).",
)
@click.option(
    "--show",
    multiple=True,
    type=click.Choice(["selective", "mistakes"]),
    help="Additional tables: selective prediction, or named mistakes. Repeatable.",
)
@choice_option(
    "--tables",
    choices=["summary", "all"],
    default="summary",
    help="summary: one ranked table and what stands out in it. all: every figure, by category, domain, level and "
    "variant. The formats csv, markdown and latex always contain all tables.",
)
@format_option("text", "csv", "markdown", "latex")
@json_option
@out_option
@quiet_option("notes")
@options_object(ScoreOptions)
def command(options: ScoreOptions) -> int:
    """Grade the replies of runs and print their figures.

    The first table ranks the models by RS@k, the reliability score, with its 95 % confidence interval. After it comes
    what stands out: uncertain ranks, unparsed or truncated replies, errors. Tables show shares in percent; JSON has
    values between 0 and 1. While a run has errors, a figure is printed as a range, from its value if they are all wrong
    to its value if they are all correct.

    Labels for --by: category, domain, level, skill, variant, template, item, adversarial (what could mislead the
    model), number (the number that a published benchmark gave the template); and for models, those in the file of
    --labels.

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
            prices=options.prices,
        )
    write_output(_output(result, options), options.out)
    if not is_quiet(options.quiet):
        is_summary = not options.as_json and options.form == "text" and options.tables == "summary"
        for note in [*notes_on_rules(result), *([] if is_summary else notes_on_gaps(result))]:
            echo(f"note: {visible(note)}", err=True)
    return 0


def _output(result: Score, options: ScoreOptions) -> str:
    """Return the result in the form that the options ask for."""
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
    """Return all tables. In CSV, an empty line separates tables with different columns."""
    from dia_runtime.report import tables
    from dia_runtime.report.comparison_tables import SHOWS, comparison_tables, models_by, variant_tables
    from dia_runtime.report.session_tables import session_tables
    from dia_runtime.report.usage_tables import usage_tables

    result = tables.with_own_names(result)
    other_labels = [label for label in by if label not in result["by_respondent"]]
    figures = tables.score_tables(result, other_labels)[: 1 if by and not other_labels else None]
    effects = [] if other_labels and "variant" not in other_labels else variant_tables(result)
    more = [*usage_tables(result), *effects, *(table for name in show for table in SHOWS[name](result))]
    more += comparison_tables(models_by(result, by))
    more += [] if by else session_tables(result)
    if form == "csv":
        return "\n".join([tables.as_csv(figures), *map(tables.as_rows, more)])
    return tables.FORMATS[form]([*figures, *([] if by else tables.ladder_tables(result)), *more])


def parse_points(texts: Iterable[str]) -> dict[str, str]:
    """Return the points of each verdict from texts such as `wrong=-1` or `wrong=-1,skipped=0`."""
    points = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, sign, value = text.partition("=")
        if not sign:
            help = "write a verdict and its points, for example `--points wrong=-1`"
            raise DiaError(
                Diagnostic("E811", visible(f"`--points {text}` does not have the form VERDICT=N"), None, help)
            )
        points[name.strip()] = value.strip()
    return points


def notes_on_rules(result: Score) -> Iterator[str]:
    """Report points that the models were not given, items of different sizes, and models that the bank lacks."""
    from dia_runtime.report.tables import with_own_names

    if result["points_differ"]:
        prompted = "; ".join(
            " ".join(f"{name}={value}" for name, value in points.items()) for points in result["points_told"]
        )
        changed = " ".join(f"{name}={value}" for name, value in result["points"].items())
        yield (
            f"the points {changed} differ from the benchmark's ({prompted}): if the prompts stated {changed}, models "
            "might abstain at a different rate"
        )
    if result["k_varies"]:
        items, many = ("questions", "attempts") if result["over"] == "attempts" else ("items", "instances")
        yield f"not all {items} have the same number of {many}, but all of them count the same in RS"
    for model in with_own_names(result)["models"]:
        if model.get("ability", model) is None:
            yield f"{model['model']}: not in the bank, so correlations with ability leave it out"


def notes_on_gaps(result: Score) -> Iterator[str]:
    """Report questions that were not asked or ended in an error, which the summary lists among its findings."""
    from dia_runtime.report.tables import with_own_names

    variants = " (not counting variants)" if result["has_variants"] else ""
    for model in with_own_names(result)["models"]:
        missing, errors = model["missing"], model["counts"]["error"]
        for entry in model.get("left_out", ()):
            missing -= entry["questions"]
            number = counted(entry["questions"], "question")
            yield f"{model['model']}: {number} not asked{variants}, which no figure counts: {entry['why']}"
        if missing > 0:
            yield f"{model['model']}: {counted(missing, 'question')} never asked{variants}; no figure counts them"
        for change in model.get("request_changes", ()):
            yield f"{model['model']}: {change['change']}, in {counted(change['replies'], 'request')}"
        if errors:
            failed = "question" if errors == 1 else "questions"
            yield (
                f"{model['model']}: {counted(errors, 'error')}; "
                f"to ask the failed {failed} again, repeat the `dia run` command"
            )
