"""Instances on demand: how close to the success that was asked for, on simulated templates and models.

A world has 60 templates. Each has one to three numbers with ranges of their own, sometimes a word, and up to three of
twelve skills. Difficulty follows from what the templates share (skills, and how large the numbers are), from what is
the template's own (its level, slopes that bend, the word), and from what is the instance's own (SD 0.4 logits). Nine
models answer twenty instances of half of the templates, each once. The bank is calibrated and explained from these
replies alone. Then new instances are chosen for models of three abilities (-1.5, 0 and 1.5 logits), and their true
success is computed. These models answer nothing: each is known only by its ability. Half of the templates from which
the instances are drawn are in the bank, and half are not.

    python docs/studies/steering.py            # all of it, with a fixed seed
    python docs/studies/steering.py --worlds 2

With `--steep 2.5`, three of the nine models have this slope instead of 1: their success changes faster with difficulty.
Then instances are chosen for the models of the bank themselves, with the slopes that `dia explain` estimates from their
replies and without them:

    python docs/studies/steering.py --steep 2.5
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np
from dia_compiler.sampling.steering import Steering, Target, TemplateRule, TemplateSteering, model_target, steering_of
from dia_language.diagnostics import DiaError
from dia_language.numbers.values import encode
from dia_runtime.psychometrics.calibration import calibrate_panel
from dia_runtime.psychometrics.explain import Explanation, explain
from dia_runtime.psychometrics.panel import ItemFacts, Panel
from dia_runtime.psychometrics.rasch.bank import Bank

TEMPLATES, CHOSEN = 60, 20
ABILITIES = np.linspace(-2.4, 2.4, 9)
STEEP = [1, 4, 7]  # the models that may have another slope
ASKED = [1, 2, 4, 5, 6, 7]  # three of these and three others
DRAWN = 500  # instances of a template from which those for a model of the bank are chosen
OWN = 0.4  # standard deviation of what is an instance's own, in logits
TARGETS = ("0.3", "0.5", "0.7")
NEW_ABILITIES = (-1.5, 0.0, 1.5)
Parameters = Mapping[str, int | str]


class Template:
    """A simulated template: what it draws, and how hard that is."""

    def __init__(self, name: str, draw: np.random.Generator, effects: np.ndarray, level: float, slope: float) -> None:
        self.name, self.draw = name, draw
        self.effects = effects
        self.skills = tuple(f"skill {at}" for at in sorted(draw.choice(12, int(draw.integers(4)), replace=False)))
        count = int(draw.integers(1, 4))
        lows = [int(draw.integers(2, 20)) for _ in range(count)]
        self.ranges = [(low, low * int(draw.choice([8, 40, 200]))) for low in lows]
        self.level = float(draw.normal(0, level))
        self.slopes = draw.normal(0.8, slope, count)
        self.bends = draw.uniform(0.85, 1.15, count)
        self.word = float(draw.normal(0, 0.5)) if draw.random() < 0.4 else None

    def instance(self) -> tuple[Parameters, float]:
        """Drawn parameters, and the true difficulty."""
        parameters: dict[str, int | str] = {}
        difficulty = self.level - 3.0 + float(sum(self.effects[int(name.split()[1])] for name in self.skills))
        for at, (low, high) in enumerate(self.ranges):
            value = int(math.exp(self.draw.uniform(math.log(low), math.log(high + 1))))
            difficulty += float(self.slopes[at]) * (math.log(value) / 2) ** float(self.bends[at])
            parameters[f"n{at}"] = value
        if self.word is not None:
            is_long = bool(self.draw.random() < 0.5)
            parameters["word"] = "longer" if is_long else "shorter"
            difficulty += self.word * is_long
        return parameters, difficulty + float(self.draw.normal(0, OWN))


def world(seed: int, level: float, slope: float, instances: int, steep: float = 1.0) -> tuple[Panel, list[Template]]:
    """The replies of nine models to instances of half of the templates, and all templates.

    `steep` is the slope of three of the models.
    """
    draw = np.random.Generator(np.random.PCG64([seed, 23]))
    effects = draw.normal(0.5, 0.5, 12)
    templates = [Template(f"t{at:02}", draw, effects, level, slope) for at in range(TEMPLATES)]
    items, about, truth = [], [], []
    for template in templates[: TEMPLATES // 2]:
        for number in range(instances):
            parameters, difficulty = template.instance()
            items.append(f"{template.name}/{number}")
            about.append(facts(template, parameters))
            truth.append(difficulty)
    chances = 1 / (1 + np.exp(model_slopes(steep)[:, None] * (np.array(truth) - ABILITIES[:, None])))
    successes = (draw.random(chances.shape) < chances).astype(float)
    models = tuple(f"m{at}" for at in range(len(ABILITIES)))
    panel = Panel(models, tuple(items), successes, np.ones((len(models), 1)), "instances", tuple(about))
    return panel, templates


def model_slopes(steep: float) -> np.ndarray:
    """The true slopes of the models."""
    slopes = np.ones(len(ABILITIES))
    slopes[STEEP] = steep
    return slopes


def facts(template: Template, parameters: Parameters) -> ItemFacts:
    """What a run says of an instance."""
    drawn = json.dumps({name: encode(value) for name, value in parameters.items()})
    return ItemFacts(template.name, None, template.skills, (drawn,))


def explained(panel: Panel) -> tuple[Bank, Explanation]:
    """The bank of the replies, with its explanation."""
    bank = calibrate_panel(panel).bank
    explanation = explain(panel, bank)
    return replace(bank, explanation=explanation.as_record()), explanation


def chosen(template: Template, steering: Steering) -> list[tuple[float, float]]:
    """Predicted success and true difficulty of the instances that a compile would keep."""
    mine = steering.of_template(template.name)
    chooser = mine.chooser()
    kept: list[tuple[float, float]] = []
    for _ in range(1000):
        parameters, difficulty = template.instance()
        prediction = mine.predict(parameters, template.skills)
        if chooser.takes(prediction):
            kept.append((float(prediction.success or 0), difficulty))
            if len(kept) == CHOSEN:
                return kept
    return []


def successes(bank: Bank, templates: list[Template], shift: float) -> Iterator[tuple[bool, float, float, float | None]]:
    """For each template, target and model: whether the bank has it, the target, and the true success; None if refused.

    `shift` is added to true abilities to bring them to the scale of the bank.
    """
    known = {entry["template"] for entry in (bank.explanation or {})["templates"]}
    for theta in NEW_ABILITIES:
        for asked in TARGETS:
            target = Target(success=Decimal(asked), ability=Decimal(str(round(theta + shift, 6))))
            steering = steering_of(bank, target, [template.name for template in templates])
            for template in templates:
                kept = []
                if template.name in steering.rules:
                    try:
                        kept = chosen(template, steering)
                    except DiaError:
                        kept = []
                rates = [1 / (1 + math.exp(difficulty - theta)) for _, difficulty in kept]
                is_refused = template.name not in steering.rules
                yield template.name in known, float(asked), float(is_refused), float(np.mean(rates)) if rates else None


def own_successes(
    bank: Bank, templates: list[Template], steep: float
) -> Iterator[tuple[tuple[float, bool, bool], float, float, float | None]]:
    """The same rows for models of the bank, with and without their slopes.

    The first entry has the model's true slope, whether it was used, and whether the bank has the template.
    """
    plain = {name: value for name, value in (bank.explanation or {}).items() if name != "slopes"}
    known = {entry["template"] for entry in plain["templates"]}
    slopes = model_slopes(steep)
    free = steering_of(bank, Target(low=Decimal(-9), high=Decimal(9)), [template.name for template in templates])
    drawn = {}  # the same instances of a template for all models
    for template in templates:
        if template.name in free.rules:
            instances = [template.instance() for _ in range(DRAWN)]
            rule = free.rules[template.name]
            predicted = [rule.difficulty(parameters, template.skills, template.name) for parameters, _ in instances]
            drawn[template.name] = list(zip(predicted, (difficulty for _, difficulty in instances), strict=True))
    for has_slopes, source in ((False, replace(bank, explanation=plain)), (True, bank)):
        for at in ASKED:
            (model,) = (entry for entry in source.models if entry.model == f"m{at}")
            for asked in TARGETS:
                target = model_target(source, Decimal(asked), model)
                rules = steering_of(source, target, sorted(drawn)).rules
                for template in templates:
                    kept = kept_of(target, rules[template.name], drawn[template.name]) if template.name in rules else []
                    chances = [1 / (1 + math.exp(slopes[at] * (difficulty - ABILITIES[at]))) for difficulty in kept]
                    kind = (float(slopes[at]), has_slopes, template.name in known)
                    rate = float(np.mean(chances)) if chances else None
                    yield kind, float(asked), float(template.name not in rules), rate


def kept_of(target: Target, rule: TemplateRule, drawn: list[tuple[Decimal, float]]) -> list[float]:
    """True difficulties of the instances that a compile would keep of those drawn; none if they are too few."""
    chooser = TemplateSteering("", target, rule).chooser()
    kept: list[float] = []
    for predicted, difficulty in drawn:
        mine = TemplateSteering("", target, TemplateRule(predicted, (), rule.error))
        if chooser.takes(mine.predict({}, ())):
            kept.append(difficulty)
            if len(kept) == CHOSEN:
                return kept
    return []


def main() -> None:
    """Prints the errors of predictions, and the success of chosen instances."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--level", type=float, default=0.3, help="SD of the templates' own levels, in logits")
    parser.add_argument("--slope", type=float, default=0.1, help="SD of the templates' own slopes")
    parser.add_argument("--instances", type=int, default=20, help="instances of a template that the panel answered")
    parser.add_argument("--steep", type=float, help="slope of three of the models")
    parser.add_argument("--templates", type=int, default=TEMPLATES, help="half of them are in the bank")
    options = parser.parse_args()
    globals()["TEMPLATES"] = options.templates
    if options.steep is not None:
        steep_respondents(options)
        return
    rows: list[tuple[bool, float, float, float | None]] = []
    print("world  held out: printed  true   new templates: printed  true")
    for number in range(options.worlds):
        panel, templates = world(options.seed + number, options.level, options.slope, options.instances)
        bank, explanation = explained(panel)
        shift = float(np.mean([entry.ability for entry in bank.models]))
        print(f"{number:5} {errors(explanation, templates, shift)}", flush=True)
        rows += successes(bank, templates, shift)
    print("\ntemplates     target  refused  not reached  mean success  SD over templates  within 0.1")
    for is_known, name in ((True, "in the bank"), (False, "not in it")):
        for asked in map(float, TARGETS):
            print(summary(name, asked, [row[2:] for row in rows if row[0] == is_known and row[1] == asked]))


