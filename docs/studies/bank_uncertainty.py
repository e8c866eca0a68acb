"""How often placements on a bank of nine models hold, with and without what the bank does not know.

    python docs/studies/bank_uncertainty.py [--banks 100] [--seed 3]

Each bank has 750 items with difficulties N(0, 1.5), calibrated with one reply of each of nine models N(0, 1); three
models N(0, 1) are placed on it. With families, each model has an effect of its own in each family, with the standard
deviation printed, and the bank knows this deviation. Abilities count from the mean difficulty of the bank's items; with
families they are averages over the effects, which are smaller by sqrt(1 + 0.346 SD^2).
"""

from __future__ import annotations

import argparse

import numpy as np
from dia_runtime.psychometrics.boundary.placement import BankUncertainty, Placement, StoppingRule
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate
from scipy.special import expit

ITEMS, MODELS, PLACED = 750, 9, 3


def study(goal: float, families: int, sd: float, uses_bank: bool, banks: int, seed: int) -> None:
    """Print one line."""
    generator = np.random.default_rng(seed)
    of = np.repeat(np.arange(families), ITEMS // families)
    errors, ses, items = [], [], []
    for _ in range(banks):
        difficulties, abilities = generator.normal(0, 1.5, ITEMS), generator.normal(0, 1, MODELS)
        effects = generator.normal(0, 1, (MODELS, families))[:, of] * sd
        scores = generator.binomial(1, expit(abilities[:, None] - difficulties + effects)).astype(float)
        bank = estimate(scores, np.ones((MODELS, 1)), EstimationOptions())
        usable = np.flatnonzero([status == "estimated" for status in bank.difficulty_status])
        names = None if families == ITEMS else [str(family) for family in of[usable]]
        uncertainty = BankUncertainty(bank.difficulty_se[usable], names, 0.0 if names is None else sd)
        for _ in range(PLACED):
            theta, own = generator.normal(), generator.normal(0, 1, families)[of] * sd
            placement = Placement(
                bank.difficulties[usable], StoppingRule(goal), uncertainty=uncertainty if uses_bank else None
            )
            while (item := placement.next()) is not None:
                chance = expit(theta - difficulties[usable[item]] + own[usable[item]])
                placement.add(item, float(generator.random() < chance), 1.0)
            true = (theta - difficulties[usable].mean()) / np.sqrt(1 + 0.346 * sd**2)
            errors.append(placement.estimate.value - true)
            ses.append(placement.estimate.se)
            items.append(len(placement.answered))
    coverage = np.mean(np.abs(errors) <= 1.959964 * np.array(ses))
    rmse = np.sqrt(np.mean(np.square(errors)))
    print(f"{goal:5.2f} {families:8} {sd:4.1f} {'yes' if uses_bank else 'no':>5} {np.median(items):6.0f} {rmse:7.3f}"
          f" {coverage:9.3f}", flush=True)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--banks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    print(f"{'goal':>5} {'families':>8} {'SD':>4} {'bank':>5} {'items':>6} {'RMSE':>7} {'coverage':>9}")
    for goal, families, sd in ((0.3, ITEMS, 0.0), (0.15, ITEMS, 0.0), (0.3, 150, 1.0), (0.3, 30, 1.0)):
        for uses_bank in (False, True):
            study(goal, families, sd, uses_bank, options.banks, options.seed)


if __name__ == "__main__":
    main()
