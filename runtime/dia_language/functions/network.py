"""IP addresses, subnets, MAC addresses and lookalike domain names."""

from __future__ import annotations

import ipaddress

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.numbers.addresses import address_text
from dia_language.numbers.values import Record

BITS = {4: 32, 6: 128}
SUBNETS = 65_536

# Lookalikes: pairs of characters first, then single ones. A subset of Unicode's confusables (UTS #39).
PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
SINGLES = str.maketrans({
    "0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "3": "e", "8": "b", "9": "g", "2": "z",
    "а": "a", "с": "c", "е": "e", "о": "o", "р": "p", "х": "x", "у": "y", "ѕ": "s", "і": "l", "ј": "j",
    "ԁ": "d", "һ": "h", "ԛ": "q", "ԝ": "w", "ɡ": "g", "ο": "o", "ν": "v", "α": "a", "ı": "l",
})  # fmt: skip
SWAPS = (
    ("o", "0"), ("l", "1"), ("i", "1"), ("i", "l"), ("l", "i"), ("m", "rn"), ("rn", "m"), ("w", "vv"),
    ("d", "cl"), ("s", "5"), ("e", "3"), ("b", "8"), ("g", "9"),
)  # fmt: skip


@library_function
def ip_to_int(address: str) -> int:
    """The numeric value of an IPv4 or IPv6 address.

    Raises an error for leading zeros, zone identifiers, and text that is not an address. Source: RFC 791, RFC 4291.

    Examples:
        ip_to_int("192.0.2.1") -> 3221225985
        ip_to_int("::1") -> 1
    """
    return _address(address)[0]


@library_function
def int_to_ip(n: int, version: int = 4) -> str:
    """The IP address with the given numeric value; IPv6 addresses are in compressed form.

    `n` must be from 0 to 2**32 - 1 for version 4, and from 0 to 2**128 - 1 for version 6. Source: RFC 5952.

    Examples:
        int_to_ip(3221225985) -> "192.0.2.1"
        int_to_ip(1, 6) -> "::1"
    """
    if version not in BITS:
        raise LanguageError("`version` must be 4 or 6")
    if not 0 <= n < 1 << BITS[version]:
        raise LanguageError(f"`n` must be from 0 to 2**{BITS[version]} - 1 for version {version}")
    return address_text(version, n)


@library_function
def ipv6_expanded(address: str) -> str:
    """The IPv6 address with all 8 groups of 4 hexadecimal digits.

    Examples:
        ipv6_expanded("2001:db8::1") -> "2001:0db8:0000:0000:0000:0000:0000:0001"
    """
    number, version = _address(address)
    if version != 6:
        raise LanguageError("`ipv6_expanded` needs an IPv6 address")
    digits = f"{number:032x}"
    return ":".join(digits[at : at + 4] for at in range(0, 32, 4))


@library_function
def subnet(address: str, prefix: int) -> Record:
    """The subnet that contains `address` and has the given prefix length, as a record.

    Its fields are network, prefix, netmask, wildcard, broadcast (the last address), first and last (host addresses),
    addresses and hosts (both counts). In IPv4 with a prefix up to 30, the network and broadcast addresses are not
    hosts; otherwise every address is a host (RFC 3021). Source: RFC 4632.

    Examples:
        subnet("192.0.2.130", 26).broadcast -> "192.0.2.191"
        subnet("192.0.2.130", 26).hosts -> 62
    """
    number, version = _address(address)
    size = _size(version, prefix)
    begin, end = number - number % size, number - number % size + size - 1
    ends = 1 if version == 4 and prefix <= 30 else 0
    numbers = {"network": begin, "netmask": (1 << BITS[version]) - size, "wildcard": size - 1, "broadcast": end}
    numbers |= {"first": begin + ends, "last": end - ends}
    facts = Record((name, int_to_ip(value, version)) for name, value in numbers.items())
    return Record({**facts, "prefix": prefix, "addresses": size, "hosts": size - 2 * ends})


