"""The pictures that `dia plot` draws and the report holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dia_runtime.report.pictures.drawing import Drawing

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A kind of picture: what it shows, which data it needs by name, and the function that draws them.

    `needs` names what `draw` finds in its data: "score" (as `dia score --json` prints it), "views" (as `dia questions
    --json`), "bank" (as `dia calibrate` writes it).
    """

    title: str
    needs: tuple[str, ...]
    draw: Callable[[Data], Drawing]


# Kind, as `dia plot` is told it -> the picture.
PICTURES: dict[str, Picture] = {}
