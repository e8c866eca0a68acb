"""Write docs/reference/shortcuts.md: the best shortcut of each shipped family that `dia probe` finds; --check compares.

python docs/shortcuts.py
python docs/shortcuts.py --check

This takes minutes, since it makes 400 instances of each family: `.ci/run --full` checks the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dia_compiler.api import PROBED, Probe, probe_specs
from dia_compiler.probe.probe import Shortcut

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "shortcuts.md"
HEAD = f"""# Shortcuts in the shipped families

<!-- Made by docs/shortcuts.py. Change the specs and run that again. -->

How often simple rules are right in each family. [Find shortcuts in a template](../howto/find-shortcuts.md)
explains the columns. Figures are from {PROBED} instances of each family: rules are learned on one half and judged on
the other, with the extra `probe` installed. A family is over its limit if the lower end of the interval is above it.
"""


def page(result: Probe) -> str:
    """Return the page: the strongest shortcut first."""
    shortcuts = sorted(result.shortcuts, key=lambda one: (-one.low, one.benchmark, one.template))
    rows = "\n".join(map(row, shortcuts))
    over = sum(one.is_over for one in shortcuts)
    summary = f"{len(shortcuts)} families were probed; {over} are over their limit."
    table = f"| family | right | interval | limit | | best rule |\n|---|---|---|---|---|---|\n{rows}"
    return f"{HEAD}\n{summary}\n\n{table}\n"


def row(one: Shortcut) -> str:
    """Return the row of a family."""
    cells = (
        f"{one.benchmark}/{one.template}",
        f"{one.accuracy:.0%}",
        f"{one.low:.0%} to {one.high:.0%}",
        f"{one.limit:.0%}",
        "over" if one.is_over else "",
        one.rule.replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    """Write or check the page; return the exit code."""
    result = probe_specs([ROOT / "specs"])
    text = page(result)
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    lines = list(differences(PAGE.read_text(encoding="utf-8"), text))
    print("\n".join(lines))
    return 1 if lines else 0


def differences(old: str, new: str) -> Iterator[str]:
    """Return the lines that only one of the pages has."""
    before, after = set(old.splitlines()), set(new.splitlines())
    yield from (f"- {line}" for line in old.splitlines() if line not in after)
    yield from (f"+ {line}" for line in new.splitlines() if line not in before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
