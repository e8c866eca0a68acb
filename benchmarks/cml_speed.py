"""Time of conditional estimates with standard errors, beside psychotools and eRm, on the same data in the same run.

    python benchmarks/cml_speed.py [--designs 4000x200:20,2000x300,5000x500] [--repeats 3] [--rscript Rscript]

A design is respondents x items, with `:B` for B linked booklets: each has 2/B of the items and shares half of them with
the next one. The R packages are optional; Debian has them as r-cran-psychotools and r-cran-erm. All figures are seconds
of CPU, BLAS with one thread, best of the repeats. `all` adds what `dia calibrate --method cml` computes besides:
locations and errors of the respondents.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from dia_runtime.psychometrics.rasch.cml import cml  # noqa: E402
from dia_runtime.psychometrics.rasch.counts import counts  # noqa: E402
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate  # noqa: E402

R_CODE = """
arguments <- commandArgs(TRUE)
scores <- as.matrix(read.csv(arguments[1], header = FALSE))
for (package in strsplit(arguments[2], ",")[[1]]) {
  if (!requireNamespace(package, quietly = TRUE)) { cat(package, "missing\\n"); next }
  if (package == "eRm" && anyNA(scores)) { cat(package, "not run on booklets: takes minutes\\n"); next }
  spent <- system.time({
    if (package == "psychotools") {
      fit <- psychotools::raschmodel(scores, hessian = TRUE)
      difficulties <- as.numeric(psychotools::itempar(fit)); errors <- sqrt(diag(vcov(fit)))
    } else {
      fit <- eRm::RM(scores, se = TRUE); difficulties <- -fit$betapar; errors <- fit$se.beta
    }
  })
  cat(package, spent[["user.self"]] + spent[["sys.self"]], difficulties, "\\n")
}
"""


def simulated(respondents: int, items: int, booklets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and trials of one design; 0 trials where an item is not in the respondent's booklet."""
    generator = np.random.default_rng(1)
    abilities, difficulties = generator.normal(size=respondents), generator.normal(0, 1.2, size=items)
    chances = 1 / (1 + np.exp(difficulties - abilities[:, None]))
    scores = (generator.random(chances.shape) < chances).astype(float)
    trials = np.ones(chances.shape, dtype=int)
    if booklets:
        trials[:] = 0
        width = items // booklets
        for booklet in range(booklets):
            rows = slice(booklet * respondents // booklets, (booklet + 1) * respondents // booklets)
            trials[rows, [(booklet * width + at) % items for at in range(2 * width)]] = 1
    return scores * trials, trials


def best(repeats: int, work: Callable[[], object]) -> float:
    """Return the least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def r_lines(rscript: str, scores: np.ndarray, trials: np.ndarray, packages: str) -> list[str]:
    """Return a line for each R package: its name, CPU seconds and difficulties, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        table, code = Path(folder, "scores.csv"), Path(folder, "speed.R")
        rows = [
            ",".join("NA" if not asked else str(int(score)) for score, asked in zip(*pair, strict=True))
            for pair in zip(scores, trials, strict=True)
        ]
        table.write_text("\n".join(rows) + "\n")
        code.write_text(R_CODE)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                [rscript, str(code), str(table), packages], capture_output=True, text=True, env=environment, timeout=900
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            return [f"R {type(error).__name__}"]
    return done.stdout.splitlines() or [f"R failed: {done.stderr.strip()[-200:]}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--designs", default="4000x200:20,2000x300,5000x500")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rscript", default="Rscript")
    parser.add_argument("--peers", default="psychotools", help="R packages, comma-separated: psychotools,eRm")
    options = parser.parse_args()
    for design in options.designs.split(","):
        size, _, booklets = design.partition(":")
        respondents, items = map(int, size.split("x"))
        scores, trials = simulated(respondents, items, int(booklets or 0))
        by_items = np.ascontiguousarray(scores.T), np.ascontiguousarray(trials.T)
        fit = cml(counts(*by_items))
        ours = best(options.repeats, lambda data=by_items: cml(counts(*data)))  # type: ignore[misc]
        whole = best(
            options.repeats,
            lambda data=(scores, trials): estimate(*data, EstimationOptions(method="cml")),  # type: ignore[misc]
        )
        print(f"{design}: dia {ours:.3f} s, all {whole:.3f} s", flush=True)
        for line in r_lines(options.rscript, scores, trials, options.peers):
            name, *figures = line.split()
            if len(figures) != items + 1:
                print(f"    {line}")
                continue
            seconds, difficulties = float(figures[0]), np.array(figures[1:], dtype=float)
            gap = np.abs(difficulties - difficulties.mean() + fit.rows - fit.rows.mean()).max()
            print(
                f"    {name} {seconds:.2f} s, {seconds / ours:.0f} times as long; largest difference {gap:.1e} logits"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
