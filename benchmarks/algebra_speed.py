"""Questions per second of specs/algebra next to the package mathematics_dataset, in tasks that both have, in one run.

    pip install mathematics_dataset
    python benchmarks/algebra_speed.py [--count 2000] [--peer PYTHON] [FAMILY...]

mathematics_dataset may be in an environment of its own: `--peer /path/to/its/python`. Each side is one process, and
only its processor time counts. The peer's question and answer are two strings. Ours are instances in all their
wordings, also checked by a second path, graded (the correct answer, the abstention token and the mistakes), hashed and
written as JSON. The peer's modules are those for training, which interpolate, so ours are restricted to the regime
interpolation.

The last release of the package (1.0.1) imports a private name of sympy that has moved, uses `numpy.object`, which NumPy
1.24 removed, and `ndarray.itemset`, which NumPy 2 removed. The script restores the first two in the peer's process. For
the third, install `numpy<2` there; without it, the modules with polynomials are reported as failed.

The goal is three times the peer's rate, and ten times where sympy does most of the peer's work. The fastest modules of
the peer print an answer that they have drawn; there, our checks and hashes cannot be faster, and no goal is set.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from compile_speed import INTEGER_DIGITS, expand, families
from dia_compiler.distribute.task import TemplateJob, expand_template
from dia_compiler.freeze.spool import Batch
from dia_language.workers.fork_server import GC_THRESHOLD

SPECS = Path(__file__).resolve().parent.parent / "specs" / "algebra"
ABSENT = 3
REGIMES = "of: [interpolation, extrapolation]"
# Ours -> group and module of the peer, and the goal for the ratio
FAMILIES: dict[str, tuple[str, str, int | None]] = {
    "letters_without_replacement": ("probability", "swr_p_level_set", 10),
    "expand_product": ("polynomials", "expand", 10),
    "derivative": ("calculus", "differentiate", 10),
    "simplify_surds": ("arithmetic", "simplify_surd", 10),
    "polynomial_roots": ("algebra", "polynomial_roots", 3),
    "compose_functions": ("polynomials", "compose", 3),
    "convert_units": ("measurement", "conversion", 3),
    "next_in_sequence": ("algebra", "sequence_next_term", 3),
    "simplify_powers": ("polynomials", "simplify_power", 3),
    "linear_system": ("algebra", "linear_2d", 3),
    "linear_equation": ("algebra", "linear_1d", 3),
    "product_and_quotient": ("arithmetic", "mul_div_multiple", 3),
    "closest_number": ("comparison", "closest", None),
    "sort_numbers": ("comparison", "sort", None),
    "nearest_root": ("arithmetic", "nearest_integer_root", None),
    "compare_pairs": ("comparison", "pair", None),
    "least_common_multiple": ("numbers", "lcm", None),
    "prime_among_composites": ("numbers", "is_prime", None),
    "signed_sum": ("arithmetic", "add_or_sub", None),
    "greatest_common_divisor": ("numbers", "gcd", None),
    "division_remainder": ("numbers", "div_remainder", None),
    "base_arithmetic": ("arithmetic", "add_or_sub_in_base", None),
    "round_number": ("numbers", "round_number", None),
    "place_value": ("numbers", "place_value", None),
    "prime_factors": ("numbers", "list_prime_factors", None),
    "convert_base": ("numbers", "base_conversion", None),
    "clock_time": ("measurement", "time", None),
}
PEER = f"""
import gc, importlib, json, random, sys, time, warnings
warnings.simplefilter("ignore")
try:
    import mathematics_dataset, numpy
except ImportError:
    sys.exit({ABSENT})
if "object" not in vars(numpy):
    numpy.object = object
package = importlib.import_module("sympy.solvers.diophantine")
package.base_solution_linear = importlib.import_module("sympy.solvers.diophantine.diophantine").base_solution_linear
from mathematics_dataset.modules import modules
names, count = json.loads(sys.argv[1]), int(sys.argv[2])
gc.set_threshold(int(sys.argv[3]))
random.seed(1), numpy.random.seed(1)
groups = modules.train(lambda entropy: entropy)
for group, name in names:
    make, questions = groups[group][name], []
    try:
        make()
        start = time.process_time()
        for _ in range(count):
            problem = make()
            questions.append(str(problem.question))
            str(problem.answer)
        result = (time.process_time() - start) / count, count - len(set(questions))
    except AttributeError as error:
        result = None, str(error).partition(".")[0][:80]
    print(json.dumps([name, *result]), flush=True)
"""


def peer_results(python: str, families: list[str], count: int) -> dict[str, tuple[float | None, int | str]] | None:
    """Seconds per question and duplicates of each of the peer's modules; None where the peer is not installed."""
    names = [FAMILIES[family][:2] for family in families]
    command = [python, "-c", PEER, json.dumps(names), str(count), str(GC_THRESHOLD)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == ABSENT:
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    return {name: (seconds, duplicates) for name, seconds, duplicates in rows}


def our_results(job: TemplateJob, count: int) -> tuple[float, int]:
    """Seconds per question, and duplicates among as many questions in the base wording."""
    expand(job, 5)
    start = process_time()
    batches = [message for message in expand_template(replace(job, k=count)) if isinstance(message, Batch)]
    spent = process_time() - start
    rows = [json.loads(line) for batch in batches for line in batch.questions.splitlines()]
    base = [row["messages"][-1]["content"] for row in rows if row["variant"] == "base"]
    return spent / len(rows), len(base) - len(set(base))


@contextmanager
def interpolation() -> Iterator[Path]:
    """A copy of specs/algebra whose only regime is interpolation."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "algebra"
        shutil.copytree(SPECS, copy)
        benchmark = copy / "benchmark.yaml"
        text = benchmark.read_text("utf-8")
        assert text.count(REGIMES) == 1
        benchmark.write_text(text.replace(REGIMES, REGIMES.replace(", extrapolation", "")), "utf-8")
        yield copy


def main() -> None:
    """Print rates, duplicates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FAMILY", help="only these families")
    parser.add_argument("--count", type=int, default=2000, help="questions of each kind")
    parser.add_argument(
        "--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with mathematics_dataset"
    )
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)  # as in the workers of a compile, and for the peer too
    chosen = [name for name in FAMILIES if name in (options.names or FAMILIES)]
    theirs = peer_results(options.peer, chosen, options.count)
    if theirs is None:
        print("mathematics_dataset is not installed there: pip install mathematics_dataset 'numpy<2', or use --peer")
    print(f"{'questions/s':<30}{'ours':>8}{'theirs':>8}{'ratio':>8}{'goal':>6}   duplicates: ours, theirs")
    with interpolation() as specs:
        jobs = {job.template.name: job for job in families([specs])}
        for name in chosen:
            ours, our_duplicates = our_results(jobs[name], options.count)
            seconds, duplicates = (None, "peer absent") if theirs is None else theirs[FAMILIES[name][1]]
            goal = FAMILIES[name][2] or ""
            if seconds is None:
                print(
                    f"{name:<30}{1 / ours:>8,.0f}{'-':>8}{'-':>8}{goal:>6}   {our_duplicates}, {duplicates}", flush=True
                )
                continue
            ratio = seconds / ours
            verdict = "  below the goal" if goal and ratio < goal else ""
            rates = f"{name:<30}{1 / ours:>8,.0f}{1 / seconds:>8,.0f}{ratio:>8.2f}{goal:>6}"
            print(f"{rates}   {our_duplicates}, {duplicates}{verdict}", flush=True)


if __name__ == "__main__":
    main()
