"""Scales, ticks and axes of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from dia_runtime.report.pictures.drawing import DASHES, Circle, Line, Mark, Rect, Text, clipped, text_width

SMALL, USUAL = 11, 12  # font sizes


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from low to high, mapped to pixels from start to end.

    >>> Scale(0, 10, 100, 200)(2.5)
    125.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) * (self.end - self.start) / ((self.high - self.low) or 1)


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Return round values from low to high, about this many.

    >>> ticks(0, 1), ticks(-300, 150)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [-300.0, -200.0, -100.0, 0.0, 100.0])
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(about - 1, 1)
    power = 10.0 ** floor(log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def rounded(low: float, high: float, about: int = 6) -> tuple[float, float]:
    """Return round ends of a scale that contain both values, and differ even if these are equal.

    >>> rounded(-287, 12), rounded(2, 2)
    ((-300.0, 100.0), (0, 4))
    """
    values = ticks(low, high, about)
    step = values[1] - values[0] if len(values) > 1 else max(abs(low), abs(high), 1.0)
    ends = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    return ends if ends[0] < ends[1] else (ends[0] - step, ends[1] + step)


def plain(value: float) -> str:
    """Return the number as an axis shows it.

    >>> plain(0.5), plain(-20.0), plain(1500.0)
    ('0.5', '−20', '1,500')
    """
    digits = f"{value:,.4f}".rstrip("0").rstrip(".")
    return digits.replace("-", "\N{MINUS SIGN}")


def percent(value: float) -> str:
    """Return the share in percent.

    >>> percent(0.25)
    '25 %'
    """
    return f"{plain(round(100 * value, 10))} %"


def bottom_axis(
    scale: Scale, top: float, bottom: float, label: str, form: Callable[[float], str] = plain, about: int = 6
) -> list[Mark]:
    """Return an axis at the bottom with its ticks, their lines up to the top, and a label below."""
    marks: list[Mark] = []
    for value in ticks(scale.low, scale.high, about):
        at = scale(value)
        marks.append(Line(at, top, at, bottom, "faint" if value == 0 else "grid"))
        marks.append(Text(at, bottom + 16, form(value), SMALL, "middle", "muted"))
    if label:
        marks.append(Text((scale.start + scale.end) / 2, bottom + 34, label, USUAL, "middle", "muted"))
    return marks


def left_axis(
    scale: Scale, left: float, right: float, label: str, form: Callable[[float], str] = plain, about: int = 6
) -> list[Mark]:
    """Return an axis at the left with its ticks, their lines to the right, and a rotated label."""
    marks: list[Mark] = []
    widest = 0.0
    for value in ticks(min(scale.low, scale.high), max(scale.low, scale.high), about):
        at = scale(value)
        marks.append(Line(left, at, right, at, "faint" if value == 0 else "grid"))
        marks.append(Text(left - 8, at + 4, form(value), SMALL, "end", "muted"))
        widest = max(widest, text_width(form(value), SMALL))
    if label:
        middle = (scale.start + scale.end) / 2
        marks.append(Text(left - widest - 18, middle, label, USUAL, "middle", "muted", turn=-90))
    return marks


def legend(entries: Sequence[tuple[str, str]], x: float, y: float, width: float) -> tuple[list[Mark], float]:
    """Return a legend of (colour, name) with squares, in lines of at most that width, and its height."""
    return _key(entries, x, y, width, lambda at, top, number, colour: [Rect(at, top + 1, 11, 11, colour, rounded=2)])


def line_legend(entries: Sequence[tuple[str, str]], x: float, y: float, width: float) -> tuple[list[Mark], float]:
    """Return a legend of (colour, name) with lines, dashed like the series with that number."""

    def sample(at: float, top: float, number: int, colour: str) -> list[Mark]:
        return [Line(at, top + 7, at + 22, top + 7, colour, 2, DASHES[number % len(DASHES)])]

    return _key(entries, x, y, width, sample, 22)


def dot_legend(entries: Sequence[tuple[str, str]], x: float, y: float, width: float) -> tuple[list[Mark], float]:
    """Return a legend of (colour, name) with dots."""
    return _key(entries, x, y, width, lambda at, top, number, colour: [Circle(at + 5, top + 6.5, 4.5, colour)])


def _key(
    entries: Sequence[tuple[str, str]],
    x: float,
    y: float,
    width: float,
    sample: Callable[[float, float, int, str], list[Mark]],
    wide: float = 11,
) -> tuple[list[Mark], float]:
    marks: list[Mark] = []
    at, top = x, y
    for number, (colour, whole) in enumerate(entries):
        name = clipped(whole, width - wide - 6, USUAL)
        needed = wide + 6 + text_width(name, USUAL) + 16
        if at > x and at + needed > x + width:
            at, top = x, top + 20
        marks += [
            *sample(at, top, number, colour),
            Text(at + wide + 6, top + 11, name, USUAL, fill="ink", tip=whole if name != whole else ""),
        ]
        at += needed
    return marks, top + 20 - y
