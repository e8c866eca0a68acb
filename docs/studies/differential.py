"""How large a difference between families of models `dia calibrate --labels` finds, of items and of templates.

    python docs/studies/differential.py [--panels 100] [--seed 1]

Nine or thirty models in three families answer 150 templates with five instances each. A tenth of the templates is
harder by 1.5 logits for one family. The study prints the share of these that is found (p < 0.05, and after the
adjustment for many tests), the share of the others that is, and how large a difference must be to be found with a
probability of 80 %. With `sd`, each model has a deviation of its own in each template.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from dia_runtime.psychometrics.rasch.differential import (
    DifferentialItem,
    differential_items,
    differential_templates,
)
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate
from dia_runtime.psychometrics.rasch.fit import likelihood_locations
from dia_runtime.psychometrics.rasch.testlet import family_effects

TEMPLATES, INSTANCES, SIZE = 150, 5, 1.5


def panel(models: int, sd: float, generator: np.random.Generator) -> np.ndarray:
    """Return the replies of one panel; the first fifteen templates are harder for the first third of the models."""
    abilities = generator.normal(size=models)
    difficulties = generator.normal(0, 1.2, TEMPLATES)[:, None] + generator.normal(0, 0.5, (TEMPLATES, INSTANCES))
    logits = abilities[:, None] - difficulties.ravel()
    logits += np.repeat(sd * generator.normal(size=(models, TEMPLATES)), INSTANCES, axis=1)
    logits[: models // 3, : 15 * INSTANCES] -= SIZE
    return (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)


def shares(entries: list[DifferentialItem], real: int) -> list[float]:
    """Return the shares found of the real differences, raw and adjusted, of the others, and a detectable size."""
    of_first = [entry for entry in entries if entry.group == "0"]
    true = [entry for entry in of_first if entry.item < real]
    others = [entry for entry in of_first if entry.item >= real]
    return [
        float(np.mean([entry.p < 0.05 for entry in true])),
        float(np.mean([entry.adjusted < 0.05 for entry in true])),
        float(np.mean([entry.p < 0.05 for entry in others])),
        float(np.median([entry.detectable for entry in true])),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--panels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("models  sd   unit       p < 0.05  adjusted  of others  detectable, logits")
    families = np.repeat(np.arange(TEMPLATES), INSTANCES)
    for models in (9, 30):
        labels = [str(3 * at // models) for at in range(models)]
        for sd in (0.0, 1.0):
            generator = np.random.default_rng(options.seed)
            rows: dict[str, list[list[float]]] = {"items": [], "templates": []}
            for _ in range(options.panels):
                replies, trials = panel(models, sd, generator), np.ones((models, 1))
                calibration = estimate(replies, trials, EstimationOptions())
                locations = likelihood_locations(calibration, replies, trials)
                effect = family_effects(replies, np.ones(replies.shape, dtype=int), families)
                effect_sd = effect.sd if effect is not None and effect.p < 0.05 else 0.0
                data = (locations, replies, trials, labels)
                rows["items"].append(shares(differential_items(*data), 15 * INSTANCES))
                rows["templates"].append(shares(differential_templates(*data, families, effect_sd), 15))
            for unit, figures in rows.items():
                raw, adjusted, others, size = np.nanmean(figures, axis=0)
                print(
                    f"{models:6}  {sd:.0f}    {unit:9}  {raw:8.2f}  {adjusted:8.2f}  {others:9.3f}  {size:.2f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
