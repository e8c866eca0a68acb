"""The first screen of `dia score`: one ranked table, notable findings, and requested tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dia_language.diagnostics import counted

from dia_runtime.grading.flags import FLAGS
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.comparison_tables import SHOWS, chance_text, comparison_tables, models_by
from dia_runtime.report.findings import MANY_UNPARSED, findings, order_by_score, ranks, replies_of
from dia_runtime.report.screens import (
    NO_VALUE,
    Cell,
    Column,
    Grid,
    Paint,
    grid_of,
    grid_text,
    notes_text,
    paragraph,
    plain,
)
from dia_runtime.report.session_tables import LEDGER, PAPER, accuracies, ledger_counts, requested_session_tables
from dia_runtime.report.tables import UNASKED, has_unasked, occurring_flags, title, with_own_names
from dia_runtime.report.usage_tables import usage_tables, without_unknown_columns
from dia_runtime.scoring.figures import FIGURES, Unit
from dia_runtime.scoring.results import (
    Block,
    ComparedPair,
    Estimate,
    Respondent,
    Score,
    SessionBlock,
    figure_of,
    groups_by,
    has_figure,
    respondents,
)

ALPHA = 0.05
DECLINE_NOTE = "correct declines: they count as correct answers, not as abstained."
AMBIGUOUS = (
    f"With few items, an interval may exclude 0 although p is {ALPHA} or more. Then the models do not differ clearly."
)
WHOLE_NUMBERS_FROM = 100  # intervals whose ends reach this have no decimals: three digits are enough
MORE = (
    "More: `--tables all` prints more figures, also by category and other labels; `dia report` writes a page with all "
    "replies."
)
INTERVAL = "95 % CI"
LARGEST = 5  # differences between wordings that are shown
DECLINES = ("correct_decline", "false_decline")
Row = tuple[Cell, ...]


def score_screen(
    result: Score,
    by: Sequence[str] = (),
    show: Sequence[str] = (),
    width: int = 100,
    paint: Paint = plain,
    *,
    has_notes: bool = True,
) -> str:
    """Return the screen of a score: tables that fit the width, and notable findings after the first one."""
    result = with_own_names(result)
    first, *others = [grid_text(grid, width, paint) for grid in _grids(result, by, show)]
    parts = [first]
    notes = findings(result) if has_notes else []
    if notes:
        parts.append(notes_text("What stands out", notes, width, paint))
    parts += others
    if has_notes:
        parts.append(paragraph(MORE, width, paint))
    return "\n\n".join(parts) + "\n"


def _grids(result: Score, by: Sequence[str], show: Sequence[str]) -> Iterator[Grid]:
    """Yield the ranked table, then those of labels, wordings, sessions, comparisons and options, if there are any."""
    yield _ranked(result)
    for label in by:
        if label not in result["by_respondent"]:
            yield from _grouped(result, label)
    yield from _declines(result)
    yield from _wordings(result)
    yield from _sessions(result)
    yield from _compared(result)
    skips = [entry for entry in result["skip_agreement"] if entry["both"] + entry["first"] + entry["second"]]
    without_pairs: Score = {**models_by(result, by), "comparisons": [], "skip_agreement": skips}
    usage = map(without_unknown_columns, usage_tables(result))
    more = [*usage, *comparison_tables(without_pairs), *requested_session_tables(result)]
    for table in (*more, *(table for name in show for table in SHOWS[name](result))):
        yield grid_of(table)


# The ranked table


def _ranked(result: Score) -> Grid:
    models = order_by_score(respondents(result))
    flags, has_gaps = _further_flags(models), has_unasked(models)
    rows = [
        (
            Cell(NO_VALUE if rank is None else str(rank)),
            Cell(model["model"]),
            *cells,
            *(_unasked_cells(model) if has_gaps else ()),
        )
        for rank, model, cells in zip(ranks(models), models, _score_cells(models, result["k"], flags), strict=True)
    ]
    columns = (Column("#", is_repeated=True), Column("model", is_name=True), *_score_columns(result["k"], flags))
    columns += (Column(UNASKED),) if has_gaps else ()
    return Grid(title(result), columns, tuple(rows))


def _unasked_cells(model: Respondent) -> tuple[Cell]:
    """Return the number of questions that were not asked."""
    return (Cell(f"{model['missing']:,}", "warning" if model["missing"] else ""),)


def _further_flags(models: Sequence[Respondent]) -> list[str]:
    """Return the flags of replies that have a column of their own because they occur."""
    return [name for name in occurring_flags(models) if name != "truncated"]


def _score_columns(k: int, flags: Sequence[str]) -> tuple[Column, ...]:
    shares = ("Conf", f"Pass@{k}") if k > 1 else ("correct",)
    headings = (f"RS@{k}", INTERVAL, *shares)
    ledger = ("abstained", "unparsed", "errors", "truncated", *(FLAGS[name].heading for name in flags))
    return (*map(Column, headings), Column(ledger[0], begins_part=True), *map(Column, ledger[1:]))


def _score_cells(blocks: Sequence[Block], k: int, flags: Sequence[str]) -> list[Row]:
    """Return the cells of each block after its name."""
    scores = [figure_of(block, "rs") for block in blocks]
    ends = [abs(end) for score in scores for end in (*(score["ci"] or ()), *score.get("bounds", ()))]
    values = [abs(score["value"]) for score in scores if score["value"] is not None]
    places = 0 if max(values, default=0) >= 10 * WHOLE_NUMBERS_FROM else 1
    end_places = 0 if max(ends, default=0) >= WHOLE_NUMBERS_FROM else 1
    shares = ("conf", "pass_at_k") if k > 1 else ("trad_score",)
    return [
        (
            *_score_and_interval(score, places, end_places),
            *(Cell(_share_text(figure_of(block, name))) for name in shares),
            *_ledger_cells(block, flags),
        )
        if replies_of(block)
        else (Cell(NO_VALUE),) * (6 + len(shares) + len(flags))
        for score, block in zip(scores, blocks, strict=True)
    ]


def _score_and_interval(score: Estimate, places: int, end_places: int) -> tuple[Cell, Cell]:
    """Return the score with its confidence interval; while errors leave it open, its lowest and highest value."""
    if score["value"] is None:
        return _open_cells(score, 1, end_places)
    interval = score["ci"]
    ends = NO_VALUE if interval is None else f"[{', '.join(_number(end, end_places) for end in interval)}]"
    return Cell(_number(score["value"], places)), Cell(ends)


def _open_cells(estimate: Estimate, factor: int, places: int) -> tuple[Cell, Cell]:
    """Return the lowest and the highest value, and that the interval has to wait until the errors have replies."""
    bounds = estimate.get("bounds")
    text = NO_VALUE if bounds is None else " to ".join(_number(factor * end, places) for end in bounds)
    return Cell(text, "error"), Cell("pending", "error")


def _number(value: float, places: int) -> str:
    return f"{round(value, places) + 0.0:,.{places}f}"  # no negative zero


def _share_text(share: Estimate) -> str:
    """Return a share in percent; while errors leave it open, its two ends."""
    if share["value"] is not None:
        return f"{100 * share['value']:.1f}%"
    bounds = share.get("bounds")
    return NO_VALUE if bounds is None else _range_text(bounds)


def _range_text(ends: Sequence[float]) -> str:
    return f"{100 * ends[0]:.0f}-{100 * ends[1]:.0f}%"


def _ledger_cells(block: Block, flags: Sequence[str]) -> Iterator[Cell]:
    """Return abstentions and unparsed replies as shares of all questions, errors and flags as counts."""
    counts, questions = block["counts"], replies_of(block)
    skipped, unparsed, errors = (counts.get(name, 0) for name in (Verdict.SKIPPED, Verdict.UNPARSED, Verdict.ERROR))
    yield Cell(f"{100 * skipped / questions:.1f}%")
    yield Cell(f"{100 * unparsed / questions:.1f}%", "warning" if unparsed >= MANY_UNPARSED * questions else "")
    yield Cell(f"{errors:,}", "error" if errors else "")
    for count in (block["flags"].get(name, 0) for name in ("truncated", *flags)):
        yield Cell(f"{count:,}", "warning" if count else "")


# By a label


def _grouped(result: Score, label: str) -> Iterator[Grid]:
    """Yield the ranked table's columns for each value of a label; of the last two only those with information."""
    models = order_by_score(respondents(result))
    names = sorted({name for model in models for name in groups_by(model, label)})
    pairs = [(name, model) for name in names for model in models if name in groups_by(model, label)]
    flags = _further_flags(models)
    cells = _score_cells([groups_by(model, label)[name] for name, model in pairs], result["k"], flags)
    columns = _score_columns(result["k"], flags)
    always = len(columns) - 2 - len(flags)
    columns_shown = [at for at in range(len(columns)) if at < always or any(row[at].role for row in cells)]
    rows: list[Row | str] = []
    for at, (name, model) in enumerate(pairs):
        items = groups_by(model, label)[name]["n"]
        data = [cells[at][column] for column in columns_shown]
        if len(models) == 1:
            rows.append((Cell(name), Cell(f"{items:,}"), *data))
            continue
        if at == 0 or pairs[at - 1][0] != name:
            rows.append(f"{name} ({counted(items, 'item')})")
        rows.append((Cell(f"  {model['model']}"), *data))
    if not rows:
        return
    first = Column(label if len(models) == 1 else "model", is_name=True)
    items_column = [Column("items", is_repeated=True)] if len(models) == 1 else []
    yield Grid(f"By {label}", (first, *items_column, *(columns[at] for at in columns_shown)), tuple(rows))


