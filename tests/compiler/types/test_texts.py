"""Text-like parameter types: other readers accept the values, small domains are exhausted, draws are pinned."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email.headerregistry import Address
from hashlib import sha256
from itertools import pairwise, product
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import RFC_4122, UUID

import pytest
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream, Walker
from dia_compiler.types import TYPES, sentences
from dia_compiler.types.base import Domain, Enumerable, OptionFault, key_of
from dia_compiler.types.host_names import label_at, label_count
from dia_compiler.types.word_lists import word_list
from hypothesis import given
from hypothesis import strategies as st


def domain(kind: str, /, **options: Any) -> Domain:
    return TYPES[kind].domain(options)


def drawn(of: Domain, number: int = 100) -> list[Any]:
    return [of.draw(RecordingChoose((), Stream(sha256(b"%d" % place).digest()))) for place in range(number)]


def exhausted(of: Domain) -> list[Any]:
    walker = Walker(b"texts", of.draw)
    found = (walker.at(position) for position in range(6 * of.count + 50))
    return [value for value in found if value is not None]


# Every type in several dresses: all of them are drawn from, pinned and asked
USES: dict[str, Domain] = {
    "words": domain("words", count={"min": 1, "max": 6}),
    "words of verbs": domain("words", **{"from": "verbs", "count": 1000}),
    "words of a list": domain("words", **{"from": ["ja", "nein"], "count": 40}),
    "sentence": domain("sentence"),
    "sentence of 40": domain("sentence", words={"min": 39, "max": 40}),
    "paragraph": domain("paragraph"),
    "paragraph of short ones": domain("paragraph", sentences=2, words={"min": 3, "max": 4}),
    "name": domain("name"),
    "name in full": domain("name", full=True, gender=["male", "female"]),
    "name with pronouns": domain("name", pronouns=True, full=True),
    "username": domain("username"),
    "username of a person": domain("username", style="person", digits=0),
    "email": domain("email"),
    "email at one": domain("email", domain="mail.example.co.uk", style="any", digits=5),
    "ip_address": domain("ip_address"),
    "ip_address public": domain("ip_address", kind="public"),
    "ip_address private": domain("ip_address", kind="private"),
    "ip_address 6": domain("ip_address", version=6),
    "ip_address 6 public": domain("ip_address", version=6, kind="public"),
    "ip_address 6 private": domain("ip_address", version=6, kind="private"),
    "ip_address 6 documentation": domain("ip_address", version=6, kind="documentation"),
    "ip_address 6 of a network": domain("ip_address", network="2001:db8:0:1::/64"),
    "domain": domain("domain"),
    "domain of any": domain("domain", suffix="any", labels={"min": 1, "max": 4}),
    "url": domain("url"),
    "url with a query": domain("url", scheme=["http", "https"], path={"min": 0, "max": 4}, query={"min": 0, "max": 5}),
    "user_agent": domain("user_agent"),
    "uuid": domain("uuid"),
    "uuid 7": domain("uuid", version=7, min="2024-01-01", max="2024-12-31T23:59:59Z"),
    "timestamp": domain("timestamp"),
    "date": domain("date", min="0001-01-01", max="9999-12-31"),
}


def of_kind(*kinds: str) -> list[str]:
    return [value for use, of in USES.items() if use.split()[0] in kinds for value in drawn(of)]


@pytest.mark.parametrize("use", USES)
def test_what_is_drawn_and_what_stands_at_the_edge_is_a_member(use: str) -> None:
    of = USES[use]
    assert all(of.contains(value) for value in drawn(of))
    edges = of.boundary()
    assert edges and all(of.contains(value) for value in edges)
    assert len({repr(value) for value in edges}) == len(edges)


@pytest.mark.parametrize("use", USES)
def test_a_member_with_a_character_changed_is_none(use: str) -> None:
    of = USES[use]
    for value in drawn(of, 10):
        text = value["name"] if isinstance(value, dict) else value
        for wrong in (f"{text}\n", f" {text}", f"{text}\0", text[:-1] + "!", text.swapcase(), "", "é", None, 7, [text]):
            held = {**value, "name": wrong} if isinstance(value, dict) else wrong
            assert not of.contains(held) or held == value


# SHA-256 of 100 draws, each with a newline: bundles of every version hold these
PINNED: dict[str, str] = {
    "words": "98b4343444141e79",
    "words of verbs": "d8f74a9d8a33e265",
    "words of a list": "709374e820a292e2",
    "sentence": "39ec1acb66003fda",
    "sentence of 40": "af8a185c95e02940",
    "paragraph": "f3e66e0d745526aa",
    "paragraph of short ones": "4151d5cda79ef81e",
    "name": "e8342b80c4033c0d",
    "name in full": "18c9758ae60bc4f6",
    "name with pronouns": "3b1f6d3e1322bb25",
    "username": "b090662041d72c10",
    "username of a person": "c4537fa1e5e7fc85",
    "email": "d26a8c62032e79f8",
    "email at one": "509750cf3637d8f7",
    "ip_address": "bf2d3841ec2c5f3b",
    "ip_address public": "3dfe4b0c40c65220",
    "ip_address private": "bc9f344fc8272718",
    "ip_address 6": "f6239e7756a8e146",
    "ip_address 6 public": "8f8d456d07b46399",
    "ip_address 6 private": "b1fedc2df21dc8b2",
    "ip_address 6 documentation": "10528f60f73d927d",
    "ip_address 6 of a network": "ea8d4185b60f8cb4",
    "domain": "5b60392c1148eee0",
    "domain of any": "acdae549bc58beb9",
    "url": "64059797c7dbc31d",
    "url with a query": "eb50d5ab3406ba5b",
    "user_agent": "1d9f84ab1c1acfaa",
    "uuid": "63c8eaba9b8b94cf",
    "uuid 7": "41925678dab63b0a",
    "timestamp": "44ce180a21f30073",
    "date": "8fefa9305b623e0d",
}


@pytest.mark.parametrize("use", USES)
def test_draws_are_what_they_were(use: str) -> None:
    text = "".join(f"{value}\n" for value in drawn(USES[use]))
    assert sha256(text.encode()).hexdigest()[:16] == PINNED[use]


@pytest.mark.parametrize("use", [use for use, of in USES.items() if of.count > 10**12])
def test_draws_of_a_large_domain_differ(use: str) -> None:
    values = drawn(USES[use])
    assert len({repr(value) for value in values}) == len(values)


# what other readers say


def test_uuids_are_uuids() -> None:
    for text in of_kind("uuid"):
        found = UUID(text)
        assert str(found) == text and found.variant == RFC_4122 and found.version in (4, 7)
    for text in drawn(USES["uuid 7"]):
        moment = datetime.fromtimestamp((UUID(text).int >> 80) / 1000, UTC)
        assert moment.year == 2024


@given(st.integers(0, 2**122 - 1), st.integers(0, 2**122 - 1))
def test_uuids_stand_in_the_order_of_their_numbers(first: int, second: int) -> None:
    of = USES["uuid"]
    assert isinstance(of, Enumerable) and of.count == 2**122
    assert (of.at(first) < of.at(second)) == (first < second) and of.contains(of.at(first))


def test_the_edges_of_version_7_are_its_moments() -> None:
    of = domain("uuid", version=7, min="1970-01-01T00:00:01Z", max="1970-01-01T00:00:01Z")
    edges = [UUID(text).int >> 80 for text in of.boundary()]
    assert edges == [1000, 1000, 1999, 1999] and of.count == 1000 << 74


def test_addresses_are_of_their_kind() -> None:
    for use, of in USES.items():
        kind, *words = use.split()
        for text in drawn(of) if kind == "ip_address" else ():
            found = ipaddress.ip_address(text)
            assert str(found) == text and found.version == (6 if "6" in words else 4)
            assert found.is_global or "public" not in words
            assert found.is_private or not {"private", "documentation"} & set(words)


def test_public_addresses_leave_out_all_that_is_special() -> None:
    of = domain("ip_address", kind="public")
    special = "10.1.2.3 127.0.0.1 169.254.1.1 172.31.0.1 192.168.0.1 100.127.0.1 224.0.0.1 255.255.255.255 0.0.0.1 198.19.0.1 203.0.113.9"
    assert not any(of.contains(text) for text in special.split())
    assert all(of.contains(text) for text in ("1.0.0.0", "9.255.255.255", "11.0.0.0", "223.255.255.255", "172.32.0.0"))
    blocks = sum(ipaddress.ip_network(block).num_addresses for block in
                 ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
                  "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
                  "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"))  # fmt: skip
    assert of.count == 2**32 - blocks


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_addresses_of_version_6_are_written_as_the_standard_library_does(number: int, mask: int) -> None:
    groups = [number >> shift & 0xFFFF if mask >> shift & 1 else 0 for shift in range(0, 128, 16)]
    joined = sum(group << 16 * place for place, group in enumerate(groups))
    if 0xFFFF << 32 <= joined < 0x10000 << 32:
        return  # an address of version 4 in version 6: newer Pythons write it in dots
    of = USES["ip_address 6"]
    assert isinstance(of, Enumerable) and of.at(joined) == str(ipaddress.IPv6Address(joined))


def test_emails_are_addresses() -> None:
    for text in of_kind("email"):
        found = Address(addr_spec=text)
        assert f"{found.username}@{found.domain}" == text
    assert {text.partition("@")[2] for text in drawn(USES["email"])} == {"example.com", "example.net", "example.org"}


def test_domains_are_host_names() -> None:
    for text in of_kind("domain"):
        labels = text.split(".")
        assert len(text) <= 253 and text.encode("idna") == text.encode()
        assert all(re.fullmatch(r"(?!-)[a-z0-9-]{1,63}(?<!-)", label) for label in labels)
    assert len({label_at(index) for index in range(label_count())}) == label_count()


def test_urls_come_apart_into_what_was_asked_for() -> None:
    for use in ("url", "url with a query"):
        for text in drawn(USES[use]):
            parts = urlsplit(text)
            pairs = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
            segments = parts.path.split("/")[1:]
            assert parts.geturl() == text and parts.hostname is not None and parts.port is None
            assert parts.hostname.endswith((".example.com", ".example.net", ".example.org"))
            assert [key for key, _ in pairs] == sorted({key for key, _ in pairs}) and len(pairs) <= 5 * ("query" in use)
            assert (len(segments) <= 4 and all(segments)) or segments == [""]


def test_dates_and_moments_are_iso() -> None:
    for text in of_kind("date"):
        assert date.fromisoformat(text).isoformat() == text
    for text in of_kind("timestamp"):
        assert datetime.fromisoformat(text).strftime("%Y-%m-%dT%H:%M:%SZ") == text


def test_dates_are_all_days_on_such_days_of_the_week() -> None:
    for first, length in product((date(2024, 2, 20), date(1, 1, 1), date(1900, 2, 23)), (1, 6, 7, 8, 30)):
        days = [first + timedelta(days=number) for number in range(length)]
        of = domain("date", min=str(days[0]), max=str(days[-1]))
        assert sorted(exhausted(of)) == [str(day) for day in days] and of.count == length
        wanted = [str(day) for day in days if day.weekday() in (1, 5)]
        if wanted:
            some = domain("date", min=str(days[0]), max=str(days[-1]), weekday=["saturday", "tuesday"])
            assert sorted(exhausted(some)) == wanted and some.count == len(wanted)
            assert [str(day) for day in days if some.contains(str(day))] == wanted


def test_moments_stand_in_even_steps() -> None:
    of = domain("timestamp", min="2024-02-28T23:00Z", max="2024-03-01", step=900)
    found = sorted(exhausted(of))
    moments = [datetime.fromisoformat(text) for text in found]
    assert (found[0], found[-1], len(found)) == ("2024-02-28T23:00:00Z", "2024-03-01T00:00:00Z", 101)
    assert {late - early for early, late in pairwise(moments)} == {timedelta(minutes=15)}
    assert (
        not of.contains("2024-02-29T00:00:01Z")
        and not of.contains("2024-02-29")
        and of.contains("2024-02-29T00:00:00Z")
    )


def test_browsers_call_themselves_what_they_do() -> None:
    found = exhausted(USES["user_agent"])
    assert len(found) == len(set(found)) == USES["user_agent"].count
    assert all(text.startswith("Mozilla/5.0 (") and "%" not in text for text in found)
    assert {"Mobile" in text or "Android" in text for text in exhausted(domain("user_agent", device="desktop"))} == {
        False
    }
    assert all("Firefox/" in text for text in drawn(domain("user_agent", browser="firefox")))
    assert {bool(re.search(r"Edg(A)?/", text)) for text in drawn(domain("user_agent", browser=["edge"]))} == {True}


# small domains


def test_a_network_is_exhausted() -> None:
    for network in ("192.168.7.8/29", "10.0.0.1/32", "2001:db8::ff00/123"):
        of = domain("ip_address", network=network)
        assert sorted(exhausted(of)) == sorted(map(str, ipaddress.ip_network(network)))
    assert domain("ip_address", kind="documentation").count == 3 * 256


def test_words_are_all_rows_of_words() -> None:
    of = domain("words", **{"from": ["a", "b", "c"], "count": {"min": 1, "max": 3}})
    rows = [" ".join(row) for size in (1, 2, 3) for row in product("abc", repeat=size)]
    assert sorted(exhausted(of)) == sorted(rows) and of.count == len(rows)
    assert not of.contains("a  b") and not of.contains("a d") and not of.contains("a b c a")
    assert sorted(exhausted(domain("words", **{"from": "colours"}))) == list(word_list("colours"))
    assert domain("words", **{"from": None}).count == len(word_list("nouns"))


def test_first_names_are_exhausted_with_the_pronouns_of_their_gender() -> None:
    assert sorted(exhausted(domain("name", gender="neutral"))) == list(word_list("first_names_neutral"))
    found = exhausted(domain("name", pronouns=True))
    assert len({key_of(value) for value in found}) == len(found) == domain("name").count
    by_name = {value["name"]: value for value in found}
    assert by_name["Ada"] == {
        "name": "Ada", "first": "Ada", "last": None, "gender": "female", "they": "she", "them": "her", "their": "her",
        "theirs": "hers", "themselves": "herself", "plural": False,
    }  # fmt: skip
    assert (by_name["Hugo"]["they"], by_name["Hugo"]["themselves"]) == ("he", "himself")
    assert (by_name["Rowan"]["them"], by_name["Rowan"]["plural"]) == ("them", True)


def test_a_record_of_a_person_is_a_member_only_as_a_whole() -> None:
    of = domain("name", pronouns=True, full=True, gender="female")
    value = drawn(of, 1)[0]
    assert value["name"] == f"{value['first']} {value['last']}"
    for change in ({"they": "he"}, {"gender": "male"}, {"plural": True}, {"last": "Nobody"}, {"age": 7}):
        assert not of.contains({**value, **change})


def test_usernames_of_a_style_are_all_different() -> None:
    of = domain("username", style="handle", digits=0)
    made = {of.name_at("handle", index) for index in range(of.count)}  # type: ignore[attr-defined]
    assert len(made) == of.count == len(word_list("adjectives")) * len(word_list("animals"))
    both = domain("username", digits=3)
    assert both.count == 1000 * (of.count + domain("username", style="person", digits=0).count)
    assert not both.contains("quiet_otter42") and both.contains("quiet_otter042")


# prose


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two words of each category, so that all sentences can be made."""
    cached = (
        sentences.places_of, sentences.clause_count, sentences.sentence_count, sentences.form_of, sentences.form_at,
    )  # fmt: skip
    few = {"determiner": ("a", "the"), "conjunction": ("and",)}
    monkeypatch.setattr(sentences, "words_of", lambda name: few.get(name, (f"o{name[:4]}", f"x{name[:4]}")))
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("few_words")
def test_no_two_ways_through_the_grammar_give_one_sentence() -> None:
    for size in (3, 4, 5, 7):
        shapes = [sentences.shape_at(size, index) for index in range(sentences.shape_count(size))]
        assert len(set(shapes)) == len(shapes) and all(len(shape) == size for shape in shapes)
        forms = list(map(sentences.form_of, shapes))
        texts = [form.sentence(index) for form in forms for index in range(form.texts)]
        assert len(set(texts)) == len(texts) == sentences.sentence_count(size)
        assert [sentences.read(text) for text in texts[::7]] == [
            shape for shape in shapes for _ in range(sentences.spellings(shape))
        ][::7]


