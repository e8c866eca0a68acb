"""The registry of figures, the numbers that are computed for a model.

To add a figure, add an entry to `FIGURES`; docs/contributing/add-a-figure.md explains how. JSON, tables, the report and
its glossary, plots, the schema of `dia score --json`, the reference, intervals and comparisons are derived from these
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring import metrics
from dia_runtime.scoring.metrics import Aggregate, Ends, Parts, PointRange, Range, Shares, Tallies, VerdictMean


class Unit(Enum):
    """The unit of a figure: its factor for display, and its decimals in tables."""

    POINTS = (1, 1)
    SHARE = (100, 2)
    ITEMS = (1, 0)

    @property
    def factor(self) -> int:
        """Return the factor for display: shares are printed in percent."""
        return self.value[0]

    @property
    def places(self) -> int:
        """Return the number of decimals in tables."""
        return self.value[1]


class Family(Enum):
    """The subject of a figure; the glossary and the reference are ordered by it."""

    RELIABILITY = "reliability"
    ABSTENTION = "abstention"


class Leaderboard(NamedTuple):
    """The kind, for `dia plot`, and the title of a plot of all models by a figure."""

    kind: str
    title: str


PAGE_TABLES = ("leaderboard", "abstention", "selective")  # tables of the report that can have a figure as a column


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Figure:
    """One figure. An incomplete entry raises ValueError with what to add.

    - `name`: its key in JSON, and its name for `--compare`.
    - `label`: its name in text; `@k` in it becomes `@5` where k is 5.
    - `short`: its heading in tables, if that is not the label; shares have ` %` after it.
    - `meaning`: one sentence, for the schema and the reference.
    - `glossary`: one sentence for the glossary of the report, or empty. `{one}` and `{part}` become `item` and
      `instance` (over attempts, `question` and `attempt`), `{a_one}` becomes `an item`, and `{parts}` the instances
      of an item, such as `3 instances`. `{mean}` becomes `mean `, or nothing if items have one instance.
    - `unit`, `range`: its unit, and the range of its values; intervals depend on both.
    - `more_is_better`: whether a larger value is better; None if neither direction is.
    - `of_tallies`: the function that computes the contributions of items. Instead of it, `of_shares`: the same from
      shares of full marks, for figures of questions with partial credit. Such figures cannot be compared.
    - `of_unanswerable`: True to count only the unanswerable questions, False only the answerable ones of templates that
      have both; None, the default, counts all. The others are absent without such a template, and cannot be compared.
    - `least_instances`: the number of instances below which an item's contribution is always the same, which says
      nothing about other items.
    - `is_sum`: whether it is a sum over items instead of a mean.
    - `in_tables`: whether it is a column in the tables of `dia score`; `begins_part`: whether a new part of a wide
      table starts with it. `needs_instances`: whether the report omits it if items have a single instance.
    - `page_tables`: the tables of the report in which it is a column (`PAGE_TABLES`).
    - `leaderboard`: the plot of all models by this figure, if there is one.
    - `in_power`: whether `--power` reports its detectable differences; it must then be a `VerdictMean`.
    """

    name: str
    label: str
    meaning: str
    unit: Unit
    range: Range
    family: Family
    more_is_better: bool | None
    short: str = ""
    glossary: str = ""
    of_tallies: Callable[[Tallies], Parts] | None = None
    of_shares: Callable[[Shares], Parts] | None = None
    of_unanswerable: bool | None = None
    least_instances: int = 1
    is_sum: bool = False
    in_tables: bool = True
    begins_part: bool = False
    needs_instances: bool = False
    page_tables: tuple[str, ...] = ()
    leaderboard: Leaderboard | None = None
    in_power: bool = False

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            raise ValueError(f"the figure `{self.name}` is incomplete: {'; '.join(problems)}")

    def _problems(self) -> Iterator[str]:
        """Yield what the entry lacks."""
        if not self.name.isidentifier() or self.name != self.name.lower():
            yield "give a `name` of lowercase letters, digits and underscores"
        if not self.label:
            yield "give a `label`, its name in text"
        if not self.meaning.endswith("."):
            yield "give a `meaning`, one sentence with a full stop"
        if self.glossary and not self.glossary.endswith("."):
            yield "end the `glossary` with a full stop"
        if (self.of_tallies is None) == (self.of_shares is None):
            yield "give `of_tallies`, the function that computes it (or `of_shares`, not both)"
        if self.is_sum == (self.unit is Unit.SHARE):
            yield "a share is a mean over items, points and items are sums: correct `unit` or `is_sum`"
        if self.unit is Unit.SHARE and self.range not in (Range.SHARE, Range.BALANCE):
            yield "give the `range` of a share: Range.SHARE or Range.BALANCE"
        if unknown := set(self.page_tables) - set(PAGE_TABLES):
            yield f"`page_tables` names {sorted(unknown)}; there are {', '.join(PAGE_TABLES)}"
        if self.begins_part and not self.in_tables:
            yield "it begins a part of the tables, so set `in_tables`"
        if self.in_power and not isinstance(self.of_tallies, VerdictMean):
            yield "--power needs what each verdict is worth: `of_tallies=VerdictMean({...})`"
        if self.of_unanswerable is not None and (self.in_power or self.of_tallies is None):
            yield "`of_unanswerable` needs `of_tallies`, and no `in_power`"

    @property
    def is_compared(self) -> bool:
        """Return whether models can be compared by it on the same questions."""
        return self.of_tallies is not None and self.of_unanswerable is None

    @property
    def heading(self) -> str:
        """Its heading in text tables."""
        return (self.short or self.label) + (" %" if self.unit is Unit.SHARE else "")

    def label_at(self, k: int) -> str:
        """Return its label for items with k instances."""
        return self.label.replace("@k", f"@{k}")

    def heading_at(self, k: int) -> str:
        """Return its heading in the report."""
        return self.label_at(k) + (" %" if self.unit is Unit.SHARE else "")

    def aggregate(self, tallies: Tallies) -> Aggregate:
        """Return the figure of these tallies."""
        assert self.of_tallies is not None, f"`{self.name}` cannot be compared"
        aggregate = self.aggregate_of(self.of_tallies(tallies))
        is_fixed = all(tally.k < self.least_instances for tally in tallies)
        return replace(aggregate, range=Range.UNKNOWN) if is_fixed else aggregate

    def aggregate_of(self, parts: Parts) -> Aggregate:
        """Return the figure from the contributions of items."""
        return Aggregate(parts, self.is_sum, self.range)

    def ends(self, items: int, points: PointRange | None) -> Ends | None:
        """Return its lowest and highest possible value, over this many items with these points."""
        return self.range.ends(items, points)


def _registry(*figures: Figure) -> dict[str, Figure]:
    """Return the figures by name, in the order of JSON and tables."""
    return {figure.name: figure for figure in figures}


FIGURES = _registry(
    Figure(
        name="rs",
        label="RS@k",
        meaning="Reliability score RS@k: the sum over items of the mean points of their instances.",
        glossary="Reliability score: the sum over {one}s. Each {one} scores the {mean}points of its {parts}.",
        unit=Unit.POINTS,
        range=Range.POINTS,
        family=Family.RELIABILITY,
        more_is_better=True,
        of_tallies=metrics.rs,
        is_sum=True,
        page_tables=("leaderboard",),
        leaderboard=Leaderboard("leaderboard", "Reliability scores"),
    ),
    Figure(
        name="conf",
        label="Conf@k",
        meaning="Conf@k: share of items whose instances are all correct.",
        glossary="Share of {one}s whose {part}s are all correct.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.RELIABILITY,
        more_is_better=True,
        of_tallies=metrics.conf,
        needs_instances=True,
        page_tables=("leaderboard",),
    ),
    Figure(
        name="nms",
        label="NMS@k",
        meaning="Near misses NMS@k: number of items with at least 80 %, but not all, of their instances correct.",
        glossary="Near misses: number of {one}s with at least 80 %, but not all, of their {part}s correct.",
        unit=Unit.ITEMS,
        range=Range.COUNT,
        family=Family.RELIABILITY,
        more_is_better=None,
        of_tallies=metrics.nms,
        least_instances=5,
        is_sum=True,
        begins_part=True,
        needs_instances=True,
        page_tables=("leaderboard",),
    ),
    Figure(
        name="pass_at_k",
        label="Pass@k",
        meaning="Pass@k: share of items with at least one correct instance.",
        glossary="Share of {one}s with at least one correct {part}.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.RELIABILITY,
        more_is_better=True,
        of_tallies=metrics.pass_at,
        needs_instances=True,
        page_tables=("leaderboard",),
    ),
    Figure(
        name="trad_score",
        label="correct replies",
        short="correct",
        meaning="Share of correct replies.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=True,
        of_tallies=VerdictMean({Verdict.CORRECT: 1}),
        page_tables=("leaderboard", "abstention"),
        in_power=True,
    ),
    Figure(
        name="idk_score",
        label="abstention score",
        meaning="Mean of +1 for correct, 0 for skipped and -1 for any other reply; from -1 to 1.",
        glossary="Mean over replies: +1 for correct, 0 for skipped, −1 for anything else.",
        unit=Unit.SHARE,
        range=Range.BALANCE,
        family=Family.ABSTENTION,
        more_is_better=True,
        of_tallies=VerdictMean(
            {Verdict.CORRECT: 1, **{verdict: -1 for verdict in Verdict if verdict.counts_as_wrong}},
        ),
        page_tables=("leaderboard", "abstention"),
        in_power=True,
    ),
    Figure(
        name="idk_freq",
        label="abstained",
        meaning="Share of questions that were skipped.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=None,
        of_tallies=VerdictMean({Verdict.SKIPPED: 1}),
        begins_part=True,
        page_tables=("leaderboard", "abstention"),
    ),
    Figure(
        name="extract_fail",
        label="unparsed",
        meaning="Share of replies from which no answer could be read.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=False,
        of_tallies=VerdictMean({Verdict.UNPARSED: 1}),
    ),
    Figure(
        name="drop",
        label="drop",
        meaning="trad_score minus idk_score: the share of wrong or unparsed replies.",
        glossary="Correct replies minus the abstention score: the share of wrong or unparsed replies.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=False,
        of_tallies=VerdictMean({verdict: 1 for verdict in Verdict if verdict.counts_as_wrong}),
        in_tables=False,
        page_tables=("abstention",),
    ),
    Figure(
        name="coverage",
        label="coverage",
        meaning="Share of questions that were not skipped.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=None,
        of_tallies=VerdictMean(
            {Verdict.CORRECT: 1, **{verdict: 1 for verdict in Verdict if verdict.counts_as_wrong}},
        ),
        in_tables=False,
        page_tables=("selective",),
    ),
    Figure(
        name="accuracy_answered",
        label="correct if answered",
        meaning="Share of correct replies among the questions that were not skipped; null if all were skipped.",
        glossary="Share of correct replies among those that are not skipped; unparsed ones count as not correct.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=True,
        of_tallies=metrics.accuracy_answered,
        page_tables=("leaderboard", "selective"),
    ),
    Figure(
        name="correct_decline",
        label="correct declines",
        meaning="Share of the unanswerable questions that were declined, which is correct; absent if there are none.",
        glossary="Share of the unanswerable questions that were declined, as is right.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=True,
        of_tallies=VerdictMean({Verdict.CORRECT: 1}),
        of_unanswerable=True,
        begins_part=True,
        page_tables=("abstention",),
    ),
    Figure(
        name="false_decline",
        label="false declines",
        meaning="Share of the answerable questions that were declined, in templates that also have unanswerable "
        "questions; absent if there are no such templates.",
        glossary="Share of answerable questions that were declined, in templates that also have unanswerable ones.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=False,
        of_tallies=VerdictMean({Verdict.SKIPPED: 1}),
        of_unanswerable=False,
        page_tables=("abstention",),
    ),
    Figure(
        name="share",
        label="partial credit",
        meaning="Mean share of full marks, over questions with partial credit; absent if there are none.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.RELIABILITY,
        more_is_better=True,
        of_shares=metrics.mean_share,
        page_tables=("leaderboard",),
    ),
)


COMPARED = ("trad_score", "rs")  # the default figures for comparisons


def compared_figures() -> tuple[str, ...]:
    """Return the names of the figures by which models can be compared."""
    return tuple(name for name, figure in FIGURES.items() if figure.is_compared)


def page_figures(table: str, k: int = 2) -> list[Figure]:
    """Return the columns of a table of the report: points first, then shares, then counts."""
    figures = [figure for figure in FIGURES.values() if table in figure.page_tables]
    return _by_unit(figure for figure in figures if k > 1 or not figure.needs_instances)


def glossary_figures(k: int) -> list[Figure]:
    """Return the figures in the glossary of the report, ordered by family."""
    families = list(Family)
    figures = [figure for figure in FIGURES.values() if figure.glossary and (k > 1 or not figure.needs_instances)]
    return sorted(_by_unit(figures), key=lambda figure: families.index(figure.family))


def _by_unit(figures: Iterable[Figure]) -> list[Figure]:
    units = list(Unit)
    return sorted(figures, key=lambda figure: units.index(figure.unit))
