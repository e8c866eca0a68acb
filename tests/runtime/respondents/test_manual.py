"""Prompts laid out as files, and replies pasted beside them by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import jsonschema
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.data import data_folder
from dia_runtime.respondents.chat import Settings
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RespondentSummary, RunOptions
from dia_runtime.store.store import read_store
from helpers.failures import refusal

Make = Callable[..., Path]


def asked(bundle: Path, folder: Path, out: Path, settings: Settings | None = None, **more: Any) -> RespondentSummary:
    terms = RunOptions(ModelOptions(settings or Settings()))
    return dia_runtime.run(bundle, f"manual:{folder}", out, terms=terms, **more).respondents[0]


def texts(path: Path) -> dict[str, str | None]:
    with read_store(path) as store:
        return {f"{reply['question']} {reply['attempt']}": reply["text"] for reply in store.replies_of(1)}


def state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_prompts_are_laid_out_and_replies_are_read_back(
    tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, folder, out = tiny(), tmp_path / "by" / "hand", tmp_path / "a.run"
    command = ["run", str(bundle), "--model", f"manual:{folder}", "-o", str(out)]
    assert run(command) == 1
    assert f"manual:{folder}: 0 of 6 replies, 6 still to be answered" in capsys.readouterr().err
    names = [f"{at + 1:04}-tiny-sum_{at // 3}-{at % 3}" for at in range(6)]
    assert sorted(state(folder)) == [*(f"{name}.txt" for name in names), "README.md"]
    prompts = [record["messages"][0]["content"] for record in dia_runtime.open_bundle(bundle).questions()]
    assert [(folder / f"{name}.txt").read_text(encoding="utf-8") for name in names] == prompts
    (folder / f"{names[0]}.reply.txt").write_bytes("\ufeff <xml>8</xml>\r\n".encode())
    (folder / f"{names[1]}.reply.txt").write_text(" \n", encoding="utf-8")  # made, and not yet filled
    (folder / "replies.md").write_text(
        f"Asked on Monday.\n\n## {names[4]}\n\n# Thoughts\n\n## Answer\n\n<xml>19</xml>\n\n"
        f"## {names[5]}\n\n##  {names[0]}\nnot this one\n",
        encoding="utf-8",
    )
    before = state(folder)
    capsys.readouterr()
    assert run(["show", str(out), "sum_0/1"]) == 0
    help = f"no reply yet: save it in the folder `{folder}` as its README.md says, then repeat the `dia run` command"
    assert capsys.readouterr().out == f"tiny/sum_0/1\n\n[manual:{folder}]\n{help}\n"
    assert run([*command, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    schema = (data_folder() / "schemas" / "run.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(printed, json.loads(schema))
    assert "open" in json.loads(schema)["properties"]["runs"]["items"]["properties"]
    facts = printed["runs"][0]
    assert (facts["asked"], facts["kept"], facts["errors"], facts["open"]) == (2, 0, 0, 4)
    assert texts(out) == {
        "tiny/sum_0/0 1": "<xml>8</xml>",
        "tiny/sum_1/1 1": "# Thoughts\n\n## Answer\n\n<xml>19</xml>",
    }
    assert state(folder) == before
    for name in names:
        (folder / f"{name}.reply.txt").write_text("<xml>1</xml>", encoding="utf-8")
    assert run(command) == 0
    assert "6 of 6 replies, 2 of them already in the run" in capsys.readouterr().err
    assert texts(out)["tiny/sum_0/0 1"] == "<xml>8</xml>"  # what was read stays


def test_attempts_have_files_of_their_own_and_numbers_are_places_in_the_bundle(tiny: Make, tmp_path: Path) -> None:
    bundle, folder, out = tiny(), tmp_path / "hand", tmp_path / "a.run"
    entry = asked(bundle, folder, out, attempts=2, limit=1)
    assert entry.open == 2 and entry.errors == 0
    assert sorted(state(folder)) == ["0001-tiny-sum_0-0-attempt-2.txt", "0001-tiny-sum_0-0.txt", "README.md"]
    (folder / "0001-tiny-sum_0-0-attempt-2.reply.txt").write_text("two", encoding="utf-8")
    assert asked(bundle, folder, out, attempts=2, limit=1).open == 1
    assert texts(out) == {"tiny/sum_0/0 2": "two"}
    assert asked(bundle, folder, out, limit=3).open == 3
    assert "0003-tiny-sum_0-2.txt" in state(folder)


def test_prompts_of_several_messages_say_who_speaks(tiny: Make, tmp_path: Path) -> None:
    asked(tiny(k=1), tmp_path / "hand", tmp_path / "a.run", Settings(system="Be brief."), limit=1)
    prompt = (tmp_path / "hand" / "0001-tiny-sum_0-0.txt").read_text(encoding="utf-8")
    assert prompt == "[system]\nBe brief.\n\n[user]\nWhat is 7 + 1? Ω"


def test_assets_lie_beside_their_prompts(
    tiny: Make, bundle_writer: Make, manifest_writer: Make, tmp_path: Path
) -> None:
    opened, content = dia_runtime.open_bundle(tiny(templates=1, k=1)), b"\x89PNG\x00"
    (question,), digest = opened.questions(), hashlib.sha256(content).hexdigest()
    assets = [
        {"name": name, "sha256": digest, "path": f"assets/{digest}.png", "media_type": "image/png",
         "size": len(content), "deliver": "attach"}
        for name in ("a picture", "../../reply.txt")
    ]  # fmt: skip
    bundle = bundle_writer(tmp_path / "with", [question | {"assets": assets}], list(opened.answers()), 1)
    (bundle / "assets").mkdir()
    (bundle / "assets" / f"{digest}.png").write_bytes(content)
    facts = dia_runtime.open_bundle(bundle).manifest
    manifest_writer(bundle, {name: value for name, value in facts.items() if name != "files"})
    for _ in range(2):
        assert asked(bundle, tmp_path / "hand", tmp_path / "a.run").open == 1
    found = {name: held for name, held in state(tmp_path / "hand").items() if ".asset-" in name}
    stem = "0001-tiny-sum_0-0.asset-"
    assert found == {f"{stem}a-picture.png": content, f"{stem}reply.txt.png": content}


def test_another_bundle_s_prompts_are_never_written_over(tiny: Make, tmp_path: Path) -> None:
    folder = tmp_path / "hand"
    asked(tiny("a"), folder, tmp_path / "a.run")
    before = state(folder)
    (folder / "0001-tiny-sum_0-0.txt").write_text("mine", encoding="utf-8")
    entry = asked(tiny("b"), folder, tmp_path / "b.run")
    assert entry.ended is not None and "belongs to another prompt; choose another folder" in entry.ended
    assert state(folder) == before | {"0001-tiny-sum_0-0.txt": b"mine"}


def test_a_prompt_whose_writing_was_cut_is_made_whole(tiny: Make, tmp_path: Path) -> None:
    bundle, folder = tiny(), tmp_path / "hand"
    asked(bundle, folder, tmp_path / "a.run")
    before, path = state(folder), folder / "0002-tiny-sum_0-1.txt"
    path.write_bytes(path.read_bytes()[:5])
    assert asked(bundle, folder, tmp_path / "a.run").open == 6 and state(folder) == before


def test_a_reply_that_is_no_text_is_that_question_s_error(tiny: Make, tmp_path: Path) -> None:
    bundle, folder = tiny(), tmp_path / "hand"
    asked(bundle, folder, tmp_path / "a.run")
    (folder / "0001-tiny-sum_0-0.reply.txt").write_bytes(b"\xff\xfe")
    entry = asked(bundle, folder, tmp_path / "a.run")
    assert (entry.errors, entry.open, entry.ended) == (1, 5, None)
    (folder / "0001-tiny-sum_0-0.reply.txt").write_text("mended", encoding="utf-8")
    assert asked(bundle, folder, tmp_path / "a.run").errors == 0
    assert texts(tmp_path / "a.run") == {"tiny/sum_0/0 1": "mended"}


@pytest.mark.parametrize(
    ("name", "why"),
    [("", "does not name a folder"), ("a.file", "is a file, not a folder"), ("a\0b", "does not name a folder")],
)
def test_what_is_no_folder_is_refused(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    bundle = tiny()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.file").touch()
    error = f"{why}\n  help: write manual:FOLDER; the folder is created if needed"
    refusal("E844", error, lambda: dia_runtime.run(bundle, f"manual:{name}", tmp_path / "a.run"))
    assert not (tmp_path / "a.run").exists()


def test_a_folder_that_cannot_be_made_is_told(tiny: Make, tmp_path: Path) -> None:
    (tmp_path / "a.file").touch()
    entry = asked(tiny(), tmp_path / "a.file" / "hand", tmp_path / "a.run")
    assert entry.ended is not None and "Not a directory" in entry.ended
    entry = asked(tiny("b"), tmp_path / ("x" * 300), tmp_path / "b.run")
    assert entry.ended is not None and "File name too long" in entry.ended