def test_every_length_has_as_many_shapes_as_the_count_says() -> None:
    for size in range(sentences.SHORTEST, 15):
        shapes = {sentences.shape_at(size, index) for index in range(sentences.shape_count(size))}
        assert len(shapes) == sentences.shape_count(size)
        assert sum(map(sentences.spellings, shapes)) == sentences.sentence_count(size)
    with pytest.raises(IndexError):
        sentences.shape_at(9, sentences.shape_count(9))


def test_sentences_have_a_capital_a_full_stop_the_words_asked_for_and_the_right_article() -> None:
    for size in (3, 8, 21, 40):
        for text in drawn(domain("sentence", words=size), 40):
            assert len(text.split()) == size and re.fullmatch(r"[A-Z][a-z]*(,? [a-z]+)*\.", text)
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", text)


def test_what_is_no_sentence_is_told_from_one() -> None:
    of = domain("sentence", words={"min": 3, "max": 12})
    assert of.contains("The old baker quietly painted a wooden chair near the bridge.")
    assert of.contains("An otter slept.") and of.contains("An otter slept, and the king yawned.")
    wrong = ["A otter slept.", "An otter slept", "an otter slept.", "An otter slept and the king yawned.", "The.", ".",
             "The otter.", "The otter slept the king.", "The otter, slept.", "The otter slept, and.", "The old old otter slept.",
             "The otter lifted the bridge."]  # fmt: skip
    assert [text for text in wrong if of.contains(text)] == []


