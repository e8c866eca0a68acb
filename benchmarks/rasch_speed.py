"""Time, memory and error of calibration beside girth and py-irt, on the same data in the same run.

    python benchmarks/rasch_speed.py [--size 30x750,1000x10000:0.2] [--peers PYTHON] [--epochs 2000]

`--peers` is the interpreter of an environment of its own that has the peers:

    python -m venv peers && peers/bin/pip install girth py-irt

Each of ours is the best of several in a process of its own; a peer that is missing or fails is named with the reason.
Aims: JML 30x750 in 10 ms, 100x10,000 in 50 ms, 1,000x10,000 in 1.5 s, with 20 % missing in 10 s; 100 times as fast as
girth and 1,000 times as py-irt at 30x750; the default within 20 times of JML; memory at most 3 times the data.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

OURS = """
import json, resource, sys, time
import numpy as np
from dia_runtime import calibrate
data = np.load(sys.argv[1])
way = json.loads(sys.argv[2])
replies = data["scores"].astype(float)
calibrate(replies[:12, :60], **way)  # imports and first uses are not timed
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
best = None
for _ in range(int(sys.argv[3])):
    wall, cpu = time.perf_counter(), time.process_time()
    bank = calibrate(replies, **way)
    spent = (time.perf_counter() - wall, time.process_time() - cpu)
    best = min(best or spent, spent)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
gaps = bank.difficulties - data["difficulties"]
gaps = gaps[np.isfinite(gaps)]
rmse = float(np.sqrt(np.mean((gaps - gaps.mean()) ** 2)))
print(json.dumps([*best, peak * 1024 / replies.nbytes, rmse, bank.iterations, bank.residual]))
"""
GIRTH = """
import json, sys, time
import numpy as np
from girth import rasch_jml, rasch_mml
data = np.load(sys.argv[1])
scores = data["scores"].T.astype(int)
solve = {"jml": rasch_jml, "mml": rasch_mml}[sys.argv[2]]
started, cpu = time.perf_counter(), time.process_time()
difficulties = np.asarray(solve(scores)["Difficulty"])
spent = [time.perf_counter() - started, time.process_time() - cpu]
gaps = difficulties - data["difficulties"]
gaps = gaps[np.isfinite(gaps)]
print(json.dumps([*spent, float(np.sqrt(np.mean((gaps - gaps.mean()) ** 2)))]))
"""
PY_IRT = """
import json, sys, tempfile, time
import numpy as np
from py_irt.config import IrtConfig
from py_irt.training import IrtModelTrainer
data = np.load(sys.argv[1])
with tempfile.NamedTemporaryFile("w", suffix=".jsonlines", delete=False) as file:
    for number, row in enumerate(data["scores"].astype(int).tolist()):
        replies = {f"item{at}": int(value) for at, value in enumerate(row)}
        file.write(json.dumps({"subject_id": f"model{number}", "responses": replies}) + chr(10))
started, cpu = time.perf_counter(), time.process_time()
config = IrtConfig(model_type="1pl", priors="hierarchical", epochs=int(sys.argv[2]))
trainer = IrtModelTrainer(config=config, data_path=file.name)
trainer.train(device="cpu")
spent = [time.perf_counter() - started, time.process_time() - cpu]
best = trainer.best_params
place = {name: int(number) for number, name in best["item_ids"].items()}
difficulties = np.array([best["diff"][place[f"item{at}"]] for at in range(data["scores"].shape[1])])
gaps = difficulties - data["difficulties"]
print(json.dumps([*spent, float(np.sqrt(np.mean((gaps - gaps.mean()) ** 2)))]))
"""
WAYS: dict[str, dict[str, Any]] = {
    "jml": {"method": "jml"},
    "mml-items (default)": {},
    "cml": {"method": "cml", "eliminate": "items"},
}
LARGE = 5_000_000  # cells, from which on one run is enough and cml is left out
LIMIT = 240  # seconds of one process


def data(path: Path, models: int, items: int, missing: float) -> None:
    """Writes scores of the Rasch model, and the difficulties that they came from."""
    generator = np.random.default_rng(1)
    abilities, difficulties = generator.normal(size=models), generator.normal(0, 1.5, items)
    chances = 1 / (1 + np.exp(difficulties - abilities[:, None]))
    scores = (generator.random((models, items)) < chances).astype(np.float32)
    scores[generator.random((models, items)) < missing] = np.nan
    np.savez(path, scores=scores, difficulties=difficulties)


def measured(python: str, program: str, *arguments: str) -> list[float] | str:
    """What a program prints, or why it does not."""
    command = [python, "-c", program, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT} s"
    lines = re.findall(r"\[[0-9][^\[\]]*\]", done.stdout)  # a peer draws beside them
    if done.returncode or not lines:
        return (done.stderr.strip().splitlines() or ["it says nothing"])[-1][:100]
    return [float(value) for value in json.loads(lines[-1])]


def line(name: str, figures: list[float] | str, first: float | None) -> str:
    """One row of the table; `first` is the seconds of our joint estimates."""
    if isinstance(figures, str):
        return f"  {name:22} skipped: {figures}"
    ratio = f"  x{figures[0] / first:,.1f}" if first else ""
    more = f"  memory x{figures[2]:.1f} of the data, residual {figures[5]:.1e}" if len(figures) > 3 else ""
    error = figures[3] if len(figures) > 3 else figures[2]
    return f"  {name:22} {figures[0]:9.4f} s, CPU {figures[1]:9.4f} s, RMSE {error:.3f}{ratio}{more}"


def main() -> None:
    """Prints a table for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", default="30x750,100x10000,1000x10000,1000x10000:0.2")
    parser.add_argument("--peers", help="the interpreter that has girth and py-irt")
    parser.add_argument("--epochs", default="2000", help="of py-irt")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        for size in given.size.split(","):
            shape, _, missing = size.partition(":")
            models, items = map(int, shape.split("x"))
            data(path, models, items, float(missing or 0))
            table(path, models, items, float(missing or 0), given.peers, given.epochs)


def table(path: Path, models: int, items: int, missing: float, peers: str | None, epochs: str) -> None:
    """Prints the rows of one size."""
    print(f"{models} x {items}, missing {missing:g}", flush=True)
    large, first = models * items >= LARGE, None
    for name, way in WAYS.items():
        if name == "cml" and (large or missing):
            continue
        figures = measured(sys.executable, OURS, str(path), json.dumps(way), "1" if large else "9")
        first = figures[0] if name == "jml" and not isinstance(figures, str) else first
        print(line(name, figures, first), flush=True)
    if peers is None or large:
        return
    for name in ("jml", "mml"):
        print(line(f"girth rasch_{name}", measured(peers, GIRTH, str(path), name), first), flush=True)
    if models * items < 100_000:
        print(line("py-irt 1pl", measured(peers, PY_IRT, str(path), epochs), first), flush=True)


if __name__ == "__main__":
    main()
