"""Tables and notes for terminals: fitted to a width, with colour where the caller supplies it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, TypeAlias

from dia_language.diagnostics import visible

from dia_runtime.report.tables import Table, displayed_width

WIDTH = 100  # columns of output that is piped or written to a file
NARROWEST = 60
SHORTEST_NAME = 16  # a table is split into parts before its names get shorter than this
GAP = "  "
ELLIPSIS = "..."
NO_VALUE = "-"
CONTINUED = "(continued: further columns)"
WHOLE = ("figure", "figures")  # columns with names of figures, which must remain readable
SHARES_OF_HEAD = (0.5, 1, 0, 0.75, 0.25)  # of a shortened name: the first that keeps most names different is used
QUOTED = re.compile("`[^`]*`")
UNBROKEN = "\0"  # stands for a space at which textwrap must not break a line

Paint: TypeAlias = Callable[[str, str], str]  # text and the role it has -> the text as it is printed


def plain(text: str, role: str) -> str:
    """Return the text without any colour."""
    return text


class Cell(NamedTuple):
    """The text of a cell and its role, which decides its colour: `warning`, `error` or none."""

    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Names are aligned to the left and repeated in every part, and shortened unless they are `is_whole`."""

    heading: str
    is_name: bool = False
    is_whole: bool = False
    is_repeated: bool = False
    begins_part: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table whose rows may be grouped: a row that is a string is the heading of the rows after it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...] | str, ...]
    note: str = ""


def grid_of(table: Table) -> Grid:
    """Return a table of names and numbers as a grid, without the columns that are empty in every row."""
    columns_shown = [at for at in range(len(table.headings)) if at < table.labels or any(row[at] for row in table.rows)]
    columns = tuple(
        Column(
            table.headings[at],
            is_name=at < table.labels,
            is_whole=table.headings[at] in WHOLE,
            begins_part=at in table.breaks,
        )
        for at in columns_shown
    )
    rows = tuple(tuple(Cell(row[at]) for at in columns_shown) for row in table.rows)
    return Grid(table.title, columns, rows, table.note)


def grid_text(grid: Grid, width: int, paint: Paint = plain) -> str:
    """Return the grid in aligned columns, in several parts, one below the other, where it is wider than `width`."""
    natural = _widths(grid)
    parts, name_width = _layout(grid, natural, max(width, NARROWEST))
    widths = [
        min(cells, name_width) if column.is_name and not column.is_whole else cells
        for column, cells in zip(grid.columns, natural, strict=True)
    ]
    names = _short_names(grid, widths)
    blocks = ["\n".join(_lines(grid, part, widths, names, paint)) for part in parts]
    blocks[1:] = [f"{CONTINUED}\n{block}" for block in blocks[1:]]
    title = textwrap.wrap(_one_line(grid.title), max(width, NARROWEST))
    notes = ["\n".join(textwrap.wrap(grid.note, max(width, NARROWEST)))] if grid.note else []
    return "\n\n".join(["\n".join(paint(line, "title") for line in title), *blocks, *notes])


def _cell_rows(grid: Grid) -> list[tuple[Cell, ...]]:
    return [row for row in grid.rows if not isinstance(row, str)]


def _widths(grid: Grid) -> list[int]:
    headings = [displayed_width(column.heading) for column in grid.columns]
    rows = [[displayed_width(_one_line(cell.text)) for cell in row] for row in _cell_rows(grid)]
    return [max(column) for column in zip(headings, *rows, strict=True)]


def _layout(grid: Grid, widths: Sequence[int], width: int) -> tuple[list[list[int]], int]:
    """Return the columns of each part, and how wide names may be."""
    names = [at for at, column in enumerate(grid.columns) if column.is_name and not column.is_whole]
    repeated = [at for at, column in enumerate(grid.columns) if column.is_repeated or column.is_name]
    others = [at for at in range(len(grid.columns)) if at not in repeated]
    name_widths = [widths[at] for at in names]
    keys = sum(widths[at] for at in repeated if at not in names) + len(GAP) * len(repeated)

    def longest_name(part: Sequence[int]) -> int:
        """Return how long names can be next to these columns."""
        space = width - keys - sum(widths[at] for at in part) - len(GAP) * len(part) + len(GAP)
        return _name_width(name_widths, space)

    enough = min(SHORTEST_NAME, max(name_widths, default=0))
    if longest_name(others) >= enough:
        return [[*repeated, *others]], longest_name(others)
    parts = _parts(grid, others, lambda part: longest_name(part) >= enough)
    return [[*repeated, *part] for part in parts], max(enough, min(map(longest_name, parts)))