def test_paragraphs_have_the_sentences_asked_for() -> None:
    of = domain("paragraph", sentences={"min": 2, "max": 3}, words=3)
    for text in drawn(of, 30):
        assert text.count(".") in (2, 3) and all(len(part.split()) == 3 for part in text[:-1].split(". "))
    one = domain("sentence", words=3).count
    assert of.count == one**2 + one**3
    assert not of.contains("An otter slept.") and of.contains("An otter slept. An otter slept.")


# options that cannot be

FAULTS: list[tuple[str, dict[str, Any], str | None, str]] = [
    ("words", {"from": "nuns"}, "from", "unknown word list"),
    ("words", {"from": []}, "from", "1 to"),
    ("words", {"from": ["a b"]}, "from", "space"),
    ("words", {"from": ["a", "a"]}, "from", "duplicate"),
    ("words", {"from": ["a", 7]}, "from", "texts"),
    ("words", {"from": [*map(str, range(99_999)), "99998"]}, "from", "duplicate `99998`"),
    ("words", {"from": ["a"] * 100_001}, "from", "1 to 100000 non-empty texts"),
    ("words", {"count": 0}, "count", "between 1 and 1000"),
    ("words", {"count": 1001}, "count", "between 1 and 1000"),
    ("sentence", {"words": 2}, "words", "between 3 and 40"),
    ("sentence", {"words": {"min": 9, "max": 8}}, "words", "above"),
    ("sentence", {"words": "many"}, "words", "an integer"),
    ("paragraph", {"sentences": 101}, "sentences", "between 1 and 100"),
    ("name", {"gender": "femal"}, "gender", "female, male or neutral"),
    ("name", {"gender": []}, "gender", "empty"),
    ("name", {"pronouns": "yes"}, "pronouns", "true or false"),
    ("username", {"style": "nick"}, "style", "person, handle or any"),
    ("username", {"digits": 13}, "digits", "between 0 and 12"),
    ("email", {"domain": "not a host"}, "domain", "not a domain"),
    ("email", {"domain": ["-a.com"]}, "domain", "not a domain"),
    ("email", {"domain": "é.com"}, "domain", "not a domain"),
    ("email", {"domain": "a" * 121}, "domain", "not a domain"),
    ("ip_address", {"version": 5}, "version", "4 or 6"),
    ("ip_address", {"version": True}, "version", "4 or 6"),
    ("ip_address", {"kind": "secret"}, "kind", "public, private, documentation or any"),
    ("ip_address", {"network": "10.0.0.1/8"}, "network", "bits after the prefix"),
    ("ip_address", {"network": "10.0.0.0"}, "network", "must be text"),
    ("ip_address", {"network": "ten/8"}, "network", "not a network"),
    ("ip_address", {"network": "fe80::%1/64"}, "network", "must be text"),
    ("ip_address", {"network": "10.0.0.0/8", "kind": "any"}, "kind", "only one of"),
    ("ip_address", {"network": "10.0.0.0/8", "version": 6}, "version", "version 4"),
    ("domain", {"suffix": ["com", "example.com"]}, "suffix", "two ways"),
    ("domain", {"suffix": ".com"}, "suffix", "not a domain"),
    ("domain", {"labels": 0}, "labels", "between 1 and 4"),
    ("url", {"scheme": "gopher"}, "scheme", "ftp, http, https, ws or wss"),
    ("url", {"path": 21}, "path", "between 0 and 20"),
    ("url", {"query": -1}, "query", "between 0 and"),
    ("user_agent", {"browser": "lynx"}, "browser", "chrome, edge, firefox or safari"),
    ("user_agent", {"device": 1}, "device", "desktop or mobile"),
    ("uuid", {"version": 1}, "version", "4 or 7"),
    ("uuid", {"min": "2024-01-01"}, "min", "version 7"),
    ("uuid", {"version": 7, "min": "1969-01-01"}, "min", "1970"),
    ("timestamp", {"min": "2024-13-01"}, "min", "2026-01-31T12:00:00Z"),
    ("timestamp", {"min": "2024-01-01T24:00:00Z"}, "min", "must be a time"),
    ("timestamp", {"max": "2024-01-01T00:00:00+01:00"}, "max", "must be a time"),
    ("timestamp", {"min": "2024-01-02", "max": "2024-01-01"}, "max", "above"),
    ("timestamp", {"step": 0}, "step", "at least 1"),
    ("date", {"min": "2024-02-30"}, "min", "2026-01-31"),
    ("date", {"min": 20240201}, "min", "2026-01-31"),
    ("date", {"min": "2024-01-02", "max": "2024-01-01"}, "max", "above"),
    ("date", {"min": "2024-01-01", "max": "2024-01-02", "weekday": "sunday"}, "weekday", "no date"),
    ("date", {"weekday": "holiday"}, "weekday", "monday"),
]


@pytest.mark.parametrize(("kind", "options", "option", "word"), FAULTS)
def test_options_that_cannot_be_are_told(kind: str, options: dict[str, Any], option: str | None, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain(kind, **options)
    assert caught.value.option == option and word in caught.value.message
    assert len(caught.value.message) < 200


def test_a_list_of_the_spec_is_offered_where_no_shipped_one_has_the_name() -> None:
    with pytest.raises(OptionFault) as caught:
        domain("words", **{"from": "fruits"})
    assert caught.value.help is not None and "{from: fruits}" in caught.value.help
