"""Text formats of the web: URLs, query strings, HTML entities, internationalised domain names, HTTP dates."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

from dia_language.budgets import charge, require_characters
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.encoding import percent_decode, percent_encode, utf8
from dia_language.functions.registry import library_function
from dia_language.functions.text import str_
from dia_language.numbers.values import Record

URL = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
AUTHORITY = re.compile(r"(?:([^@]*)@)?(\[[^\[\]]*\]|[^:@\[\]]*)(?::([0-9]{0,5}))?")
LABEL = 59
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@library_function
def parse_url(url: str) -> Record:
    """The parts of a URL: a record of scheme, user, host, port, path, query and fragment.

    The parts are not decoded and do not include their delimiters. A missing part is an empty text; a missing port is
    none. Raises an error for spaces and for a malformed host or port. Source: RFC 3986, appendix B.

    Examples:
        parse_url("https://ann@example.org:8443/a/b?c=1#top").host -> "example.org"
        parse_url("https://ann@example.org:8443/a/b?c=1#top").port -> 8443
    """
    charge(len(url) // 8)
    match = URL.fullmatch(url)
    authority = AUTHORITY.fullmatch((match and match[2]) or "")
    if match is None or authority is None or (url and url.split() != [url]) or int(authority[3] or 0) > 65535:
        raise LanguageError("the text is not a URL")
    scheme, _, path, query, fragment = (part or "" for part in match.groups())
    port = int(authority[3]) if authority[3] else None
    user, host = authority[1] or "", authority[2]
    return Record(scheme=scheme, user=user, host=host, port=port, path=path, query=query, fragment=fragment)


@library_function
def query_string(pairs: list[list[Value]]) -> str:
    """The query string for a list of [name, value], percent-encoded and joined with = and &.

    Examples:
        query_string([["q", "a b"], ["page", 2]]) -> "q=a%20b&page=2"
    """
    if not all(len(pair) == 2 for pair in pairs):
        raise LanguageError("`query_string` takes a list of [name, value]")
    charge(len(pairs))
    query = "&".join(f"{percent_encode(str_(name))}={percent_encode(str_(value))}" for name, value in pairs)
    require_characters("query_string", len(query))
    return query


@library_function
def parse_query(query: str) -> list[list[str]]:
    """The names and values of a query string as a list of [name, value], decoded; + is decoded to a space.

    A name without = has an empty value. Empty parts between two & are skipped. Source: WHATWG, URL, section 5.1.

    Examples:
        parse_query("q=a%20b&page=2&open") -> [["q", "a b"], ["page", "2"], ["open", ""]]
    """
    charge(len(query) // 8)
    pairs = [part.partition("=") for part in query.replace("+", " ").split("&") if part]
    return [[percent_decode(name), percent_decode(value)] for name, _, value in pairs]


@library_function
def html_escape(text: str) -> str:
    """`text` with &, <, > and both kinds of quotes written as HTML entities.

    Examples:
        html_escape("a < 'b'") -> "a &lt; &#39;b&#39;"
    """
    charge(len(text) // 8)
    escaped = text.translate(ENTITIES)
    require_characters("html_escape", len(escaped))
    return escaped


@library_function
def html_unescape(text: str) -> str:
    """`text` with named and numeric HTML entities replaced by their characters.

    Anything that is not an entity does not change. Source: WHATWG, HTML, section 13.5.

    Examples:
        html_unescape("a &lt; &#39;b&#x27; &eacute;") -> "a < 'b' é"
    """
    charge(len(text) // 8)
    return html.unescape(text)


@library_function
def to_punycode(domain: str) -> str:
    """The domain with each non-ASCII label written in Punycode, with the prefix xn--.

    Labels must be in lowercase and in Unicode normalization form NFC. At most 59 characters per label and 253 in total.
    Source: RFC 3492.

    Examples:
        to_punycode("bücher.example") -> "xn--bcher-kva.example"
    """
    labels = _short(domain).lower().split(".")
    return ".".join(label if label.isascii() else f"xn--{_puny(label)}" for label in labels)


@library_function
def from_punycode(domain: str) -> str:
    """The domain in Unicode, with Punycode labels decoded.

    Raises an error if a label starts with xn-- but is not valid Punycode.

    Examples:
        from_punycode("xn--bcher-kva.example") -> "bücher.example"
    """
    return ".".join(_unpuny(label) if label.startswith("xn--") else label for label in _short(domain).split("."))


@library_function
def http_date(timestamp: str) -> str:
    """The UTC timestamp, such as 2026-01-31T12:00:00Z, in the format of HTTP headers.

    Source: RFC 9110, section 5.6.7 (IMF-fixdate).

    Examples:
        http_date("1994-11-06T08:49:37Z") -> "Sun, 06 Nov 1994 08:49:37 GMT"
    """
    at = _moment(timestamp)
    clock = f"{at.hour:02d}:{at.minute:02d}:{at.second:02d}"
    return f"{DAYS[at.weekday()]}, {at.day:02d} {MONTHS[at.month - 1]} {at.year:04d} {clock} GMT"


def _moment(timestamp: str) -> datetime:
    try:
        return datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise LanguageError("the text is not a timestamp", "write it as 2026-01-31T12:00:00Z") from None


def _short(domain: str) -> str:
    labels = domain.split(".")
    if len(domain) > 253 or any(len(label) > LABEL + 4 or not label for label in labels):
        raise LanguageError("a domain can have at most 253 characters, in labels of 1 to 63")
    utf8(domain)
    return domain


def _puny(label: str) -> str:
    return label.encode("punycode").decode("ascii")


def _unpuny(label: str) -> str:
    try:
        decoded = label[4:].encode("ascii").decode("punycode")
        if not decoded.isascii() and _puny(decoded) == label[4:]:
            return decoded
    except (UnicodeError, ValueError, OverflowError):
        pass
    raise LanguageError("a label starts with xn-- but is not Punycode")
