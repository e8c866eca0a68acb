"""What picture builders share: size limits that are checked before memory is used, colours, fonts, PNG output."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dia_language.diagnostics import did_you_mean
from dia_language.media.glyphs import FONT_SIZE, FONTS, LEAST_SIZE, MOST_SIZE, USUAL_FONT, draw_text, missing_characters
from dia_language.media.png_reader import AREA, SIDE

from dia_compiler.assets.base import Builder, OptionFault
from dia_compiler.types.base import integer_option

if TYPE_CHECKING:
    from PIL import Image, PngImagePlugin

Colour = tuple[int, int, int]
TEXT: Final = 10_000
BLACK: Final = "#000000"
WHITE: Final = "#ffffff"
HALVES: Final = re.compile("[\ud800-\udfff]")


class Picture(Builder):
    """A builder of PNG pictures. Pillow compresses them, so their bytes depend on its version."""

    extension = "png"
    media_type = "image/png"
    extra = "images"
    modules: ClassVar[tuple[str, ...]] = ("PIL",)
    libraries: ClassVar[tuple[str, ...]] = ("pillow",)


def size_option(options: Mapping[str, Any], least: int = 1, most: int = SIDE) -> tuple[int, int] | None:
    """Return the option `size` as width and height; None if it is absent. Raises OptionFault."""
    size = options.get("size")
    if size is None:
        return None
    if not isinstance(size, list) or len(size) != 2 or any(type(side) is not int for side in size):
        raise OptionFault("size", "`size` must be a list of two integers", "write size: [width, height]")
    check_area("size", size[0], size[1], least, most)
    return size[0], size[1]


def check_area(option: str, width: int, height: int, least: int = 1, most: int = SIDE) -> None:
    """Raise OptionFault for a picture that is too large, or smaller than it may be."""
    if not all(least <= side <= most for side in (width, height)) or width * height > AREA:
        help = f"a picture is {least} to {most} pixels wide and high, and has at most {AREA:,} pixels in total"
        raise OptionFault(option, f"the picture would be {width} by {height} pixels", help)


def colour_option(options: Mapping[str, Any], name: str, default: str) -> Colour:
    """Return a colour written as #rrggbb. Raises OptionFault."""
    text = options.get(name, default)
    if not isinstance(text, str) or re.fullmatch("#[0-9A-Fa-f]{6}", text) is None:
        raise OptionFault(name, f"`{name}` must be a colour", "write it as '#rrggbb' in quotes, such as '#c0ffee'")
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


def text_option(options: Mapping[str, Any], name: str = "text", most: int = TEXT) -> str | None:
    """Return the option as a text of limited length; None if it is absent. Raises OptionFault."""
    if name not in options:
        return None
    text = options[name]
    if not isinstance(text, str):
        raise OptionFault(name, f"`{name}` must be text")
    if HALVES.search(text):
        raise OptionFault(name, f"`{name}` contains half of a surrogate pair", "U+D800 to U+DFFF are not characters")
    if len(text) > most:
        raise OptionFault(name, f"`{name}` has {len(text)} characters", f"the maximum is {most}")
    return text


def whole_option(options: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    """Return the option as an integer between bounds. Raises OptionFault."""
    number = integer_option(options, name, default)
    if not least <= number <= most:
        raise OptionFault(name, f"`{name}` must be between {least} and {most}")
    return number


def word_option(options: Mapping[str, Any], name: str, default: str, words: tuple[str, ...]) -> str:
    """Return the option as one of a few words. Raises OptionFault, which lists them."""
    word = options.get(name, default)
    if not isinstance(word, str) or word not in words:
        message = f"`{name}` is {word!r}" if isinstance(word, str) else f"`{name}` must be text"
        raise OptionFault(name, message, did_you_mean(str(word), words) or f"it must be one of {', '.join(words)}")
    return word


def font_option(options: Mapping[str, Any]) -> tuple[str, int]:
    """Return the font with its size. Raises OptionFault for a font that is not shipped."""
    name = options.get("font", USUAL_FONT)
    if not isinstance(name, str) or name not in FONTS:
        raise OptionFault("font", "there is no shipped font of this name", f"the shipped fonts are {', '.join(FONTS)}")
    return name, whole_option(options, "font_size", FONT_SIZE, LEAST_SIZE, MOST_SIZE)


def check_characters(option: str, text: str, font: str = USUAL_FONT) -> None:
    """Raise OptionFault for characters that the font cannot draw."""
    missing = missing_characters(text, font)
    if missing:
        code_points = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
        raise OptionFault(
            option, f"the font cannot draw {code_points}", "end lines with a newline; tabs cannot be drawn"
        )


def write(image: Image.Image, text: str, place: tuple[int, int], size: int, colour: Colour) -> None:
    """Draw a text on a picture of red, green and blue, its first character's cell at the place."""
    image.paste(colour, place, draw_text(text, size))


def packed(image: Image.Image, info: PngImagePlugin.PngInfo | None = None, exif: bytes | None = None) -> bytes:
    """Return the picture as a PNG file."""
    more = {} if exif is None else {"exif": exif}
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=6, optimize=False, pnginfo=info, **more)
    return out.getvalue()
