"""`dia scan` finds what a plain search of the words finds, at the right places, however the text is dressed."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import string
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from dia_compiler.commands.cli import run
from dia_runtime.bundle import compressed
from dia_runtime.bundle.open import open_bundle
from dia_runtime.scanning import corpus, index
from dia_runtime.scanning.scan import scan
from dia_runtime.scanning.words import Words, normalized_words, unescaped
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

Make = Callable[..., Path]
GUID = "3d0c1f5a-8a55-4c0e-9d5e-0b6b0f2a7c11"
OTHER = "7c1d0a9e-2b64-4a53-8f0e-5d3b9c61e2fa"


def noise(words: int, seed: int) -> str:
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(words))


@pytest.fixture
def bundle(tiny: Make, bundle_writer: Callable[..., Path], tmp_path: Path) -> Path:
    """Prompts of a shared instruction and thirty words of their own; the last one is short."""
    asked = [json.loads(raw) for raw in (tiny("from", templates=2) / "questions.jsonl").read_bytes().splitlines()]
    for at, question in enumerate(asked):
        shared = "Read the task with care; every detail of it may matter to those who read your answer later on."
        question["messages"][0]["content"] = f"{shared}\n\nWrite “{noise(30, at)}” — and then {at} times Ω!"
    asked[-1]["messages"][0]["content"] = "What is 17 + 3, exactly now?"
    return bundle_writer(tmp_path / "asked", asked, None, 3, canary=f"Please keep out (dia canary {GUID}).")


def prompts(path: Path) -> list[str]:
    return [question["messages"][0]["content"] for question in open_bundle(path).questions()]


def scanned(text: str | bytes, path: Path | None = None, **options: Any) -> dict[str, Any]:
    place = Path("corpus.txt")
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    return scan([place], open_bundle(path) if path else None, **options)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_whole_prompts_are_found_where_they_stand(bundle: Path) -> None:
    texts = prompts(bundle)
    text = "\n".join([noise(50, 90), texts[0], noise(50, 91), texts[5], texts[3], noise(9, 92)])
    found = scanned(text, bundle)
    ids = [question["id"] for question in open_bundle(bundle).questions()]
    assert {entry["question"] for entry in found["exact"]["at"]} == {ids[0], ids[3], ids[5]}
    for entry in found["exact"]["at"]:
        prompt = texts[ids.index(entry["question"])]
        raw = text.encode()[entry["offset"] : entry["offset"] + entry["length"]].decode()
        assert normalized_words(raw.encode()) == normalized_words(prompt.encode())
        assert entry["line"] == text.encode()[: entry["offset"]].count(b"\n") + 1
    assert found["exact"]["questions"] == 3 and found["partial"]["count"] == 0
    assert (found["questions"], found["too_short"]) == (6, 0)


def test_spacing_punctuation_case_and_escapes_play_no_part(bundle: Path) -> None:
    text = prompts(bundle)[1]
    dressed = [
        text.upper().replace("Ω", "Ω"),
        re.sub(r"\s+", "\r\n\t", text),
        text.replace(" ", " **").replace(",", "--"),
        json.dumps({"prompt": text}),
        json.dumps({"prompt": text}, ensure_ascii=False),
        '[{"a": "\\u00e9\\ud83d\\ude00", "prompt": ' + json.dumps(text) + "}]",
    ]
    for form in dressed:
        found = scanned(form, bundle)
        assert found["exact"]["count"] == 1, form
        (entry,) = found["exact"]["at"]
        raw = form.encode()[entry["offset"] : entry["offset"] + entry["length"]]
        assert raw[:4].lower() == b"read" and len(raw) <= len(form.encode())


def test_pieces_are_told_with_whose_they_are(bundle: Path) -> None:
    words = prompts(bundle)[2].split()
    found = scanned(f"{noise(40, 71)} {' '.join(words[20:40])} {noise(40, 72)}", bundle)["partial"]
    assert (found["count"], found["questions"]) == (1, 1)
    assert found["at"][0]["question"] == "tiny/sum_0/2" and found["at"][0]["runs"] == 8
    found = scanned(f"{noise(40, 71)} {' '.join(words[:18])} {noise(40, 72)}", bundle)["partial"]
    assert (found["count"], found["questions"], found["at"][0]["question"], found["at"][0]["template"]) == (
        1,
        0,
        None,
        None,
    )
    assert scanned(f"{noise(40, 71)} {' '.join(words[20:32])} {noise(40, 72)}", bundle)["partial"]["count"] == 0


def test_what_no_prompt_says_is_not_found(bundle: Path) -> None:
    for text in (
        "",
        "\n\n",
        "one",
        noise(5000, 73),
        "a" * 300_000,
        " " * 300_000,
        "\\" * 99_999,
        "[" * 99_999,
        "\\u12",
    ):
        found = scanned(text, bundle)
        assert (found["exact"]["count"], found["partial"]["count"]) == (0, 0)
        assert found["bytes"] == len(text)


def test_canaries_are_found_with_and_without_their_sentence(bundle: Path) -> None:
    text = f"x {GUID.upper()} y\n(dia canary {OTHER}) z x{GUID} {GUID}"
    found = {entry["canary"]: entry for entry in scanned(text, bundle)["canaries"]}
    assert found[GUID]["count"] == 2 and found[OTHER]["count"] == 1
    assert [text[entry["offset"] :][:36].lower() for entry in found[GUID]["at"]] == [GUID, GUID]
    assert found[OTHER]["at"][0]["line"] == 2
    several = "\n".join([f"(dia canary {OTHER})"] * 3 + [OTHER])
    assert [entry["count"] for entry in scanned(several, None)["canaries"]] == [3]
    found = scanned(text, None, canaries=[OTHER, "my own words"])["canaries"]
    assert [(entry["canary"], entry["count"]) for entry in found] == [(OTHER, 1), ("my own words", 0)]
    assert scanned("it says: My own WORDS!", None, canaries=["my own words"])["canaries"][0]["count"] == 1


def test_borders_of_pieces_lose_and_double_nothing(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = prompts(bundle)
    parts = [
        part for at in range(40) for part in (noise(17 * (at % 7), 100 + at), texts[at % 6], f"(dia canary {GUID})")
    ]
    text = "\n".join(parts)
    whole = scanned(text, bundle, limit=999)
    assert whole["exact"]["count"] == 40
    for size in (1500, 2111, 4096):
        monkeypatch.setattr(corpus, "PIECE", size)
        monkeypatch.setattr(corpus, "OVERLAP", 600)
        cut = scanned(text, bundle, limit=999)
        for name in ("exact", "canaries"):
            assert sort(cut[name]) == sort(whole[name])


def sort(found: Any) -> Any:
    held = found if isinstance(found, list) else [found]
    return [(entry["count"], sorted(entry["at"], key=lambda at: at["offset"])) for entry in held]


def test_packed_files_and_folders_are_read(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ("\n".join([noise(30, 75), *prompts(bundle)])).encode()
    Path("c").mkdir()
    Path("c/a.txt.gz").write_bytes(gzip.compress(text))
    Path("c/b.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    Path("c/c.txt").write_bytes(text)
    assert run(["scan", "c", "--bundle", str(bundle), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["exact"]["count"] == 18 and found["bytes"] == 3 * len(text)
    assert run(["scan", "c", "--bundle", str(bundle), "--strict", "-q"]) == 1
    assert "whole prompts: 18 times, from 6 questions" in capsys.readouterr().out
    assert run(["scan", "c/c.txt", "--strict"]) == 0  # no canary in it


def test_members_of_a_tar_file_are_read_like_files(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["pack", str(bundle), "-o", "packed.tar.zst", "-q"]) == 0
    with zstandard.open("packed.tar.zst", "rb") as file:
        packed = file.read()
    with tarfile.open("other.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        tar.add(bundle, "é" * 150)  # which takes a header of its own
    other = Path("other.tar").read_bytes()
    in_folder = scan([path for path in sorted(bundle.rglob("*")) if path.is_file()], open_bundle(bundle))
    for size in (1500, corpus.PIECE):
        monkeypatch.setattr(corpus, "PIECE", size)
        monkeypatch.setattr(corpus, "OVERLAP", min(size // 2, corpus.OVERLAP))
        for content, path in ((packed, "packed.tar.zst"), (other, "other.tar")):
            found = scan([Path(path)], open_bundle(bundle))
            assert found["exact"]["count"] == in_folder["exact"]["count"] == 6 and found["bytes"] == len(content)
            assert found["canaries"][0]["count"] == in_folder["canaries"][0]["count"] > 0
            for entry in found["exact"]["at"]:
                raw = content[entry["offset"] : entry["offset"] + entry["length"]]
                assert raw[:4] in (b"Read", b"What") and raw.endswith((b"times \xce\xa9", b"now"))
                assert entry["line"] == content[: entry["offset"]].count(b"\n") + 1


def test_a_scan_that_finds_nothing_says_what_it_searched(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.txt").write_text("some words\n", encoding="utf-8")
    assert run(["scan", "c.txt"]) == 0
    text = "1 file, 11 bytes\nfound no canary written by dia; to search for prompts too, use --bundle\n"
    assert capsys.readouterr().out == text


def test_files_that_cannot_be_read_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "FREE", 1 << 20)
    Path("cut.gz").write_bytes(gzip.compress(b"words " * 999)[:-9])
    Path("bomb.gz").write_bytes(gzip.compress(bytes(4 << 20)))
    for name in ("cut.gz", "bomb.gz", "none"):
        assert run(["scan", name]) == 2
        assert "E727" in capsys.readouterr().err


@pytest.mark.parametrize("canary", ["", "   ", "!!", "-"])
def test_a_canary_that_can_never_be_found_is_refused(
    bundle: Path, canary: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scan", str(bundle), "--canary", canary]) == 2
    assert "neither letters nor digits" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert run(["scan", str(tmp_path / "pipe"), "--canary", "x"]) == 2
    assert "neither a file" in capsys.readouterr().err


def test_an_index_that_is_too_large_is_thinned(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MOST_RUNS", 64)
    found = scanned("\n".join(prompts(bundle)), bundle)
    assert found["exact"]["count"] >= 4
    assert sum(len(runs.numbers) for runs in index.build_index(open_bundle(bundle), 13).runs) <= 70


@settings(deadline=None, max_examples=examples(60))
@given(st.text(st.sampled_from("aB9 é\n.,-Ω\t"), max_size=80), st.integers(2, 5))
def test_numbers_of_runs_are_those_of_the_words_alone(text: str, count: int) -> None:
    held = Words(text.encode())
    words = normalized_words(text.encode()).split()
    assert held.clear.split() == words
    numbers = held.runs(count).tolist()
    assert len(numbers) == max(0, len(words) - count + 1)
    for at, number in enumerate(numbers):
        alone = Words(b"..".join(words[at : at + count])).runs(count).tolist()
        assert alone == [number]
    assert len(set(numbers)) == len({tuple(words[at : at + count]) for at in range(len(numbers))})


@settings(deadline=None, max_examples=examples(60))
@given(st.text(max_size=60))
def test_escapes_of_json_leave_the_words(text: str) -> None:
    clean = text.encode("utf-8", "ignore").decode()
    plain = normalized_words(clean.encode())
    for ascii_only in (True, False):
        held = json.dumps(clean, ensure_ascii=ascii_only).encode()
        is_told = not re.search("[\x00-\x1f\x7f]", clean)  # a control character is an escape of one kind or the other
        if is_told:
            assert normalized_words(unescaped(held).text) == plain
