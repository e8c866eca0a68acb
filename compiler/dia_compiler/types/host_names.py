"""Parameter types of network names: domain, url."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dia_language.numbers.values import Value

from dia_compiler.types.base import Choose, Domain, OptionFault, ParameterType, option
from dia_compiler.types.lists import SortedLists
from dia_compiler.types.plain_options import amount_option, some_of_option, texts_option
from dia_compiler.types.texts import Items
from dia_compiler.types.word_lists import word_list, word_set

# Reserved names (RFC 2606, section 3)
RESERVED = ("example.com", "example.net", "example.org")
HOST_NAME = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*", re.ASCII
)
MOST_LABELS = 4
MOST_SUFFIX = 120
MOST_SEGMENTS = 20


def host_names_option(options: Mapping[str, Any], name: str) -> list[str] | None:
    """Return the option as a list of different domains, from a text or a list; None if it is absent."""
    hosts = texts_option(options, name)
    for host in hosts or ():
        if len(host) > MOST_SUFFIX or not HOST_NAME.fullmatch(host):
            help = f"use lowercase letters, digits and - in parts separated by dots, at most {MOST_SUFFIX:,} characters"
            raise OptionFault(name, f"`{host[:40]}` is not a domain", help)
    return hosts


@cache
def _single_labels() -> tuple[str, ...]:
    return tuple(sorted({*word_list("things"), *word_list("animals")}))


def label_count() -> int:
    """Return the number of different labels."""
    return len(_single_labels()) + len(word_list("adjectives")) * len(word_list("animals"))


def label_at(index: int) -> str:
    """Return the label with this number: a thing or an animal first, then an adjective and an animal."""
    if index < len(_single_labels()):
        return _single_labels()[index]
    first, second = divmod(index - len(_single_labels()), len(word_list("animals")))
    return f"{word_list('adjectives')[first]}-{word_list('animals')[second]}"


class HostNames(Domain):
    """A number of drawn labels followed by one of the suffixes."""

    __slots__ = ("high", "low", "suffixes")

    def __init__(self, suffixes: Sequence[str], low: int, high: int) -> None:
        self.suffixes, self.low, self.high = suffixes, low, high

    def draw(self, choose: Choose) -> Value:
        size = choose.between(self.low, self.high)
        labels = [label_at(choose.below(label_count())) for _ in range(size)]
        return ".".join([*labels, self.suffixes[choose.between(0, len(self.suffixes) - 1)]])

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str):
            return False
        suffix = next((suffix for suffix in self.suffixes if value.endswith(f".{suffix}")), None)
        if suffix is None:
            return False
        parts = value[: -len(suffix) - 1].split(".")
        return self.low <= len(parts) <= self.high and all(map(_is_label, parts))

    @property
    def count(self) -> int:
        size = len(self.suffixes)
        return size * int(sum(label_count() ** number for number in range(self.low, self.high + 1)))

    def boundary(self) -> list[Value]:
        first, last = label_at(0), label_at(label_count() - 1)
        ends = ((first, self.low, self.suffixes[0]), (last, self.high, self.suffixes[-1]))
        return [".".join([label] * number + [suffix]) for label, number, suffix in ends]


def _is_label(text: str) -> bool:
    first, dash, second = text.partition("-")
    if not dash:
        return text in word_set("things") or text in word_set("animals")
    return first in word_set("adjectives") and second in word_set("animals")


def host_names(options: Mapping[str, Any]) -> HostNames:
    """Return the domains for the options suffix and labels. Raises OptionFault."""
    if options.get("suffix") == "any":
        suffixes: list[str] | None = list(word_list("top_level_domains"))
    else:
        suffixes = host_names_option(options, "suffix")
    suffixes = suffixes or list(RESERVED)
    suffix_set = set(suffixes)
    for suffix in suffixes:
        parts = suffix.split(".")
        under = next((end for cut in range(1, len(parts)) if (end := ".".join(parts[cut:])) in suffix_set), None)
        if under is not None:
            message = (
                f"`{suffix}` ends in another suffix of the list, `{under}`, so the same domain could be drawn in "
                "two ways"
            )
            raise OptionFault("suffix", message, "remove one of them")
    return HostNames(suffixes, *amount_option(options, "labels", (1, 1), 1, MOST_LABELS))


# The words that hosts and paths are made from
HOST_LISTS = frozenset({"adjectives", "animals", "things", "top_level_domains"})
SUFFIX = option(
    "data",
    "what follows the drawn labels: a suffix (com), a list of suffixes ([co.uk, org]), or `any` for a random top-level "
    f"domain (default {', '.join(RESERVED)})",
)
LABELS = option("data", "number of drawn labels before the suffix, 1 to 4, or {min, max} (default 1)")


class DomainType(ParameterType):
    summary = "a domain name, such as quiet-otter.example.org"
    word_lists = HOST_LISTS
    options = {"suffix": SUFFIX, "labels": LABELS}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return host_names(options)


KEYS = (
    "action", "author", "category", "code", "color", "date", "filter", "format", "from", "group", "id", "item", "lang",
    "limit", "mode", "offset", "order", "page", "q", "ref", "size", "sort", "source", "tab", "tag", "theme", "to",
    "token", "type", "view",
)  # fmt: skip
NUMBERS = 1_000
SCHEMES = ("ftp", "http", "https", "ws", "wss")
PARTS = re.compile(r"([a-z]+)://([a-z0-9.-]+)(/[a-z/]*)(?:\?([a-z0-9=&]+))?")


class Urls(Domain):
    """URLs: a scheme, a domain, path segments, and query parameters sorted by key."""

    __slots__ = ("hosts", "path", "query", "schemes")

    def __init__(self, schemes: Sequence[str], hosts: HostNames, path: tuple[int, int], query: tuple[int, int]) -> None:
        self.schemes, self.hosts, self.path, self.query = schemes, hosts, path, query

    def draw(self, choose: Choose) -> Value:
        scheme = self.schemes[choose.between(0, len(self.schemes) - 1)]
        host = self.hosts.draw(choose)
        words = word_list("things")
        segments = [words[choose.below(len(words))] for _ in range(choose.between(*self.path))]
        keys = _keys(choose.between(*self.query)).draw(choose)
        pairs = [f"{key}={_value_at(choose.below(_value_count()))}" for key in keys]
        return _written(scheme, host, segments, pairs)

    def contains(self, value: Value) -> bool:
        match = PARTS.fullmatch(value) if isinstance(value, str) else None
        if match is None or match[1] not in self.schemes or not self.hosts.contains(match[2]):
            return False
        segments = match[3][1:].split("/") if match[3] != "/" else []
        pairs = [pair.partition("=") for pair in match[4].split("&")] if match[4] else []
        return (
            self.path[0] <= len(segments) <= self.path[1]
            and word_set("things").issuperset(segments)
            and self.query[0] <= len(pairs) <= self.query[1]
            and _keys(len(pairs)).contains([key for key, _, _ in pairs])
            and all(_is_value(text) for _, _, text in pairs)
        )

    @property
    def count(self) -> int:
        paths = sum(len(word_list("things")) ** size for size in range(self.path[0], self.path[1] + 1))
        sizes = range(self.query[0], self.query[1] + 1)
        queries = sum(_keys(size).count * _value_count() ** size for size in sizes)
        return len(self.schemes) * self.hosts.count * int(paths) * int(queries)

    def boundary(self) -> list[Value]:
        hosts = self.hosts.boundary()
        urls: list[Value] = []
        for place, pick in ((0, min), (-1, max)):
            word = pick(word_list("things"), key=len)
            pairs = [f"{key}={_value_at(0)}" for key in KEYS[: self.query[place]]]
            urls.append(_written(self.schemes[place], hosts[place], [word] * self.path[place], pairs))
        return urls


@cache
def _keys(size: int) -> SortedLists:
    return SortedLists(Items(list(KEYS), None), size, True)


def _value_count() -> int:
    return NUMBERS + len(word_list("things"))


def _value_at(index: int) -> str:
    """Return a number below 1,000, or a thing."""
    return str(index) if index < NUMBERS else word_list("things")[index - NUMBERS]


def _is_value(text: str) -> bool:
    return text in word_set("things") or (text.isdigit() and str(int(text)) == text and int(text) < NUMBERS)


def _written(scheme: str, host: str, segments: Sequence[str], pairs: Sequence[str]) -> str:
    query = f"?{'&'.join(pairs)}" if pairs else ""
    return f"{scheme}://{host}/{'/'.join(segments)}{query}"


class UrlType(ParameterType):
    summary = "a URL, such as https://lantern.example.org/kite/canoe?page=7"
    word_lists = HOST_LISTS
    options = {
        "scheme": option(
            "data",
            "https, http, ftp, ws or wss, or a list of them (default https)",
            values=SCHEMES,
            default="https",
            is_list=True,
        ),
        "suffix": SUFFIX,
        "labels": LABELS,
        "path": option("data", "number of path segments, 0 to 20, or {min, max} (default 1 to 3)"),
        "query": option("data", f"number of query parameters, 0 to {len(KEYS)}, or {{min, max}} (default 0)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        schemes = some_of_option({"scheme": "https", **options}, "scheme", SCHEMES)
        path = amount_option(options, "path", (1, 3), 0, MOST_SEGMENTS)
        query = amount_option(options, "query", (0, 0), 0, len(KEYS))
        return Urls(schemes, host_names(options), path, query)