@library_function
def in_subnet(address: str, network: str, prefix: int) -> bool:
    """Whether `address` is in the subnet that contains `network` and has the given prefix length.

    Both addresses must have the same IP version.

    Examples:
        in_subnet("192.0.2.130", "192.0.2.128", 26) -> True
        in_subnet("192.0.2.1", "192.0.2.128", 26) -> False
    """
    (number, version), (other, its_version) = _address(address), _address(network)
    if version != its_version:
        raise LanguageError("the addresses have different IP versions")
    size = _size(version, prefix)
    return number // size == other // size


@library_function
def subnets(address: str, prefix: int, longer: int) -> list[str]:
    """The subnets with prefix length `longer` in the subnet of `address`, as network/prefix, in ascending order.

    At most 65,536 subnets.

    Examples:
        subnets("192.0.2.0", 24, 26) -> ["192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26", "192.0.2.192/26"]
    """
    number, version = _address(address)
    size, step = _size(version, prefix), _size(version, longer)
    if longer < prefix:
        raise LanguageError("`longer` must not be shorter than `prefix`")
    if size // step > SUBNETS:
        raise LanguageError(f"the result of `subnets` would exceed {SUBNETS:,} subnets", code="E502")
    charge(size // step)
    begin = number - number % size
    return [f"{int_to_ip(at, version)}/{longer}" for at in range(begin, begin + size, step)]


@library_function
def mac_address(data: bytes, separator: str = ":") -> str:
    """The MAC address of six bytes: lowercase hexadecimal pairs joined by `separator`.

    Source: IEEE 802, section 8.

    Examples:
        mac_address(from_hex("001a2b3c4d5e")) -> "00:1a:2b:3c:4d:5e"
        mac_address(from_hex("001a2b3c4d5e"), "-") -> "00-1a-2b-3c-4d-5e"
    """
    if len(data) != 6:
        raise LanguageError("a MAC address needs 6 bytes")
    return separator.join(f"{byte:02x}" for byte in data)


@library_function
def skeleton(text: str) -> str:
    """`text` in lowercase, with lookalike characters replaced by one representative (0 by o, rn by m).

    Two texts with the same skeleton are easily confused. Covers the common cases among ASCII, Cyrillic and Greek
    letters. Based on Unicode Technical Standard #39, section 4.

    Examples:
        skeleton("paypa1.com") == skeleton("paypal.com") -> True
        skeleton("rnodern") -> "modem"
    """
    charge(len(text) // 8)
    simplified = text.lower().translate(SINGLES)
    for pair, single in PAIRS:
        simplified = simplified.replace(pair, single)
    return simplified


@library_function
def lookalikes(domain: str) -> list[str]:
    """Domains that differ from `domain` at one position and look similar, in ascending order.

    Replaces, for example, o by 0, l by 1 and m by rn. The last label never changes. All results are lowercase ASCII and
    have the same `skeleton` as `domain`. The domain has at most 253 characters.

    Examples:
        lookalikes("log.org") -> ["1og.org", "iog.org", "l0g.org", "lo9.org"]
    """
    if len(domain) > 253:
        raise LanguageError("the domain exceeds 253 characters", code="E502")
    name, dot, ending = domain.lower().rpartition(".")
    charge(len(domain) * len(SWAPS))
    variants = {
        name[:at] + new + name[at + len(old) :] + dot + ending
        for old, new in SWAPS
        for at in range(len(name))
        if name.startswith(old, at)
    }
    return sorted(other for other in variants if skeleton(other) == skeleton(domain))


def _address(address: str) -> tuple[int, int]:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise LanguageError("the text is not an IP address") from None
    if "%" in address:
        raise LanguageError("the address has a zone identifier", "remove the % and everything after it")
    return int(parsed), parsed.version


def _size(version: int, prefix: int) -> int:
    if not 0 <= prefix <= BITS[version]:
        raise LanguageError(f"the prefix length must be from 0 to {BITS[version]}")
    return 1 << BITS[version] - prefix
