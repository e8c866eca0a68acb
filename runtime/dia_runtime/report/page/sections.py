"""What stands in a report, section by section: its pictures, each with its table, out of a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dia_runtime.metrics import VERDICTS
from dia_runtime.report.page.cells import Cell, Grid, count, figure, grid, number, share, word
from dia_runtime.report.pictures import PICTURES
from dia_runtime.report.pictures.abstention import has_curve
from dia_runtime.report.pictures.comparisons import is_clear, largest, p_text
from dia_runtime.report.pictures.correlation import correlations
from dia_runtime.report.pictures.drawing import Drawing
from dia_runtime.report.pictures.figures import FIGURES, IN_POINTS, names, ranked
from dia_runtime.report.pictures.flags import FLAGS
from dia_runtime.report.pictures.flags import count as flag_count
from dia_runtime.report.pictures.leaderboard import strip, strip_scale
from dia_runtime.report.pictures.palette import VERDICTS as COLOURED
from dia_runtime.report.pictures.reliability import columns
from dia_runtime.report.pictures.svg import decoration, svg
from dia_runtime.report.pictures.verdicts import bars, groups

Score = Mapping[str, Any]
Model = Mapping[str, Any]
MOST_PANELS = 60
MOST_CELLS = 6000  # of a table that stands behind a picture


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture of the page with its title, a sentence about it, and the table of the same facts."""

    name: str
    title: str
    caption: str
    art: tuple[str, ...]
    table: Grid | None = None
    key: tuple[str, ...] = ()
    is_tiled: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading."""

    name: str
    title: str
    lead: str = ""
    shown: tuple[Shown, ...] = ()
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = field(default=())


def sections(score: Score, notes: Sequence[str], by: Sequence[str]) -> list[Section]:
    """The sections for which the score has something to show, in their order."""
    models = ranked(score)
    made = [
        _leaderboard(score, models, notes),
        _reliability(score, models),
        *(_groups(score, models, label) for label in dict.fromkeys(("domain", "category", *by))),
        _abstention(score, models),
        _comparisons(score, models),
        _wordings(score, models),
        _respondents(score),
        _failures(score, models),
        _mistakes(models),
    ]
    return [section for section in made if section is not None]


def _picture(kind: str, score: Score, title: str, caption: str, table: Grid | None = None) -> Shown:
    return _shown(kind, PICTURES[kind].draw({"score": score}), title, caption, table)


def _shown(name: str, drawing: Drawing, title: str, caption: str, table: Grid | None = None) -> Shown:
    return Shown(name, title, caption, (svg(drawing, name, alone=False),), table)


def _leaderboard(score: Score, models: Sequence[Model], notes: Sequence[str]) -> Section:
    scale, k = strip_scale(score), score["k"]
    shares = ["conf", "pass_at_k"] if k > 1 else []
    shares += ["trad_score", "idk_score", "idk_freq", "accuracy_answered"]
    shares += ["share"] if any("share" in model for model in models) else []
    table: list[Any] = [
        ("model", lambda model: word(model["model"])),
        (f"RS@{k}", lambda model: figure(model["rs"])),
        ("interval", lambda model: Cell("", key=_value(model["rs"]), art=decoration(strip(model["rs"], scale)))),
    ]
    table += [(_heading(key, k), _of(key)) for key in shares]
    if k > 1:
        table.append((f"NMS@{k}", lambda model: figure(model["nms"], 1, 0)))
    caption = "Models by reliability score. Shares are in percent, with the ends of their intervals below them."
    verdicts = _picture(
        "verdicts", score, "What became of the questions",
        "Each bar is all questions of a model, in their first attempt." if score["over"] == "instances" else "",
        _verdict_table("Verdicts", [((model["model"],), model) for model in models], ("model",)),
    )  # fmt: skip
    lead = (
        f"RS@{k} sums over {score['n']:,} items the mean points of an item's {k} instances: points for right answers, "
        "none for skipped ones, a loss for wrong ones."
        if k > 1
        else f"RS@1 sums the points of {score['n']:,} questions: points for right answers, none for skipped ones, "
        "a loss for wrong ones."
    )
    boards = (grid(caption, table, models, is_sortable=True),)
    return Section("leaderboard", "Leaderboard", lead, (verdicts,), boards, tuple(notes))


def _heading(key: str, k: int) -> str:
    return FIGURES[key].replace("@k", f"@{k}") + " %"


def _of(key: str, factor: float = 100) -> Any:
    return lambda model: figure(model.get(key), factor)


def _value(held: Mapping[str, Any]) -> float | None:
    value = figure(held).key
    return value if isinstance(value, float) else None


def _verdict_table(
    caption: str, rows: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]], heads: tuple[str, ...]
) -> Grid:
    table: list[Any] = [(head, lambda row, at=at: word(row[0][at])) for at, head in enumerate(heads)]
    table += [(name, lambda row, name=name: count(row[1]["counts"][name])) for name in VERDICTS]
    table += [("correct %", lambda row: figure(row[1]["trad_score"], 100)), ("RS", lambda row: figure(row[1]["rs"]))]
    return grid(caption, table, rows, len(heads), True)


def _reliability(score: Score, models: Sequence[Model]) -> Section | None:
    k = score["k"]
    found = columns(models, k)
    if not found:
        return None
    fits = len(found) * len(models) <= MOST_CELLS
    heads: list[Any] = [("item", lambda column: word(column.name))]
    heads += [(model["model"], lambda column, at=at: _solved(column.shares[at], k)) for at, model in enumerate(models)]
    caption = (
        f"How many of each item's {k} instances a model solves. A model that knows an item solves all of them."
        if k > 1
        else "Dark where a model is right: what all solve stands at the left, what none solves at the right."
    )
    table = grid(f"Solved instances of {k}, the easiest items first", heads, found, 1, True) if fits else None
    shown = _picture("reliability", score, "Items, from the easiest to the hardest", caption, table)
    sums = [_ladder(score, models)] if k > 1 else []
    return Section("reliability", "Reliability", "", (shown,), tuple(held for held in sums if held))


def _solved(value: float | None, k: int) -> Cell:
    return (
        Cell("", key=None) if value is None else Cell(number(value * k, 1, 0 if k * value % 1 == 0 else 1), key=value)
    )


def _ladder(score: Score, models: Sequence[Model]) -> Grid | None:
    """How Conf and Pass grow with the number of instances that count."""
    steps = list(models[0]["pass_at_j"]) if models else []
    if len(steps) < 2:
        return None
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads += [(f"one of {j}", lambda model, j=j: figure(model["pass_at_j"].get(j), 100)) for j in steps]
    heads += [(f"all {j}", lambda model, j=j: figure(model["pass_hat_j"].get(j), 100)) for j in steps[1:]]
    caption = "Share of items, in percent, of which one of j instances is solved (Pass@j), and all of j (Pass^j)"
    return grid(caption, heads, models, is_sortable=True)


def _groups(score: Score, models: Sequence[Model], label: str) -> Section | None:
    found = groups(score, label)
    if len(found) < 2:
        return None
    panels = tuple(
        svg(bars(name, blocks), f"{label}-{at}", alone=False) for at, (name, blocks) in enumerate(found[:MOST_PANELS])
    )
    rows = [((name, model), block) for name, blocks in found for model, block in blocks]
    table = _verdict_table(f"Verdicts by {label}", rows, (label, "model")) if len(rows) * 9 <= MOST_CELLS else None
    left = f" The first {MOST_PANELS} of {len(found)} are drawn." if len(found) > MOST_PANELS else ""
    caption = f"Each bar is a model's questions of one {label}; numbers are questions.{left}"
    shown = Shown(label, "", caption, panels, table, tuple(COLOURED), True)
    return Section(f"by-{label}", f"By {label}", "", (shown,))


def _abstention(score: Score, models: Sequence[Model]) -> Section | None:
    if not models:
        return None
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads += [(_heading(key, score["k"]), _of(key)) for key in ("trad_score", "idk_score", "drop", "idk_freq")]
    drop = _picture(
        "drop", score, "What wrong answers cost",
        "The share of right replies, and the same less a point for each wrong one: who abstains in time loses little.",
        grid("Scores with and without abstention", heads, models, is_sortable=True),
    )  # fmt: skip
    shown = [drop]
    if any(model["accuracy_answered"]["value"] is not None for model in models):
        shown.append(_picture("risk-coverage", score, "Risk and coverage", _risk_caption(models), _risk(models)))
    tables = [held for held in (_skips(score),) if held]
    return Section("abstention", "Abstention", "", tuple(shown), tuple(tables))


def _risk_caption(models: Sequence[Model]) -> str:
    words = {
        "answered": "how many of the item's other instances it answered",
        "agreement": "how many of its other attempts said the same",
    }
    signals = {model["selective"]["signal"] for model in models if model.get("selective")}
    more = "".join(f" Confidence is {words[name]}." for name in sorted(signals & words.keys()))
    if not any(has_curve(model) for model in models):
        return "How many questions each model answers, and how many of these wrongly."
    return f"Each curve counts a model's answers from the most confident on; its dot is where the model stopped.{more}"


def _risk(models: Sequence[Model]) -> Grid:
    heads: list[Any] = [
        ("model", lambda model: word(model["model"])),
        ("coverage %", _of("coverage")),
        ("right if answered %", _of("accuracy_answered")),
    ]
    if any(model.get("selective") for model in models):
        for key, heading in (
            ("aurc", "area under the curve"),
            ("aurc_best", "best possible area"),
            ("excess", "excess"),
        ):
            heads.append((heading, lambda model, key=key: figure((model.get("selective") or {}).get(key), 1, 3)))
        heads.append(
            ("RS with perfect abstention", lambda model: figure((model.get("selective") or {}).get("rs_best")))
        )
    return grid("Selective prediction", heads, models, is_sortable=True)


def _skips(score: Score) -> Grid | None:
    pairs = [pair for pair in score.get("skip_agreement") or () if pair["phi"]["value"] is not None]
    if not pairs:
        return None
    heads: list[Any] = [
        ("model", lambda pair: word(pair["models"][0])),
        ("and", lambda pair: word(pair["models"][1])),
        *((head, lambda pair, key=key: count(pair[key])) for head, key in SKIPS),
        ("agreement (phi)", lambda pair: figure(pair["phi"], 1, 2)),
    ]
    return grid("Whether two models skip the same questions", heads, pairs, 2, True)


SKIPS = (("both skip", "both"), ("only the first", "first"), ("only the second", "second"), ("neither", "neither"))


def _comparisons(score: Score, models: Sequence[Model]) -> Section | None:
    if len(models) < 2:
        return None
    shown = []
    compared = list(dict.fromkeys(pair["figure"] for pair in score.get("comparisons") or ()))
    if compared:
        caption = (
            "The better model less the other, over the questions that both were asked; blue where the two differ after "
            "Holm's adjustment for the number of pairs."
        )
        title = f"Paired differences in {FIGURES.get(compared[0], compared[0])}"
        shown.append(_picture("comparisons", score, title, caption, _pairs(score, compared[0])))
    shown.append(_alike(score, models))
    tables = [replace(_pairs(score, name), is_folded=True) for name in compared[1:]]
    tables += [held for change in score.get("rank_changes") or () if (held := _reversals(change))]
    return Section("comparisons", "Comparisons", "", tuple(shown), tuple(tables))


def _pairs(score: Score, name: str) -> Grid:
    factor = 1 if name in IN_POINTS else 100
    heads: list[Any] = [
        ("better", lambda pair: word(pair["models"][0])),
        ("less", lambda pair: word(pair["models"][1])),
        ("difference", lambda pair: figure(pair["difference"], factor, 1)),
        ("p", lambda pair: Cell(p_text(pair["p"]), key=pair["p"])),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
        ("order holds in", lambda pair: share(pair["order"])),
        ("differ", lambda pair: word("yes" if is_clear(pair) else "not shown")),
    ]
    told = FIGURES.get(name, name) + ("" if factor == 1 else ", in percent")
    return grid(f"Paired differences in {told}, adjusted by Holm", heads, largest(score, name), 2, True)


def _reversals(change: Mapping[str, Any]) -> Grid | None:
    if not change["changes"]:
        return None
    one, other = (FIGURES.get(name, name) for name in change["figures"])
    heads: list[Any] = [
        (f"leads by {one}", lambda pair: word(pair["models"][0])),
        (f"leads by {other}", lambda pair: word(pair["models"][1])),
        (f"order by {one} holds in", lambda pair: share(pair["order"][0])),
        (f"order by {other} holds in", lambda pair: share(pair["order"][1])),
        ("both hold in", lambda pair: share(pair["both"])),
    ]
    return grid(
        f"Models whose order {one} and {other} reverse, with shares of resamples", heads, change["changes"], 2, True
    )


def _alike(score: Score, models: Sequence[Model]) -> Shown:
    found = correlations(models)
    heads: list[Any] = [("model", lambda at: word(models[at]["model"]))]
    heads += [
        (model["model"], lambda at, column=column: _correlation(found[at][column]))
        for column, model in enumerate(models)
    ]
    caption = "Correlation, over items, of how many instances two models solve: near 1 they solve the same items."
    table = grid("Correlations of solved instances", heads, range(len(models)))
    return _picture("correlation", score, "Which models solve the same items", caption, table)


def _correlation(value: float | None) -> Cell:
    return Cell("\N{EN DASH}") if value is None else Cell(number(value, 1, 2), key=value)


def _wordings(score: Score, models: Sequence[Model]) -> Section | None:
    rows = [
        (model["model"], variant, key, held)
        for model in models
        for variant, found in (model.get("variants") or {}).items()
        for key, held in found["figures"].items()
    ]
    if not rows:
        return None
    heads: list[Any] = [
        ("model", lambda row: word(row[0])),
        ("wording", lambda row: word(row[1])),
        ("figure", lambda row: word(FIGURES.get(row[2], row[2]))),
        ("base", lambda row: _plain(row[3]["base"], row[2])),
        ("in this wording", lambda row: _plain(row[3]["variant"], row[2])),
        ("difference", lambda row: figure(row[3]["difference"], _factor(row[2]))),
        ("p", lambda row: Cell(p_text(row[3]["p"]), key=row[3]["p"])),
    ]
    lead = "The same instances, asked in other words. Shares are in percent."
    return Section("wordings", "Wordings", lead, (), (grid("Effects of wordings", heads, rows, 2, True),))


def _factor(name: str) -> int:
    return 1 if name in IN_POINTS else 100


def _plain(value: float | None, name: str) -> Cell:
    return Cell("\N{EN DASH}") if value is None else Cell(number(value, _factor(name)), key=value)


def _respondents(score: Score) -> Section | None:
    tables = []
    for label, held in (score.get("by_respondent") or {}).items():
        keys = list(dict.fromkeys(key for group in held["groups"] for key in group["figures"]))
        heads: list[Any] = [
            (label, lambda group: word(group["value"])),
            ("models", lambda group: word(", ".join(group["models"]))),
            *(
                (FIGURES.get(key, key), lambda group, key=key: figure(group["figures"].get(key), _factor(key)))
                for key in keys
            ),
        ]
        tables.append(grid(f"Models by {label}: means", heads, held["groups"], 1, True))
        if held["differences"]:
            tables.append(_differences(label, held["differences"]))
    return Section("respondents", "Kinds of models", "", (), tuple(tables)) if tables else None


def _differences(label: str, held: Sequence[Mapping[str, Any]]) -> Grid:
    heads: list[Any] = [
        (label, lambda pair: word(pair["groups"][0])),
        ("less", lambda pair: word(pair["groups"][1])),
        ("figure", lambda pair: word(FIGURES.get(pair["figure"], pair["figure"]))),
        ("difference", lambda pair: figure(pair["difference"], _factor(pair["figure"]))),
        ("p, Holm", lambda pair: Cell(p_text(pair["p_holm"]), key=pair["p_holm"])),
    ]
    return grid(f"Differences by {label}", heads, held, 2, True)


def _failures(score: Score, models: Sequence[Model]) -> Section:
    heads: list[Any] = [("model", lambda model: word(model["model"]))]
    heads += [(told, lambda model, name=name: count(flag_count(model, name))) for name, told in FLAGS.items()]
    heads.append(("not asked", lambda model: count(model["missing"])))
    caption = (
        "Questions whose reply could not be read, failed, was refused or cut off, was beyond the context, abstained in "
        "another form than was asked for, or could not be decided."
    )
    table = grid("Flags and failures, in questions", heads, models, is_sortable=True)
    shown = _picture("flags", score, "", caption, table)
    return Section("failures", "Flags and failures", "", (shown,))


def _mistakes(models: Sequence[Model]) -> Section | None:
    rows = sorted(_named(models), key=lambda row: (row[0], row[1], -float(row[3].key or 0)))
    if not rows:
        return None
    heads: list[Any] = [
        ("template", lambda row: word(row[0])),
        ("mistake", lambda row: word(row[1])),
        ("model", lambda row: word(row[2])),
        ("share of wrong replies %", lambda row: row[3]),
    ]
    lead = "Wrong replies that are a mistake which the template foresaw, as shares of its wrong replies."
    tables = [grid(f"The {min(len(rows), MOST_ROWS)} most frequent named mistakes", heads, _top(rows), 2, True)]
    explained = [model for model in models if (model.get("mistake_shares") or {}).get("wrong")]
    if explained:
        tables.insert(0, grid("Wrong replies that a named mistake explains", EXPLAINED, explained, is_sortable=True))
    return Section("mistakes", "Named mistakes", lead, (), tuple(tables))


MOST_ROWS = 20
EXPLAINED: list[Any] = [
    ("model", lambda model: word(model["model"])),
    ("wrong", lambda model: count(model["mistake_shares"]["wrong"])),
    ("by one mistake", lambda model: count(model["mistake_shares"]["one"])),
    ("by several", lambda model: count(model["mistake_shares"]["several"])),
    ("by none", lambda model: count(model["mistake_shares"]["none"])),
    ("explained %", lambda model: figure(model["mistake_shares"]["explained"], 100)),
]


def _top(rows: Sequence[tuple[str, str, str, Cell]]) -> list[tuple[str, str, str, Cell]]:
    """The rows with the largest shares, in the order in which they stood."""
    kept = sorted(range(len(rows)), key=lambda at: -float(rows[at][3].key or 0))[:MOST_ROWS]
    return [rows[at] for at in sorted(kept)]


def _named(models: Sequence[Model]) -> Iterator[tuple[str, str, str, Cell]]:
    """(template, mistake, model, share) of what the models' wrong replies were."""
    for model in models:
        found = (model.get("mistake_shares") or {}).get("templates")
        if found is not None:
            for template, held in found.items():
                for name, one in held["mistakes"].items():
                    if one["count"]:
                        yield template, name, model["model"], figure(one["share"], 100)
            continue
        for template, shares in model.get("mistakes", {}).items():
            for name, value in shares.items():
                if value:
                    yield template, name, model["model"], Cell(number(value, 100), key=value)


def model_names(score: Score) -> list[str]:
    """The names of the respondents, in the order of the runs."""
    return names(score)
