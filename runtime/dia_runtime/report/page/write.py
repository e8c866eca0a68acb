"""From runs to one page: the figures with their pictures, then every question, packed while it is read."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from dia_language.diagnostics import DiaError, Diagnostic, visible
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dia_runtime.bundle.atomic_output import temporary_sibling, why_not_written
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.grading.judge import Rules
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.report.page.parts import ToolTexts, WrittenPage, fitting, write_parts
from dia_runtime.report.page.sections import sections
from dia_runtime.report.page.terms import facts, source_facts, terms
from dia_runtime.report.pictures.figures import PictureData, names
from dia_runtime.report.pictures.palette import COLOURS, styles
from dia_runtime.scoring.align import aligned_replies
from dia_runtime.scoring.predicted import PredictedSuccess
from dia_runtime.scoring.results import Score
from dia_runtime.store.store import Store

HERE = Path(__file__).parent
PARTS = "<!-- parts -->"
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of a page, in addition to those of the figures.

    `reply_length` is how many characters of a reply are kept, 0 for none; by default, as many as make a page that can
    be mailed. `scale` has a bank, and the observed results of its items; `predicted` the predicted success for which
    instances were chosen.
    """

    title: str | None = None
    reply_length: int | None = None
    notes: Sequence[str] = ()
    by: Sequence[str] = ()
    scale: PictureData | None = None
    predicted: PredictedSuccess | None = None


def write_report(
    path: Path,
    score: Score,
    stores: Sequence[Store],
    rules: Rules,
    source: Bundle | None,
    options: PageOptions = PageOptions(),
    on_progress: Progress = lambda done: None,
) -> WrittenPage:
    """Write the questions to the page of a score, completely or not at all, and return what was written."""
    attempt = 1 if rules.over == "instances" else None
    length = options.reply_length
    length = fitting(stores, source, attempt) if length is None else length
    above, below = page(score, replace(options, reply_length=length), source is not None).split(PARTS)
    models = names(score)
    with replaced(path) as out:
        out.write(above.encode())
        replies = aligned_replies(stores, rules, source)
        written = write_parts(out, replies, len(models), source, length, on_progress, ToolTexts.of(stores))
        out.write(below.encode())
    return written


def page(score: Score, options: PageOptions = PageOptions(), has_prompts: bool = False) -> str:
    """Return the page, with a comment in place of the packed questions."""
    models = names(score)
    style, script = style_sheet(), program()
    title = options.title or f"{score['benchmark']}: {len(models)} model{'' if len(models) == 1 else 's'}"
    text = environment().get_template("page.html").render(
        title=title,
        lead="How reliably the models answer, when they abstain, and how much they differ.",
        policy=policy(style, script),
        style=style,
        script=script,
        facts=facts(score),
        sections=sections(score, options.notes, options.by, options.scale, options.predicted),
        models=models,
        names=_data("models", list(map(visible, models))),
        verdicts=Verdict,
        signs=[(verdict.sign, verdict) for verdict in Verdict],
        kept=_notice(options.reply_length or 0, has_prompts),
        terms=terms(score),
        source=source_facts(score),
    )  # fmt: skip
    return text.strip() + "\n"


def _notice(length: int, has_prompts: bool) -> str:
    notice = (
        "Replies are left out."
        if not length
        else f"Replies longer than {length:,} characters are shortened in the middle."
    )
    return notice if has_prompts else f"{notice} To include the prompts, name the bundle with --bundle."


def _data(name: str, value: Any) -> str:
    """Return the value as a block of JSON that no text in it can close."""
    text = json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def environment() -> Environment:
    """Return the environment that renders the page: it escapes every text, and makes control characters visible."""
    return Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )


def style_sheet() -> str:
    """Return the style of the page, with the colours of the pictures."""
    light, dark = ("".join(f"--{name}:{pair[side]};" for name, pair in COLOURS.items()) for side in (0, 1))
    grounds = "".join(f".b-{name}{{background:var(--{name.colour});color:var(--on-{name.colour})}}" for name in Verdict)
    root = f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return root + styles() + grounds + (HERE / "page.css").read_text(encoding="utf-8")


def program() -> str:
    """Return the script of the page, with the verdicts by their signs."""
    signs = ", ".join(f'{verdict.sign}: "{verdict}"' for verdict in Verdict)
    return (HERE / "page.js").read_text(encoding="utf-8").replace("VERDICTS_BY_SIGN", f"{{ {signs} }}")


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy that only allows the page's own style and script."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces the target when it is complete, and is deleted after any error.

    Raises DiaError (exit 2) if it cannot be made.
    """
    refuse_special_file(path)
    if path.is_dir():
        raise cannot_write(path, IsADirectoryError(0, "it is a folder"))
    try:
        with temporary_sibling(path) as private:
            with (private / "page").open("wb") as file:
                yield file
            (private / "page").replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> DiaError:
    """Return the error for a file that cannot be created there."""
    why = why_not_written(error)
    message = visible(f"`{path}` cannot be written: {why[:1].lower()}{why[1:]}")
    return DiaError(Diagnostic("E873", message, None, "choose another location with `-o`"))
