"""Answer formats: one module per format, with the instruction to the model and the extraction."""

from __future__ import annotations

from dia_language.plugins import Registry, instance_of

from dia_runtime.formats.base import Extraction, Format
from dia_runtime.formats.boxed import BOXED
from dia_runtime.formats.json_value import JSON
from dia_runtime.formats.label import LABEL
from dia_runtime.formats.last_line import LAST_LINE
from dia_runtime.formats.letter import LETTER
from dia_runtime.formats.regex import REGEX
from dia_runtime.formats.tagged import TAGGED
from dia_runtime.formats.whole import WHOLE
from dia_runtime.formats.xml import XML

__all__ = ["FORMATS", "Extraction", "Format"]


OWN: dict[str, Format] = {
    "boxed": BOXED,
    "json": JSON,
    "label": LABEL,
    "last_line": LAST_LINE,
    "letter": LETTER,
    "regex": REGEX,
    "tagged": TAGGED,
    "whole": WHOLE,
    "xml": XML,
}
FORMATS: Registry[Format] = Registry("dia.formats", OWN, instance_of(Format, "dia_runtime.formats.Format"))
