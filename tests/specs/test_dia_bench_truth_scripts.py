"""The truths of the families that show scripts: the languages' own interpreters say what they print or answer.

One process of each interpreter runs all programs of a family as they stand in the prompts.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.prompts import found

Challenges = dict[str, dict[str, str]]
Answers = dict[str, dict[str, Any]]

LIMIT = 120
FENCED = re.compile(r"```([a-z]+)\n(.+?)\n```", re.DOTALL)

# What each interpreter is told: it reads the programs as a JSON list (bash: as files) and writes their outputs as one.
PHP = r"""
$outputs = [];
foreach (json_decode(stream_get_contents(STDIN)) as $source) {
    ob_start();
    eval("?>" . $source);
    $outputs[] = ob_get_clean();
}
echo json_encode($outputs);
"""
PERL = r"""
use strict; use warnings; use JSON::PP;
local $/; my @outputs;
for my $source (@{decode_json(<STDIN>)}) {
    my $output = "";
    open(my $kept, ">", \$output) or die;
    my $before = select($kept);
    eval "$source; 1" or die $@;
    select($before);
    push @outputs, $output;
}
print encode_json(\@outputs);
"""
RUBY = r"""
require "json"
require "stringio"
outputs = JSON.parse($stdin.read).map do |source|
  kept, $stdout = $stdout, StringIO.new
  eval(source, TOPLEVEL_BINDING.dup)
  output, $stdout = $stdout.string, kept
  output
end
puts JSON.generate(outputs)
"""
NODE = r"""
const vm = require("node:vm");
const sources = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const outputs = sources.map((source) => {
  let output = "";
  const log = (...values) => { output += values.join(" ") + "\n"; };
  new vm.Script(source).runInNewContext({ console: { log }, Buffer });
  return output;
});
console.log(JSON.stringify(outputs));
"""
# Servers run unchanged, on a free port of the loopback interface instead of the one that they ask for, and are asked.
SERVERS = r"""
const http = require("node:http");
const net = require("node:net");
const jobs = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const listen = net.Server.prototype.listen;

const ask = (port, path, method) => new Promise((resolve, reject) => {
  const options = { host: "127.0.0.1", port, path, method, agent: false };
  http.request(options, (response) => { response.resume(); resolve(response.statusCode); }).on("error", reject).end();
});

async function run({ source, path, methods }) {
  const told = {};
  const started = new Promise((resolve) => {
    net.Server.prototype.listen = function (where, ...others) {
      told.port = typeof where === "object" ? where.port : where;
      const ready = others.find((other) => typeof other === "function");
      if (ready) this.once("listening", ready);
      this.once("listening", () => setImmediate(() => resolve(this)));
      return listen.call(this, 0, "127.0.0.1");
    };
  });
  const log = (line) => { told.log = line; };
  new Function("require", "console", source)(require, { log });
  const server = await started;
  told.statuses = [];
  for (const method of methods) told.statuses.push(await ask(server.address().port, path, method));
  server.closeAllConnections();
  server.close();
  return told;
}

(async () => {
  const results = [];
  for (const job of jobs) results.push(await run(job));
  console.log(JSON.stringify(results));
})();
"""


def outputs(command: list[str], given: Any) -> Any:
    """What a program that reads and writes JSON makes of what it is given; skips where it is not installed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    run = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# What comes before a program, in prompts with programs in one of these languages.
QUESTIONS = {
    "perl": r"What does this Perl program print\?",
    "ruby": r"What does this Ruby program print\?",
    "bash": r"What does this command line print in Bash on a Linux system with GNU tools\?",
    "javascript": (
        r"What does this JavaScript program print in Node\.js\?"
        r"|This program runs on Node\.js\. On which TCP port does its server accept connections\?"
        r"|This server runs on Node\.js\. It receives .+ Which method does that request use\?"
    ),
}


def source(challenge: str, language: str) -> str:
    """The one program that a task shows."""
    ((named, program),) = FENCED.findall(challenge)
    assert named == language
    assert re.fullmatch(QUESTIONS.get(language, ".+"), challenge.partition("\n\n```")[0]) and challenge.endswith(
        "\n```"
    )
    return str(program)


def sources(asked: dict[str, str], language: str) -> list[str]:
    return [source(challenge, language) for challenge in asked.values()]


