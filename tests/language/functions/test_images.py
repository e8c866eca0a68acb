"""Pictures read back, against what Pillow, segno, zxing-cpp and exiftool wrote; and bytes that mean no good."""

from __future__ import annotations

import contextlib
import io
import shutil
import struct
import subprocess
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.media.png_reader import _paeth
from dia_language.media.qr_reader import ALPHANUMERIC, BLOCKS, CHECK_WORDS, alignment_places
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

Image = pytest.importorskip("PIL.Image", reason="pip install '.[images]'")


def read(name: str, *arguments: Any) -> Any:
    reset()
    return library()[name].call(*arguments)


def saved(image: Any, **more: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", **more)
    return out.getvalue()


def chunk(name: bytes, held: bytes) -> bytes:
    return struct.pack(">I", len(held)) + name + held + struct.pack(">I", zlib.crc32(name + held))


def png(header: tuple[int, ...], packed: bytes, *more: bytes) -> bytes:
    first = chunk(b"IHDR", struct.pack(">IIBBBBB", *header))
    return b"\x89PNG\r\n\x1a\n" + first + b"".join(more) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@given(st.sampled_from(["1", "L", "RGB", "RGBA", "LA", "P"]), st.integers(1, 40), st.integers(1, 20), st.randoms())
@settings(max_examples=examples(60), deadline=None)
def test_pillow_and_we_see_the_same_pixels(mode: str, width: int, height: int, chance: Any) -> None:
    samples = chance.randbytes(width * height * 4)
    smooth = bytes(place * 3 % 251 for place in range(width * height * 4))
    for data in (samples, smooth):
        image = Image.frombytes("RGBA", (width, height), data).convert(mode)
        file = saved(image)
        shown = image.convert("RGB") if mode == "P" else image.convert("L") if mode == "1" else image
        assert read("png_pixels", file) == shown.tobytes()
        assert read("png_size", file) == [width, height]
        assert [name for name, _ in read("png_chunks", file)][:: len(read("png_chunks", file)) - 1] == ["IHDR", "IEND"]


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (6, 4)])
def test_every_filter_and_depth_is_undone_as_pillow_undoes_it(
    kind: int, depth: int, colour: int, channels: int
) -> None:
    if colour and depth < 8:
        return
    width, height = 13, 7
    line = -(-width * channels * depth // 8)
    chance = numpy.random.default_rng(kind * 8 + depth)
    rows = b"".join(bytes([kind]) + chance.integers(0, 256, line, numpy.uint8).tobytes() for _ in range(height))
    file = png((width, height, depth, colour, 0, 0, 0), zlib.compress(rows))
    image = Image.open(io.BytesIO(file))
    assert read("png_pixels", file) == (image.convert("L") if colour == 0 else image).tobytes()


def test_texts_of_all_three_kinds_are_read() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Comment", "plain é")
    info.add_text("Long", "packed " * 100, zip=True)
    info.add_itxt("Title", "漢字")
    info.add_itxt("More", "漢字" * 100, zip=True)
    file = saved(Image.new("L", (1, 1)), pnginfo=info)
    assert read("png_text", file) == Image.open(io.BytesIO(file)).text
    assert len(read("png_text", file)) == 4


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")
@pytest.mark.parametrize("order", ["II", "MM"])
def test_metadata_that_exiftool_writes_are_read(tmp_path: Path, order: str) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(saved(Image.new("RGB", (4, 4))))
    tags = [
        "-XMP-dc:Description=the <key> & more", "-XMP-dc:Creator=Ann", "-XMP-dc:Creator=Bob", "-XMP-dc:Title=Ünï",
        "-EXIF:ImageDescription=an image", "-EXIF:Artist=Ann", "-EXIF:UserComment=a remark", "-EXIF:Copyright=none",
        f"-ExifByteOrder={order}",
    ]  # fmt: skip
    subprocess.run(["exiftool", "-q", "-overwrite_original", *tags, str(path)], check=True)
    assert read("xmp_of", path.read_bytes()) == {
        "description": "the <key> & more", "creator": ["Ann", "Bob"], "title": "Ünï",
    }  # fmt: skip
    exif = read("exif_of", path.read_bytes())
    assert exif == {"description": "an image", "artist": "Ann", "user_comment": "a remark", "copyright": "none"}


def test_comments_in_sixteen_bits_and_short_texts_are_read() -> None:
    held = Image.Exif()
    held[0x010E] = "abc"  # fits into the entry itself
    held.get_ifd(0x8769)[0x9286] = b"UNICODE\0" + "schön".encode("utf-16-be")
    file = saved(Image.new("L", (1, 1)), exif=held.tobytes())
    assert read("exif_of", file) == {"description": "abc", "user_comment": "schön"}


@given(st.binary(max_size=60))
@settings(max_examples=examples(30), deadline=None)
def test_hidden_bytes_are_found(hidden: bytes) -> None:
    bits = numpy.unpackbits(numpy.frombuffer(len(hidden).to_bytes(4, "big") + hidden, numpy.uint8))
    samples = numpy.random.default_rng(1).integers(0, 256, 16 * 12 * 3, numpy.uint8)
    samples[: len(bits)] = samples[: len(bits)] & 254 | bits
    assert read("hidden_in", saved(Image.frombytes("RGB", (16, 12), samples.tobytes()))) == hidden


@pytest.mark.parametrize("pixels", [b"\xff" * 100, b"\0" * 16])
def test_where_nothing_is_hidden_an_error_says_so(pixels: bytes) -> None:
    with pytest.raises(LanguageError, match="do not contain a hidden text"):
        read("hidden_in", saved(Image.frombytes("L", (4, len(pixels) // 4), pixels)))


TEXTS = ["HELLO WORLD: 42", "0123456789", "a", "Ünïcode 漢字", "The old baker sat.", "x" * 700, "7" * 1001, "A1 " * 500]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("level", ["L", "M", "Q", "H"])
def test_codes_that_another_library_writes_are_read(text: str, level: str) -> None:
    zxingcpp = pytest.importorskip("zxingcpp")
    code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level=level)
    image = Image.fromarray(numpy.array(zxingcpp.write_barcode_to_image(code, scale=3, add_quiet_zones=True)))
    assert read("read_qr", saved(image.convert("L"))) == text


@given(st.integers(1, 40), st.sampled_from("LMQH"), st.integers(0, 7), st.integers(0, 10**9))
@settings(max_examples=examples(40), deadline=None)
def test_every_version_level_and_mask_is_read(version: int, level: str, mask: int, number: int) -> None:
    segno = pytest.importorskip("segno")
    code = segno.make(str(number), version=version, error=level, mask=mask, boost_error=False, micro=False)
    out = io.BytesIO()
    code.save(out, kind="png", scale=1 + number % 3, border=number % 5)
    assert read("read_qr", out.getvalue()) == str(number)


def test_the_tables_of_codes_are_those_of_the_standard() -> None:
    consts = pytest.importorskip("segno.consts")
    for bits, level in enumerate("MLHQ"):
        for version in range(1, 41):
            blocks = consts.ECC[version][getattr(consts, f"ERROR_LEVEL_{level}")]
            assert {block.num_total - block.num_data for block in blocks} == {CHECK_WORDS[bits][version - 1]}
            assert sum(block.num_blocks for block in blocks) == BLOCKS[bits][version - 1]
    assert [tuple(alignment_places(version)) for version in range(2, 41)] == list(consts.ALIGNMENT_POS)
    assert consts.ALPHANUMERIC_CHARS.decode() == ALPHANUMERIC


def test_a_code_with_a_module_turned_over_is_told_from_a_whole_one() -> None:
    segno = pytest.importorskip("segno")
    rows = [[255 * (1 - module) for module in row] for row in segno.make("whole", micro=False).matrix_iter(border=1)]
    assert read("read_qr", saved(Image.fromarray(numpy.array(rows, numpy.uint8)))) == "whole"
    rows[-2][-2] = 255 - rows[-2][-2]
    with pytest.raises(LanguageError, match="damaged"):
        read("read_qr", saved(Image.fromarray(numpy.array(rows, numpy.uint8))))


@pytest.mark.parametrize("shape", ["blank", "square", "noise", "line"])
def test_pictures_without_a_code_are_told(shape: str) -> None:
    pixels = numpy.full((60, 60), 255, numpy.uint8)
    if shape == "square":
        pixels[10:50, 10:50] = 0
    elif shape == "noise":
        pixels = numpy.random.default_rng(2).integers(0, 256, (60, 60), numpy.uint8)
    elif shape == "line":
        pixels[5, 5:12] = pixels[20:41, 3] = 0
    with pytest.raises(LanguageError):
        read("read_qr", saved(Image.fromarray(pixels)))


def test_what_no_builder_drew_is_told_by_the_readers_of_drawings() -> None:
    blank, grey = saved(Image.new("RGB", (50, 50), "white")), saved(Image.new("L", (50, 50), 255))
    for name in ("disks_of", "marks_of"):
        for file in (blank, grey):
            with pytest.raises(LanguageError, match="does not show a"):
                read(name, file)
    noise = Image.frombytes("L", (60, 60), numpy.random.default_rng(3).integers(0, 256, 3600, numpy.uint8).tobytes())
    with pytest.raises(LanguageError, match="does not look like any character"):
        read("read_text", saved(noise))
    assert read("read_text", grey) == ""
    for arguments in ((7,), (24, -1), (24, 10, "\t"), (24, 10, "x" * 1001)):
        with pytest.raises(LanguageError):
            read("read_text", grey, *arguments)


def test_marks_lie_where_their_pixels_lie() -> None:
    from PIL import ImageDraw

    image = Image.new("RGB", (44, 40), "white")
    draw = ImageDraw.Draw(image)
    for line in ((8, 5, 8, 25), (8, 25, 38, 25), (4, 5, 8, 5), (4, 25, 8, 25), (8, 25, 8, 29), (38, 25, 38, 29)):
        draw.line(line, "black")
    for column, row in ((8, 25), (18, 15), (38, 5)):
        draw.rectangle((column - 2, row - 2, column + 2, row + 2), "#ff0000")
    assert read("marks_of", saved(image), "#ff0000") == [[0, 0], [Fraction(1, 3), Fraction(1, 2)], [1, 1]]
    draw.rectangle((20, 10, 24, 20), "#ff0000")
    with pytest.raises(LanguageError, match="touch"):
        read("marks_of", saved(image), "#ff0000")
    with pytest.raises(LanguageError, match="#rrggbb"):
        read("marks_of", saved(image), "red")


WHOLE = png((2, 2, 8, 0, 0, 0, 0), zlib.compress(b"\0\1\2\0\3\4"))
BOMB = zlib.compress(bytes(50_000_000), 9)
HOSTILE = {
    "no picture": b"GIF89a",
    "nothing": b"",
    "signature alone": WHOLE[:8],
    "cut": WHOLE[:-14],
    "no end": WHOLE[:-12],
    "checksum": WHOLE.replace(b"IEND", b"IENE"),
    "huge": png((4096, 4096, 8, 2, 0, 0, 0), BOMB),
    "wide": png((1 << 31, 1, 1, 0, 0, 0, 0), b""),
    "no pixels": png((0, 0, 8, 0, 0, 0, 0), b""),
    "bomb": png((2, 2, 8, 0, 0, 0, 0), BOMB),
    "few": png((2, 3, 8, 0, 0, 0, 0), zlib.compress(b"\0\1\2\0\3\4")),
    "garbage": png((2, 2, 8, 0, 0, 0, 0), b"no zlib"),
    "deep": png((2, 2, 16, 0, 0, 0, 0), zlib.compress(bytes(10))),
    "interlaced": png((2, 2, 8, 0, 0, 0, 1), zlib.compress(bytes(6))),
    "filter": png((2, 2, 8, 0, 0, 0, 0), zlib.compress(b"\7\1\2\0\3\4")),
    "palette": png((2, 2, 8, 3, 0, 0, 0), zlib.compress(b"\0\1\2\0\3\4"), chunk(b"PLTE", b"\0\0\0")),
    "no palette": png((2, 2, 8, 3, 0, 0, 0), zlib.compress(b"\0\1\2\0\3\4")),
    "header later": b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b"") + chunk(b"IEND", b""),
    "many chunks": png((2, 2, 8, 0, 0, 0, 0), b"", *[chunk(b"tEXt", b"")] * 10_001),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_pictures_are_told_and_not_unpacked(name: str) -> None:
    with pytest.raises(LanguageError):
        read("png_pixels", HOSTILE[name])


@pytest.mark.parametrize(
    ("held", "function", "words"),
    [
        (chunk(b"zTXt", b"k\0\0" + BOMB), "png_text", "more data than its header allows"),
        (chunk(b"zTXt", b"k\0\0no"), "png_text", "damaged"),
        (chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<!DOCTYPE a><a/>"), "xmp_of", "entities"),
        (chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<a><b>"), "xmp_of", "not valid XML"),
        (chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + b"<a>" * 70_000), "xmp_of", "too large"),
        (chunk(b"eXIf", b"XX"), "exif_of", "damaged"),
        (chunk(b"eXIf", b"II*\0\xff\xff\xff\xff"), "exif_of", "damaged"),
        (chunk(b"eXIf", b"MM\0*\0\0\0\x08\xff\xff" + bytes(12) * 70_000), "exif_of", "EXIF tags"),
        (chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\x01\x87\x69\0\4\0\0\0\1\xff\xff\xff\xff"), "exif_of", "damaged"),
    ],
)
def test_hostile_metadata_are_told(held: bytes, function: str, words: str) -> None:
    with pytest.raises(LanguageError, match=words):
        read(function, png((2, 2, 8, 0, 0, 0, 0), zlib.compress(bytes(6)), held))


BYTES = st.sampled_from([0, 1, 127, 128, 254, 255]) | st.integers(0, 255)


def test_paeth_and_average_are_paid_for_by_the_sample() -> None:
    rows = (b"\4" + bytes(2048 * 4)) * 2048
    with pytest.raises(LanguageError, match="steps"):
        read("png_pixels", png((2048, 2048, 8, 6, 0, 0, 0), zlib.compress(rows)))


@given(st.lists(st.tuples(BYTES, BYTES), max_size=24), st.integers(1, 8))
def test_paeth_is_undone_as_the_standard_says(columns: list[tuple[int, int]], step: int) -> None:
    row, above = bytes(byte for byte, _ in columns), bytes(byte for _, byte in columns)
    found: list[int] = []
    for place, byte in enumerate(row):
        left, up = found[place - step] if place >= step else 0, above[place]
        corner = above[place - step] if place >= step else 0
        nearest = min((left, up, corner), key=lambda one: abs(left + up - corner - one))  # the first of equal ones
        found.append((byte + nearest) % 256)
    assert _paeth(row, above, step) == bytes(found)


@given(st.data())
@settings(max_examples=examples(80), deadline=None)
def test_pictures_with_bytes_exchanged_end_in_a_value_or_in_one_error(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["png_size", "png_text", "xmp_of", "exif_of", "hidden_in", "read_qr", "disks_of"]))
    held = bytearray(data.draw(st.sampled_from([EXIF_BLOCK, XMP_BLOCK])))
    for _ in range(data.draw(st.integers(1, 4))):
        held[data.draw(st.integers(0, len(held) - 1))] = data.draw(st.integers(0, 255))
    kind = b"eXIf" if len(held) == len(EXIF_BLOCK) else b"iTXt"
    with contextlib.suppress(LanguageError):
        read(name, png((2, 2, 8, 2, 0, 0, 0), zlib.compress(bytes(14)), chunk(kind, bytes(held))))


XMP_BLOCK = (
    b'XML:com.adobe.xmp\0\0\0\0\0<x xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    b'xmlns:d="http://purl.org/dc/elements/1.1/"><r:Description d:title="t"><d:creator><r:Seq><r:li>a</r:li></r:Seq>'
    b"</d:creator></r:Description></x>"
)
EXIF_BLOCK = b"MM\0*\0\0\0\x08\0\2\x01\x0e\0\2\0\0\0\4abc\0\x87\x69\0\4\0\0\0\1\0\0\0\x26\0\0\0\0"
