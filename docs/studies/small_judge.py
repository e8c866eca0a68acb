"""How often a small model as a judge agrees with a person about 200 replies of a small model.

    python docs/studies/small_judge.py ask MODEL BASE_URL FOLDER
    python docs/studies/small_judge.py table [FILE]

`ask` asks MODEL, such as openai/smollm2-135m, about each reply in tests/data/real_replies/smollm2-135m__easy.jsonl:
does it state the correct answer (RIGHT), another one (WRONG), or none (NONE)? The judge sees the question, the reply
and the correct answer. FOLDER gets the benchmark, its bundle, the run, and `judge.jsonl` with what the judge wrote.
Repeat the command to continue an interrupted run. `table` compares the judge's labels, and the verdicts of the chains
without a judge, with the labels of the person.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from dia_compiler import compile
from dia_runtime import open_bundle, run
from dia_runtime.formats.replies import read_reply
from dia_runtime.grading.grader import grade
from dia_runtime.running.run import RunOptions
from dia_runtime.store.store import read_store

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "real_replies"
LABELLED, JUDGED = DATA / "smollm2-135m__easy.jsonl", DATA / "smollm2-135m__judge.jsonl"
CHAINS = ("strict", "standard", "lenient")
LABELS = {"RIGHT": "correct", "WRONG": "wrong", "NONE": "no answer"}
FORMAT = {"kind": "label", "rules": 2, "of": list(LABELS)}
BENCHMARK = """language: 2
benchmark: small_judge
version: 1.0.0
format: {kind: xml}
skip: I-DO-NOT-KNOW
"""
TEMPLATE = """template: judged
title: What a judge makes of labelled replies
params:
  row: {type: row, from: rows.jsonl, id: = row.id}
each: row
prompt: "{{ row.question }}"
grade:
  judge:
    prompt: |
      Here are a question and a reply to it.

      The question:

      {{ quoted(row.question) }}

      The reply:

      {{ quoted(response) }}

      The correct answer is {{ reference }}. RIGHT: the reply states this answer. WRONG: it states another answer. NONE:
      it states no answer.

      {{ format_instruction }}
    reference: row.answer
    labels: {correct: [RIGHT], wrong: [WRONG], skipped: [NONE]}
    settings: {temperature: 0, max_tokens: 24}
"""
REPLYING = """import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    texts = {row["id"]: row["reply"] for row in map(json.loads, file)}
for line in sys.stdin:
    print(json.dumps({"text": texts[json.loads(line)["id"].split("/")[-2]]}), flush=True)
"""


def records(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ask(model: str, base_url: str, folder: Path) -> None:
    """Ask the judge about all replies, and write what it says about each."""
    spec, rows_path, replying = folder / "spec", folder / "spec" / "rows.jsonl", folder / "replying.py"
    spec.mkdir(parents=True, exist_ok=True)
    (easy,) = compile([ROOT / "docs" / "examples" / "easy"], k=10, out=folder / "easy").bundles
    prompts = {entry["id"]: entry["messages"][-1]["content"] for entry in open_bundle(easy.path).questions()}
    rows = [
        {
            "id": "-".join(entry["id"].split("/")[1:]),
            "question": prompts[entry["id"]],
            "reply": entry["reply"],
            "answer": entry["answer"]["text"],
        }
        for entry in records(LABELLED)
    ]
    rows_path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (spec / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (spec / "judged.yaml").write_text(TEMPLATE, encoding="utf-8")
    replying.write_text(REPLYING, encoding="utf-8")
    (bundle,) = compile([spec], k=1, out=folder / "bundle").bundles
    subject = f"command:{sys.executable} {replying} {rows_path}"
    terms = RunOptions(concurrency=1, roles={"judge": model}, role_urls={"judge": base_url})
    path = folder / "judge.run"
    run(open_bundle(bundle.path), [subject], path, terms=terms)
    ids = [entry["id"] for entry in records(LABELLED)]
    with read_store(path) as store, (folder / "judge.jsonl").open("w", encoding="utf-8") as output:
        (respondent,) = store.respondents()
        for id, (_, reply) in zip(ids, store.replies(respondent.id), strict=True):
            output.write(json.dumps({"id": id} | _judge_reply(reply.text)) + "\n")
    print(folder / "judge.jsonl")


def _judge_reply(transcript: str | None) -> dict[str, Any]:
    """Return what the judge wrote; nothing if it was not asked."""
    for session in json.loads(transcript or "{}").get("sessions", ()):
        if session["name"] == "judge" and session["replies"] and session["replies"][0]["text"] is not None:
            return {"reply": session["replies"][0]["text"], "finish_reason": session["replies"][0]["finish_reason"]}
    return {"reply": None, "finish_reason": None}


def table(path: Path) -> None:
    """Print how often each verdict has each label of the person, and how often they are the same."""
    print(f"{'read by':20} {'verdict':10} {'correct':>8} {'wrong':>8} {'no answer':>10}   of the person")
    for name, verdicts in {**chain_verdicts(), **judge_verdicts(path)}.items():
        counts = Counter(verdicts)
        for verdict in ("correct", "wrong", "no answer", "unread"):
            row = [counts[label, verdict] for label in ("correct", "wrong", "no answer")]
            print(f"{name:20} {verdict:10} {row[0]:8} {row[1]:8} {row[2]:10}")
        print(f"{name:20} same: {sum(label == verdict for label, verdict in verdicts)} of {len(verdicts)}")


def chain_verdicts() -> dict[str, list[tuple[str, str]]]:
    """Return the person's label and the verdict of each reply, by chain, without a judge."""
    rows = records(LABELLED)
    return {
        chain: [
            (
                _answer(row["verdict"]),
                _answer(str(grade(row["answer"], row["reply"], row["format"], chain).verdict)),
            )
            for row in rows
        ]
        for chain in CHAINS
    }


def judge_verdicts(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the person's label and the judge's of each reply that it was asked about, by the chain that reads it."""
    labels = {row["id"]: _answer(row["verdict"]) for row in records(LABELLED)}
    judged = [row for row in records(path) if row["reply"] is not None]
    return {
        f"judge, {chain}": [
            (labels[row["id"]], LABELS.get(str(read_reply(row["reply"], FORMAT, chain).value), "unread"))
            for row in judged
        ]
        for chain in CHAINS
    }


def _answer(verdict: str) -> str:
    """Return the verdict; a judge cannot tell whether a reply without an answer skips the question."""
    return "no answer" if verdict in ("skipped", "unparsed") else verdict


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
    else:
        table(Path(sys.argv[2]) if len(sys.argv) > 2 else JUDGED)
