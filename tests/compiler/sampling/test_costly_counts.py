"""A count of all ways ends by steps, which are the same on every machine, and not by time."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from dia_compiler.pipeline.api import compile
from dia_compiler.sampling import degrees_of_freedom
from dia_compiler.sampling.degrees_of_freedom import STEPS_OF_A_COUNT, count_ways
from dia_language.budgets import charge, reset


def test_a_count_whose_draws_cost_much_is_given_up() -> None:
    def counted(cost: int) -> int | None:
        def draw(choose: object) -> None:
            reset()
            choose.below(50)  # type: ignore[attr-defined]
            charge(cost)

        return count_ways(draw)

    assert counted(0) == 50
    assert counted(STEPS_OF_A_COUNT // 60) == 50
    assert counted(STEPS_OF_A_COUNT // 40) is None


def test_a_small_domain_with_a_costly_condition_compiles(tmp_path: Path) -> None:
    words = [f"{a}{b}{c}" for a in "bcdf" for b in "aeiou" for c in "dgnt"]
    pairs = [[a, b] for a, b in combinations(words, 2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    folder = tmp_path / "ladder"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text("language: 2\nbenchmark: ladder\nversion: 1.0.0\n", encoding="utf-8")
    (folder / "ladder.yaml").write_text(
        f"""template: ladder
title: A word ladder
params:
  start: {{type: choice, of: {words}}}
  goal: {{type: choice, of: {words}}}
let:
  pairs: "{pairs}"
  net: "graph({words}, pairs)"
  best: shortest_path(net, start, goal)
where: length(best) >= 3
answer: {{value: length(best), type: integer}}
prompt: |
  From {{{{ start }}}} to {{{{ goal }}}}: how many words does the shortest ladder have?
""",
        encoding="utf-8",
    )
    assert degrees_of_freedom.ENUMERATED > 80 * 80  # few enough to be counted, if counting were cheap
    compiled = compile([folder], k=3, out=tmp_path / "out", jobs=1)
    assert compiled.bundles[0].questions == 3
