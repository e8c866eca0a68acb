"""Parameter types of people: name, username, email."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dia_language.numbers.values import Record, Value

from dia_compiler.types.base import (
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    flag,
    flag_option,
    integer_option,
    option,
    written,
)
from dia_compiler.types.host_names import RESERVED, host_names_option
from dia_compiler.types.plain_options import one_of_option, some_of_option
from dia_compiler.types.word_lists import word_list, word_set

FORMS: dict[str, tuple[str, str, str, str, str]] = {
    "female": ("she", "her", "her", "hers", "herself"),
    "male": ("he", "him", "his", "his", "himself"),
    "neutral": ("they", "them", "their", "theirs", "themselves"),
}
CASES = ("they", "them", "their", "theirs", "themselves")


class Names(Enumerable):
    """First names of the given genders, with or without a family name, as texts or as records with pronouns."""

    __slots__ = ("genders", "has_pronouns", "is_full", "people")

    def __init__(self, genders: Sequence[str], has_pronouns: bool, is_full: bool) -> None:
        self.genders, self.has_pronouns, self.is_full = genders, has_pronouns, is_full
        self.people = [(gender, first) for gender in genders for first in word_list(f"first_names_{gender}")]

    @property
    def count(self) -> int:
        return len(self.people) * (len(word_list("last_names")) if self.is_full else 1)

    def at(self, index: int) -> Value:
        last = None
        if self.is_full:
            index, place = divmod(index, len(word_list("last_names")))
            last = word_list("last_names")[place]
        gender, first = self.people[index]
        return self._record(gender, first, last) if self.has_pronouns else _full_name(first, last)

    def _record(self, gender: str, first: str, last: str | None) -> Record:
        record = Record(name=_full_name(first, last), first=first, last=last, gender=gender)
        record.update(zip(CASES, FORMS[gender], strict=True))
        record["plural"] = gender == "neutral"
        return record

    def contains(self, value: Value) -> bool:
        if self.has_pronouns != isinstance(value, Mapping):
            return False
        full_name = value.get("name") if isinstance(value, Mapping) else value
        parts = full_name.split(" ") if isinstance(full_name, str) else []
        if len(parts) != 1 + self.is_full or not word_set("last_names").issuperset(parts[1:]):
            return False
        last = parts[1] if self.is_full else None
        genders = [gender for gender in self.genders if parts[0] in word_set(f"first_names_{gender}")]
        if not self.has_pronouns:
            return bool(genders)
        return any(dict(value) == self._record(gender, parts[0], last) for gender in genders)

    def refusal(self, value: Value) -> str:
        if self.has_pronouns != isinstance(value, Mapping):
            return "it must be a record of name and pronouns" if self.has_pronouns else "it must be the name as text"
        name = value.get("name") if isinstance(value, Mapping) else value
        first = name.split(" ")[0] if isinstance(name, str) else ""
        lists = [f"first_names_{gender}" for gender in self.genders]
        if any(first in word_set(words) for words in lists):
            return "its other name, or one of its fields, is not one that dia draws with this first name"
        return f"dia does not draw the name {written(name)}; `dia types {' '.join(lists)}` prints those that it draws"


def _full_name(first: str, last: str | None) -> str:
    return first if last is None else f"{first} {last}"


class NameType(ParameterType):
    summary = "a person's name, or a record of name and pronouns"
    word_lists = frozenset({"first_names_female", "first_names_male", "first_names_neutral", "last_names"})
    options = {
        "gender": option(
            "data", "female, male or neutral, or a list of them (default all three)", values=tuple(FORMS), is_list=True
        ),
        "full": flag("first name and family name"),
        "pronouns": flag("a record of name, first, last, gender, they, them, their, theirs, themselves and plural"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        genders = some_of_option(options, "gender", list(FORMS))
        return Names(genders, flag_option(options, "pronouns"), flag_option(options, "full"))


STYLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "person": (".", ("first_names_female", "first_names_male", "first_names_neutral"), ("last_names",)),
    "handle": ("_", ("adjectives",), ("animals",)),
}
USERNAME = re.compile(r"([a-z]+)([._])([a-z]+)([0-9]*)")


class Usernames(Domain):
    """Account names in one of the given styles: two words, a separator, and digits."""

    __slots__ = ("digits", "styles")

    def __init__(self, styles: Sequence[str], digits: int) -> None:
        self.styles, self.digits = styles, digits

    def size(self, style: str) -> int:
        """Return the number of names of a style."""
        _, first, second = STYLES[style]
        return len(_lowered(first)) * len(_lowered(second)) * int(10**self.digits)

    @property
    def count(self) -> int:
        return sum(map(self.size, self.styles))

    def draw(self, choose: Choose) -> Value:
        style = self.styles[choose.between(0, len(self.styles) - 1)]
        return self.name_at(style, choose.below(self.size(style)))

    def name_at(self, style: str, index: int) -> str:
        """Return the name with this style and number."""
        mark, *lists = STYLES[style]
        first, second = map(_lowered, lists)
        index, number = divmod(index, int(10**self.digits))
        one, two = divmod(index, len(second))
        return f"{first[one]}{mark}{second[two]}" + (f"{number:0{self.digits}}" if self.digits else "")

    def contains(self, value: Value) -> bool:
        match = USERNAME.fullmatch(value) if isinstance(value, str) else None
        if match is None or len(match[4]) != self.digits:
            return False
        style = next((style for style in self.styles if STYLES[style][0] == match[2]), None)
        if style is None:
            return False
        _, first, second = STYLES[style]
        return match[1] in _lowered(first) and match[3] in _lowered(second)

    def boundary(self) -> list[Value]:
        return [self.name_at(style, index) for style in self.styles for index in (0, self.size(style) - 1)]


@cache
def _lowered(lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.lower() for name in lists for word in word_list(name))


def usernames_option(options: Mapping[str, Any], default: str) -> Usernames:
    """Return the account names for the options style and digits. Raises OptionFault."""
    style = one_of_option(options, "style", [*STYLES, "any"], default)
    digits = integer_option(options, "digits", 2)
    if not 0 <= digits <= 12:
        raise OptionFault("digits", "`digits` must be between 0 and 12")
    return Usernames(list(STYLES) if style == "any" else [style], digits)


class UsernameType(ParameterType):
    summary = "an account name, such as quiet_otter42 or ada.smith07"
    word_lists = frozenset(name for _, *parts in STYLES.values() for lists in parts for name in lists)
    options = {
        "style": option(
            "data",
            "handle (quiet_otter42), person (ada.smith07) or any (default any)",
            values=(*STYLES, "any"),
            default="any",
        ),
        "digits": option("data", "number of digits after the words, 0 to 12 (default 2)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return usernames_option(options, "any")


class Emails(Domain):
    """Email addresses: an account name at one of the domains."""

    __slots__ = ("hosts", "users")

    def __init__(self, users: Usernames, hosts: Sequence[str]) -> None:
        self.users, self.hosts = users, hosts

    def draw(self, choose: Choose) -> Value:
        user = self.users.draw(choose)
        return f"{user}@{self.hosts[choose.between(0, len(self.hosts) - 1)]}"

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str):
            return False
        user, _, host = value.partition("@")
        return host in self.hosts and self.users.contains(user)

    @property
    def count(self) -> int:
        return self.users.count * len(self.hosts)

    def boundary(self) -> list[Value]:
        hosts = list(dict.fromkeys((self.hosts[0], self.hosts[-1])))
        return [f"{user}@{host}" for user in self.users.boundary() for host in hosts]


class EmailType(ParameterType):
    summary = "an email address, such as ada.smith07@example.org"
    word_lists = UsernameType.word_lists
    options = {
        "domain": option("data", f"the domain, or a list of domains (default {', '.join(RESERVED)})"),
        "style": option(
            "data",
            "the part before the @: person (ada.smith07), handle (quiet_otter42) or any (default person)",
            values=(*STYLES, "any"),
            default="person",
        ),
        "digits": option("data", "number of digits before the @, 0 to 12 (default 2)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        hosts = host_names_option(options, "domain") or list(RESERVED)
        return Emails(usernames_option(options, "person"), hosts)
