"""The questions of a bundle that a respondent cannot be asked, found before the first request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import SUBJECT, may_have_sessions, roles_in
from dia_runtime.respondents.respondent import AsyncRespondent
from dia_runtime.respondents.roles import reason_unplayable
from dia_runtime.running.jobs import Workload

Roles = Mapping[str, AsyncRespondent | None]
ASSETS = "assets/"


def reasons_not_asked(bundle: Bundle, roles: Roles, extent: Workload) -> dict[int, str]:
    """Return why questions cannot be asked, by their positions.

    A question is not asked if an attachment cannot be sent to every model that would receive it, if its sessions
    cannot take place, or if the respondent says so. Without any of these, the bundle is not read.
    """
    checks: list[Callable[[Mapping[str, Any]], str | None]] = []
    if may_have_sessions(bundle):
        checks.append(lambda question: reason_unplayable(roles, question) if "sessions" in question else None)
    if any(name.startswith(ASSETS) for name in bundle.manifest["files"]):
        checks.append(lambda question: next(_reasons_undeliverable(roles, question), None))
    own_check: Callable[[Mapping[str, Any]], str | None] | None
    own_check = getattr(roles.get(SUBJECT), "reason_not_asked", None)
    if own_check is not None:
        checks.append(own_check)
    reasons: dict[int, str] = {}
    if not checks:
        return reasons
    for position, question in enumerate(islice(bundle.questions(), extent.questions)):
        if position in extent.positions:
            why = next((why for check in checks if (why := check(question)) is not None), None)
            if why is not None:
                reasons[position] = why
    return reasons


def _reasons_undeliverable(roles: Roles, question: Mapping[str, Any]) -> Iterator[str]:
    """Yield why attachments of a question cannot be sent."""
    assets = question.get("assets") or ()
    roles_asked = set(roles_in(question["sessions"])) if "sessions" in question else {SUBJECT}
    for role in sorted(roles_asked) if assets else ():
        undeliverable: Callable[[Mapping[str, Any]], str | None] | None
        undeliverable = getattr(roles.get(role), "undeliverable", None)
        if undeliverable is None:
            continue
        for asset in assets:
            why = undeliverable(asset)
            if why is not None:
                yield why if role == SUBJECT else f"{role}: {why}"
