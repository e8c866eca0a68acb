"""Pages and messages that are built, against parsers of Python's standard library and known digests."""

from __future__ import annotations

import hashlib
import http.client
import io
from email.message import Message
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_language.functions import library

PAGE: dict[str, Any] = {
    "title": "Fish & <Chips>",
    "body": '<h1>Menu</h1>\n<form id="f"><input name="q" value="1"></form>\n',
    "meta": {"author": 'A "B" C', "version": 3},
    "styles": "h1 > b { color: red; }\n",
    "scripts": ["const a = 1 < 2;", 'document.title = "x & y";'],
}
REQUEST: dict[str, Any] = {
    "method": "POST",
    "target": "/login?next=%2Fhome",
    "headers": {"Host": "example.org", "Content-Type": "text/plain; charset=utf-8"},
    "body": "name=Zoë\n",
}
RESPONSE: dict[str, Any] = {
    "status": 200,
    "headers": [["Set-Cookie", "a=1"], ["Content-Length", None], ["Set-Cookie", "b=2"]],
    "body": "<p>Hello</p>",
}


def built(name: str, options: dict[str, Any]) -> str:
    def entropy(count: int) -> bytes:
        raise AssertionError("these builders draw nothing")

    builder = BUILDERS[name]
    builder.validate(options)
    made = builder.build(options, Site(entropy, Path("nowhere")))
    assert isinstance(made, str)
    return made


class Outline(HTMLParser):
    """Tags and texts of a page in their order; fails where tags are not closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.held: list[Any] = []

    def handle_decl(self, decl: str) -> None:
        self.held.append(decl)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.held.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.held.append(data.strip())


def test_a_page_is_whole_and_holds_what_it_was_given() -> None:
    outline = Outline()
    outline.feed(built("html", PAGE))
    outline.close()
    assert outline.open == []
    assert outline.held == [
        "DOCTYPE html", ("html", {"lang": "en"}), ("head", {}), ("meta", {"charset": "utf-8"}),
        ("meta", {"name": "author", "content": 'A "B" C'}), ("meta", {"name": "version", "content": "3"}),
        ("title", {}), "Fish & <Chips>", ("style", {}), "h1 > b { color: red; }",
        ("body", {}), ("h1", {}), "Menu", ("form", {"id": "f"}), ("input", {"name": "q", "value": "1"}),
        ("script", {}), "const a = 1 < 2;", ("script", {}), 'document.title = "x & y";',
    ]  # fmt: skip


def test_a_page_can_be_read_back_with_the_library() -> None:
    read = library()["html_elements"].call
    page = built("html", PAGE)
    assert [found["text"] for found in read(page, "title")] == ["Fish & <Chips>"]
    assert [found["text"].strip("\n") for found in read(page, "script")] == PAGE["scripts"]
    assert built("html", {"title": 1, "body": "", "language": "pt-BR"}) == (
        '<!DOCTYPE html>\n<html lang="pt-BR">\n<head>\n<meta charset="utf-8">\n<title>1</title>\n</head>\n<body>\n\n</body>\n</html>'
    )


@pytest.mark.parametrize(
    ("name", "change", "option"),
    [
        ("html", {"title": " "}, "title"),
        ("html", {"title": None}, "title"),
        ("html", {"body": 3}, "body"),
        ("html", {"body": "<p></p></BODY >"}, "body"),
        ("html", {"body": "<html lang='en'>"}, "body"),
        ("html", {"language": 'en" x="'}, "language"),
        ("html", {"meta": ["a"]}, "meta"),
        ("html", {"meta": {"a": None}}, "meta"),
        ("html", {"styles": "</STYLE>"}, "styles"),
        ("html", {"scripts": 'write("</script>")'}, "scripts"),
        ("html", {"scripts": ["<!-- x"]}, "scripts"),
        ("html", {"scripts": [1]}, "scripts"),
        ("http", {"status": 200}, "status"),
        ("http", {"target": "/a b"}, "target"),
        ("http", {"target": "/a\r\nX: y"}, "target"),
        ("http", {"method": "GET /"}, "method"),
        ("http", {"version": "HTTP/2"}, "version"),
        ("http", {"line_ends": "cr"}, "line_ends"),
        ("http", {"body": ["x"]}, "body"),
        ("http", {"headers": {"Host": "a\r\nb: c"}}, "headers"),
        ("http", {"headers": {"Host": " a"}}, "headers"),
        ("http", {"headers": {"Host:": "a"}}, "headers"),
        ("http", {"headers": {"Host": "a", "content-length": 3}}, "headers"),
        ("http", {"headers": {"Host": True}}, "headers"),
        ("http", {"headers": {"Accept": "a"}}, "headers"),
        ("http", {"headers": [["Host", "a", "b"]]}, "headers"),
        ("http", {"headers": [["Host", "a"], ["host", "b"]]}, "headers"),
        ("http", {"headers": "Host: a"}, "headers"),
    ],
)
def test_what_makes_no_artefact_is_refused(name: str, change: dict[str, Any], option: str) -> None:
    with pytest.raises(OptionFault) as fault:
        built(name, {**(PAGE if name == "html" else REQUEST), **change})
    assert fault.value.option == option
    assert fault.value.message


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"headers": {}},
        {"status": 204, "body": "x"},
        {"status": 99},
        {"status": "200"},
        {"status": 200, "reason": "a\nb"},
    ],
)
def test_messages_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionFault):
        built("http", options)


@pytest.mark.parametrize("name", ["html", "http"])
def test_no_options_are_fit_to_begin_with(name: str) -> None:
    BUILDERS[name].validate({})


class Socket(io.BytesIO):
    """What http.client reads a response from."""

    def makefile(self, mode: str) -> io.BytesIO:
        return self


class Handler(BaseHTTPRequestHandler):
    """What a server of Python's library makes of a request."""

    def __init__(self, message: bytes) -> None:
        self.rfile = io.BytesIO(message)
        self.raw_requestline = self.rfile.readline()
        self.fault = None if self.parse_request() else "refused"

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        raise AssertionError(f"{code} {message}")


