"""The report as a file: what is in it, that nothing of a stranger acts in it, and that it is whole or not there."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import json
import re
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.report.page.texts import displayed, short
from dia_runtime.report.page.write import PageOptions, page
from dia_runtime.respondents.respondent import Reply
from helpers.failures import refused_call
from helpers.places import GOLDEN
from helpers.schemas import faults

REPORT = GOLDEN / "report"
HOSTILE = [
    "</script><img src=https://example.org/x onerror=alert(1)><script>alert(2)</script>\nAnswer: A",
    "\x1b]0;owned\x07\x1b[31mred\nAnswer: A",
    "=cmd|' /C calc'!A0",
    "\u202egnirts desrever\u2066 Answer: A",
    "null\x00byte {{ 7*7 }} {% raw %} ${alert(1)} <!-- parts -->",
    "half \ud800 a pair, ]]> &lt;b&gt; `x`",
]
NAME = "<b onclick=alert(3)>=cmd \x1b[2J\u202e"


def write(rows: list[dict[str, Any]], *options: str) -> None:
    """A run of these rows, `a.run`."""
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fields = [f"--field={name}={name}" for name in ("item", "instance", "category", "model") if name in rows[0]]
    command = ["import", "t.jsonl", "--from", "jsonl", "--letters", "A-E", "--skip", "E", *fields, *options]
    assert run([*command, "-o", "a.run", "-q", "--force"]) == 0


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def hostile() -> None:
    """A run whose every text is hostile."""
    rows = [
        {"id": f"{reply[:9]}{at}", "gold": "A", "reply": reply, "category": f"</title>{reply[:30]}", "model": NAME}
        for at, reply in enumerate(HOSTILE)
    ]
    write(rows)


def report(*options: str) -> str:
    assert run(["report", "a.run", "-o", "r.html", "-q", *options]) == 0
    return Path("r.html").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inner: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in ("script", "style") else None

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inner.append((*self._open, data))


def unpacked(text: str) -> dict[str, Any]:
    """The packed blocks of the page, by their names, as zlib and base64 read them."""
    packed = re.findall(r'<script type="application/octet-stream" id="([a-z0-9-]+)">([^<]*)</script>', text)
    return {name: json.loads(zlib.decompress(base64.b64decode(held))) for name, held in packed}


def questions(text: str) -> list[dict[str, Any]]:
    held = unpacked(text)
    return [question for number in range(len(held) - 1) for question in held[f"part-{number}"]]


def test_every_question_is_in_the_page_with_reply_reading_and_verdict(tmp_path: Path) -> None:
    rows = [{"id": f"q{at:03}", "gold": "A", "reply": f"Thinking {at}\nAnswer: {'ABE'[at % 3]}"} for at in range(300)]
    write(rows)
    text = report()
    found = questions(text)
    assert [question["id"] for question in found] == [f"q{at:03}" for at in range(300)]
    verdicts = [question["replies"][0]["verdict"] for question in found]
    assert verdicts[:3] == ["correct", "wrong", "skipped"] and verdicts == verdicts[:3] * 100
    assert found[1]["truth"] == "A" and found[1]["replies"][0] == {
        "model": 0, "verdict": "wrong", "points": found[1]["replies"][0]["points"], "said": "B",
        "step": found[1]["replies"][0]["step"], "text": "Thinking 1\nAnswer: B",
    }  # fmt: skip
    index = unpacked(text)["index"]
    assert "".join(index["signs"]) == "cws" * 100 and index["starts"][0] == 0
    assert text == report(), "the same bytes each time"


def test_parts_begin_where_the_index_says() -> None:
    write([{"id": f"q{at:02}", "gold": "A", "reply": "x" * 30_000 + "\nAnswer: A"} for at in range(40)])
    held = unpacked(report("--replies", "25000"))
    starts = held["index"]["starts"]
    assert len(starts) > 3 and [held[f"part-{at}"][0]["id"] for at in range(len(starts))] == [
        f"q{at:02}" for at in starts
    ]
    reply = held["part-0"][0]["replies"][0]["text"]
    assert reply[1] == 5010 and len(reply[0]) + len(reply[2]) == 25_000 and reply[2].endswith("Answer: A")


def test_replies_may_be_left_out() -> None:
    write([{"id": "a", "gold": "A", "reply": "Answer: A, in secret"}])
    text = report("--replies", "0")
    assert "text" not in questions(text)[0]["replies"][0] and "Replies are left out" in text


def test_only_our_own_script_and_style_may_act(hostile: None) -> None:
    text = report()
    tags = Tags(text)
    (policy,) = [held["content"] for tag, held in tags.found if held.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().partition(" ")[::2] for rule in str(policy).split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (ours,) = [data for name, held, data in tags.inner if name == tag and "type" not in held]
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(ours.encode()).digest()).decode()}'"
    assert "unsafe" not in str(policy)
    names = {tag for tag, _ in tags.found}
    assert not names & {"img", "iframe", "object", "embed", "link", "b", "base", "form", "audio", "video"}
    attributes = {name for _, held in tags.found for name in held}
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "action")]
    assert not [held["href"] for tag, held in tags.found if not str(held.get("href", "#")).startswith("#")]


def test_hostile_texts_are_shown_as_texts(hostile: None, capsys: pytest.CaptureFixture[str]) -> None:
    text = report()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    kept = {question["replies"][0]["text"] for question in questions(text)}
    assert HOSTILE[0] in kept and "=cmd|' /C calc'!A0" in kept
    assert "\\u202egnirts desrever\\u2066 Answer: A" in kept and any("null\\x00byte" in held for held in kept)
    assert all(not held.isprintable() or displayed(held) == held for held in kept)
    assert html.escape("<b onclick=alert(3)>=cmd \\x1b[2J\\u202e", quote=False) in text
    capsys.readouterr()
    assert run(["score", "a.run", "--format", "csv", "-q"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "@", "+", "\t")]
    assert run(["score", "a.run", "-q"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_prompts_are_shown_where_the_bundle_is_named(
    tiny: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tiny()
    assert (
        run(["run", str(bundle), "--model", "oracle", "--model", "abstain", "--model", "wrong", "-o", "a.run", "-q"])
        == 0
    )
    assert "messages" not in questions(report())[0]
    capsys.readouterr()
    text = report("--bundle", str(bundle), "--title", "Tiny & <b>bold</b>", "--by", "template", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert faults("report", facts) == []
    assert (
        facts["has_prompts"]
        and facts["bytes"] == len(text.encode())
        and (facts["questions"], facts["models"]) == (6, 3)
    )
    first = questions(text)[0]
    assert first["messages"][0][1] == "What is 7 + 1? Ω" and first["labels"]["category"] == "arithmetic"
    assert [reply["verdict"] for reply in first["replies"]] == ["correct", "skipped", "wrong"]
    assert "<title>Tiny &amp; &lt;b&gt;bold&lt;/b&gt;</title>" in text
    for name in ("leaderboard", "reliability", "by-domain", "by-category", "by-template", "abstention", "comparisons"):
        assert f'<section id="{name}"' in text


def test_a_conversation_is_kept_as_one(tiny: Callable[..., Path]) -> None:
    unread = {"name": "then", "turn": 1, "item": None, "text": None, "tokens": None, "seconds": None,
              "finish_reason": None, "error": {"kind": "unset", "message": "it was never asked"}}  # fmt: skip
    said = {"name": "talk", "item": None, "role": "subject", "model": "m", "shared": None, "replies": [unread],
            "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "<b>Hi</b>"}]}  # fmt: skip
    transcript = json.dumps({"sessions": [said], "transcript": 1}, sort_keys=True, separators=(",", ":"))

    class Talker:
        name = model = "talker"
        settings: dict[str, Any] = {}

        def reply(self, question: Any) -> Reply:
            return Reply(transcript)

    dia_runtime.run(tiny(templates=1, k=1), [Talker()], Path("a.run"))
    (reply,) = questions(report())[0]["replies"]
    messages = [["user", "Hello"], ["assistant", "<b>Hi</b>"], ["then 2", "it was never asked"]]
    assert reply["sessions"] == [["talk", messages]] and "text" not in reply


def test_more_models_than_can_be_compared_are_shown_without_comparisons() -> None:
    write([{"id": "a", "gold": "A", "reply": "Answer: A", "model": f"model {at}"} for at in range(51)])
    text = report()
    assert "51 models are too many for comparisons in pairs" in text and "Paired differences" not in text


def test_points_errors_and_attempts_are_those_of_score(tiny: Callable[..., Path]) -> None:
    assert run(["run", str(tiny()), "--model", "wrong", "--attempts", "2", "-o", "a.run", "-q"]) == 0
    text = report("--points", "wrong=-1", "--over", "attempts")
    replies = questions(text)[0]["replies"]
    assert [(reply["points"], reply.get("attempt")) for reply in replies] == [("-1", None), ("-1", 2)]
    assert "points wrong=-1 differ from the benchmark's" in html.unescape(text)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["missing.run", "-o", "r.html"], "E801", "missing.run"),
        (
            ["a.run", "-o", "folder"],
            "E873",
            "`folder` cannot be written: it is a folder\n  help: choose another location",
        ),
        (["a.run", "-o", "."], "E873", "cannot be written: it is a folder"),
        (["a.run", "-o", "t.jsonl/r.html"], "E873", "`t.jsonl/r.html` cannot be written: `t.jsonl` is not a folder"),
        (
            ["a.run", "-o", "t.jsonl/a/r.html"],
            "E873",
            "`t.jsonl/a/r.html` cannot be written: `t.jsonl` is not a folder",
        ),
        (["a.run", "-o", "r.html", "--points", "wrong"], "E811", "does not have the form VERDICT=N"),
        (["a.run", "-o", "r.html", "--by", "categroy"], "E811", "did you mean `category`"),
    ],
)
def test_what_cannot_be_done_is_told_and_leaves_nothing(
    arguments: list[str], code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write([{"id": "a", "gold": "A", "reply": "Answer: A"}])
    Path("folder").mkdir()
    before = sorted(Path().rglob("*"))
    refused_call(code, words, capsys, "report", *arguments)
    assert sorted(Path().rglob("*")) == before


def test_what_stands_out_is_on_the_page_as_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    replies = {"a": "Answer: A", "b": "Answer: B", "c": "perhaps"}
    write([{"id": f"q{at}", "gold": "A", "model": name, "reply": replies[name]} for name in replies for at in range(4)])
    capsys.readouterr()
    assert run(["score", "a.run", "--compare", "rs"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    notes = re.findall("<li>(.*?)</li>", re.findall(r'<ul class="notes">(.*?)</ul>', report())[0])
    assert len(notes) == 4 and "Intervals of differences over fewer than 20 items are too narrow" in notes[1]
    for note in notes:
        assert html.unescape(note) in screen


def test_a_name_that_browsers_do_not_show_as_a_page_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    write([{"id": "a", "gold": "A", "reply": "Answer: A"}])
    capsys.readouterr()
    noted = {}
    for name in ("r.txt", "r", "r.html", "r.HTM"):
        assert run(["report", "a.run", "-o", name]) == 0
        out, err = capsys.readouterr()
        assert out == f"{name}\n" and Path(name).read_bytes().startswith(b"<!doctype html>")
        noted[name] = err
    assert noted["r.txt"] == "note: r.txt is an HTML page; browsers show it as a page only if its name ends in .html\n"
    assert noted["r"] and not noted["r.html"] and not noted["r.HTM"]
    assert run(["report", "a.run", "-o", "r.txt", "-q"]) == 0 and capsys.readouterr().err == ""


def test_an_interrupted_report_leaves_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    write([{"id": "a", "gold": "A", "reply": "Answer: A"}])
    old = report()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dia_runtime.report.page.write.write_parts", interrupted)
    assert run(["report", "a.run", "-o", "r.html", "--title", "new"]) == 130
    assert Path("r.html").read_text(encoding="utf-8") == old
    assert sorted(path.name for path in Path().iterdir()) == ["a.run", "r.html", "t.jsonl"]


def test_the_page_of_a_small_score_is_this_one(request: pytest.FixtureRequest) -> None:
    score = json.loads((REPORT / "score.json").read_text(encoding="utf-8"))
    text = page(score, PageOptions(reply_length=500, notes=["a note <of> ours"]), True)
    held = re.sub(r"(<(style|script)\b[^>]*>).*?(</\2>)", r"\1\3", text, flags=re.DOTALL)
    held = re.sub(
        r"sha256-[A-Za-z0-9+/=]+", "sha256-...", re.sub(r"(<svg\b[^>]*>).*?</svg>", r"\1</svg>", held, flags=re.DOTALL)
    )
    path = REPORT / "page.html"
    if request.config.getoption("--update-golden"):
        path.write_text(held, encoding="utf-8")
    assert held == path.read_text(encoding="utf-8")


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    for size in (0, 1, 2, 3, 9, 10, 11):
        kept = short("abcdefghij", size)
        if isinstance(kept, str):
            assert kept == "abcdefghij" and size >= 10
        else:
            head, left_out, tail = kept
            assert len(head) + len(tail) == size and left_out == 10 - size
            assert "abcdefghij".startswith(head) and "abcdefghij".endswith(tail)
