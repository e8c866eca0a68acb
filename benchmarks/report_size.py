"""Size, time and memory of a large report, and the time until a browser shows it.

    python benchmarks/report_size.py [--k 100] [--models 10] [--characters 700] [--bundle DIR] [--keep FILE]

Compiles the shipped benchmark with so many instances (15,000 questions; not timed, and left out where a bundle of it is
named), writes a run with so many respondents, whose replies are prose of about that length around right, wrong and
skipped answers (not timed), and makes its report in a process of its own. Where Chromium, node and npm are installed,
the page is opened there: until the list of questions stands, and from a click to the replies of the last question. The
aim is a page below 30 MB that opens in 3 s.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy
from dia_compiler import compile
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.load_questions import load_questions
from dia_runtime.store.store import open_store

SPECS = Path(__file__).resolve().parents[1] / "specs" / "dia_bench"
SENTENCES, WORDS, SENTENCE = 20_000, 4_000, 14
BATCH = 5_000
REPORT = """
import json, resource, sys, time
started, cpu = time.perf_counter(), time.process_time()
from dia_compiler.commands.cli import run
code = run(["report", sys.argv[1], "--bundle", sys.argv[2], "-o", sys.argv[3], "--json", "-q"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([code, time.perf_counter() - started, time.process_time() - cpu, peak]))
"""
OPEN = """
import { chromium } from 'playwright-core';
const args = process.getuid() ? [] : ['--no-sandbox'];
const browser = await chromium.launch({ executablePath: process.argv[2], args });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
let at = performance.now();
await page.goto('file://' + process.argv[3]);
await page.waitForSelector('#rows button');
const opened = performance.now() - at;
await page.fill('#find', process.argv[4]);
at = performance.now();
await page.click('#rows button');
await page.waitForSelector('.opened article');
console.log(JSON.stringify([opened, performance.now() - at, await page.locator('#found').textContent()]));
await browser.close();
"""


def sentences(draw: numpy.random.Generator) -> list[str]:
    """So many sentences of invented words, the frequent ones short."""
    letters = numpy.array(list("etaoinshrdlucmfwypvbgk"))
    lengths = 2 + numpy.minimum(numpy.arange(WORDS) // 300 + draw.integers(0, 4, WORDS), 9)
    words = ["".join(letters[draw.integers(0, len(letters), length)]) for length in lengths]
    rank = 1 / numpy.arange(1, WORDS + 1)
    chosen = draw.choice(WORDS, (SENTENCES, SENTENCE), p=rank / rank.sum())
    return [" ".join(words[at] for at in row).capitalize() + "." for row in chosen]


def replies(bundle: Bundle, model: int, known: list[str], characters: int) -> Iterator[Reply]:
    """What one respondent says to every question; the later it comes, the less it knows."""
    draw = numpy.random.Generator(numpy.random.PCG64(model))
    number = max(1, round(characters / 75))
    for question, answer in zip(bundle.questions(), bundle.answers(), strict=True):
        prose = "\n".join(known[at] for at in draw.integers(0, SENTENCES, number))
        chance = draw.random()
        said = answer["text"] if chance < 0.9 - 0.08 * model else question["format"].get("skip") or "0"
        said = str(draw.integers(0, 10**6)) if chance > 0.95 - 0.05 * model else said
        yield Reply(f"{prose}\n\n<xml>{said}</xml>")


def write(path: Path, bundle: Bundle, models: int, characters: int) -> None:
    """A run of the bundle with so many respondents."""
    known = sentences(numpy.random.Generator(numpy.random.PCG64(0)))
    with open_store(path, bundle.questions_root) as store:
        load_questions(store, bundle)
        for model in range(models):
            place = store.respondent(f"invented-model-{model + 1}", "invented", {})
            held: list[tuple[int, int, Reply]] = []
            for at, reply in enumerate(replies(bundle, model, known, characters)):
                held.append((at, 1, reply))
                if len(held) == BATCH:
                    store.save(place, held)
                    held = []
            store.save(place, held)


def opened(page: Path, folder: Path, last: str) -> list[Any] | None:
    """Milliseconds until the page stands, until a question is open, and what the page says it found."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or not shutil.which("npm"):
        return None
    here = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    subprocess.run(
        ["npm", "i", "--silent", "--no-audit", "--no-fund", "playwright-core"], cwd=folder, env=here, check=True
    )
    (folder / "open.mjs").write_text(OPEN, encoding="utf-8")
    done = subprocess.run(
        ["node", "open.mjs", browser, str(page), last], cwd=folder, capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Prints what the page weighs and how long everything takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--characters", type=int, default=700)
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where = given.bundle or compile([SPECS], k=given.k, out=folder / "build").bundles[0].path
        bundle = open_bundle(where)
        run, page = folder / "large.run", (given.keep or folder / "report.html").absolute()
        started = perf_counter()
        write(run, bundle, given.models, given.characters)
        size = run.stat().st_size / 1e6
        print(f"{bundle.manifest['counts']['questions']:,} questions x {given.models}: a run of {size:.0f} MB, "
              f"written in {perf_counter() - started:.0f} s")  # fmt: skip
        command = [sys.executable, "-c", REPORT, str(run), str(where), str(page)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        facts, _, told = done.stdout.rstrip().rpartition("\n")
        code, seconds, cpu, peak = json.loads(told)
        assert code == 0, done.stderr
        held = json.loads(facts)
        kept = f"replies of {held['reply_characters']} characters at most, {held['cut_replies']:,} of them cut"
        print(f"a page of {held['bytes'] / 1e6:.1f} MB in {seconds:.0f} s ({cpu:.0f} s of CPU), {peak:.0f} MiB; {kept}")
        last = list(bundle.questions())[-1]["id"]
        shown = opened(page, folder, last)
        if shown is None:
            print("no browser is installed to open it")
        else:
            print(f"opened in {shown[0] / 1000:.1f} s; a question in {shown[1]:.0f} ms ({shown[2]})")


if __name__ == "__main__":
    main()
