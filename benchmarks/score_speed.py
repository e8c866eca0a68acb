"""Time and memory of scoring stored replies.

    python benchmarks/score_speed.py [--replies 1000000] [--format xml,letter] [--respondents 1]

Writes a run with so many replies (not timed), scores it in a process of its own by `strict`, and prints the seconds,
the seconds of CPU and the peak of resident memory. The aim is a million replies below 60 s and 2 GiB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import StoredQuestion
from dia_runtime.store.store import open_store

K = 5
BATCH = 20_000
ROOT = "0" * 64
FORMATS: dict[str, Any] = {
    "xml": {"kind": "xml", "skip": "I-DO-NOT-KNOW"},
    "letter": {"kind": "letter", "options": {"A": "a", "B": "b", "C": "c", "D": "d", "E": "I don't know"}, "skip": "E"},
}
SCORE = """
import json, resource, sys, time
started, cpu = time.perf_counter(), time.process_time()
import dia_runtime
(model, *_) = dia_runtime.score(sys.argv[1])["models"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([time.perf_counter() - started, time.process_time() - cpu, peak, model["counts"]]))
"""


def questions(number: int, kind: str) -> Iterator[StoredQuestion]:
    """So many questions, five to an item; multiple choice has other options in each."""
    for at in range(number):
        answer: Any = at if kind == "xml" else "ABCD"[at % 4]
        comparison = {"type": "integer"} if kind == "xml" else {"type": "choice", "of": list("ABCDE")}
        mistakes = {"next": str(at + 1)} if kind == "xml" else {}
        grading = {"answer": answer, "text": str(answer), "comparison": comparison, "accept": [], "mistakes": mistakes}
        format = json.loads(json.dumps(FORMATS[kind]))
        if kind == "letter":
            format["options"]["A"] = f"option {at}"
        item = f"item_{at // K}"
        yield StoredQuestion(
            position=at,
            id=f"speed/{item}/{at % K}",
            leaf=at.to_bytes(32, "big"),
            template=item,
            item=item,
            instance=at % K,
            variant=None,
            category=f"category {at // K % 20}",
            domain=f"domain {at // K % 3}",
            level="easy",
            adversarial="none",
            number=at // K,
            format=json.dumps(format),
            points='{"correct":1,"skipped":0,"wrong":-2}',
            grading=json.dumps(grading),
            skills='["one","two"]',
        )


def reply(at: int, kind: str) -> Reply:
    """Six of ten are right, two skip, one is wrong and one cannot be read."""
    right = str(at) if kind == "xml" else "ABCD"[at % 4]
    wrong = str(at + 1) if kind == "xml" else "ABCD"[(at + 1) % 4]
    answer = {6: FORMATS[kind]["skip"], 7: FORMATS[kind]["skip"], 8: wrong}.get(at % 10, right)
    if at % 10 == 9:
        return Reply("I would rather talk about something else.")
    return Reply(f"<xml>{answer}</xml>" if kind == "xml" else f"{'Let me think about it. ' * 10}\n\nAnswer: {answer}")


def write(path: Path, replies: int, respondents: int, kind: str) -> None:
    """A run with so many replies of so many respondents."""
    number = replies // respondents
    facts = {"bundle_id": ROOT, "questions_root": ROOT, "benchmark": "speed", "version": "1", "k": K}
    with open_store(path, ROOT) as store:
        store.initialize(facts, questions(number, kind))
        for respondent in range(respondents):
            place = store.respondent(f"model {respondent}", "model", {})
            for start in range(0, number, BATCH):
                store.save(place, [(at, 1, reply(at, kind)) for at in range(start, min(number, start + BATCH))])


def main() -> None:
    """Prints a line for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=1_000_000)
    parser.add_argument("--respondents", type=int, default=1)
    parser.add_argument("--format", default="xml,letter")
    given = parser.parse_args()
    for kind in given.format.split(","):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speed.run"
            started = perf_counter()
            write(path, given.replies, given.respondents, kind)
            written = perf_counter() - started
            done = subprocess.run([sys.executable, "-c", SCORE, str(path)], capture_output=True, text=True, check=True)
            seconds, cpu, peak, counts = json.loads(done.stdout)
            size = path.stat().st_size / 1e6
            print(f"{kind}: {given.replies:,} replies scored in {seconds:.1f} s ({cpu:.1f} s of CPU), {peak:.0f} MiB")
            print(f"  the run has {size:.0f} MB and was written in {written:.0f} s; {counts}")


if __name__ == "__main__":
    main()
