"""Items per second beside the package reasoning-gym, in ten families that both have, in one run.

    pip install reasoning-gym
    python benchmarks/reasoning_gym.py [--k 900] [--peer PYTHON]
    python benchmarks/reasoning_gym.py --puzzles --k 100 [--peer PYTHON]

`--puzzles` compares the families of specs/puzzles that have a counterpart there, both with their own default sizes.

reasoning-gym may live in an environment of its own: `--peer /path/to/its/python`. One process each, processor time
alone. Its item is a dictionary. Ours is checked by another path than the solver's, graded by the grader that will
grade replies, hashed and written as two lines of canonical JSON. For the second ratio its item is done nearly as much
to: its answer is scored by its own scorer, and question and answer are written as two lines of JSON and hashed. The
aim is half of its rate in each family and all of it in most. `floor` is what our texts, grading, hashes and lines of
JSON take alone, in multiples of the time that half of its rate allows: above 1, the aim is out of reach.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from compile_speed import INTEGER_DIGITS, expand, families, stage_costs
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


def peer_times(python: str, names: list[str], size: int) -> dict[str, tuple[float, float]] | None:
    """Seconds an item of each of the peer's families, made alone and with scoring; None where it is not installed."""
    command = [python, "-c", PEER, json.dumps(names), str(size), str(GC_THRESHOLD)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "No module named 'reasoning_gym'" in done.stderr:
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    rejected = Counter(line.partition(": ")[0] for line in done.stderr.splitlines() if "rejects its answer" in line)
    for name, count in sorted(rejected.items()):
        print(f"reasoning-gym's scorer rejects {count} of {size} answers of its own {name}")
    rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    return {name: (made, scored) for name, made, scored in rows}


def main() -> None:
    """Prints both rates and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=900, help="items of each family")
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with reasoning-gym")
    parser.add_argument("--puzzles", action="store_true", help="the families of specs/puzzles instead")
    options = parser.parse_args()
    counterparts = PUZZLES if options.puzzles else FAMILIES
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    gc.set_threshold(GC_THRESHOLD)  # as in the workers of a compile, and for the peer too
    theirs = peer_times(options.peer, list(counterparts.values()), options.k)
    if theirs is None:
        print("reasoning-gym is not installed: pip install reasoning-gym, or give an interpreter with --peer")
        return
    print(f"{'items/s':<22}{'ours':>10}{'theirs':>10}{'ratio':>8}{'scored':>10}{'ratio':>8}{'floor':>8}")
    for job in families([PUZZLE_SPECS if options.puzzles else SPECS]):
        name = job.template.name
        if name not in counterparts:
            continue
        expand(job, 5)
        ours = expand(job, options.k)
        made, scored = theirs[counterparts[name]]
        rates = f"{1 / ours:>10,.0f}{1 / made:>10,.0f}{made / ours:>8.2f}{1 / scored:>10,.0f}{scored / ours:>8.2f}"
        stages = stage_costs(job, options.k)
        floor = (stages["texts"] + stages["freeze"]) / (1 + len(job.template.variants)) / (2 * scored)
        print(f"{name:<22}{rates}{floor:>8.2f}")


if __name__ == "__main__":
    main()
