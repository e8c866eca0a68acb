"""The pages that the site generates, its navigation, and the pictures of screens. None of it needs MkDocs."""

from __future__ import annotations

import importlib
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from dia_language.error_codes import CODES
from dia_language.functions import FUNCTIONS
from helpers.places import ROOT

DOCS = ROOT / "docs"
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
OWN = ("generate", "site_pages", "site_gallery", "pictures")


@pytest.fixture
def docs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The modules of docs/ can be imported by their names."""
    monkeypatch.syspath_prepend(str(DOCS))
    yield
    for name in OWN:
        sys.modules.pop(name, None)


@pytest.fixture
def pages(docs: None) -> ModuleType:
    return importlib.import_module("site_pages")


@pytest.fixture
def gallery(docs: None) -> ModuleType:
    return importlib.import_module("site_gallery")


def listed(nav: Any) -> Iterator[str]:
    """The pages of the navigation."""
    if isinstance(nav, str):
        yield nav
    for part in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from listed(part)


def test_the_navigation_lists_every_page_once(pages: ModuleType) -> None:
    checked_in = {
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if DOCS / "examples" not in path.parents
    }
    generated = {"functions/index.md", "errors/index.md", "gallery.md", *pages.ROOT_PAGES.values()}
    assert sorted(listed(SETTINGS["nav"])) == sorted(checked_in | generated)


def test_the_index_links_to_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    missing = [path.name for path in DOCS.rglob("*.md") if path.relative_to(DOCS).as_posix() not in index]
    assert missing == ["index.md"]


def test_the_site_requests_nothing_from_elsewhere() -> None:
    assert SETTINGS["theme"]["font"] is False
    assert not {"repo_url", "extra"} & set(SETTINGS)  # the theme asks the host of a repository for its stars
    for path in (DOCS / "assets").iterdir():
        text = path.read_text(encoding="utf-8").replace('"http://www.w3.org/2000/svg"', "")
        assert "//" not in re.sub(r"^// .*$", "", text, flags=re.MULTILINE), path
    assert all((DOCS / path).is_file() for path in SETTINGS["extra_css"] + SETTINGS["extra_javascript"])


def test_each_function_and_each_error_code_has_a_page(pages: ModuleType) -> None:
    made = pages.function_pages() | pages.error_pages()
    assert {f"functions/{name}.md" for name in FUNCTIONS} | {f"errors/{code}.md" for code in CODES} <= set(made)
    for path, text in made.items():
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            assert there in made or (DOCS / there).is_file(), f"{path}: {target}"


def test_the_page_of_a_function_has_its_entry(pages: ModuleType) -> None:
    text = pages.function_pages()["functions/gcd.md"]
    assert text.startswith("# gcd\n")
    assert "gcd(12, 18) -> 6" in text
    assert "[lcm](lcm.md)" in text


def test_the_page_of_an_error_code_shows_a_real_message(pages: ModuleType) -> None:
    text = pages.error_pages()["errors/E304.md"]
    assert text.startswith("# E304: ")
    assert re.search(r"^specs/\S+: error\[E304\]: .*\n(?: .*\n)+```$", text, re.MULTILINE)
    assert len(pages.reported_examples()) > 40


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("readme.md", "[a](docs/howto/place.md#x)", "[a](howto/place.md#x)"),
        ("readme.md", "![a](docs/images/report.png)", "![a](images/report.png)"),
        ("index.md", "[a](../CONTRIBUTING.md)", "[a](contributing.md)"),
        (
            "howto/place.md",
            "[a](../index.md) [b](#c) [d](https://e.org)",
            "[a](../index.md) [b](#c) [d](https://e.org)",
        ),
        ("howto/place.md", "[`a`](../../LICENSE)", "[`a`](../files/LICENSE)"),
        ("howto/place.md", "[the *specs*](../../specs/dia_bench)", "the *specs*"),
        ("howto/place.md", "```text\n[a](../../LICENSE)\n```\n", "```text\n[a](../../LICENSE)\n```\n"),
        ("howto/place.md", "```console exit=2\n$ dia\n```\n", "```console\n$ dia\n```\n"),
        ("howto/place.md", '`a.yaml`:\n\n```yaml title="a.yaml"\n', '```yaml title="a.yaml"\n'),
        ("howto/place.md", '`b.yaml`:\n\n```yaml title="a.yaml"\n', '`b.yaml`:\n\n```yaml title="a.yaml"\n'),
        ("howto/place.md", "| `a\\|b` | a\\|b |\n\n`a\\|b`", "| `a|b` | a\\|b |\n\n`a\\|b`"),
        ("reference/error-codes.md", "| E304 | unknown |", "| [E304](../errors/E304.md) | unknown |"),
    ],
)
def test_links_and_fences_fit_the_site(pages: ModuleType, page: str, text: str, expected: str) -> None:
    kept: list[str] = []
    assert pages.for_site(text, page, kept.append) == expected
    assert kept == (["LICENSE"] if "files/" in expected else [])


def test_links_from_the_readme_lead_to_pages_of_the_site(pages: ModuleType) -> None:
    generated = {"gallery.md", *pages.ROOT_PAGES.values()}
    kept: list[str] = []
    text = pages.for_site((ROOT / "README.md").read_text(encoding="utf-8"), "readme.md", kept.append)
    targets = re.findall(r"\]\(((?!https:)[^)#]+)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert len(targets) > 20
    for target in targets:
        assert target in generated or (DOCS / target).exists() or target.removeprefix("files/") in kept, target


def test_the_gallery_shows_an_instance_of_each_family(gallery: ModuleType, tmp_path: Path) -> None:
    for name in ("benchmark.yaml", "d001_next_prime.yaml", "d007_remainder.yaml"):
        (tmp_path / "specs" / "few").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "specs" / "dia_bench" / name, tmp_path / "specs" / "few")
    prime, remainder = gallery.families(tmp_path / "specs")
    assert (prime.name, prime.benchmark, prime.file) == ("next_prime", "few", "specs/few/d001_next_prime.yaml")
    assert prime.answer.isdecimal() and remainder.answer.isdecimal()
    assert prime.freedom.startswith("~8.5e37")
    html = gallery.as_html([prime, remainder])
    assert html.count("<article") == 2
    assert prime.prompt in html and "of 2 families" not in html
    assert "<option>mathematics</option>" in html


def test_the_gallery_escapes_what_families_contain(gallery: ModuleType) -> None:
    plain = dict.fromkeys(gallery.Family.__slots__, '<b>&"</b>') | {"items": 2, "skills": ("<i>",)}
    html = gallery.as_html([gallery.Family(**plain)])
    assert "<b>" not in html and "<i>" not in html
    assert "&lt;b&gt;&amp;&quot;&lt;/b&gt;" in html


@pytest.mark.parametrize(
    ("freedom", "estimate", "words"),
    [
        ({"kind": "exact", "count": "12345"}, None, "12,345"),
        ({"kind": "at_least", "count": "0"}, None, "not counted"),
        ({"kind": "at_least", "count": "0"}, (7_482_675, 400), "~7.5e6 (estimated from 400 draws)"),
        ({"kind": "vast", "count": None}, None, "more than 2^128"),
    ],
)
def test_degrees_of_freedom_in_words(
    gallery: ModuleType, freedom: dict[str, Any], estimate: tuple[int, int] | None, words: str
) -> None:
    assert gallery.freedom_words(freedom, estimate) == words


def test_the_picture_of_a_screen_shows_what_is_left_on_it(docs: None) -> None:
    pytest.importorskip("PIL", reason="pictures of reports are shrunk with Pillow, of the extra `images`")
    pytest.importorskip("pty", reason="this system has no terminals of its own")
    picture = importlib.import_module("pictures").as_svg(
        "\x1b[1mdone\x1b[0m\nworking 1/2\rworking 2/2\n\x1b[1A\x1b[2K\x1b[31m<two  words>\x1b[0m rest\n"
    )
    assert "working" not in picture
    assert ' font-weight="bold"' in picture and ">done<" in picture
    assert ">&lt;two\u00a0\u00a0words&gt;<" in picture and 'fill="#ff7b72"' in picture