@pytest.mark.parametrize("line_ends", ["crlf", "lf"])
def test_a_server_reads_the_request(line_ends: str) -> None:
    message = built("http", {**REQUEST, "line_ends": line_ends}).encode()
    handler = Handler(message)
    headers: Message = handler.headers
    assert (handler.command, handler.path, handler.request_version) == ("POST", "/login?next=%2Fhome", "HTTP/1.1")
    assert list(headers.items()) == [*REQUEST["headers"].items(), ("Content-Length", "10")]
    assert handler.rfile.read() == "name=Zoë\n".encode()


@pytest.mark.parametrize("line_ends", ["crlf", "lf"])
def test_a_client_reads_the_response(line_ends: str) -> None:
    message = built("http", {**RESPONSE, "line_ends": line_ends}).encode()
    response = http.client.HTTPResponse(Socket(message))  # type: ignore[arg-type]
    response.begin()
    assert (response.status, response.reason, response.version) == (200, "OK", 11)
    assert response.getheaders() == [("Set-Cookie", "a=1"), ("Content-Length", "12"), ("Set-Cookie", "b=2")]
    assert response.read() == b"<p>Hello</p>"


def test_phrases_are_those_of_the_standard() -> None:
    from dia_compiler.assets.http import REASONS

    renamed = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content"}  # by RFC 9110
    assert {status: http.HTTPStatus(status).phrase for status in REASONS} | renamed == REASONS


def test_the_length_is_told_where_it_means_something() -> None:
    host = {"headers": {"Host": "a"}}
    assert "Content-Length" not in built("http", {"target": "/", **host})
    assert "Content-Length: 0\r\n" in built("http", {"target": "/", "method": "PUT", **host})
    assert "Content-Length" not in built("http", {"status": 304})
    assert "Content-Length" not in built(
        "http", {"status": 200, "headers": {"Transfer-Encoding": "chunked"}, "body": "0\r\n\r\n"}
    )
    assert built("http", {"target": "/", "version": "HTTP/1.0"}) == "GET / HTTP/1.0\r\n\r\n"
    assert built("http", {"status": 299}) == "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n"


# The bytes of version 1: another digest is another revision of the builder.
GOLDEN = [
    ("html", PAGE, "ab64c99d9834974af91367c1996bf0e2ff0941dd0d36b64f435635bef0a3e163"),
    ("http", REQUEST, "949f92be3bd2e1e83f3c73e703d7e5dbedf471ac4378d4ccd3c4a8169c4aa217"),
    ("http", RESPONSE, "9434f067210e6adb0c0ba72ec13c4e512aeba1ef9eb8ed0b4d1042ed3e9e5834"),
]


@pytest.mark.parametrize(("name", "options", "digest"), GOLDEN)
def test_the_same_options_give_the_same_bytes(name: str, options: dict[str, Any], digest: str) -> None:
    assert BUILDERS[name].revision == 1
    assert hashlib.sha256(built(name, options).encode()).hexdigest() == digest
