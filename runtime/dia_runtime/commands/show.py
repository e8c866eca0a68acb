"""`dia show`: show a bundle or a run, or one question of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import click
from dia_language.counts import freedom_text
from dia_language.diagnostics import DiaError, Diagnostic, counted, did_you_mean, visible

from dia_runtime.bundle.open import Bundle, Layout, is_packed, open_bundle
from dia_runtime.commands.options import PATH, chain_option, json_option
from dia_runtime.commands.show_run import is_run, run_facts, run_text
from dia_runtime.commands.terminal import echo
from dia_runtime.report.session_text import session_text
from dia_runtime.report.tables import Table, as_text

BOUND_NOTE = "at least, at most: a bound, which may be far off; `dia preview` estimates the number."
NEAR = 20_000  # with more ids than this, no similar one is suggested


@click.command("show")
@click.argument("bundle", metavar="BUNDLE_OR_RUN", type=PATH)
@click.argument("id", required=False)
@chain_option
@json_option
def command(bundle: Path, id: str | None, chain: str, as_json: bool) -> int:
    """Show a bundle or one of its questions with the answer; show a run or its replies to one question.

    ID is the id of a question, with or without the benchmark's name. Each reply is followed by its verdict, graded as
    by `dia score` with the same `--chain`. For a question with sessions, a bundle shows the turns of each session, and
    which other sessions' replies the session uses; a run shows the conversations. The role `subject` is the model under
    test.

    \b
    Example:
      dia show build/dia_bench-1.0.0-k5 next_prime/0
    """
    if is_run(bundle):
        facts: dict[str, Any] = run_facts(bundle, id, chain)
        echo(json.dumps(facts, indent=2) if as_json else run_text(facts))
        return 0
    if not bundle.is_dir() and not is_packed(bundle):
        problem = "is neither a bundle nor a run" if bundle.exists() else "does not exist"
        help = "name the folder of a bundle that `dia compile` wrote, or a run that `dia run` or `dia import` wrote"
        raise DiaError(Diagnostic("E701", visible(f"`{bundle}` {problem}"), None, help))
    opened = open_bundle(bundle)
    if id is None:
        templates = list(opened.templates())
        facts = {"bundle": opened.id, "manifest": opened.manifest, "templates": templates}
        text = _summary(opened, templates)
    else:
        facts = _question(opened, id)
        text = _question_text(facts["question"], facts["answer"])
    echo(json.dumps(facts, indent=2) if as_json else text)
    return 0


def _summary(bundle: Bundle, templates: list[dict[str, Any]]) -> str:
    manifest = bundle.manifest
    counts = manifest["counts"]
    facts = {
        "title": manifest["title"],
        "version": manifest["version"],
        "license": manifest["license"],
        "seed": manifest["seed"],
        "k": manifest["k"],
        "contents": ", ".join(counted(counts[f"{noun}s"], noun) for noun in ("template", "item", "question")),
        "answers": "in the bundle" if bundle.has_answers else "sealed" if bundle.is_sealed else "withheld",
        "points": ", ".join(f"{name} {worth}" for name, worth in manifest["points"].items()),
        "digest": bundle.id,
        "questions root": bundle.questions_root,
    }
    lines = [manifest["benchmark"]]
    lines += [f"  {name:<15} {value}" for name, value in facts.items() if value is not None]
    lines += [f"  left out        {entry['template']}: {entry['why']}" for entry in manifest["left_out"]]
    return "\n".join([*lines, "", as_text([_templates(templates, bundle.layouts())]).rstrip()])


def _templates(templates: list[dict[str, Any]], layouts: Mapping[str, Layout]) -> Table:
    has_numbers = any(record.get("number") is not None for record in templates)
    counts = ("number", "items") if has_numbers else ("items",)
    headings = ("template", "category", "level", *counts, "k", "possible instances")
    rows = [
        (
            *(str(record.get(name) or "") for name in ("template", "category", "level")),
            *("" if record.get(name) is None else str(record[name]) for name in counts),
            _range_text(layouts.get(record["template"])),
            freedom_text(record.get("degree_of_freedom")),
        )
        for record in templates
    ]
    has_bounds = any(" " in row[-1] for row in rows)
    return Table("Templates", headings, tuple(rows), 3, note=BOUND_NOTE if has_bounds else "")


def _range_text(layout: Layout | None) -> str:
    """Return the number of instances per item, or the smallest and the largest number if items differ."""
    return "" if layout is None else "-".join(map(str, dict.fromkeys((layout.fewest, layout.most))))


def _question(bundle: Bundle, id: str) -> dict[str, Any]:
    names, ids = {id, f"{bundle.manifest['benchmark']}/{id}"}, []
    for question, answer in _pairs(bundle):
        if question["id"] in names:
            return {"question": question, "answer": answer}
        ids.append(question["id"])
    near = did_you_mean(id, ids) if len(ids) <= NEAR else None
    message = visible(f"`{bundle.path}` has no question `{id}`")
    like = next((other for other in ids if other.startswith(tuple(f"{name}/" for name in names))), next(iter(ids), id))
    raise DiaError(
        Diagnostic("E809", message, None, near or f"`dia show BUNDLE` lists the templates; ids look like `{like}`")
    )


def _pairs(bundle: Bundle) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    answers = bundle.answers() if bundle.has_answers else repeat(None)
    return zip(bundle.questions(), answers, strict=False)


def _question_text(question: Mapping[str, Any], answer: Mapping[str, Any] | None) -> str:
    labels = ("template", "instance", "variant", "category", "domain", "level")
    lines = [question["id"]]
    lines += [f"  {name:<12} {question[name]}" for name in labels if question[name] not in (None, "")]
    for message in question.get("messages", ()):
        lines += ["", f"[{message.get('role')}]", _content(message.get("content"))]
    lines += _assets(question.get("assets", ()))
    if "sessions" in question:
        lines += ["", session_text(question)]
    if answer is None:
        return "\n".join([*lines, "", "[answer]", "withheld"])
    lines += ["", "[answer]", answer["text"]] if "sessions" not in question else []
    for name in ("truth", "figures", "accept", "mistakes", "parameters"):
        if answer.get(name):
            heading = "grading" if name == "truth" else name
            lines += ["", f"[{heading}]", json.dumps(answer[name], indent=2, ensure_ascii=False)]
    if answer.get("explanation"):
        lines += ["", "[explanation]", str(answer["explanation"])]
    return "\n".join(lines)


def _assets(assets: Any) -> list[str]:
    """Return a line for each attachment: its name, how it is delivered, and its file in the bundle."""
    if not assets:
        return []
    described = (
        f"{asset['name']} ({asset['deliver']}, {counted(asset['size'], 'byte')}): {asset['path']}" for asset in assets
    )
    return ["", "[assets]", *described]


def _content(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
