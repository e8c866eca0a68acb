"""How long `dia studio` takes from a save to the new instances, and to answer a typed reply.

python benchmarks/studio_latency.py [--saves N]

Saves templates of a copy of specs/dia_bench, listens to the studio's events as its page does, and asks for three
instances when a change is announced. Prints the seconds from the save to the event and the last instance: median, 95 %
and the longest. The list of 150 templates is being checked meanwhile in the first row, and has been in the others. The
last rows are of specs/puzzles/word_ladder.yaml, whose draw is costly: how long until the page has the text with its
errors, the first instance, and all three.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import aiohttp
from dia_compiler.authoring.studio.server import Studio

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ("d001_next_prime.yaml", "d002_small_sum.yaml")
COSTLY = "word_ladder.yaml"
LONG = 200  # lines of the longest template that is saved


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--saves", type=int, default=20, help="saves of each template (default: 20)")
    asyncio.run(measure(parser.parse_args().saves))


async def measure(saves: int) -> None:
    """Print a line for each kind of save."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "dia_bench")
        shutil.copytree(ROOT / "specs" / "dia_bench", folder)
        begin = time.perf_counter()
        studio = Studio([folder])
        await studio.start()
        print(f"start: {time.perf_counter() - begin:.2f} s until the page can be opened")
        try:
            async with aiohttp.ClientSession() as session:
                first = folder / TEMPLATES[0]
                report("save while the list is checked", await saved(session, studio, first, saves))
                while any(state["state"] == "waiting" for state in studio.desk.states.values()):
                    await asyncio.sleep(0.2)
                print(f"list: {time.perf_counter() - begin:.1f} s until every template has been checked")
                for name in TEMPLATES:
                    report(f"save {name}", await saved(session, studio, folder / name, saves))
                first.write_text(lengthened(first.read_text(encoding="utf-8")), encoding="utf-8")
                await asyncio.sleep(2)
                report(f"save a template of {LONG} lines", await saved(session, studio, first, saves))
                report("read a typed reply", await replies(session, studio, first, saves))
        finally:
            await studio.close()
        await costly(Path(scratch, "puzzles"), saves)


async def costly(folder: Path, saves: int) -> None:
    """Print when each part of a costly template is shown after a save."""
    folder.mkdir()
    for name in ("benchmark.yaml", COSTLY):
        shutil.copy(ROOT / "specs" / "puzzles" / name, folder)
    path, studio = folder / COSTLY, Studio([folder])
    times: dict[str, list[float]] = {"text": [], "instance": [], "errors": []}
    await studio.start()
    try:
        async with aiohttp.ClientSession() as session:
            while any(state["state"] == "waiting" for state in studio.desk.states.values()):
                await asyncio.sleep(0.2)
            for number in range(saves):
                path.write_text(path.read_text(encoding="utf-8") + f"# save {number}\n", encoding="utf-8")
                begin, seen = time.perf_counter(), set()
                async with session.get(f"{studio.address}look", params={"file": path.as_posix()}) as answer:
                    async for line in answer.content:
                        kind = json.loads(line)["kind"]
                        if kind in times and kind not in seen:
                            times[kind].append(time.perf_counter() - begin)
                            seen.add(kind)
    finally:
        await studio.close()
    for label, kind in (("text and errors", "text"), ("first instance", "instance"), ("all instances", "errors")):
        seconds = times[kind]
        print(f"look at {COSTLY}: {label} {median(seconds):.3f} s, shortest {min(seconds):.3f} s, longest "
              f"{max(seconds):.3f} s")  # fmt: skip


def lengthened(text: str) -> str:
    """Return the template with as many unused values as it takes to have 200 lines."""
    lines = text.splitlines()
    names = "\n".join(f"  spare_{number}: n + {number}" for number in range(LONG - len(lines)))
    return text.replace("let:\n", f"let:\n{names}\n", 1)


def report(name: str, seconds: list[tuple[float, float]]) -> None:
    """Print the median, 95 % and longest of the times to the event and to the last instance."""
    parts = []
    for label, times in zip(("announced", "shown"), zip(*seconds, strict=True), strict=True):
        high = quantiles(times, n=20)[-1]
        parts.append(f"{label} {median(times):.3f} s, 95 % {high:.3f} s, longest {max(times):.3f} s")
    print(f"{name}: {'; '.join(parts)}")


async def saved(session: aiohttp.ClientSession, studio: Studio, path: Path, saves: int) -> list[tuple[float, float]]:
    """Return for each save the seconds until the change is announced, and until the new instances are there."""
    text, times = path.read_text(encoding="utf-8"), []
    async with session.get(f"{studio.address}events", timeout=aiohttp.ClientTimeout(None)) as events:
        for number in range(saves):
            await asyncio.sleep(0.3)
            begin = time.perf_counter()
            path.write_text(text.replace("prompt: |\n", f"prompt: |\n  (save {number})\n", 1), encoding="utf-8")
            async for line in events.content:
                if line.startswith(b"data: ") and path.as_posix() in json.loads(line[6:]).get("files", ()):
                    break
            announced = time.perf_counter() - begin
            async with session.get(f"{studio.address}look", params={"file": path.as_posix(), "count": "3"}) as answer:
                records = [json.loads(line) for line in (await answer.text()).splitlines()]
            shown = [record["content"] for record in records if record["kind"] == "instance"]
            assert len(shown) == 3 and all(f"(save {number})" in content for content in shown)
            times.append((announced, time.perf_counter() - begin))
    path.write_text(text, encoding="utf-8")
    return times


async def replies(session: aiohttp.ClientSession, studio: Studio, path: Path, count: int) -> list[tuple[float, float]]:
    """Return the seconds for each typed reply, twice."""
    async with session.get(f"{studio.address}look", params={"file": path.as_posix(), "count": "1"}) as answer:
        records = [json.loads(line) for line in (await answer.text()).splitlines()]
    reader = next(record["reader"] for record in records if record.get("reader"))
    origin, times = studio.address.split("/", 3), []
    for number in range(count):
        begin = time.perf_counter()
        body = {"reader": reader, "reply": f"I think <xml>{number}</xml>"}
        headers = {"Origin": "/".join(origin[:3])}
        async with session.post(f"{studio.address}read", json=body, headers=headers) as answer:
            assert answer.status == 200 and "readings" in await answer.json()
        times.append((time.perf_counter() - begin,) * 2)
    return times


if __name__ == "__main__":
    main()
