"""The card of a data set: what it is, how it was made, how it is scored, and what it must not be used for."""

from __future__ import annotations

import re
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import may_have_sessions
from dia_runtime.integrations.exporting.base import json_text

# Identifiers of SPDX that the hub knows in lower case; any other licence is `other` with its name.
CREATIVE = ("by", "by-sa", "by-nc", "by-nc-sa", "by-nd", "by-nc-nd")
CODE = ("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "gpl-3.0", "lgpl-3.0", "agpl-3.0", "unlicense")
LICENSES = frozenset([*CODE, "cc0-1.0", "odbl", "pddl", *(f"cc-{kind}-4.0" for kind in CREATIVE)])
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")
OPENED = "The questions contain no answers; these are in the configuration `answers`."
SEALED = "The answers are withheld: they lie sealed in the bundle."
TEXT = """
# {title}

{canary}{questions} questions of {items} items from {templates} templates ({benchmark} {version}), made by
dia (dia-spec). Each item comes in up to {k} instances with different values, so that a model that can do the task
does all of them. Every truth was computed while the benchmark was compiled. {answers}

| | |
|---|---|
| bundle | `{bundle_id}` |
| questions_root | `{root}` |

## Configurations

```python
from datasets import load_dataset

questions = load_dataset("PATH OR NAME", split="test")
{load}```

| column | holds |
|---|---|
| `id`, `template`, `item`, `instance`, `variant` | the question, and the item of which it is an instance |
| `questions_root`, `bundle_id` | the frozen bundle that it comes from |
| `prompt`, `messages` | what the model is asked, byte by byte as in the bundle; nothing may be added |
| `assets` | files that accompany the prompt, in `assets/` |
| `format`, `format_instruction`, `points` | how the answer is marked, and what verdicts are worth |
| `category`, `domain`, `level`, `skills` | labels |
{columns}
## Scoring

A reply is correct, skipped, wrong or unparsed (which counts as wrong). `dia_runtime.grade` decides which; comparing
texts does not, because answers have types. Replies of any program become figures by `dia import --bundle` and
`dia score`: reliability over the instances of an item, abstention, and intervals clustered by item.

## Limits

The questions are made by program in one language and say little about other tasks. An answer that can be computed by
the public template can be computed by anyone: withheld answers protect values, not methods. Keep the files out of
training data.
"""
SESSIONS = "| `sessions` | of conversations, as JSON: what is asked in which order; they have no `prompt` |\n"
LOAD = 'answers = load_dataset("PATH OR NAME", "answers", split="test")\n'
COLUMNS = (
    "| `answer`, `target`, `grading` (in `answers`) | the right answer, a reply that gives it, what grading needs |\n"
)


def card(bundle: Bundle) -> str:
    """Return the card with its head of YAML."""
    manifest = bundle.manifest
    counts, canary = manifest["counts"], manifest["canary"]
    fields = {
        **{name: counts[name] for name in ("questions", "items", "templates")},
        "title": escaped(str(manifest["title"] or manifest["benchmark"])),
        "benchmark": escaped(str(manifest["benchmark"])),
        "version": escaped(str(manifest["version"])),
        "k": manifest["k"],
        "bundle_id": bundle.id,
        "root": bundle.questions_root,
        "canary": f"`{_line(str(canary)).replace('`', '')}`\n\n" if canary else "",
        "answers": OPENED if bundle.has_answers else SEALED,
        "load": LOAD if bundle.has_answers else "",
        "columns": (SESSIONS if may_have_sessions(bundle) else "") + (COLUMNS if bundle.has_answers else ""),
    }
    return _head(bundle) + TEXT.format(**fields)


def _head(bundle: Bundle) -> str:
    manifest = bundle.manifest
    configs = [("default", "data/questions.parquet"), *([("answers", "data/answers.parquet")] * bundle.has_answers)]
    facts: dict[str, Any] = {
        "pretty_name": str(manifest["title"] or manifest["benchmark"]),
        **license_of(manifest["license"]),
        "task_categories": ["question-answering", "text-generation"],
        "tags": ["benchmark", "evaluation", "reliability", "dia"],
        "size_categories": [size_of(manifest["counts"]["questions"])],
        "configs": [{"config_name": name, "data_files": [{"split": "test", "path": path}]} for name, path in configs],
    }
    lines = [f"{name}: {json_text(value)}" for name, value in facts.items()]
    return "\n".join(["---", *lines, "---", ""])


def license_of(name: Any) -> dict[str, str]:
    """Return the licence as the hub has it."""
    if name is None:
        return {"license": "unknown"}
    identifier = str(name).lower()
    return {"license": identifier} if identifier in LICENSES else {"license": "other", "license_name": str(name)}


def size_of(questions: int) -> str:
    """Return the hub's word for a number of rows."""
    return next((word for most, word in SIZES if questions < most), "1M<n<10M")


def escaped(text: str) -> str:
    """Return the text on one line, with every sign that Markdown reads made plain."""
    return SIGNS.sub(r"\\\1", _line(text))


def _line(text: str) -> str:
    return " ".join(text.split())
