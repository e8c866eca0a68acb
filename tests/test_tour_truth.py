"""The truths of the tour, computed once more by tools that are not ours."""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import hmac
import html
import ipaddress
import itertools
import json
import math
import statistics
import urllib.parse
import uuid
import zlib
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import numpy
import pytest
import sympy
from Crypto.Hash import MD4, RIPEMD160, keccak
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from dia_language.numbers.values import decode

X, T, S = sympy.symbols("x t s")
Truth = Callable[..., Any]


def cut(x: Any, places: int, up: bool = False) -> float:
    return float(math.floor(x * 10**places + (0.5 if up else 0)) / 10**places)


def net(graph: dict[str, Any]) -> Any:
    made = networkx.DiGraph() if graph["directed"] else networkx.Graph()
    made.add_nodes_from(graph["nodes"])
    weights = graph.get("weights", [1] * len(graph["edges"]))
    made.add_weighted_edges_from([(*pair, int(weight)) for pair, weight in zip(graph["edges"], weights, strict=True)])
    return made


def months_later(day: str, months: int, days: int) -> str:
    first = datetime.date.fromisoformat(day)
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    last = ((datetime.date(year, month + 1, 28) + datetime.timedelta(4)).replace(day=1) - datetime.timedelta(1)).day
    moved = datetime.date(year, month + 1, min(first.day, last))
    return (moved + datetime.timedelta(days)).isoformat()


def private_key(group: str, key: int) -> int:
    curve: ec.EllipticCurve = ec.SECP256R1() if group == "P-256" else ec.SECP256K1()
    return ec.derive_private_key(key, curve).private_numbers().private_value


def shared(mine: bytes, theirs: bytes) -> bytes:
    other = x25519.X25519PrivateKey.from_private_bytes(theirs).public_key()
    return x25519.X25519PrivateKey.from_private_bytes(mine).exchange(other)


def md(name: str, message: str) -> bytes:
    lengths = {"shake128": 24, "shake256": 24}
    names = {"shake128": "shake_128", "shake256": "shake_256"}
    older: dict[str, Any] = {"md4": MD4.new, "ripemd160": RIPEMD160.new}
    if name == "keccak256":
        return bytes(keccak.new(digest_bits=256, data=message.encode()).digest())
    if name in older:
        return bytes(older[name](message.encode()).digest())
    made: Any = hashlib.new(names.get(name, name), message.encode())
    return bytes(made.digest(lengths[name]) if name in lengths else made.digest())


def derived(name: str, secret: str, note: str, counter: int) -> bytes:
    key, data = secret.encode(), note.encode()
    if name == "mac":
        return hmac.digest(key, data, "sha512")
    if name == "hkdf_key":
        return hmac.digest(hmac.digest(data, key, "sha256"), b"tour\1", "sha256")[:20]
    if name == "pbkdf2_key":
        return hashlib.pbkdf2_hmac("sha256", key, data, 2, 20)
    if name == "scrypt_key":
        return hashlib.scrypt(key, salt=data, n=16, r=1, p=1, dklen=16)
    if name == "one_time":
        made = hmac.digest(key, counter.to_bytes(8, "big"), "sha1")
        start = made[-1] & 15
        return f"{(int.from_bytes(made[start : start + 4], 'big') & 0x7FFFFFFF) % 10**6:06}".encode()
    if name == "ntlm":
        return bytes(MD4.new(secret.encode("utf-16-le")).digest())
    assert name == "checksum"
    return binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "big")


@cache
def ways(nodes: int, pairs: tuple[tuple[int, int], ...]) -> int:
    laplacian = networkx.laplacian_matrix(networkx.Graph([*pairs])).toarray()
    found: int = round(numpy.linalg.det(laplacian[1:nodes, 1:nodes]))
    return found


