"""Domain names."""

from __future__ import annotations

import re
from collections.abc import Hashable
from unicodedata import category, normalize

from dia_language.answers.base import LENIENT, Mode, Unreadable, unfit
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value

DOMAIN, LABEL = 253, 63
LONGEST = 2_000
PREFIX = "xn--"
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)
PORT = re.compile(r":[0-9]{1,5}")


class DomainAnswer(WordAnswer):
    """A domain name, compared without case and without a trailing dot.

    An internationalised label equals its ASCII form (`xn--...`, RFC 3492), but not a label that merely looks the same.
    Lenient also accepts a URL that contains the domain (with scheme, user, port or path), the defanged form
    `example[.]com`, quotes and backticks.
    """

    name = "domain"

    def settle(self, value: Value) -> Value:
        if type(value) is not str:
            raise unfit(self.name, value, "give a domain as text")
        try:
            return self.read(value, "strict")
        except Unreadable as error:
            help = "a domain consists of labels of letters, digits and hyphens, separated by dots"
            raise LanguageError(f"the answer's type is domain, but its value does not fit: {error}", help) from None

    def read(self, text: str, mode: Mode) -> Value:
        text = text.strip()
        if len(text) > LONGEST:
            raise Unreadable("too long")
        if mode in LENIENT:
            text = _host(text.strip("\"'`<> ").replace("[.]", ".").replace("(.)", "."))
        name = normalize("NFC", text).lower().removesuffix(".")
        if not 0 < len(name) <= DOMAIN or not all(map(_is_label, name.split("."))):
            raise Unreadable("not a domain name")
        return name

    def equal(self, reply: Value, truth: Value) -> bool:
        return self.key(reply) == self.key(truth)

    def key(self, value: Value) -> Hashable | None:
        return tuple(map(_script, value.split(".")))

    def describe(self) -> str:
        return "a domain name such as example.com"

    def samples(self) -> list[Value]:
        return ["www.example.com", "example.org", "example.net"]


def _host(text: str) -> str:
    """Return the host in a URL."""
    begin = SCHEME.match(text)
    if not begin:
        return text
    host = re.split(r"[/?#]", text[begin.end() :], maxsplit=1)[0].rpartition("@")[2]
    name, _, port = host.partition(":")
    return name if not port or PORT.fullmatch(f":{port}") else host


def _is_label(label: str) -> bool:
    is_framed = label[:1] == "-" or label[-1:] == "-"
    return 0 < len(label) <= LABEL and not is_framed and all(map(_is_allowed, label))


def _is_allowed(char: str) -> bool:
    return (char.isalnum() or char in "-_") if char.isascii() else category(char)[0] in "LMN"


def _script(label: str) -> str:
    """Return the label in Unicode."""
    if not label.startswith(PREFIX):
        return label
    try:
        return normalize("NFC", label[len(PREFIX) :].encode("ascii").decode("punycode")).lower()
    except (UnicodeError, ValueError, OverflowError):
        return label
