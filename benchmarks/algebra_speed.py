"""Questions per second of specs/algebra next to the package mathematics_dataset, in twelve kinds of task, in one run.

    pip install mathematics_dataset
    python benchmarks/algebra_speed.py [--count 2000] [--peer PYTHON]

mathematics_dataset may be in an environment of its own: `--peer /path/to/its/python`. Each side is one process, and
only its processor time counts. The peer's question and answer are two strings. Ours are instances in all their
wordings, also checked by a second path, graded (the correct answer, the abstention token and the mistakes), hashed and
written as JSON.

The last release of the package (1.0.1) imports a private name of sympy that has moved, uses `numpy.object`, which NumPy
1.24 removed, and `ndarray.itemset`, which NumPy 2 removed. The script restores the first two in the peer's process. For
the third, install `numpy<2` there; without it, the modules with polynomials are reported as failed.

The goal is three times the peer's rate, and ten times where sympy does most of the peer's work.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time

from compile_speed import INTEGER_DIGITS, expand, families
from dia_compiler.distribute.task import TemplateJob, expand_template
from dia_compiler.freeze.spool import Batch
from dia_language.workers.fork_server import GC_THRESHOLD

SPECS = Path(__file__).resolve().parent.parent / "specs" / "algebra"
ABSENT = 3
# Ours -> group and module of the peer, and the goal for the ratio
FAMILIES = {
    "signed_sum": ("arithmetic", "add_or_sub", 3),
    "greatest_common_divisor": ("numbers", "gcd", 3),
    "division_remainder": ("numbers", "div_remainder", 3),
    "linear_equation": ("algebra", "linear_1d", 3),
    "linear_system": ("algebra", "linear_2d", 3),
    "polynomial_roots": ("algebra", "polynomial_roots", 3),
    "next_in_sequence": ("algebra", "sequence_next_term", 3),
    "sort_numbers": ("comparison", "sort", 3),
    "compose_functions": ("polynomials", "compose", 3),
    "expand_product": ("polynomials", "expand", 10),
    "derivative": ("calculus", "differentiate", 10),
    "letters_without_replacement": ("probability", "swr_p_level_set", 10),
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


def peer_results(python: str, count: int) -> dict[str, tuple[float | None, int | str]] | None:
    """Seconds per question and duplicates of each of the peer's modules; None where the peer is not installed."""
    names = [(group, name) for group, name, _ in FAMILIES.values()]
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


def main() -> None:
    """Print rates, duplicates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="questions of each kind")
    parser.add_argument(
        "--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with mathematics_dataset"
    )
    options = parser.parse_args()
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)  # as in the workers of a compile, and for the peer too
    theirs = peer_results(options.peer, options.count)
    if theirs is None:
        print("mathematics_dataset is not installed there: pip install mathematics_dataset 'numpy<2', or use --peer")
    print(f"{'questions/s':<30}{'ours':>8}{'theirs':>8}{'ratio':>8}{'goal':>6}   duplicates: ours, theirs")
    for job in families([SPECS]):
        name = job.template.name
        if name not in FAMILIES:
            continue
        ours, our_duplicates = our_results(job, options.count)
        seconds, duplicates = (None, "peer absent") if theirs is None else theirs[FAMILIES[name][1]]
        goal = FAMILIES[name][2]
        if seconds is None:
            print(f"{name:<30}{1 / ours:>8,.0f}{'-':>8}{'-':>8}{goal:>6}   {our_duplicates}, {duplicates}", flush=True)
            continue
        ratio = seconds / ours
        verdict = "" if ratio >= goal else "  below the goal"
        print(
            f"{name:<30}{1 / ours:>8,.0f}{1 / seconds:>8,.0f}{ratio:>8.2f}{goal:>6}   {our_duplicates}, {duplicates}"
            f"{verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
