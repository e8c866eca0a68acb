"""Tables of comma-separated values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_language.diagnostics import counted
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Value, plain

from dia_compiler.assets.base import FILE_NAME, Builder, OptionFault, Site, data

NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
QUOTE = '"'
NO_CELLS = (list, dict, bytes)  # records are dicts


class Csv(Builder):
    """A table as RFC 4180 describes it, with lines that end in a line feed and without one at the end."""

    summary = "a table of comma-separated values (RFC 4180)"
    options = {
        "rows": data("a list of rows: lists of cells, or records with the columns as fields", required=True),
        "columns": data("the names of the columns, for the first line; default: the fields, if the rows are records"),
        "separator": data("comma, semicolon, tab or bar (default comma)"),
        "file_name": FILE_NAME,
    }
    extension = "csv"
    media_type = "text/csv; charset=utf-8"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        if options.get("separator", "comma") not in tuple(NAMED):
            raise OptionFault("separator", "unknown separator", f"the separators are {', '.join(NAMED)}")
        columns = options.get("columns", [])
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise OptionFault("columns", "`columns` must be a list of texts")
        if len(set(columns)) < len(columns):
            raise OptionFault("columns", "two columns have the same name")
        if "rows" in options:
            _validate_rows(options["rows"], columns)

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        """Return the lines; a cell is in quotes only where it has to be."""
        rows, columns = options["rows"], options.get("columns")
        if columns is None and rows and isinstance(rows[0], Mapping):
            columns = list(rows[0])
        separator = NAMED[options.get("separator", "comma")]
        lines = [] if columns is None else [_line(columns, separator)]
        size = 0
        for number, row in enumerate(rows, 1):
            cells = [row[name] for name in columns or ()] if isinstance(row, Mapping) else row
            lines.append(_line([_text(cell, number) for cell in cells], separator))
            size += len(lines[-1]) + 1
            if size > TEXT_LENGTH:
                raise OptionFault("rows", f"the table has more than {TEXT_LENGTH:,} characters", "use fewer rows")
        return "\n".join(lines)


def _line(cells: list[str], separator: str) -> str:
    """Return the line of a row, written here because Python's csv module quotes differently in different versions."""
    special = re.compile(rf'["\r\n{re.escape(separator)}]|\A\s|\s\Z')
    quoted = [f'"{cell.replace(QUOTE, 2 * QUOTE)}"' if special.search(cell) else cell for cell in cells]
    return separator.join(quoted) if quoted != [""] else 2 * QUOTE


def _validate_rows(rows: Any, columns: list[str]) -> None:
    if not isinstance(rows, list) or not all(isinstance(row, (list, Mapping)) for row in rows):
        help = f"to use the value, write `= {rows}`" if isinstance(rows, str) and rows.isidentifier() else None
        raise OptionFault("rows", "`rows` must be a list of lists or of records", help)
    names = columns or (list(rows[0]) if rows and isinstance(rows[0], Mapping) else [])
    width = len(names) or (len(rows[0]) if rows else 0)
    if rows and width == 0:
        raise OptionFault("rows", "a row needs at least one cell")
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping):
            missing = next((name for name in names if name not in row), None)
            if missing is not None or not names:
                raise OptionFault("rows", f"row {number} has no field `{missing}`")
        elif len(row) != width:
            raise OptionFault(
                "rows", f"row {number} has {counted(len(row), 'cell')}, but the table has {counted(width, 'column')}"
            )


def _text(cell: Value, number: int) -> str:
    if isinstance(cell, NO_CELLS):
        raise OptionFault("rows", f"row {number} has a cell that is neither a text, a number, a boolean nor none")
    return "" if cell is None else cell if isinstance(cell, str) else plain(cell)
