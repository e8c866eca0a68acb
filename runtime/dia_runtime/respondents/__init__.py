"""Whoever can be asked: one literal table from name to respondent."""

from __future__ import annotations

from collections.abc import Callable

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.respondents.baselines import Abstain, Guess, Oracle, Wrong
from dia_runtime.respondents.respondent import Respondent, Truth

RESPONDENTS: dict[str, Callable[[Truth], Respondent]] = {
    "oracle": Oracle,
    "abstain": Abstain,
    "wrong": Wrong,
    "guess": Guess,
}


def require_known(name: str) -> None:
    """Nothing, when a respondent has that name; else DiaError (exit 2) with all the names."""
    if name not in RESPONDENTS:
        near = did_you_mean(name, RESPONDENTS)
        names = "known: " + ", ".join(f"`{names}`" for names in RESPONDENTS)
        message = visible(f"no respondent is called `{name}`")
        raise DiaError(Diagnostic("E806", message, None, f"{near} ({names})" if near else names))
