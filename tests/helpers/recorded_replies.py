"""Recorded replies of a real small model as a respondent: `recorded_replies.py RUN DEGREES BENCHMARK`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPYING, SEQUENCES = (ROOT / "docs" / "examples" / name for name in ("copying", "sequences"))
REPLIES = ROOT / "tests" / "data" / "real_replies"
TEMPERATURES = (0, 0.5, 1, 1.5)  # of the panel of docs/examples/copying
PANEL = tuple((run, degrees) for run in ("plain", "editor", "poet") for degrees in (0, 0.4, 0.8))  # of sequences


def recorded(run: str, temperature: float, benchmark: Path = COPYING) -> str:
    """Return the name of the respondent that gives the replies of this run."""
    return f"command:{sys.executable} {__file__} '{run}' {temperature} {benchmark.name}"


def main(run: str, temperature: float, benchmark: str) -> None:
    """Reply to the questions on standard input."""
    rows = map(json.loads, (REPLIES / f"smollm2-135m__{benchmark}.jsonl").read_text(encoding="utf-8").splitlines())
    texts = {row["id"]: row["reply"] for row in rows if (row["run"], row["temperature"]) == (run, temperature)}
    for line in sys.stdin:
        print(json.dumps({"text": texts[json.loads(line)["id"]]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
