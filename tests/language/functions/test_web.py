"""Addresses, subnets, tokens, literals and JSON against the standard library, the shell, compilers and the RFCs."""

from __future__ import annotations

import ast
import html
import ipaddress
import json
import shlex
import shutil
import socket
import sqlite3
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from dia_language.budgets import STEPS, left, reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.numbers.values import ExactDecimal, Record
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda held: st.lists(held, max_size=4) | st.dictionaries(TEXT, held, max_size=4),
    max_leaves=12,
)


def as_value(held: Any) -> Any:
    if isinstance(held, dict):
        return Record((name, as_value(part)) for name, part in held.items())
    return [as_value(part) for part in held] if isinstance(held, list) else held


@given(st.ip_addresses())
def test_addresses_are_the_numbers_of_the_standard_library(address: Any) -> None:
    assert call("ip_to_int", str(address)) == int(address)
    if address.version == 4 or address.ipv4_mapped is None:  # what it writes of those hangs on its version
        assert call("int_to_ip", int(address), address.version) == str(address)
    if address.version == 6:
        assert call("ipv6_expanded", str(address)) == socket.inet_pton(socket.AF_INET6, str(address)).hex(":", 2)


@given(st.ip_addresses(v=4), st.integers(0, 32), st.ip_addresses(v=4))
def test_subnets_of_version_4_are_those_of_the_standard_library(address: Any, prefix: int, other: Any) -> None:
    net = ipaddress.ip_network(f"{address}/{prefix}", strict=False)
    facts = call("subnet", str(address), prefix)
    hosts = [net[0], net[-1]] if prefix > 30 else [net[1], net[-2]]
    assert facts == {
        "network": str(net.network_address), "netmask": str(net.netmask), "wildcard": str(net.hostmask),
        "broadcast": str(net.broadcast_address), "first": str(hosts[0]), "last": str(hosts[1]), "prefix": prefix,
        "addresses": net.num_addresses, "hosts": net.num_addresses - (2 if prefix <= 30 else 0),
    }  # fmt: skip
    assert call("in_subnet", str(other), str(address), prefix) == (other in net)
    assert call("in_subnet", facts["broadcast"], str(address), prefix) is True
    longer = min(prefix + 4, 32)
    told = [str(part) for part in net.subnets(new_prefix=longer)]
    assert call("subnets", str(address), prefix, longer) == told


def test_subnets_of_version_6_have_no_broadcast_to_spare() -> None:
    facts = call("subnet", "2001:db8::5", 64)
    assert (facts["network"], facts["last"], facts["hosts"]) == ("2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", 2**64)
    assert facts["netmask"] == "ffff:ffff:ffff:ffff::"


def test_what_is_no_address_is_refused() -> None:
    for text in ("", "1.2.3", "01.2.3.4", "1.2.3.256", "fe80::1%eth0", "::1::", "1.2.3.4/8", " 1.2.3.4"):
        assert code("ip_to_int", text) == "E501"
    assert code("int_to_ip", 2**32) == code("int_to_ip", -1, 6) == code("int_to_ip", 1, 5) == "E501"
    assert code("ipv6_expanded", "1.2.3.4") == code("subnet", "1.2.3.4", 33) == "E501"
    assert code("in_subnet", "1.2.3.4", "::", 8) == code("subnets", "1.2.3.4", 24, 20) == "E501"
    assert code("subnets", "::", 0, 128) == "E502"
    assert code("mac_address", bytes(5)) == "E501"
    assert call("mac_address", bytes.fromhex("deadbeef0001"), "-") == "de-ad-be-ef-00-01"


def test_lookalikes_look_alike() -> None:
    for domain in ("paypal.com", "modern.example", "welcome.org", "bild.de", "0o.net"):
        found = call("lookalikes", domain)
        assert found == sorted(set(found)) and domain not in found
        assert all(call("skeleton", other) == call("skeleton", domain) and other.isascii() for other in found)
        assert all(other.endswith(domain[domain.rindex(".") :]) for other in found)
    assert "paypa1.com" in call("lookalikes", "paypal.com") and "rnodern.example" in call(
        "lookalikes", "modern.example"
    )
    assert call("skeleton", "раураl.com") == call("skeleton", "PAYPAL.com") != call("skeleton", "paypol.com")
    assert call("lookalikes", "zzz.zzz") == [] and code("lookalikes", "a" * 300) == "E502"


