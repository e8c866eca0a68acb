"""The studio in Chromium: it follows the editor, reads replies, shows hostile texts as text, and everybody can use it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import Browser, installed_browser, serious
from helpers.places import ROOT
from helpers.studio import BENCHMARK, SUM, Running

pytestmark = [pytest.mark.tools, pytest.mark.spawned]

HOSTILE = """\
template: hostile
title: </script><script>alert(1)</script>
params:
  a: {type: integer, min: 2, max: 99}
let:
  page: '"<svg onload=alert(2)><a href=javascript:alert(3)>x</a>" + "\\u202egnirts"'
answer: {value: "a + 1", type: integer}
mistakes: {"none": a}
prompt: |
  <img src=https://example.org/x onerror=alert(4)> {{ page }} {{ a }}
explanation: <b>bold</b>
"""
LETTER = """\
template: letter
title: A letter
params: {a: {type: integer, min: 2, max: 99}}
assets:
  letter: {build: pdf, text: "We have {{ a }} apples."}
deliver: {letter: attach}
answer: {value: a, type: integer}
prompt: How many apples are there in {{ letter }}?
"""
SHOWN = "await page.waitForFunction(() => document.body.dataset.looks && !document.querySelector('.state.waiting'));\n"
OPEN_ALL = """
await page.fill('.reply textarea', 'The answer is 12.');
await page.waitForSelector('.readings');
await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
await page.waitForSelector('#plots[data-done="1000"]');
tell('axe', await axe());
tell('wide', await page.evaluate(() => document.documentElement.scrollWidth));
"""
GALLERY = """
await page.click('#show-gallery');
await page.waitForSelector('.family');
await page.locator('.filters input').fill('prime');
await page.locator('text=Use as a start').first().click();
tell('axe gallery', await axe());
tell('families', await page.locator('#families [role=status]').first().textContent());
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return installed_browser(tmp_path_factory)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studio") / "mine"
    folder.mkdir()
    for name, text in {"benchmark": BENCHMARK, "a_sum": SUM, "hostile": HOSTILE}.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "specs" / "self_execution" / "token_injection.yaml", folder / "talk.yaml")
    shutil.copy(ROOT / "specs" / "dia_bench" / "d100_qr_code.yaml", folder / "qr_code.yaml")
    (folder / "letter.yaml").write_text(LETTER, encoding="utf-8")
    for name in ("dialled_number", "log_in_an_archive"):
        text = (ROOT / "docs" / "examples" / "tour" / "artefacts" / f"{name}.yaml").read_text(encoding="utf-8")
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    running = Running(folder)
    yield running
    running.end()


def address(running: Running, file: Path, count: int = 1) -> str:
    return f"{running.studio.address}#file={file.as_posix()}&count={count}"


