"""PNG pictures from pixels, drawn text or noise, optionally with hidden bytes and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dia_language.media.glyphs import MARGIN, cell_size, draw_text
from dia_language.media.png_reader import AREA

from dia_compiler.assets.base import OptionFault, Site, data, template
from dia_compiler.assets.metadata import check_metadata, exif_bytes, png_info
from dia_compiler.assets.pictures import (
    BLACK,
    WHITE,
    Picture,
    check_area,
    check_characters,
    colour_option,
    font_option,
    packed,
    size_option,
    text_option,
    whole_option,
)

if TYPE_CHECKING:
    from PIL import Image

MODES: Final = {1: "L", 3: "RGB", 4: "RGBA"}
MARGINS: Final = 1000


class Png(Picture):
    summary = "a PNG picture of pixels, text or noise, optionally with hidden bytes and metadata"
    options = {
        "pixels": data(
            "the pixels as bytes, row by row: one per pixel (grey), three (red, green, blue) or four (with alpha)"
        ),
        "size": data("[width, height] in pixels, for `pixels` or for a picture without text"),
        "text": template("the text to draw, in one or several lines; the picture is sized to fit"),
        "font": data("the name of a built-in font (default DejaVuSansMono)"),
        "font_size": data("font size in pixels (default 24)"),
        "margin": data("margin around the text in pixels (default 10)"),
        "colour": data("the colour of the text, as '#rrggbb' (default black)"),
        "background": data("the background colour, as '#rrggbb' (default white)"),
        "noise": data(
            "true: a picture of random pixels; or a number from 1 to 127, the most by which noise changes a colour "
            "channel of a pixel"
        ),
        "hide": data("text or bytes to hide in the least significant bits; their length comes first, in 32 bits"),
        "exif": data(
            "a mapping with any of description, artist, copyright, software, make, model, date_time, user_comment"
        ),
        "xmp": data("a mapping with any of description, title, rights, creator, subject"),
        "chunks": data("text chunks to add to the file: a mapping from keyword (such as Comment) to text"),
    }

    def validate(self, options: Mapping[str, Any]) -> None:
        size_option(options)
        font_option(options)
        whole_option(options, "margin", MARGIN, 1, MARGINS)
        colour_option(options, "colour", BLACK)
        colour_option(options, "background", WHITE)
        _check_sources(options)
        text_option(options)
        _hidden(options)
        check_metadata(options)

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        image = _base(options, site)
        strength = options.get("noise", 0)
        image = image if strength is True or not strength else _moved(image, strength, site)
        hidden = _hidden(options)
        image = image if hidden is None else _hiding(image, hidden)
        return packed(image, png_info(options), exif_bytes(options))


def _check_sources(options: Mapping[str, Any]) -> None:
    noise = options.get("noise", False)
    if type(noise) is not bool and (type(noise) is not int or not 1 <= noise <= 127):
        raise OptionFault("noise", "`noise` must be true, or an integer from 1 to 127")
    if "pixels" in options and "text" in options:
        raise OptionFault("text", "a picture has either `pixels` or `text`")
    if noise is True and ("text" in options or "pixels" in options):
        raise OptionFault(
            "noise",
            "noise alone would cover the picture",
            "give the largest change of a colour channel instead, such as 40",
        )
    if "text" in options and "size" in options:
        raise OptionFault(
            "size", "a picture of text is as large as the text needs", "set `font_size` and `margin` instead"
        )


def _hidden(options: Mapping[str, Any]) -> bytes | None:
    hidden = options.get("hide")
    if isinstance(hidden, bytes):
        return hidden
    if "hide" in options and not isinstance(hidden, str):
        raise OptionFault("hide", "`hide` must be text or bytes")
    text = text_option(options, "hide", AREA)
    return None if text is None else text.encode()


def _base(options: Mapping[str, Any], site: Site) -> Image.Image:
    """Return the picture before noise and hidden bytes are added."""
    from PIL import Image

    text = text_option(options)
    if text is not None:
        return _drawn(text, options)
    size = size_option(options)
    if size is None:
        raise OptionFault("size", "a picture without text needs a `size`", "write size: [width, height]")
    if "pixels" in options:
        return _of_pixels(options["pixels"], size)
    if options.get("noise") is True:
        return Image.frombytes("RGB", size, site.entropy(size[0] * size[1] * 3))
    return Image.new("RGB", size, colour_option(options, "background", WHITE))


def _of_pixels(pixels: Any, size: tuple[int, int]) -> Image.Image:
    from PIL import Image

    area = size[0] * size[1]
    if not isinstance(pixels, bytes):
        raise OptionFault("pixels", "`pixels` must be bytes", "`bytes_of` converts a list of integers to bytes")
    if len(pixels) not in (area, area * 3, area * 4):
        message = f"`pixels` has {len(pixels)} bytes for {size[0]} by {size[1]} pixels"
        raise OptionFault(
            "pixels", message, f"give {area} (grey), {area * 3} (red, green, blue) or {area * 4} (with alpha)"
        )
    return Image.frombytes(MODES[len(pixels) // area], size, pixels)


def _drawn(text: str, options: Mapping[str, Any]) -> Image.Image:
    """Return the text in its colour on its background, in greyscale if both are grey."""
    from PIL import Image

    font, font_size = font_option(options)
    margin = whole_option(options, "margin", MARGIN, 1, MARGINS)
    lines = text.split("\n")
    width, height = cell_size(font_size, font)
    size = (max(1, width * max(map(len, lines))) + 2 * margin, height * len(lines) + 2 * margin)
    check_area("text", *size)
    check_characters("text", text, font)
    colours = colour_option(options, "colour", BLACK), colour_option(options, "background", WHITE)
    is_grey = all(len(set(colour)) == 1 for colour in colours)
    ink, paper = (colour[0] if is_grey else colour for colour in colours)
    image = Image.new("L" if is_grey else "RGB", size, paper)
    image.paste(ink, (margin, margin), draw_text(text, font_size, font))
    return image


def _moved(image: Image.Image, strength: int, site: Site) -> Image.Image:
    """Return the picture with each sample moved by up to the strength, within 0 to 255."""
    import numpy
    from PIL import Image

    samples = numpy.frombuffer(image.tobytes(), numpy.uint8).astype(numpy.int16)
    drawn_bytes = numpy.frombuffer(site.entropy(len(samples)), numpy.uint8).astype(numpy.int32)
    shifts = drawn_bytes * (2 * strength + 1) // 256 - strength
    moved = numpy.clip(samples + shifts, 0, 255).astype(numpy.uint8)
    return Image.frombytes(image.mode, image.size, moved.tobytes())


def _hiding(image: Image.Image, hidden: bytes) -> Image.Image:
    """Return the picture with the bytes, after their number, in the least significant bits of its first samples."""
    import numpy
    from PIL import Image

    samples = numpy.frombuffer(image.tobytes(), numpy.uint8).copy()
    room = len(samples) // 8 - 4
    if len(hidden) > room:
        message = f"there are {len(hidden)} bytes to hide, but the picture has room for {max(0, room)}"
        raise OptionFault("hide", message, "each byte needs eight samples; make the picture larger")
    bits = numpy.unpackbits(numpy.frombuffer(len(hidden).to_bytes(4, "big") + hidden, numpy.uint8))
    samples[: len(bits)] = samples[: len(bits)] & 254 | bits
    return Image.frombytes(image.mode, image.size, samples.tobytes())
