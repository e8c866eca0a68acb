"""Logs that are built, against datetime, json, known digests, and the function that reads them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_language.budgets import reset
from dia_language.functions import library
from hypothesis import given
from hypothesis import strategies as st

LINES: list[dict[str, Any]] = [
    {"time": "2026-01-31T12:30:05Z", "ip": "192.0.2.7", "path": "/a?b=%20", "size": 512, "agent": 'My "agent" \\ 1',
     "host": "web1", "program": "sshd", "pid": 77, "message": "Accepted password for ann: port 22 [preauth]"},
    {"time": "2025-12-31T23:59:59Z", "ip": "2001:db8::1", "user": "ann", "method": "POST", "path": "/é", "status": 404,
     "referrer": "https://example.org/", "host": "web2", "program": "su", "message": "it's é"},
    {"time": "2026-01-01T00:00:00Z", "ip": "192.0.2.8", "path": "/", "host": "web1", "program": "cron", "pid": 1,
     "message": "tick", "priority": 86, "msgid": "ID47"},
]  # fmt: skip
GOLDEN = {
    "common": "cd1f854aa76445c3f1f997c3e2cd489b79363251e9200dfbc65d66cd4ead1131",
    "combined": "a45fd089ed8eca0edf42b672e5623649cbd97acb7dab89486c498bcd27aa75fd",
    "syslog": "fc8e4c4458e6f4fc6ac51c9040c36862a6fb3b6b87e79582dc854644608d9d72",
    "auth": "ae8eb578152cca4542cfc2646413b585da0e4c349f0adea57d28cd049affdab2",
    "json": "05f287796eeb3b5b11768aacca83fef3f86c8abeca9eab02901acdde81ec99d3",
}


def built(style: str, lines: list[dict[str, Any]], **shared: Any) -> str:
    def entropy(count: int) -> bytes:
        raise AssertionError("a log draws nothing")

    reset()
    builder, options = BUILDERS["log"], {"style": style, "lines": lines, "shared": shared}
    builder.validate(options)
    made = builder.build(options, Site(entropy, Path("nowhere")))
    assert isinstance(made, str)
    return made


def read(*arguments: Any) -> Any:
    reset()
    return library()["log_lines"].call(*arguments)


def moment(text: str, pattern: str) -> str:
    return datetime.strptime(text, pattern).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("style", GOLDEN)
def test_a_log_has_the_same_bytes_everywhere(style: str) -> None:
    log = built(style, LINES, status=200)
    assert hashlib.sha256(log.encode()).hexdigest() == GOLDEN[style], log


def test_accesses_read_as_datetime_and_a_pattern_read_them() -> None:
    rows = built("combined", LINES, status=200).split("\n")
    times = [moment(re.findall(r"\[(.+?)\]", row)[0], "%d/%b/%Y:%H:%M:%S %z") for row in rows]
    assert times == sorted(line["time"] for line in LINES)
    assert rows[0].startswith("2001:db8::1 - ann [") and '"POST /\\xc3\\xa9 HTTP/1.1" 404 - ' in rows[0]
    assert rows[0].endswith(' "https://example.org/" "-"')
    assert rows[2].endswith(r'"GET /a?b=%20 HTTP/1.1" 200 512 "-" "My \"agent\" \\ 1"')
    assert all(
        row.startswith(line) for row, line in zip(rows, built("common", LINES, status=200).split("\n"), strict=True)
    )


def test_messages_read_as_datetime_reads_them() -> None:
    rows = built("auth", LINES).split("\n")
    assert [datetime.strptime(f"2025 {row[:15]}", "%Y %b %d %H:%M:%S").strftime("%m-%dT%H:%M:%S") for row in rows] == [
        "12-31T23:59:59", "01-01T00:00:00", "01-31T12:30:05",
    ]  # fmt: skip
    assert rows[1] == "Jan  1 00:00:00 web1 cron[1]: tick"
    assert rows[2].endswith(" web1 sshd[77]: Accepted password for ann: port 22 [preauth]")
    assert built("syslog", LINES).split("\n")[1] == "<86>1 2026-01-01T00:00:00Z web1 cron 1 ID47 - tick"


def test_objects_hold_what_the_records_held() -> None:
    rows = [json.loads(row) for row in built("json", LINES, zone=3).split("\n")]
    assert rows == [{**line, "zone": 3} for line in sorted(LINES, key=lambda line: str(line["time"]))]
    assert all(next(iter(row)) == "time" for row in rows)


WORDS = st.text(alphabet="aZ0.:-_", min_size=1, max_size=6).filter(lambda text: text != "-")
TEXTS = st.text(min_size=1, max_size=12, alphabet=st.characters(exclude_categories=["Cs"])).filter(lambda t: t != "-")
ACCESSES = st.fixed_dictionaries(
    {
        "ip": WORDS, "user": st.none() | WORDS, "time": st.just("2026-02-03T04:05:06Z"),
        "method": st.sampled_from(["GET", "HEAD"]), "protocol": st.just("HTTP/2.0"), "status": st.integers(100, 599),
        "path": st.text(alphabet='/aé"\\%x😀', min_size=1, max_size=8), "size": st.none() | st.integers(0, 10**12),
        "referrer": st.none() | TEXTS, "agent": st.none() | TEXTS,
    }
)  # fmt: skip


@given(st.lists(ACCESSES, max_size=4))
def test_what_is_built_is_read_again(lines: list[dict[str, Any]]) -> None:
    assert read(built("combined", lines), "combined") == lines


def test_years_go_on_in_january() -> None:
    assert [line["time"] for line in read(built("auth", LINES), "auth", 2025)] == sorted(
        str(line["time"]) for line in LINES
    )


WRONG: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("time", lambda line: line.update(time="yesterday")),
    ("ip", lambda line: line.pop("ip")),
    ("user", lambda line: line.update(user="a b")),
    ("method", lambda line: line.update(method='GET "')),
    ("path", lambda line: line.update(path="/a b")),
    ("status", lambda line: line.update(status=99)),
    ("size", lambda line: line.update(size=-1)),
    ("agent", lambda line: line.update(agent=7)),
]


@pytest.mark.parametrize(("name", "spoil"), WRONG, ids=[name for name, _ in WRONG])
def test_lines_that_cannot_be_are_told_by_number_and_field(name: str, spoil: Callable[[dict[str, Any]], Any]) -> None:
    second = {**LINES[0], "status": 200}
    spoil(second)
    with pytest.raises(OptionFault, match=f"`{name}` of line 2"):
        built("combined", [{**LINES[0], "status": 200}, second])


@pytest.mark.parametrize("message", ["two\nlines", "", None, "bell\x07"])
def test_a_message_stays_on_its_line(message: Any) -> None:
    for style in ("auth", "syslog"):
        with pytest.raises(OptionFault, match="`message` of line 1"):
            built(style, [{**LINES[0], "message": message}])


def test_options_that_cannot_be_are_told_before_any_work() -> None:
    builder = BUILDERS["log"]
    builder.validate({})
    spoilt: list[dict[str, Any]] = [
        {"style": "iis"}, {"style": ["json"]}, {"lines": "x"}, {"lines": ["x"]}, {"shared": []}, {"lines": [{}] * 20_001},
    ]  # fmt: skip
    for options in spoilt:
        with pytest.raises(OptionFault) as caught:
            builder.validate(options)
        assert caught.value.option == next(iter(options))


def test_a_log_that_grows_too_long_is_refused() -> None:
    with pytest.raises(OptionFault, match="characters"):
        built("json", [{"time": "2026-01-01", "message": "x" * 60_000}] * 20)