URLS = [
    "https://ann:pw@example.org:8443/a/b;c?x=1&y=2#top", "mailto:ann@example.org", "//host/path", "/only/path?q",
    "http://[2001:db8::1]:80/", "http://h?#", "", "ftp://h:/", "a%20b#c#d", "HTTP://Example.ORG",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_parts_of_urls_are_those_of_the_standard_library(url: str) -> None:
    told, parts = urlsplit(url), call("parse_url", url)
    authority = told.netloc.rpartition("@")
    assert parts["scheme"].lower() == told.scheme and parts["user"] == authority[0] and parts["port"] == told.port
    assert parts["host"].strip("[]").lower() == (told.hostname or "")
    assert (parts["path"], parts["query"], parts["fragment"]) == (told.path, told.query, told.fragment)


def test_what_is_no_url_is_refused() -> None:
    for url in ("http://a b", "http://h:99999/", "http://h:x/", "http://a@b@c/", "http://[::1/", "a\nb"):
        assert code("parse_url", url) == "E501"


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=5))
def test_queries_are_those_of_the_standard_library(pairs: list[list[str]]) -> None:
    told = urlencode([(name, value) for name, value in pairs], quote_via=quote, safe="")
    assert call("query_string", pairs) == told
    assert call("parse_query", told) == [list(pair) for pair in parse_qsl(told, keep_blank_values=True)] == pairs
    assert code("query_string", [["a"]]) == "E501"


@given(TEXT)
def test_entities_are_those_of_the_standard_library(text: str) -> None:
    assert call("html_escape", text) == html.escape(text).replace("&#x27;", "&#39;")
    assert call("html_unescape", call("html_escape", text)) == text
    assert call("html_unescape", text) == html.unescape(text)


