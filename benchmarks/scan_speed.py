"""How fast `dia scan` reads a corpus on one core, beside `grep -F -f` on the same corpus in the same run.

python benchmarks/scan_speed.py [MEGABYTES] [BUNDLE]

The corpus is made of seeded words; a prompt of the bundle stands in every tenth megabyte. grep looks for the longest
line of each prompt, byte for byte; dia scan for every prompt and for all of its runs of 13 words, whatever the spacing,
punctuation and case. Without a bundle one of 750 made-up prompts is used.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
from dia_runtime.bundle.open import Bundle, open_bundle
from dia_runtime.scanning.index import question_texts
from dia_runtime.scanning.scan import scan

MEGABYTE = 1_000_000


def words_of(count: int, generator: numpy.random.Generator) -> list[str]:
    """Words of 2 to 10 letters."""
    letters = numpy.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    return ["".join(letters[generator.integers(0, 26, size)]) for size in generator.integers(2, 11, count)]


def corpus(prompts: list[str], size: int) -> Iterator[str]:
    """Megabytes of text; in every tenth stands a prompt."""
    generator = numpy.random.Generator(numpy.random.PCG64(7))
    known = numpy.array(words_of(30_000, generator))
    for number in range(size):
        picked = known[(generator.pareto(1.1, 160_000) * 50).astype(int) % len(known)]
        text = " ".join(picked.tolist())[:MEGABYTE]
        lines = "\n".join(text[at : at + 5_000] for at in range(0, len(text), 5_000))
        yield lines + "\n" + (prompts[number // 10 % len(prompts)] + "\n" if number % 10 == 0 else "")


def made_up(folder: Path) -> Bundle:
    """A bundle of 750 prompts of 100 words."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runtime"))
    from conftest import question, write_bundle

    generator = numpy.random.Generator(numpy.random.PCG64(11))
    questions = [question(template, instance) for template in range(150) for instance in range(5)]
    for asked in questions:
        asked["messages"][0]["content"] += "\n" + " ".join(words_of(100, generator))
    return open_bundle(write_bundle(folder / "bundle", questions, None, 5))


def measured(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, spent


def main() -> None:
    """Prints a line for each program."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bundle = open_bundle(sys.argv[2]) if len(sys.argv) > 2 else made_up(folder)
        prompts = [text for asked in bundle.questions() for text in question_texts(asked)]
        file, patterns = folder / "corpus.txt", folder / "patterns"
        with file.open("w", encoding="utf-8") as out:
            out.writelines(corpus(prompts, size))
        longest = [max(text.splitlines(), key=len) for text in prompts]
        patterns.write_text("\n".join(longest) + "\n", encoding="utf-8")
        megabytes = file.stat().st_size / MEGABYTE
        wall, spent = measured(["grep", "-c", "-F", "-f", str(patterns), str(file)])
        print(f"grep -F -f  {megabytes / spent:7.1f} MB/s of processor, {megabytes / wall:7.1f} MB/s of wall time")
        started, began = time.process_time(), time.perf_counter()
        result = scan([file], bundle)
        spent, wall = time.process_time() - started, time.perf_counter() - began
        print(f"dia scan    {megabytes / spent:7.1f} MB/s of processor, {megabytes / wall:7.1f} MB/s of wall time")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        facts = {
            "megabytes": round(megabytes),
            "prompts": len(prompts),
            "whole prompts found": result["exact"]["count"],
        }
        print(json.dumps({**facts, "other pieces": result["partial"]["count"], "peak MiB": round(peak)}))


if __name__ == "__main__":
    main()
