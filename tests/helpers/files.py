"""What files and folders hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def content(folder: Path) -> dict[str, bytes]:
    """The bytes of each file below a folder, by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
