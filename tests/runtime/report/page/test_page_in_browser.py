"""The report in Chromium: it opens quickly, is usable by keyboard, screen reader and phone, prints, and runs nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.grading.judge import Judged
from dia_runtime.grading.verdicts import Mark, Verdict
from dia_runtime.report.page.parts import write_parts
from dia_runtime.report.page.write import PARTS, PageOptions, page
from dia_runtime.scoring.align import AlignedReply
from dia_runtime.store.schema import StoredQuestion, StoredReply
from helpers.browser import Browser, installed_browser, serious
from helpers.places import GOLDEN

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return installed_browser(tmp_path_factory)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Callable[..., Path]) -> Path:
    """A report with all sections, of three models and twelve questions in two wordings."""
    monkeypatch.chdir(tmp_path)
    bundle = tiny(templates=4, variants=[None, "shouted"])
    models = [word for name in ("oracle", "abstain", "wrong") for word in ("--model", name)]
    assert run(["run", str(bundle), *models, "-o", "a.run", "-q"]) == 0
    assert run(["report", "a.run", "--bundle", str(bundle), "-o", "r.html", "--by", "template", "-q"]) == 0
    return tmp_path / "r.html"


OPEN_ALL = """
await page.locator('#rows button').first().click();
await page.waitForSelector('.opened article');
await page.evaluate(() => document.querySelectorAll('details').forEach((held) => { held.open = true; }));
tell('axe', await axe());
tell('wide', await page.evaluate(() => document.documentElement.scrollWidth));
"""


@pytest.mark.parametrize(("width", "ground"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_everybody_can_use_it(browser: Browser, small: Path, width: int, ground: str) -> None:
    found = browser(small, OPEN_ALL, width, ground)
    assert serious(found["axe"]) == [] and found["troubles"] == []
    assert found["wide"] <= width, "the page itself is never scrolled sideways"


@pytest.mark.parametrize(("width", "ground"), [(1280, "dark"), (390, "light")])
def test_a_scale_is_for_everybody_and_prints(
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tiny: Callable[..., Path],
    width: int,
    ground: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    models = [word for theta in (-1, 0, 1) for word in ("--model", f"simulated:theta={theta},seed=5")]
    assert run(["run", str(tiny(templates=4)), *models, "-o", "a.run", "-q"]) == 0
    assert run(["calibrate", "a.run", "--items", "items", "-o", "bank.json", "-q"]) == 0
    assert run(["report", "a.run", "--bank", "bank.json", "-o", "r.html", "-q"]) == 0
    shown = "tell('seen', await page.locator('#scale svg:visible').count());"
    prints = "tell('pdf', (await page.pdf({ format: 'A4' })).length)"
    found = browser(tmp_path / "r.html", OPEN_ALL + shown + prints, width, ground)
    assert serious(found["axe"]) == [] and found["troubles"] == [] and found["wide"] <= width
    assert found["seen"] == 4 and found["pdf"] > 20_000, "of each picture the one for this screen"


def test_a_picture_alone_can_be_read_out(browser: Browser, small: Path) -> None:
    assert run(["plot", "leaderboard", "a.run", "-o", "board.svg"]) == 0
    found = browser(small.with_name("board.svg"), "tell('name', await page.evaluate(() => document.title))")
    assert found["troubles"] == [] and found["name"] == "Reliability scores"


SORT = """
const first = () => page.$$eval('#leaderboard table.sortable tbody th', (cells) => cells.map((cell) => cell.textContent));
const button = page.locator('#leaderboard thead button').nth(1);
tell('before', await first());
await button.focus();
await page.keyboard.press('Enter');
await page.keyboard.press('Space');
tell('after', await first());
tell('sort', await page.$$eval('#leaderboard thead th', (heads) => heads.map((head) => head.getAttribute('aria-sort'))));
await page.keyboard.press('Tab');
tell('next', await page.evaluate(() => document.activeElement.textContent));
await page.locator('#rows button').first().focus();
await page.keyboard.press('Enter');
await page.waitForSelector('.opened article');
tell('opened', await page.locator('.opened article').innerText());
await page.keyboard.press('Enter');
tell('closed', await page.locator('.opened').count());
await page.locator('#what').selectOption('w');
await page.locator('#who').selectOption('2');
tell('wrong', await page.locator('#found').innerText());
await page.locator('#find').fill('sum_3/2');
tell('found', await page.locator('#rows th').allInnerTexts());
"""


def test_keys_sort_tables_and_open_questions(browser: Browser, small: Path) -> None:
    found = browser(small, SORT)
    assert found["before"][:3] == ["oracle", "abstain", "wrong"] and found["after"][:3] == [
        "wrong",
        "abstain",
        "oracle",
    ]
    assert found["sort"][:3] == [None, "ascending", None] and found["next"] == "interval"
    for part in ("What is 7 + 1?", "Correct answer", "oracle", "<xml>8</xml>", "I-DO-NOT-KNOW", "wrong", "-2 points"):
        assert part in found["opened"], part
    assert found["closed"] == 0 and found["wrong"] == "24 of 24 questions"
    assert found["found"] == ["tiny/sum_3/2", "tiny/sum_3/2/shouted"] and found["troubles"] == []


def test_hostile_replies_run_nothing_and_fetch_nothing(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        "</script><img src=https://example.org/x onerror=alert(1)><script>alert(2)</script>",
        "<svg onload=alert(3)><a href='javascript:alert(4)'>x</a>",
        "\u202egnirts\x00\x1b[31m =cmd()",
    ]
    rows = [
        {"id": f"{at}{line}", "gold": "A", "reply": f"{line}\nAnswer: A", "model": line, "category": line}
        for at, line in enumerate(lines)
    ]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["import", "t.jsonl", "--from", "jsonl", "--letters", "A-E", "--skip", "E"]
    assert run([*command, "--field=model=model", "--field=category=category", "-o", "a.run", "-q"]) == 0
    assert run(["report", "a.run", "-o", "r.html", "--title", lines[0], "-q"]) == 0
    steps = """
    for (let at = 0; at < 3; at += 1) {
      await page.locator('#rows button').nth(at).click();
      await page.waitForTimeout(150);
    }
    tell('text', await page.locator('#rows').innerText());
    tell('strange', await page.locator('img, iframe, a[href^=javascript], [onload], [onerror]').count());
    """
    found = browser(tmp_path / "r.html", steps)
    assert found["troubles"] == [] and found["strange"] == 0
    assert (
        lines[0] in found["text"]
        and lines[1] in found["text"]
        and "\\u202egnirts\\x00\\x1b[31m =cmd()" in found["text"]
    )


def test_it_prints(browser: Browser, small: Path) -> None:
    found = browser(small, "tell('pdf', Buffer.from(await page.pdf({ format: 'A4' })).toString('latin1').length)")
    assert found["pdf"] > 20_000 and found["troubles"] == []


QUESTIONS, MODELS, K = 15_000, 10, 5


def entries() -> Iterator[list[AlignedReply]]:
    """The replies of ten invented models to so many questions."""
    marks = [Mark(verdict, Fraction(0), Fraction(0)) for verdict in (Verdict.CORRECT, Verdict.SKIPPED, Verdict.WRONG)]
    for at in range(QUESTIONS):
        item = f"item_{at // K:04}"
        question = StoredQuestion(
            at, f"large/{item}/{at % K}", b"", item, item, at % K, None, "c", "d", "easy", None, 1, "{}", "{}", None
        )
        replies = []
        for model in range(MODELS):
            text = " ".join(str((at * 7919 + model * 104_729 + word * 31) % 9973) for word in range(40))
            mark = marks[(at * 31 + model * 17) % 3]
            judged = Judged(
                question, mark, frozenset(), {}, None, str(at), "whole", StoredReply(text, None, None), str(at), 0
            )
            replies.append(AlignedReply(at, model, judged))
        yield replies


def test_a_large_page_is_small_enough_and_opens_at_once(browser: Browser, tmp_path: Path) -> None:
    golden = GOLDEN / "report" / "score.json"
    score = json.loads(golden.read_text(encoding="utf-8"))
    first = score["models"][0]
    score["k"], score["n"] = K, QUESTIONS // K
    score["models"] = [
        {**first, "model": f"model {at}", "tsr": {f"item_{item:04}": (item + at) % 6 for item in range(QUESTIONS // K)}}
        for at in range(MODELS)
    ]
    above, below = page(score, PageOptions(reply_length=200)).split(PARTS)
    place = tmp_path / "large.html"
    with place.open("wb") as out:
        out.write(above.encode())
        written = write_parts(out, entries(), MODELS, None, 200)
        out.write(below.encode())
    assert written.replies == QUESTIONS * MODELS and place.stat().st_size < 30_000_000
    steps = """
    await page.fill('#find', 'item_2999/4');
    await page.locator('#rows button').first().click();
    await page.waitForSelector('.opened article');
    tell('opened', await page.locator('.opened article').innerText());
    """
    found = browser(place, steps)
    assert "14999" in found["opened"] and found["troubles"] == []
    fastest = min(found["milliseconds"], *(browser(place)["milliseconds"] for _ in range(2)))  # others work here too
    assert fastest < 3000


def test_the_driver_sees_what_a_page_must_not_do(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<p id=rows><button>x</button></p><img src=https://example.org/x><script>alert(1)</script>")
    found = browser(bad, "tell('axe', await axe())")
    assert any("example.org" in trouble for trouble in found["troubles"]) and "dialog 1" in found["troubles"]
    assert {one[0] for one in serious(found["axe"])} >= {"document-title", "html-has-lang", "image-alt"}


def test_many_models_with_long_names_scroll_within_the_page(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"model-{at}" for at in range(11)] + ["x" * 300]
    rows = [{"id": f"q{at}", "gold": "A", "reply": "Answer: A", "model": name} for name in names for at in range(3)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["import", "t.jsonl", "--from", "jsonl", "--letters", "A-E", "--field=model=model", "-o", "a.run", "-q"]
    assert run(command) == 0 and run(["report", "a.run", "-o", "r.html", "-q"]) == 0
    wide = "tell('wide', await page.evaluate(() => document.documentElement.scrollWidth));"
    assert browser(tmp_path / "r.html", wide, 390)["wide"] == 390
