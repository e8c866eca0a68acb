"""JSON Lines: one object per line, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, first_repeat
from dia_runtime.bundle.compressed import read_lines
from dia_runtime.bundle.input_errors import input_error, unreadable_file
from dia_runtime.integrations.reading.base import Number, Row

BOM = b"\xef\xbb\xbf"
COMMAS = 2_000_000  # in a line: values need far more memory than their text


def rows(path: Path) -> Iterator[Row | DiaError]:
    """Yield the objects of the file, which may be compressed, as rows; a malformed line yields an error instead."""
    for number, text, value in objects(path):
        if isinstance(value, DiaError):
            yield value
        else:
            yield Row(number, value, lambda name, text=text: _place(text, name))  # type: ignore[misc]


def objects(path: Path) -> Iterator[tuple[int, str, dict[str, Any] | DiaError]]:
    """Yield number, text and object of each line that is not empty, with an error in place of a missing object.

    Raises DiaError if the file cannot be read to its end.
    """
    try:
        for number, raw in read_lines(path):
            if number == 1:
                raw = raw.removeprefix(BOM)
            if raw and not raw.isspace():
                yield number, *_read(path, number, raw)
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None


def _read(path: Path, number: int, raw: bytes) -> tuple[str, dict[str, Any] | DiaError]:
    try:
        text = _text(path, number, raw)
        return text, _object(path, number, text)
    except DiaError as error:
        return "", error


def _text(path: Path, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise input_error("E861", "not UTF-8", path, number, error.start + 1, "save the file as UTF-8") from None


def _object(path: Path, number: int, text: str) -> dict[str, Any]:
    if text.count(",") > COMMAS:
        raise input_error("E861", f"more than {COMMAS:,} commas in a line", path, number)
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise input_error("E861", message, path, number, error.colno, "write one object per line") from None
    except RecursionError:
        raise input_error("E861", "nested too deeply", path, number) from None
    except ValueError as error:
        raise input_error("E861", f"not JSON: {error}", path, number) from None
    if not isinstance(value, dict):
        raise input_error(
            "E861", "a line is not an object", path, number, 1, 'write {"column": value, ...} on every line'
        )
    return value


def constant(text: str) -> Any:
    """Raise ValueError, because NaN and Infinity are not JSON numbers."""
    raise ValueError(f"`{text}` is not a number")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = first_repeat(name for name, _ in pairs) or ""
        raise ValueError(f"the key `{twice[:40]}` occurs twice in one object")
    return record


DECODER = json.JSONDecoder(parse_float=Number, parse_constant=constant, object_pairs_hook=_pairs)


def _place(text: str, name: str) -> int:
    """Return the column at which the value of a key begins, as far as it can be determined."""
    start = text.find(json.dumps(name, ensure_ascii=False))
    return 1 if start < 0 else start + 1
