"""The state of the studio: templates, changed files, attachments, and open pages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from dia_compiler.authoring.starting import shipped_benchmarks
from dia_compiler.authoring.studio.lanes import Lane
from dia_compiler.authoring.studio.look import count_freedom, look, read_reply, stress
from dia_compiler.authoring.studio.play import Players, play
from dia_compiler.authoring.studio.trial import excerpts, states, survey
from dia_compiler.parse.discover import BENCHMARK_FILE, SUFFIXES
from dia_language.diagnostics import Diagnostic
from dia_language.workers.pool import SECONDS

Record = dict[str, Any]
PAUSE = 0.1  # seconds between two checks for changed files
SHARE = 20  # at most one part in this many of the time is spent looking for changes
BATCH = 8  # templates that are checked together, so that a changed one need not wait for all
KEPT_BYTES = 64 << 20
KEPT_READINGS = 500
PATIENCE = 1.0  # seconds within which a check must end after a file has changed
NEW_SECONDS = 5.0  # seconds until a new template is listed
SURVEY_SECONDS = 60.0
STRESS = 1000


class Desk:
    """The templates of some paths, with one worker each for instances, replies, the list and stress."""

    def __init__(self, paths: list[Path], programs: str, players: Players | None = None) -> None:
        self.paths, self.programs, self.players = [path.as_posix() for path in paths], programs, players
        self.page_lane, self.reply_lane, self.list_lane, self.stress_lane = Lane(), Lane(), Lane(), Lane()
        self.survey: Record = {"benchmarks": [], "diagnostics": []}
        self.states: dict[str, Record] = {}
        self.waiting: list[str] = []
        self.changed: set[str] = set()  # files that have changed since their check began
        self.listeners: set[asyncio.Queue[Record]] = set()
        self.attachments: OrderedDict[str, tuple[str, str, bytes]] = OrderedDict()
        self.gradings: OrderedDict[str, Record] = OrderedDict()
        self.conversations: OrderedDict[str, Record] = OrderedDict()
        self.extra_files: dict[str, float] = {}  # shipped families, which can be shown but are not listed
        self.families: list[Record] = []
        self.wakes = asyncio.Event()
        self.stale = False
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the workers and read the templates; then their states are determined while the page is open."""
        await asyncio.gather(self.page_lane.start(), self.list_lane.start())
        self.stamps = await asyncio.to_thread(self._stamps)
        await self._survey()
        self.tasks = [asyncio.create_task(work) for work in (self._check_all(), self._watch(), self.reply_lane.start())]

    async def close(self) -> None:
        """End the workers."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for lane in (self.page_lane, self.reply_lane, self.list_lane, self.stress_lane):
            await lane.close()
        if self.players is not None:
            await self.players.close()

    # events

    def tell(self, event: Record) -> None:
        """Send an event to every page."""
        for queue in self.listeners:
            queue.put_nowait(event)

    @contextlib.contextmanager
    def listening(self) -> Any:
        """Yield a queue of events, which begins with the list of templates."""
        queue: asyncio.Queue[Record] = asyncio.Queue()
        queue.put_nowait(self.overview())
        self.listeners.add(queue)
        try:
            yield queue
        finally:
            self.listeners.discard(queue)

    def overview(self) -> Record:
        """Return the event with all templates and their states."""
        player = None if self.players is None else self.players.name
        return {"event": "list", **self.survey, "states": self.states, "player": player}

    # templates

    def seconds(self, file: str) -> float | None:
        """Return how long an evaluation of a template may take; None for a file that the studio does not show."""
        if file in self.extra_files:
            return self.extra_files[file]
        for benchmark in self.survey["benchmarks"]:
            for template in benchmark["templates"]:
                if template["file"] == file:
                    return float(template["seconds"])
        return None

    async def _survey(self) -> None:
        """Read the list of templates again."""
        survey_record: Record | None = None
        diagnostics: tuple[Diagnostic, ...] = ()
        async with aclosing(
            self.list_lane.outcomes(survey, self.paths, self.programs, seconds=SURVEY_SECONDS)
        ) as outcomes:
            async for outcome in outcomes:
                if outcome.is_end:
                    diagnostics = outcome.diagnostics
                else:
                    survey_record = outcome.item
        if survey_record is None:
            self.survey = {**self.survey, "diagnostics": excerpts(diagnostics, {})}
        else:
            self.survey = survey_record
        files = self.files()
        self.states = {file: self.states.get(file, {"state": "waiting"}) for file in files}
        self.waiting = [file for file in files if self.states[file]["state"] == "waiting"]
        self.tell(self.overview())
        self.wakes.set()

    async def list_again(self, file: str) -> None:
        """Read the list of templates until it has a new file, or for some seconds."""
        self.stale = True
        self.wakes.set()
        for _ in range(round(NEW_SECONDS / PAUSE)):
            if self.seconds(file) is not None:
                return
            await asyncio.sleep(PAUSE)

    def files(self) -> list[str]:
        """Return the template files in order."""
        return [template["file"] for benchmark in self.survey["benchmarks"] for template in benchmark["templates"]]

    async def _check_all(self) -> None:
        """Determine the states of templates that have changed, a few at a time; then read the list of files again."""
        while True:
            await self.wakes.wait()
            self.wakes.clear()
            while self.waiting or self.stale:
                if self.stale:
                    self.stale = False
                    await self._survey()
                    continue
                batch, self.waiting = self.waiting[:BATCH], self.waiting[BATCH:]
                await self._check_until_stale(batch)

    async def _check_until_stale(self, batch: list[str]) -> None:
        """Determine the states of some templates, but give up soon if a file changes."""
        checking = asyncio.create_task(self._check(batch))
        try:
            while not checking.done():
                waking = asyncio.create_task(self.wakes.wait())
                try:
                    await asyncio.wait([checking, waking], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waking.cancel()
                if self.stale:
                    await asyncio.wait([checking], timeout=PATIENCE)
                    break
                self.wakes.clear()
        finally:
            checking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await checking

    async def _check(self, batch: list[str]) -> None:
        """Determine the states of some templates; one of them may be too slow, which ends the worker."""
        seconds = max((self.seconds(file) or SECONDS for file in batch), default=SECONDS)
        current, left = None, list(batch)
        self.changed -= set(batch)
        try:
            async with aclosing(
                self.list_lane.outcomes(states, self.paths, batch, self.programs, seconds=seconds)
            ) as outcomes:
                async for outcome in outcomes:
                    if outcome.is_end:
                        file = current or next(iter(left), None)
                        if outcome.diagnostics and file is not None and file not in self.changed:
                            self._set_state(file, excerpts(outcome.diagnostics, {}))
                            left.remove(file)
                    elif "diagnostics" in outcome.item:
                        current, file = None, outcome.item["file"]
                        if file not in self.changed:
                            self._set_state(file, outcome.item["diagnostics"], outcome.item["is_blocked"])
                            left.remove(file)
                    else:
                        current = outcome.item["file"]
        finally:
            self.waiting += left

    def _set_state(self, file: str, diagnostics: list[Record], is_blocked: bool = False) -> None:
        errors = sum(entry["severity"] == "error" for entry in diagnostics)
        state = "blocked" if is_blocked else "errors" if errors else "warnings" if diagnostics else "ok"
        warnings = len(diagnostics) - errors
        self.states[file] = {"state": state, "errors": errors, "warnings": warnings, "diagnostics": diagnostics}
        self.tell({"event": "state", "file": file, **self.states[file]})

    # files

    async def _watch(self) -> None:
        """Tell the pages which files have changed; the list is read again."""
        while True:
            begin = time.perf_counter()
            stamps = await asyncio.to_thread(self._stamps)
            spent = time.perf_counter() - begin
            changed = {file for file, _ in set(stamps.items()) ^ set(self.stamps.items())}
            self.stamps = stamps
            if changed:
                self._changed(changed)
            await asyncio.sleep(max(PAUSE, SHARE * spent))

    def _changed(self, changed: set[str]) -> None:
        paths = set(self.files())
        whole = any(file not in paths for file in changed)  # benchmark.yaml, data, a new template
        stale = [file for file in self.files() if whole or file in changed]
        self.changed.update(stale)
        for file in stale:
            self.states[file] = {"state": "waiting"}
        self.tell({"event": "changed", "files": sorted(changed), "whole": whole})
        self.stale = True
        self.wakes.set()

    def _stamps(self) -> dict[str, tuple[int, int]]:
        """Return modification time and size of the files in the folders of the benchmarks."""
        stamps: dict[str, tuple[int, int]] = {}
        for folder in {_home(Path(path)) for path in self.paths}:
            _add_stamps(str(folder), stamps, is_top=True)
        return stamps

    # requests of pages

    async def look(
        self, file: str, seed: str | None, first: int, count: int, item: int = 0
    ) -> AsyncGenerator[Record, None]:
        """Yield the records of `look`, then that of `count_freedom`, which another worker makes.

        Attachments and grading records are not sent to the page.
        """
        seconds, is_clean = self.seconds(file) or SECONDS, False
        async with aclosing(
            self.page_lane.outcomes(look, file, seed, first, count, self.programs, item, seconds=seconds)
        ) as outcomes:
            async for outcome in outcomes:
                if not outcome.is_end:
                    is_clean = outcome.item["kind"] == "overview"
                    yield self._without_contents(outcome.item)
                elif outcome.diagnostics:
                    yield {"kind": "errors", "diagnostics": self._placed(outcome.diagnostics), "is_end": True}
        if is_clean:  # in the lane of replies, so that a reload does not wait until this has ended
            async with aclosing(
                self.reply_lane.outcomes(count_freedom, file, seed, self.programs, seconds=seconds)
            ) as outcomes:
                async for outcome in outcomes:
                    if not outcome.is_end:
                        yield outcome.item

    @staticmethod
    def _placed(diagnostics: Iterable[Diagnostic]) -> list[Record]:
        return excerpts(diagnostics, {})

    def _without_contents(self, record: Record) -> Record:
        """Return the record as the page sees it."""
        for asset in record.get("attachments", ()):
            self.attachments[asset["digest"]] = (asset["name"], asset["media_type"], asset.pop("content"))
            self.attachments.move_to_end(asset["digest"])
        while sum(len(content) for *_, content in self.attachments.values()) > KEPT_BYTES and len(self.attachments) > 1:
            self.attachments.popitem(last=False)
        for part, store, key in (("grading", self.gradings, "reader"), ("play", self.conversations, "conversation")):
            content = record.pop(part, None)
            if content is not None:
                record[key] = os.urandom(8).hex()
                store[record[key]] = content
                while len(store) > KEPT_READINGS:
                    store.popitem(last=False)
        return record

    async def read(self, reader: str, reply: str) -> Record | None:
        """Return how each chain reads a reply to an instance that was shown; None if it is no longer kept."""
        grading = self.gradings.get(reader)
        if grading is None:
            return None
        record: Record = {}
        async with aclosing(
            self.reply_lane.outcomes(read_reply, grading["answer"], grading["format"], reply)
        ) as outcomes:
            async for outcome in outcomes:
                if outcome.is_end and outcome.diagnostics:
                    record["diagnostics"] = excerpts(outcome.diagnostics, {})
                elif not outcome.is_end:
                    record["readings"] = outcome.item
        return record

    def play(self, conversation: str) -> AsyncGenerator[Record, None] | None:
        """Return the records of `play` for a conversation that was shown; None if it is no longer kept."""
        parts = self.conversations.get(conversation)
        if parts is None or self.players is None:
            return None
        return play(self.players, parts["question"], parts["answer"])

    async def gallery(self) -> list[Record]:
        """Return the families that come with dia, which can then be shown."""
        if self.families:
            return self.families
        record: Record = {"benchmarks": []}
        folders = [path.as_posix() for path in shipped_benchmarks()]
        async with aclosing(
            self.page_lane.outcomes(survey, folders, self.programs, seconds=SURVEY_SECONDS)
        ) as outcomes:
            async for outcome in outcomes:
                record = record if outcome.is_end else outcome.item
        self.families = [
            {**template, "benchmark": benchmark["name"]}
            for benchmark in record["benchmarks"]
            for template in benchmark["templates"]
        ]
        self.extra_files = {family["file"]: float(family["seconds"]) for family in self.families}
        return self.families

    async def stress(self, file: str, seed: str | None) -> AsyncGenerator[Record, None]:
        """Yield the records of `stress` about a thousand instances."""
        async with aclosing(
            self.stress_lane.outcomes(stress, file, seed, STRESS, self.programs, seconds=self.seconds(file) or SECONDS)
        ) as outcomes:
            async for outcome in outcomes:
                if not outcome.is_end:
                    yield outcome.item
                elif outcome.diagnostics:
                    yield {"kind": "errors", "diagnostics": self._placed(outcome.diagnostics)}


def _home(path: Path) -> Path:
    """Return the folder to watch for a path: its own, or that of the benchmark that a file belongs to."""
    if path.is_dir():
        return path
    for folder in path.parents:
        if (folder / BENCHMARK_FILE).is_file():
            return folder
    return path.parent


def _add_stamps(folder: str, stamps: dict[str, tuple[int, int]], is_top: bool = False) -> None:
    """Add the stamps of the files in a folder and below; bundles and hidden folders are left out."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        children = list(entries)
        if not is_top and any(entry.name == "manifest.json" for entry in children):
            return
        for entry in children:
            if entry.name.startswith("."):
                continue
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    _add_stamps(entry.path, stamps)
                elif entry.name.endswith((*SUFFIXES, ".txt", ".csv", ".json", ".jsonl", ".tsv", ".parquet", ".md")):
                    facts = entry.stat()
                    stamps[Path(entry.path).as_posix()] = (facts.st_mtime_ns, facts.st_size)
