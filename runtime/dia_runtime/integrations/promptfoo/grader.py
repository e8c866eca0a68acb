"""Grades replies that come as lines, for harnesses in other languages.

    python -m dia_runtime.integrations.promptfoo.grader answers.jsonl

In: `{"id": ..., "reply": ...}` a line. Out, in that order: `{"verdict", "extracted", "correct", "skipped", "unparsed",
"points"}`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.integrations.exported_tasks.rows import rows


def main() -> int:
    """Return the exit code, when no more replies come."""
    try:
        rows_by_id = {str(row["id"]): row for row in rows(Path(sys.argv[1]))}
        for line in sys.stdin.buffer:  # UTF-8 from all who write JSON, whatever this computer's own encoding is
            request = json.loads(line)
            grade = grade_reply(rows_by_id[request["id"]], request.get("reply"))
            reply = {"verdict": grade.verdict, "extracted": grade.extracted, **grade.figures()}
            print(json.dumps(reply, ensure_ascii=True), flush=True)
    except (DiaError, OSError, KeyError) as error:
        print(f"the reply cannot be graded: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
