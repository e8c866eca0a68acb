"""`says:TEXT`: a respondent that always gives the same reply, as a constant judge or baseline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic

from dia_runtime.respondents.respondent import LocalRespondent, Reply

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions


class ConstantReply(LocalRespondent):
    """A respondent that always replies with one text."""

    def __init__(self, name: str, text: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) if there is no text."""
        if not text:
            message = "`says:` needs the text of the reply"
            raise DiaError(Diagnostic("E848", message, None, "write says:TEXT, such as says:DECLINE"))
        super().__init__(name, f"says:{text}")
        self.text = text

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the text."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        return Reply(self.text)
