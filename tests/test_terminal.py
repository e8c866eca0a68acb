"""No command prints a character that a terminal obeys, whatever the names in its files are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from dia_compiler.commands.cli import COMMANDS, run
from dia_runtime.bundle import key_file, sealed_file
from dia_runtime.commands.terminal import printable
from hypothesis import given
from hypothesis import strategies as st

EVIL = "gpt\x1b]0;pwned\x07\x1b[31m\x9b2J\u202ex\r"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
IN_YAML = json.dumps(EVIL)  # double-quoted YAML reads the same escapes

BENCHMARK = f"language: 2\nbenchmark: mine\nversion: 1.0.0\ntitle: {IN_YAML}\n"
TEMPLATE = f"""template: square
title: {IN_YAML}
category: {IN_YAML}
domain: {IN_YAML}
level: {IN_YAML}
skills: [{IN_YAML}]
notes: {IN_YAML}
params:
  n: {{type: integer, min: 2, max: 999}}
  word: {{type: choice, of: [{IN_YAML}, plain]}}
answer: {{value: n**2, type: integer}}
prompt: What is the square of {{{{ n }}}}?
"""

# Each command on the files of the one before; some of them fail, which prints names as well.
WALK = """
check mine
check mine --format github
check {evil}.yaml
preview mine
preview mine/{evil}
probe mine/square.yaml --k 20
compile mine --k 5
compile {evil}
compile mine --part 1/1 -o parts
merge parts -o merged
show build/mine-1.0.0-k5
show build/mine-1.0.0-k5 square/0
show build/mine-1.0.0-k5 {evil}
verify build/mine-1.0.0-k5
diff build/mine-1.0.0-k5 merged
new drafts/{evil}
schemas mine
functions {evil}
types {evil}
doctor
import replies.jsonl --from jsonl --letters A-D --field model=model -o a.run
import other.jsonl --from jsonl --letters A-D --field model=model -o b.run
import replies.jsonl --from jsonl --letters A-D --field model={evil} -o c.run
merge a.run b.run -o both.run
studio {evil}
lsp {evil}
show a.run
show a.run q1
score a.run
score a.run --format csv
score a.run --format markdown
score a.run b.run --compare
calibrate a.run -o bank.json
place --bank bank.json --replay b.run
link bank.json bank.json
explain a.run --bank bank.json
explore mine/square.yaml --bank bank.json --model {evil}
overlap build/mine-1.0.0-k5 mine/benchmark.yaml
audit a.run --chains strict,lenient
questions a.run
report a.run -o report.html
report {evil}.run -o report.html
plot leaderboard a.run -o plot.svg
export build/mine-1.0.0-k5 --to dia-bench -o exported
keygen -o mine.key --passphrase-file pass.txt
sign build/mine-1.0.0-k5 --key mine.key --passphrase-file pass.txt
pack build/mine-1.0.0-k5
unpack build/mine-1.0.0-k5.tar.zst -o unpacked
seal build/mine-1.0.0-k5 --weak --passphrase-file pass.txt
prove build/mine-1.0.0-k5-sealed square/0 --passphrase-file pass.txt -o proof.json
prove build/mine-1.0.0-k5-sealed {evil} --passphrase-file pass.txt
unseal build/mine-1.0.0-k5-sealed --passphrase-file pass.txt -o opened
scan {evil}.txt --bundle build/mine-1.0.0-k5
run build/mine-1.0.0-k5 --model oracle -o asked.run
run build/mine-1.0.0-k5 --model {evil}
{evil}
score --{evil}
"""


@pytest.mark.long
def test_no_command_prints_what_a_terminal_obeys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sealed_file, "COST", {"n": 2, "r": 1, "p": 1})
    monkeypatch.setattr(key_file, "ROUNDS", 2)
    Path("mine").mkdir()
    Path("mine/benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    Path("mine/square.yaml").write_text(TEMPLATE, encoding="utf-8")
    Path("pass.txt").write_text("correct horse battery staple\n", encoding="utf-8")
    file_name = EVIL.replace("/", "")
    Path(f"{file_name}.txt").write_text("What is the square of 7?\n", encoding="utf-8")
    for name, models in (("replies", ("x", "y", "z")), ("other", ("w",))):
        rows = [
            {"id": f"q{at}", "gold": "ABCD"[at % 4], "reply": f"\x1b[2J\nAnswer: {chosen}", "model": model + EVIL}
            for turn, model in enumerate(models)
            for at in range(12)
            for chosen in "ABCD"[(at + (at * (turn + 3) % 7 < 3)) % 4]
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    walked, failed = set(), []
    for line in WALK.strip().splitlines():
        words = [word.replace("{evil}", file_name) for word in line.split(" ")]
        code = run(words)
        printed = "".join(capfd.readouterr())
        assert not OBEYED.search(printed), (line, printed)
        assert code in (0, 1, 2, 3), (line, printed)
        walked.add(words[0])
        failed += [(line, printed)] if code and "{evil}" not in line else []
    assert set(COMMANDS) <= walked
    assert not failed


@given(st.text(max_size=40), st.booleans())
def test_only_line_breaks_tabs_and_our_colours_are_printed_as_they_are(text: str, is_styled: bool) -> None:
    colours = re.compile("\x1b\\[[0-9]{1,2}m")
    printed = printable(f"\x1b[31m{text}\x1b[0m", is_styled)
    assert not OBEYED.search(colours.sub("", printed) if is_styled else printed)
    assert bool(colours.search(printed)) is is_styled
