"""Plots of given data: bars, lines, points, with axes whose ticks are labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from dia_language.media.glyphs import cell_size

from dia_compiler.assets.base import OptionFault, Site, data, template
from dia_compiler.assets.pictures import (
    Colour,
    Picture,
    check_characters,
    colour_option,
    packed,
    size_option,
    text_option,
    word_option,
    write,
)
from dia_compiler.assets.plot_axes import Axis, axis_of, numbers, slots

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

KINDS: Final = ("bar", "line", "scatter")
SIZE: Final = (480, 320)
LEAST, MOST = 100, 4096
POINTS: Final = 500
LABEL: Final = 12
TITLE: Final = 200
TICK, GAP, MARK = 4, 6, 2
BLACK: Final[Colour] = (0, 0, 0)
GRID: Final[Colour] = (225, 225, 225)
WHITE: Final[Colour] = (255, 255, 255)


class Plot(Picture):
    summary = "a plot of the given data as bars, a line or points, as a PNG picture"
    options = {
        "kind": data("bar, line or scatter (default bar)"),
        "y": data("the numbers to plot", required=True),
        "x": data("the x positions: numbers or labels (default 1, 2, 3 ...)"),
        "y_ticks": data("ticks of the vertical axis; it runs from the first tick to the last (default: automatic)"),
        "x_ticks": data("ticks of the horizontal axis, if `x` are numbers and `kind` is not bar"),
        "title": template("the text above the plot"),
        "x_label": template("the text below the horizontal axis"),
        "y_label": template("the text above the vertical axis"),
        "size": data("[width, height] in pixels (default [480, 320])"),
        "colour": data("the colour of bars, line and points, as '#rrggbb' (default blue)"),
    }

    def validate(self, options: Mapping[str, Any]) -> None:
        size_option(options, LEAST, MOST)
        colour_option(options, "colour", "#1f77b4")
        kind = word_option(options, "kind", "bar", KINDS)
        for name in ("title", "x_label", "y_label"):
            if "\n" in (text_option(options, name, TITLE) or ""):
                raise OptionFault(name, f"`{name}` must be one line")
        if "y" in options:
            heights = numbers("y", options["y"], POINTS)
            if kind == "bar" and min(heights) < 0:
                raise OptionFault("y", "bars cannot be negative", "use `kind: line` for negative numbers")
            if isinstance(options.get("x"), list) and len(options["x"]) != len(heights):
                raise OptionFault("x", f"`x` has {len(options['x'])} entries, but `y` has {len(heights)}")

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        from PIL import Image, ImageDraw

        plotted = _plotted(options)
        frame = _frame(options, plotted)
        image = Image.new("RGB", size_option(options, LEAST, MOST) or SIZE, WHITE)
        draw = ImageDraw.Draw(image)
        _draw_ticks(image, draw, frame, plotted)
        _draw_titles(image, frame, options)
        _draw_marks(draw, frame, plotted)
        return packed(image)


@dataclass(frozen=True, slots=True)
class Plotted:
    """What is drawn: the kind of marks, the points, the axes and the colour."""

    kind: str
    points: tuple[tuple[Fraction, Fraction], ...]
    x: Axis
    y: Axis
    colour: Colour


@dataclass(frozen=True, slots=True)
class Frame:
    """The first and the last column and row of the axes, in pixels."""

    left: int
    right: int
    top: int
    bottom: int

    def place(self, plotted: Plotted, x: Fraction, y: Fraction) -> tuple[int, int]:
        """Return the pixel of a point."""
        across = self.left + plotted.x.place(x, self.right - self.left)
        return across, self.bottom - plotted.y.place(y, self.bottom - self.top)


def _plotted(options: Mapping[str, Any]) -> Plotted:
    kind = word_option(options, "kind", "bar", KINDS)
    heights = numbers("y", options["y"], POINTS)
    x_values = options.get("x", list(range(1, len(heights) + 1)))
    if not isinstance(x_values, list):
        raise OptionFault("x", "`x` must be a list")
    if kind == "bar" or any(isinstance(entry, str) for entry in x_values):
        x, across = slots(x_values), [Fraction(2 * place + 1, 2) for place in range(len(x_values))]
    else:
        across = numbers("x", x_values, POINTS)
        x = axis_of("x_ticks", options.get("x_ticks"), across)
    y = axis_of("y_ticks", options.get("y_ticks"), [*heights, Fraction(0)] if kind == "bar" else heights)
    if kind == "bar" and y.ticks[0] != 0:
        raise OptionFault("y_ticks", "the axis of a bar plot must start at 0")
    return Plotted(kind, tuple(zip(across, heights, strict=True)), x, y, colour_option(options, "colour", "#1f77b4"))


def _frame(options: Mapping[str, Any], plotted: Plotted) -> Frame:
    """Return the position of the axes that leaves room for all texts. Raises OptionFault."""
    width, height = size_option(options, LEAST, MOST) or SIZE
    across, up = cell_size(LABEL)
    left = max(len(label) for label in plotted.y.labels) * across + TICK + 2 * GAP
    top = GAP + sum(up + GAP for name in ("title", "y_label") if options.get(name)) + up // 2
    bottom = height - 1 - TICK - up - 2 * GAP - (up + GAP if options.get("x_label") else 0)
    frame = Frame(left, width - 1 - 2 * GAP - across, top, bottom)
    slot = (frame.right - frame.left) // max(1, len(plotted.x.labels) - (not plotted.x.is_of_slots))
    if frame.right - frame.left < 50 or frame.bottom - frame.top < 50 or len(plotted.y.labels) * up > height:
        raise OptionFault("size", "the picture is too small for its axes", "make it larger")
    if max(len(label) for label in plotted.x.labels) * across > slot - 2 or slot < 4:
        raise OptionFault("x", "the labels do not fit below the axis", "shorten them, or make the picture wider")
    if any(len(options.get(name, "")) * across > width - 2 * GAP for name in ("title", "x_label", "y_label")):
        raise OptionFault(
            "title", "the title or a label is too long for the picture", "shorten it, or make the picture wider"
        )
    return frame


def _draw_ticks(image: Image.Image, draw: ImageDraw.ImageDraw, frame: Frame, plotted: Plotted) -> None:
    across, up = cell_size(LABEL)
    for tick, label in zip(plotted.y.ticks, plotted.y.labels, strict=True):
        row = frame.bottom - plotted.y.place(tick, frame.bottom - frame.top)
        draw.line((frame.left, row, frame.right, row), GRID)
        draw.line((frame.left - TICK, row, frame.left, row), BLACK)
        write(image, label, (frame.left - TICK - GAP - len(label) * across, row - up // 2), LABEL, BLACK)
    for tick, label in zip(plotted.x.ticks, plotted.x.labels, strict=True):
        check_characters("x", label)
        column = frame.left + plotted.x.place(tick, frame.right - frame.left)
        draw.line((column, frame.bottom, column, frame.bottom + TICK), BLACK)
        write(image, label, (column - len(label) * across // 2, frame.bottom + TICK + GAP), LABEL, BLACK)


def _draw_titles(image: Image.Image, frame: Frame, options: Mapping[str, Any]) -> None:
    across, up = cell_size(LABEL)
    texts = {name: options.get(name, "") for name in ("title", "x_label", "y_label")}
    for name, text in texts.items():
        check_characters(name, text)
    middle = (image.width - len(texts["title"]) * across) // 2
    write(image, texts["title"], (middle, GAP), LABEL, BLACK)
    write(image, texts["y_label"], (GAP, GAP + (up + GAP if texts["title"] else 0)), LABEL, BLACK)
    column = max(0, (frame.left + frame.right - len(texts["x_label"]) * across) // 2)
    write(image, texts["x_label"], (column, image.height - up - GAP), LABEL, BLACK)


def _draw_marks(draw: ImageDraw.ImageDraw, frame: Frame, plotted: Plotted) -> None:
    """Draw the marks: a line below the axes, bars and points above them."""
    places = [frame.place(plotted, x, y) for x, y in plotted.points]
    pale = tuple((part + 255) // 2 for part in plotted.colour)
    for begin, end in pairwise(places) if plotted.kind == "line" else ():
        draw.line((*begin, *end), pale, 2)
    draw.line((frame.left, frame.top, frame.left, frame.bottom), BLACK)
    draw.line((frame.left, frame.bottom, frame.right, frame.bottom), BLACK)
    half = max(1, (frame.right - frame.left) // len(places) // 3)
    for column, row in places:
        bar = (column - half, row, column + half - 1, frame.bottom)
        point = (column - MARK, row - MARK, column + MARK, row + MARK)
        draw.rectangle(bar if plotted.kind == "bar" else point, plotted.colour)
