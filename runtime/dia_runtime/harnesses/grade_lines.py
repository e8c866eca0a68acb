"""Grades replies that come as lines, for harnesses in other languages.

    python -m dia_runtime.harnesses.grade_lines answers.jsonl

In: `{"id": ..., "reply": ...}` a line. Out, in that order: `{"verdict", "extracted", "correct", "skipped", "unparsed",
"points"}`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dia_runtime.harnesses.graded import graded
from dia_runtime.harnesses.rows import rows
from dia_runtime.language.diagnostics import DiaError


def main() -> int:
    """The exit code, when no more replies come."""
    try:
        known = {str(row["id"]): row for row in rows(Path(sys.argv[1]))}
        for line in sys.stdin.buffer:  # UTF-8 from all who write JSON, whatever this computer's own encoding is
            asked = json.loads(line)
            found = graded(known[asked["id"]], asked.get("reply"))
            told = {"verdict": found.verdict, "extracted": found.extracted, **found.figures()}
            print(json.dumps(told, ensure_ascii=True), flush=True)
    except (DiaError, OSError, KeyError) as error:
        print(f"the reply cannot be graded: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
