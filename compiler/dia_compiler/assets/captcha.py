"""CAPTCHA pictures: rotated and warped digits or letters, covered by dots and a curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, TypeVar

from dia_language.media.glyphs import USUAL_FONT, font_file

from dia_compiler.assets.base import Entropy, OptionFault, Site, template
from dia_compiler.assets.base import data as data_option
from dia_compiler.assets.pictures import (
    Colour,
    Picture,
    check_characters,
    packed,
    size_option,
    text_option,
)

T = TypeVar("T")
SIZE: Final = (160, 60)
CHARACTERS: Final = 20
LEAST, MOST = 30, 1000
# The library's own 30 degrees make a 1 of a 7, its overlap of a quarter hides digits, and dark ink becomes pale.
DEGREES, OVERLAP = 18, 0.1
BRIGHTNESS: Final = range(40, 131)


class Seeded:
    """Replaces the module `secrets` in the library, with bytes of the instance."""

    def __init__(self, entropy: Entropy) -> None:
        self.entropy = entropy

    def randbits(self, count: int) -> int:
        """Return an integer with the given number of random bits."""
        size = -(-count // 8)
        return int.from_bytes(self.entropy(size), "big") >> 8 * size - count

    def randbelow(self, most: int) -> int:
        """Return an integer from 0 to most - 1, each as likely as any other."""
        while (number := self.randbits(most.bit_length())) >= most:
            pass
        return number

    def choice(self, items: Sequence[T]) -> T:
        return items[self.randbelow(len(items))]


class Captcha(Picture):
    summary = "a CAPTCHA: noisy digits or letters, as a PNG picture"
    options = {
        "text": template("1 to 20 digits and letters from A to Z, in either case", required=True),
        "size": data_option("[width, height] in pixels, each from 30 to 1000 (default [160, 60])"),
    }
    modules = (*Picture.modules, "captcha")
    libraries = (*Picture.libraries, "captcha")

    def validate(self, options: Mapping[str, Any]) -> None:
        size_option(options, LEAST, MOST)
        text = text_option(options, most=CHARACTERS)
        if text is not None and not (text.isascii() and text.isalnum()):
            raise OptionFault("text", "a CAPTCHA can show only digits and letters A to Z", "give 1 to 20 of them")

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        from captcha import image

        width, height = size_option(options, LEAST, MOST) or SIZE
        check_characters("text", options["text"])
        sizes = tuple(height * share // 60 for share in (42, 50, 56))
        maker = image.ImageCaptcha(width, height, [str(font_file(USUAL_FONT))], sizes)
        seeded = Seeded(site.entropy)
        ink = ink_of(seeded)
        maker.character_rotate, maker.word_offset_dx = (-DEGREES, DEGREES), OVERLAP
        maker.lookup_table = [min(255, shade * 255 // brightness(ink)) for shade in range(256)]
        with replaced(image, seeded):
            return packed(maker.generate_image(options["text"], fg_color=ink))


def ink_of(seeded: Seeded) -> Colour:
    """Return a colour that contrasts with the background, whose components are 238 or more."""
    while brightness(ink := (seeded.randbelow(201), seeded.randbelow(201), seeded.randbelow(201))) not in BRIGHTNESS:
        pass
    return ink


def brightness(colour: Colour) -> int:
    """Return how bright a colour is, from 0 to 255 (ITU-R BT.601)."""
    red, green, blue = colour
    return (299 * red + 587 * green + 114 * blue) // 1000


@contextmanager
def replaced(module: ModuleType, secrets: Seeded) -> Iterator[None]:
    """Temporarily replace the module's source of randomness by the seeded object."""
    name = "secrets"
    before = getattr(module, name)
    setattr(module, name, secrets)
    try:
        yield
    finally:
        setattr(module, name, before)
