"""The Wright map of a large panel: bars that count everything, and names that can be read."""

from __future__ import annotations

import re

import numpy as np
from dia_runtime.report.pictures.drawing import Rect, Text, text_width
from dia_runtime.report.pictures.wright import wright_map


def test_a_hundred_models_and_750_items_can_be_read() -> None:
    generator = np.random.default_rng(1)
    abilities, difficulties = generator.normal(size=100), generator.normal(0, 1.5, 750)
    bank = {
        "models": [{"model": f"model-{at}", "ability": float(value)} for at, value in enumerate(abilities)],
        "items": [{"item": f"bench/item_{at}/0", "difficulty": float(value)} for at, value in enumerate(difficulties)],
    }
    drawing = wright_map({"bank": bank})
    counts: dict[str, int] = {"model": 0, "item": 0}
    for mark in drawing.marks:
        if isinstance(mark, Rect) and (tip := re.match(r"(\d+) (model|item)s? between", mark.tip)):
            counts[tip[2]] += int(tip[1])
    assert counts == {"model": 100, "item": 750}
    sides = [
        [mark for mark in drawing.marks if isinstance(mark, Text) and mark.tip.startswith(name)]
        for name in ("model-", "bench/")
    ]
    for names, places in zip(sides, (abilities, difficulties), strict=True):
        values = [float(mark.tip.rpartition(": ")[2].replace("\N{MINUS SIGN}", "-")) for mark in names]
        heights = [mark.y for mark in names]
        assert len(names) >= 10 and np.all(np.diff(heights) >= 13.9), "names do not touch"
        assert values[0] == round(places.max(), 3) and values[-1] == round(places.min(), 3)
        slope, start = np.polyfit(values, heights, 1)
        assert np.abs(heights - (start + slope * np.array(values))).max() < 14, "a name is at its place"
        assert all(_left(mark) > 0 and _left(mark) + text_width(mark.text, mark.size) < drawing.width for mark in names)


def _left(mark: Text) -> float:
    return mark.x - (text_width(mark.text, mark.size) if mark.anchor == "end" else 0)
