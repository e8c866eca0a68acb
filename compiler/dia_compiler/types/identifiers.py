"""Parameter types of identifiers: uuid, user_agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dia_language.numbers.values import Value

from dia_compiler.types.base import Choose, Domain, Enumerable, OptionFault, ParameterType, option
from dia_compiler.types.plain_options import one_of_option, some_of_option
from dia_compiler.types.times import moments_option, second_of

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
UNIX_EPOCH = 62_135_596_800  # seconds from 0001-01-01 to 1970-01-01
SPAN = ("2020-01-01T00:00:00Z", "2029-12-31T23:59:59Z")
RANDOM_BITS = {4: 122, 7: 74}


class Uuids(Enumerable):
    """Identifiers of version 4 or 7 (RFC 9562), ascending; `low` is the first millisecond of version 7."""

    __slots__ = ("count_", "low", "version")

    def __init__(self, version: int, low: int, milliseconds: int) -> None:
        self.version, self.low = version, low
        self.count_ = milliseconds << RANDOM_BITS[version]

    @property
    def count(self) -> int:
        return self.count_

    def at(self, index: int) -> Value:
        bits = index + (self.low << RANDOM_BITS[self.version])
        before, middle, after = bits >> 74, bits >> 62 & 0xFFF, bits & (1 << 62) - 1
        text = f"{before << 80 | self.version << 76 | middle << 64 | 0b10 << 62 | after:032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def contains(self, value: Value) -> bool:
        if not isinstance(value, str) or not UUID.fullmatch(value):
            return False
        number = int(value.replace("-", ""), 16)
        if number >> 76 & 0xF != self.version or number >> 62 & 0b11 != 0b10:
            return False
        bits = number >> 80 << 74 | (number >> 64 & 0xFFF) << 62 | number & (1 << 62) - 1
        return 0 <= bits - (self.low << RANDOM_BITS[self.version]) < self.count_


class UuidType(ParameterType):
    summary = "a universally unique identifier (UUID)"
    options = {
        "version": option("data", "4 (random, the default) or 7 (a time and random bits)", values=(4, 7), default=4),
        "min": option("data", f"earliest time for version 7 (default {SPAN[0]})"),
        "max": option("data", f"latest time for version 7 (default {SPAN[1]})"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        if one_of_option(options, "version", (4, 7), 4) == 4:
            misplaced = next((name for name in ("min", "max") if name in options), None)
            if misplaced is not None:
                raise OptionFault(misplaced, f"`{misplaced}` requires version 7: version 4 contains no timestamp")
            return Uuids(4, 0, 1)
        low, high = moments_option(options, second_of, SPAN, "a time such as 2026-01-31T12:00:00Z")
        if low < UNIX_EPOCH:
            raise OptionFault("min", "version 7 starts at 1970-01-01T00:00:00Z")
        return Uuids(7, (low - UNIX_EPOCH) * 1000, (high - low + 1) * 1000)


@dataclass(frozen=True, slots=True)
class Agent:
    """The User-Agent of a browser on a system; `%a` is its major version, `%b` the minor one."""

    browser: str
    device: str
    text: str
    greater: range
    lesser: range = range(1)

    @property
    def count(self) -> int:
        """The number of versions."""
        return len(self.greater) * len(self.lesser)

    def at(self, index: int) -> str:
        """Return the text for the version with this number."""
        greater, lesser = divmod(index, len(self.lesser))
        return self.text.replace("%a", str(self.greater[greater])).replace("%b", str(self.lesser[lesser]))


CHROMIUM = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%a.0.0.0"
WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%a.%b"
DESKTOPS = (
    "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64",
    "X11; CrOS x86_64 14541.0.0",
)  # fmt: skip
FIREFOX_DESKTOPS = (
    "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10.15", "X11; Linux x86_64", "X11; Ubuntu; Linux x86_64",
)  # fmt: skip
BROWSERS, DEVICES = ("chrome", "edge", "firefox", "safari"), ("desktop", "mobile")
VERSIONS, ANDROID = range(110, 141), range(10, 16)
SAFARI, SAFARI_LESSER = range(15, 19), range(7)

AGENTS: tuple[Agent, ...] = (
    *(Agent("chrome", "desktop", f"Mozilla/5.0 ({system}) {CHROMIUM} Safari/537.36", VERSIONS) for system in DESKTOPS),
    Agent("chrome", "mobile", f"Mozilla/5.0 (Linux; Android 10; K) {CHROMIUM} Mobile Safari/537.36", VERSIONS),
    *(
        Agent("edge", "desktop", f"Mozilla/5.0 ({system}) {CHROMIUM} Safari/537.36 Edg/%a.0.0.0", VERSIONS)
        for system in DESKTOPS[:3]
    ),
    Agent(
        "edge", "mobile", f"Mozilla/5.0 (Linux; Android 10; K) {CHROMIUM} Mobile Safari/537.36 EdgA/%a.0.0.0", VERSIONS
    ),
    *(
        Agent("firefox", "desktop", f"Mozilla/5.0 ({system}; rv:%a.0) Gecko/20100101 Firefox/%a.0", VERSIONS)
        for system in FIREFOX_DESKTOPS
    ),
    Agent(
        "firefox", "mobile", "Mozilla/5.0 (Android %b; Mobile; rv:%a.0) Gecko/%a.0 Firefox/%a.0", VERSIONS, ANDROID
    ),
    Agent("safari", "desktop", f"Mozilla/5.0 ({DESKTOPS[1]}) {WEBKIT} Safari/605.1.15", SAFARI, SAFARI_LESSER),
    *(
        Agent(
            "safari", "mobile", f"Mozilla/5.0 ({system} OS %a_%b like Mac OS X) {WEBKIT} Mobile/15E148 Safari/604.1",
            SAFARI, SAFARI_LESSER,
        )
        for system in ("iPhone; CPU iPhone", "iPad; CPU")
    ),
)  # fmt: skip


class UserAgents(Domain):
    """User-Agent strings: a choice of browser and system, then of the version."""

    __slots__ = ("agents",)

    def __init__(self, agents: Sequence[Agent]) -> None:
        self.agents = agents

    def draw(self, choose: Choose) -> Value:
        agent = self.agents[choose.below(len(self.agents))]
        return agent.at(choose.below(agent.count))

    def contains(self, value: Value) -> bool:
        return isinstance(value, str) and any(
            value == agent.at(index) for agent in self.agents for index in range(agent.count)
        )

    @property
    def count(self) -> int:
        return sum(agent.count for agent in self.agents)

    def boundary(self) -> list[Value]:
        first, last = self.agents[0], self.agents[-1]
        return [first.at(0), last.at(last.count - 1)]


class UserAgentType(ParameterType):
    summary = "the User-Agent string of a web browser"
    options = {
        "browser": option(
            "data", "chrome, edge, firefox or safari, or a list of them (default all)", values=BROWSERS, is_list=True
        ),
        "device": option("data", "desktop or mobile, or both in a list (default both)", values=DEVICES, is_list=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        browsers = some_of_option(options, "browser", BROWSERS)
        devices = some_of_option(options, "device", DEVICES)
        return UserAgents([agent for agent in AGENTS if agent.browser in browsers and agent.device in devices])
