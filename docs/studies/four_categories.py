"""The whole loop for the four categories of Dynamic Boundary Evaluation, with simulated models of known ability.

Nine models with abilities from -4 to 4 answer a bank's items once each: constrained instructions and sycophancy
(specs/boundary), refusal and over-refusal (docs/examples/requests). The bank is calibrated and explained. A tenth model
is placed on it, and a search looks for items at its boundary. Then the same for a model far beyond all items, and
another strong model is placed twice: on the first items of the bank, and on those that were found. Each rule, message
or phrase makes an item harder, by a weight of its own, and each request deviates by 0.4 logits (standard deviation);
models succeed by the Rasch model.

    python docs/studies/four_categories.py
    python docs/studies/four_categories.py --category refusal --seed 5

The categories are those of Wang, Yu and Zhang (2026), https://arxiv.org/abs/2605.06213.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from statistics import NormalDist
from typing import Any

from dia_compiler.commands.cli import run
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import PREFIXES, ModelOptions
from dia_runtime.respondents.respondent import LocalRespondent, Reply, Truth

ROOT = Path(__file__).resolve().parents[2]
PANEL = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
PLACED, BEYOND, NEXT = 0.7, 6.0, 5.5
OWN = 0.4
ITEMS = 300  # of the bank
# Category -> its template, the difficulty of an item without any entry, and what an entry adds at least and at most
CATEGORIES: Mapping[str, tuple[str, float, float, float]] = {
    "instructions": ("specs/boundary/instructions.yaml", -4.0, 0.6, 1.8),
    "refusal": ("docs/examples/requests/refusal_under_phrases.yaml", -4.5, 1.0, 2.8),
    "over-refusal": ("docs/examples/requests/over_refusal_under_phrases.yaml", -4.5, 1.0, 2.8),
    "sycophancy": ("specs/boundary/sycophancy.yaml", -6.0, 1.0, 3.2),
}
FACTS = ROOT / "specs" / "boundary" / "data" / "facts.jsonl"


def uniform(*parts: object) -> float:
    """A number between 0 and 1 that follows from the parts."""
    return (int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big") + 0.5) / 2**64


def success(theta: float, difficulty: float) -> float:
    """The Rasch model."""
    return 1 / (1 + math.exp(difficulty - theta))


def difficulty(category: str, entries: Sequence[str], seed: int) -> float:
    """What the entries of an item make of its difficulty, in logits."""
    _, start, least, most = CATEGORIES[category]
    return start + sum(least + (most - least) * uniform(seed, category, entry) for entry in entries)


class PanelModel(LocalRespondent):
    """`panel:CATEGORY,SEED,ABILITY`: a model of this ability, which reads the entries in what it is asked."""

    no_sessions_reason = None

    def __init__(self, name: str, argument: str, settings: Settings, options: ModelOptions) -> None:
        super().__init__(name, f"panel:{argument}")
        self.category, seed, theta = argument.split(",")
        self.seed, self.theta = int(seed), float(theta)
        self.said = sayings(self.category)
        self.facts = {
            fact["question"]: fact for fact in map(json.loads, FACTS.read_text(encoding="utf-8").splitlines())
        }
        self.truth: Truth | None = None

    def know(self, truth: Truth) -> None:
        """Receive the answers, which a model that follows instructions cannot do without."""
        self.truth = truth

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply to a question, or to a turn of a conversation."""
        texts = [message["content"] for message in question["messages"] if message["role"] == "user"]
        draw = uniform(self.seed, "reply", self.theta, texts[0], attempt)
        own = NormalDist(0, OWN).inv_cdf(uniform(self.seed, "own", texts[0].split("\n")[0]))
        if self.category == "instructions":
            assert self.truth is not None
            record = self.truth.record(question["id"])
            entries = [entry["entry"] for entry in record["parameters"]["rules"]]
        else:
            entries = [name for name, pattern in self.said.items() if any(pattern.search(text) for text in texts)]
        is_right = draw < success(self.theta, difficulty(self.category, entries, self.seed) + own)
        if self.category == "instructions":
            return Reply(record["text"] if is_right else "No.")
        if self.category == "sycophancy":
            right = self.right_letter(texts[0])
            return Reply(f"Answer: {right if is_right or len(texts) == 1 else 'BA'['AB'.index(right)]}")
        return Reply("I can't help with that." if is_right == (self.category == "refusal") else "Here is how.")

    def right_letter(self, text: str) -> str:
        """The letter of the true option."""
        fact = next(fact for question, fact in self.facts.items() if text.startswith(question))
        return (
            "A"
            if text.index(fact["right"], len(fact["question"])) < text.index(fact["wrong"], len(fact["question"]))
            else "B"
        )


def sayings(category: str) -> dict[str, re.Pattern[str]]:
    """Entry of the category's catalog -> what its text looks like."""
    if category == "instructions":
        return {}
    text = (ROOT / CATEGORIES[category][0]).read_text(encoding="utf-8")
    pairs = re.findall(r"^      (\w+): \{.*?say: \"(.*?)\"[,}]", text, re.MULTILINE)
    return {name: re.compile(".+?".join(map(re.escape, re.split(r"\{\{.*?\}\}", say)))) for name, say in pairs}


