"""A program that is asked line by line, started without a shell, and ended with its child processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

LONGEST_LINE = 1 << 24
LONGEST_STDERR = 300
GRACE_SECONDS = 2.0
BLOCK = 1 << 16
END_OF_OUTPUT, TOO_LONG = b"", b"\n"


class ProcessFailed(Exception):
    """The program gave no reply, and cannot be used any more."""


def process_environment() -> dict[str, str]:
    """Return the environment of a program, without the passphrase of the user's keys."""
    return {name: value for name, value in os.environ.items() if name != "DIA_PASSPHRASE"}


class LineProcess:
    """One running copy of a program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.stderr_start = process, b""
        # A program that prints without being asked waits when this is full.
        self.printed: asyncio.Queue[bytes] = asyncio.Queue(maxsize=2)
        self.readers = [asyncio.create_task(self._read_stdout()), asyncio.create_task(self._read_stderr())]

    @classmethod
    async def start(cls, words: Sequence[str]) -> LineProcess:
        """Start the program. Raises ProcessFailed."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=LONGEST_LINE,
                start_new_session=True,
                env=process_environment(),
            )
        except OSError as error:
            raise ProcessFailed(f"cannot be started: {error.strerror}") from None
        return cls(process)

    async def ask(self, line: bytes, seconds: float) -> bytes:
        """Write a line to the program and return the line that it prints. Raises ProcessFailed."""
        if not self.printed.empty():
            unasked = self.printed.get_nowait()
            raise ProcessFailed(
                await self._ending() if unasked == END_OF_OUTPUT else "printed more than one line for a question"
            )
        stdin = self.process.stdin
        assert stdin is not None
        try:
            async with asyncio.timeout(seconds):
                # Its output is read even if it does not read its whole input.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    stdin.write(line)
                    await stdin.drain()
                answer = await self.printed.get()
        except TimeoutError:
            raise ProcessFailed(f"gave no reply within {seconds:g} s{self._stderr_suffix()}") from None
        if answer == TOO_LONG:
            raise ProcessFailed(f"printed a line of more than {LONGEST_LINE >> 20} MiB")
        if answer == END_OF_OUTPUT:
            raise ProcessFailed(await self._ending())
        return answer

    async def _read_stdout(self) -> None:
        """Queue each line that it prints, then END_OF_OUTPUT."""
        stdout = self.process.stdout
        assert stdout is not None
        try:
            while line := await stdout.readline():
                if line.strip():
                    await self.printed.put(line)
        except ValueError:  # longer than the stream's limit
            await self.printed.put(TOO_LONG)
        await self.printed.put(END_OF_OUTPUT)

    async def _read_stderr(self) -> None:
        """Keep the beginning of its standard error, and read the rest, so that it never blocks."""
        stderr = self.process.stderr
        assert stderr is not None
        while block := await stderr.read(BLOCK):
            if len(self.stderr_start) < BLOCK:
                self.stderr_start += block

    async def _ending(self) -> str:
        """Return how it ended, such as "ended with code 1", with the first line of its standard error."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.process.wait()
                await asyncio.shield(self.readers[1])
        code = self.process.returncode
        how = "closed its output" if code is None else f"ended with code {code}" if code >= 0 else _signal_text(-code)
        return f"{how}{self._stderr_suffix()}"

    def _stderr_suffix(self) -> str:
        lines = [line.strip() for line in self.stderr_start.decode("utf-8", "replace").splitlines() if line.strip()]
        return f": {lines[0][:LONGEST_STDERR]}" if lines else ""

    async def end(self, grace: float = GRACE_SECONDS) -> None:
        """End it: close its input, then terminate it, then kill it and its child processes."""
        stdin = self.process.stdin
        assert stdin is not None
        stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._send(number)
            if await self._is_gone(grace if number != signal.SIGKILL else GRACE_SECONDS):
                break
        self._send(signal.SIGKILL)  # what it has started, too
        for reader in self.readers:
            reader.cancel()
        await asyncio.gather(*self.readers, return_exceptions=True)

    async def _is_gone(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.process.wait()
        return self.process.returncode is not None

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            elif self.process.returncode is None:
                self.process.kill()


def _signal_text(number: int) -> str:
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(number).name}"
    return f"was ended by signal {number}"
