"""Texts drawn in the bundled font: each character has its own cell, so that a text can be read back.

Needs the extra `images` (Pillow).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dia_language.diagnostics import LanguageError, install_extra

if TYPE_CHECKING:
    from PIL import Image, ImageFont

FONTS: Final = {"DejaVuSansMono": "DejaVuSansMono.ttf"}
USUAL_FONT: Final = "DejaVuSansMono"
FONT_SIZE, LEAST_SIZE, MOST_SIZE = 24, 8, 200
MARGIN: Final = 10
UNUSED: Final = "\U0010ffff"


def font_file(name: str = USUAL_FONT) -> Path:
    """Return the path of a bundled font."""
    return Path(__file__).parent / "fonts" / FONTS[name]


@lru_cache(maxsize=16)
def load_font(size: int, name: str = USUAL_FONT) -> ImageFont.FreeTypeFont:
    """Return the bundled font in one size. Raises LanguageError if Pillow is missing."""
    try:
        from PIL import ImageFont
    except ImportError:
        raise LanguageError("drawn texts need Pillow", install_extra("images")) from None
    return ImageFont.truetype(str(font_file(name)), size, layout_engine=ImageFont.Layout.BASIC)


def cell_size(size: int, name: str = USUAL_FONT) -> tuple[int, int]:
    """Return width and height of a character's cell."""
    font = load_font(size, name)
    return round(font.getlength("M")), sum(font.getmetrics())


@lru_cache(maxsize=512)
def glyph(character: str, size: int, name: str = USUAL_FONT) -> Image.Image:
    """Return the ink in a character's cell, from 0 (none) to 255."""
    from PIL import Image, ImageDraw

    cell = Image.new("L", cell_size(size, name), 0)
    ImageDraw.Draw(cell).text((0, 0), character, font=load_font(size, name), fill=255)
    return cell


def missing_characters(text: str, name: str = USUAL_FONT) -> list[str]:
    """Return the characters of the text that the font cannot draw, each once; newlines are ignored."""
    font = load_font(FONT_SIZE, name)
    empty = bytes(font.getmask(UNUSED))
    others = sorted(set(text) - {"\n"})
    return [character for character in others if not character.isprintable() or bytes(font.getmask(character)) == empty]


def draw_text(text: str, size: int, name: str = USUAL_FONT) -> Image.Image:
    """Return the ink of a text of one or several lines, from 0 (none) to 255, without a margin."""
    from PIL import Image

    lines = text.split("\n")
    width, height = cell_size(size, name)
    ink = Image.new("L", (max(1, width * max(map(len, lines))), height * len(lines)), 0)
    for row, line in enumerate(lines):
        for column, character in enumerate(line):
            ink.paste(glyph(character, size, name), (column * width, row * height))
    return ink
