"""A bundle whose digests are right and whose records are not valid: refused by every command, and never a crash."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.bundle.canonical import canonical_line
from dia_runtime.bundle.record_schemas import SCHEMAS, schema_error
from dia_runtime.data import data_folder

Make = Callable[..., Path]

# File, the change in its first record, and words of the message.
FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "no such type": ("answers", lambda one: one["comparison"].update(type="mark"), "unknown answer type `mark`"),
    "no such option": ("answers", lambda one: one["comparison"].update(minimum="x"), "`comparison` is not valid"),
    "no type": ("answers", lambda one: one["comparison"].clear(), "`comparison` needs `type`"),
    "a value of no type": (
        "answers",
        lambda one: one.update(answer={"int": 1}),
        "`answer` has none of the allowed forms",
    ),
    "a huge number": ("templates", lambda one: one.update(adversarial=10**30), "`adversarial` must be"),
    "a huge count": ("templates", lambda one: one.update(items=10**30), "`items` must be at most"),
    "a far instance": ("questions", lambda one: one.update(instance=10**30), "`instance` must be"),
    "no role": ("questions", lambda one: one.update(messages=[{"content": "x"}]), "`messages[0]` needs `role`"),
    "points as a list": ("questions", lambda one: one["points"].update(wrong=[]), "`points.wrong` has none"),
    "skills as numbers": ("questions", lambda one: one.update(skills=[1]), "`skills[0]` must be string"),
}
THROUGH_ALL = ("no such type", "a huge number", "no role")  # one of each kind, which crashed some command once
COMMANDS = (
    "verify {}",
    "show {}",
    "run {} --model oracle -o a.run",
    "export {} --to dia-bench -o out",
    "seal {} --weak",
)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_refused_by_every_command_that_reads_it(
    name: str, tiny: Make, tmp_path: Path, manifest_writer: Make, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    kind, change, message = FORGED[name]
    path, asked = tiny(), tmp_path / "asked.run"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIA_PASSPHRASE", "correct horse battery staple")
    assert run(["run", str(path), "--model", "oracle", "-o", str(asked), "-q"]) == 0
    records = [json.loads(line) for line in (path / f"{kind}.jsonl").read_bytes().splitlines()]
    change(records[0])
    (path / f"{kind}.jsonl").write_bytes(b"".join(_line(record) for record in records))
    facts = json.loads((path / "manifest.json").read_bytes())
    manifest_writer(path, {key: value for key, value in facts.items() if key != "files"})
    codes = {}
    every = (*COMMANDS, f"report {asked} --bundle {{}} -o r.html", f"score {asked} --bundle {{}}")
    for command in every if name in THROUGH_ALL else COMMANDS[:3]:
        capsys.readouterr()
        code = run(command.format(path).split())
        printed = "".join(capsys.readouterr())
        assert "E900" not in printed and "Traceback" not in printed, (command, printed)
        assert code in (0, 3), (command, code, printed)
        codes[command.split()[0]] = code
        if command.startswith("verify"):
            assert message in printed and "E707" in printed, printed
    assert codes["verify"] == 3 and 3 in codes.values() and not Path("out").exists()


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "a changed byte": lambda content: content.replace(b"a", b"b", 1),
    "cut": lambda content: content[:100],
    "empty": lambda content: b"",
    "missing": lambda content: None,
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_report_with_damaged_questions_blames_the_bundle_in_one_message(
    how: str, tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path, ignored = tiny(), list[object]()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)  # prints a traceback outside of pytest
    assert run(["run", str(path), "--model", "oracle", "-o", "asked.run", "-q"]) == 0
    questions = path / "questions.jsonl"
    damaged = DAMAGE[how](questions.read_bytes())
    questions.unlink()
    if damaged is not None:
        questions.write_bytes(damaged)
    capsys.readouterr()
    assert run(["report", "asked.run", "--bundle", str(path), "-o", "r.html"]) == 3
    gc.collect()
    printed = capsys.readouterr().err
    assert printed.startswith(("error[E703]: `questions.jsonl`", "error[E704]: `questions.jsonl`"))
    assert [line.split(":")[0] for line in printed.splitlines()[1:]] == ["  help"]
    assert ignored == [] and not Path("r.html").exists()


def _line(record: dict[str, Any]) -> bytes:
    try:
        return canonical_line(record) + b"\n"
    except ValueError:  # numbers that no canonical form has
        return json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_validator_says_what_jsonschema_says(kind: str) -> None:
    import jsonschema

    schema = json.loads((data_folder() / "schemas" / f"{SCHEMAS[kind]}.schema.json").read_text(encoding="utf-8"))
    reference = jsonschema.Draft202012Validator(schema)
    values: list[Any] = [None, True, 0, -1, 2**60, "", "a", [], [1], {}, {"kind": "xml"}, {"type": "integer"}]
    required = dict.fromkeys(schema["required"], "a")
    if kind == "answers":
        required |= {"comparison": {"type": "integer"}, "accept": [], "mistakes": {}, "parameters": {}}
    for name in schema["properties"]:
        for value in values:
            record = required | {name: value}
            assert (schema_error(record, kind) is None) <= reference.is_valid(record), (name, value)
