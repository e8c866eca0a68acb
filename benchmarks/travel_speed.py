"""How long exports and imports of logs take: every target for a bundle, and two logs of it.

    python benchmarks/travel_speed.py --questions 15000

Prints wall seconds, seconds of this process's CPU, and the size of the log.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import compile
from dia_runtime.bundle.open import Bundle, open_bundle

SPEC = Path(__file__).parents[1] / "specs" / "dia_bench" / "d002_small_sum.yaml"
TARGETS = ("jsonl", "dia-bench", "lm-eval", "inspect", "lighteval", "promptfoo", "huggingface", "openai-batch")


def main() -> None:
    """Prints a line for each export and import."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=15_000)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bundle = open_bundle(compile([SPEC], parser.parse_args().questions, out=folder / "b", jobs=1).bundles[0].path)
        for target in TARGETS:
            model = ["--model", "m"] if target == "openai-batch" else []
            timed(target, ["export", str(bundle.path), "--to", target, "-o", str(folder / target), "-q", *model])
        for kind, rows in (("openai-batch", batch(bundle)), ("lm-eval", samples(bundle))):
            log = folder / f"{kind}.jsonl"
            log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            command = ["import", str(log), "--from", kind, "--bundle", str(bundle.path), "-o", str(folder / "a.run")]
            timed(f"{kind} log, {log.stat().st_size >> 20} MiB", [*command, "--force", "-q"])


def timed(name: str, command: list[str]) -> None:
    """Prints how long a command takes."""
    wall, used = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        code = run(command)
    print(
        f"{name:28} {time.perf_counter() - wall:6.2f} s  {time.process_time() - used:6.2f} s CPU  exit {code}",
        flush=True,
    )


def batch(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """The right answers as the batch interface gives them back."""
    for answer in bundle.answers():
        choice = {"message": {"content": f"<xml>{answer['text']}</xml>"}, "finish_reason": "stop"}
        body = {"model": "m", "choices": [choice]}
        yield {"custom_id": answer["id"], "response": {"status_code": 200, "body": body}, "error": None}


def samples(bundle: Bundle) -> Iterator[dict[str, Any]]:
    """The same as samples of lm-evaluation-harness."""
    for at, (question, answer) in enumerate(zip(bundle.questions(), bundle.answers(), strict=True)):
        said = question["messages"][0]["content"]
        doc = {"id": question["id"], "questions_root": bundle.questions_root, "dia_prompt": said}
        sent = {"gen_args_0": {"arg_0": [json.dumps([{"role": "user", "content": said}])]}}
        reply = f"<xml>{answer['text']}</xml>"
        yield {"doc_id": at, "doc": doc, "arguments": sent, "resps": [[reply]], "filter": "none", "target": reply}


if __name__ == "__main__":
    main()
