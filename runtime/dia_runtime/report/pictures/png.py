"""Drawings as PNG, by matplotlib, which is imported only here."""

from __future__ import annotations

import io
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, install_extra, visible

from dia_runtime.report.pictures.drawing import Circle, Drawing, Line, Mark, Polygons, Polyline, Rect, Text
from dia_runtime.report.pictures.palette import COLOURS

DOTS, POINTS = 100, 72  # pixels and points per inch
TIMES = 2  # pixels of the file per pixel of the drawing
POINT = POINTS / DOTS  # points per pixel
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def png(drawing: Drawing) -> bytes:
    """Return the drawing as a PNG file on a light background. Raises DiaError (exit 2) if matplotlib is missing."""
    figure_type = _figure_type()
    figure = figure_type(
        figsize=(drawing.width / DOTS, drawing.height / DOTS), dpi=DOTS * TIMES, facecolor=_of("paper")
    )
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    for depth, mark in enumerate(drawing.marks):
        axes.add_artist(_artist(mark, depth + 1))
    out = io.BytesIO()
    metadata = {"Software": None, "Title": visible(drawing.title), "Description": visible(drawing.description)}
    figure.savefig(out, format="png", metadata={name: value and _latin(value) for name, value in metadata.items()})
    return out.getvalue()


def _figure_type() -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        help = f"{install_extra('report')}, or draw an .svg, which needs no extra package"
        raise DiaError(
            Diagnostic("E871", "drawing a .png needs matplotlib, which is not installed", None, help)
        ) from None

    def figure(**how: Any) -> Any:
        canvas_figure = Figure(**how)
        FigureCanvasAgg(canvas_figure)
        return canvas_figure

    return figure


def _of(name: str) -> str:
    """Return the colour on a light background."""
    return COLOURS[name][0]


def _latin(value: str) -> str:
    """Return the text in the characters that a PNG's metadata can contain."""
    return value.encode("latin-1", "replace").decode("latin-1")


def _artist(mark: Mark, depth: int) -> Any:
    from matplotlib import lines, patches, path, text

    where: dict[str, Any] = {"zorder": depth}
    match mark:
        case Rect(x, y, width, height, fill, stroke):
            return patches.Rectangle((x, y), width, height, fc=_of(fill), ec=_of(stroke), lw=POINT, **where)
        case Circle(x, y, radius, fill, stroke):
            return patches.Circle((x, y), radius, fc=_of(fill), ec=_of(stroke), lw=POINT, **where)
        case Line(x1, y1, x2, y2, stroke, width, dash):
            return lines.Line2D([x1, x2], [y1, y2], **_stroke(stroke, width, dash), **where)
        case Polyline(points, stroke, width, dash):
            xs, ys = [x for x, _ in points], [y for _, y in points]
            return lines.Line2D(xs, ys, **_stroke(stroke, width, dash), **where)
        case Polygons(shapes, fill, stroke, opacity):
            whole = path.Path.make_compound_path(*(path.Path([*shape, shape[0]], closed=True) for shape in shapes))
            return patches.PathPatch(whole, fc=_of(fill), ec=_of(stroke), lw=POINT, alpha=opacity, **where)
        case Text():
            weight = "bold" if mark.bold else "normal"
            where |= {"ha": ANCHORS[mark.anchor], "va": "baseline", "rotation_mode": "anchor", "rotation": -mark.turn}
            where |= {"color": _of(mark.fill), "fontsize": mark.size * POINT}
            words = visible(mark.text).replace("\n", " ").replace("\t", " ")
            return text.Text(
                mark.x, mark.y, words, parse_math=False, fontfamily="DejaVu Sans", fontweight=weight, **where
            )


def _stroke(stroke: str, width: float, dash: tuple[float, ...]) -> dict[str, Any]:
    style: Any = (0, tuple(part / width for part in dash)) if dash else "-"
    return {"color": _of(stroke), "linewidth": width * POINT, "linestyle": style, "solid_capstyle": "butt"}