def truths(asked: dict[str, str], answers: Answers) -> list[str]:
    return [answers[id]["text"] for id in asked]


INTERPRETERS = {
    "php": ["php", "-d", "display_errors=stderr", "-r", PHP],
    "perl": ["perl", "-e", PERL],
    "ruby": ["ruby", "-e", RUBY],
    "javascript": ["node", "-e", NODE],
}
PRINTED = [
    ("php_echo", "php"), ("php_despite_a_comment", "php"), ("shift_despite_a_comment", "javascript"),
    ("perl_tr", "perl"), ("ruby_gsub", "ruby"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "language"), PRINTED, ids=lambda value: str(value))
def test_the_interpreter_prints_the_truth(
    template: str, language: str, challenges: Challenges, answers: Answers
) -> None:
    asked = challenges[template]
    if language == "php":
        task = re.compile(r"What does this PHP program print\?\n\n```php\n.+\n```", re.DOTALL)
        assert all(map(task.fullmatch, asked.values()))
    printed = outputs(INTERPRETERS[language], sources(asked, language))
    assert [text.removesuffix("\n") for text in printed] == truths(asked, answers)


def test_bash_prints_the_truth(challenges: Challenges, answers: Answers, tmp_path: Path) -> None:
    missing = [tool for tool in ("bash", "rev", "fold", "tac", "paste") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    asked = challenges["bash_pipeline"]
    script = tmp_path / "all.sh"
    script.write_text("\n".join(sources(asked, "bash")) + "\n", "ascii")
    run = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.split("\n")[:-1] == truths(asked, answers)


def test_every_claim_of_a_comment_stands_in_its_program_and_is_false(challenges: Challenges, answers: Answers) -> None:
    for template, language in PRINTED[1:3]:
        for id, challenge in challenges[template].items():
            claim, program = answers[id]["mistakes"]["believed_the_comment"], source(challenge, language)
            (line,) = [line for line in re.split(r"\n|; (?=/[/*]|#)|(?<=;) (?=/[/*]|#)", program) if claim in line]
            assert re.match(r"//|#|/\*", line) and claim != answers[id]["text"]


def test_servers_listen_where_the_truth_says_and_log_what_the_mistake_says(
    challenges: Challenges, answers: Answers
) -> None:
    asked = challenges["node_port"]
    jobs = [{"source": text, "path": "/x", "methods": ["GET"]} for text in sources(asked, "javascript")]
    told = outputs(["node", "-e", SERVERS], jobs)
    assert [str(one["port"]) for one in told] == truths(asked, answers)
    assert all(one["statuses"] == [200] for one in told)
    claims = [answers[id]["mistakes"]["believed_the_log"] for id in asked]
    assert all(re.search(rf"\b{claim}\b", one["log"]) for claim, one in zip(claims, told, strict=True))


def methods_of(challenge: str) -> tuple[str, list[str]]:
    """The path that is asked for, and the methods."""
    path, listed, _ = found(
        r"This server runs on Node\.js\. It receives several requests for the path (/[a-z]+), one with each of these methods: "
        r"([A-Z, and]+)\. It answers exactly one of these requests with the status code 405\. Which method does that "
        r"request use\?\n\n```javascript\n(.+)\n```",
        challenge,
    )
    return path, re.findall(r"[A-Z]+", listed)


def test_servers_refuse_the_method_that_the_truth_names(challenges: Challenges, answers: Answers) -> None:
    asked = challenges["node_method_refused"]
    rows = [methods_of(challenge) for challenge in asked.values()]
    jobs = [
        {"source": text, "path": path, "methods": methods}
        for text, (path, methods) in zip(sources(asked, "javascript"), rows, strict=True)
    ]
    told = outputs(["node", "-e", SERVERS], jobs)
    refused = [
        [method for method, status in zip(job["methods"], one["statuses"], strict=True) if status == 405]
        for job, one in zip(jobs, told, strict=True)
    ]
    assert refused == [[text] for text in truths(asked, answers)]
    assert {status for one in told for status in one["statuses"]} == {200, 405}


def test_most_perl_programs_tell_z_from_what_it_is_taken_for(challenges: Challenges, answers: Answers) -> None:
    mistakes = [answers[id]["mistakes"].get("wrapped_within_a_kind") for id in challenges["perl_tr"]]
    assert sum(1 for text in mistakes if text) > 0.8 * len(mistakes)
