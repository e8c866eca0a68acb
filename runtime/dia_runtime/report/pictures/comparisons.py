"""Differences between pairs of models on the same questions, with intervals."""

from __future__ import annotations

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import Scale, bottom_axis, dot_legend, plain, rounded
from dia_runtime.report.pictures.drawing import Drawing, Mark, Rect, Text, clipped
from dia_runtime.report.pictures.figures import (
    NARROW,
    PictureData,
    kind_of_interval,
    middle,
    require,
    room,
    span,
    whisker,
)
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import ALPHA, ComparedPair, Estimate, Score, is_clear

WIDTH = 720
MOST = 60  # pairs


def comparisons(data: PictureData) -> Drawing:
    """Draw the differences of all pairs by the first compared figure, the largest first."""
    pairs = largest(data["score"])
    require(pairs, "a comparison needs two models")
    drawn_pairs = pairs[:MOST]
    width, _ = room(data, WIDTH)
    names, row = (0.0, 44.0) if width < NARROW else (280.0, 24.0)
    figures = [pair["difference"] for pair in drawn_pairs]
    scale = Scale(*rounded(*span(figures, 0.0)), names + 6, width - (70 if names else 10))
    top, bottom = 20, 24 + row * len(drawn_pairs)
    name = FIGURES[pairs[0]["figure"]].label
    label = f"difference in {name}, {kind_of_interval(figures)}"
    marks: list[Mark] = [*bottom_axis(scale, top, bottom, label)]
    marks.append(Text(width - 6, 12, "p, Holm", 12, "end", "muted"))
    for at, pair in enumerate(drawn_pairs):
        y = 24 + row * at
        if at % 2:
            marks.insert(0, Rect(0, y, width, row, "shade"))
        marks += _beside(pair, names, width, y + row / 2) if names else _above(pair, width, y + 15)
        marks += _whisker(pair, scale, y + row / 2 if names else y + 31)
    key, height = dot_legend([("accent", f"p below {ALPHA}"), ("muted", "not significant")], names, bottom + 44, width)
    clear = sum(is_clear(pair) for pair in pairs)
    words = f"{counted(len(pairs), 'pair')} of models; {clear} with p below {ALPHA} after Holm's correction."
    return Drawing("Paired differences", words, width, bottom + 48 + height, (*marks, *key))


def _beside(pair: ComparedPair, names: float, width: float, y: float) -> list[Mark]:
    """Return the two names to the left of their line, and the probability to its right."""
    one, other = pair["models"]
    half = (names - 44) / 2
    return [
        Text(half, y + 4, clipped(one, half - 2), 12, "end", tip=one),
        Text(half + 17, y + 4, "minus", 11, "middle", "muted"),
        Text(half + 34, y + 4, clipped(other, half - 2), 12, tip=other),
        Text(width - 6, y + 4, p_text(pair["p_holm"]), 12, "end"),
    ]


def _above(pair: ComparedPair, width: float, y: float) -> list[Mark]:
    """Return the two names and the probability above their line, if there is no space next to it."""
    one, other = (clipped(name, (width - 120) / 2) for name in pair["models"])
    words = Text(6, y, f"{one} minus {other}", 12, tip=" minus ".join(pair["models"]))
    return [words, Text(width - 6, y, p_text(pair["p_holm"]), 12, "end")]


def _whisker(pair: ComparedPair, scale: Scale, y: float) -> list[Mark]:
    if pair["difference"]["value"] is None:
        return []
    one, other = pair["models"]
    tip = f"{one} minus {other}: {plain(round(pair['difference']['value'], 3))}"
    return whisker(scale, y, pair["difference"], "accent" if is_clear(pair) else "muted", tip)


def largest(score: Score, figure: str | None = None) -> list[ComparedPair]:
    """Return the compared pairs of a figure, the largest difference first, each with the higher figure first."""
    compared = score["comparisons"]
    name = figure or (compared[0]["figure"] if compared else None)
    pairs = [_turned(pair) for pair in compared if pair["figure"] == name]
    return sorted(pairs, key=lambda pair: -(pair["difference"]["value"] or 0))


def _turned(pair: ComparedPair) -> ComparedPair:
    """Return the pair with the higher figure first; while errors remain, by the middle of the possible differences."""
    estimate = pair["difference"]
    if (middle(estimate) or 0) >= 0:
        return pair
    value, interval = estimate["value"], estimate["ci"]
    turned: Estimate = {
        **estimate,
        "value": None if value is None else -value,
        "ci": interval and [-end for end in reversed(interval)],
    }
    if bounds := estimate.get("bounds"):
        turned["bounds"] = [-end for end in reversed(bounds)]
    models, at, values = pair["models"][::-1], pair["at"][::-1], pair["values"][::-1]
    return {**pair, "models": models, "at": at, "values": values, "difference": turned}


def p_text(value: float | None) -> str:
    """Return the probability as in tables.

    >>> p_text(0.03127), p_text(0.00001), p_text(None)
    ('0.031', '< 0.001', '–')
    """
    if value is None:
        return "\N{EN DASH}"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
