"""One process that imports for several and then divides into them: what they need is read, run and held but once.

Its children are killed by their number from outside. So it buries none of them before it is told to: a number that
another process might have got meanwhile is never killed. When it ends, for whatever reason, its children end with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

CONTEXT = multiprocessing.get_context("spawn")
CAN_DIVIDE = sys.platform == "linux"  # elsewhere what libraries have begun may not outlive it
SECONDS_TO_END = 5.0
YOUNG = 150_000  # objects between two looks for garbage: most of what an evaluation makes goes without one

Serve = Callable[[Connection, Any], None]
Place = tuple[Connection, Any]


class Child:
    """A process that the nursery has made, or is about to make."""

    def __init__(self, nursery: Nursery, place: int) -> None:
        self.nursery, self.place = nursery, place

    @property
    def pid(self) -> int:
        """Its number; waits for it, and gives the nursery's where that has died."""
        return self.nursery.numbers()[self.place]

    def kill(self) -> None:
        """Kills it, if it is there yet."""
        if self.nursery.has_told():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Nothing: the nursery buries it."""


class Nursery:
    """Starts the process, which imports the modules and then is a parent of so many that serve at their places."""

    def __init__(
        self, serve: Serve, places: Sequence[Place], confine: Callable[[], None], modules: tuple[str, ...]
    ) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.children = [Child(self, place) for place in range(len(places))]
        self.known: list[int] = []
        arguments = (serve, list(places), confine, modules, theirs)
        self.process = CONTEXT.Process(target=_divide, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def has_told(self) -> bool:
        """Whether its children are there."""
        return bool(self.known) or self.pipe.poll()

    def numbers(self) -> list[int]:
        """The numbers of its children."""
        if not self.known:
            try:
                self.known = self.pipe.recv()
            except (EOFError, OSError):
                self.known = [self.process.pid or 0] * len(self.children)
        return self.known

    def close(self) -> None:
        """Ends it and its children."""
        if not self.has_told():
            self.process.kill()
        self.pipe.close()
        self.process.join(SECONDS_TO_END)
        self.process.kill()
        self.process.join()


def _divide(
    serve: Serve, places: list[Place], confine: Callable[[], None], modules: tuple[str, ...], told: Connection
) -> None:
    confine()
    imported(modules)
    children = []
    for place in places:
        number = os.fork()
        if not number:
            _begin(serve, place, places, told)
        children.append(number)
    for pipe, _ in places:
        pipe.close()
    _outlive(children, told)


def imported(modules: tuple[str, ...]) -> None:
    """Imports the modules, and keeps what they hold out of the collector's way: nothing of it will ever go."""
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    gc.set_threshold(YOUNG)
    gc.enable()
    gc.freeze()


def _begin(serve: Serve, place: Place, places: list[Place], told: Connection) -> None:
    """Serves in a child; the others' pipes must not be held open, or their ends would never be seen."""
    told.close()
    for other, _ in places:
        if other is not place[0]:
            other.close()
    try:
        serve(*place)
    finally:
        os._exit(1)


def _outlive(children: list[int], told: Connection) -> None:
    """Tells who is there, and ends and buries them when the other side goes."""
    with contextlib.suppress(EOFError, OSError):
        told.send(children)
        told.recv()
    for number in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, 0)
    os._exit(0)