TRUTHS: dict[str, Truth] = {
    "order_of_a_residue": lambda m, a: sympy.n_order(a, m),
    "remainders": lambda moduli, eggs: sympy.ntheory.modular.crt(moduli, [eggs % m for m in moduli])[0],
    "discrete_logarithm": lambda p, g, x: sympy.discrete_log(p, pow(g, x, p), g),
    "square_roots": lambda p, r: sympy.sqrt_mod(r * r % p, p, all_roots=True),
    "neighbouring_primes": lambda n: {
        "below": sympy.prevprime(n), "above": sympy.nextprime(n), "place": sympy.primepi(n)},
    "continued_fraction": lambda x: sympy.continued_fraction(sympy.Rational(x.numerator, x.denominator)),
    "overflow": lambda bits, a, b, c: (a * b * c + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1),
    "taylor_coefficient": lambda a, b, n: Fraction(
        str(sympy.series(sympy.exp(a * X) * sympy.cos(b * X), X, 0, n + 1).removeO().coeff(X, n))),
    "limit_of_a_quotient": lambda a, b: Fraction(a**3, 3 * b),
    "angle_of_slope": lambda rise, run: round(math.degrees(math.atan2(rise, run)), 2),
    "area_without_a_formula": lambda a, top: round(
        math.sqrt(math.pi * a) / 2 * math.erf(float(top) / math.sqrt(a)), 4),
    "inverse_matrix": lambda m: [[Fraction(str(x)) for x in row] for row in sympy.Matrix(m).inv().tolist()],
    "projection": lambda v, u: [Fraction(int(numpy.dot(v, u)), int(numpy.dot(u, u))) * x for x in u],
    "spread": lambda values, share: [
        float(numpy.round(numpy.quantile(values, float(share)) + 1e-9, 2)),
        cut(statistics.pstdev(values), 2, up=True), statistics.mode(values)],
    "shortest_way": lambda towns, roads: networkx.dijkstra_path_length(net(roads), towns[0], towns[5]),
    "cheapest_cables": lambda houses: [
        networkx.minimum_spanning_tree(net(houses)).size(weight="weight"),
        ways(6, tuple(map(tuple, houses["edges"])))],
    "pipes": lambda net_: networkx.maximum_flow_value(net(net_), 1, 6, capacity="weight"),
    "lamps_on_a_tree": lambda wires, spare: networkx.diameter(net(wires)) + spare,
    "hands_of_a_clock": lambda hour, minute: min(
        (abs(Fraction(60 * hour - 11 * minute, 2)) % 360), 360 - abs(Fraction(60 * hour - 11 * minute, 2)) % 360),
    "side_of_a_triangle": lambda b, c, angle: math.sqrt(b * b + c * c - 2 * b * c * math.cos(math.radians(angle))),
    "due_date": lambda bought, months, days: months_later(bought, months, days),
    "length_of_a_session": lambda stay, **_: stay,
    "palindromes": lambda s: next(
        s + s[:n][::-1] for n in range(len(s)) if (s + s[:n][::-1]) == (s + s[:n][::-1])[::-1]),
    "full_width": lambda word, times: word * times,
    "encodings": lambda token_value, mark, **_: token_value + mark,
    "numerals": lambda year_one, year_two: [year_one, year_two],
    "packed": lambda kind, flag: str(uuid.UUID(flag)),
    "shadow_file": lambda word, suffix, **_: f"{word}{suffix}",
    "rsa_by_hand": lambda number_sent, **_: number_sent,
    "repeated_nonce": lambda group, key, **_: private_key(group, key),
    "shared_secret": shared,
    "digests": lambda function, message: md(function.name, message),
    "derived_keys": lambda kind, secret, note, counter: derived(kind.name, secret, note, counter),
    "subnet_of_an_address": lambda address, prefix: str(
        ipaddress.ip_network(f"{address}/{prefix}", strict=False).broadcast_address),
    "foreign_domain": lambda word, number_of: f"{word}{number_of}.example".encode("idna").decode(),
    "shopping": lambda amount, price, purse, **_: purse - amount * price,
    "two_dice": lambda sides, target: Fraction(
        sum(sum(p) == target for p in itertools.product(*(range(1, n + 1) for n in sides))), math.prod(sides)),
    "rare_illness": lambda ill, found, false_alarm: Fraction(
        100 * ill * found, ill * found + (10000 - ill) * false_alarm),
    "population": lambda now, percent, years: int(
        Fraction(now * (1 + Fraction(percent) / 100) ** years / 100 + Fraction(1, 2)) // 1) * 100,
    "forged_token": lambda secret, **_: secret,
    "claimed_count": lambda one, many: sum(Counter(f"{one} {many}")[vowel] for vowel in "aeiou"),
    "web_page": lambda page, who, said, sign: f"{said} {sign}",
    "all_roots": lambda zeros, lead: zeros,
    "small_curve": lambda p, a, b, g, k: {"points": count_points(p, a, b), "order": None, "k": k},
    "a_network": lambda net_: facts(net(net_)),
    "sealed_message": lambda plain, **_: plain,
    "pencil_ciphers": lambda plain, **_: plain,
    "odd_languages": lambda said, n: said + chr(ord("M") + n),
    "colour_code": lambda code, order: [bytes.fromhex(code)[("red", "green", "blue").index(part)] for part in order],
    "kinds_of_signs": lambda password: {
        "letters": sum(map(str.isalpha, password)), "digits": sum(map(str.isdigit, password)),
        "others": sum(not sign.isalnum() for sign in password)},
    "two_lines": lambda ends: crossing(*ends),
    "newest_record": lambda ids, **_: [max(ids), made_on(max(ids))],
    "long_address": lambda address, device: own_address(address, device),
}  # fmt: skip
ORDERLESS = ("square_roots", "all_roots")


def count_points(p: int, a: int, b: int) -> int:
    return 1 + sum(y * y % p == (x**3 + a * x + b) % p for x in range(p) for y in range(p))


def facts(graph: Any) -> dict[str, Any]:
    clique = max(map(len, networkx.find_cliques(graph)))
    parts = networkx.number_connected_components(graph)
    return {"parts": parts, "bipartite": networkx.is_bipartite(graph), "clique": clique, "busiest": None}


def crossing(*ends: list[int]) -> list[Fraction]:
    met = sympy.Line(*ends[:2]).intersection(sympy.Line(*ends[2:]))[0]
    return [Fraction(str(met.x)), Fraction(str(met.y))]


def made_on(name: str) -> str:
    moment = datetime.datetime.fromtimestamp((uuid.UUID(name).int >> 80) / 1000, datetime.UTC)
    return moment.date().isoformat()


def own_address(address: str, device: bytes) -> str:
    own = bytes([device[0] ^ 2]) + device[1:3] + b"\xff\xfe" + device[3:]
    network = int(ipaddress.IPv6Address(address)) >> 64 << 64
    return ipaddress.IPv6Address(network + int.from_bytes(own, "big")).exploded


def agrees(told: Any, found: Any) -> bool:
    """Whether two values are the same; floats as far as four digits go, and what is None was not computed."""
    if found is None:
        return True
    if isinstance(found, dict):
        return all(agrees(told[name], value) for name, value in found.items())
    if isinstance(found, list):
        return len(told) == len(found) and all(map(agrees, told, found))
    if isinstance(found, float):
        return math.isclose(float(told), found, rel_tol=1e-4, abs_tol=6e-5)
    return bool(told == found)


def records(bundle: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in (bundle / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(row)
        if record["id"].count("/") == 2 or record["id"].rsplit("/", 1)[1].isdigit():
            found.setdefault(record["template"], []).append(record)
    return found


@pytest.fixture(scope="module")
def answers(tour: Path) -> dict[str, list[dict[str, Any]]]:
    """The answer records of the instances in their usual wording."""
    return records(tour)


@pytest.mark.parametrize("name", TRUTHS)
def test_another_tool_finds_the_same(name: str, answers: dict[str, list[dict[str, Any]]]) -> None:
    for record in answers[name]:
        given = {("net_" if key == "net" else key): decode(held) for key, held in record["parameters"].items()}
        told, found = decode(record["answer"]), TRUTHS[name](**given)
        if name in ORDERLESS:
            told, found = sorted(told), sorted(found)
        if name == "shortest_way":
            told = networkx.path_weight(net(given["roads"]), told, "weight")
        assert agrees(told, found), (record["id"], told, found)


def test_what_prompts_show_opens_with_other_tools(tour: Path) -> None:
    told = {record["id"]: record["text"] for held in records(tour).values() for record in held}
    for row in (tour / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(row)
        shown, answer = question["messages"][0]["content"], told.get(question["id"])
        if question["template"] == "packed":
            data = bytes.fromhex(shown.split("0x")[1].split()[0])
            assert zlib.decompress(data, 47).decode() == answer
        if question["template"] == "web_page":
            link = html.unescape(shown.split('href="')[1].split('"')[0])
            assert dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))["note"] == answer
        if question["template"] == "forged_token":
            head, body, mark = shown.split("\n\n")[1].split(".")
            name = json.loads(base64.urlsafe_b64decode(head + "=="))["alg"].replace("HS", "sha")
            made = hmac.digest(str(answer).encode(), f"{head}.{body}".encode(), name)
            assert base64.urlsafe_b64encode(made).decode().rstrip("=") == mark
