"""The truths of the families with pictures, read from the pictures in their prompts by other tools than ours.

Nothing of the project computes here: Pillow, numpy, scipy, zxing-cpp and exiftool do.
"""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess
from collections import deque
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest
from helpers.benchmarks import ENOUGH
from helpers.places import ROOT
from scipy import ndimage

Image = pytest.importorskip("PIL.Image", reason="pip install '.[images]'")

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

FONT = ROOT / "runtime" / "dia_language" / "media" / "fonts" / "DejaVuSansMono.ttf"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
XML = {"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "dc": "http://purl.org/dc/elements/1.1/"}


def shown(pattern: str, challenge: str) -> tuple[bytes, tuple[str, ...]]:
    """The file in the last paragraph of a task, and the groups of a pattern that must describe the rest."""
    words, _, text = challenge.rpartition("\n\n")
    match = re.fullmatch(pattern, words, re.DOTALL)
    assert match, f"reads otherwise: {words[:300]}"
    file = base64.b64decode(text, validate=True)
    Image.open(io.BytesIO(file)).verify()
    return file, match.groups()


def truths(answers: Answers, ids: list[str]) -> dict[str, str]:
    return {id: answers[id]["answer"] for id in ids}


KEY = (
    r"Below is a PNG image in Base64\. Its metadata contain four keys in four different places\. Each key "
    r"consists of ten letters and digits\. What is the key in the (.+)\? The answer is case-sensitive\."
)
# The places of keys as the question names them -> as exiftool does
PLACES = {
    "PNG comment (tEXt chunk with the keyword Comment)": "PNG:Comment",
    "EXIF image description (ImageDescription)": "IFD0:ImageDescription",
    "title in the XMP metadata (dc:title)": "XMP-dc:Title",
    "description in the XMP metadata (dc:description)": "XMP-dc:Description",
}


def test_keys_stand_in_the_metadata_as_pillow_finds_them(each: int, challenges: Challenges, answers: Answers) -> None:
    found, places = {}, set()
    for id, challenge in challenges["key_in_metadata"].items():
        file, (place,) = shown(KEY, challenge)
        image = Image.open(io.BytesIO(file))
        tree = ElementTree.fromstring(image.text["XML:com.adobe.xmp"])
        keys = {"PNG:Comment": image.text["Comment"], "IFD0:ImageDescription": image.getexif()[0x010E]}
        for name in ("title", "description"):
            (item,) = tree.findall(f".//dc:{name}/rdf:Alt/rdf:li", XML)
            keys[f"XMP-dc:{name.capitalize()}"] = item.text
        assert len(set(keys.values())) == 4
        found[id] = keys[PLACES[place]]
        places.add(place)
    assert found == truths(answers, list(found))
    assert places <= set(PLACES) and (each < ENOUGH or places == set(PLACES))


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")
def test_keys_stand_in_the_metadata_as_exiftool_finds_them(
    challenges: Challenges, answers: Answers, tmp_path: Path
) -> None:
    ids, places = list(challenges["key_in_metadata"]), []
    for number, id in enumerate(ids):
        file, (place,) = shown(KEY, challenges["key_in_metadata"][id])
        (tmp_path / f"{number:04d}.png").write_bytes(file)
        places.append(PLACES[place])
    done = subprocess.run(["exiftool", "-json", "-G1", str(tmp_path)], capture_output=True, check=True)
    tables = sorted(json.loads(done.stdout), key=lambda table: str(table["SourceFile"]))
    assert {id: str(table[place]) for id, table, place in zip(ids, tables, places, strict=True)} == truths(answers, ids)
    for table in tables:
        assert len({str(table[name]) for name in PLACES.values()}) == 4 and "ExifTool:Warning" not in table


def test_codes_say_what_zxing_reads(each: int, challenges: Challenges, answers: Answers) -> None:
    zxingcpp = pytest.importorskip("zxingcpp")
    found, levels = {}, set()
    pattern = (
        r"Below is a PNG image in Base64\. It shows a QR code that contains one English sentence\. Read the code and give the "
        r"sentence word for word\."
    )
    for id, challenge in challenges["qr_code"].items():
        file, _ = shown(pattern, challenge)
        (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(file)).convert("L"))
        found[id] = code.text
        levels.add(code.ec_level)
    assert found == truths(answers, list(found))
    assert levels <= set("LMQH") and (each < ENOUGH or levels == set("LMQH"))


def ink_of(file: bytes) -> Any:
    """How dark each pixel is, from 0 to 1, measured against the darkest and the lightest."""
    samples = numpy.asarray(Image.open(io.BytesIO(file)).convert("L"), dtype=float)
    return (samples.max() - samples) / (samples.max() - samples.min())


