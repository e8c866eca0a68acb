"""Logs: accesses to web servers, messages of systems, and lines of JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dia_language.functions.formatting import json
from dia_language.functions.time import clf_time, format_time, is_moment, unix_time
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record

from dia_compiler.assets.base import Builder, OptionFault, Site, data

LINES = 20_000
WORD = re.compile(r"[!#-\[\]-~]+")  # visible ASCII except quotes and the backslash
METHOD = re.compile(r"[A-Z]+")
PATH = re.compile(r"[^\s\x00-\x1f\x7f]+")
PROGRAM = re.compile(r"[!-9;-Z^-~]+")  # visible ASCII except what ends a program's name
ONE_LINE = re.compile(r"[^\x00-\x1f\x7f\u2028\u2029]+")
PRIORITY = 14  # a user's program, for information


class Log(Builder):
    """A log of a style, a line a record, in the order of their times."""

    summary = "a log: web server accesses, system messages, or JSON lines"
    options = {
        "style": data("common, combined, syslog (RFC 5424), auth (as in auth.log) or json", required=True),
        "lines": data(
            "a list of records with `time` and the fields that the function `log_lines` returns for the style; "
            "required are ip, path and status (common, combined), or host, program and message (syslog, auth); json "
            "takes any fields",
            required=True,
        ),
        "shared": data("default fields of every line, such as {host: web1, status: 200}"),
    }
    extension = "log"
    media_type = "text/plain; charset=utf-8"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        if options.get("style", "json") not in tuple(STYLES):
            raise OptionFault("style", "unknown log style", f"the styles are {', '.join(STYLES)}")
        if not isinstance(options.get("shared", {}), Mapping):
            raise OptionFault("shared", "`shared` must be a mapping")
        lines = options.get("lines", [])
        if not isinstance(lines, list) or not all(isinstance(line, Mapping) for line in lines):
            raise OptionFault("lines", "`lines` must be a list of records")
        if len(lines) > LINES:
            raise OptionFault("lines", f"a log has at most {LINES:,} lines")

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        """Return the lines sorted by time (equal times in list order), without a newline at the end."""
        shared = options.get("shared", {})
        lines = [
            Record({**line, **{name: shared[name] for name in shared if name not in line}}) for line in options["lines"]
        ]
        for number, line in enumerate(lines, 1):
            _field(line, number, "time", is_moment, "a time such as 2026-01-31T12:30:05Z")
        style, size, written_lines = STYLES[options["style"]], 0, []
        for number, line in sorted(enumerate(lines, 1), key=lambda pair: unix_time(pair[1]["time"])):
            written_lines.append(style(line, number))
            size += len(written_lines[-1]) + 1
            if size > TEXT_LENGTH:
                raise OptionFault(
                    "lines", f"the log has more than {TEXT_LENGTH:,} characters", "use fewer or shorter lines"
                )
        return "\n".join(written_lines)


def _common(line: Record, number: int) -> str:
    """Return a line of the common log format. Source: Apache HTTP Server, mod_log_config."""
    ip = _field(line, number, "ip", _fits(WORD), "an address without spaces")
    user = _field(line, number, "user", _fits(WORD), "a name without spaces, or none", "-")
    method = _field(line, number, "method", _fits(METHOD), "an uppercase method", "GET")
    path = _field(line, number, "path", _fits(PATH), "a path without spaces; `percent_encode` escapes them")
    protocol = _field(line, number, "protocol", _fits(WORD), "a version such as HTTP/1.1", "HTTP/1.1")
    status = _field(line, number, "status", _is_from(100, 599), "an integer from 100 to 599")
    size = _field(line, number, "size", _is_from(0, 2**63), "a number of bytes, or none", "-")
    return f'{ip} - {user} [{clf_time(line["time"])}] "{method} {_escaped(path)} {protocol}" {status} {size}'


def _combined(line: Record, number: int) -> str:
    """Return a line of the common log format followed by referrer and agent."""
    referrer, agent = (
        _escaped(_field(line, number, name, _is_text, "text, or none", "-")) for name in ("referrer", "agent")
    )
    return f'{_common(line, number)} "{referrer}" "{agent}"'


def _syslog(line: Record, number: int) -> str:
    """Return a message without structured data. Source: RFC 5424, section 6."""
    host, program, pid, message = _message(line, number)
    priority = _field(line, number, "priority", _is_from(0, 191), "an integer from 0 to 191", PRIORITY)
    msgid = _field(line, number, "msgid", _fits(WORD), "a word without spaces, or none", "-")
    time = format_time(line["time"], "%Y-%m-%dT%H:%M:%SZ")
    return f"<{priority}>1 {time} {host} {program} {'-' if pid is None else pid} {msgid} - {message}"


def _auth(line: Record, number: int) -> str:
    """Return a message as in files under /var/log, without its year. Source: RFC 3164, section 4.1."""
    host, program, pid, message = _message(line, number)
    day = format_time(line["time"], "%-d").rjust(2)
    at = format_time(line["time"], f"%b {day} %H:%M:%S")
    return f"{at} {host} {program}{'' if pid is None else f'[{pid}]'}: {message}"


def _message(line: Record, number: int) -> tuple[str, str, int | None, str]:
    host = _field(line, number, "host", _fits(WORD), "a name without spaces")
    program = _field(line, number, "program", _fits(PROGRAM), "a name without spaces, colons and brackets")
    pid = _field(line, number, "pid", _is_from(0, 2**31), "a process id, or none", None)
    return host, program, pid, _field(line, number, "message", _fits(ONE_LINE), "text on one line")


def _json(line: Record, number: int) -> str:
    """Return all fields as an object, the time first."""
    return json(Record({"time": line["time"], **line}), "compact")


STYLES: dict[str, Callable[[Record, int], str]] = {
    "common": _common,
    "combined": _combined,
    "syslog": _syslog,
    "auth": _auth,
    "json": _json,
}


def _field(line: Record, number: int, name: str, is_good: Callable[[Any], bool], words: str, *default: Any) -> Any:
    """Return the field, or the default if there is one and the field is missing or none. Raises OptionFault."""
    value = line.get(name)
    if value is None and default:
        return default[0]
    if not is_good(value):
        raise OptionFault("lines", f"`{name}` of line {number} must be {words}")
    return value


def _fits(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_from(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _escaped(text: str) -> str:
    """Return the text as Apache logs write it between quotes: bytes that are not printable ASCII in hexadecimal."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1").translate(ESCAPES)


ESCAPES = {byte: f"\\x{byte:02x}" for byte in range(256) if not 32 <= byte <= 126} | {34: '\\"', 92: "\\\\"}
