"""Write docs/reference/shortcuts.md: the best shortcut of each shipped family that `dia probe` finds; --check compares.

python docs/shortcuts.py
python docs/shortcuts.py --check
python docs/shortcuts.py school_math puzzles

With names of benchmarks, only their rows are made anew. It takes minutes, for 400 instances of each family;
`.ci/run --full` checks the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dia_compiler.pipeline.api import PROBED, probe_specs
from dia_compiler.probe.probe import Shortcut

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "shortcuts.md"
HEAD = f"""# Shortcuts in the shipped families

<!-- Made by docs/shortcuts.py. Change the specs and run that again. -->

How often the best simple rule gives the right answer, without understanding the question, in each family (a template
with all its instances). [Find shortcuts in a template](../howto/find-shortcuts.md) explains the columns. Figures are
from up to {PROBED} instances of each family: rules are learned on one half and tested on the other, with the extra
`probe` installed. A family is over its limit if the lower end of the interval is above the limit. A rule that starts
with `answerable or not` does not give the answer: it predicts only whether the question can be answered.
"""

LEFT_OUT = "Families with sessions, and `gpqa` and `lexam`, whose questions do not come with dia, are not probed."


def page(rows: list[str]) -> str:
    """Return the page: the strongest shortcut first."""
    over = sum(cells(row)[3].endswith("over") for row in rows)
    summary = f"{len(rows)} families were probed; {over} are over their limit. {LEFT_OUT}"
    ordered = sorted(rows, key=lambda row: (-int(cells(row)[2].partition("%")[0]), cells(row)[0]))
    table = "\n".join(["| family | accuracy | 95 % CI | limit | best rule |", "|---|---|---|---|---|", *ordered])
    return f"{HEAD}\n{summary}\n\n{table}\n"


def cells(row: str) -> list[str]:
    """Return the cells of a row, the family first."""
    return [cell.strip() for cell in row.split("|")[1:]]


def kept_rows(old: str, names: list[str]) -> list[str]:
    """Return the rows of a page for benchmarks other than these."""
    rows = [line for line in old.splitlines() if line.startswith("| ") and "/" in cells(line)[0]]
    return [row for row in rows if cells(row)[0].partition("/")[0] not in names]


def row(one: Shortcut) -> str:
    """Return the row of a family."""
    values = (
        f"{one.benchmark}/{one.template}",
        f"{one.accuracy:.0%}",
        f"{one.low:.0%} to {one.high:.0%}",
        f"{one.limit:.0%}{', over' * one.is_over}",
        one.rule.replace("|", "\\|"),
    )
    return f"| {' | '.join(values)} |"


def main(arguments: list[str]) -> int:
    """Write or check the page; return the exit code."""
    names = [name for name in arguments if name != "--check"]
    old = PAGE.read_text(encoding="utf-8")
    result = probe_specs([ROOT / "specs" / name for name in names] or [ROOT / "specs"])
    text = page([*map(row, result.shortcuts), *(kept_rows(old, names) if names else [])])
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    lines = list(differences(old, text))
    print("\n".join(lines))
    return 1 if lines else 0


def differences(old: str, new: str) -> Iterator[str]:
    """Return the lines that only one of the pages has."""
    before, after = set(old.splitlines()), set(new.splitlines())
    yield from (f"- {line}" for line in old.splitlines() if line not in after)
    yield from (f"+ {line}" for line in new.splitlines() if line not in before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