# Other wordings, sessions and comparisons


def _declines(result: Score) -> Iterator[Grid]:
    """Yield how often unanswerable questions, and answerable ones of the same templates, were declined."""
    rows = [
        (Cell(model["model"]), *(cell for name in DECLINES for cell in _share_and_interval(figure_of(model, name))))
        for model in order_by_score(respondents(result))
        if any(has_figure(model, name) for name in DECLINES)
    ]
    if rows:
        headings = [heading for name in DECLINES for heading in (FIGURES[name].label, INTERVAL)]
        columns = (Column("model", is_name=True), *map(Column, headings))
        yield Grid(
            "Questions that cannot be answered, and answerable ones of the same templates: declined, in %",
            columns,
            tuple(rows),
            DECLINE_NOTE,
        )


def _share_and_interval(share: Estimate) -> tuple[Cell, Cell]:
    return Cell(_share_text(share)), Cell(NO_VALUE if share["ci"] is None else _range_text(share["ci"]))


def _wordings(result: Score) -> Iterator[Grid]:
    """Yield how other wordings of the same instances change the share of correct replies: the largest differences."""
    effects = [
        (model["model"], variant, figure)
        for model in result["models"]
        for variant, effect in model["variants"].items()
        if (figure := effect["figures"].get("trad_score"))
    ]
    if not effects:
        return
    title = "Other wordings of the same instances: correct replies in %, variant minus base"
    if len(effects) > LARGEST:
        title += f" (the {LARGEST} largest of {len(effects):,} differences; `--tables all` prints all)"
        effects = sorted(effects, key=lambda effect: -abs(effect[2]["difference"]["value"] or 0))[:LARGEST]
    rows = tuple(
        (
            Cell(model),
            Cell(variant),
            Cell(_percent(figure["base"])),
            Cell(_percent(figure["variant"])),
            *_difference_cells(figure["difference"], 100),
        )
        for model, variant, figure in effects
    )
    names = (Column("model", is_name=True), Column("wording", is_name=True))
    yield Grid(title, (*names, *map(Column, ("base", "variant", "difference", INTERVAL))), rows)


