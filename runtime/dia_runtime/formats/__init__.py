"""Answer formats: one module a format, with the instruction to the model and the extraction."""

from __future__ import annotations

from dia_runtime.formats.base import Extraction, Format
from dia_runtime.formats.xml import XML

__all__ = ["FORMATS", "Extraction", "Format"]

FORMATS: dict[str, Format] = {
    "xml": XML,
}
