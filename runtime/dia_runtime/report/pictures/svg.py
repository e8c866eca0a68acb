"""Drawings as SVG: the same bytes for the same drawing, no script, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dia_language.diagnostics import visible
from markupsafe import escape

from dia_runtime.report.pictures.drawing import (
    Circle,
    Drawing,
    Line,
    Mark,
    Point,
    Polygons,
    Polyline,
    Rect,
    Text,
)
from dia_runtime.report.pictures.palette import styles

FONTS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
SMALL, LARGE = 560, 800  # wider pictures scroll on a small screen, and grow less
CLASS = re.compile(r'class="([^"]*)"')


def svg(drawing: Drawing, name: str = "picture", alone: bool = True) -> str:
    """Return the drawing as an SVG element.

    `alone` includes its colours and background, which a page otherwise defines. `name` makes the ids of its parts
    unique on a page with several pictures.
    """
    body = "".join(map(written, drawing.marks))
    size = f'width="{number(drawing.width)}" height="{number(drawing.height)}"'
    box = f'viewBox="0 0 {number(drawing.width)} {number(drawing.height)}"'
    space = ' xmlns="http://www.w3.org/2000/svg" xml:lang="en"' if alone else ""
    width = "" if alone else f' class="w{int(drawing.width > SMALL) + int(drawing.width > LARGE)}"'
    names = f'role="img" lang="en" aria-labelledby="{name}-title {name}-desc"'
    description = "".join(
        f'<{tag} id="{name}-{tag}">{text(words)}</{tag}>'
        for tag, words in (("title", drawing.title), ("desc", drawing.description))
    )
    ground = f'<rect {size} class="f-paper"/>' if alone else ""
    sheet = f"<style>text{{font-family:{FONTS}}}{_sheet(ground + body)}</style>" if alone else ""
    end = "\n" if alone else ""
    return f"<svg{space}{width} {size} {box} {names}>{description}{sheet}{ground}{body}</svg>{end}"


def decoration(drawing: Drawing) -> str:
    """Return the drawing as a decoration of text with the same content: untitled, hidden from screen readers."""
    size = f'width="{number(drawing.width)}" height="{number(drawing.height)}"'
    box = f'viewBox="0 0 {number(drawing.width)} {number(drawing.height)}"'
    return f'<svg {size} {box} aria-hidden="true">{"".join(map(written, drawing.marks))}</svg>'


def _sheet(body: str) -> str:
    """Return the style sheet with the picture's colours."""
    used = {name[2:] for classes in CLASS.findall(body) for name in classes.split()}
    return styles(used)


def written(mark: Mark) -> str:
    """Return one mark as an element."""
    name, attributes, inner = next(_parts(mark))
    tip = f"<title>{text(mark.tip)}</title>" if mark.tip else ""
    text_of_attributes = "".join(f' {key}="{value}"' for key, value in attributes.items() if value != "")
    return f"<{name}{text_of_attributes}>{tip}{inner}</{name}>" if tip or inner else f"<{name}{text_of_attributes}/>"


def _parts(mark: Mark) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield the name, the attributes and the text of a mark's element."""
    match mark:
        case Rect(x, y, width, height, fill, stroke, _, rounded):
            place = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
            yield "rect", {**place, "rx": number(rounded) if rounded else "", **_filled(fill, stroke)}, ""
        case Line(x1, y1, x2, y2, stroke, width, dash):
            place = {"x1": number(x1), "y1": number(y1), "x2": number(x2), "y2": number(y2)}
            yield "line", {**place, **_stroked(stroke, width, dash)}, ""
        case Polyline(points, stroke, width, dash):
            more = {"stroke-linejoin": "round"}
            yield "polyline", {"points": _points(points), **_stroked(stroke, width, dash), **more}, ""
        case Polygons(shapes, fill, stroke, opacity):
            path = "".join(f"M{_points(shape)}Z" for shape in shapes)
            faint = {"fill-opacity": number(opacity) if opacity < 1 else ""}
            yield "path", {"d": path, **_filled(fill, stroke), **faint}, ""
        case Circle(x, y, radius, fill, stroke):
            place = {"cx": number(x), "cy": number(y), "r": number(radius)}
            yield "circle", {**place, **_filled(fill, stroke)}, ""
        case Text():
            yield "text", _text(mark), text(mark.text)


def _filled(fill: str, stroke: str) -> dict[str, str]:
    return {"class": f"f-{fill}" + (f" s-{stroke}" if stroke != "none" else "")}


def _stroked(stroke: str, width: float, dash: tuple[float, ...]) -> dict[str, str]:
    wide = number(width) if width != 1 else ""
    dashes = " ".join(map(number, dash))
    return {"class": f"f-none s-{stroke}", "stroke-width": wide, "stroke-dasharray": dashes}


def _text(mark: Text) -> dict[str, str]:
    x, y = number(mark.x), number(mark.y)
    return {
        "x": x,
        "y": y,
        "font-size": number(mark.size),
        "text-anchor": mark.anchor if mark.anchor != "start" else "",
        "font-weight": "600" if mark.bold else "",
        "transform": f"rotate({number(mark.turn)} {x} {y})" if mark.turn else "",
        "class": f"f-{mark.fill}",
    }


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def number(value: float) -> str:
    """Return the number with two decimals at most.

    >>> number(1.0), number(0.125), number(-0.001)
    ('1', '0.12', '0')
    """
    digits = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def text(value: str) -> str:
    """Return the text escaped for a page, with control characters made visible."""
    return str(escape(visible(value).replace("\n", " ").replace("\t", " ")))
