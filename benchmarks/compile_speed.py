"""Questions per second of one process, beside a bare inner loop measured in the same run.

    python benchmarks/compile_speed.py [--k 200] [--profile FAMILY]

Expands every shipped family in this process, without workers. The peer is the least that any generator of this kind
has to do for a question: draw from a SHA-256 stream, evaluate a compiled expression, render two Jinja templates, hash
the text and write two JSON lines; it checks, compares and grades nothing. The aim is 4,000 questions a second over the
families whose solver and checks cost under 1 ms.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from dia_compiler.check import check
from dia_compiler.compile import expand_template
from dia_compiler.discover import discover
from dia_compiler.expand import Expansion
from dia_compiler.fuzz import Stream, Walker
from dia_compiler.settings import seed_of, settings_of
from dia_runtime.language.workers import INTEGER_DIGITS
from jinja2 import Environment

SPECS = Path(__file__).resolve().parent.parent / "specs"
CHEAP = 1e-3
# The package hides the module behind the function of its name.
compiling = sys.modules["dia_compiler.compile"]


def families(paths: list[Path]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Name and arguments of `expand_template` of every family, k last but two."""
    for item in check(discover(paths)).benchmarks:
        seed = seed_of(item.benchmark, None)
        for template in item.clean:
            settings = settings_of(item.benchmark, template, seed)
            yield template.name, (template, item.benchmark, item.lists_of(template), settings)


def expand(arguments: tuple[Any, ...], k: int) -> float:
    """Seconds that k instances take once the template is prepared, which the first instance shows."""
    start, count = 0.0, 0
    for batch in expand_template(*arguments, k, None, False):
        if isinstance(batch, list):
            count += len(batch)
        elif not start:
            start = perf_counter()
    return (perf_counter() - start) / max(count, 1)


STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "draw": ((Walker, "at"),),
    "truth": ((Expansion, "solve"), (Expansion, "check")),
    "mistakes": ((Expansion, "mistakes"),),
    "texts": ((Expansion, "challenge"), (Expansion, "content")),
    "freeze": ((compiling, "frozen_row"),),
}


def stage_costs(arguments: tuple[Any, ...], k: int) -> dict[str, float]:
    """Seconds a question that each stage takes; the solver and the checks are the truth."""
    spent = dict.fromkeys(STAGES, 0.0)
    kept = [(stage, owner, name, getattr(owner, name)) for stage, parts in STAGES.items() for owner, name in parts]

    def timed(stage: str, method: Any) -> Any:
        def run(*given: Any) -> Any:
            start = perf_counter()
            try:
                return method(*given)
            finally:
                spent[stage] += perf_counter() - start

        return run

    for stage, owner, name, method in kept:
        setattr(owner, name, timed(stage, method))
    try:
        for _ in expand_template(*arguments, k, None, False):
            pass
    finally:
        for _, owner, name, method in kept:
            setattr(owner, name, method)
    return {stage: seconds / k for stage, seconds in spent.items()}


def bare_loop(count: int = 5000) -> float:
    """Seconds a question of the peer."""
    environment = Environment()
    inner = environment.from_string("Given {{ a }} and {{ b }}, find their greatest common divisor.")
    outer = environment.from_string("Read with care.\n\n{{ challenge }}\n\nAnswer between tags.")
    solver = compile("gcd(a, b)", "<peer>", "eval")
    from math import gcd

    start = perf_counter()
    for number in range(count):
        stream = Stream(sha256(b"peer%d" % number).digest())
        a, b = stream.below(2**50), stream.below(2**50)
        answer = eval(solver, {"gcd": gcd, "a": a, "b": b})
        text = outer.render(challenge=inner.render(a=a, b=b))
        sha256(text.encode()).digest()
        json.dumps({"id": f"peer/{number}", "messages": [{"role": "user", "content": text}]}, sort_keys=True)
        json.dumps({"id": f"peer/{number}", "answer": answer, "parameters": {"a": a, "b": b}}, sort_keys=True)
    return (perf_counter() - start) / count


def profile(name: str, k: int) -> None:
    """Prints where the time of one family goes."""
    arguments = next(held for known, held in families([SPECS]) if known == name)
    expand(arguments, 5)
    profiler = cProfile.Profile()
    profiler.enable()
    expand(arguments, k)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=200, help="instances of each family")
    parser.add_argument("--profile", metavar="FAMILY", help="print the profile of one family instead")
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    if options.profile:
        profile(options.profile, options.k)
        return
    peer = bare_loop()
    heads = "".join(f"{stage:>10}" for stage in STAGES)
    print("microseconds a question, by stage\n")
    print(f"{'family':<24}{'questions/s':>12}{'all':>10}{heads}{'times peer':>12}")
    total, cheap = [], []
    for name, arguments in families([SPECS]):
        expand(arguments, 5)
        each, stages = expand(arguments, options.k), stage_costs(arguments, options.k)
        total.append(each)
        if stages["truth"] < CHEAP:
            cheap.append(each)
        parts = "".join(f"{seconds * 1e6:>10,.0f}" for seconds in stages.values())
        print(f"{name:<24}{1 / each:>12,.0f}{each * 1e6:>10,.0f}{parts}{each / peer:>12.1f}")
    print(f"{'bare inner loop (peer)':<24}{1 / peer:>12,.0f}{peer * 1e6:>10,.0f}")
    rate = len(cheap) / sum(cheap)
    print(f"\n{len(cheap)} families whose solver and checks cost under 1 ms: {rate:,.0f} questions/s")
    print(f"all {len(total)} families: {len(total) / sum(total):,.0f} questions/s")


if __name__ == "__main__":
    main()