def _sessions(result: Score) -> Iterator[Grid]:
    """Yield the accuracy of each template of sessions, and the outcomes of its questions."""
    templates = dict.fromkeys(name for model in result["models"] for name in model.get("sessions", {}))
    blocks = [
        (template, model["model"], model["sessions"][template])
        for template in templates
        for model in result["models"]
        if template in model.get("sessions", {})
    ]
    if not blocks:
        return
    has_paper = any(block.get("paper") for _, _, block in blocks)
    rows: list[Row | str] = []
    for at, (template, model, block) in enumerate(blocks):
        cells = [*_session_cells(block), *([_paper_cell(block)] if has_paper else [])]
        if len(result["models"]) == 1:
            rows.append((Cell(template), *cells))
            continue
        if at == 0 or blocks[at - 1][0] != template:
            rows.append(template)
        rows.append((Cell(f"  {model}"), *cells))
    first = "template" if len(result["models"]) == 1 else "model"
    headings = ("questions", "accuracy", INTERVAL, "if answered", "if valid")
    columns = (Column(first, is_name=True), *map(Column, headings))
    ledger = tuple(Column(name, begins_part=at == 0) for at, name in enumerate(LEDGER[1:]))
    title = (
        "Sessions: accuracy over all questions, over answered ones (every reply that the grading uses was given, "
        "readable or not), and over valid ones (every reply could be read) that are not skipped. The other columns "
        "count questions by their problem: a reply, also a judge's, could not be read (unread; sessions that need "
        "it are then not asked), a reply is missing for another reason (absent), grading the replies ended in an "
        "error (broken), or a request failed (error)"
    )
    title += "; paper: the accuracy computed as in the published study" if has_paper else ""
    yield Grid(title, (*columns, *ledger, *([Column(PAPER)] if has_paper else [])), tuple(rows))


