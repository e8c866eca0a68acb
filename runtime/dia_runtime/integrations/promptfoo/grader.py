"""Grade replies on standard input line by line, for harnesses in other languages.

python -m dia_runtime.integrations.promptfoo.grader answers.jsonl

Input: one `{"id": ..., "reply": ...}` per line. Output, in the same order: `{"verdict", "extracted", "correct",
"skipped", "unparsed", "points"}`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dia_language.diagnostics import DiaError
from dia_runtime.integrations.exported_tasks.grading import grade_reply
from dia_runtime.integrations.exported_tasks.rows import rows


def main() -> int:
    """Return the exit code at the end of the input."""
    try:
        rows_by_id = {str(row["id"]): row for row in rows(Path(sys.argv[1]))}
        for line in sys.stdin.buffer:  # JSON is in UTF-8, whatever the encoding of this computer
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
