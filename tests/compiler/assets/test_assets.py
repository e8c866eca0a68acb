"""Artefacts of instances: how specs make them, how prompts print them, what bundles keep of them."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import Builder, OptionFault, Site, data, template
from dia_compiler.commands.cli import run
from dia_compiler.freeze.spool import Spool, asset_frame
from dia_compiler.generate.asset_builder import AssetBuilder, entropy
from dia_compiler.pipeline.api import compile
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import examine
from helpers.small_specs import found, questions, written

HEAD = """\
template: one
title: One
params:
  key: {type: string, alphabet: = letters, length: 12}
  n: {type: integer, min: 1, max: 9}
answer: {value: key, type: text}
"""
LOG = """\
assets:
  log:
    build: text
    text: |
      {% for i in range(n) %}
      line {{ i }}
      {% endfor %}
      key={{ key }}
"""


class Blob(Builder):
    """Bytes of the instance's stream behind a word."""

    summary = "a blob"
    options = {"word": data("a word", required=True), "note": template("a note")}
    extension = "bin"
    media_type = "application/octet-stream"

    def validate(self, options: Mapping[str, Any]) -> None:
        if len(options.get("word", "")) > 20:
            raise OptionFault("word", "`word` is too long", "make it shorter")

    def build(self, options: Mapping[str, Any], site: Site) -> bytes:
        return options["word"].encode() + site.entropy(5)


@pytest.fixture
def blob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILDERS.own, "blob", Blob())  # type: ignore[index]


def test_a_text_stands_in_the_prompt_as_it_is_and_checks_read_it(tmp_path: Path) -> None:
    spec = HEAD + LOG + 'checks:\n  - contains(log, f"key={answer}")\nprompt: "Which key?\\n{{ log }}"\n'
    for question in questions(tmp_path, spec, 3):
        lines = "".join(f"line {i}\n" for i in range(question.parameters["n"]))
        assert question.challenge == f"Which key?\n{lines}key={question.answer}"
        assert question.attachments == ()


def test_bytes_stand_in_the_prompt_in_base64_and_are_bytes_elsewhere(tmp_path: Path, blob: None) -> None:
    spec = (
        HEAD
        + "assets: {thing: {build: blob, word: = key}}\nlet: {size: length(thing), digest: hex(sha256(thing))}\n"
        + 'checks: ["text_of(thing[:12]) == answer", size == 17]\n'
        + 'prompt: "{{ thing }} {{ size }} {{ digest }} {{ thing | length }}"\n'
    )
    for question in questions(tmp_path, spec, 3):
        shown, size, digest, again = question.challenge.split(" ")
        content = base64.b64decode(shown)
        assert content[:12].decode() == question.answer and size == again == "17"
        assert hashlib.sha256(content).hexdigest() == digest


def test_the_stream_of_a_builder_is_that_of_its_instance(tmp_path: Path, blob: None) -> None:
    spec = HEAD + "assets: {thing: {build: blob, word: x}}\nprompt: '{{ thing }} {{ key }}'\n"
    once, twice = ([q.challenge for q in questions(tmp_path / name, spec, 9)] for name in "ab")
    assert once == twice and len({text.split()[0] for text in once}) == 9


def test_a_stream_goes_on_where_it_was_left() -> None:
    parts, whole = entropy(b"key"), entropy(b"key")
    assert b"".join(parts(count) for count in (0, 1, 31, 32, 33, 100)) == whole(197)
    assert whole(0) == b"" and entropy(b"other")(8) != entropy(b"key")(8)


def test_assets_are_made_of_each_other_in_any_order(tmp_path: Path) -> None:
    spec = HEAD + (
        'assets:\n  page: {build: text, text: "<{{ inner }}>"}\n  inner: {build: text, text: = upper(key)}\n'
        'prompt: "{{ page }}"\n'
    )
    assert all(q.challenge == f"<{str(q.answer).upper()}>" for q in questions(tmp_path, spec, 3))


def test_a_list_of_templates_is_rendered_one_by_one(tmp_path: Path) -> None:
    spec = HEAD + (
        'assets:\n  page: {build: html, title: T, body: "<p>{{ key }}</p>", scripts: ["let a = {{ n }};", "= upper(key)"]}\n'
        'prompt: "{{ page }}"\n'
    )
    for question in questions(tmp_path, spec, 3):
        assert f"let a = {question.parameters['n']};" in question.challenge
        assert str(question.answer).upper() in question.challenge and "{{" not in question.challenge


def test_an_answer_can_be_about_an_asset(tmp_path: Path) -> None:
    spec = (HEAD + LOG + "prompt: '{{ log }}'\n").replace("value: key, type: text", "value: length(log), type: integer")
    assert all(q.answer == len(q.challenge) for q in questions(tmp_path, spec, 3))