def _paper_cell(block: SessionBlock) -> Cell:
    """Return the accuracy that the published study prints."""
    figure = block.get("paper")
    return Cell(NO_VALUE if not figure or figure["value"] is None else f"{100 * figure['value']:.1f}")


def _session_cells(block: SessionBlock) -> Iterator[Cell]:
    every, answered, valid = accuracies(block)
    yield Cell(f"{block['questions']:,}")
    yield Cell(_share_text(every))
    yield Cell(NO_VALUE if every["ci"] is None else _range_text(every["ci"]))
    yield from (Cell(_share_text(share)) for share in (answered, valid))
    for name, count in zip(LEDGER[1:], ledger_counts(block)[1:], strict=True):
        yield Cell(f"{count:,}", "error" if count and name == "error" else "warning" if count else "")


def _compared(result: Score) -> Iterator[Grid]:
    """Yield each pair of models by each compared figure."""
    by_figure: dict[str, list[ComparedPair]] = {}
    for entry in result["comparisons"]:
        by_figure.setdefault(entry["figure"], []).append(entry)
    for name, entries in by_figure.items():
        names = (Column("first", is_name=True), Column("second", is_name=True))
        headings = ("items", "difference", INTERVAL, "p", "p (Holm)", "order holds")
        rows = [(*map(Cell, entry["models"]), *_pair_cells(entry)) for entry in entries]
        unit = "" if FIGURES[name].unit is not Unit.SHARE else ", in percentage points"
        title = (
            f"Differences in {FIGURES[name].label_at(result['k'])} on the same questions{unit}: first minus second. "
            "Order holds: share of resamples with the same leader"
        )
        note = AMBIGUOUS if any(map(_is_ambiguous, entries)) else ""
        yield Grid(title, (*names, *map(Column, headings)), tuple(rows), note)


def _is_ambiguous(entry: ComparedPair) -> bool:
    """Return whether the interval excludes 0 although p is not small."""
    ends, p = entry["difference"]["ci"], entry["p"]
    return ends is not None and p is not None and not ends[0] <= 0 <= ends[1] and p >= ALPHA


def _pair_cells(entry: ComparedPair) -> Iterator[Cell]:
    yield Cell(f"{entry['items']:,}")
    yield from _difference_cells(entry["difference"], FIGURES[entry["figure"]].unit.factor)
    yield Cell(chance_text(entry["p"]))
    adjusted = entry["p_holm"]
    yield Cell(chance_text(adjusted), "clear" if adjusted is not None and adjusted < ALPHA else "")
    yield Cell(NO_VALUE if entry["order"] is None else f"{100 * entry['order']:.1f}%")


def _difference_cells(difference: Estimate, factor: int) -> tuple[Cell, Cell]:
    value = difference["value"]
    if value is None:
        return _open_cells(difference, factor, 1)
    return Cell(_number(factor * value, 1)), Cell(_interval_text(difference["ci"], factor))


def _interval_text(ends: Sequence[float] | None, factor: int) -> str:
    return NO_VALUE if ends is None else f"[{', '.join(_number(factor * end, 1) for end in ends)}]"


def _percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{100 * share:.1f}%"