def dia(*arguments: object) -> Any:
    """Run a command, and return what it prints with --json. Raises SystemExit where it fails."""
    printed, notes = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(notes):
        code = run([str(argument) for argument in arguments])
    if code not in (0, 1):
        sys.exit(f"dia {' '.join(map(str, arguments))} ended with {code}\n{notes.getvalue()}")
    return json.loads(printed.getvalue()) if "--json" in arguments else None


def search(
    category: str, seed: int, bank: str, theta: float, ability: float, out: str
) -> tuple[dict[str, Any], list[float]]:
    """Search items at the boundary of a model whose ability on the bank's scale was estimated.

    Returns the report, and the true success of each accepted item.
    """
    spec = ROOT / CATEGORIES[category][0]
    model = f"panel:{category},{seed},{theta}"
    options = ["--ability", ability, "--items", 10, "--budget", 600, "-o", out, "--json", "-q"]
    report = dia("explore", spec, "--bank", bank, "--model", model, *options)
    return report, [success(theta, difficulty(category, entry["skills"], seed)) for entry in report["accepted"]]


def place(category: str, seed: int, bank: str, bundle: Path, theta: float, out: str) -> dict[str, Any]:
    """Place a model on those items of a bank that are in the bundle."""
    placed = dia(
        "place", "--bank", bank, "--bundle", bundle, "--model", f"panel:{category},{seed},{theta}", "-o", out, "--json"
    )
    return dict(placed["models"][0])


def loop(category: str, seed: int) -> None:
    """The loop of one category, in the current folder."""
    dia("compile", ROOT / CATEGORIES[category][0], "--k", ITEMS, "--seed", seed, "-o", "bundles", "-q")
    (bundle,) = (path.parent for path in Path("bundles").glob("*/manifest.json"))
    models = [word for theta in PANEL for word in ("--model", f"panel:{category},{seed},{theta}")]
    dia("run", bundle, *models, "-o", "panel.run", "-q")
    result = dia(
        "calibrate", "panel.run", "--bundle", bundle, "--check", "stability", "-o", "bank.json", "--json", "-q"
    )
    dia("explain", "panel.run", "--bank", "bank.json", "--bundle", bundle, "--save", "predicting.json", "-q")
    scale = origin(result)
    tenth = place(category, seed, "bank.json", bundle, PLACED, "tenth.run")
    report, rates = search(category, seed, "predicting.json", PLACED, tenth["ability"], "edge")
    beyond = place(category, seed, "bank.json", bundle, BEYOND, "beyond.run")
    far, far_rates = search(category, seed, "bank.json", BEYOND, beyond["ability"], "far")
    before = place(category, seed, "bank.json", bundle, NEXT, "before.run")
    grown = next((path.parent for path in Path("far/found/bundle").glob("*/manifest.json")), None)
    after = place(category, seed, "far/bank.json", grown, NEXT, "after.run") if grown else before
    print(
        f"{category:14}{len(result['difficulties']):6}{correlation(result):11.3f}"
        f"{PLACED - scale:9.2f}{tenth['ability']:7.2f} +-{tenth['se']:.2f}"
        f"{len(rates):6}{report['queries_per_accepted'] or 0:9.1f}{mean(rates):9.2f}"
        f"{len(far_rates):6}{far['queries_per_accepted'] or 0:9.1f}{mean(far_rates):9.2f}"
        f"{NEXT - scale:8.2f}{before['ability']:7.2f} +-{before['se']:.2f}{after['ability']:7.2f} +-{after['se']:.2f}",
        flush=True,
    )


def origin(result: Mapping[str, Any]) -> float:
    """Where 0 of the bank's scale lies on that of the simulation: its origin is the mean difficulty of its items."""
    shifts = []
    for entry in result["abilities"]:
        theta = float(entry["name"].split(",")[-1])
        if abs(theta) <= 2:
            shifts.append(theta - entry["value"])
    return mean(shifts)


def correlation(result: Mapping[str, Any]) -> float:
    """The least correlation of difficulties with those that come out if one model is left out."""
    return min(float(entry["correlation"]) for entry in result["stability"]["models"]["left_out"])


def mean(values: Sequence[float]) -> float:
    """The mean; not a number of nothing."""
    return sum(values) / len(values) if values else math.nan


def main() -> None:
    """Print a line for each category."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--category", choices=list(CATEGORIES), action="append")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    PREFIXES["panel"] = (__name__, "PanelModel")
    groups = [f"ability {PLACED}", "searched", f"searched at {BEYOND}", f"ability {NEXT}, on first and found items"]
    print(" " * 31 + "".join(f"{group:>{width}}" for group, width in zip(groups, (23, 24, 24, 40), strict=True)))
    searched = f"{'items':>7}{'queries':>8}{'success':>9}"
    print(f"{'category':14}{'items':>6}{'stability':>11}{'true':>9}{'placed':>14}{searched}{searched}"
          f"{'true':>7}{'first':>13}{'found':>13}")  # fmt: skip
    for category in arguments.category or CATEGORIES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            loop(category, arguments.seed)
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
