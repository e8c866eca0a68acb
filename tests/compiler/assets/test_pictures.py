"""Pictures that are built, against Pillow, exiftool and zxing-cpp, our own readers, and digests known beforehand."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import string
import subprocess
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_compiler.assets.captcha import Seeded
from dia_compiler.generate.asset_builder import entropy
from dia_language.budgets import reset
from dia_language.functions import library
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

Image = pytest.importorskip("PIL.Image", reason="pip install '.[images]'")
LOCKED = {"pillow": "13.0.0", "segno": "1.6.6", "captcha": "0.7.1"}
is_locked = pytest.mark.skipif(
    any(version(name) != locked for name, locked in LOCKED.items()), reason="the bytes belong to the locked libraries"
)


def built(name: str, seed: bytes = b"seed", **options: Any) -> bytes:
    builder = BUILDERS[name]
    builder.validate(options)
    made = builder.build(options, Site(entropy(seed), Path("nowhere")))
    assert isinstance(made, bytes)
    return made


def read(name: str, *arguments: Any) -> Any:
    reset()
    return library()[name].call(*arguments)


def fault(name: str, **options: Any) -> OptionFault:
    with pytest.raises(OptionFault) as caught:
        built(name, **options)
    return caught.value


def opened(file: bytes) -> Any:
    return Image.open(io.BytesIO(file))


METADATA: dict[str, Any] = {
    "exif": {"description": "a <picture>", "artist": "Ann", "user_comment": "a remark", "date_time": "2020:01:01 00:00:00"},
    "xmp": {"description": "k3y & <more> ü漢", "creator": ["Ann", "Bob"], "subject": "one", "title": "T"},
    "chunks": {"Comment": "plain", "Author": "漢字"},
}  # fmt: skip
KNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "noise": ("png", {"size": [32, 32], "noise": True} | METADATA),
    "pixels": ("png", {"size": [4, 4], "pixels": bytes(range(48)), "hide": b"\xa5"}),
    "text": ("png", {"text": "Two\nlines!", "noise": 30, "colour": "#203040", "font_size": 20, "margin": 4}),
    "qr": ("qr", {"text": "The old baker painted a chair.", "error": "Q", "scale": 3}),
    "captcha": ("captcha", {"text": "48213"}),
    "hanoi": ("hanoi", {"pegs": [[4, 1], [], [3, 2]]}),
    "bars": ("plot", {"y": [3, 7, 1], "x": ["a", "b", "c"], "title": "Bars"}),
    "line": ("plot", {"kind": "line", "y": [Fraction(1, 3), 2, -1], "x_label": "time"}),
}
DIGESTS = {
    "noise": "b88196628eded4f0",
    "pixels": "d11db25f2ed686b3",
    "text": "de9443242762d23f",
    "qr": "bbcbba8ceb8b50d0",
    "captcha": "3b9a434fa0b3726b",
    "hanoi": "1b5e846178561ee0",
    "bars": "d0fc40b33271227c",
    "line": "e39a85f60aaa2b33",
}


@is_locked
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_the_bytes_are_those_of_every_machine(name: str) -> None:
    builder, options = KNOWN[name]
    assert hashlib.sha256(built(builder, **options)).hexdigest()[:16] == DIGESTS[name]


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_picture_opens_and_comes_out_the_same_twice(name: str) -> None:
    builder, options = KNOWN[name]
    file = built(builder, **options)
    image = opened(file)
    image.load()
    assert image.format == "PNG" and list(image.size) == read("png_size", file)
    assert file == built(builder, **options)


def test_pixels_stand_in_the_file_as_they_were_given() -> None:
    for mode, count in (("L", 1), ("RGB", 3), ("RGBA", 4)):
        pixels = bytes(place * 7 % 256 for place in range(6 * 5 * count))
        file = built("png", pixels=pixels, size=[6, 5])
        assert opened(file).mode == mode and opened(file).tobytes() == pixels == read("png_pixels", file)


def test_noise_comes_from_the_instance_and_stays_within_its_strength() -> None:
    noise = built("png", size=[20, 20], noise=True)
    assert (
        opened(noise).tobytes()
        == entropy(b"seed")(1200)
        != opened(built("png", b"other", size=[20, 20], noise=True)).tobytes()
    )
    pixels = bytes([0, 100, 255]) * 500
    moved = opened(built("png", pixels=pixels, size=[50, 30], noise=9)).tobytes()
    shifts = [new - old for new, old in zip(moved, pixels, strict=True)]
    assert {shift for shift, old in zip(shifts, pixels, strict=True) if old == 100} == set(range(-9, 10))
    assert set(shifts) == set(range(-9, 10))


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")
def test_exiftool_reads_the_metadata(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(built("png", size=[8, 8], noise=True, **METADATA))
    shown = subprocess.run(["exiftool", "-json", "-G1", "picture.png"], cwd=tmp_path, capture_output=True, check=True)
    found = json.loads(shown.stdout)[0]
    assert found["XMP-dc:Description"] == "k3y & <more> ü漢"
    assert found["XMP-dc:Creator"] == ["Ann", "Bob"] and found["XMP-dc:Subject"] == "one"
    assert found["IFD0:ImageDescription"] == "a <picture>" and found["ExifIFD:UserComment"] == "a remark"
    assert found["PNG:Comment"] == "plain" and found["PNG:Author"] == "漢字"
    assert "ExifTool:Warning" not in found


def test_our_readers_and_pillow_read_the_metadata() -> None:
    file = built("png", size=[8, 8], noise=True, **METADATA)
    assert read("xmp_of", file) == METADATA["xmp"] | {"subject": ["one"]}
    assert read("exif_of", file) == METADATA["exif"]
    texts = read("png_text", file)
    assert texts == opened(file).text and {name: texts[name] for name in METADATA["chunks"]} == METADATA["chunks"]
    assert opened(file).getexif()[0x013B] == "Ann"


@given(st.binary(max_size=28), st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_hidden_bytes_come_back_and_change_no_sample_by_more_than_one(hidden: bytes, is_grey: bool) -> None:
    pixels = bytes(place * 5 % 256 for place in range(16 * 16 if is_grey else 16 * 16 * 3))
    file = built("png", pixels=pixels, size=[16, 16], hide=hidden)
    assert read("hidden_in", file) == hidden
    samples = opened(file).tobytes()
    assert max(abs(new - old) for new, old in zip(samples, pixels, strict=True)) <= 1
    count = int("".join(str(sample & 1) for sample in samples[:32]), 2)
    assert count == len(hidden)


def test_a_text_is_hidden_as_utf_8() -> None:
    assert read("hidden_in", built("png", text="on top", hide="schön")) == "schön".encode()


@given(
    st.text(alphabet=string.printable[:94] + " éß", min_size=1, max_size=40).filter(lambda text: text == text.rstrip()),
    st.sampled_from([9, 12, 16, 24, 31]),
    st.sampled_from([("#000000", "#ffffff"), ("#804020", "#f0fff0"), ("#ffff00", "#000080")]),
)
@settings(max_examples=examples(40), deadline=None)
def test_drawn_texts_are_read_back(text: str, size: int, colours: tuple[str, str]) -> None:
    file = built("png", text=text, font_size=size, margin=5, colour=colours[0], background=colours[1])
    assert read("read_text", file, size, 5, string.printable[:95] + "éß") == text


def test_lines_of_a_text_and_noise_are_read_back() -> None:
    text = "First line,\n\n  third: O0o Il1|"
    assert read("read_text", built("png", text=text)) == text
    assert read("read_text", built("png", text=text, noise=40)) == text


def test_a_text_is_drawn_as_pillow_draws_it() -> None:
    from dia_language.media.glyphs import cell_size, font_file
    from PIL import ImageDraw, ImageFont

    font = ImageFont.truetype(str(font_file()), 40, layout_engine=ImageFont.Layout.BASIC)
    width, height = cell_size(40)
    whole = Image.new("L", (6 * width + 20, height + 20), 255)
    ImageDraw.Draw(whole).text((10, 10), "Oracle", font=font, fill=0)
    assert font.getlength("Oracle") == 6 * width
    assert opened(built("png", text="Oracle", font_size=40)).tobytes() == whole.tobytes()


TEXTS = [
    "HELLO WORLD: 42",
    "0123456789",
    "a",
    "Ünïcode 漢字 Ω",
    "The old baker sat.",
    "x" * 1273,
    "A" * 1852,
    "7" * 3057,
]


LARGE = 1000  # signs from which a code takes a tenth of a second to be read


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(text, error, marks=[pytest.mark.long] * (len(text) >= LARGE and error not in "LH"))
        for error in "LMQH"
        for text in TEXTS
    ],
)
def test_codes_are_read_by_zxing_and_by_us(text: str, error: str) -> None:
    zxingcpp = pytest.importorskip("zxingcpp")
    file = built("qr", text=text, error=error, scale=2)
    found = zxingcpp.read_barcodes(opened(file).convert("L"))
    assert [(code.text, code.ec_level) for code in found] == [(text, error)]
    assert read("read_qr", file) == text


@pytest.mark.parametrize(
    ("error", "signs"),
    [
        ("L", (7089, 4296, 2953)),
        pytest.param("M", (5596, 3391, 2331), marks=pytest.mark.long),
        pytest.param("Q", (3993, 2420, 1663), marks=pytest.mark.long),
        ("H", (3057, 1852, 1273)),
    ],
)
def test_the_longest_texts_fit_and_longer_ones_are_told(error: str, signs: tuple[int, int, int]) -> None:
    """Capacities of version 40: ISO/IEC 18004:2015, table 7."""
    for sign, count in zip("7Aa", signs, strict=True):
        BUILDERS["qr"].validate({"text": sign * count, "error": error})
        told = fault("qr", text=sign * (count + 1), error=error)
        assert told.option == "text" and "too long for a QR code" in told.message
    assert built("qr", text="a" * signs[2], error=error, scale=1, border=0)
    assert built("qr", text="é" * ((signs[2] - 1) // 2), error=error, scale=1, border=0)


def test_a_captcha_differs_with_the_stream_and_with_its_text_and_leaves_the_library_as_it_was() -> None:
    import secrets

    from captcha import image

    first = built("captcha", text="48213", size=[200, 80])
    assert opened(first).size == (200, 80)
    assert (
        len(
            {
                first,
                built("captcha", b"other", text="48213", size=[200, 80]),
                built("captcha", text="48214", size=[200, 80]),
            }
        )
        == 3
    )
    assert vars(image)["secrets"] is secrets


def test_the_digits_of_every_captcha_stand_out_from_its_paper() -> None:
    for number in range(examples(60)):
        image = opened(built("captcha", f"ink {number}".encode(), text="23456", size=[200, 70])).convert("L")
        shades = sorted(image.tobytes())
        assert shades[len(shades) // 2] - shades[len(shades) // 12] > 90, "a twelfth of the picture is ink"


def test_the_seeded_object_is_fair() -> None:
    seeded = Seeded(entropy(b"fair"))
    rolled = [seeded.randbelow(6) for _ in range(6000)]
    counts = [rolled.count(face) for face in range(6)]
    assert sum(counts) == 6000 and all(880 < count < 1120 for count in counts)
    assert {seeded.randbits(3) for _ in range(200)} == set(range(8))
    assert {seeded.choice("abc") for _ in range(50)} == set("abc")


@given(st.integers(1, 20), st.integers(3, 6), st.randoms())
@settings(max_examples=examples(30), deadline=None)
def test_positions_of_the_tower_are_read_back(count: int, size: int, chance: Any) -> None:
    pegs: list[list[int]] = [[] for _ in range(size)]
    for disk in range(count, 0, -1):
        chance.choice(pegs).append(disk)
    assert read("disks_of", built("hanoi", pegs=pegs)) == pegs


def test_the_largest_tower_is_read_back() -> None:
    pegs = [list(range(32, 0, -1))] + [[]] * 5
    assert read("disks_of", built("hanoi", pegs=pegs, labels=list("123456"))) == pegs


@given(
    st.lists(st.fractions(-1000, 1000, max_denominator=50), min_size=2, max_size=9),
    st.sampled_from(["line", "scatter"]),
)
@settings(max_examples=examples(30), deadline=None)
def test_points_stand_where_their_numbers_are(heights: list[Fraction], kind: str) -> None:
    low, high = -1000, 1000
    marks = read("marks_of", built("plot", kind=kind, y=heights, y_ticks=[low, 0, high], size=[600, 600]))
    assert len(marks) == len(heights)
    for place, ((across, up), height) in enumerate(zip(marks, heights, strict=True)):
        assert abs(across - Fraction(place, len(heights) - 1)) < Fraction(1, 400)
        assert abs(low + up * (high - low) - height) < 4


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
@settings(max_examples=examples(20), deadline=None)
def test_bars_are_as_high_as_their_numbers(heights: list[int]) -> None:
    marks = read("marks_of", built("plot", y=heights, y_ticks=list(range(0, 51, 10)), size=[500, 400]))
    assert [round(up * 50) for _, up in marks] == heights


def test_ticks_are_round_numbers() -> None:
    from dia_compiler.assets.plot_axes import chosen, decimal_text

    assert chosen(Fraction(0), Fraction(9)).labels == ("0", "2", "4", "6", "8", "10")
    assert chosen(Fraction(-3, 2), Fraction(5)).labels == ("-2", "-1", "0", "1", "2", "3", "4", "5")
    assert chosen(Fraction(1, 10), Fraction(3, 10)).labels == ("0.1", "0.15", "0.2", "0.25", "0.3")
    assert chosen(Fraction(7), Fraction(7)).ticks[0] <= 7 < chosen(Fraction(7), Fraction(7)).ticks[-1]
    assert [decimal_text(value) for value in (Fraction(-1, 20), Fraction(1, 3), Fraction(40))] == ["-0.05", "1/3", "40"]


FAULTS: list[tuple[str, str, dict[str, Any]]] = [
    ("png", "size", {"noise": True}),
    ("png", "size", {"size": [0, 5]}),
    ("png", "size", {"size": [4097, 1]}),
    ("png", "size", {"size": [4096, 4096], "noise": True}),
    ("png", "size", {"size": [5, True]}),
    ("png", "size", {"size": "large"}),
    ("png", "size", {"size": [5, 5], "text": "a"}),
    ("png", "pixels", {"size": [2, 2], "pixels": b"12345"}),
    ("png", "pixels", {"size": [2, 2], "pixels": "1234"}),
    ("png", "text", {"text": 5}),
    ("png", "text", {"text": "a" * 10_001}),
    ("png", "text", {"text": "a" * 1000}),
    ("png", "text", {"text": "\n" * 9999, "font_size": 200}),
    ("png", "text", {"text": "tab\t"}),
    ("png", "text", {"text": "漢"}),
    ("png", "text", {"text": "a", "pixels": b"1"}),
    ("png", "font", {"text": "a", "font": "Comic Sans"}),
    ("png", "font_size", {"text": "a", "font_size": 1000}),
    ("png", "margin", {"text": "a", "margin": 0}),
    ("png", "margin", {"text": "a", "margin": "wide"}),
    ("png", "colour", {"text": "a", "colour": "red"}),
    ("png", "background", {"text": "a", "background": [1, 2, 3]}),
    ("png", "noise", {"text": "a", "noise": True}),
    ("png", "noise", {"size": [2, 2], "noise": 128}),
    ("png", "hide", {"size": [8, 8], "hide": "x" * 21}),
    ("png", "hide", {"size": [8, 8], "hide": 5}),
    ("png", "exif", {"size": [8, 8], "exif": {"description": "ü"}}),
    ("png", "exif", {"size": [8, 8], "exif": {"descripton": "u"}}),
    ("png", "exif", {"size": [8, 8], "exif": "text"}),
    ("png", "xmp", {"size": [8, 8], "xmp": {"description": ["a"]}}),
    ("png", "xmp", {"size": [8, 8], "xmp": {"description": "\0"}}),
    ("png", "xmp", {"size": [8, 8], "xmp": {"date": "a"}}),
    ("png", "xmp", {"size": [8, 8], "xmp": {"subject": ["a"] * 51}}),
    ("png", "chunks", {"size": [8, 8], "chunks": {"": "a"}}),
    ("png", "chunks", {"size": [8, 8], "chunks": {"Comment": 5}}),
    ("png", "chunks", {"size": [8, 8], "chunks": {"XML:com.adobe.xmp": "a"}}),
    ("qr", "text", {"text": ""}),
    ("qr", "text", {"text": 7}),
    ("qr", "error", {"text": "a", "error": "X"}),
    ("qr", "scale", {"text": "a", "scale": 65}),
    ("qr", "scale", {"text": "a" * 1000, "scale": 64}),
    ("qr", "border", {"text": "a", "border": -1}),
    ("captcha", "text", {"text": ""}),
    ("captcha", "text", {"text": "a b"}),
    ("captcha", "text", {"text": "1" * 21}),
    ("captcha", "size", {"text": "1", "size": [20, 60]}),
    ("hanoi", "pegs", {"pegs": [[1], []]}),
    ("hanoi", "pegs", {"pegs": [[1, 2], [], []]}),
    ("hanoi", "pegs", {"pegs": [[3, 1], [], []]}),
    ("hanoi", "pegs", {"pegs": [[], [], []]}),
    ("hanoi", "pegs", {"pegs": [["a"], [], []]}),
    ("hanoi", "pegs", {"pegs": [list(range(33, 0, -1)), [], []]}),
    ("hanoi", "labels", {"pegs": [[1], [], []], "labels": ["A"]}),
    ("hanoi", "labels", {"pegs": [[1], [], []], "labels": ["A", "B", "CC"]}),
    ("plot", "kind", {"y": [1], "kind": "pie"}),
    ("plot", "y", {"y": []}),
    ("plot", "y", {"y": [-1]}),
    ("plot", "y", {"y": ["a"]}),
    ("plot", "y", {"y": [10**13]}),
    ("plot", "x", {"y": [1], "x": [1, 2]}),
    ("plot", "x", {"y": [1, 2], "x": ["a" * 41, "b"]}),
    ("plot", "x", {"y": [1, 2], "x": ["a" * 39, "b"]}),
    ("plot", "y_ticks", {"y": [1, 2], "y_ticks": [0, 1]}),
    ("plot", "y_ticks", {"y": [1, 2], "y_ticks": [1, 2]}),
    ("plot", "y_ticks", {"y": [1, 2], "y_ticks": [0]}),
    ("plot", "size", {"y": [1, 2], "size": [100, 100], "x_label": "x", "title": "t", "y_label": "y"}),
    ("plot", "title", {"y": [1], "title": "two\nlines"}),
    ("plot", "title", {"y": [1], "title": "a" * 100}),
]


@pytest.mark.parametrize(("builder", "option", "options"), FAULTS)
def test_faults_name_the_option(builder: str, option: str, options: dict[str, Any]) -> None:
    assert fault(builder, **options).option == option


def test_missing_fonts_and_characters_are_told_with_the_mend() -> None:
    assert "DejaVuSansMono" in (fault("png", text="a", font="Arial").help or "")
    assert "U+6F22" in fault("png", text="漢").message


@pytest.mark.parametrize("name", ["png", "qr", "captcha", "hanoi", "plot"])
def test_nothing_is_asked_of_options_that_are_not_known_yet(name: str) -> None:
    BUILDERS[name].validate({})


JUNK: list[Any] = [
    None, True, False, 0, -1, 7, 10**40, Fraction(1, 3), "", "x", "\0", "\ud800", "x" * 20_000, b"", b"\xff" * 99, [], [[]], [None],
    [0, 0], [5, 5], ["a", 1], [[1], [], []], [[1, 1], [], []], {}, {"description": "x"}, {"": ""}, {"Comment": None}, {"Comment": "\ud800"}, [10**40] * 3,
]  # fmt: skip
SOUND: dict[str, dict[str, Any]] = {
    "png": {"text": "a"}, "qr": {"text": "a"}, "captcha": {"text": "1"}, "hanoi": {"pegs": [[1], [], []]}, "plot": {"y": [1, 2]},
}  # fmt: skip


@pytest.mark.parametrize(("name", "option"), [(name, option) for name in SOUND for option in BUILDERS[name].options])
def test_no_option_ends_in_anything_but_a_picture_or_a_fault(name: str, option: str) -> None:
    for base in (SOUND[name], {} if name == "png" else SOUND[name] | {"kind": "line"}, {"size": [40, 40]}):
        for value in JUNK:
            options = {**SOUND[name], **base, option: value} if name != "png" else {**base, option: value}
            options = {key: held for key, held in options.items() if key in BUILDERS[name].options}
            try:
                assert opened(built(name, **options)).format == "PNG"
            except OptionFault as told:
                assert told.message and (told.option is None or told.option in BUILDERS[name].options)
