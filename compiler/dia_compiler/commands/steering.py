"""The options of `dia compile` that choose instances by predicted difficulty, and what it prints about them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, names_help, visible

if TYPE_CHECKING:
    from dia_compiler.sampling.steering import SteeringRequest

NUMBER = r"[-+]?[0-9]{1,3}(?:\.[0-9]{1,12})?"  # abilities in a bank have nine decimals
RANGE = re.compile(rf"({NUMBER})\.\.({NUMBER})", re.ASCII)
LEAST, MOST = Decimal("0.05"), Decimal("0.95")


def steering_request(
    success: str | None, difficulty: str | None, model: str | None, ability: str | None, bank: Path | None
) -> SteeringRequest:
    """Return what the options ask for.

    Raises DiaError: exit 2 for options that contradict each other, exit 3 for a bad bank.
    """
    from dia_runtime.psychometrics.rasch.bank import read_bank

    from dia_compiler.sampling.steering import SteeringRequest, Target, model_target

    if (success is None) == (difficulty is None):
        raise _error("give either --success or --difficulty", "for example `--success 0.5 --for MODEL`")
    if bank is None:
        raise _error("--bank is missing", "name the file that `dia explain --save` wrote")
    if difficulty is not None:
        if model is not None or ability is not None:
            raise _error("a --difficulty is the same for all models", "leave out --for and --ability")
        low, high = _range(difficulty)
        return SteeringRequest(Target(low=low, high=high), read_bank(bank))
    if (model is None) == (ability is None):
        raise _error("--success needs one model", "name one of the bank with --for, or give its --ability in logits")
    share = _number(success or "", "--success")
    if not LEAST <= share <= MOST:
        raise _error(f"--success must be a probability from {LEAST} to {MOST}, not {share}", "such as 0.5")
    source = read_bank(bank)
    if ability is not None:
        return SteeringRequest(Target(share, ability=_number(ability, "--ability")), source)
    entry = next((entry for entry in source.models if entry.model == model), None)
    if entry is None:
        help = names_help(str(model), [entry.model for entry in source.models])
        message = f"the bank has no model `{str(model)[:80]}`"
        raise _error(message, help or "place it with `dia place`, and pass the result as --ability")
    return SteeringRequest(model_target(source, share, entry), source)


def _range(text: str) -> tuple[Decimal, Decimal]:
    match = RANGE.fullmatch(text)
    if match is None or Decimal(match[1]) >= Decimal(match[2]):
        help = "write two difficulties, the lower one first, such as -1..1"
        raise _error(f"`{text[:40]}` is not a range of difficulties", help)
    return Decimal(match[1]), Decimal(match[2])


def _number(text: str, option: str) -> Decimal:
    if not re.fullmatch(NUMBER, text, re.ASCII):
        raise _error(f"`{text[:40]}` is not a number for {option}", "write a decimal number, such as 0.5")
    return Decimal(text)


def _error(message: str, help: str) -> DiaError:
    return DiaError(Diagnostic("E898", visible(message), None, help))


def predictions(bundle: Path) -> dict[str, Any] | None:
    """Return mean, lowest and highest prediction of a bundle and of each template, and the templates that were refused.

    None for a bundle whose instances were not chosen by their difficulty.
    """
    from dia_runtime.bundle.open import open_bundle

    opened = open_bundle(bundle)
    if "steering" not in opened.manifest:
        return None
    records: dict[str, list[dict[str, str]]] = {}
    for answer in opened.answers():
        if "predicted" in answer:
            records.setdefault(answer["template"], []).append(answer["predicted"])
    templates = [{"template": template, **_summaries(own)} for template, own in records.items()]
    whole = _summaries([record for own in records.values() for record in own])
    steering = opened.manifest["steering"]
    facts = {**whole, "templates": templates, "refused": steering["refused"]}
    if "slope" in steering:
        value, low, high = (float(steering["slope"][name]) for name in ("value", "low", "high"))
        facts["slope"] = {"model": steering["model"], "value": value, "ci": [low, high]}
    return facts


def _summaries(records: list[dict[str, str]]) -> dict[str, dict[str, float] | None]:
    return {
        "success": _summary([float(record["success"]) for record in records if "success" in record]),
        "difficulty": _summary([float(record["difficulty"]) for record in records]),
    }


def _summary(values: list[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {"mean": math.fsum(values) / len(values), "low": min(values), "high": max(values)}


def prediction_lines(facts: dict[str, Any]) -> list[str]:
    """Return the predictions in words; the success of each template too if there are several."""
    from dia_runtime.psychometrics.rasch.bank import pace_in_words

    lines = []
    for name, unit in (("success", ""), ("difficulty", " logits")):
        if facts[name] is not None:
            lines.append(f"  predicted {name} {_ends(facts[name], unit)}")
    if facts["success"] is not None and len(facts["templates"]) > 1:
        lines += [f"    {visible(entry['template'])}: {_ends(entry['success'])}" for entry in facts["templates"]]
    if slope := facts.get("slope"):
        low, high = slope["ci"]
        lines.append(
            f"  slope of {visible(slope['model'])} {slope['value']:.2f} [{low:.2f}, {high:.2f}]: its success changes"
            f" with difficulty {pace_in_words(low, high)}"
        )
    return lines


def _ends(summary: dict[str, float], unit: str = "") -> str:
    mean, low, high = (f"{summary[key]:.2f}" for key in ("mean", "low", "high"))
    return f"{mean}{unit}, from {low} to {high}"
