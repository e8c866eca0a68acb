"""The parameter type ip_address, version 4 or 6."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from itertools import accumulate
from typing import Any

from dia_language.numbers.addresses import address_text
from dia_language.numbers.values import Value

from dia_compiler.types.base import Domain, Enumerable, OptionFault, ParameterType, option
from dia_compiler.types.plain_options import one_of_option

Range = tuple[int, int]

# IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890); plus multicast and reserved space
SPECIAL: dict[int, tuple[str, ...]] = {
    4: (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    ),
    6: ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
}  # fmt: skip
WHOLE: dict[int, tuple[str, ...]] = {4: ("0.0.0.0/0",), 6: ("::/0",)}
KINDS: dict[str, dict[int, tuple[str, ...]]] = {
    "public": {4: WHOLE[4], 6: ("2000::/3",)},  # minus special addresses; only 2000::/3 is allocated (RFC 4291)
    "private": {4: ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"), 6: ("fd00::/8",)},  # RFC 1918, RFC 4193
    "documentation": {4: ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"), 6: ("2001:db8::/32",)},
    "any": WHOLE,
}


def _range_of(network: str) -> Range:
    parsed = ip_network(network)
    return int(parsed.network_address), int(parsed.broadcast_address) + 1


def _without(full: Range, holes: Sequence[Range]) -> list[Range]:
    """Return the rest of a range, in ascending order."""
    remaining, at = [], full[0]
    for low, high in [*sorted(hole for hole in holes if full[0] <= hole[0] < full[1]), (full[1], full[1])]:
        if at < low:
            remaining.append((at, low))
        at = max(at, high)
    return remaining


class Addresses(Enumerable):
    """The addresses of ascending, disjoint ranges, as texts in canonical form."""

    __slots__ = ("ranges", "starts", "version")

    def __init__(self, version: int, ranges: Sequence[Range]) -> None:
        self.version, self.ranges = version, ranges
        self.starts = [0, *accumulate(high - low for low, high in ranges)]

    @property
    def count(self) -> int:
        return self.starts[-1]

    def at(self, index: int) -> Value:
        place = bisect_right(self.starts, index) - 1
        return address_text(self.version, self.ranges[place][0] + index - self.starts[place])

    def contains(self, value: Value) -> bool:
        try:
            address = ip_address(value) if isinstance(value, str) else None
        except ValueError:
            return False
        if address is None or address.version != self.version or address_text(self.version, int(address)) != value:
            return False
        return any(low <= int(address) < high for low, high in self.ranges)


class IpAddressType(ParameterType):
    summary = "an IP address, version 4 or 6"
    options = {
        "version": option("data", "4 or 6 (default: that of `network`, otherwise 4)", values=(4, 6), default=4),
        "kind": option(
            "data", "public, private, documentation or any (default any)", values=tuple(KINDS), default="any"
        ),
        "network": option(
            "data", 'the network to draw from, including its first and last address, such as "10.0.0.0/8"'
        ),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        if "network" in options:
            return self._of_network(options)
        version = one_of_option(options, "version", (4, 6), 4)
        kind = one_of_option(options, "kind", list(KINDS), "any")
        holes = [_range_of(network) for network in SPECIAL[version]] if kind == "public" else []
        ranges = [part for network in KINDS[kind][version] for part in _without(_range_of(network), holes)]
        return Addresses(version, ranges)

    def _of_network(self, options: Mapping[str, Any]) -> Domain:
        if "kind" in options:
            raise OptionFault("kind", "use only one of `kind` and `network`", "remove one of them")
        text = options["network"]
        try:
            network = ip_network(text) if isinstance(text, str) and "/" in text and "%" not in text else None
        except ValueError as error:
            raise OptionFault("network", f"`{text[:60]}` is not a network: {_why(error)}") from None
        if network is None:
            raise OptionFault("network", '`network` must be text such as "10.0.0.0/8"')
        if one_of_option(options, "version", (4, 6), network.version) != network.version:
            raise OptionFault("version", f"`{text}` is a network of version {network.version}")
        return Addresses(network.version, [_range_of(text)])


def _why(error: ValueError) -> str:
    if "host bits" in str(error):
        return "bits after the prefix are set"
    return "write an address, a slash and the prefix length"
