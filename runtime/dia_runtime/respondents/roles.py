"""The other participants of sessions, such as a judge or a conversation partner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.bundle.session_records import SUBJECT, SessionUse, roles_with_prefill
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import BASELINES, NOBODY, ModelOptions, create_respondents, require_known
from dia_runtime.respondents.respondent import AsyncRespondent


def require_roles(parts: SessionUse, names_by_role: Mapping[str, str], urls: Mapping[str, str]) -> None:
    """Check that every role of the bundle has a model, and no other role. Raises DiaError (exit 2) otherwise."""
    roles = sorted(parts.roles - {SUBJECT})
    for role in [*names_by_role, *urls]:
        if role not in roles:
            there = f"the roles are {', '.join(f'`{name}`' for name in roles)}" if roles else "remove `--role`"
            fix = did_you_mean(role, roles) or there
            raise _role_error(f"the sessions of this bundle have no role `{role}`", fix)
    missing = [role for role in roles if role not in names_by_role]
    if missing:
        named = ", ".join(f"`{role}`" for role in missing)
        fix = f"use `--role {missing[0]}=MODEL`, or `--role {missing[0]}=none` to leave its sessions out"
        raise _role_error(f"no model for the role{'s' if len(missing) > 1 else ''} {named}", fix)


def create_players(
    names_by_role: Mapping[str, str], urls: Mapping[str, str], options: ModelOptions
) -> dict[str, AsyncRespondent | None]:
    """Return the model of each role, or None. Raises DiaError (exit 2) for a model that cannot be asked.

    The settings of the run apply to the respondent; other roles are asked only with the settings of the session.
    """
    return {role: _create_player(role, name, role_options(role, urls, options)) for role, name in names_by_role.items()}


def role_options(role: str, urls: Mapping[str, str], options: ModelOptions) -> ModelOptions:
    """Return how the model of a role is asked: at the given URL, with the session's settings only, without tools."""
    url = urls.get(role, options.base_url)
    return replace(options, base_url=url, settings=Settings(), temperatures=(), toolbox=None)


def reason_unplayable(roles: Mapping[str, AsyncRespondent | None], question: Mapping[str, Any]) -> str | None:
    """Return why the sessions of a question are left out; None if they are not."""
    no_sessions_reason: str | None = getattr(roles[SUBJECT], "no_sessions_reason", None)
    if no_sessions_reason is not None:
        return no_sessions_reason
    for role in roles_with_prefill(question.get("sessions")):
        respondent = roles.get(role)
        if respondent is not None and not getattr(respondent, "takes_prefill", True):
            name = respondent.name
            return (
                f"the prompt contains the beginning of the reply, and it is unknown whether `{name}` can continue it "
                "(if so, use `--prefill`)"
            )
    return None


def player_name(respondent: AsyncRespondent | None) -> str:
    """Return the model of a role, as it appears in names of respondents."""
    return "none" if respondent is None else respondent.name


def player_settings(respondent: AsyncRespondent | None) -> dict[str, Any] | None:
    """Return the model of a role, as it appears in settings."""
    return None if respondent is None else {**respondent.settings, "model": respondent.model}


def _create_player(role: str, name: str, options: ModelOptions) -> AsyncRespondent | None:
    if name == NOBODY:
        return None
    require_known(name, options)
    players = [] if name in BASELINES else create_respondents(name, options)
    if not players or getattr(players[0], "no_sessions_reason", None) is not None:
        raise _role_error(
            f"`{name}` cannot take the role `{role}`, because it replies from the stored answers",
            "name a model, or says:TEXT",
        )
    return players[0]


def _role_error(message: str, fix: str) -> DiaError:
    return DiaError(Diagnostic("E846", visible(message), None, visible(fix)))
