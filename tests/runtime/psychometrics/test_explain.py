"""Explanations of simulated items, whose true difficulties are known."""

from __future__ import annotations

import json

import numpy as np
from dia_language.numbers.values import encode
from dia_runtime.psychometrics.explain import explain
from dia_runtime.psychometrics.features import Feature
from dia_runtime.psychometrics.panel import ItemFacts, Panel
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel

ABILITIES = np.linspace(-2.5, 2.5, 9)


def difficulty(template: int, n: int, noise: float) -> float:
    return 0.4 * (template % 3) - 0.2 + 1.2 * (np.log1p(n) - 3) + noise


def simulated(templates: int, items: int, seed: int, own: float, steep: float = 1.0) -> tuple[Panel, Bank]:
    """The replies of nine models, one of which may have another slope, and their bank."""
    draw = np.random.default_rng(seed)
    names, about, truth = [], [], []
    for template in range(templates):
        for number in range(items):
            n = int(draw.integers(1, 120))
            names.append(f"t{template}/{number}")
            about.append(ItemFacts(f"t{template}", None, (), (json.dumps({"n": encode(n)}),)))
            truth.append(difficulty(template, n, float(draw.normal(0, own))))
    slopes = np.where(np.arange(9) == 4, steep, 1.0)[:, None]
    chances = 1 / (1 + np.exp(slopes * (np.array(truth) - ABILITIES[:, None])))
    successes = (draw.random((9, len(names))) < chances).astype(float)
    models = tuple(f"m{at}" for at in range(9))
    bank_models = tuple(BankModel(name, ability) for name, ability in zip(models, ABILITIES.tolist(), strict=True))
    bank = Bank(tuple(BankItem(name, 0.0) for name in names), bank_models, "known", "none", unit="instances")
    return Panel(models, tuple(names), successes, np.ones((9, 1)), "instances", tuple(about)), bank


def test_the_error_for_unseen_items_is_the_distance_from_true_difficulties_not_from_noisy_estimates() -> None:
    panel, bank = simulated(6, 25, 3, own=0.5)
    explanation = explain(panel, bank)
    draw = np.random.default_rng(4)
    gaps = []
    for template in range(6):
        for n in range(1, 120):
            predicted, _ = explanation.predict({"n": n}, (), f"t{template}")
            gaps.append(predicted - difficulty(template, n, float(draw.normal(0, 0.5))))
    true_error = float(np.sqrt(np.mean(np.square(gaps))))
    printed = explanation.result.held_out
    assert 0.4 < true_error < 0.8 and abs(printed.rmse - true_error) < 0.2
    assert printed.rmse < printed.rmse_without - 0.3  # the noise of nine replies alone is about 0.9 logits
    assert all(entry.why is None and entry.se < 0.5 for entry in explanation.result.templates)
    predicted = explanation.predict({"n": 40}, (), "never seen")
    new = explanation.result.new_templates
    assert new is not None and new.items == 6 and 0.1 < new.se < 0.9  # levels differ by 0.33 (standard deviation)
    assert abs(predicted[0] - difficulty(1, 40, 0)) < 1


def test_a_model_whose_success_changes_faster_with_difficulty_has_a_larger_slope() -> None:
    panel, bank = simulated(1, 150, 6, own=0.4, steep=2.5)
    explanation = explain(panel, bank)
    slopes = {entry.model: entry for entry in explanation.result.slopes}
    assert len(slopes) == 9 and all(entry.items == 150 for entry in slopes.values())
    assert all(entry.ci[0] < 1 < entry.ci[1] for name, entry in slopes.items() if name != "m4")
    steep = slopes["m4"]
    assert steep.ci[0] > 1.2 and 1.5 < steep.slope < 2.5  # errors of single items, and the prior, reduce it
    here = steep.templates["t0"]
    assert abs(here.ability - ABILITIES[4]) < 2 * here.se < here.se + steep.others.se
    others = {name: value for name, value in explanation.as_record().items() if name != "slopes"}
    assert set(others) == {"constant", "features", "templates", "new_templates"}


def test_templates_that_are_predicted_badly_say_why() -> None:
    few, bank = simulated(5, 6, 1, own=0.1)
    assert "10 are needed" in str(explain(few, bank).result.templates[0].why)
    erratic, bank = simulated(5, 20, 2, own=2.5)
    assert all("; the limit is 1.0" in str(entry.why) for entry in explain(erratic, bank).result.templates)


def test_features_are_exact_decimals() -> None:
    size = Feature("logarithm", "n", "t", None, 0.0, 1.0)
    measured = str(size.measure({"n": 999}, (), "t"))
    # ln 1000 to 30 digits, from OEIS A002392 (ln 10) times 3
    assert measured == "6.90775527898213705205397436405"
    assert size.measure({"n": 999}, (), "u") == 0
    bend = Feature("bend", "n", "t", "number", 1.0, 2.0)
    assert bend.measure({"n": 4}, (), "t") == 1.25