def letters(size: int) -> Any:
    """The ink of each capital letter in a cell of its own."""
    from PIL import ImageDraw, ImageFont

    font = ImageFont.truetype(str(FONT), size, layout_engine=ImageFont.Layout.BASIC)
    shapes = []
    for letter in CAPITALS:
        cell = Image.new("L", (round(font.getlength("A")), sum(font.getmetrics())), 0)
        ImageDraw.Draw(cell).text((0, 0), letter, fill=255, font=font)
        shapes.append(numpy.asarray(cell, dtype=float) / 255)
    return numpy.stack(shapes)


def best_reading(ink: Any, shapes: dict[int, Any]) -> str:
    """The ten letters whose ink differs least from the picture's, in any size that fits it."""
    readings = []
    for cells in shapes.values():
        _, height, width = cells.shape
        margin, rest = divmod(len(ink) - height, 2)
        if rest or margin < 1 or ink.shape[1] != 10 * width + 2 * margin:
            continue
        parts = [ink[margin : margin + height, margin + width * place :][:, :width] for place in range(10)]
        differences = numpy.array([abs(cells - part).mean(axis=(1, 2)) for part in parts])
        text = "".join(CAPITALS[place] for place in differences.argmin(axis=1))
        readings.append((differences.min(axis=1).mean(), text))
    return min(readings)[1]


def test_drawn_letters_are_read_by_their_shapes(challenges: Challenges, answers: Answers) -> None:
    pattern = r"Below is a PNG image in Base64\. It shows ten uppercase letters\. What are they, from left to right\?"
    shapes = {size: letters(size) for size in range(16, 29)}
    found = {
        id: best_reading(ink_of(shown(pattern, challenge)[0]), shapes)
        for id, challenge in challenges["text_in_picture"].items()
    }
    assert found == truths(answers, list(found))


TOWER = (
    r"This PNG image, in Base64, shows the Tower of Hanoi: (\d+) disks of different sizes on three pegs, "
    r"labelled A, B and C from left to right\. One move takes the top disk of a peg and puts it on another "
    r"peg, but never on a smaller disk\.\n\nWhat is the smallest number of moves needed to bring all disks to "
    r"peg ([ABC])\?"
)


