"""Tables of `dia score` in addition to the figures: comparisons, effects, groups, power, abstention and mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from dia_runtime.report.screens import NO_VALUE
from dia_runtime.report.tables import EXPLAINED_TITLE, Table, figure_text
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import (
    Detectable,
    Estimate,
    Power,
    Score,
    Selective,
    Tested,
    unknown,
)  # fmt: skip

SELECTIVE: dict[str, tuple[str, int, int]] = {
    "coverage": ("answered %", 100, 2),
    "accuracy": ("correct if answered %", 100, 2),
    "aurc": ("AURC %", 100, 2),
    "aurc_best": ("best AURC %", 100, 2),
    "rs_best": ("best RS@k", 1, 1),
    "idk_best": ("best abstention score %", 100, 2),
    "idk_lost": ("abstention score lost %", 100, 2),
}


def comparison_tables(result: Score) -> list[Table]:
    """Return the requested tables: differences, rank changes, shared skips, effects of tools, groups, and power."""
    return [
        table
        for table in (*_compared(result), *_tool_effects(result), *_grouped(result), *_power(result["power"]))
        if table.rows
    ]


def _compared(result: Score) -> Iterable[Table]:
    rows = [
        (_name(entry["figure"]), *entry["models"], str(entry["items"]), *_tested(entry["figure"], entry))
        for entry in result["comparisons"]
    ]
    yield _table("Differences: first minus second", ("figure", "first", "second"), TESTED, rows)
    changes = [
        (
            " and ".join(map(_name, entry["figures"])),
            *change["models"],
            *map(_percent, (*change["order"], change["both"])),
        )
        for entry in result["rank_changes"]
        for change in entry["changes"]
    ]
    headings = ("ahead by 1st", "ahead by 2nd", "1st order holds %", "2nd order holds %", "both hold %")
    title = (
        "Pairs of models that two figures rank in opposite orders: the model that is ahead by each of the two figures, "
        "and in how many resamples each order holds"
    )
    yield Table(title, ("figures", *headings), tuple(changes), 3)
    skips = [
        (
            *entry["models"],
            *(str(count) for count in (entry["both"], entry["first"], entry["second"], entry["neither"])),
            figure_text(entry["phi"], 1, 3),
        )
        for entry in result["skip_agreement"]
    ]
    columns = ("first model", "second model", "both", "only first", "only second", "neither", "phi")
    yield Table("Questions that the models of a pair skipped", columns, tuple(skips), 2, figures=frozenset({6}))


TESTED = ("items", "difference", "p", "p (Holm)", "order holds %")


def _tested(figure: str, entry: Tested) -> tuple[str, ...]:
    chances = (chance_text(entry["p"]), chance_text(entry["p_holm"]), _percent(entry["order"]))
    return (_cell(figure, entry["difference"]), *chances)


def _table(title: str, labels: tuple[str, ...], headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    at = len(labels) + headings.index("difference")
    return Table(title, (*labels, *headings), tuple(rows), len(labels), figures=frozenset({at}))


def _tool_effects(result: Score) -> Iterable[Table]:
    rows = [
        (entry["models"][0], entry["category"] or "all", _name(entry["figure"]), str(entry["items"]),
         *(_value(entry["figure"], value) for value in entry["values"]), _cell(entry["figure"], entry["difference"]),
         chance_text(entry["p"]), " and ".join(map(str, entry["errors"])))
        for entry in result.get("tool_effects", ())
    ]  # fmt: skip
    headings = ("items", "with tools", "without", "difference", "p", "errors")
    yield _table(
        "Effect of tools: with minus without, and how many questions ended in an error with tools and without",
        ("model", "category", "figure"),
        headings,
        rows,
    )


def _grouped(result: Score) -> Iterable[Table]:
    for label, grouped in result["by_respondent"].items():
        groups = grouped["groups"]
        names = list(dict.fromkeys(name for group in groups for name in group["figures"]))
        rows = [
            (group["value"], str(len(group["models"])), *(_cell(name, group["figures"][name]) for name in names))
            for group in groups
            if group["figures"]
        ]
        figures = frozenset(range(2, 2 + len(names)))
        few = f" over {grouped['items']} items" if grouped["items"] < result["n"] else ""
        heading = f"Models by {label}: mean figures{few}"
        yield Table(heading, (label, "models", *map(_name, names)), tuple(rows), 1, figures=figures)
        tested = [
            (_name(entry["figure"]), *entry["groups"], *_tested(entry["figure"], entry))
            for entry in grouped["differences"]
        ]
        title = f"Differences by {label}: first minus second"
        yield _table(title, ("figure", "first", "second"), TESTED[1:], tested)


def variant_tables(result: Score) -> list[Table]:
    """Return the effect of each other wording on the same instances."""
    rows = [
        (model["model"], variant, _name(name), _value(name, figure["base"]), _value(name, figure["variant"]),
         _cell(name, figure["difference"]), chance_text(figure["p"]))
        for model in result["models"]
        for variant, effect in model["variants"].items()
        for name, figure in effect["figures"].items()
        if FIGURES[name].in_tables
    ]  # fmt: skip
    headings = ("base", "variant", "difference", "p")
    title = "Other wordings of the same instances: variant minus base"
    return [_table(title, ("model", "wording", "figure"), headings, rows)] if rows else []


FEW = 20  # items from which sizes are less uncertain
FEW_NOTE = (
    f"With fewer than {FEW} items, these sizes can be far off, most of all if nearly all replies have the same verdict."
)
SAME_NOTE = "SE 0.00: all items have the same value, so no size can be estimated."


def _power(power: Power | None) -> Iterable[Table]:
    if power is None:
        return
    spread = ("figure", "items", "k", "variance between", "within")
    headings: tuple[str, ...] = (*spread, "SE %", "detectable %", "95 % CI of detectable %")
    chance = f"{power['power']:.0%} power at the {power['alpha']:.0%} level".replace("%", " %")
    if power["difference"] is not None:
        size = _percent(power["difference"])
        chance += f", and the items, or the k, needed to detect {size} %"
        headings = (*headings, f"items for {size} %", "95 % CI of items", f"k for {size} %")
    entries: list[Detectable] = [*power["pairs"], *power["models"]]
    has_few = any(entry["items"] < FEW and entry["se"] for entry in entries)
    is_same = any(entry["se"] == 0 for entry in entries)
    note = "\n".join(filter(None, (FEW_NOTE if has_few else "", SAME_NOTE if is_same else "")))
    two = [(*entry["models"], *_size(entry, power)) for entry in power["pairs"]]
    yield Table(f"Two models on the same items: smallest difference detected with {chance}",
                ("first", "second", *headings), tuple(two), 3, note=note if two else "")  # fmt: skip
    one = [(entry["model"], *_size(entry, power)) for entry in power["models"]]
    yield Table(f"Two models like this one, each on its own items: smallest difference detected with {chance}",
                ("model", *headings), tuple(one), 2, note="" if two else note)  # fmt: skip


def _size(entry: Detectable, power: Power) -> tuple[str, ...]:
    spread = ("" if variance is None else f"{variance:.4f}" for variance in (entry["between"], entry["within"]))
    k = "" if entry["k"] is None else f"{entry['k']:g}"
    around = "" if entry["needed_items_ci"] is None else " to ".join(map(_count, entry["needed_items_ci"]))
    needed = (_count(entry["needed_items"]), around, "" if entry["within"] is None else _count(entry["needed_k"]))
    needed = needed if entry["se"] else ("", "", "")  # without variance the sizes are unknown
    reach = "" if entry["detectable_ci"] is None else " to ".join(_percent(end, 1) for end in entry["detectable_ci"])
    shares = (_percent(entry["se"], 2), _percent(entry["detectable"], 2) or NO_VALUE, reach)
    return (_name(entry["figure"]), str(entry["items"]), k, *spread, *shares, *(needed if power["difference"] else ()))


def selective_tables(result: Score) -> list[Table]:
    """Return the effect of abstaining for each model, and the penalties at which answering pays."""
    models = [(model["model"], model["selective"]) for model in result["models"]]
    rows = [
        (name, *(figure_text(_of(selective, key), factor, places) for key, (_, factor, places) in SELECTIVE.items()))
        for name, selective in models
    ]
    headings = ("model", *(heading for heading, _, _ in SELECTIVE.values()))
    title = "Selective prediction: risk over coverage, and the scores with perfect abstention"
    whole = Table(title, headings, tuple(rows), 1, (4,), frozenset(range(1, len(headings))))
    penalties = [
        (name, f"{entry['penalty']:g}", f"{entry['threshold']:.3f}", figure_text(entry["points"], 1, 3),
         {True: "yes", False: "no", None: ""}[entry["pays"]])
        for name, selective in models
        for entry in selective["penalties"]
    ]  # fmt: skip
    named = ("model", "penalty", "threshold", "mean points", "answering paid off")
    title = (
        "By the penalty for a wrong answer: the probability of being right above which answering pays (threshold), the "
        "mean points, and whether answering paid off, that is, gave more points than always abstaining"
    )
    return [whole, Table(title, named, tuple(penalties), 1, figures=frozenset({3}))]


def _of(selective: Selective, key: str) -> Estimate:
    return cast(Mapping[str, Estimate], selective)[key]


def mistake_tables(result: Score) -> list[Table]:
    """Return how many wrong replies the named mistakes explain."""
    rows, named = [], []
    for model in result["models"]:
        shares = model["mistake_shares"]
        counts = map(str, (shares["wrong"], shares["one"], shares["several"], shares["none"]))
        rows.append((model["model"], *counts, figure_text(shares["explained"], 100, 2)))
        for template, mistakes in shares["templates"].items():
            for name, mistake in mistakes["mistakes"].items():
                cells = (str(mistake["count"]), str(mistakes["wrong"]), figure_text(mistake["share"], 100, 2))
                named.append((model["model"], template, name, *cells))
    whole = Table(EXPLAINED_TITLE,
                  ("model", "wrong", "by one mistake", "by several", "by none", "explained %"), tuple(rows), 1,
                  figures=frozenset({5}))  # fmt: skip
    each = Table("Named mistakes, and how many of the wrong replies to their template match each of them",
                 ("model", "template", "mistake", "replies", "of wrong", "share %"), tuple(named), 3,
                 figures=frozenset({5}))  # fmt: skip
    return [whole, *([each] if named else [])]


SHOWS = {"selective": selective_tables, "mistakes": mistake_tables}


def _name(figure: str) -> str:
    return FIGURES[figure].heading


def _cell(name: str, estimate: Estimate) -> str:
    unit = FIGURES[name].unit
    return figure_text(estimate, unit.factor, unit.places)


def _value(name: str, value: float | None) -> str:
    return _cell(name, {**unknown(), "value": value})


def _percent(share: float | None, places: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{places}f}"


def chance_text(value: float | None) -> str:
    """Return a p-value with four decimals, or as a power of ten if it is smaller."""
    return "" if value is None else f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _count(number: int | None) -> str:
    return "not possible" if number is None else str(number)


def models_by(result: Score, labels: Sequence[str]) -> Score:
    """Return the result with groups by these labels of models only; by all labels if none is named."""
    grouped = result["by_respondent"]
    return {**result, "by_respondent": {name: grouped[name] for name in grouped if name in labels} or grouped}
