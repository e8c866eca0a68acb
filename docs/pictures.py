"""Take the pictures of docs/images by running the program: terminal screens, a report and plots.

python docs/pictures.py

Terminal screens and plots become .svg files. The report is shown by Chromium, which must be installed, and shrunk with
Pillow (the extra `images`). The respondents in the pictures are simulated.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from pathlib import Path
from typing import Any

import aiohttp
from PIL import Image

DOCS = Path(__file__).resolve().parent
IMAGES = DOCS / "images"
SPECS = DOCS.parent / "specs"
COLUMNS = 100
RESPONDENTS = {
    "simulated A": "simulated:theta=2,skip=0.5",
    "simulated B": "simulated:theta=1,skip=0.8",
    "simulated C": "simulated:theta=1,skip=0.1",
    "simulated D": "simulated:theta=-1,skip=0.3",
    "guess": "guess",
}
TYPOS = """\
template: handshakes
title: Handshakes at a party
params:
  guests: {type: integer, min: 3, max: 500}
answer:
  value: binomail(guests, 2)
  type: integer
checks:
  - answer == sum(range(guests))
prompt: |
  At a party of {{ gests }} people, everybody shakes hands with everybody else once.
  How many handshakes are there?
"""
SGR = re.compile(r"\x1b\[([\d;]*)m")
FIXED = TYPOS.replace("gests", "guests").replace("binomail", "binomial")
CONTROL = re.compile(r"(\n|\r|\x1b\[1A|\x1b\[2K)")
OTHER_ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-Za-ln-z]")
COLOURS = {
    "31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea",
    "2": "#8b949e", "90": "#8b949e",
    "91": "#ff7b72", "92": "#7ee787", "93": "#f2cc60", "94": "#79c0ff", "95": "#d2a8ff", "96": "#76e3ea",
}  # fmt: skip
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
NO_BREAK_SPACE = "\u00a0"  # renderers collapse several plain spaces
# Types a reply into the first box, and waits for how it is read.
STEPS = """(async () => {
  const box = document.querySelector('.reply textarea');
  box.value = 'Everybody shakes hands: 300';
  box.dispatchEvent(new Event('input'));
  await new Promise((done) => setTimeout(done, 1500));
})()"""
SIZE, LINE, MARGIN, BAR = 14, 20, 16, 30


def main() -> int:
    """Write all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copytree(SPECS, "specs")
        Path("mine").mkdir()
        Path("mine/benchmark.yaml").write_text("language: 2\nbenchmark: mine\n", encoding="utf-8")
        Path("mine/handshakes.yaml").write_text(TYPOS, encoding="utf-8")
        take_screen("check", "dia check mine")
        Path("mine/handshakes.yaml").write_text(FIXED, encoding="utf-8")
        take_screen("preview", "dia preview mine/handshakes.yaml --instance 0")
        run("dia compile specs/dia_bench -q")
        bundle = next(Path("build").glob("dia_bench-*-k5")).as_posix()
        ask(bundle)
        take_screen("score", "dia score models.run")
        for kind in ("leaderboard", "reliability"):
            run(f"dia plot {kind} models.run -o {kind}.svg")
            shutil.copy(f"{kind}.svg", IMAGES)
        run(f"dia report models.run --bundle {bundle} -o report.html --title dia_bench")
        report = Path("report.html").resolve().as_uri()
        take_page("report", report, 1300, 940)
        take_page("report-phone", report, 400, 860)
        take_studio("mine", "mine/handshakes.yaml")
    for path in sorted(IMAGES.iterdir()):
        print(f"{path.relative_to(DOCS.parent)}: {path.stat().st_size:,} bytes")
    return 0


def ask(bundle: str) -> None:
    """Ask the respondents, and keep their replies in models.run under shorter names."""
    run(f"dia run {bundle} {' '.join(f'--model {model}' for model in RESPONDENTS.values())} -o asked.run -q")
    run("dia export asked.run --to replies -o replies")
    replies = Path("replies/replies.jsonl")
    text = replies.read_text(encoding="utf-8")
    for name, model in RESPONDENTS.items():
        text = text.replace(f'"respondent": "{model}"', f'"respondent": "{name}"')
    replies.write_text(text, encoding="utf-8")
    fields = "--field id=question --field reply=text --field model=respondent"
    run(f"dia import {replies} --from jsonl --bundle {bundle} {fields} -o models.run -q")


def run(command: str) -> str:
    """Run a command of dia in a terminal of 100 columns, and return what it prints, with its colours."""
    words = [sys.executable, "-m", "dia_compiler", *command.split()[1:]]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        output = b""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while data := os.read(ours, 65536):
                output += data
    os.close(ours)
    return output.decode().replace("\r\n", "\n")


def take_screen(name: str, command: str) -> None:
    """Write the picture of a command and its output."""
    (IMAGES / f"{name}.svg").write_text(as_svg(f"\x1b[1m$ {command}\x1b[0m\n{run(command)}"), encoding="utf-8")


