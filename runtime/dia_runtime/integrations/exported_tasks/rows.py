"""The rows of an exported folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the file. Raises DiaError if it is damaged."""
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                row = json.loads(text)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                message = visible(f"line {number} of `{path}` is not a row")
                raise DiaError(Diagnostic("E707", message, None, "export the bundle again"), 3)
            yield row
