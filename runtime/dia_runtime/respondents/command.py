"""`command:PROGRAM ARGUMENTS`: a program that reads a question as a line of JSON, and prints its reply as another.

In: {"id", "messages", "assets": [{"name", "media_type", "deliver", "content" (base64)}], "settings", "attempt"}, and
for a turn of a session "session", "session_item", "turn", "step", "role", "name" and "prefill".
Out: {"text"}, and where known "finish_reason", "prompt_tokens", "completion_tokens", "cost", "model_version", and "id"
again; or {"error": "..."}. The program is asked until its standard input ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shlex
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.respondents.api_keys import read_env_file, redact
from dia_runtime.respondents.chat import decimal_text
from dia_runtime.respondents.line_process import LineProcess, ProcessFailed
from dia_runtime.respondents.reply_records import reply_from_record
from dia_runtime.respondents.respondent import LocalRespondent, Reply, RequestError
from dia_runtime.respondents.turn_request import TurnRequest, settings_for

if TYPE_CHECKING:
    from dia_runtime.respondents.chat import Settings
    from dia_runtime.respondents.registry import ModelOptions

MOST_FAILURES = 3  # in a row, after which the program is not asked any more
SHOWN = 200
TURN_KEYS = ("session", "session_item", "turn", "step", "role", "name", "prefill")


class CommandRespondent(LocalRespondent):
    """A program, in one or several copies that are asked in parallel."""

    def __init__(self, name: str, command_line: str, settings: Settings, options: ModelOptions) -> None:
        """Raises DiaError (exit 2) if the program cannot be found."""
        super().__init__(name, f"command:{command_line}")
        self.options, self.base_settings = options, settings
        self.words, self.at_once = _command_words(command_line), options.copies
        self.turns = asyncio.Semaphore(options.copies)
        self.free: list[LineProcess] = []
        self.running: set[LineProcess] = set()
        self.failures = 0
        self.has_replied = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that the program receives."""
        return self.base_settings.stored()

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply that the program prints. Raises RequestError."""
        line = self._line(question, attempt)
        async with self.turns:
            start, asked_at = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            try:
                record = _printed_record(await self._printed(line), question["id"])
                seconds = decimal_text(time.monotonic() - start, 3)
                reply = reply_from_record({**record, "seconds": seconds, "asked_at": asked_at, "error": None})
            except ProcessFailed as error:
                raise self._trouble(str(error)) from None
            except ValueError as error:
                raise self._trouble(f"printed JSON that is not a reply: {error}") from None
            self.failures, self.has_replied = 0, True
            return reply

    async def _printed(self, line: bytes) -> bytes:
        """Return the line that a copy of the program prints. Raises ProcessFailed, and ends that copy."""
        program = self.free.pop() if self.free else await LineProcess.start(self.words)
        self.running.add(program)
        try:
            answer = await program.ask(line, self.options.timeout)
        except ProcessFailed:
            self.running.discard(program)
            await program.end(0)
            raise
        self.free.append(program)
        return answer

    def _trouble(self, why: str) -> RequestError:
        """Return the error: for one question, or fatal if the program never replied or fails repeatedly."""
        self.failures += 1
        is_over = not self.has_replied or self.failures >= MOST_FAILURES
        message = f"`{self.words[0]}` {redact(why, *self._secrets())}"
        return RequestError("fatal" if is_over else "request", visible(message))

    def _secrets(self) -> list[str]:
        names = (name for name in os.environ if name.endswith("_API_KEY") or name == "DIA_PASSPHRASE")
        return [*(os.environ[name] for name in names), *read_env_file(self.options.folder).values()]

    def _line(self, question: Mapping[str, Any], attempt: int) -> bytes:
        """Return the question as a line for the program."""
        record = {
            "id": question["id"],
            "messages": question["messages"],
            "assets": [self._asset(asset) for asset in question.get("assets") or ()],
            "settings": settings_for(question, self.base_settings).stored(),
            "attempt": attempt,
            **({name: question[name] for name in TURN_KEYS} if isinstance(question, TurnRequest) else {}),
        }
        return json.dumps(record, ensure_ascii=True, sort_keys=True).encode() + b"\n"

    def _asset(self, asset: Mapping[str, Any]) -> dict[str, str]:
        if self.options.read is None:
            raise RequestError("request", f"the asset {asset['name']} is not available")
        content = base64.b64encode(self.options.read(asset["path"])).decode("ascii")
        return {**{name: asset[name] for name in ("name", "media_type", "deliver")}, "content": content}

    async def close(self) -> None:
        """End every copy of the program."""
        programs, self.running, self.free = list(self.running), set(), []
        await asyncio.gather(*(program.end() for program in programs), return_exceptions=True)


def _command_words(command_line: str) -> list[str]:
    """Split the command line as a shell would, without using one. Raises DiaError."""
    try:
        words = shlex.split(command_line)
    except ValueError as error:
        raise _usage_error(f"`{command_line}` cannot be split into words: {error}") from None
    if not words:
        raise _usage_error("`command:` does not name a program")
    if "\0" in command_line or shutil.which(words[0]) is None:
        raise _usage_error(f"program not found: `{words[0]}`", "install it, or write its path: command:./PROGRAM")
    return words


def _usage_error(message: str, help: str = "write command:PROGRAM followed by its arguments") -> DiaError:
    return DiaError(Diagnostic("E842", visible(message), None, help))


def _printed_record(answer: bytes, question: str) -> Mapping[str, Any]:
    """Return the record that a program printed. Raises ProcessFailed if it is malformed, or RequestError."""
    try:
        record = json.loads(answer)
    except (ValueError, RecursionError):
        raise ProcessFailed(f"did not print JSON: {answer[:SHOWN].decode('utf-8', 'replace').strip()}") from None
    if not isinstance(record, dict):
        raise ProcessFailed("printed JSON that is not a reply: it is not an object")
    if record.get("id", question) != question:
        raise ProcessFailed(f"replied to {str(record['id'])[:SHOWN]}, not to {question}")
    if record.get("error") is not None:
        raise RequestError("request", str(record["error"])[:SHOWN])
    cost = record.get("cost")
    if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < 1e6:
        record["cost"] = decimal_text(float(cost))
    return record
