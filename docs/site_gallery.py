"""The gallery: one instance of every shipped family, drawn with the compiler while the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from dia_compiler.authoring.preview import Preview, Shown, preview
from dia_compiler.parse.model import Template
from dia_language.counts import freedom_text

ROOT = Path(__file__).resolve().parents[1]
SPECS = ROOT / "specs"
SHOWN_AT_MOST = 6000  # characters of a prompt
LISTS = ("benchmark", "category", "level")
INTRODUCTION = (
    "Every family that ships with the project, with its first instance at the default seed. "
    "`dia preview FILE` shows more instances of one."
)


@dataclass(frozen=True, slots=True)
class Family:
    """One template with its first instance."""

    name: str
    title: str
    benchmark: str
    file: str
    category: str
    level: str
    answer_type: str
    skills: tuple[str, ...]
    freedom: str
    items: int
    prompt: str
    answer: str
    explanation: str


def families(specs: Path = SPECS) -> Iterator[Family]:
    """Yield the families of each benchmark folder in `specs`, the largest benchmark first. Raises DiaError."""
    folders = [benchmark.parent for benchmark in specs.glob("*/benchmark.yaml")]
    for folder in sorted(folders, key=lambda folder: (-len(list(folder.rglob("*.yaml"))), folder.name)):
        previews, _ = preview(folder, instance=0, stress=1)
        yield from (_family(one, folder, specs) for one in previews)


def _family(one: Preview, folder: Path, specs: Path) -> Family:
    template, shown = one.template, one.shown[0]
    assert one.overview is not None
    facts: dict[str, Any] = template.facts
    return Family(
        name=template.name,
        title=str(facts.get("title", template.name)),
        benchmark=folder.name,
        file=_file(template.name, folder).relative_to(specs.parent).as_posix(),
        category=str(facts.get("category", "")),
        level=str(facts.get("level", "")),
        answer_type=_answer_type(template),
        skills=tuple(map(str, facts.get("skills", ()))),
        freedom=freedom_words(one.overview.freedom.as_json(), one.overview.estimate),
        items=one.overview.items,
        prompt=_cut(_prompt(shown)),
        answer=_cut(shown.answer or "\n".join(shown.truth)),
        explanation=shown.explanation or "",
    )


def _answer_type(template: Template) -> str:
    """Return the type that a template gives to its answer, or nothing if it has no answer or leaves the type out."""
    pairs = getattr(template.answer.comparison.node, "pairs", ()) if template.answer else ()
    return next((str(getattr(value, "value", "")) for key, value in pairs if key.value == "type"), "")


def _file(name: str, folder: Path) -> Path:
    """Return the file of a template in a benchmark's folder."""
    heading = re.compile(rf"^template: {re.escape(name)}\s*$", re.MULTILINE)
    return next(path for path in sorted(folder.rglob("*.yaml")) if heading.search(path.read_text(encoding="utf-8")))


def _prompt(shown: Shown) -> str:
    """Return the question without the wrapper; the turns of a conversation with their speakers."""
    if not shown.sessions:
        return shown.challenge or shown.content
    turns = []
    for session in shown.sessions:
        turns.append(f"— {session['name']} —")
        turns += [f"[{turn['speaker']}] {turn['text']}" for turn in session["turns"]]
    return "\n\n".join(turns)


def _cut(text: str) -> str:
    left = len(text) - SHOWN_AT_MOST
    return text if left <= 0 else f"{text[:SHOWN_AT_MOST]}\n... ({left:,} more characters)"


def freedom_words(freedom: dict[str, Any], estimate: tuple[int, int] | None = None) -> str:
    """Return how many different instances a template can make, in words; `estimate` replaces a bound.

    >>> freedom_words({"kind": "exact", "count": "391"}), freedom_words({"kind": "vast", "count": None})
    ('391', 'more than 2^128')
    """
    if estimate is None and freedom["kind"] == "at_least" and freedom["count"] == "0":
        return "not counted"
    return "more than 2^128" if freedom["count"] is None else freedom_text(freedom, estimate)


def as_html(families: Iterable[Family]) -> str:
    """Return the gallery as HTML: controls, which a script shows, and a card for each family."""
    known = list(families)
    lists = "".join(_list(name, sorted({getattr(one, name) for one in known} - {""})) for name in LISTS)
    cards = "\n".join(map(_card, known))
    return (
        '<form class="gallery-controls" hidden role="search">'
        '<label>Search <input type="search" name="words" placeholder="prime, base64, graph…"></label>'
        f'{lists}<output aria-live="polite"></output></form>\n'
        f'<p class="gallery-count">{len(known)} families.</p>\n<div class="gallery">\n{cards}\n</div>'
    )


def _list(name: str, values: list[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    return f'<label>{name.capitalize()} <select name="{name}"><option value="">any</option>{options}</select></label>'


def _card(one: Family) -> str:
    facts = [
        ("category", one.category),
        ("level", one.level),
        ("answer type", one.answer_type),
        ("different instances", one.freedom),
        ("items", f"{one.items:,}" if one.items > 1 else ""),
        ("skills", ", ".join(one.skills)),
    ]
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts if value)
    data = " ".join(f'data-{name}="{escape(getattr(one, name))}"' for name in LISTS)
    because = f"<p>{escape(one.explanation)}</p>" if one.explanation else ""
    answer = f'<pre tabindex="0"><code>{escape(one.answer)}</code></pre>{because}'
    label = escape(f"{one.benchmark}-{one.name}")
    return (
        f'<article class="family" {data}>\n'
        f'<h3 id="{label}"><a href="#{label}">{escape(one.title)}</a></h3>\n'
        f"<p><code>{escape(one.name)}</code> in <code>{escape(one.file)}</code></p>\n<dl>{shown}</dl>\n"
        f'<pre tabindex="0"><code>{escape(one.prompt)}</code></pre>\n'
        f"<details><summary>Answer</summary>{answer}</details>\n</article>"
    )
