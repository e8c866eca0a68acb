"""Parsing log lines, such as those of the asset builder `log`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.lines import lines
from dia_language.functions.quoting import from_json
from dia_language.functions.registry import library_function
from dia_language.functions.time import MONTHS, add_seconds, is_moment
from dia_language.numbers.values import Record

BETWEEN_QUOTES = r'"((?:[^"\\]++|\\.)*+)"'
COMMON = rf"(\S+) \S+ (\S+) \[([^\]]+)\] {BETWEEN_QUOTES} ([0-9]{{3}}) ([0-9]{{1,19}}|-)"
COMMON_LINE, COMBINED_LINE = re.compile(COMMON), re.compile(f"{COMMON} {BETWEEN_QUOTES} {BETWEEN_QUOTES}")
REQUEST = re.compile(r"(\S+) (.+) (\S+)", re.DOTALL)
CLF_TIME = re.compile(r"([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9:]{8}) ([+-])([0-9]{2})([0-9]{2})")
ISO_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,6})?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
SYSLOG_LINE = re.compile(r"<([0-9]{1,3})>1 (\S+) (\S+) (\S+) (-|[0-9]{1,10}) (\S+) - (?:\ufeff)?(.+)")
AUTH_LINE = re.compile(r"([A-Z][a-z]{2}) ([ 0-9][0-9]) ([0-9:]{8}) (\S+) ([^\s:\[\]]+)(?:\[([0-9]{1,10})\])?: (.+)")
ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"v": b"\v"}
NUMBERS = {month[:3]: number for number, month in enumerate(MONTHS, 1)}


@library_function
def log_lines(text: str, style: str, year: int = 0) -> list[Record]:
    r"""The lines of a log as records, in order. A field that is missing or written as - is `none`.

    `style` is the format, which determines the fields. With common (web servers), they are ip, user, time, method,
    path, protocol, status and size; with combined, also referrer and agent; with syslog (RFC 5424, without structured
    data), priority, time, host, program, pid, msgid and message; with auth (as in auth.log), time, host, program, pid
    and message; with json, those of the object on each line. Only auth uses `year`, which is the year of the first
    line; where the month goes back, as from Dec to Jan, the next year starts. Times are in UTC, without fractions of a
    second. Empty lines are skipped. Raises an error for a line that does not match the format.

    Examples:
        log_lines("192.0.2.7 - - [31/Jan/2026:12:30:05 +0000] \"GET /a HTTP/1.1\" 200 512", "common")[0].path
            -> "/a"
        log_lines("Jan  1 00:00:07 web1 sshd[123]: Connection closed", "auth", 2026)[0].message
            -> "Connection closed"
    """
    charge(len(text) // 4)
    if style not in ("common", "combined", "syslog", "auth", "json"):
        raise LanguageError("unknown style of `log_lines`", "use common, combined, syslog, auth or json")
    filled_lines = [line for line in lines(text) if line]
    if style == "json":
        return [_json_line(line) for line in filled_lines]
    if style == "auth":
        return list(_auth_lines(filled_lines, year))
    return [_syslog_line(line) if style == "syslog" else _web_line(line, style) for line in filled_lines]


def _web_line(line: str, style: str) -> Record:
    match = (COMBINED_LINE if style == "combined" else COMMON_LINE).fullmatch(line)
    request = REQUEST.fullmatch(_unescaped(match[4])) if match else None
    if match is None or request is None:
        raise _no_line(style)
    record = Record(ip=match[1], user=_field_or_none(match[2]), time=_clf_time(match[3]))
    record.update(method=request[1], path=request[2], protocol=request[3])
    record.update(status=int(match[5]), size=None if match[6] == "-" else int(match[6]))
    if style == "combined":
        record.update(referrer=_field_or_none(_unescaped(match[7])), agent=_field_or_none(_unescaped(match[8])))
    return record


def _syslog_line(line: str) -> Record:
    match = SYSLOG_LINE.fullmatch(line)
    if match is None or int(match[1]) > 191:
        raise _no_line("syslog")
    record = Record(priority=int(match[1]), time=_iso_time(match[2]), host=match[3], program=match[4])
    record.update(pid=None if match[5] == "-" else int(match[5]), msgid=_field_or_none(match[6]), message=match[7])
    return record


def _auth_lines(filled_lines: list[str], year: int) -> Iterator[Record]:
    if not 1 <= year <= 9999:
        raise LanguageError(
            "lines of this style do not include the year",
            'pass it as the third argument: log_lines(text, "auth", 2026)',
        )
    month = 0
    for line in filled_lines:
        match = AUTH_LINE.fullmatch(line)
        if match is None or match[1] not in NUMBERS:
            raise _no_line("auth")
        year, month = year + (NUMBERS[match[1]] < month), NUMBERS[match[1]]
        time = _checked(f"{year:04}-{month:02}-{int(match[2]):02}T{match[3]}Z")
        pid = int(match[6]) if match[6] else None
        yield Record(time=time, host=match[4], program=match[5], pid=pid, message=match[7])


def _json_line(line: str) -> Record:
    value = from_json(line)
    if type(value) is not Record:
        raise _no_line("json")
    return value


def _clf_time(text: str) -> str:
    match = CLF_TIME.fullmatch(text)
    if match is None or match[2] not in NUMBERS:
        raise LanguageError("a time of the log cannot be read")
    time = _checked(f"{match[3]}-{NUMBERS[match[2]]:02}-{match[1]}T{match[4]}Z")
    return _in_utc(time, match[5], match[6], match[7])


def _iso_time(text: str) -> str:
    match = ISO_TIME.fullmatch(text)
    if match is None:
        raise LanguageError("a time of the log cannot be read")
    return _in_utc(_checked(match[1] + "Z"), match[2] or "+", match[3] or "0", match[4] or "0")


def _in_utc(time: str, sign: str, hours: str, minutes: str) -> str:
    ahead = 3600 * int(hours) + 60 * int(minutes)
    return add_seconds(time, ahead if sign == "-" else -ahead)


def _checked(time: str) -> str:
    if not is_moment(time):
        raise LanguageError("a time of the log does not exist in the calendar")
    return time


def _field_or_none(text: str) -> str | None:
    return None if text == "-" else text


def _unescaped(text: str) -> str:
    """The text in which bytes that are not printable ASCII are written in hexadecimal."""
    if "\\" not in text:
        return text
    try:
        return ESCAPE.sub(_byte, text.encode()).decode()
    except UnicodeError:
        raise LanguageError("a line of the log is not UTF-8 text") from None


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else NAMED.get(match[2], match[2])


def _no_line(style: str) -> LanguageError:
    return LanguageError(f"a line of the log does not match the style {style}")