def pegs_in(file: bytes) -> list[int]:
    """The peg of each disk, the smallest first: columns beside the three posts are followed down the picture."""
    image = Image.open(io.BytesIO(file)).convert("RGB")
    pixels = numpy.asarray(image, dtype=int)
    found = []
    for peg in range(3):
        column = image.width * (2 * peg + 1) // 6 + 6
        third = pixels[:, image.width * peg // 3 : image.width * (peg + 1) // 3]
        above = False
        for row in range(image.height):
            colour = pixels[row, column]
            is_disk = colour.max() - colour.min() > 60
            if is_disk and not above:
                found.append((int((third[row] == colour).all(axis=1).sum()), row, peg))
            above = is_disk
    return [peg for *_, peg in sorted(found)]


def moves_by_playing(pegs: list[int], goal: int) -> int:
    """The number of moves of a player who brings home the largest disk first, and the smaller ones out of its way."""
    pegs, moves = list(pegs), 0

    def bring(disk: int, peg: int) -> None:
        nonlocal moves
        if disk >= 0 and pegs[disk] != peg:
            spare = 3 - peg - pegs[disk]
            bring(disk - 1, spare)
            assert all(pegs[smaller] == spare for smaller in range(disk))
            pegs[disk] = peg
            moves += 1
        if disk >= 0:
            bring(disk - 1, peg)

    bring(len(pegs) - 1, goal)
    assert set(pegs) == {goal}
    return moves


def distances(count: int, goal: int) -> dict[tuple[int, ...], int]:
    """The least number of moves from every position to the one with all disks on the goal."""
    home = (goal,) * count
    found, queue = {home: 0}, deque([home])
    while queue:
        pegs = queue.popleft()
        for disk, peg in enumerate(pegs):
            if peg in pegs[:disk]:
                continue
            for other in {0, 1, 2} - {peg, *pegs[:disk]}:
                after = (*pegs[:disk], other, *pegs[disk + 1 :])
                if after not in found:
                    found[after] = found[pegs] + 1
                    queue.append(after)
    return found


def test_towers_take_the_moves_that_a_search_and_a_player_take(challenges: Challenges, answers: Answers) -> None:
    searched = {(count, goal): distances(count, goal) for count in range(3, 9) for goal in range(3)}
    sizes, seen = set(), 0
    for id, challenge in challenges["hanoi_picture"].items():
        file, (count, goal) = shown(TOWER, challenge)
        pegs = pegs_in(file)
        truth = int(answers[id]["answer"])
        assert len(pegs) == int(count)
        assert moves_by_playing(pegs, "ABC".index(goal)) == truth
        if len(pegs) < 9:
            assert searched[len(pegs), "ABC".index(goal)][tuple(pegs)] == truth
            seen += 1
        sizes.add(len(pegs))
    assert len(sizes) >= min(11, len(challenges["hanoi_picture"])) and seen * 4 > len(challenges["hanoi_picture"])


def strokes(file: bytes) -> Any:
    """The ink of a CAPTCHA at half its size: what is darker than most of it."""
    image = Image.open(io.BytesIO(file)).convert("L").resize((100, 35), Image.Resampling.BOX)
    samples = numpy.asarray(image, dtype=float)
    darker = (numpy.median(samples) - samples).clip(0)
    return (darker / numpy.percentile(darker, 97)).clip(0, 1)


def stencil(digit: str, size: int, stretch: float, angle: int) -> Any:
    """A digit's shape: what it covers counts for it, what it leaves free around it and within it counts against it."""
    from PIL import ImageDraw, ImageFont

    cell = Image.new("L", (size * 4, size * 5), 0)
    ImageDraw.Draw(cell).text((size, size // 2), digit, fill=255, font=ImageFont.truetype(str(FONT), size * 3))
    turned = cell.rotate(angle, Image.Resampling.BICUBIC)
    shape = turned.crop(turned.getbbox())
    shape = shape.resize((round(shape.width * stretch / 3), round(shape.height / 3)), Image.Resampling.BOX)
    covered = numpy.pad(numpy.asarray(shape, dtype=float) / 255, 2)
    free = (ndimage.gaussian_filter(covered, 1.2) > 0.04) & (covered < 0.15)
    free[2:-2, 2:-2] |= covered[2:-2, 2:-2] < 0.1
    return covered / covered.sum() - free / free.sum()


def likeness(pictures: Any, digit: str) -> Any:
    """How well the digit fits anywhere into each picture, upright or turned, in several sizes; of mean 0 and spread 1."""
    room = (75, 160)
    seen = numpy.fft.rfft2(pictures, room)
    best = numpy.full(len(pictures), -9.0)
    for size, stretch, angle in product((18, 22, 27, 32), (0.6, 0.8, 1.0), (-24, -12, 0, 12, 24)):
        shape = stencil(digit, size, stretch, angle)
        fits = numpy.fft.irfft2(seen * numpy.fft.rfft2(shape[::-1, ::-1], room), room)
        best = numpy.maximum(best, fits.max(axis=(1, 2)))
    return (best - best.mean()) / best.std()


def share_in_order(scores: list[Any], truths: list[str]) -> float:
    """How often a digit that is in a picture fits it better than one that is not fits another: 1/2 by chance."""
    held = [[str(digit) in truth for truth in truths] for digit in range(10)]
    there, absent = numpy.array(scores)[numpy.array(held)], numpy.array(scores)[~numpy.array(held)]
    return float((there[:, None] > absent).mean())


def test_captchas_look_like_their_digits(each: int, challenges: Challenges, answers: Answers) -> None:
    """No tool at hand reads them for certain; digits that are shown must only fit far better than others do."""
    if each < ENOUGH:
        pytest.skip(f"the measure needs {ENOUGH} pictures, and these are {each}: set DIA_TRUTH_K")
    pattern = (
        r"Below is a PNG image in Base64\. It is a CAPTCHA with 5 digits, which are slightly rotated and distorted and partly "
        r"covered by dots and a curved line\. The digit 1 does not occur\. What are the digits, from left to right\?"
    )
    files = {id: shown(pattern, challenge)[0] for id, challenge in challenges["captcha"].items()}
    assert len(set(files.values())) == len(files)
    assert {Image.open(io.BytesIO(file)).size for file in files.values()} == {(200, 70)}
    told = list(truths(answers, list(files)).values())
    assert all(re.fullmatch(r"[02-9]{5}", truth) for truth in told)
    pictures = numpy.stack([strokes(file) for file in list(files.values())[:40]])
    scores = [likeness(pictures, digit) for digit in "0123456789"]
    assert share_in_order(scores, told[:40]) > 0.8
    others = told[len(pictures) // 2 : len(pictures)] + told[: len(pictures) // 2]
    assert share_in_order(scores, others) < 0.65, "other digits fit as well: the measure sees nothing"
