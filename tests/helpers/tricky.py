"""A benchmark whose prompts hold what other harnesses trip over, and a model that replies in every way there is."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dia_runtime
from aiohttp import web
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import compile
from dia_runtime.bundle.open import open_bundle
from dia_runtime.formats import FORMATS
from helpers.loopback import Answer, Asked, completion, serve

BENCHMARK = """\
language: 1
benchmark: tricky
title: Prompts that harnesses trip over
version: 1.0.0
license: Apache-2.0
canary: 6f8c2a10-3f6e-4e59-8f7e-0d7b9a3c1e55
prompt: |
  {{ challenge }}
  {{ format_instruction }}
format: {kind: xml}
skip: I-DO-NOT-KNOW
points: {correct: 1, skipped: 0, wrong: -0.5}
"""
TEMPLATES = {
    "braces": """\
let: {braces: "'{' * 2", closing: "'}' * 2"}
prompt: |
  Keep {{ braces }}this{{ closing }}, {{ braces }} 7*7 {{ closing }}, {{ braces }}target{{ closing }}, {{ braces }}grading{{ closing }}, {{ '{' }}% if x %{{ '}' }} and {{ '{' }}# this #{{ '}' }} as they are. What is {{ a }} plus {{ b }}?
answer: {value: a + b, type: integer}
""",
    "signs": """\
prompt: |
  \\\\frac{1}{2} costs $29.00, $HOME and ${a}; <b>&amp;</b> "quoted" 'quoted' \\\\n \\\\u0041 `tick` %s {0} file://etc/passwd. What is {{ a }} divided by {{ b }}?
answer: {value: a / b, type: rational}
""",
    "letters": """\
prompt: |
  Żółć, 数字, \U0001f98a, e\u0301 and \u00e9, a tab\tand a line end.

  What is -{{ a }} times {{ b }}?   Trailing spaces too.
answer: {value: -a * b, type: integer}
""",
    "several": """\
prompt: Name a multiple of {{ a }} that is above {{ b }}.
answer: {value: a * (b // a + 1), type: integer, accept_if: reply % a == 0 and reply > b}
""",
}
PARAMS = """\
params:
  a: {type: integer, min: 2, max: 1000}
  b: {type: integer, min: 2, max: 1000}
"""
Command = Callable[..., subprocess.CompletedProcess[str]]
KINDS = ("right", "right", "wrong", "skip", "loose", "empty", "fenced", "spaced")


ATTACHED = """\
template: pictured
title: A QR code beside the prompt
params:
  number: {type: integer, min: 1, max: 1000000}
  word: {type: string, alphabet: = letters, length: 8}
assets:
  picture: {build: qr, text: = word}
deliver: DELIVER
answer: {value: word, type: text}
prompt: Which text does {{ picture }} of case {{ number }} hold?
"""


def pictured(folder: Path, deliver: str) -> Path:
    """A bundle whose questions come with a picture, in the message or as a file."""
    specs = folder / deliver
    specs.mkdir(parents=True)
    (specs / "benchmark.yaml").write_text(BENCHMARK.replace("tricky", f"pictured_{deliver}"), encoding="utf-8")
    (specs / "pictured.yaml").write_text(ATTACHED.replace("DELIVER", deliver), encoding="utf-8")
    return compile([specs], 2, out=folder / f"bundles-{deliver}", jobs=1).bundles[0].path


def compiled(folder: Path, k: int = 3) -> Path:
    """The bundle of the benchmark."""
    specs = folder / "specs"
    specs.mkdir(parents=True)
    (specs / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    for name, text in TEMPLATES.items():
        head = f"template: {name}\ntitle: Of {name}\ncategory: mathematics\ndomain: mathematics\nlevel: easy\n"
        (specs / f"{name}.yaml").write_text(head + PARAMS + text.replace("\\\\", "\\"), encoding="utf-8")
    return compile([specs], k, out=folder / "bundles", jobs=1).bundles[0].path


@dataclass
class Case:
    """The bundle, what the model replies to each question, and what our own run of it gives."""

    folder: Path
    bundle: Path

    @cached_property
    def questions(self) -> list[dict[str, Any]]:
        return list(open_bundle(self.bundle).questions())

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Question's id -> what the user says."""
        return {question["id"]: question["messages"][-1]["content"] for question in self.questions}

    @cached_property
    def replies(self) -> dict[str, str]:
        """Question's id -> the reply, all of the first item right."""
        first = self.questions[0]["item"]
        found = {}
        for at, (question, answer) in enumerate(zip(self.questions, open_bundle(self.bundle).answers(), strict=True)):
            kind = "right" if question["item"] == first else KINDS[at % len(KINDS)]
            found[question["id"]] = said(kind, question, answer)
        return found

    def model(self) -> Answer:
        """The script by which a server replies."""
        by_prompt = {self.prompts[id]: text for id, text in self.replies.items()}

        async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
            await asyncio.sleep(0)
            text = by_prompt.get(asked.text)
            if text is None:
                return web.json_response({"error": {"message": f"no such prompt: {asked.text!r}"}}, status=400)
            return web.json_response(completion(text))

        return answer

    @cached_property
    def run(self) -> Path:
        """Our own run of the model."""
        out = self.folder / "own.run"
        with serve(self.model()) as server:
            options = ["--model", "openai/loop", "--base-url", server.url, "--out", str(out), "-q"]
            assert run(["run", str(self.bundle), *options]) == 0
        return out

    @cached_property
    def figures(self) -> dict[str, Any]:
        """What `dia score` says of it."""
        (found,) = dia_runtime.score(self.run)["models"]
        return dict(found)

    def exported(self, target: str) -> Path:
        """The folder that an export makes."""
        out = self.folder / f"to-{target}"
        assert run(["export", str(self.bundle), "--to", target, "-o", str(out), "-q", "--force"]) == 0
        return out

    def imported(self, kind: str, *logs: Path) -> dict[str, Any]:
        """What `dia score` says of a log of another harness."""
        out = self.folder / f"from-{kind}.run"
        options = ["--from", kind, "--bundle", str(self.bundle), "-o", str(out), "--force", "-q"]
        assert run(["import", *map(str, logs), *options]) == 0
        (found,) = dia_runtime.score(out)["models"]
        return dict(found)

    def asked_exactly(self, asked: list[Asked]) -> None:
        """Asserts that a server was asked every prompt once, byte by byte as the bundle has it."""
        assert sorted(each.text for each in asked) == sorted(self.prompts.values())
        assert all(each.body["messages"][0]["role"] == "user" for each in asked)


def said(kind: str, question: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """A reply of that kind."""
    format = question["format"]
    right = FORMATS[format["kind"]].wrap(answer["text"], format)
    return {
        "right": right,
        "wrong": "<xml>-7</xml>",
        "skip": "<xml>I-DO-NOT-KNOW</xml>",
        "loose": f"I think that it is {answer['text']}.",
        "empty": "",
        "fenced": f"```xml\n{right}\n```",
        "spaced": f"\n  {right}\n",
    }[kind]


SAME = ("counts", "rs", "conf", "nms", "pass_at_k", "tsr", "trad_score", "idk_score", "idk_freq", "extract_fail")
