"""The location of the data files of the project."""

from __future__ import annotations

from pathlib import Path


def data_folder() -> Path:
    """Return the folder with schemas/ and specs/: inside the installed package, or the root of a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent.parent