def _parts(grid: Grid, columns: Sequence[int], fits: Callable[[Sequence[int]], bool]) -> list[list[int]]:
    """Split the columns where the grid says, and further where that is not enough."""
    parts: list[list[int]] = [[]]
    for at in columns:
        if parts[-1] and (grid.columns[at].begins_part or not fits([*parts[-1], at])):
            parts.append([])
        parts[-1].append(at)
    return parts


def _name_width(name_widths: Sequence[int], space: int) -> int:
    """Return the largest width to which all names can be cut so that together they take no more than `space`."""
    width = max(name_widths, default=0)
    while width > 0 and sum(min(name, width) for name in name_widths) > space:
        width -= 1
    return width


def _short_names(grid: Grid, widths: Sequence[int]) -> Mapping[int, Mapping[str, str]]:
    """Return the names of each column of names as they are shown, by name."""
    rows = _cell_rows(grid)
    columns = {
        at: [_one_line(row[at].text) for row in rows] for at, column in enumerate(grid.columns) if column.is_name
    }
    return {at: short_names(texts, widths[at]) for at, texts in columns.items()}


def _lines(
    grid: Grid, part: Sequence[int], widths: Sequence[int], names: Mapping[int, Mapping[str, str]], paint: Paint
) -> Iterator[str]:
    headings = [Cell(column.heading) for column in grid.columns]
    yield paint(_line(headings, part, widths, names, plain), "heading")
    for row in grid.rows:
        yield _one_line(row) if isinstance(row, str) else _line(row, part, widths, names, paint)


def _line(
    row: Sequence[Cell],
    part: Sequence[int],
    widths: Sequence[int],
    names: Mapping[int, Mapping[str, str]],
    paint: Paint,
) -> str:
    padded = []
    for at in part:
        text = _one_line(row[at].text)
        if at in names:
            text = names[at].get(text) or shortened(text, widths[at])
        spaces = " " * (widths[at] - displayed_width(text))
        painted = paint(text, row[at].role) if row[at].role else text
        padded.append(painted + spaces if at in names else spaces + painted)
    return GAP.join(padded).rstrip()


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Return the names that are wider than `width` cut where they stay different, in the middle if possible.

    >>> short_names(["openai/a+judge=openai/x", "openai/b+judge=openai/x"], 13)
    {'openai/a+judge=openai/x': 'openai/a+j...', 'openai/b+judge=openai/x': 'openai/b+j...'}
    """
    different = list(dict.fromkeys(names))
    choices = [{name: shortened(name, width, share) for name in different} for share in SHARES_OF_HEAD]
    return max(choices, key=lambda choice: len(set(choice.values())))


def shortened(name: str, width: int, share: float = 0.5) -> str:
    """Cut the middle of a name that is wider than `width`, because names often differ only at their end.

    `share` is that of the beginning in what remains.

    >>> shortened("openai/gpt-4o-mini-2024-07-18", 17)
    'openai/...4-07-18'
    """
    if displayed_width(name) <= width:
        return name
    space = max(0, width - len(ELLIPSIS))
    head = _prefix(name, ceil(space * share))
    tail = _prefix(name[::-1], space - displayed_width(head))[::-1]
    return f"{head}{ELLIPSIS}{tail}"


def _prefix(text: str, width: int) -> str:
    """Return the longest beginning of the text that takes no more than `width` columns."""
    columns, end = 0, 0
    for character in text:
        columns += displayed_width(character)
        if columns > width:
            break
        end += 1
    return text[:end]


def notes_text(title: str, notes: Iterable[str], width: int, paint: Paint = plain) -> str:
    """Return a titled list of notes, wrapped to the width."""
    return "\n".join([paint(title, "title"), *(paragraph(note, width, paint, "  - ", "    ") for note in notes)])


def paragraph(text: str, width: int, paint: Paint = plain, first: str = "", following: str = "") -> str:
    """Return the text wrapped to the width. Commands and options in backquotes are not split."""
    wrapped = textwrap.fill(
        QUOTED.sub(lambda match: match[0].replace(" ", UNBROKEN), _one_line(text)),
        width=max(width, NARROWEST),
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return QUOTED.sub(lambda match: paint(match[0], "command"), wrapped.replace(UNBROKEN, " "))


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ")


def answer_text(text: str) -> str:
    """Return an extracted answer on one line, in quotes if it is empty or begins or ends with whitespace.

    >>> answer_text("12"), answer_text(" and "), answer_text("a\\nb")
    ('12', '" and "', 'a\\\\nb')
    """
    one_line = text.replace("\n", r"\n")
    return one_line if text and text == text.strip() else f'"{one_line}"'