def as_svg(output: str) -> str:
    """Return the picture of a terminal with this output."""
    lines = _lines(output)
    widest = max(len(SGR.sub("", line)) for line in lines)
    advance = SIZE * 0.6
    width, height = round(widest * advance + 2 * MARGIN), len(lines) * LINE + BAR + MARGIN
    rows = []
    for number, line in enumerate(lines):
        column = 0
        for text, style in _spans(line):
            if text.strip():
                x, y = MARGIN + column * advance, BAR + number * LINE + SIZE
                fit = f'textLength="{len(text) * advance:.1f}" lengthAdjust="spacingAndGlyphs"'
                shown = escape(text).replace(" ", NO_BREAK_SPACE)
                rows.append(f'<text x="{x:.1f}" y="{y}"{style} {fit}>{shown}</text>')
            column += len(text)
    dots = "".join(f'<circle cx="{MARGIN + 16 * place}" cy="14" r="4.5"/>' for place in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONT}" font-size="{SIZE}" fill="#e6edf3">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/><g fill="#484f58">{dots}</g>\n'
        + "\n".join(rows)
        + "\n</svg>\n"
    )


def _lines(output: str) -> list[str]:
    """Return the lines that are left on the screen when a command ends: progress bars are overwritten or taken back."""
    lines = [""]
    for part in CONTROL.split(output.rstrip()):
        if part == "\n":
            lines.append("")
        elif part in ("\r", "\x1b[2K"):
            lines[-1] = ""
        elif part == "\x1b[1A":
            lines.pop()
        else:
            lines[-1] += OTHER_ESCAPES.sub("", part)
    return lines


def _spans(line: str) -> list[tuple[str, str]]:
    """Return the pieces of a line, each with its colour and weight as attributes."""
    spans, colour, weight = [], "", ""
    pieces = SGR.split(line)
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            leading = len(piece) - len(piece.lstrip())
            spans += [(piece[:leading], ""), (piece[leading:], colour + weight)]
            continue
        for code in piece.split(";"):
            if code in ("", "0"):
                colour = weight = ""
            elif code == "1":
                weight = ' font-weight="bold"'
            elif code in COLOURS:
                colour = f' fill="{COLOURS[code]}"'
    return [(text, style) for text, style in spans if text]


def take_studio(specs: str, file: str) -> None:
    """Write the pictures of the studio's page about a template, and of its phone-sized one."""
    command = [sys.executable, "-m", "dia_compiler", "studio", specs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        for name, width, height, scheme in (("studio", 1300, 1000, "light"), ("studio-phone", 400, 860, "dark")):
            address_of_template = f"{address}#file={file}&count=1"
            asyncio.run(take_live_page(IMAGES / f"{name}.png", address_of_template, width, height, scheme))
            shrink(IMAGES / f"{name}.png")
        process.send_signal(signal.SIGINT)


async def take_live_page(target: Path, address: str, width: int, height: int, scheme: str) -> None:
    """Write the picture of a page whose stream of events never ends, once it has shown its template.

    Speaks to Chromium by its DevTools protocol.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser(), "--headless", "--no-sandbox", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        port = Path(profile, "DevToolsActivePort")
        try:
            while not port.exists() or "\n" not in port.read_text(encoding="ascii"):
                await asyncio.sleep(0.05)
            debugger = f"http://127.0.0.1:{port.read_text(encoding='ascii').split()[0]}/json/new?about:blank"
            async with aiohttp.ClientSession() as session:
                async with session.put(debugger) as answer:
                    page = await answer.json()
                async with session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    await _draw(socket, target, address, width, height, scheme)
        finally:
            process.kill()
            process.wait()


async def _draw(
    socket: aiohttp.ClientWebSocketResponse, target: Path, address: str, width: int, height: int, scheme: str
) -> None:
    async def call(method: str, **parameters: Any) -> dict[str, Any]:
        await socket.send_json({"id": 1, "method": method, "params": parameters})
        while (answer := await socket.receive_json()).get("id") != 1:
            pass
        result: dict[str, Any] = answer["result"]
        return result

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    await call("Emulation.setDeviceMetricsOverride", **size)
    await call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    await call("Page.navigate", url=address)
    shown = "document.body && document.body.dataset.looks && !document.querySelector('.state.waiting')"
    while not (await call("Runtime.evaluate", expression=shown, returnByValue=True))["result"].get("value"):
        await asyncio.sleep(0.1)
    await call("Runtime.evaluate", expression=STEPS, awaitPromise=True)
    picture = await call("Page.captureScreenshot", format="png")
    target.write_bytes(base64.b64decode(picture["data"]))


def take_page(name: str, address: str, width: int, height: int) -> None:
    """Write the picture of the top of a page, as a browser of this size shows it."""
    target = IMAGES / f"{name}.png"
    command = [browser(), "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}"]
    command += ["--virtual-time-budget=5000", f"--screenshot={target}", address]
    subprocess.run(command, check=True, capture_output=True)
    shrink(target)


def browser() -> str:
    """Return the path of Chromium; end the program if it is not installed."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return path or sys.exit("Chromium is not installed")


def shrink(target: Path) -> None:
    """Write a picture again with few colours."""
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