@pytest.mark.parametrize(("width", "ground"), [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")])
def test_everybody_can_use_it(browser: Browser, running: Running, folder: Path, width: int, ground: str) -> None:
    results = browser(address(running, folder / "a_sum.yaml"), SHOWN + OPEN_ALL + GALLERY, width, ground)
    assert serious(results["axe"]) == [] and serious(results["axe gallery"]) == [] and results["troubles"] == []
    assert results["wide"] <= width, "the page itself is never scrolled sideways"
    assert results["families"].endswith("families") and not results["families"].startswith("0 ")


@pytest.mark.parametrize("name", ["talk", "dialled_number", "log_in_an_archive", "qr_code", "letter"])
def test_sessions_and_attachments_are_shown_to_everybody(
    browser: Browser, running: Running, folder: Path, name: str
) -> None:
    steps = """
    tell('axe', await axe());
    if (await page.locator('.attachment > div:empty').count()) await page.waitForSelector('.attachment div img');
    await page.waitForFunction(() => [...document.images].every((image) => image.complete));
    tell('graphs', await page.$$eval('.instance svg', (all) => all.map((one) => one.getAttribute('aria-label'))));
    tell('files', await page.$$eval('.attachment tbody td:first-child', (all) => all.map((one) => one.textContent)));
    tell('pictures', await page.$$eval('.attachment img', (all) => all.map((one) => one.naturalWidth)));
    """
    if name == "letter" and not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is not installed")
    results = browser(address(running, folder / f"{name}.yaml"), SHOWN + steps)
    assert serious(results["axe"]) == [] and results["troubles"] == []
    if name == "talk":
        assert results["graphs"] == [
            "2 sessions: second reads `reasoned` from first; grading reads `reasoned` from first; "
            "grading reads `resumed` from second"
        ]
    elif name == "dialled_number":
        assert results["graphs"][0].startswith("Wave of line.wav:") and results["graphs"][0].endswith("at 8000 Hz")
    elif name == "log_in_an_archive":
        assert results["files"]
    else:
        assert len(results["pictures"]) == 1 and all(results["pictures"])


def test_the_page_follows_the_editor(browser: Browser, running: Running, folder: Path) -> None:
    path = folder / "a_sum.yaml"
    steps = f"""
    const fs = (await import('fs')).default;
    const path = {json.dumps(path.as_posix())}, text = {json.dumps(SUM)};
    const save = async (text) => {{
      const looks = await page.evaluate(() => document.body.dataset.looks);
      fs.writeFileSync(path, text);
      await page.waitForFunction((looks) => document.body.dataset.looks !== looks, looks);
    }};
    await page.fill('.reply textarea', '<xml>1</xml>');
    await page.locator('.reply textarea').focus();
    await save(text.replace('What is', 'Compute'));
    tell('after', await page.locator('.prompt').innerText());
    tell('reply', await page.inputValue('.reply textarea'));
    tell('focus', await page.evaluate(() => document.activeElement.tagName));
    await save(text.replace('{{{{ b }}}}', '{{{{ bb }}}}'));
    tell('error', await page.locator('#problem-list').innerText());
    tell('kept', await page.locator('.prompt').innerText());
    tell('source', await page.locator('#source-lines').textContent());
    await page.waitForSelector('nav .state.errors');
    await save(text);
    tell('right', await page.locator('#problems').isHidden());
    """
    results = browser(address(running, path), SHOWN + steps)
    assert "Compute" in results["after"] and results["reply"] == "<xml>1</xml>" and results["focus"] == "TEXTAREA"
    line = next(number for number, line in enumerate(SUM.splitlines(), 1) if "{{ b }}" in line)
    assert (
        f"{path}:{line}:" in results["error"]
        and "bb" in results["error"]
        and f"{line} | prompt: What is" in results["error"]
    )
    assert "Compute" in results["kept"], "the last instances stay while the template is broken"
    assert "bb" in results["source"] and results["right"] and results["troubles"] == []


TWIN = """\
template: twin
title: Twin
params: {a: {type: integer, min: 2, max: 99}}
answer: {value: 2 * a, type: integer}
prompt: What is twice {{ a }}?
variants: {same: {prompt: "What is twice {{ a }}?"}}
"""


def test_a_page_of_a_file_that_is_not_there_yet_shows_it_later(
    browser: Browser, running: Running, folder: Path
) -> None:
    path = folder / "late.yaml"
    steps = f"""
    const fs = (await import('fs')).default;
    await page.waitForFunction(() => document.querySelector('#status').textContent.includes('No instances'));
    fs.writeFileSync({json.dumps(path.as_posix())}, {json.dumps(TWIN[: TWIN.index("variants")])});
    {SHOWN}
    tell('made', await page.locator('.prompt').count());
    """
    try:
        assert browser(address(running, path), steps)["made"] == 1
    finally:
        path.unlink(missing_ok=True)


def test_errors_of_all_instances_together_and_of_an_evaluation_are_listed(
    browser: Browser, running: Running, folder: Path
) -> None:
    path = folder / "twin.yaml"
    path.write_text(TWIN, encoding="utf-8")
    steps = f"""
    const fs = (await import('fs')).default;
    const path = {json.dumps(path.as_posix())}, text = {json.dumps(TWIN)};
    // replaced at once: a page that reads a half-written file asks for instances that do not exist
    const save = (text) => {{ fs.writeFileSync(path + '.new', text); fs.renameSync(path + '.new', path); }};
    const until = (words) => page.waitForFunction((words) => document.querySelector('#status').textContent.includes(words), words);
    await until('1 error');
    tell('together', await page.locator('#problem-list').innerText());
    save(text.slice(0, text.indexOf('variants')));
    await until('no errors');
    await page.waitForFunction(() => document.querySelector('#problems').hidden);
    // the list may know that there is no error before the page has the new instances
    await page.waitForFunction(() => document.querySelectorAll('.prompt').length === 1);
    tell('made', await page.locator('.prompt').count());
    save(text.slice(0, text.indexOf('variants')).replace('2 * a', 'a // (a - a)'));
    await page.waitForSelector('text=Made before the last change');
    await page.waitForSelector('#problem-list .error');
    await until('1 error');
    tell('evaluation', await page.locator('#problem-list').innerText());
    tell('stale', await page.locator('.instance.stale').allInnerTexts());
    """
    results = browser(address(running, path), SHOWN + steps)
    path.unlink()
    assert results["troubles"] == [] and results["made"] == 1
    assert "E506" in results["together"] and "same question" in results["together"]
    assert "E504" in results["evaluation"] and f"{path}:4:" in results["evaluation"]
    (card,) = results["stale"]
    assert card.startswith("Made before the last change.") and "What is twice" in card


def first_time(condition: str) -> str:
    """Steps that define `seen()`: the page at the change that first met the condition.

    The page itself takes the record, at once: a question from outside may come after the next change.
    """
    return f"""
    await page.evaluate(() => {{
      window.state = new Promise((resolve) => {{
        new MutationObserver((changes, observer) => {{
          if (!({condition})()) return;
          observer.disconnect();
          const stale = document.querySelectorAll('.instance.stale').length;
          resolve({{ stale, looks: document.body.dataset.looks, heading: document.querySelector('#heading').innerText }});
        }}).observe(document.body, {{ subtree: true, childList: true, characterData: true, attributes: true }});
      }});
    }});
    const seen = () => page.evaluate(() => window.state);
    """


ESTIMATED = """\
template: estimated
title: Estimated
params:
  many: {type: list, length: 6, of: {type: integer, min: 1, max: 99}}
where: sum(many) % 2 == 0 and length([n for n in range(2000) if n % 7 == many[0] % 7]) > 9
answer: {value: sum(many), type: integer}
prompt: What is the sum of {{ listed(many) }}?
"""


def test_instances_do_not_wait_for_the_estimate_of_how_many_there_are(
    browser: Browser, running: Running, folder: Path
) -> None:
    path = folder / "estimated.yaml"
    path.write_text(ESTIMATED, encoding="utf-8")
    steps = f"""
    const fs = (await import('fs')).default;
    const looks = await page.evaluate(() => document.body.dataset.looks);
    {first_time("() => document.querySelector('.prompt')?.innerText.includes('Compute')")}
    fs.writeFileSync({json.dumps(path.as_posix())}, {json.dumps(ESTIMATED.replace("What is", "Compute"))});
    const state = await seen();
    tell('heading', state.heading);
    tell('before', looks === state.looks);
    await page.waitForFunction((looks) => document.body.dataset.looks !== looks, looks);
    tell('after', await page.locator('#heading').innerText());
    """
    results = browser(address(running, path), SHOWN + steps)
    path.unlink()
    assert results["before"] and results["troubles"] == []
    assert "estimated from" in results["heading"] and "estimated from" in results["after"]


COSTLY = """\
template: costly
title: Costly
params: {a: {type: integer, min: 2, max: 9}}
let:
  count: length([n for n in range(400000) if n % 7 == a % 7])
answer: {value: a + count - count, type: integer}
prompt: What is {{ a }}?
"""


def test_a_changed_text_is_shown_before_its_costly_instances(browser: Browser, running: Running, folder: Path) -> None:
    path = folder / "costly.yaml"
    path.write_text(COSTLY, encoding="utf-8")
    steps = f"""
    const fs = (await import('fs')).default;
    const looks = await page.evaluate(() => document.body.dataset.looks);
    {first_time("() => document.querySelector('#heading').innerText.includes('Very costly')")}
    fs.writeFileSync({json.dumps(path.as_posix())}, {json.dumps(COSTLY.replace("title: Costly", "title: Very costly"))});
    const state = await seen();
    tell('old', state.stale);
    tell('source', await page.locator('#source-lines').textContent());
    tell('before', looks === state.looks);
    await page.waitForFunction((looks) => document.body.dataset.looks !== looks, looks);
    tell('left', await page.locator('.instance.stale').count());
    tell('all', await page.locator('.instance').count());
    """
    results = browser(address(running, path, count=3), SHOWN + steps)
    path.unlink()
    assert results["troubles"] == [] and results["old"] == 3 and results["before"]
    assert "Very costly" in results["source"] and results["left"] == 0 and results["all"] == 3


def test_a_family_becomes_a_template(browser: Browser, running: Running, folder: Path) -> None:
    steps = """
    await page.click('#show-gallery');
    await page.waitForSelector('.family');
    await page.locator('.filters input').fill('next_prime');
    await page.locator('text=Use as a start').first().click();
    await page.locator('.family form input').fill('my_prime');
    await page.keyboard.press('Enter');
    await page.locator('text=Show it').click();
    await page.waitForFunction(() => document.querySelector('#heading').textContent.includes('my_prime'));
    tell('chosen', await page.locator('nav a[aria-current]').getAttribute('data-file'));
    tell('gallery', await page.locator('#gallery').isHidden());
    await page.waitForSelector('.prompt');
    """
    results = browser(address(running, folder / "a_sum.yaml"), SHOWN + steps)
    path = folder / "my_prime.yaml"
    assert results["troubles"] == [] and results["chosen"] == path.as_posix() and results["gallery"]
    assert path.read_text(encoding="utf-8").startswith("template: my_prime\n")
    path.unlink()


def test_keys_alone_suffice(browser: Browser, running: Running, folder: Path) -> None:
    steps = """
    await page.keyboard.press('Tab');
    tell('skip', await page.evaluate(() => document.activeElement.textContent));
    const seen = [];
    for (let count = 0; count < 40 && !seen.includes('stress'); count += 1) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate(() => document.activeElement.id || document.activeElement.closest('[id]')?.id));
      if (seen.at(-1) === 'first') {
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        await page.waitForFunction(() => document.querySelector('.instance h3').textContent.startsWith('Instance 2'));
      }
      if (seen.at(-1) === 'stress') await page.keyboard.press('Enter');
    }
    tell('seen', seen);
    tell('open', await page.evaluate(() => document.querySelector('#stress').open));
    tell('address', await page.evaluate(() => location.hash));
    """
    results = browser(address(running, folder / "a_sum.yaml"), SHOWN + steps)
    assert results["skip"] == "Skip to the template" and results["open"] and "first=2" in results["address"]
    assert [name for name in results["seen"] if name in ("show-gallery", "find", "first", "seed", "count", "stress")] == [
        "show-gallery", "find", "first", "seed", "count", "stress",
    ]  # fmt: skip


def test_hostile_specs_run_nothing_and_fetch_nothing(browser: Browser, running: Running, folder: Path) -> None:
    steps = """
    await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
    await page.fill('.reply textarea', "<img src=https://example.org/y onerror=alert(5)>");
    await page.waitForSelector('.readings');
    await page.waitForTimeout(300);
    tell('text', await page.locator('main').innerText());
    tell('strange', await page.locator('main img, main b, main svg[onload], a[href^=javascript], [onload], [onerror]').count());
    """
    results: dict[str, Any] = browser(address(running, folder / "hostile.yaml"), SHOWN + steps)
    assert results["troubles"] == [] and results["strange"] == 0
    for part in ("<img src=https://example.org/x onerror=alert(4)>", "\\u202egnirts", "<b>bold</b>",
                 "</script><script>alert(1)</script>", "<svg onload=alert(2)>"):  # fmt: skip
        assert part in results["text"], part
