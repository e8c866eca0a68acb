"""What stored code of a session may see, and its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.numbers.values import Value
from dia_runtime.bundle.session_records import Items, SessionRecord, Texts
from dia_runtime.running.sessions.backend import TurnSkipped, Variables, skipped_by

if TYPE_CHECKING:
    from dia_runtime.running.sessions.runner import SessionRunner


@dataclass(slots=True)
class ReplyScope:
    """What stored code of a session may see: replies of the sessions that it needs, and its own so far.

    If a session is repeated for items, each conversation only sees its own replies, so that their order does not
    matter.
    """

    runner: SessionRunner
    session: SessionRecord
    item: int | None = None

    def variables(self, stored: Mapping[str, Any], loops: Variables) -> dict[str, Any]:
        """Return the names that the code may use."""
        read_names = stored.get("replies", ())
        visible = {
            name: reply for name, reply in self.runner.replies.items() if name in read_names and self.is_visible(name)
        }
        for turn in self.session.turns:
            if turn.reply in visible and self.item is not None:
                visible[turn.reply] = visible[turn.reply][self.item]
        return {**visible, **loops}

    def is_visible(self, name: str) -> bool:
        """Return whether the session has the reply, or depends on the session that has it."""
        of = self.runner.owners[name]
        return of == self.session.name or of in self.session.needs

    async def holds(self, stored: Mapping[str, Any], loops: Variables) -> bool:
        """Return whether a condition holds. Raises NotAsked if that cannot be determined."""
        value = await self.value(stored, loops)
        if not isinstance(value, bool):
            raise TurnSkipped("language", "a condition is neither true nor false")
        return value

    async def value(self, stored: Mapping[str, Any], loops: Variables) -> Value:
        """Return the value of stored code. Raises NotAsked."""
        try:
            return await self.runner.evaluator.value(stored, self.variables(stored, loops))
        except (LanguageError, DiaError) as error:
            raise skipped_by(error) from None

    async def text(self, texts: Texts, loops: Variables, at: Sequence[int | None]) -> str:
        """Return a text as it is sent; `at` are the positions in the enclosing lists. Raises NotAsked."""
        if isinstance(texts, str):
            return texts
        if isinstance(texts, tuple):
            places = [place for place in at if place is not None and place < len(texts)]
            if not places:
                raise TurnSkipped("language", "a text has fewer versions than its list has items")
            return texts[places[0]]
        try:
            return await self.runner.evaluator.text(texts, self.variables(texts, loops))
        except (LanguageError, DiaError) as error:
            raise skipped_by(error) from None

    async def items(self, over: Items | None, loops: Variables) -> list[Value] | None:
        """Return the items for which a session or turn is repeated; None if it is not. Raises NotAsked."""
        if over is None:
            return None
        if isinstance(over, list):
            return await self.runner.evaluator.decoded(over)
        items = await self.value(over, loops)
        if not isinstance(items, list):
            raise TurnSkipped("language", "`over` is not a list")
        return items


def with_loop(loops: Variables, variable: str | None, index: int | None, value: Value) -> dict[str, Any]:
    """Return the names of the loops, with those of an inner one first."""
    if index is None:
        return dict(loops)
    return {**loops, "index": index, **({} if variable is None else {variable: value})}
