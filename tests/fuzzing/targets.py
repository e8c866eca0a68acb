"""What is fuzzed: each target takes bytes and may raise only what a person is told in one line."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from dia_compiler.check import check
from dia_compiler.discover import discover
from dia_compiler.eaten import compiled
from dia_compiler.expand import Expansion
from dia_compiler.prepare import prepare
from dia_compiler.read import Scalar, data, parse
from dia_compiler.render import compile_template, parse_template
from dia_compiler.settings import settings_of
from dia_compiler.spec import Snippet
from dia_runtime.language import watch
from dia_runtime.language.diagnostics import DiaError, Faults, LanguageError, Position
from dia_runtime.language.namespace import Namespace
from dia_runtime.language.values import Record, plain

EXPECTED = (DiaError, LanguageError)
SECONDS = 5
STEPS = 100_000
SCOPE = {
    "n": 12, "x": -3, "words": ["one", "two", "three"], "text": "Hello, world", "item": Record({"a": 1, "b": [1, 2]}),
    "flag": True,
}  # fmt: skip
BENCHMARK = "language: 1\nbenchmark: fuzzed\nversion: 1.0.0\n"


class OutOfTime(BaseException):
    """The evaluation ran longer than a worker is let run; the parent would have killed it."""


@contextmanager
def in_time() -> Iterator[None]:
    """Gives up after some seconds, as the parent of a worker does."""

    def ended(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS)
    try:
        yield
    except OutOfTime:
        pass
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def reader(content: bytes) -> None:
    """Reads YAML."""
    with suppress(*EXPECTED):
        data(parse(content.decode("utf-8", "replace"), "fuzzed.yaml"))


def _snippet(content: bytes) -> Snippet:
    text = content.decode("utf-8", "replace")
    return Snippet(text, Scalar(text, text, '"', Position("fuzzed.yaml", 1, 1), 1, ""))


def expression(content: bytes) -> None:
    """Compiles an expression and evaluates it."""
    with suppress(*EXPECTED), in_time():
        code = compiled(_snippet(content), Namespace(), frozenset(SCOPE))
        watch.allow(STEPS)
        plain(code(dict(SCOPE)))


def template(content: bytes) -> None:
    """Compiles a template and renders it."""
    with suppress(*EXPECTED), in_time():
        made = compile_template(parse_template(_snippet(content)), Namespace(), frozenset(SCOPE))
        watch.allow(STEPS)
        made(dict(SCOPE))


def spec(content: bytes) -> None:
    """Checks a whole spec and makes two of its instances."""
    with tempfile.TemporaryDirectory() as name, suppress(*EXPECTED), in_time():
        folder = Path(name)
        (folder / "benchmark.yaml").write_text(BENCHMARK)
        (folder / "fuzzed.yaml").write_bytes(content)
        checked = check(discover([folder]))
        for found in checked.benchmarks:
            for item in found.clean:
                prepared = prepare(item, found.benchmark, Faults(), found.lists_of(item))
                watch.allow(STEPS)
                list(Expansion(prepared, settings_of(found.benchmark, item, "0")).questions(2, is_trial=True))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "reader": reader,
    "expression": expression,
    "template": template,
    "spec": spec,
}
