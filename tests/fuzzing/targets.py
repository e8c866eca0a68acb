"""What is fuzzed: each target takes bytes and may raise only what a person is told in one line."""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import FrameType

from dia_compiler.analyze.check import check
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import settings_of
from dia_compiler.authoring.session_preview import shown_sessions
from dia_compiler.generate.bundle_rows import RoundTrip, answer_record, question_record
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.parse.discover import discover
from dia_compiler.parse.model import Snippet
from dia_compiler.parse.tables import READERS, Columns, read_rows
from dia_compiler.parse.yaml_pitfalls import compiled
from dia_language.answers import Undecided, Unreadable, answer_type, read
from dia_language.budgets import STEPS as ALLOWED
from dia_language.diagnostics import DiaError, LanguageError, Position
from dia_language.expressions.namespace import Namespace
from dia_language.numbers.values import Record, plain
from dia_language.templates.templates import compile_template, parse_template
from dia_language.workers import heartbeat
from dia_language.yaml_nodes import Scalar, data, parse, text_of
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.grading.grader import Grader
from dia_runtime.grading.verdicts import Verdict
from replies import ANSWERS, FORMATS

EXPECTED = (DiaError, LanguageError, MemoryError, RecursionError)
"""What is told in one line; a worker makes one of the last two, and only there they may come up."""
TOLD = (DiaError, LanguageError)
SECONDS = 5
PATIENCE = 8
STEPS = 100_000
SCOPE = {
    "n": 12, "x": -3, "words": ["one", "two", "three"], "text": "Hello, world", "item": Record({"a": 1, "b": [1, 2]}),
    "flag": True,
}  # fmt: skip
HERE = Position("fuzzed.yaml", 1, 1)
BESIDE = {
    "benchmark.yaml": b"language: 1\nbenchmark: fuzzed\nversion: 1.0.0\n",
    "data.csv": b'id,question,count\nq1,How many?,3\nq2,"Why, then?",12\nq3,When?,7\nq4,Who?,1\n',
    "data.jsonl": b'{"id": "a", "q": "One?", "wrong": ["x", "y"]}\n{"id": "b", "q": "Two?", "wrong": ["z", "w"]}\n',
    "words.txt": b"alpha\nbeta\ngamma\ndelta\n",
}
"""The files that lie beside a fuzzed template."""
MARK = re.compile(rb"^#--- (benchmark\.yaml|data\.csv|data\.jsonl|words\.txt|catalog\.yaml)\n", re.MULTILINE)
"""The line with which an input goes on with another file."""


class OutOfTime(BaseException):
    """The evaluation ran longer than a worker is let run; the parent would have killed it."""


class TooSlow(AssertionError):
    """What no limit of a worker ends took too long."""


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
        heartbeat.set_limits(ALLOWED)


@contextmanager
def quick() -> Iterator[None]:
    """Fails where what runs in the parent, which nobody ends, takes long."""
    start = monotonic()
    yield
    if monotonic() - start > PATIENCE:
        raise TooSlow(f"{monotonic() - start:.1f} s in the parent")


def reader(content: bytes) -> None:
    """Reads YAML as a file is read: what no line of a file can hold is refused before."""
    with suppress(*TOLD), quick():
        data(parse(text_of(content, "fuzzed.yaml"), "fuzzed.yaml"))


def snippet(content: bytes) -> Snippet:
    """The bytes as a piece of text of a spec."""
    text = content.decode("utf-8", "replace")
    return Snippet(text, Scalar(text, text, '"', HERE, 1, ""))


def expression(content: bytes) -> None:
    """Compiles an expression and evaluates it."""
    with suppress(*EXPECTED), in_time():
        code = compiled(snippet(content), Namespace(), frozenset(SCOPE))
        heartbeat.set_limits(STEPS)
        plain(code(dict(SCOPE)))


def template(content: bytes) -> None:
    """Compiles a template and renders it."""
    with suppress(*EXPECTED), in_time():
        made = compile_template(parse_template(snippet(content)), Namespace(), frozenset(SCOPE))
        heartbeat.set_limits(STEPS)
        made(dict(SCOPE))


def files_of(content: bytes) -> dict[str, bytes]:
    """The template and the files beside it that an input stands for."""
    first, *rest = MARK.split(content)
    changed = {name.decode(): held for name, held in zip(rest[::2], rest[1::2], strict=True)}
    return {**BESIDE, **changed, "fuzzed.yaml": first}


def spec(content: bytes) -> None:
    """Checks a whole spec, makes three of its instances, stores them and grades replies to them."""
    with tempfile.TemporaryDirectory() as name, suppress(*TOLD):
        for file, held in files_of(content).items():
            (Path(name) / file).write_bytes(held)
        with quick():
            checked = check(discover([Path(name)]))
        for found in checked.benchmarks:
            for item in found.clean:
                with suppress(*EXPECTED), in_time():
                    heartbeat.set_limits(STEPS)
                    prepared = prepare(item, found.benchmark, checked.diagnostics, found.lists_of(item))
                    expansion = expansion_of(prepared, settings_of(found.benchmark, item, "0"))
                    trip = RoundTrip(expansion)
                    for instance in expansion.questions(3, is_trial=True):
                        trip.check(instance)
                        answer_record(instance, expansion, "fuzzed/0", None)
                        if instance.rendered_sessions is not None:
                            canonical_line(question_record(instance, expansion, None))
                            shown_sessions(instance.rendered_sessions.sessions)


def replies(content: bytes) -> None:
    """Grades a reply: the first byte picks the type of the answer, the second the format, the rest is the reply."""
    if len(content) < 2:
        return
    comparison, truth, text = ANSWERS[content[0] % len(ANSWERS)]
    form = FORMATS[content[1] % len(FORMATS)]
    reply = content[2:].decode("utf-8", "replace")
    with quick():
        for chain in ("strict", "standard", "lenient", "compat"):
            with suppress(*TOLD):
                found = Grader(comparison, form, chain).grade(truth, [], text, reply)
                assert found.verdict in Verdict
        kind = answer_type(comparison)
        for mode in ("strict", "lenient"):
            with suppress(*TOLD, Unreadable, Undecided):
                value = read(reply, comparison, mode)
                assert kind.holds(value), "a reading gives what the type does not hold"
                kind.equal(value, truth)
                kind.write(value)


COLUMNS: tuple[Columns, ...] = (None, ("a",), ("a", "b"), {"a": "integer"}, {"a": "decimal", "b": "boolean"})


def tables(content: bytes) -> None:
    """Reads a data file: the first byte picks its kind, the second the columns, the rest is its content."""
    if len(content) < 2:
        return
    suffix = (".csv", ".jsonl")[content[0] % 2]
    assert suffix in READERS
    with tempfile.TemporaryDirectory() as name, suppress(*TOLD), quick():
        path = Path(name) / f"data{suffix}"
        path.write_bytes(content[2:])
        table, _ = read_rows(path, path.name, HERE, COLUMNS[content[1] % len(COLUMNS)])
        rows = [table.at(number) for number in range(table.count)]
        assert [table.find(row) for row in rows] == list(range(table.count)), "a row is not found again"
        assert all(list(table.column(column)) == [row[column] for row in rows] for column in table.columns)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "reader": reader,
    "expression": expression,
    "template": template,
    "spec": spec,
    "replies": replies,
    "tables": tables,
}
