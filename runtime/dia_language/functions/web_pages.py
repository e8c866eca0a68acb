"""Reading HTML pages and HTTP messages, such as those of the asset builders `html` and `http`."""

from __future__ import annotations

import html
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH
from dia_language.numbers.values import Record

# HTML, section 13.1.2: void elements, raw text elements, and escapable raw text elements
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
RAW = frozenset(["script", "style"])
TEXT_ALONE = RAW | {"textarea", "title"}
NAME = re.compile(r"[A-Za-z][^\s/>]*")
ATTRIBUTE = re.compile(r"""[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?""")
# Not with possessive repetition, which is wrong in Python 3.11.0 to 3.11.4 (CPython issue 106052)
TAG_REST = re.compile(
    r"""(?=((?:(?![\s/]*>)[\s/]*[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*))\1[\s/]*>"""
)
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in TEXT_ALONE}


class Piece(NamedTuple):
    """A tag, a comment or a run of text (with its entities) of a page, and where it and the name of the tag end."""

    kind: str
    content: str
    begin: int
    end: int
    end_of_name: int = 0


class Element(NamedTuple):
    """An element of a page: its opening piece, the index of its first inner piece, and the index after the last one."""

    tag: Piece
    first: int
    behind: int


@library_function
def html_elements(page: str, name: str) -> list[Record]:
    """The elements called `name` in an HTML page or fragment, in order: records of attributes, inner and text.

    `attributes` is a record from lowercase attribute name to text (empty if the attribute has no value). `inner` is the
    HTML between the tags of the element. `text` is the visible text, with entities decoded and without scripts and
    styles, unless those are the elements asked for. An element without an end tag extends to the end of its parent.
    Raises an error for an unterminated tag, comment or script. Source: WHATWG, HTML, section 13.

    Examples:
        [field.attributes.value for field in html_elements("<input name='who' value='x &amp; y'>", "input")]
            -> ["x & y"]
        html_elements("<p>Your <b>name</b></p>", "p")[0].text -> "Your name"
    """
    charge(len(page) // 8)
    pieces = _pieces(page)
    elements = _elements(pieces, name.lower())
    spans = _bounded([(element.tag.end, pieces[element.behind - 1].end) for element in elements])
    return [
        Record(attributes=_attributes(page, element.tag), inner=page[begin:end], text=_text_of(element, pieces))
        for element, (begin, end) in zip(elements, spans, strict=True)
    ]


@library_function
def html_comments(page: str) -> list[str]:
    """The comments of an HTML page, in order, without <!-- and -->; text inside scripts does not count.

    Examples:
        html_comments("<p>one<!-- two --></p>") -> [" two "]
    """
    charge(len(page) // 8)
    return [piece.content for piece in _pieces(page) if piece.kind == "comment"]


@library_function
def http_message(message: str) -> Record:
    r"""The parts of an HTTP message: a record of start (the first line), headers (a list of [name, value]) and body.

    Lines before the body end with CRLF or LF. Raises an error for a message without an empty line and for a header
    without a name. Source: RFC 9112, section 2.

    Examples:
        http_message("GET / HTTP/1.1\nHost: example.org\n\nbody")
            -> {start: "GET / HTTP/1.1", headers: [["Host", "example.org"]], body: "body"}
    """
    charge(len(message) // 8)
    end = re.search(r"\r?\n\r?\n", message)
    if end is None:
        raise LanguageError("the text is not an HTTP message", "its headers must be followed by an empty line")
    start, *lines = re.split(r"\r?\n", message[: end.start()])
    headers = [HEADER.fullmatch(line) for line in lines]
    if None in headers:
        raise LanguageError("a line of the message is not a header", "a header is a name, a colon and a value")
    pairs = [[header[1], header[2]] for header in headers if header]
    return Record(start=start, headers=pairs, body=message[end.end() :])


@library_function
def header_of(message: str, name: str) -> str | None:
    r"""The value of the header called `name` in an HTTP message, ignoring case; none if there is no such header.

    If the header occurs several times, the values are joined with ", ". Source: RFC 9110, section 5.3.

    Examples:
        header_of("HTTP/1.1 200 OK\nETag: x\nVary: a\nvary: b\n\n", "VARY") -> "a, b"
    """
    values = [value for header, value in http_message(message)["headers"] if header.lower() == name.lower()]
    return ", ".join(values) if values else None


def _bounded(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if sum(end - begin for begin, end in spans) > TEXT_LENGTH:
        raise LanguageError(f"`html_elements` would give more than {TEXT_LENGTH:,} characters", code="E502")
    return spans


def _elements(pieces: list[Piece], name: str) -> list[Element]:
    """The elements with this name, in the order of their opening tags."""
    begin_tags = [place for place, piece in enumerate(pieces) if piece.content == name and piece.kind == "begin"]
    if not begin_tags or name in VOID:
        return [Element(pieces[place], place + 1, place + 1) for place in begin_tags]
    ends: dict[int, int] = {}
    is_open: list[int] = []
    names: Counter[str] = Counter()
    for place, (kind, name_of_piece, _, _, _) in enumerate(pieces):
        if kind == "begin" and name_of_piece not in VOID:
            is_open.append(place)
            names[name_of_piece] += 1
        elif kind == "end" and names[name_of_piece]:
            _close(pieces, place, is_open, names, ends)
    ends.update(dict.fromkeys(is_open, len(pieces)))
    return [Element(pieces[place], place + 1, ends[place]) for place in begin_tags]


def _close(pieces: list[Piece], place: int, is_open: list[int], names: Counter[str], ends: dict[int, int]) -> None:
    """Close the last open element with the end tag's name, and those inside it."""
    name = ""
    while name != pieces[place].content:
        begin_tag = is_open.pop()
        name = pieces[begin_tag].content
        names[name] -= 1
        ends[begin_tag] = place


def _text_of(element: Element, pieces: list[Piece]) -> str:
    inner = pieces[element.first : element.behind]
    if element.tag.content in RAW:
        return "".join([piece.content for piece in inner])
    return "".join([html.unescape(piece.content) for piece in inner if piece.kind == "text"])


@lru_cache(maxsize=2)
def _pieces(page: str) -> list[Piece]:
    """The pieces of the page, in order; must not be modified. An answer, its checks and mistakes read the same page."""
    pieces: list[Piece] = []
    at = 0
    while (sign := page.find("<", at)) >= 0:
        if sign > at:
            pieces.append(_text(page, at, sign))
        piece = _markup(page, sign)
        pieces.append(piece)
        at = piece.end
        if piece.kind == "begin" and piece.content in TEXT_ALONE:
            piece = _until_end_of(piece, page)
            pieces.append(piece)
            at = piece.end
    pieces.append(_text(page, at, len(page)))
    return pieces


def _markup(page: str, at: int) -> Piece:
    """The tag or comment that starts at the `<`; if there is none, the `<` as text."""
    if page.startswith("<!--", at):
        end = _end_of(page, "-->", at + 4)
        return Piece("comment", page[at + 4 : end], at, end + 3)
    if page.startswith(("<!", "<?"), at):
        return Piece("declaration", "", at, _end_of(page, ">", at) + 1)
    is_end = page.startswith("</", at)
    name = NAME.match(page, at + 1 + is_end)
    if name is None:
        return Piece("text", "<", at, at + 1)
    rest = TAG_REST.match(page, name.end())
    if rest is None:
        raise LanguageError("a tag of the page is not closed or has a malformed attribute")
    return Piece("end" if is_end else "begin", name[0].lower(), at, rest.end(), name.end())


def _attributes(page: str, tag: Piece) -> Record:
    """The attributes of a tag, the first of each name."""
    attributes = Record()
    for match in ATTRIBUTE.finditer(page, tag.end_of_name, tag.end - 1):
        value = next((part for part in match.groups()[1:] if part is not None), "")
        attributes.setdefault(match[1].lower(), html.unescape(value))
    return attributes


def _until_end_of(tag: Piece, page: str) -> Piece:
    """The text of a script, style or similar element, up to its end tag."""
    end = RAW_ENDS[tag.content].search(page, tag.end)
    if end is None:
        raise LanguageError(f"an element `{tag.content}` of the page is not closed")
    if tag.content in RAW:
        return Piece("raw", page[tag.end : end.start()], tag.end, end.start())
    return _text(page, tag.end, end.start())


def _text(page: str, begin: int, end: int) -> Piece:
    return Piece("text", page[begin:end], begin, end)


def _end_of(page: str, sign: str, at: int) -> int:
    place = page.find(sign, at)
    if place < 0:
        raise LanguageError("a comment or declaration of the page is not closed")
    return place
