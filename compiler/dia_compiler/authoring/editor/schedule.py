"""When open files are checked: their text immediately, their instances when the author pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dia_compiler.authoring.editor.checking import FileCheck, InstanceChecker, TextChecker
from dia_language.diagnostics import Diagnostic

PAUSE = 0.15  # seconds without a change before instances are made
GRACE = 0.3  # seconds that an outdated check has to end by itself


@dataclass(slots=True)
class OpenFile:
    """A file in the editor, and what is known about its text."""

    uri: str
    path: Path
    text: str
    version: int | None = None
    changes: int = 0  # counts the events after which it must be checked again
    text_checked: int = -1
    instances_checked: int = -1
    last_change: float = 0.0
    check: FileCheck | None = None  # the newest check, perhaps of an older text
    readable: FileCheck | None = None  # the newest check in which the template was parsed
    values: Mapping[str, str] | None = None  # of instance 0 of the last text with one


Publish = Callable[[OpenFile], None]


class Schedule:
    """The open files. Each kind of check runs in its own thread, one file at a time."""

    def __init__(self, programs: str, publish: Publish) -> None:
        self.publish = publish
        self.files: dict[str, OpenFile] = {}
        self.text_checker, self.instance_checker = TextChecker(programs), InstanceChecker(programs)
        self.text_thread, self.instance_thread = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.wakes_text, self.wakes_instances = asyncio.Event(), asyncio.Event()
        self.under_check: OpenFile | None = None
        self.checked_changes = 0
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the worker and both loops."""
        asyncio.get_running_loop().run_in_executor(self.instance_thread, self.instance_checker.start)
        self.tasks = [asyncio.create_task(loop) for loop in (self._check_texts(), self._check_instances())]

    async def close(self) -> None:
        """End the loops and the worker."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.instance_checker.interrupt()
        await asyncio.get_running_loop().run_in_executor(self.instance_thread, self.instance_checker.close)

    def unsaved(self) -> dict[Path, bytes]:
        """Return the texts of all open files."""
        return {file.path: file.text.encode("utf-8", "surrogatepass") for file in self.files.values()}

    def put(self, uri: str, path: Path, text: str, version: int | None) -> None:
        """Store the new text of a file, which may be a newly opened one."""
        file = self.files.get(uri)
        if file is None:
            file = self.files[uri] = OpenFile(uri, path, text)
        file.text, file.version = text, version
        self.touch([file])

    def drop(self, uri: str) -> OpenFile | None:
        """Forget a file that was closed."""
        return self.files.pop(uri, None)

    def touch(self, files: list[OpenFile]) -> None:
        """Check the files again: their text or what it depends on has changed."""
        now = asyncio.get_running_loop().time()
        for file in files:
            file.changes += 1
            file.last_change = now
        self.wakes_text.set()
        self.wakes_instances.set()

    def diagnostics(self, path: Path) -> list[Diagnostic]:
        """Return what the checks of the open files report about another file."""
        entries = [
            entry
            for file in self.files.values() if file.check is not None
            for entry in file.check.diagnostics
            if entry.position is not None and Path(entry.position.file) == path
        ]  # fmt: skip
        return list(dict.fromkeys(entries))

    async def _check_texts(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self.wakes_text.wait()
            self.wakes_text.clear()
            while waiting := [file for file in self.files.values() if file.text_checked < file.changes]:
                file = max(waiting, key=lambda one: one.last_change)
                changes = file.changes
                check = await loop.run_in_executor(self.text_thread, self.text_checker.check, file.path, self.unsaved())
                file.text_checked = changes
                if changes == file.changes and self.files.get(file.uri) is file:
                    self._take(file, check)
                    self.wakes_instances.set()

    async def _check_instances(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self.wakes_instances.wait()
            self.wakes_instances.clear()
            while waiting := [file for file in self.files.values() if file.instances_checked < file.changes]:
                ready = [file for file in waiting if file.text_checked == file.changes]
                pause = PAUSE + max(file.last_change for file in waiting) - loop.time()
                if not ready or pause > 0:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause if pause > 0 else PAUSE):
                            await self.wakes_instances.wait()
                    self.wakes_instances.clear()
                    continue
                await self._check_instances_of(max(ready, key=lambda one: one.last_change))

    async def _check_instances_of(self, file: OpenFile) -> None:
        """Check the instances of a file; the check is stopped if the file changes."""
        changes = file.changes
        future: asyncio.Future[FileCheck | None] = asyncio.get_running_loop().run_in_executor(
            self.instance_thread, self.instance_checker.check, file.path, self.unsaved()
        )
        while not future.done():
            waking = asyncio.ensure_future(self.wakes_instances.wait())
            either: list[asyncio.Future[Any]] = [future, waking]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            waking.cancel()
            if file.changes != changes or self.files.get(file.uri) is not file:
                await asyncio.wait([future], timeout=GRACE)
                if not future.done():
                    self.instance_checker.interrupt()
                await asyncio.wait([future])
            self.wakes_instances.clear()
        check = future.result()
        if check is not None and file.changes == changes and self.files.get(file.uri) is file:
            file.instances_checked = changes
            self._take(file, check)

    def _take(self, file: OpenFile, check: FileCheck) -> None:
        file.check = check
        if check.template(file.path) is not None or (file.readable is None and check.checked is not None):
            file.readable = check
        if check.values:
            file.values = check.values
        self.publish(file)
