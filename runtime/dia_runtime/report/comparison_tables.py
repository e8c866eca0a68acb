"""What `dia score` prints beside the figures: comparisons, effects, groups, sizes, abstention and mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dia_runtime.report.tables import ABSTENTION, EMPTY, OTHERS, RELIABILITY, Table, figure_text

SHOWN = {**RELIABILITY, **ABSTENTION, **OTHERS}
SELECTIVE = {
    "coverage": ("answered %", 100, 2),
    "accuracy": ("right if answered %", 100, 2),
    "aurc": ("AURC %", 100, 2),
    "aurc_best": ("best AURC %", 100, 2),
    "rs_best": ("best RS@k", 1, 1),
    "idk_best": ("best idk %", 100, 2),
    "idk_lost": ("idk lost %", 100, 2),
}
Result = Mapping[str, Any]


def comparison_tables(result: Result) -> list[Table]:
    """What was asked for: differences, changes of rank, shared skips, groups of models and sizes."""
    return [table for table in (*_compared(result), *_grouped(result), *_power(result.get("power"))) if table.rows]


def _compared(result: Result) -> Iterable[Table]:
    rows = [(_name(entry["figure"]), *entry["models"], *_tested(entry)) for entry in result.get("comparisons", ())]
    yield _table("Differences: the first less the second", ("figure", "first", "second"), TESTED, rows)
    changes = [
        (
            " to ".join(map(_name, entry["figures"])),
            *change["models"],
            *map(_percent, (*change["order"], change["both"])),
        )
        for entry in result.get("rank_changes", ())
        for change in entry["changes"]
    ]
    headings = ("first holds %", "second holds %", "both hold %")
    yield Table("Orders that two figures reverse", ("figures", "leads by the first", "leads by the second", *headings),
                tuple(changes), 3)  # fmt: skip
    counts = ("both", "first", "second", "neither")
    skips = [
        (*entry["models"], *(str(entry[name]) for name in counts), figure_text(entry["phi"], 1, 3))
        for entry in result.get("skip_agreement", ())
    ]
    yield Table("Questions that two models skip", ("first model", "second model", *counts, "phi"), tuple(skips), 2,
                figures=frozenset({6}))  # fmt: skip


TESTED = ("items", "difference", "p", "p (Holm)", "order holds %")


def _tested(entry: Mapping[str, Any]) -> tuple[str, ...]:
    items = (str(entry["items"]),) if "items" in entry else ()
    chances = (_chance(entry["p"]), _chance(entry["p_holm"]), _percent(entry["order"]))
    return (*items, _shown(entry["figure"], entry["difference"]), *chances)


def _table(title: str, labels: tuple[str, ...], headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    at = len(labels) + headings.index("difference")
    return Table(title, (*labels, *headings), tuple(rows), len(labels), figures=frozenset({at}))


def _grouped(result: Result) -> Iterable[Table]:
    for label, held in result.get("by_respondent", {}).items():
        groups = held["groups"]
        names = list(dict.fromkeys(name for group in groups for name in group["figures"]))
        rows = [
            (group["value"], str(len(group["models"])), *(_shown(name, group["figures"][name]) for name in names))
            for group in groups
            if group["figures"]
        ]
        figures = frozenset(range(2, 2 + len(names)))
        few = f" over {held['items']} items" if held.get("items", result.get("n", 0)) < result.get("n", 0) else ""
        told = f"Models by {label}: means of their figures{few}"
        yield Table(told, (label, "models", *map(_name, names)), tuple(rows), 1,
                    figures=figures)  # fmt: skip
        tested = [(_name(entry["figure"]), *entry["groups"], *_tested(entry)) for entry in held["differences"]]
        title = f"Differences by {label}: the first less the second"
        yield _table(title, ("figure", "first", "second"), TESTED[1:], tested)


def variant_tables(result: Result) -> list[Table]:
    """The effect of each other wording on the same instances."""
    rows = [
        (model["model"], variant, _name(name), _value(name, held["base"]), _value(name, held["variant"]),
         _shown(name, held["difference"]), _chance(held["p"]))
        for model in result["models"]
        for variant, effect in model.get("variants", {}).items()
        for name, held in effect["figures"].items()
        if name in RELIABILITY or name in ABSTENTION
    ]  # fmt: skip
    headings = ("base", "variant", "difference", "p")
    title = "Other wordings of the same instances: variant less base"
    return [_table(title, ("model", "wording", "figure"), headings, rows)] if rows else []


def _power(held: Mapping[str, Any] | None) -> Iterable[Table]:
    if held is None:
        return
    headings: tuple[str, ...] = ("figure", "items", "k", "variance between", "within", "SE %", "detectable %")
    if held["difference"] is not None:
        headings = (*headings, f"items for {_percent(held['difference'])} %", "or k")
    chance = f"in {held['power']:.0%} of measurements at {held['alpha']:.0%}".replace("%", " %")
    two = [(*entry["models"], *_size(entry, held)) for entry in held["pairs"]]
    yield Table(f"Two models on the same items: the difference that is seen {chance}",
                ("first", "second", *headings), tuple(two), 3)  # fmt: skip
    one = [(entry["model"], *_size(entry, held)) for entry in held["models"]]
    yield Table(f"Two such models on different items: the difference that is seen {chance}",
                ("model", *headings), tuple(one), 2)  # fmt: skip


def _size(entry: Mapping[str, Any], held: Mapping[str, Any]) -> tuple[str, ...]:
    spread = ("" if entry[name] is None else f"{entry[name]:.4f}" for name in ("between", "within"))
    k = "" if entry["k"] is None else f"{entry['k']:g}"
    needed = (_count(entry["needed_items"]), "" if entry["within"] is None else _count(entry["needed_k"]))
    needed = needed if entry["se"] else ("", "")  # without spread nobody knows
    seen = (_percent(entry["se"], 2), _percent(entry["detectable"], 2))
    return (_name(entry["figure"]), str(entry["items"]), k, *spread, *seen, *(needed if held["difference"] else ()))


def selective_tables(result: Result) -> list[Table]:
    """What abstaining brings each model, and at which penalties answering paid."""
    models = [(model["model"], model["selective"]) for model in result["models"]]
    rows = [
        (name, *(figure_text(held[key], factor, places) for key, (_, factor, places) in SELECTIVE.items()))
        for name, held in models
    ]
    headings = ("model", *(heading for heading, _, _ in SELECTIVE.values()))
    title = "Selective prediction: risk over coverage, and the best scores with perfect abstention"
    whole = Table(title, headings, tuple(rows), 1, (4,), frozenset(range(1, len(headings))))
    penalties = [
        (name, f"{entry['penalty']:g}", f"{entry['threshold']:.3f}", figure_text(entry["points"], 1, 3),
         {True: "yes", False: "no", None: ""}[entry["pays"]])
        for name, held in models
        for entry in held["penalties"]
    ]  # fmt: skip
    named = ("model", "penalty", "threshold", "mean points", "answering paid")
    return [whole, Table("By the penalty for a wrong answer", named, tuple(penalties), 1, figures=frozenset({3}))]


def mistake_tables(result: Result) -> list[Table]:
    """Which wrong replies the named mistakes explain."""
    rows, named = [], []
    for model in result["models"]:
        held = model["mistake_shares"]
        counts = (str(held[key]) for key in ("wrong", "one", "several", "none"))
        rows.append((model["model"], *counts, figure_text(held["explained"], 100, 2)))
        for template, found in held["templates"].items():
            for name, mistake in found["mistakes"].items():
                cells = (str(mistake["count"]), str(found["wrong"]), figure_text(mistake["share"], 100, 2))
                named.append((model["model"], template, name, *cells))
    whole = Table("Wrong replies by the named mistakes that explain them",
                  ("model", "wrong", "one", "several", "none", "explained %"), tuple(rows), 1,
                  figures=frozenset({5}))  # fmt: skip
    each = Table("Named mistakes", ("model", "template", "mistake", "replies", "of wrong", "share %"), tuple(named), 3,
                 figures=frozenset({5}))  # fmt: skip
    return [whole, *([each] if named else [])]


SHOWS = {"selective": selective_tables, "mistakes": mistake_tables}


def _name(figure: str) -> str:
    return SHOWN[figure][0]


def _shown(name: str, figure: Mapping[str, Any]) -> str:
    return figure_text(figure, *SHOWN[name][1:])


def _value(name: str, value: float | None) -> str:
    return figure_text({**EMPTY, "value": value}, *SHOWN[name][1:])


def _percent(share: float | None, places: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{places}f}"


def _chance(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _count(number: int | None) -> str:
    return "none suffices" if number is None else str(number)


def models_by(result: Result, labels: Sequence[str]) -> Result:
    """The result with the groups by these labels of models alone; by all of them where none is named."""
    held = result.get("by_respondent", {})
    wanted = {name: groups for name, groups in held.items() if name in labels} or held
    return {**result, "by_respondent": wanted}
