"""The form of DIA-Bench's own data sets (Bisztray et al., 2024, arXiv:2410.15490): one JSON file of all questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import (
    Exporter,
    Files,
    Record,
    assets_of,
    instruction,
    json_text,
    origin,
    questions_and_answers,
)

# The original records the time; an export is the same at any time.
GENERATED = "not recorded: the same bundle gives the same file at any time"


class DiaBench(Exporter):
    """The original's JSON: challenges with their solutions in `<xml>` tags."""

    summary = "DIA-Bench's own JSON: challenges and solutions"

    def files(self, bundle: Bundle) -> Files:
        """Yield one file with all questions, and their assets."""
        yield f"{bundle.manifest['benchmark']}.json", _pieces(bundle)
        yield from assets_of(bundle)


def _pieces(bundle: Bundle) -> Iterator[bytes]:
    manifest, templates = bundle.manifest, {record["template"]: record for record in bundle.templates()}
    facts = {
        "dataset": f"{manifest['benchmark']} {manifest['version']}",
        "sources": list(dict.fromkeys(record["source"] for record in templates.values() if record["source"])),
        "template_count": manifest["counts"]["templates"],
        "k": manifest["k"],
        "instance_count": manifest["counts"]["questions"],
        "generated_at": GENERATED,
        "bundle_id": bundle.id,
        "questions_root": bundle.questions_root,
        **({"canary": manifest["canary"]} if manifest["canary"] else {}),
    }
    head = ",\n".join(f"  {json_text(name)}: {json_text(value)}" for name, value in facts.items())
    yield f'{{\n{head},\n  "questions": ['.encode()
    numbers, comma = template_numbers(list(templates.values())), ""
    for question, answer in questions_and_answers(bundle):
        template = templates[question["template"]]
        row = {
            "challenge": _challenge(bundle, question, answer, template, numbers[question["template"]]),
            "solution": _solution(answer),
        }
        yield f"{comma}\n    {json_text(row)}".encode()
        comma = ","
    yield b"\n  ]\n}\n"


def _solution(answer: Record | None) -> dict[str, str] | None:
    """Return the solution; none of a sealed bundle."""
    if answer is None:
        return None
    return {
        "challenge_solution": f"<xml>{answer['text']}</xml>",
        "solution_explanation": answer.get("explanation") or "",
    }


def _challenge(
    bundle: Bundle, question: Record, answer: Record | None, template: Record, number: int
) -> dict[str, Any]:
    description = "\n\n".join(str(message["content"]) for message in question["messages"])
    return origin(bundle, question) | {
        "template_id": number,
        "level": question["level"],
        "category": question["category"],
        "adversarial": template.get("adversarial", "none") != "none",
        "description": description,
        "instructions": instruction(question, answer) if answer else None,
        "assets": question["assets"],
    }


def template_numbers(templates: list[Record]) -> dict[str, int]:
    """Return the published numbers of the templates; their positions from 1 if not all have different numbers."""
    numbers = [record.get("number") for record in templates]
    whole_numbers = [number for number in numbers if type(number) is int]
    if len(set(whole_numbers)) == len(templates):
        return {record["template"]: number for record, number in zip(templates, whole_numbers, strict=True)}
    return {record["template"]: place for place, record in enumerate(templates, 1)}
