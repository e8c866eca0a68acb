"""Lines of logs that others wrote, and lines that no log has."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from dia_language.budgets import reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from hypothesis import given
from hypothesis import strategies as st

STYLES = ("common", "combined", "syslog", "auth", "json")


def read(*arguments: Any) -> Any:
    reset()
    return library()["log_lines"].call(*arguments)


# What others have written: the examples of RFC 5424, section 6.5, of RFC 3164, section 5.4, and of Apache's manual.
APACHE = (
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 '
    '"http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"'
)
RFC_5424 = (
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8\n"
    "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts."
)


def test_published_lines_are_read() -> None:
    (access,) = read(APACHE, "combined")
    assert access == {
        "ip": "127.0.0.1", "user": "frank", "time": "2000-10-10T20:55:36Z", "method": "GET", "path": "/apache_pb.gif",
        "protocol": "HTTP/1.0", "status": 200, "size": 2326, "referrer": "http://www.example.com/start.html",
        "agent": "Mozilla/4.08 [en] (Win98; I ;Nav)",
    }  # fmt: skip
    first, second = read(RFC_5424, "syslog")
    assert (first["time"], first["pid"], first["msgid"]) == ("2003-10-11T22:14:15Z", None, "ID47")
    assert first["message"] == "'su root' failed for lonvick on /dev/pts/8"
    assert (second["time"], second["pid"]) == ("2003-08-24T12:14:15Z", 8710)
    (old,) = read("Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8", "auth", 1990)
    assert (old["time"], old["host"], old["program"], old["pid"]) == ("1990-10-11T22:14:15Z", "mymachine", "su", None)


@pytest.mark.skipif(shutil.which("logger") is None, reason="the tool `logger` is not installed")
def test_lines_of_logger_are_read() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    command = [
        "logger",
        "--no-act",
        "--stderr",
        "--socket-errors=off",
        "--tag",
        "prog",
        "--id=123",
        "--priority",
        "auth.info",
    ]
    new, old = (
        subprocess.run([*command, option, "a message: [1]"], capture_output=True, text=True, check=True).stderr.strip()
        for option in ("--rfc5424=notq", "--rfc3164")
    )
    (line,) = read(new, "syslog")
    assert (line["priority"], line["program"], line["pid"], line["message"]) == (38, "prog", 123, "a message: [1]")
    assert before <= datetime.fromisoformat(line["time"]) <= datetime.now(UTC)
    (line,) = read(re.sub(r"^<38>", "", old), "auth", before.year)
    assert (line["program"], line["pid"], line["message"]) == ("prog", 123, "a message: [1]")


@given(st.text(alphabet='a-"\\[]:/ 0<>1{}\n', max_size=60), st.sampled_from(STYLES))
def test_any_text_is_read_or_refused(text: str, style: str) -> None:
    try:
        assert isinstance(read(text, style, 2026), list)
    except LanguageError as error:
        assert "log" in error.message or "JSON" in error.message


@pytest.mark.parametrize(
    ("log", "style"),
    [
        (APACHE, "common"),
        (APACHE.replace("Oct", "Okt"), "combined"),
        (APACHE.replace("10/Oct", "31/Nov"), "combined"),
        (APACHE.replace("frank", "fr ank"), "combined"),
        (APACHE.replace("start", r"st\xff"), "combined"),
        (RFC_5424.replace("<34>", "<192>"), "syslog"),
        ("Feb 29 22:14:15 mymachine su: no leap year", "auth"),
        ("[1]", "json"),
        ("", "nginx"),
    ],
)
def test_other_lines_are_refused(log: str, style: str) -> None:
    with pytest.raises(LanguageError):
        read(log, style, 2025)


def test_a_year_must_be_told_where_lines_do_not() -> None:
    with pytest.raises(LanguageError, match="year"):
        read("Oct 11 22:14:15 mymachine su: x", "auth")


def test_hostile_lines_take_no_longer_than_they_are_long() -> None:
    for text in ('"' * 400_000, "1 - - [" + '"\\' * 200_000, "a " * 300_000, "<1>1 " + "- " * 300_000, "{" * 500_000):
        for style in STYLES:
            with pytest.raises(LanguageError):
                read(text, style, 2026)
