"""QR codes of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dia_language.media.png_reader import SIDE

from dia_compiler.assets.base import OptionFault, Site, data, template
from dia_compiler.assets.pictures import (
    Picture,
    check_area,
    packed,
    text_option,
    whole_option,
    word_option,
)

# ISO/IEC 18004:2015, table 7: data bits of version 40
BITS: Final = {"L": 23648, "M": 18672, "Q": 13328, "H": 10208}
SCALE, MOST_SCALE = 4, 64
BORDER, MOST_BORDER = 4, 100


class Qr(Picture):
    summary = "a QR code of a text, as a PNG picture"
    options = {
        "text": template("the text", required=True),
        "error": data("error correction level: L, M, Q or H (default M)"),
        "scale": data("size of a module (one small square of the code) in pixels (default 4)"),
        "border": data("width of the white border in modules (default 4)"),
    }
    modules = (*Picture.modules, "segno")
    libraries = (*Picture.libraries, "segno")

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for the first option that is invalid, such as a text too long for a QR code."""
        level = word_option(options, "error", "M", tuple(BITS))
        whole_option(options, "scale", SCALE, 1, MOST_SCALE)
        whole_option(options, "border", BORDER, 0, MOST_BORDER)
        text = text_option(options)
        if text == "":
            raise OptionFault("text", "a QR code needs text")
        if text is not None and bits_of(text) > BITS[level]:
            help = f"level {level} holds at most {(BITS[level] - 20) // 8} bytes"
            raise OptionFault("text", f"the text of {len(text)} characters is too long for a QR code", help)

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        import segno
        from PIL import Image

        text = options["text"]
        code = segno.make_qr(
            text,
            error=word_option(options, "error", "M", tuple(BITS)),
            encoding=None if text.isascii() else "utf-8",
            eci=not text.isascii(),
            boost_error=False,
        )
        scale = whole_option(options, "scale", SCALE, 1, MOST_SCALE)
        border = whole_option(options, "border", BORDER, 0, MOST_BORDER)
        size = len(code.matrix) + 2 * border
        check_area("scale", size * scale, size * scale, most=SIDE)
        image = Image.new("1", (size, size), 1)
        image.putdata([not module for row in code.matrix_iter(border=border) for module in row])
        return packed(image.resize((size * scale, size * scale), Image.Resampling.NEAREST))


def bits_of(text: str) -> int:
    """Return the bits that the text takes in the largest code, as one segment (7.4)."""
    if re.fullmatch("[0-9]*", text):
        return 18 + len(text) // 3 * 10 + (0, 4, 7)[len(text) % 3]
    if re.fullmatch("[0-9A-Z $%*+./:-]*", text):
        return 17 + len(text) // 2 * 11 + len(text) % 2 * 6
    return 20 + 8 * len(text.encode()) + (0 if text.isascii() else 12)
