"""Questions per second of one process, beside a bare inner loop measured in the same run.

    python benchmarks/compile_speed.py [--k 100] [--rounds 3] [--specs FOLDER] [--profile FAMILY]

Expands every shipped family in this process, without workers, and counts processor time. The peer is the least that
any generator of this kind has to do for a question: draw from a SHA-256 stream, evaluate a compiled expression, render
two Jinja templates, hash the text and write two JSON lines; it checks, compares and grades nothing. The aim is 4,000
questions a second over the families whose solver and checks cost under 1 ms. Of several rounds the quickest counts,
family by family, as does the peer's: what else the machine does in between is no cost of a question.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any

from dia_compiler.analyze.check import check
from dia_compiler.analyze.settings import seed_of
from dia_compiler.distribute.task import TemplateJob, expand_template
from dia_compiler.freeze.output import CompileOptions
from dia_compiler.freeze.spool import Batch
from dia_compiler.freeze.write_bundle import BundlePlan
from dia_compiler.generate.bundle_rows import Writer
from dia_compiler.generate.draw import Drawing
from dia_compiler.generate.expand import Expansion
from dia_compiler.parse.discover import discover
from dia_compiler.pipeline.phases import job_of
from dia_compiler.sampling.instance_tree import Stream, Walker
from dia_language.workers.fork_server import GC_THRESHOLD
from dia_language.workers.pool import INTEGER_DIGITS
from jinja2 import Environment

SPECS = Path(__file__).resolve().parent.parent / "specs" / "dia_bench"
CHEAP = 1e-3
DEAR = 5e-3  # seconds a question from which on one round is enough
working = sys.modules["dia_compiler.distribute.task"]


def families(paths: list[Path]) -> Iterator[TemplateJob]:
    """What a worker needs to expand each family, all instances in one go."""
    for item in check(discover(paths)).benchmarks:
        plan = BundlePlan(item, seed_of(item.benchmark, None), CompileOptions())
        for template in item.clean:
            yield replace(job_of(plan, template), span=sys.maxsize)


def expand(job: TemplateJob, k: int) -> float:
    """Seconds a question that k instances take once the template is prepared, which the first message shows."""
    start, count = 0.0, 0
    for message in expand_template(replace(job, k=k)):
        if isinstance(message, Batch):
            count += message.rows
        elif not start:
            start = process_time()
    return (process_time() - start) / max(count, 1)


def quickest(template_jobs: list[TemplateJob], k: int, rounds: int) -> list[float]:
    """Seconds a question of each family in the quickest of so many rounds over all of them."""
    best = [expand(job, k) for job in template_jobs]
    for _ in range(rounds - 1):
        best = [
            seconds if seconds > DEAR else min(seconds, expand(job, k))
            for job, seconds in zip(template_jobs, best, strict=True)
        ]
    return best


STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "draw": ((Walker, "at"),),  # and the conditions
    "values": ((Drawing, "value"),),
    "truth": tuple((Expansion, name) for name in ("make", "derive", "solve", "check")),
    "mistakes": ((Expansion, "mistakes"),),
    "texts": ((Expansion, "challenge"), (Expansion, "content")),
    "freeze": ((Writer, "row"),),
    "once": ((Drawing, "freedom"), (working, "check_examples")),
}


def stage_costs(job: TemplateJob, k: int) -> dict[str, float]:
    """Seconds a question that each stage takes; let values, the solver and the checks are the truth."""
    spent = dict.fromkeys(STAGES, 0.0)
    inner = [0.0]  # seconds that the stages within each running one have taken
    kept = [(stage, owner, name, getattr(owner, name)) for stage, parts in STAGES.items() for owner, name in parts]

    def timed(stage: str, method: Any) -> Any:
        def run(*given: Any) -> Any:
            start = process_time()
            inner.append(0.0)
            try:
                return method(*given)
            finally:
                whole = process_time() - start
                spent[stage] += whole - inner.pop()
                inner[-1] += whole

        return run

    for stage, owner, name, method in kept:
        setattr(owner, name, timed(stage, method))
    try:
        for _ in expand_template(replace(job, k=k)):
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

    start = process_time()
    for number in range(count):
        stream = Stream(sha256(b"peer%d" % number).digest())
        a, b = stream.below(2**50), stream.below(2**50)
        answer = eval(solver, {"gcd": gcd, "a": a, "b": b})
        text = outer.render(challenge=inner.render(a=a, b=b))
        sha256(text.encode()).digest()
        json.dumps({"id": f"peer/{number}", "messages": [{"role": "user", "content": text}]}, sort_keys=True)
        json.dumps({"id": f"peer/{number}", "answer": answer, "parameters": {"a": a, "b": b}}, sort_keys=True)
    return (process_time() - start) / count


def profile(name: str, specs: Path, k: int) -> None:
    """Prints where the time of one family goes."""
    job = next(job for job in families([specs]) if job.template.name == name)
    expand(job, 5)
    profiler = cProfile.Profile()
    profiler.enable()
    expand(job, k)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=100, help="instances of each family")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each family, of which the quickest counts")
    parser.add_argument("--profile", metavar="FAMILY", help="print the profile of one family instead")
    parser.add_argument("--specs", type=Path, default=SPECS, help="folder of the specs")
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)  # as in the workers of a compile
    if options.profile:
        profile(options.profile, options.specs, options.k)
        return
    peer = min(bare_loop() for _ in range(options.rounds))
    heads = "".join(f"{stage:>10}" for stage in STAGES)
    print("microseconds a question, by stage\n")
    print(f"{'family':<24}{'questions/s':>12}{'all':>10}{heads}{'times peer':>12}")
    total, cheap, spent = [], [], dict.fromkeys(STAGES, 0.0)
    template_jobs = list(families([options.specs]))
    for job in template_jobs:
        expand(job, 5)
    for job, each in zip(template_jobs, quickest(template_jobs, options.k, options.rounds), strict=True):
        stages = stage_costs(job, options.k)
        total.append(each)
        if stages["truth"] < CHEAP:
            cheap.append(each)
            spent = {stage: spent[stage] + stages[stage] for stage in STAGES}
        parts = "".join(f"{seconds * 1e6:>10,.0f}" for seconds in stages.values())
        print(f"{job.template.name:<24}{1 / each:>12,.0f}{each * 1e6:>10,.0f}{parts}{each / peer:>12.1f}")
    print(f"{'bare inner loop (peer)':<24}{1 / peer:>12,.0f}{peer * 1e6:>10,.0f}")
    mean = "".join(f"{seconds / len(cheap) * 1e6:>10,.0f}" for seconds in spent.values())
    rate = len(cheap) / sum(cheap)
    print(f"{'mean of the cheap ones':<24}{rate:>12,.0f}{1e6 / rate:>10,.0f}{mean}")
    print(f"\n{len(cheap)} families whose solver and checks cost under 1 ms: {rate:,.0f} questions/s")
    print(f"all {len(total)} families: {len(total) / sum(total):,.0f} questions/s")


if __name__ == "__main__":
    main()
