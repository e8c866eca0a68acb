"""Recorded replies of a real small model to docs/examples/copying, as a respondent: `recorded_replies.py RUN DEGREES`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPYING = ROOT / "docs" / "examples" / "copying"
REPLIES = ROOT / "tests" / "data" / "real_replies" / "smollm2-135m__copying.jsonl"
TEMPERATURES = (0, 0.5, 1, 1.5)  # of the panel


def recorded(run: str, temperature: float) -> str:
    """Return the name of the respondent that gives the replies of this run."""
    return f"command:{sys.executable} {__file__} '{run}' {temperature}"


def main(run: str, temperature: float) -> None:
    """Reply to the questions on standard input."""
    rows = map(json.loads, REPLIES.read_text(encoding="utf-8").splitlines())
    texts = {row["id"]: row["reply"] for row in rows if (row["run"], row["temperature"]) == (run, temperature)}
    for line in sys.stdin:
        print(json.dumps({"text": texts[json.loads(line)["id"]]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
