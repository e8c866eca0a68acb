"""How far two models lie apart on the same questions, with intervals, for all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.report.pictures.axes import Scale, bottom_axis, dot_legend, plain, rounded
from dia_runtime.report.pictures.drawing import Drawing, Mark, Rect, Text, clipped
from dia_runtime.report.pictures.figures import FIGURES, kind_of_interval, require, span, whisker

WIDTH, ROW, NAMES = 720, 24, 280
MOST = 60  # pairs
ALPHA = 0.05


def comparisons(data: Mapping[str, Any]) -> Drawing:
    """The differences of all pairs by the first figure that was compared, the largest first."""
    pairs = largest(data["score"])
    require(pairs, "no two models were compared")
    shown = pairs[:MOST]
    figures = [pair["difference"] for pair in shown]
    scale = Scale(*rounded(*span(figures, 0.0)), NAMES, WIDTH - 90)
    top, bottom = 20, 24 + ROW * len(shown)
    name = FIGURES.get(pairs[0]["figure"], pairs[0]["figure"])
    label = f"difference in {name}, {kind_of_interval(figures)}"
    marks: list[Mark] = [*bottom_axis(scale, top, bottom, label)]
    marks.append(Text(WIDTH - 6, 12, "p, Holm", 12, "end", "muted"))
    for at, pair in enumerate(shown):
        y = 24 + ROW * (at + 0.5)
        if at % 2:
            marks.insert(0, Rect(0, y - ROW / 2, WIDTH, ROW, "shade"))
        marks += _row(pair, scale, y)
    key, height = dot_legend([("accent", f"p below {ALPHA}"), ("muted", "not told apart")], NAMES, bottom + 44, WIDTH)
    found = sum(is_clear(pair) for pair in pairs)
    words = f"{len(pairs)} pairs of models; {found} differ at p below {ALPHA} after Holm's adjustment."
    return Drawing("Paired differences", words, WIDTH, bottom + 48 + height, (*marks, *key))


def _row(pair: Mapping[str, Any], scale: Scale, y: float) -> list[Mark]:
    one, other = pair["models"]
    half = (NAMES - 44) / 2
    marks: list[Mark] = [
        Text(half, y + 4, clipped(one, half - 2), 12, "end", tip=one),
        Text(half + 17, y + 4, "less", 11, "middle", "muted"),
        Text(half + 34, y + 4, clipped(other, half - 2), 12, tip=other),
        Text(WIDTH - 6, y + 4, p_text(pair["p_holm"]), 12, "end"),
    ]
    if pair["difference"]["value"] is not None:
        tip = f"{one} less {other}: {plain(round(pair['difference']['value'], 3))}"
        marks += whisker(scale, y, pair["difference"], "accent" if is_clear(pair) else "muted", tip)
    return marks


def largest(score: Mapping[str, Any], figure: str | None = None) -> list[Mapping[str, Any]]:
    """The compared pairs of a figure, the largest difference first, turned so that none is below 0."""
    held = score.get("comparisons") or []
    wanted = figure or (held[0]["figure"] if held else None)
    pairs = [_turned(pair) for pair in held if pair["figure"] == wanted]
    return sorted(pairs, key=lambda pair: -(pair["difference"]["value"] or 0))


def _turned(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pair with the better model first."""
    figure = pair["difference"]
    if (figure["value"] or 0) >= 0:
        return pair
    turned = {key: [-end for end in reversed(figure[key])] for key in ("ci", "bounds") if figure.get(key)}
    both = {key: pair[key][::-1] for key in ("models", "at", "values") if key in pair}
    return {**pair, **both, "difference": {**figure, **turned, "value": -figure["value"]}}


def is_clear(pair: Mapping[str, Any]) -> bool:
    """Whether the two differ, after Holm's adjustment."""
    return pair["p_holm"] is not None and bool(pair["p_holm"] < ALPHA)


def p_text(value: float | None) -> str:
    """The probability as tables show it.

    >>> p_text(0.03127), p_text(0.00001), p_text(None)
    ('0.031', '< 0.001', '–')
    """
    if value is None:
        return "\N{EN DASH}"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
