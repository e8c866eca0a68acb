"""A configuration of promptfoo: prompts that are not rendered twice, and our own grader as the only assertion.

promptfoo renders the result of a prompt function as a template once more, with the variables of the test. So the only
variable is the question's name; prompts are looked up by it, and their braces escaped. Correct answers are in a file
that the prompt function never opens; only the grading process reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import Exporter, Files, json_line
from dia_runtime.integrations.exporting.question_rows import ASSETS, TURNS, rows, task_name
from dia_runtime.respondents.chat import Settings, chat_messages
from dia_runtime.respondents.respondent import RequestError

HOLDS = frozenset({ASSETS, TURNS})
ASKED, GRADED = "prompts.jsonl", "answers.jsonl"
TOKENS = 8192
SHOWN = 8
SAFE = re.compile(r"(?!file:|https?:|package:)[^{}\x00-\x1f]+")  # neither a template tag nor a file address
OF_ASKED = (
    "id",
    "template",
    "item",
    "instance",
    "variant",
    "questions_root",
    "bundle_id",
    "format_instruction",
    "canary",
)
OF_TEST = ("template", "item", "instance", "questions_root", "bundle_id")
CONFIG = """\
# Made by `dia export`. Say which model: promptfoo eval -r openai:chat:MODEL -o out.jsonl
description: {name}
prompts: [{{id: file://prompt.js, label: {name}}}]
providers: []
tests: file://tests.jsonl
defaultTest:
  assert: [{{type: javascript, value: file://score.js}}]
derivedMetrics:
  - {{name: share_correct, value: correct / __count}}
  - {{name: share_skipped, value: skipped / __count}}
  - {{name: share_unparsed, value: unparsed / __count}}
"""
PROMPT = """\
// Made by `dia export`: the messages of a question, as the bundle has them.
const fs = require('fs');
const path = require('path');

const messages = new Map();
for (const line of fs.readFileSync(path.join(__dirname, 'prompts.jsonl'), 'utf8').split('\\n')) {
  if (line) {
    const row = JSON.parse(line);
    messages.set(row.id, row.messages);
  }
}

// What this returns is rendered as a template: what could begin a tag, or end a comment, becomes a tag that gives it.
const escaped = (value) => JSON.parse(JSON.stringify(value), (key, held) =>
  typeof held === 'string' ? held.replace(/\\{(?=[{%#])|#(?=\\})/g, (sign) => `{{ '${sign}' }}`) : held);

module.exports = ({ vars }) => ({ prompt: escaped(messages.get(vars.dia_id)), config: { max_tokens: TOKENS } });
""".replace("TOKENS", str(TOKENS))
SCORE = """\
// Made by `dia export`: asks dia-spec's own grader, one Python process for all replies.
const { spawn } = require('child_process');
const path = require('path');
const readline = require('readline');

const python = process.env.DIA_PYTHON || process.env.PROMPTFOO_PYTHON || 'python3';
const waiting = [];
let grader;
let fault = 'this is graded by dia-spec: run `pip install .` in a clone of dia, and set DIA_PYTHON to its Python';

function start() {
  grader = spawn(python, ['-m', 'dia_runtime.harnesses.grade_lines', path.join(__dirname, 'answers.jsonl')]);
  const fail = () => { while (waiting.length) waiting.shift().reject(new Error(fault)); };
  grader.on('error', fail);
  grader.on('exit', fail);
  grader.stdin.on('error', fail);
  grader.stderr.on('data', (text) => { if (!String(text).includes('No module named')) fault = String(text).trim(); });
  readline.createInterface({ input: grader.stdout }).on('line', (line) => {
    waiting.shift().resolve(JSON.parse(line));
    if (!waiting.length) rest();
  });
  for (const end of [grader, grader.stdin, grader.stderr]) end.unref();
}

// The grader must not keep promptfoo alive, but while a grade is awaited it must.
const rest = () => grader.stdout.unref();

function grade(id, reply) {
  return new Promise((resolve, reject) => {
    if (!grader) start();
    if (grader.exitCode !== null) return reject(new Error(fault));
    grader.stdout.ref();
    waiting.push({ resolve, reject });
    grader.stdin.write(JSON.stringify({ id, reply }) + '\\n');
  });
}

module.exports = async (output, context) => {
  const found = await grade(context.vars.dia_id, typeof output === 'string' ? output : JSON.stringify(output));
  const { correct, skipped, unparsed, points } = found;
  return {
    pass: found.verdict === 'correct',
    score: correct,
    reason: found.verdict,
    namedScores: { correct, skipped, unparsed, points },
  };
};
"""


class Promptfoo(Exporter):
    """A folder for `promptfoo eval -c`."""

    summary = "promptfoo: a configuration with prompts, tests and score"

    def files(self, bundle: Bundle) -> Files:
        """Return the configuration, its two scripts, tests, prompts and answers."""
        yield "promptfooconfig.yaml", iter([CONFIG.format(name=task_name(bundle)).encode()])
        yield "prompt.js", iter([PROMPT.encode()])
        yield "score.js", iter([SCORE.encode()])
        yield "tests.jsonl", (json_line(_test(row)) for row in _rows(bundle))
        yield ASKED, (json_line(_prompt_record(bundle, row)) for row in _rows(bundle))
        yield GRADED, (json_line(row) for row in _answers(bundle))


def _rows(bundle: Bundle) -> Iterator[dict[str, Any]]:
    for row in rows(bundle, "promptfoo", HOLDS):
        if not SAFE.fullmatch(row["id"]) or "{" in row["template"] + row["item"]:
            message = visible(f"the id `{row['id']}` contains characters that have a special meaning in `promptfoo`")
            raise DiaError(Diagnostic("E714", message, None, "use only letters, digits and _ in the id"))
        yield row


def _test(row: dict[str, Any]) -> dict[str, Any]:
    # promptfoo masks long words of digits and letters in some of its outputs.
    root = row["questions_root"]
    spelled = " ".join(root[at : at + SHOWN] for at in range(0, len(root), SHOWN))
    metadata = {**{name: row[name] for name in OF_TEST}, "root": spelled}
    return {"description": row["id"], "vars": {"dia_id": row["id"]}, "metadata": metadata}


def _prompt_record(bundle: Bundle, row: dict[str, Any]) -> dict[str, Any]:
    try:
        messages = chat_messages(row, Settings(), lambda name: b"".join(bundle.pieces(name)))
    except RequestError as trouble:
        raise DiaError(Diagnostic("E714", trouble.message, None, "export it to `inspect`")) from None
    return {name: row[name] for name in OF_ASKED if name in row} | {"messages": messages}


def _answers(bundle: Bundle) -> Iterator[dict[str, Any]]:
    for row in rows(bundle, "promptfoo", HOLDS):
        yield {name: value for name, value in row.items() if name not in ("messages", "assets")}
