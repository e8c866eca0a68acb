"""The registry of figures: whatever is computed, printed, drawn, described or compared of a model by name.

To add a figure, add an entry to `FIGURES`; CONTRIBUTING.md says how. JSON, tables, the report and its glossary,
pictures, the schema of `dia score --json`, the reference, intervals and comparisons are made of these entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring import metrics
from dia_runtime.scoring.metrics import Aggregate, Ends, Parts, Range, Shares, Tallies, VerdictMean


class Unit(Enum):
    """What a figure counts: by what it is multiplied for readers, and its decimals in tables."""

    POINTS = (1, 1)
    SHARE = (100, 2)
    ITEMS = (1, 0)

    @property
    def factor(self) -> int:
        """By what values are multiplied for readers: shares are printed in percent."""
        return self.value[0]

    @property
    def places(self) -> int:
        """The decimals of a value in tables."""
        return self.value[1]


class Family(Enum):
    """What a figure is about; the glossary and the reference list the families one after the other."""

    RELIABILITY = "reliability"
    ABSTENTION = "abstention"


class Leaderboard(NamedTuple):
    """The kind of a picture of all models by a figure, as `dia plot` knows it, and the picture's title."""

    kind: str
    title: str


PAGE_TABLES = ("leaderboard", "abstention", "selective")  # tables of the report in which a figure may be a column


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Figure:
    """One figure. A wrong or incomplete entry raises ValueError, which says what to add.

    - `name`: its key in JSON, and what `--compare` takes.
    - `label`: its name in text; `@k` in it becomes `@5` where k is 5.
    - `short`: its heading in tables, where that is not the label; shares have ` %` after it.
    - `meaning`: one sentence, for the schema and the reference.
    - `glossary`: one sentence for the glossary of the report, or nothing. `{one}` and `{part}` become `item` and
      `instance`, or what these are over attempts, `{a_one}` becomes `an item`, and `{k}` their number.
    - `unit`, `range`: what it counts, and between which values it lies; both decide about intervals.
    - `more_is_better`: whether a larger value is better; None where neither is.
    - `of_tallies`: the function that gives what items contribute. Without it, `of_shares`: the same of the shares of
      full marks, for a figure that only models with such answers have. Figures of shares cannot be compared.
    - `is_sum`: whether it is the sum over items instead of the mean over their values.
    - `in_tables`: whether the tables of `dia score` have it as a column; `begins_part`: whether a part of a wide table
      begins with it. `needs_instances`: whether the report leaves it out where items have a single instance.
    - `page_tables`: in which tables of the report it is a column (`PAGE_TABLES`).
    - `leaderboard`: the picture of all models by this figure, if there is one.
    - `in_power`: whether `--power` says which differences of it can be seen; it must then be a `VerdictMean`.
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
        """What the entry lacks."""
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

    @property
    def is_compared(self) -> bool:
        """Whether models can be compared by it on the same questions."""
        return self.of_tallies is not None

    @property
    def heading(self) -> str:
        """Its heading in tables of text."""
        return (self.short or self.label) + (" %" if self.unit is Unit.SHARE else "")

    def label_at(self, k: int) -> str:
        """Its name where items have k instances."""
        return self.label.replace("@k", f"@{k}")

    def heading_at(self, k: int) -> str:
        """Its heading in the report."""
        return self.label_at(k) + (" %" if self.unit is Unit.SHARE else "")

    def aggregate(self, tallies: Tallies) -> Aggregate:
        """The figure of these tallies."""
        assert self.of_tallies is not None, f"`{self.name}` cannot be compared"
        return self.aggregate_of(self.of_tallies(tallies))

    def aggregate_of(self, parts: Parts) -> Aggregate:
        """The figure to which items contribute these parts."""
        return Aggregate(parts, self.is_sum, self.range)

    def ends(self, items: int, points: Ends | None) -> Ends | None:
        """Between which values it lies, over so many items of questions that give these points."""
        return self.range.ends(items, points)


def _registry(*figures: Figure) -> dict[str, Figure]:
    """Name -> figure, in the order of JSON and tables."""
    return {figure.name: figure for figure in figures}


FIGURES = _registry(
    Figure(
        name="rs",
        label="RS@k",
        meaning="RS@k: sum over items of the mean points.",
        glossary="Reliability score: the sum over {one}s of the mean points of {a_one}'s {k} {part}s.",
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
        meaning="Conf@k, a share.",
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
        meaning="NMS@k, a number of items.",
        glossary="Near misses: {one}s of which at least 80 %, but not all, {part}s are correct.",
        unit=Unit.ITEMS,
        range=Range.UNKNOWN,  # it is 0 for certain where items have few instances
        family=Family.RELIABILITY,
        more_is_better=None,
        of_tallies=metrics.nms,
        is_sum=True,
        begins_part=True,
        needs_instances=True,
        page_tables=("leaderboard",),
    ),
    Figure(
        name="pass_at_k",
        label="Pass@k",
        meaning="Pass@k, a share.",
        glossary="Share of {one}s of which at least one {part} is correct.",
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
        label="right replies",
        short="trad",
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
        short="idk",
        meaning="+1 correct, 0 skipped, -1 else; from -1 to 1.",
        glossary="Mean over questions of +1 for correct, 0 for skipped, −1 for anything else.",
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
        meaning="Share of abstentions.",
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
        label="unread",
        meaning="Share of replies from which nothing could be read.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=False,
        of_tallies=VerdictMean({Verdict.UNPARSED: 1}),
    ),
    Figure(
        name="drop",
        label="drop",
        meaning="trad_score less idk_score: share of questions answered, and not rightly.",
        glossary="Right replies less the abstention score: the share of questions answered, and not rightly.",
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
        label="right if answered",
        meaning="Share of right replies among the questions that were not skipped; null where all were.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.ABSTENTION,
        more_is_better=True,
        of_tallies=metrics.accuracy_answered,
        page_tables=("leaderboard", "selective"),
    ),
    Figure(
        name="share",
        label="marks",
        meaning="Mean share of full marks, over the questions whose answers declare one; absent where none does.",
        unit=Unit.SHARE,
        range=Range.SHARE,
        family=Family.RELIABILITY,
        more_is_better=True,
        of_shares=metrics.mean_share,
        page_tables=("leaderboard",),
    ),
)


COMPARED = ("trad_score", "rs")  # by which models are compared where no figure is named


def compared_figures() -> tuple[str, ...]:
    """The names of the figures by which models can be compared."""
    return tuple(name for name, figure in FIGURES.items() if figure.is_compared)


def page_figures(table: str, k: int = 2) -> list[Figure]:
    """The columns of a table of the report, where items have k instances: points first, then shares, then counts."""
    figures = [figure for figure in FIGURES.values() if table in figure.page_tables]
    return _by_unit(figure for figure in figures if k > 1 or not figure.needs_instances)


def glossary_figures(k: int) -> list[Figure]:
    """The figures that the glossary of the report explains, family by family."""
    families = list(Family)
    figures = [figure for figure in FIGURES.values() if figure.glossary and (k > 1 or not figure.needs_instances)]
    return sorted(_by_unit(figures), key=lambda figure: families.index(figure.family))


def _by_unit(figures: Iterable[Figure]) -> list[Figure]:
    units = list(Unit)
    return sorted(figures, key=lambda figure: units.index(figure.unit))
