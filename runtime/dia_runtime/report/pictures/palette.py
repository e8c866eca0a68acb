"""Colours by name, each for a light and a dark background.

Verdicts differ in lightness as well as in hue, so that they can be distinguished by colour-blind readers and in
black-and-white prints. A colour is a name in drawings and a class in SVG: `f-NAME` fills, `s-NAME` strokes.
"""

from __future__ import annotations

from collections.abc import Iterable

SERIES = tuple(f"series-{number}" for number in range(1, 9))
STEPS = 10  # of the scales heat-0 .. heat-10 and tilt-0 .. tilt-10

# Name -> colour on a light background, colour on a dark background
COLOURS: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14181f"),
    "ink": ("#1b2430", "#e6eaf0"),
    "muted": ("#566274", "#a3adbb"),
    "faint": ("#c9d0d9", "#434d5b"),
    "grid": ("#e6eaef", "#28303a"),
    "shade": ("#f5f7f9", "#1a1f27"),
    "accent": ("#1d62a8", "#7cb8f2"),
    "correct": ("#2b6cb0", "#5aa2e6"),
    "skipped": ("#c3cad4", "#5b6675"),
    "wrong": ("#e07a3f", "#e58a54"),
    "unparsed": ("#8a3b12", "#a9532a"),
    "error": ("#e8c547", "#d9b93c"),
    "on-correct": ("#ffffff", "#0d1117"),
    "on-skipped": ("#1b2430", "#ffffff"),
    "on-wrong": ("#1b1208", "#1b1208"),
    "on-unparsed": ("#ffffff", "#ffffff"),
    "on-error": ("#1b1208", "#1b1208"),
    "series-1": ("#1d62a8", "#6db1f2"),
    "series-2": ("#bd5018", "#f0935c"),
    "series-3": ("#0b7a5e", "#3fc39c"),
    "series-4": ("#a0428a", "#dd8cc8"),
    "series-5": ("#8a6d00", "#d8b93a"),
    "series-6": ("#4c4fb0", "#a2a5f5"),
    "series-7": ("#b3344a", "#f0848f"),
    "series-8": ("#4d5a68", "#a9b4c0"),
    "none": ("none", "none"),
}


def _mixed(one: str, other: str, share: float) -> str:
    """Return the colour between two, at this share of the way to the second."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in pairs)


def _scale(name: str, light: tuple[str, ...], dark: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Return the steps of a scale through these colours."""
    steps = {}
    for step in range(STEPS + 1):
        at, share = divmod(step * (len(light) - 1) / STEPS, 1)
        ends = int(at), min(int(at) + 1, len(light) - 1)
        shades = (_mixed(colours[ends[0]], colours[ends[1]], share) for colours in (light, dark))
        steps[f"{name}-{step}"] = (next(shades), next(shades))
    return steps


COLOURS |= _scale("heat", ("#eef2f7", "#8fb8de", "#2b6cb0", "#12305a"), ("#202833", "#2f5480", "#5aa2e6", "#d3e9ff"))
COLOURS |= _scale("tilt", ("#a4470f", "#f0b48c", "#f3f5f7", "#8fb8de", "#174a84"),
                  ("#f0935c", "#8f5330", "#262e38", "#2f5f95", "#8cc4fb"))  # fmt: skip


def heat(share: float) -> str:
    """Return the colour of a share between 0 and 1: the larger, the stronger.

    >>> heat(0.0), heat(0.52), heat(1.0)
    ('heat-0', 'heat-5', 'heat-10')
    """
    return f"heat-{_step(share)}"


def tilt(value: float) -> str:
    """Return the colour of a value between -1 and 1, faint near 0.

    >>> tilt(-1.0), tilt(0.0), tilt(1.0)
    ('tilt-0', 'tilt-5', 'tilt-10')
    """
    return f"tilt-{_step((value + 1) / 2)}"


def _step(share: float) -> int:
    return min(STEPS, max(0, int(share * STEPS + 0.5)))


def on(colour: str) -> str:
    """Return the colour of text on a step of a scale: dark on light steps, light on dark ones.

    >>> on("heat-1"), on("heat-9"), on("tilt-1")
    ('ink', 'paper', 'paper')
    """
    name, _, step = colour.partition("-")
    strong = abs(int(step) - STEPS / 2) >= 4 if name == "tilt" else int(step) >= 6
    return "paper" if strong else "ink"


def series(number: int) -> str:
    """Return the colour of a series by its number, from 0 on; colours repeat after eight."""
    return SERIES[number % len(SERIES)]


def styles(names: Iterable[str] = tuple(COLOURS)) -> str:
    """Return the style sheet that gives these classes their colours, by the reader's choice of background."""
    chosen = sorted(set(names))
    light, dark = ("".join(map(_rule, chosen, [side] * len(chosen))) for side in (0, 1))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _rule(name: str, side: int) -> str:
    value = COLOURS[name][side]
    return f".f-{name}{{fill:{value}}}.s-{name}{{stroke:{value}}}"
