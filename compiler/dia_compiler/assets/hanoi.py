"""Drawn positions of the Tower of Hanoi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dia_language.media.glyphs import cell_size

from dia_compiler.assets.base import OptionFault, Site, data
from dia_compiler.assets.pictures import Colour, Picture, packed, write

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

MOST_DISKS: Final = 32
LEAST_PEGS, MOST_PEGS = 3, 6
LABEL: Final = 16
POST: Final = 6
SMALLEST, STEP, THICKNESS, GAP = 20, 8, 12, 12  # widths and heights in pixels
WHITE: Final[Colour] = (255, 255, 255)
WOOD: Final[Colour] = (90, 90, 90)  # grey, the colour of no disk
COLOURS: Final[tuple[Colour, ...]] = (
    (214, 39, 40), (31, 119, 180), (44, 160, 44), (255, 127, 14), (148, 103, 189), (23, 190, 207), (188, 189, 34),
)  # fmt: skip


class Hanoi(Picture):
    summary = "a Tower of Hanoi position, drawn as a PNG picture"
    options = {
        "pegs": data(
            "the disks on each peg, pegs from left to right, disks from bottom to top: [[3, 1], [2], []]", required=True
        ),
        "labels": data("a letter or digit for each peg (default A, B, C ...)"),
    }

    def validate(self, options: Mapping[str, Any]) -> None:
        if "pegs" not in options:
            return
        pegs = options["pegs"]
        if not isinstance(pegs, list) or not LEAST_PEGS <= len(pegs) <= MOST_PEGS:
            raise OptionFault("pegs", f"`pegs` must be a list of {LEAST_PEGS} to {MOST_PEGS} lists")
        _check_disks(pegs)
        labels = _labels(options, len(pegs))
        if len(labels) != len(pegs) or not all(_is_label(label) for label in labels):
            raise OptionFault("labels", "`labels` must contain one letter or digit for each peg")

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        from PIL import Image, ImageDraw

        pegs = options["pegs"]
        count = sum(map(len, pegs))
        widest, tallest = SMALLEST + STEP * count, THICKNESS * (count + 1) + GAP
        size = (len(pegs) * (widest + GAP), tallest + THICKNESS // 2 + cell_size(LABEL)[1] + GAP)
        image = Image.new("RGB", size, WHITE)
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, tallest, size[0] - 1, tallest + THICKNESS // 2 - 1), WOOD)
        for place, (label, disks) in enumerate(zip(_labels(options, len(pegs)), pegs, strict=True)):
            _draw_peg(image, draw, (place * (widest + GAP) + (widest + GAP) // 2, tallest), label, disks)
        return packed(image)


def _draw_peg(
    image: Image.Image, draw: ImageDraw.ImageDraw, foot: tuple[int, int], label: str, disks: list[int]
) -> None:
    """Draw one peg with its label below and its disks; each disk has a light edge towards the next."""
    middle, ground = foot
    draw.rectangle((middle - POST // 2, GAP // 2, middle + POST // 2 - 1, ground - 1), WOOD)
    for height, disk in enumerate(disks):
        half, top = (SMALLEST + STEP * (disk - 1)) // 2, ground - THICKNESS * (height + 1)
        box = (middle - half, top + 1, middle + half - 1, top + THICKNESS - 1)
        draw.rectangle(box, COLOURS[disk % len(COLOURS)])
    write(image, label, (middle - cell_size(LABEL)[0] // 2, ground + THICKNESS // 2 + GAP // 2), LABEL, WOOD)


def _labels(options: Mapping[str, Any], count: int) -> list[str]:
    labels = options.get("labels", [chr(ord("A") + place) for place in range(count)])
    if not isinstance(labels, list):
        raise OptionFault("labels", "`labels` must be a list", "write labels: [A, B, C]")
    return labels


def _is_label(label: Any) -> bool:
    return isinstance(label, str) and len(label) == 1 and label.isascii() and label.isalnum()


def _check_disks(pegs: list[Any]) -> None:
    if not all(isinstance(disks, list) and all(type(disk) is int for disk in disks) for disks in pegs):
        raise OptionFault("pegs", "each of `pegs` must be a list of integers, from the bottom disk to the top disk")
    count = sum(map(len, pegs))
    if not 1 <= count <= MOST_DISKS or sorted(disk for disks in pegs for disk in disks) != list(range(1, count + 1)):
        raise OptionFault(
            "pegs", "the disks on all pegs together must be 1, 2, 3 ..., each exactly once", f"at most {MOST_DISKS}"
        )
    if any(list(disks) != sorted(disks, reverse=True) for disks in pegs):
        raise OptionFault("pegs", "a disk is on top of a smaller one", "list each peg's disks from bottom to top")
