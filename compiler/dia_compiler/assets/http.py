"""Messages of HTTP/1.1 and HTTP/1.0: requests and responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_compiler.assets.base import Builder, OptionFault, Site, data, template

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
TARGET = re.compile(r"[!-~]+")
VALUE = re.compile(r"(?:[^\x00- \x7f](?:[^\x00-\x08\n-\x1f\x7f]*[^\x00- \x7f])?)?")  # no control characters
LENGTH = "content-length"
LINE_ENDS = {"crlf": "\r\n", "lf": "\n"}
VERSIONS = ("HTTP/1.1", "HTTP/1.0")
BODILESS = (204, 304)
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
# RFC 9110, section 15; RFC 6585 has 429
REASONS = {
    100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
    410: "Gone", 411: "Length Required", 413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
    422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}  # fmt: skip


class Http(Builder):
    """A request, where it has a target, or a response, where it has a status."""

    summary = "an HTTP request or response"
    options = {
        "method": data("the request's method (default GET)"),
        "target": data("the request's target, such as /index.html?page=2; a message needs `target` or `status`"),
        "status": data("the response's status, such as 404"),
        "reason": data("the reason phrase after the status (default the standard one, if there is one)"),
        "version": data("HTTP/1.1 or HTTP/1.0 (default HTTP/1.1)"),
        "headers": data(
            "a mapping or a list of [name, value]; Content-Length is added if needed, or filled in if empty"
        ),
        "body": template("the message's body (default empty)"),
        "line_ends": data("how the first line and the headers end: crlf (the standard) or lf (default crlf)"),
    }
    extension = "http"
    media_type = "message/http"
    is_text = True

    def validate(self, options: Mapping[str, Any]) -> None:
        _check_kind(options)
        for name, allowed in (("version", VERSIONS), ("line_ends", tuple(LINE_ENDS))):
            if options.get(name, allowed[0]) not in allowed:
                raise OptionFault(name, f"`{name}` must be {allowed[0]} or {allowed[1]}")
        if not isinstance(options.get("body", ""), str):
            raise OptionFault("body", "`body` must be text")
        if "headers" in options:
            _check_headers(_headers(options))

    def build(self, options: Mapping[str, Any], site: Site) -> str:
        """Return the message: its first line, its headers, an empty line and the body."""
        end = LINE_ENDS[options.get("line_ends", "crlf")]
        body = options.get("body", "")
        _check_whole(options, body)
        headers = [f"{name}: {value}".rstrip() for name, value in _with_length(options, body)]
        return end.join([_first_line(options), *headers, "", body])


def _check_kind(options: Mapping[str, Any]) -> None:
    if "status" in options and ("target" in options or "method" in options):
        raise OptionFault("status", "a message has either a target or a status")
    status, target, method = options.get("status", 200), options.get("target", "/"), options.get("method", "GET")
    if type(status) is not int or not 100 <= status <= 599:
        raise OptionFault("status", "`status` must be an integer from 100 to 599")
    if not isinstance(target, str) or not TARGET.fullmatch(target):
        raise OptionFault(
            "target", "`target` must consist of visible ASCII characters without spaces", "use `percent_encode`"
        )
    if not isinstance(method, str) or not TOKEN.fullmatch(method):
        raise OptionFault("method", "`method` must be a word such as GET")
    if not isinstance(options.get("reason", ""), str) or not VALUE.fullmatch(options.get("reason", "")):
        raise OptionFault("reason", "`reason` must be text on one line")


def _check_headers(headers: list[tuple[str, Any]]) -> None:
    for name, value in headers:
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            raise OptionFault("headers", f"`{name}` is not a valid header name", "use letters, digits and hyphens")
        if name.lower() == LENGTH and value is not None:
            raise OptionFault("headers", "`Content-Length` is computed automatically", "leave it without a value")
        if name.lower() != LENGTH and (type(value) not in (str, int) or not VALUE.fullmatch(str(value))):
            raise OptionFault("headers", f"the value of `{name}` must be text on one line or an integer")


def _check_whole(options: Mapping[str, Any], body: str) -> None:
    """Check what needs all options. Source: RFC 9112, section 3.2; RFC 9110, section 6.4.1."""
    if "target" not in options and "status" not in options:
        raise OptionFault(None, "a message needs a target or a status", "add one of them")
    names = [name.lower() for name, _ in _headers(options)]
    if names.count("host") != 1 and "target" in options and options.get("version", VERSIONS[0]) == VERSIONS[0]:
        raise OptionFault("headers", "an HTTP/1.1 request needs exactly one `Host` header", "add it")
    if body and not _may_have_body(options):
        raise OptionFault("body", f"a response with status {options['status']} cannot have a body")


def _may_have_body(options: Mapping[str, Any]) -> bool:
    status = options.get("status", 200)
    return status >= 200 and status not in BODILESS


def _with_length(options: Mapping[str, Any], body: str) -> list[tuple[str, Any]]:
    """Return the headers with the length of the body, which is last unless its position is given.

    RFC 9110, section 8.6.
    """
    headers, size = _headers(options), len(body.encode("utf-8", "surrogatepass"))
    names = [name.lower() for name, _ in headers]
    expected = "status" in options or options.get("method", "GET") in METHODS_WITH_BODY or bool(body)
    if LENGTH in names or not expected or not _may_have_body(options) or "transfer-encoding" in names:
        return [(name, size if name.lower() == LENGTH else value) for name, value in headers]
    return [*headers, ("Content-Length", size)]


def _first_line(options: Mapping[str, Any]) -> str:
    version = options.get("version", VERSIONS[0])
    if "status" not in options:
        return f"{options.get('method', 'GET')} {options['target']} {version}"
    status = options["status"]
    return f"{version} {status} {options.get('reason', REASONS.get(status, ''))}"


def _headers(options: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values in order. Raises OptionFault if they are neither a mapping nor a list of pairs."""
    headers = options.get("headers", {})
    pairs = list(headers.items()) if isinstance(headers, Mapping) else headers
    if not isinstance(pairs, list) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise OptionFault("headers", "`headers` must be a mapping or a list of [name, value]")
    return [(name, value) for name, value in pairs]
