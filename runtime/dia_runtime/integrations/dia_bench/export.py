"""The form of DIA-Bench's own data sets (Bisztray et al., 2024, arXiv:2410.15490): one JSON file of all questions.

The published evaluator (https://github.com/DIA-Bench/DIA-Bench, DIA_bench_evalutor.py) groups questions by `Q
template`, in another version by `template_id`, and asks with the description, a newline and the instructions. A prompt
is split at one of its own newlines, so that this is the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
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
    """Return the solution; none if the bundle is sealed."""
    if answer is None:
        return None
    return {
        "challenge_solution": f"<xml>{answer['text']}</xml>",
        "solution_explanation": answer.get("explanation") or "",
    }


def _challenge(
    bundle: Bundle, question: Record, answer: Record | None, template: Record, number: int
) -> dict[str, Any]:
    description, instructions = prompt_parts(question, instruction(question, answer) if answer else None)
    return origin(bundle, question) | {
        "Q template": number,
        "template_id": number,
        "level": question["level"],
        "category": question["category"],
        "adversarial": template.get("adversarial", "none") != "none",
        "description": description,
        "instructions": instructions,
        "assets": question["assets"],
    }


def prompt_parts(question: Record, instruction: str | None) -> tuple[str, str]:
    """Return description and instructions of a question; joined by a newline they are its prompt.

    The instructions begin with the paragraph that says how to write the answer, or else with the last line. A prompt of
    one line has none, so the evaluator adds a newline to it. Raises DiaError (exit 2) for a prompt that the evaluator
    cannot ask: one with several messages or attachments.
    """
    if [message["role"] for message in question["messages"]] != ["user"]:
        raise _cannot(question, "has a system prompt or several turns")
    prompt = question["messages"][0]["content"]
    if not isinstance(prompt, str):
        raise _cannot(question, "has content that is not text")
    place = prompt.rfind(instruction) if instruction else -1
    before = prompt[:place] if place >= 0 else prompt
    paragraph = before.rfind("\n\n")
    at = paragraph + 1 if place >= 0 and paragraph >= 0 else before.rfind("\n")
    at = at if at >= 0 else prompt.find("\n")
    return (prompt[:at], prompt[at + 1 :]) if at >= 0 else (prompt, "")


def _cannot(question: Record, why: str) -> DiaError:
    message = visible(f"`{question['id']}` {why}, which the evaluator of `dia-bench` does not support")
    return DiaError(Diagnostic("E714", message, None, "export it to another target, such as `jsonl` or `inspect`"))


def template_numbers(templates: list[Record]) -> dict[str, int]:
    """Return the published numbers of the templates; their positions from 1 if not all have different numbers."""
    numbers = [record.get("number") for record in templates]
    whole_numbers = [number for number in numbers if type(number) is int]
    if len(set(whole_numbers)) == len(templates):
        return {record["template"]: number for record, number in zip(templates, whole_numbers, strict=True)}
    return {record["template"]: place for place, record in enumerate(templates, 1)}
