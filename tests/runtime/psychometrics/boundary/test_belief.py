"""The posterior of boundary search is at its mode."""

from __future__ import annotations

import numpy as np
from dia_runtime.psychometrics.boundary.belief import Belief, Trials
from dia_runtime.psychometrics.boundary.space import Cell, Skill, Space

# What a small model did with sets of constraints on a text: skills, successes, trials
REAL = (
    ((0, 1, 2, 3, 4), 0, 3),
    ((0, 1, 2), 0, 5),
    ((0, 2), 0, 3),
    ((2,), 3, 5),
    ((0,), 3, 5),
    ((0, 1, 2, 3, 4, 5), 0, 5),
    ((0, 6), 0, 3),
    ((0, 1, 2, 4, 5), 0, 5),
)


def test_replies_far_from_the_prior_do_not_make_the_steps_to_the_mode_diverge() -> None:
    """Full Newton steps went back and forth here, and said that the sets with 3 of 5 were solved always."""
    space = Space((), tuple(Skill(f"skill {at}") for at in range(60)), 1, 10)
    for number in range(1, len(REAL) + 1):
        tried = [Trials(Cell((), skills), successes, trials) for skills, successes, trials in REAL[:number]]
        belief = Belief(space, tried)
        s, n = (np.array([getattr(entry, name) for entry in tried]) for name in ("successes", "trials"))
        logits = belief.kernel @ belief.weights + belief.prior
        assert np.abs(s - n / (1 + np.exp(-logits)) - belief.weights).max() < 1e-6  # the gradient at the mode
    near = belief.at_tried_cells().within(0.3, 0.7)
    assert (near[[3, 4]] > 0.7).all() and (near[[0, 1, 5, 7]] < 0.05).all()
