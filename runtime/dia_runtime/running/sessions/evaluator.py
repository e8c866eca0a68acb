"""Evaluates stored code of a bundle in a worker that can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.numbers.values import Value, decode
from dia_language.stored.stored_code import IsolatedCode, decode_symbolic
from dia_language.workers.pool import SingleWorker
from dia_runtime.bundle.canonical import compact_json
from dia_runtime.formats import replies as reply_formats
from dia_runtime.running.sessions.backend import Variables, skipped_by

SYMBOLIC = '{"expression":'  # how a list of stored values begins a symbolic one


class CodeEvaluator:
    """A worker that evaluates stored code, one piece after the other, while everything else continues."""

    def __init__(self) -> None:
        self.worker, self.lock = SingleWorker(), asyncio.Lock()

    async def value(self, stored: Mapping[str, Any], scope: Variables) -> Value:
        """Return the value of an expression. Raises LanguageError."""
        async with self.lock:
            return await asyncio.to_thread(IsolatedCode(stored, self.worker).evaluate, scope)

    async def text(self, stored: Mapping[str, Any], scope: Variables) -> str:
        """Return the text of a template. Raises LanguageError."""
        async with self.lock:
            return await asyncio.to_thread(IsolatedCode(stored, self.worker).render, scope)

    async def decoded(self, stored: list[Any]) -> list[Value]:
        """Return the stored values; symbolic ones are evaluated in the worker. Raises NotAsked."""
        try:
            if SYMBOLIC not in compact_json(stored):
                return [decode(value) for value in stored]
            async with self.lock:
                values: list[Value] = await asyncio.to_thread(self.worker.call, decode_values, stored)
            return values
        except (LanguageError, DiaError) as error:
            raise skipped_by(error) from None

    async def read(self, text: str, format: Mapping[str, Any]) -> Value | None:
        """Return the value of a reply; answer types are parsed in the worker."""
        if "type" not in format:
            return reply_formats.read_reply(text, format).value
        async with self.lock:
            try:
                return await asyncio.to_thread(self.worker.call, read_value, text, dict(format))
            except LanguageError:
                return None

    def close(self) -> None:
        """End the worker."""
        self.worker.close()


def decode_values(stored: list[Any]) -> Iterator[list[Value]]:
    """Return the stored values, as the only item of a worker's task."""
    try:
        yield [decode(value, decode_symbolic) for value in stored]
    except (ValueError, TypeError):
        raise LanguageError("a list contains an invalid value") from None


def read_value(text: str, format: Mapping[str, Any]) -> Iterator[Value | None]:
    """Return the value of a reply, as the only item of a worker's task."""
    yield reply_formats.read_reply(text, format).value
