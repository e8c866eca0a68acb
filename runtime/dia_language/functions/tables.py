"""Tables: comma-separated values."""

from __future__ import annotations

import csv
import io

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, counted
from dia_language.functions.argument_types import Value
from dia_language.functions.registry import library_function


@library_function
def read_csv(table: str, separator: str = ",") -> list[list[Value]]:
    """The rows of a table of comma-separated values (RFC 4180): one list of texts per row, including the header.

    `separator` is the character between the cells. Lines end with LF or CRLF; empty lines are skipped. Raises an error
    if rows have different lengths or quotes do not match.

    Examples:
        read_csv("name,price\\nfig,3\\n\\"a, b\\",12") -> [["name", "price"], ["fig", "3"], ["a, b", "12"]]
        [from_base(row[1], 10) for row in read_csv("fig;3\\npear;12", ";")] -> [3, 12]
    """
    charge(len(table) // 16)
    if len(separator) != 1 or separator in '"\r\n ':
        raise LanguageError("`read_csv` needs one character as `separator`, such as , or ;")
    try:
        reader = csv.reader(io.StringIO(table, newline=""), delimiter=separator, strict=True)
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise LanguageError(f"`read_csv` cannot read the table: {error}") from None
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise LanguageError(
                f"row {number} of the table has {counted(len(row), 'cell')}, but the first row has {len(rows[0])}"
            )
    charge(sum(map(len, rows)))
    return [list(row) for row in rows]
