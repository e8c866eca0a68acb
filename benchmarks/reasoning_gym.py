"""Items per second next to those of the package reasoning-gym, in ten families that both have, in one run.

    pip install reasoning-gym
    python benchmarks/reasoning_gym.py [--k 900] [--peer PYTHON]
    python benchmarks/reasoning_gym.py --puzzles --k 100 [--peer PYTHON]

`--puzzles` compares the families of specs/puzzles that have a counterpart there, both with their own default sizes.

reasoning-gym may live in an environment of its own: `--peer /path/to/its/python`. One process each, processor time
alone. Its item is a dictionary. Ours is checked in another way than it is solved, graded by the grader that will grade
replies, hashed, and written as two lines of canonical JSON. For the second ratio, its item goes through similar steps:
its own scorer scores the answer, and question and answer are written as two lines of JSON and hashed. The goal is half
of its rate in each family and all of it in most. `floor` is the time of our texts, grading, hashes and lines of JSON
alone, in multiples of the time that half of its rate allows. `drawn` adds the time to draw the parameters of the
instances that are kept, without any condition. `solved` adds, for two puzzles, a solution and a proof of the same
instances by the functions below, which are as bare as Python allows and do not draw, check, count or report anything.
Where one of the three is above 1, the goal is out of reach.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from time import process_time
from typing import Any

from compile_speed import DEAR, INTEGER_DIGITS, expand, families, quickest, stage_costs
from dia_compiler.distribute.task import TemplateJob, expand_template
from dia_compiler.freeze.spool import Batch
from dia_language.workers.fork_server import GC_THRESHOLD

SPECS = Path(__file__).resolve().parent / "specs"
PUZZLE_SPECS = SPECS.parent.parent / "specs" / "puzzles"
# Ours -> theirs
FAMILIES = {
    "chain_sum": "chain_sum",
    "products": "products",
    "gcd_of_two": "gcd",
    "lcm_of_two": "lcm",
    "base_conversion": "base_conversion",
    "caesar_cipher": "caesar_cipher",
    "letter_counting": "letter_counting",
    "number_sorting": "number_sorting",
    "count_primes": "count_primes",
    "prime_factorization": "prime_factorization",
}
PUZZLES = {
    "countdown": "countdown",
    "cryptarithm": "cryptarithm",
    "game_of_life": "game_of_life",
    "grid_rule": "arc_1d",
    "inequality_square": "futoshiki",
    "knight_swap": "knight_swap",
    "knights_and_knaves": "knights_knaves",
    "map_colouring": "graph_color",
    "maze": "shortest_path",
    "queens": "n_queens",
    "sudoku": "mini_sudoku",
    "topological_order": "course_schedule",
    "towers": "tower_of_hanoi",
    "water_jugs": "jugs",
    "word_ladder": "word_ladder",
    "zebra": "zebra_puzzles",
}
PEER = """
import gc, hashlib, json, sys, time
import reasoning_gym
names, size = json.loads(sys.argv[1]), int(sys.argv[2])
gc.set_threshold(int(sys.argv[3]))
for name in names:
    data = reasoning_gym.create_dataset(name, seed=42, size=size)
    data[0]
    start = time.process_time()
    items = [data[number] for number in range(size)]
    made = (time.process_time() - start) / size
    for number, item in enumerate(items):
        if data.score_answer(item["answer"], item) != 1.0 and item["answer"] is not None:
            print(f"{name}: item {number}: its scorer rejects its answer", file=sys.stderr)
        question = json.dumps({"id": number, "question": item["question"]}, sort_keys=True).encode()
        answer = json.dumps({"id": number, "answer": item["answer"], "parameters": item["metadata"]},
                            sort_keys=True, default=str).encode()
        hashlib.sha256(question).digest(), hashlib.sha256(answer).digest()
    print(json.dumps([name, made, (time.process_time() - start) / size]))