def test_an_asset_beside_the_prompt_is_a_file_of_the_bundle(tmp_path: Path, blob: None) -> None:
    spec = (
        HEAD
        + 'assets:\n  thing: {build: blob, word: = key}\n  memo: {build: text, text: "{{ n }} for {{ key }}"}\n'
        + "deliver: {thing: attach, memo: file}\nprompt: See {{ thing }} and {{ memo }}; give the key.\n"
        + "allow: {answer-in-prompt: it stands in a file}\n"
    )
    made = questions(tmp_path / "specs", spec, 2)
    assert all(question.challenge == "See thing.bin and memo.txt; give the key." for question in made)
    assert [held.deliver for held in made[0].attachments] == ["attach", "file"]


TEXTS = (
    HEAD
    + LOG
    + "deliver: file\nprompt: See {{ log }} of case {{ n }}-{{ key | lower }}.\n"
    + "allow: {answer-in-prompt: it stands in a file}\n"
)


def test_a_bundle_with_files_beside_prompts_is_whole_and_made_again_the_same(tmp_path: Path) -> None:
    specs = written(tmp_path / "specs", TEXTS)
    bundle = compile([specs], 4, out=tmp_path / "out", jobs=1).bundles[0].path
    records = list(open_bundle(bundle).questions())
    for record in records:
        (asset,) = record["assets"]
        content = (bundle / asset["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == asset["sha256"] and len(content) == asset["size"]
        assert asset["name"] == "log.txt" and asset["deliver"] == "file"
    assert examine(bundle).problems == ()
    again = compile([specs], 4, out=tmp_path / "again", jobs=2, use_cache=False).bundles[0]
    from_cache = compile([specs], 4, out=tmp_path / "out", jobs=1)
    (bundle / "manifest.json").unlink()
    from_rows = compile([specs], 4, out=tmp_path / "out", jobs=1, force=True)
    assert again.digest == from_cache.bundles[0].digest == from_rows.bundles[0].digest
    assert examine(bundle).problems == ()


def test_a_lost_or_changed_file_beside_a_prompt_is_found(tmp_path: Path) -> None:
    bundle = compile([written(tmp_path / "specs", TEXTS)], 3, out=tmp_path / "out", jobs=1).bundles[0].path
    first, second, _ = sorted((bundle / "assets").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes() + b"x")
    assert {problem.kind for problem in examine(bundle).problems} == {"missing", "changed"}


def test_health_looks_into_texts_beside_the_prompt(tmp_path: Path) -> None:
    spec = TEXTS.replace("allow: {answer-in-prompt: it stands in a file}\n", "")
    warned = compile([written(tmp_path / "specs", spec)], 3, out=tmp_path / "out", jobs=1).warnings
    assert any("answer-in-prompt" in str(entry) or "stands in the prompt" in entry.message for entry in warned)


FAULTS = [
    ("x: {build: blobb, word: a}", "E406", "unknown asset builder `blobb`"),
    ("x: {build: blob, word: a, colour: red}", "E407", "the builder `blob` has no option `colour`"),
    ("x: {build: blob}", "E202", "the builder `blob` needs the option `word`"),
    ("x: {build: blob, word: aaaaaaaaaaaaaaaaaaaaaaaaa}", "E408", "`x`: `word` is too long"),
    ("x: {build: blob, word: = answer}", "E308", "cannot be used in an asset"),
    ('x: {build: blob, word: a, note: "{{ answer }}"}', "E308", "cannot be used in an asset"),
    ('x: {build: blob, word: a, note: "{{ x }}"}', "E307", "`x` is defined in terms of itself"),
    ("n: {build: blob, word: a}", "E310", "already the name of a parameter"),
    ("answer: {build: blob, word: a}", "E309", "`answer` is a reserved name"),
    ("x: {word: a}", "E202", "`build` is missing"),
]


@pytest.mark.parametrize(("line", "code", "message"), FAULTS)
def test_what_cannot_be_is_told_before_any_work(tmp_path: Path, blob: None, line: str, code: str, message: str) -> None:
    faults = found(tmp_path, HEAD + f"assets:\n  {line}\nprompt: '{{{{ key }}}}{{{{ n }}}}'\n")
    told = [entry for entry in faults if entry.severity == "error"]
    assert any(entry.code == code and message in entry.message for entry in told), told
    assert all(entry.position and entry.position.line == 8 for entry in told)


@pytest.mark.parametrize(
    ("key", "line"),
    [("where", "where: length(log) > 3"), ("params", "slots: {a: x}")],
)
def test_an_asset_is_not_there_while_parameters_are_drawn(tmp_path: Path, key: str, line: str) -> None:
    spec = HEAD + LOG + f"{line}\nprompt: '{{{{ log }}}}'\n"
    if key == "params":
        spec = spec.replace("  n: {type: integer, min: 1, max: 9}", "  n: {type: integer, min: = length(log), max: 9}")
    told = [entry for entry in found(tmp_path, spec) if entry.severity == "error"]
    assert any("is built after all parameters are drawn" in entry.message for entry in told), told


def test_a_delivery_names_an_asset(tmp_path: Path) -> None:
    told = found(tmp_path, HEAD + LOG + "deliver: {lag: file}\nprompt: '{{ log }}'\n")
    assert [(entry.code, entry.message) for entry in told] == [("E303", "unknown asset `lag`")]
    assert told[0].help == "did you mean `log`?"


def test_a_drawn_option_that_cannot_be_names_the_instance(tmp_path: Path, blob: None) -> None:
    spec = (
        HEAD.replace("length: 12", "length: 30") + "assets: {x: {build: blob, word: = key}}\nprompt: '{{ x }}{{ n }}'\n"
    )
    with pytest.raises(DiaError) as caught:
        questions(tmp_path, spec, 1)
    (entry,) = caught.value.diagnostics
    assert entry.code == "E408" and "where key = " in entry.message and entry.position is not None


def test_a_template_whose_builder_lacks_its_extra_is_left_out(
    tmp_path: Path, blob: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Blob, "extra", "models")
    monkeypatch.setitem(
        sys.modules, "dia_compiler.analyze.requirements", sys.modules["dia_compiler.analyze.requirements"]
    )
    monkeypatch.setattr("dia_compiler.analyze.host_requirements.find_spec", lambda name: None)
    specs = written(
        tmp_path / "specs", HEAD + "assets: {x: {build: blob, word: a}}\nprompt: '{{ x }}{{ n }}{{ key }}'\n"
    )
    (specs / "plain.yaml").write_text(HEAD.replace("one", "two") + "prompt: '{{ key }}{{ n }}'\n")
    assert run(["compile", str(specs), "-o", str(tmp_path / "out"), "--json", "--jobs", "1"]) == 0
    (bundle,) = json.loads(capsys.readouterr().out)["bundles"]
    assert bundle["left_out"] == [
        {"template": "one", "why": "the extra `models`: run `pip install '.[models]'` in a clone of dia"}
    ]


@pytest.mark.long
def test_the_same_bytes_come_from_any_place_and_hash_seed(tmp_path: Path) -> None:
    specs = written(tmp_path / "specs", TEXTS)
    digests = set()
    for number, seed in enumerate(("0", "1")):
        place = tmp_path / f"place {number}"
        place.mkdir()
        command = [sys.executable, "-m", "dia_compiler", "compile", str(specs), "--json", "-o", "out"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{number}"}
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=True)
        digests.add(json.loads(done.stdout)["bundles"][0]["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize(("text", "is_told"), [("{{ key }}", False), ("{{ n }}", True)])
def test_questions_are_told_apart_by_what_lies_beside_them(tmp_path: Path, text: str, is_told: bool) -> None:
    spec = (
        f'{HEAD}assets: {{log: {{build: text, text: "{text}"}}}}\ndeliver: file\nprompt: "What says {{{{ log }}}}?"\n'
    )
    written(
        tmp_path / "specs",
        spec + "allow: {unused-parameter: here, answer-in-prompt: here, answer-ignores-parameter: here}\n",
    )
    told: list[str] = []
    try:
        compile([tmp_path / "specs"], k=20, out=tmp_path / "out", jobs=1)
    except DiaError as error:
        told = [found.code for found in error.diagnostics]
    assert told == (["E506"] if is_told else [])


def test_a_full_disk_is_no_fault_of_the_spec() -> None:
    def full(*_: Any) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    builder = SimpleNamespace(validate=lambda options: None, build=full)
    asset: Any = SimpleNamespace(builder=builder, asset=SimpleNamespace(name="one", position=None))
    with pytest.raises(DiaError) as caught:
        AssetBuilder({"one": asset}, WorkerResources()).built(asset, {}, b"key", 0)
    found = caught.value.diagnostics[0]
    assert (found.code, found.message) == ("E602", f"`one` cannot be built: {os.strerror(errno.ENOSPC)}")
    assert found.help == "free some disk space, or set TMPDIR to a folder on another disk"


def test_artefacts_are_walked_over_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    contents = [bytes([number % 251]) * (number * 97 % 5000) for number in range(400)] + [b"x" * 700_000, b""]
    for folder in (None, tmp_path):
        spool = Spool(folder, "one")
        for content in contents:
            spool.parts["assets"].add(asset_frame(hashlib.sha256(content).hexdigest(), "bin", content))
        assert list(spool.assets()) == [(f"{hashlib.sha256(held).hexdigest()}.bin", held) for held in contents]
