"""Pages and messages read back, against the parsers of Python's standard library."""

from __future__ import annotations

import email.parser
import email.policy
import time
from html.parser import HTMLParser

import pytest
from dia_language.diagnostics import LanguageError
from helpers.examples import examples
from helpers.library_calls import call
from hypothesis import given, settings
from hypothesis import strategies as st

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Fish &amp; Chips</title><style>p > b { color: red }</style></head>
<BODY class=main><!-- <p>not here</p> -->
<form id="first" action='/a?x=1&amp;y=2'><input type=hidden name="token" value="a&quot;b"><br/>
<p>One <b>two</b> &lt;three&gt;</form>
<form id="second"><input name="token" VALUE='c > d' disabled></form>
<textarea>a &gt; b &amp; c</textarea>
<script>if (1 < 2) document.write("<p>neither</p>");</script>
</BODY></html>"""


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its comments, as Python's parser sees them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in reversed(attrs)}))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def tags_of(page: str) -> Tags:
    parser = Tags()
    parser.feed(page)
    parser.close()
    return parser


def test_tags_and_comments_are_those_of_pythons_parser() -> None:
    told = tags_of(PAGE)
    for name in {name for name, _ in told.tags}:
        found = [dict(element["attributes"]) for element in call("html_elements", PAGE, name)]
        assert found == [attributes for tag, attributes in told.tags if tag == name], name
    assert call("html_comments", PAGE) == told.comments == [" <p>not here</p> "]


def test_inner_parts_can_be_read_again() -> None:
    forms = call("html_elements", PAGE, "form")
    assert [call("html_elements", form["inner"], "input")[0]["attributes"]["value"] for form in forms] == [
        'a"b',
        "c > d",
    ]
    assert forms[0]["text"] == "\nOne two <three>"
    assert forms[1]["inner"] == "<input name=\"token\" VALUE='c > d' disabled>"


def test_texts_leave_scripts_out_unless_they_are_asked_for() -> None:
    (body,) = call("html_elements", PAGE, "body")
    assert "neither" not in body["text"] and "a > b & c" in body["text"]
    assert call("html_elements", PAGE, "script")[0]["text"] == 'if (1 < 2) document.write("<p>neither</p>");'
    assert call("html_elements", PAGE, "title")[0]["text"] == "Fish & Chips"
    (area,) = call("html_elements", "<p><textarea><b>no tag &amp; no end</textarea>", "TEXTAREA")
    assert area["inner"] == "<b>no tag &amp; no end" and area["text"] == "<b>no tag & no end"


NAMES = st.sampled_from(["a", "b", "div", "input", "br"])
VALUES = st.text("ab<>&;'=/ -!", max_size=6)
PARTS = st.one_of(
    st.tuples(NAMES, VALUES).map(lambda part: f'<{part[0]} x="{part[1]}">'),
    st.lists(st.tuples(NAMES, VALUES).map(lambda part: f' {part[0]}="{part[1]}"'), max_size=3).map(
        lambda held: f"<b{''.join(held)}>"
    ),
    NAMES.map(lambda name: f"</{name}>"),
    st.text("ab &;>\n", max_size=8),
    st.text("ab <>", max_size=5).map(lambda text: f"<!-- {text} -->"),
)


@given(st.lists(PARTS, max_size=20).map("".join))
@settings(max_examples=examples(200), deadline=None)
def test_pages_of_many_parts_are_read_as_pythons_parser_reads_them(page: str) -> None:
    told = tags_of(page)
    for name in ("a", "b", "div", "input", "br"):
        found = [dict(element["attributes"]) for element in call("html_elements", page, name)]
        assert found == [attributes for tag, attributes in told.tags if tag == name]
    assert call("html_comments", page) == told.comments


@pytest.mark.parametrize("page", ["<p", "<a b", '<a b="c>', "<!-- a", "<!doctype", "<script>x", "<title>x</titles>"])
def test_what_has_no_end_is_an_error(page: str) -> None:
    with pytest.raises(LanguageError, match="is not closed"):
        call("html_elements", page, "p")


@pytest.mark.long
def test_long_and_deep_pages_take_no_longer_than_they_are_long() -> None:
    begun = time.process_time()
    for page in ("<a>" * 100_000 + "</b>" * 100_000, "<" * 500_000, "<a" + " b" * 200_000 + ">", '<a b="' * 100_000):
        try:
            call("html_elements", page, "b")
        except LanguageError as error:
            assert "not closed" in str(error)
    with pytest.raises(LanguageError, match="more than 1,000,000 characters"):
        call("html_elements", "<a>" * 10_000, "a")
    assert time.process_time() - begun < 6


MESSAGE = "HTTP/1.1 200 OK\r\nServer: x/1\r\nset-cookie: a=b; HttpOnly\r\nX-Empty:\r\nVARY: a\r\nVary: \tb \r\n\r\nline\r\n\r\nmore"


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_messages_are_read_as_the_parser_of_mails_reads_them(end: str) -> None:
    message = MESSAGE.replace("\r\n", end)
    parts = call("http_message", message)
    told = email.parser.Parser(policy=email.policy.HTTP).parsestr(message.partition(end)[2])
    assert [[name, value] for name, value in parts["headers"]] == [
        [name, value.strip()] for name, value in told.items()
    ]
    assert parts["start"] == "HTTP/1.1 200 OK"
    assert parts["body"] == f"line{end}{end}more"


def test_headers_are_found_whatever_their_case() -> None:
    assert call("header_of", MESSAGE, "Set-Cookie") == "a=b; HttpOnly"
    assert call("header_of", MESSAGE, "vary") == "a, b"
    assert call("header_of", MESSAGE, "X-Empty") == ""
    assert call("header_of", MESSAGE, "Host") is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("GET / HTTP/1.1\nHost: a", "not an HTTP message"),
        ("GET / HTTP/1.1\nHost\n\n", "not a header"),
        ("x\nA : b\n\n", "not a header"),
    ],
)
def test_what_is_no_message_is_an_error(message: str, said: str) -> None:
    with pytest.raises(LanguageError, match=said):
        call("http_message", message)
