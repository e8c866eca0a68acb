"""Who takes part in sessions beside the respondent: a judge, a partner of a conversation, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.bundle.session_records import SUBJECT, SessionUse, roles_with_prefill
from dia_runtime.respondents import RESPONDENTS, require_known
from dia_runtime.respondents.asker import AsyncRespondent
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.models import ModelOptions, create_respondents, is_known

NOBODY = "none"


def require_roles(parts: SessionUse, bound: Mapping[str, str], urls: Mapping[str, str]) -> None:
    """Nothing, when every role of a bundle is bound and no other; else DiaError (exit 2)."""
    roles = sorted(parts.roles - {SUBJECT})
    for role in [*bound, *urls]:
        if role not in roles:
            there = f"there are {', '.join(f'`{known}`' for known in roles)}" if roles else "leave `--role` out"
            mend = did_you_mean(role, roles) or there
            raise _role_error(f"the sessions of this bundle have no role `{role}`", mend)
    missing = [role for role in roles if role not in bound]
    if missing:
        named = ", ".join(f"`{role}`" for role in missing)
        mend = f"give `--role {missing[0]}=MODEL`, or `--role {missing[0]}=none` to leave its sessions out"
        raise _role_error(f"nobody is said to play the role{'s' if len(missing) > 1 else ''} {named}", mend)


def create_players(
    bound: Mapping[str, str], urls: Mapping[str, str], wish: ModelOptions
) -> dict[str, AsyncRespondent | None]:
    """Role -> who plays it, None for nobody. Raises DiaError (exit 2) for what cannot be asked.

    The run's settings are the respondent's; who plays a role is asked with those of the session alone.
    """
    return {role: _create_player(role, name, role_options(role, urls, wish)) for role, name in bound.items()}


def role_options(role: str, urls: Mapping[str, str], wish: ModelOptions) -> ModelOptions:
    """How who plays a role is to be asked: where the command says, and with no settings but the session's."""
    return replace(wish, base_url=urls.get(role, wish.base_url), settings=Settings(), temperatures=())


def reason_unplayable(roles: Mapping[str, AsyncRespondent | None], question: Mapping[str, Any]) -> str | None:
    """Why the sessions of a question are left out; None where they are not."""
    speechless: str | None = getattr(roles[SUBJECT], "speechless", None)
    if speechless is not None:
        return speechless
    for role in roles_with_prefill(question.get("sessions")):
        asker = roles.get(role)
        if asker is not None and not getattr(asker, "takes_prefill", True):
            return f"a reply is begun for the model, which `{asker.name}` is not known to continue: `--prefill` says so"
    return None


def player_name(asker: AsyncRespondent | None) -> str:
    """Who plays a role, as the names of respondents have it."""
    return "none" if asker is None else asker.name


def player_settings(asker: AsyncRespondent | None) -> dict[str, Any] | None:
    """Who plays a role, as settings have it."""
    return None if asker is None else {**asker.settings, "model": asker.model}


def _create_player(role: str, name: str, wish: ModelOptions) -> AsyncRespondent | None:
    if name == NOBODY:
        return None
    if not is_known(name, wish) and name not in RESPONDENTS:
        require_known(name)
    if name in RESPONDENTS:
        raise _role_error(
            f"`{name}` cannot play the role `{role}`: it replies from answers", "name a model, or says:TEXT"
        )
    (asker,) = create_respondents(name, wish)
    if getattr(asker, "speechless", None) is not None:
        raise _role_error(
            f"`{name}` cannot play the role `{role}`: it replies from answers", "name a model, or says:TEXT"
        )
    return asker


def _role_error(message: str, mend: str) -> DiaError:
    return DiaError(Diagnostic("E846", visible(message), None, visible(mend)))