def summary(name: str, asked: float, rows: list[tuple[float, float | None]]) -> str:
    """A line of the table: whether instances were refused, and their success."""
    successes = np.array([rate for _, rate in rows if rate is not None])
    refused = sum(is_refused for is_refused, _ in rows) / len(rows)
    if not len(successes):
        return f"{name:12} {asked:7.1f} {refused:8.2f}"
    missing = 1 - refused - len(successes) / len(rows)
    inside = float(np.mean(np.abs(successes - asked) <= 0.1))
    return (
        f"{name:12} {asked:7.1f} {refused:8.2f} {missing:12.2f} {successes.mean():13.3f} {successes.std():18.3f}"
        f" {inside:11.2f}"
    )


def steep_respondents(options: argparse.Namespace) -> None:
    """Prints the estimated slopes, and the success of instances chosen with and without them."""
    rows: list[tuple[tuple[float, bool, bool], float, float, float | None]] = []
    for number in range(options.worlds):
        panel, templates = world(options.seed + number, options.level, options.slope, options.instances, options.steep)
        bank, explanation = explained(panel)
        print(" ".join(f"{entry.model} {entry.slope:.2f}" for entry in explanation.result.slopes), flush=True)
        rows += own_successes(bank, templates, options.steep)
    for slope in sorted({1.0, options.steep}):
        for has_slopes, how in ((False, "slope 1 for all"), (True, "estimated slopes")):
            print(f"\nmodels of slope {slope}, predicted with {how}")
            print("templates     target  refused  not reached  mean success  SD over templates  within 0.1")
            for is_known, name in ((True, "in the bank"), (False, "not in it")):
                for asked in map(float, TARGETS):
                    kind = (slope, has_slopes, is_known)
                    print(summary(name, asked, [row[2:] for row in rows if row[:2] == (kind, asked)]))


def errors(explanation: Explanation, templates: list[Template], shift: float) -> str:
    """The printed errors of predictions, and the true ones, of new instances and of new templates."""
    result = explanation.result
    half = TEMPLATES // 2
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for at, template in enumerate(templates):
        for _ in range(30):
            parameters, difficulty = template.instance()
            predicted = explanation.predict(parameters, template.skills, template.name)[0]
            gaps[at < half].append(predicted - difficulty - shift)
    old, new = (math.sqrt(float(np.mean(np.square(gaps[is_known])))) for is_known in (True, False))
    quality = result.new_templates
    printed = math.hypot(quality.se, quality.error) if quality is not None else math.nan
    return f"{result.held_out.rmse:18.2f} {old:5.2f} {printed:24.2f} {new:5.2f}"


if __name__ == "__main__":
    main()