"""


def peer_times(python: str, names: list[str], size: int, rounds: int) -> dict[str, tuple[float, float]] | None:
    """Return the seconds per item of each of the peer's families in the quickest round, made alone and with scoring.

    None where it is not installed.
    """
    quickest_times: dict[str, tuple[float, float]] = {}
    for number in range(rounds):
        names = [name for name in names if not number or quickest_times[name][1] < DEAR]
        command = [python, "-c", PEER, json.dumps(names), str(size), str(GC_THRESHOLD)]
        done = subprocess.run(command, capture_output=True, text=True)
        if "No module named 'reasoning_gym'" in done.stderr:
            return None
        if done.returncode:
            raise SystemExit(done.stderr)
        rejected = Counter(line.partition(": ")[0] for line in done.stderr.splitlines() if "rejects its answer" in line)
        for name, count in sorted(rejected.items()) if not number else ():
            print(f"reasoning-gym's scorer rejects {count} of {size} answers of its own {name}")
        for name, *times in (json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")):
            best = quickest_times.get(name, times)
            quickest_times[name] = min(times[0], best[0]), min(times[1], best[1])
    return quickest_times


def order_of_tasks(parameters: dict[str, Any]) -> list[int]:
    """The order of a topological_order, proven to be the only one that its rules and the alphabet allow."""
    hidden = parameters["hidden"]
    rules = [(hidden[i], hidden[j]) for i, j in parameters["kept"]]
    waits = [0] * len(hidden)
    after: list[list[int]] = [[] for _ in hidden]
    for first, second in rules:
        waits[second] += 1
        after[first].append(second)
    is_free, is_hard, done = [not count for count in waits], False, []
    for _ in hidden:
        task = is_free.index(True)
        is_hard = is_hard or is_free.count(True) > 1
        is_free[task] = False
        done.append(task)
        for other in after[task]:
            waits[other] -= 1
            is_free[other] = not waits[other]
    place = {task: number for number, task in enumerate(done)}
    if not (is_hard and sum([i > j for i, j in rules]) > 1 and all(place[i] < place[j] for i, j in rules)):
        raise AssertionError(parameters)
    return done


def fewest_hints(parameters: dict[str, Any]) -> int:
    """The fewest letters of a cryptarithm that have to be known, in their order, for one solution: from 0 to 3."""
    digit_of = {letter: digit for digit, letter in enumerate(parameters["symbols"])}
    letters, a, b = parameters["letters"], str(parameters["a"]), str(parameters["b"])
    total = str(parameters["a"] + parameters["b"])
    of_digit = {digit_of[letter]: number for number, letter in enumerate(letters)}
    truth = [digit_of[letter] for letter in letters]
    first = {of_digit[int(word[0])] for word in (a, b, total)}
    # the columns from the right: the letters of a, of b and of the sum
    rows = [[of_digit[int(digit)] for digit in reversed(word)] for word in (a, b, total)]
    columns = [[row[at] if at < len(row) else None for row in rows] for at in range(len(total))]

    def solutions(values: list[int | None], used: int, column: int, carry: int) -> int:
        """The number of solutions, at most two, from a column on."""
        if column == len(columns):
            return not carry
        x, y, z = columns[column]
        count = 0
        for at in (x, y):
            if at is not None and values[at] is None:
                for digit in range(at in first, 10):
                    if not used >> digit & 1:
                        values[at] = digit
                        count += solutions(values, used | 1 << digit, column, carry)
                        if count > 1:
                            break
                values[at] = None
                return count
        added = carry + (0 if x is None else values[x]) + (0 if y is None else values[y])  # type: ignore[operator]
        digit = added % 10
        if values[z] is None:  # type: ignore[index]
            if used >> digit & 1 or (not digit and z in first):
                return 0
            values[z] = digit  # type: ignore[index]
            count = solutions(values, used | 1 << digit, column + 1, added // 10)
            values[z] = None  # type: ignore[index]
            return count
        return solutions(values, used, column + 1, added // 10) if values[z] == digit else 0  # type: ignore[index]

    for known in range(3, -1, -1):
        values = [*truth[:known], *[None] * (len(truth) - known)]
        if solutions(values, sum([1 << digit for digit in truth[:known]]), 0, 0) > 1:  # type: ignore[arg-type]
            return known + 1
    return 0


Solver = Callable[[dict[str, Any]], object]
SOLVERS: dict[str, Solver] = {"topological_order": order_of_tasks, "cryptarithm": fewest_hints}


def kept_instances(job: TemplateJob, k: int) -> tuple[list[dict[str, Any]], float]:
    """The parameters of the first k instances, and the share of the draws that they are."""
    messages = list(expand_template(replace(job, k=k)))
    lines = b"".join(message.answers for message in messages if isinstance(message, Batch)).splitlines()
    kept, drawn = messages[-1].acceptance
    return [json.loads(line)["parameters"] for line in lines[:: 1 + len(job.template.variants)]], kept / drawn


def seconds_each(solver: Solver, instances: Sequence[dict[str, Any]]) -> float:
    """Processor time of one call."""
    start = process_time()
    for parameters in instances:
        solver(parameters)
    return (process_time() - start) / len(instances)


def floors(job: TemplateJob, k: int, allowed: float) -> list[float]:
    """What is unavoidable, as shares of the seconds that a question is allowed; each includes the one before."""
    stages, (instances, share) = stage_costs(job, k), kept_instances(job, k)
    parts = [stages["texts"] + stages["freeze"], stages["values"] * share]
    if job.template.name in SOLVERS:
        parts.append(seconds_each(SOLVERS[job.template.name], instances))
    return [seconds / (1 + len(job.template.variants)) / allowed for seconds in accumulate(parts)]


def least_floors(job: TemplateJob, k: int, allowed: float, rounds: int) -> list[float]:
    """The least of several rounds, one if they take long."""
    many = [floors(job, k, allowed) for _ in range(rounds if allowed < DEAR else 1)]
    return [min(shares) for shares in zip(*many, strict=True)]


def main() -> None:
    """Prints both rates and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=900, help="items of each family")
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with reasoning-gym")
    parser.add_argument("--puzzles", action="store_true", help="the families of specs/puzzles instead")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each family, of which the quickest counts")
    options = parser.parse_args()
    counterparts, k, rounds = PUZZLES if options.puzzles else FAMILIES, options.k, options.rounds
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)  # as in the workers of a compile, and for the peer too
    theirs = peer_times(options.peer, list(counterparts.values()), k, rounds)
    if theirs is None:
        print("reasoning-gym is not installed: pip install reasoning-gym, or give an interpreter with --peer")
        return
    heads = ("ratio", "scored", "ratio", "floor", "drawn", "solved")
    print(f"{'items/s':<22}{'ours':>10}{'theirs':>10}" + "".join(f"{head:>10}" for head in heads))
    for job in families([PUZZLE_SPECS if options.puzzles else SPECS]):
        name = job.template.name
        if name not in counterparts:
            continue
        expand(job, 5)
        (ours,), (made, scored) = quickest([job], k, rounds), theirs[counterparts[name]]
        rates = f"{1 / ours:>10,.0f}{1 / made:>10,.0f}{made / ours:>10.2f}{1 / scored:>10,.0f}{scored / ours:>10.2f}"
        shares = "".join(f"{share:>10.2f}" for share in least_floors(job, k, 2 * scored, rounds))
        print(f"{name:<22}{rates}{shares}")


if __name__ == "__main__":
    main()