def test_international_names_are_those_of_rfc_3492() -> None:
    # section 7.1 (B), (D) and (H) among others
    for name, shown in [
        ("bücher.example", "xn--bcher-kva.example"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
        ("pročprostěnemluvíčesky", "xn--proprostnemluvesky-uyb24dma41a"), ("plain.example", "plain.example"),
    ]:  # fmt: skip
        assert call("to_punycode", name) == shown
        assert call("from_punycode", shown) == name
    assert code("to_punycode", "a..b") == code("to_punycode", "ü" * 70) == code("from_punycode", "xn--!!!") == "E501"
    assert code("from_punycode", "xn--abc-") == code("from_punycode", "xn--é") == code("from_punycode", "xn--99999999")


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
def test_dates_are_those_of_the_standard_library(at: datetime) -> None:
    shown = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert call("http_date", shown) == format_datetime(at.replace(microsecond=0, tzinfo=UTC), usegmt=True)


def test_what_is_no_timestamp_is_refused() -> None:
    for text in ("2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "2026-01-31T24:00:00Z", ""):
        assert code("http_date", text) == "E501"


def test_tokens_are_those_of_rfc_7515_and_7519() -> None:
    # RFC 7515, appendix A.1: header and payload hold line ends, so that it is verified and not written
    token = (
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl"
        "LmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    )
    key = call(
        "from_base64url",
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
    )
    assert call("jwt_verify", token, key) is True and call("jwt_verify", token, key + b"x") is False
    held = call("jwt_decode", token)
    assert held["payload"] == {"iss": "joe", "exp": 1300819380, "http://example.com/is_root": True}
    # the example that RFC 7519 readers know from jwt.io
    payload = Record(sub="1234567890", name="John Doe", iat=1516239022)
    assert call("jwt_encode", payload, "your-256-bit-secret") == (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
        ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    )
    # RFC 7519, section 6.1: a token without signature
    bare = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
    assert call("jwt_verify", bare, "") is True and call("jwt_verify", bare, "x") is False


def test_tokens_come_back_and_bad_ones_are_refused() -> None:
    payload = Record(user="é", roles=["a"], n=ExactDecimal(1, 10))
    for algorithm in ("HS256", "HS384", "HS512"):
        token = call("jwt_encode", payload, b"secret", algorithm)
        assert call("jwt_decode", token)["payload"] == payload
        assert call("jwt_verify", token, "secret") is True and call("jwt_verify", token, "Secret") is False
    assert call("jwt_encode", payload, "", "none").endswith(".")
    assert code("jwt_encode", payload, "x", "none") == code("jwt_encode", payload, "x", "RS256") == "E501"
    for token in ("", "a.b", "e30.e30", "W10.e30.", "e30.e30.!", "e30.e30.A"):
        assert code("jwt_decode", token) == "E501"
    assert code("jwt_verify", "e30.e30.", "x") == "E501"  # names no algorithm


def test_a_token_costs_as_many_steps_each_time() -> None:
    token = call("jwt_encode", Record(name="n" * 1000), "steps")
    spent = []
    for _ in range(2):
        call("jwt_decode", token)
        spent.append(STEPS - left())
    assert spent == [129, 129]


@given(JSON)
def test_json_is_read_as_the_standard_library_reads_it(held: Any) -> None:
    for shown in (json.dumps(held), json.dumps(held, ensure_ascii=False, indent=1)):
        assert call("from_json", shown) == call("from_json", f" \n{shown}\t ") == as_value(held)
    assert call("json", as_value(held), "compact") == json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    assert call("json", as_value(held), "indented") == json.dumps(held, ensure_ascii=False, indent=2)
    assert call("json", as_value(held)) == json.dumps(held, ensure_ascii=False)


def test_json_numbers_are_exact() -> None:
    told = {
        "0.1": Fraction(1, 10),
        "1e3": 1000,
        "-2.50": Fraction(-5, 2),
        "1E-2": Fraction(1, 100),
        "-0": 0,
        "0e9999": 0,
    }
    assert {shown: call("from_json", shown) for shown in told} == told
    assert call("str", call("from_json", "0.10")) == "0.1"


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", "{'a': 1}", "NaN", "[Infinity]", "01", '"\\ud800"', '{"a": 1, "a": 2}', "1 2", '"\\x"']
)
def test_what_is_not_json_is_refused(text: str) -> None:
    assert code("from_json", text) == "E501"


def test_json_is_bounded() -> None:
    assert code("from_json", "[" * 200 + "]" * 200) == "E502"
    assert (
        code("from_json", "1e10001")
        == code("from_json", "1e-99999999999")
        == code("from_json", "9" * 400_000)
        == "E502"
    )
    assert call("from_json", '["' + "[" * 500 + '"]') == ["[" * 500]
    assert code("from_json", '"' + '\\"' * 300_000) == "E501"
    assert code("json", [["a" * 1000] * 500] * 3, "indented") == "E502"
    assert code("json", [], "wide") == "E501"


@given(TEXT)
def test_literals_are_read_back(text: str) -> None:
    assert ast.literal_eval(call("quoted", text, "python")) == text
    assert json.loads(call("quoted", text, "json")) == text == json.loads(call("quoted", text, "javascript"))
    assert shlex.split(call("quoted", text, "shell")) == [text]
    for style in ("python", "c", "json"):
        assert call("quoted", text, style).isprintable() and call("quoted", text, style).isascii()
    fence, *lines, end = call("quoted", text).split("\n")
    assert "\n".join(lines) == text and fence == end == "`" * len(fence) and fence not in text
    assert call("code_block", text, "python") == f"{fence}python\n{text}\n{fence}"


@settings(max_examples=examples(20))
@given(TEXT)
def test_literals_of_sql_are_read_back(text: str) -> None:
    assert sqlite3.connect(":memory:").execute(f"SELECT {call('quoted', text, 'sql')}").fetchone() == (text,)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler")
def test_literals_of_c_are_read_back(tmp_path: Path) -> None:
    text = 'say "hi"\\ \t\n??= é 1 \x01' + "2"
    source = f"#include <stdio.h>\nint main(void) {{ fputs({call('quoted', text, 'c')}, stdout); }}\n"
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["cc", "-std=c99", "-o", str(tmp_path / "a"), str(tmp_path / "a.c")], check=True)
    assert subprocess.run([str(tmp_path / "a")], capture_output=True, check=True).stdout == text.encode()


def test_what_cannot_be_quoted_is_refused() -> None:
    assert code("quoted", "a", "cobol") == code("quoted", "a\0", "shell") == code("quoted", "\0", "sql") == "E501"
    assert code("code_block", "a", "a`b") == code("quoted", "\ud800", "json") == "E501"
    assert code("quoted", "\x01" * 400_000, "json") == code("html_escape", "'" * 300_000) == "E502"


@given(TEXT)
def test_texts_are_translated_and_mirrored(text: str) -> None:
    assert call("translate", text, "abc", "bca") == "".join({"a": "b", "b": "c", "c": "a"}.get(c, c) for c in text)
    assert call("is_palindrome", text + text[::-1]) is True
    assert call("is_palindrome", text) == (list(text) == list(reversed(text)))
    assert call("capitalize", text)[len(text[:1].upper()) :] == text[1:]


def test_tables_that_do_not_fit_are_refused() -> None:
    assert code("translate", "a", "ab", "a") == code("translate", "a", "aa", "bc") == "E501"
    assert call("capitalize", "éa") == "Éa" and call("capitalize", "") == ""


@pytest.mark.parametrize(("text", "ticks"), [("", 3), ("``", 3), ("a```b", 4), ("```` ``````", 7)])
def test_a_fence_is_longer_than_any_in_the_text(text: str, ticks: int) -> None:
    fence = "`" * ticks
    assert call("code_block", text) == f"{fence}\n{text}\n{fence}"


def test_long_tokens_are_read_as_short_ones() -> None:
    for size in (10, 20_000):
        payload = Record(text="a" * size)
        token = call("jwt_encode", payload, "secret")
        assert [call("jwt_decode", token)["payload"] for _ in range(2)] == [payload, payload]


def test_a_token_costs_its_steps_before_it_is_read() -> None:
    broken = call("to_base64url", b'{"a": 1,' * 40)
    reset(20)
    with pytest.raises(LanguageError, match="20 steps"):
        library()["jwt_decode"].call(f"{broken}.e30.")
    reset()
