"""The artefacts of the tour, opened as a solver opens them, with tools that are not ours."""

from __future__ import annotations

import base64
import csv
import email
import html.parser
import http.client
import io
import json
import re
import shutil
import subprocess
import tempfile
import urllib.parse
import wave
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
from helpers.places import ROOT

# Letters and digits of ITU-R M.1677-1, those of the tour's words.
SIGNS = """.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..
           ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."""
MORSE = dict(zip(SIGNS.split(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", strict=True))
ROWS, COLUMNS, PAD = (697, 770, 852, 941), (1209, 1336, 1477, 1633), ("123A", "456B", "789C", "*0#D")


@dataclass(frozen=True)
class Asked:
    """A question as a solver gets it: the prompt and what lies beside it."""

    prompt: str
    beside: dict[str, bytes]

    @property
    def inside(self) -> bytes:
        """The bytes that stand in the prompt in Base64."""
        return base64.b64decode(max(re.findall(r"[A-Za-z0-9+/=]{40,}", self.prompt), key=len), validate=True)

    def the(self, pattern: str) -> str:
        """What the group of the pattern finds in the prompt."""
        return str(re.findall(pattern, self.prompt)[0])


def samples_of(recording: bytes) -> tuple[int, Any]:
    with wave.open(io.BytesIO(recording)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return file.getframerate(), numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)


def stretches(sounds: list[bool]) -> Iterator[tuple[bool, int]]:
    """Sound and silence in turn, each with its length."""
    start = 0
    for place in range(1, len(sounds) + 1):
        if place == len(sounds) or sounds[place] != sounds[start]:
            yield sounds[start], place - start
            start = place


def morse_recording(asked: Asked) -> str:
    rate, samples = samples_of(asked.beside["radio.wav"])
    unit = rate * int(asked.the(r"lasts (\d+) milliseconds")) // 1000
    loud = [bool(abs(samples[at : at + unit]).max() > 1000) for at in range(0, len(samples), unit)]
    signs = "".join(
        {1: ".", 3: "-"}[length] if is_sound else {1: "", 3: " ", 7: " / "}.get(length, "")
        for is_sound, length in stretches(loud)
    )
    return " ".join("".join(map(MORSE.__getitem__, word.split())) for word in signs.split(" / "))


def dialled_number(asked: Asked) -> str:
    rate, samples = samples_of(asked.inside)
    is_loud = [bool(abs(samples[at : at + 40]).max() > 500) for at in range(0, len(samples), 40)]
    keys, place = "", 0
    for is_sound, length in stretches(is_loud):
        tone = samples[40 * place : 40 * (place + length)]
        turns = numpy.arange(len(tone)) / rate
        strength = {hertz: abs(numpy.exp(-2j * numpy.pi * hertz * turns) @ tone) for hertz in ROWS + COLUMNS}
        row, column = (max(group, key=strength.__getitem__) for group in (ROWS, COLUMNS))
        keys += PAD[ROWS.index(row)][COLUMNS.index(column)] if is_sound else ""
        place += length
    assert keys.endswith("#")
    return keys[:-1]


def loudest_sample(asked: Asked) -> str:
    samples = samples_of(asked.inside)[1]
    place = int(numpy.argmax(abs(samples)))
    return f"{{place: {place + 1}, sample: {int(samples[place])}}}"


def hidden_message(asked: Asked) -> str:
    from PIL import Image

    bits = "".join(str(sample & 1) for sample in Image.open(io.BytesIO(asked.inside)).tobytes())
    size = int(bits[:32], 2)
    held = int(bits[32 : 32 + 8 * size], 2).to_bytes(size, "big")
    return held.decode().removeprefix("key=")


def who_took_it(asked: Asked) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(asked.beside["photo.png"])) as photo:
        photo.load()
        return str(photo.text["Author"])  # type: ignore[attr-defined]


def read_off(asked: Asked) -> str:
    """The height of the colourful mark above the tick of the hour: ticks are black, and right of the labels."""
    from PIL import Image

    hour = int(asked.the(r"after (\d+) hours"))
    picture = numpy.asarray(Image.open(io.BytesIO(asked.beside["picture.png"])).convert("RGB")).astype(int)
    dark = picture.sum(axis=2) == 0
    bottom, left = int(dark.sum(axis=1).argmax()), int(dark.sum(axis=0).argmax())
    columns = [x for x in range(left, picture.shape[1]) if dark[bottom + 3, x]]
    rows = [y for y in range(bottom, 0, -1) if dark[y, left - 3] and dark[y, left - 4]]  # a mark may cover less
    assert (len(columns), len(rows)) == (7, 11)
    around = picture[:, columns[hour // 2] - 1 : columns[hour // 2] + 2]
    # the strongest colour is the mark's; the line is paler
    spread = around.max(axis=2) - around.min(axis=2)
    marked = [y for y in range(len(spread)) if (spread[y] == spread.max()).all()]
    middle = sum(marked) / len(marked)
    return str(5 * min(range(11), key=lambda tick: abs(rows[tick] - middle)))


def document_author(asked: Asked) -> str:
    pikepdf = pytest.importorskip("pikepdf")
    with pikepdf.open(io.BytesIO(asked.beside["letter.pdf"])) as document:
        return str(document.docinfo["/Author"])


def log_in_an_archive(asked: Asked) -> str:
    with zipfile.ZipFile(io.BytesIO(asked.beside["archive.zip"])) as archive:
        assert archive.testzip() is None and archive.comment
        lines = archive.read("access.log").decode().splitlines()
    assert len(lines) == int(asked.the(r"access\.log: (\d+) lines"))
    ((first, most), (_, second)) = [
        *Counter(line.split()[0] for line in lines if line.split()[8] == "401").most_common(2), ("", 0),
    ][:2]  # fmt: skip
    assert most > second
    return first


def largest_order(asked: Asked) -> str:
    (name,) = (name for name in asked.beside if name.endswith(".csv"))
    rows = csv.DictReader(io.StringIO(asked.beside[name].decode()), delimiter=";")
    return max(rows, key=lambda row: int(row["amount"]) * int(row["price"]))["customer"]


class Reply(io.BytesIO):
    """What a socket is to http.client."""

    def makefile(self, mode: str) -> io.BytesIO:
        return self


def next_page(asked: Asked) -> str:
    request, reply = re.findall(r"```\n(.*?)\n```", asked.prompt, re.DOTALL)
    first, _, rest = request.partition("\n")
    head = email.message_from_string(rest)
    assert int(head["Content-Length"]) == len(head.get_payload())
    response = http.client.HTTPResponse(Reply(reply.encode()))  # type: ignore[arg-type]
    response.begin()
    assert response.status == 303
    return urllib.parse.urljoin(f"http://{head['Host']}{first.split()[1]}", str(response.headers["Location"]))


class Page(html.parser.HTMLParser):
    """The classes that a page hides, and its paragraphs by their classes."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, str] = {}
        self.styles, self.inside, self.part = "", "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside, self.part = tag, str(dict(attrs).get("class"))

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        self.styles += data if self.inside == "style" else ""
        if self.inside == "p":
            self.words[self.part] = data


def visible_word(asked: Asked) -> str:
    page = Page()
    page.feed(asked.the(r"(?s)```html\n(.*?)\n```"))
    (shown,) = (word for name, word in page.words.items() if f".{name} {{ display: none; }}" not in page.styles)
    return shown


def named_functions(asked: Asked) -> str:
    """From the machine's code as binutils write it: what is called behind the comparison with the number."""
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    code = int(asked.the(r"the number is (\d+)\?"))
    with tempfile.NamedTemporaryFile() as file:
        file.write(asked.beside["tool.elf"])
        file.flush()
        command = ["objdump", "--disassemble=main", "--no-show-raw-insn", file.name]
        listing = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    called: list[str] = re.findall(rf"cmp\w*\s+\$0x{code:x},.*\n(?:.*\n)*?.*call\w*\s+\S+ <(\w+)>", listing)
    return called[0]


def ticket(asked: Asked) -> str:
    zxingcpp = pytest.importorskip("zxingcpp")
    from PIL import Image

    (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(asked.beside["code.png"])))
    return str(code.text).rpartition("seat=")[2]


SOLVERS: dict[str, Callable[[Asked], str]] = {
    solver.__name__: solver
    for solver in (
        morse_recording, dialled_number, loudest_sample, hidden_message, who_took_it, read_off, document_author,
        log_in_an_archive, largest_order, next_page, visible_word, named_functions, ticket,
    )
}  # fmt: skip


def test_every_template_with_an_artefact_has_a_solver() -> None:
    folder = ROOT / "docs" / "examples" / "tour" / "artefacts"
    without = sorted({path.stem for path in folder.glob("*.yaml")} - SOLVERS.keys())
    assert without == [], (
        f"write functions of these names that answer from the file, and list them in SOLVERS: {without}"
    )
    assert sorted(SOLVERS.keys() - {path.stem for path in folder.glob("*.yaml")}) == []


def questions(tour: Path, template: str) -> Iterator[tuple[Asked, Any]]:
    """What is asked, and the answer's text in the bundle."""
    answers = {
        record["id"]: record for record in map(json.loads, (tour / "answers.jsonl").read_text("utf-8").splitlines())
    }
    for question in map(json.loads, (tour / "questions.jsonl").read_text("utf-8").splitlines()):
        if question["template"] == template:
            beside = {held["name"]: (tour / held["path"]).read_bytes() for held in question.get("assets", ())}
            yield Asked(question["messages"][0]["content"], beside), answers[question["id"]]["text"]


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_with_other_tools_finds_the_answer(name: str, tour: Path) -> None:
    asked = list(questions(tour, name))
    assert len(asked) == 3
    for question, answer in asked:
        assert SOLVERS[name](question) == answer
