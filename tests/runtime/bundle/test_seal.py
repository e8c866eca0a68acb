"""A sealed bundle comes back to the byte, tells no answer, and every damage is told with nothing written."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle import archive, cipher, key_file, sealed_file, signing
from dia_runtime.bundle import seal as sealing
from dia_runtime.bundle.canonical import canonical_line, manifest_bytes
from dia_runtime.bundle.commitments import commitment
from dia_runtime.bundle.manifest import with_checksum
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.seal import seal, seed_bits
from dia_runtime.bundle.sealed_file import padded_size
from dia_runtime.bundle.unseal import prove, unseal
from dia_runtime.bundle.verify import verify
from helpers.failures import refusal, refused_call
from helpers.places import ROOT
from helpers.schemas import faults

Make = Callable[..., Path]
SECRET = "seven quiet herons"
SEED = hashlib.sha256(b"a seed of these tests").hexdigest()
SCHEMAS = ROOT / "schemas"
OPTIONS = {letter: f"choice {letter}" for letter in "ABCDE"}
LETTER = {"kind": "letter", "options": OPTIONS, "skip": "E"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sealed_file, "COST", {"n": 2, "r": 1, "p": 1})
    monkeypatch.setattr(key_file, "ROUNDS", 2)
    monkeypatch.setenv("DIA_PASSPHRASE", SECRET)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def whole(tiny: Make) -> Path:
    return tiny(seed=SEED)


@pytest.fixture
def sealed(whole: Path) -> Path:
    return seal(whole, SECRET, whole.parent / "sealed").path


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def forged(folder: Path) -> None:
    """Makes the manifest agree with the files again, as somebody would who changes them."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name in manifest["files"]:
        held = (folder / name).read_bytes()
        manifest["files"][name] = {"size": len(held), "sha256": hashlib.sha256(held).hexdigest()}
    manifest.pop("checksum")
    (folder / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))


def refused(folder: Path, secret: str = SECRET) -> str:
    """What is said where the bundle cannot be unsealed; nothing may be left behind."""
    before = set(folder.parent.iterdir())
    with pytest.raises(DiaError) as error:
        unseal(folder, secret, folder.parent / "back")
    assert error.value.exit_code == 3
    assert set(folder.parent.iterdir()) == before
    return str(error.value)


def test_what_was_sealed_comes_back_to_the_byte(whole: Path, tmp_path: Path) -> None:
    signing.sign(open_bundle(whole), signing.private_key(signing.keygen(tmp_path / "key", SECRET).private, SECRET))
    made = seal(whole, SECRET, tmp_path / "sealed")
    assert verify(made.path) == [] and not (made.path / "signature.json").exists()
    assert made.questions_root == open_bundle(whole).questions_root and made.id != made.original
    back = unseal(made.path, SECRET, tmp_path / "back")
    assert tree(back.path) == tree(whole) and {"signature.json", "provenance.json"} <= tree(whole).keys()
    assert back.id == made.original == open_bundle(whole).id


def test_the_formats_keep_their_schemas(sealed: Path) -> None:
    assert faults("manifest", json.loads((sealed / "manifest.json").read_bytes())) == []
    assert faults("seal-header", json.loads((sealed / "sealed.bin").read_bytes().partition(b"\n")[0])) == []
    for name, schema in (("templates", "template-record"), ("commitments", "commitment"), ("questions", "question")):
        for raw in (sealed / f"{name}.jsonl").read_bytes().splitlines():
            assert faults(schema, json.loads(raw)) == []
    assert faults("proof", prove(sealed, "sum_0/1", SECRET)) == []


def test_wrong_passphrases_are_told(sealed: Path) -> None:
    for secret in ("", SECRET + " ", SECRET.upper(), "x"):
        if secret:
            refusal("E718", "the passphrase with which the bundle", lambda: unseal(sealed, secret, Path("x")), 3)  # noqa: B023
    assert run(["unseal", str(sealed), "-o", "back"]) == 0


def test_every_changed_byte_is_found_even_where_the_manifest_is_forged(sealed: Path) -> None:
    place = sealed / "sealed.bin"
    held = place.read_bytes()
    header = held.index(b"\n") + 1
    for at in (*range(0, header, 7), header, header + 1, header + 65_551, len(held) - 17, len(held) - 1):
        place.write_bytes(held[:at] + bytes([held[at] ^ 1]) + held[at + 1 :])
        assert "`sealed.bin` differs from the manifest" in refused(sealed)
        forged(sealed)
        message = refused(sealed)
        assert re.search("damaged|wrong passphrase, or the first line|other questions", message), (at, message)
        assert SECRET not in message


def test_a_seal_that_was_cut_or_lengthened_is_found(sealed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = sealed / "sealed.bin"
    held = place.read_bytes()
    header = held.index(b"\n") + 1
    cuts = [held[:size] for size in (0, 10, header, header + 5, header + cipher.PIECE, len(held) - 16, len(held) - 1)]
    for changed in (*cuts, held + b"\0", held + held[header:]):
        place.write_bytes(changed)
        forged(sealed)
        assert "damaged" in refused(sealed)
    refusal("E721", "damaged", lambda: unseal(sealed, SECRET, Path("x")), 3)
    refused_call("E721", "get a new copy of the sealed bundle", capsys, "unseal", sealed, "-o", "x", exit_code=3)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
@pytest.mark.parametrize("step", [1 << 12, 1 << 16, 1 << 20])
def test_content_of_any_size_comes_back(size: int, step: int) -> None:
    key, content = b"k" * 32, bytes(range(256)) * (size // 256 + 1)
    content = content[:size]
    pieces = (content[at : at + step] for at in range(0, size, step))
    held = b"".join(cipher.encrypt_blocks(key, b"header", pieces))
    assert len(held) == size + cipher.TAG * max(1, -(-size // cipher.PIECE))
    assert b"".join(cipher.decrypt_blocks(key, b"header", io.BytesIO(held))) == content
    for wrong in (held[:-1], held[: -cipher.TAG - 1], held + b"x", held[cipher.PIECE + cipher.TAG :]):
        with pytest.raises(DiaError, match="the seal is damaged"):
            list(cipher.decrypt_blocks(key, b"header", io.BytesIO(wrong)))
    for other, beside in ((b"K" * 32, b"header"), (key, b"Header")):
        with pytest.raises(DiaError, match="the seal is damaged"):
            list(cipher.decrypt_blocks(other, beside, io.BytesIO(held)))


def test_a_bundle_that_changes_while_it_is_sealed_or_packed_is_noticed(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(*given: Any) -> list[Any]:
        held = (whole / "specs" / "benchmark.yaml").read_bytes()
        (whole / "specs" / "benchmark.yaml").write_bytes(b"?" + held[1:])
        return []

    for module, name, make in ((sealing, "examine", lambda: seal(whole, SECRET, tmp_path / "made")),
                               (archive, "file_problems", lambda: archive.pack(whole, tmp_path / "made"))):  # fmt: skip
        (whole / "specs" / "benchmark.yaml").write_bytes(b"benchmark: tiny\n")
        found = type("Found", (), {"problems": ()})
        monkeypatch.setattr(module, name, lambda path, found=found: changing() or (found if module is sealing else []))  # noqa: B023
        with pytest.raises(DiaError, match="differs from the manifest"):
            make()
        assert not (tmp_path / "made").exists()


def test_blocks_cannot_change_places(tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cipher, "PIECE", 1 << 12)
    path = seal(tiny(seed=SEED, templates=5, k=20), SECRET, tmp_path / "sealed").path
    held = (path / "sealed.bin").read_bytes()
    header, size = held.index(b"\n") + 1, cipher.PIECE + cipher.TAG
    one, two, rest = held[header : header + size], held[header + size : header + 2 * size], held[header + 2 * size :]
    assert rest
    for blocks in (two + one + rest, one + one + rest, two + rest, one + two):
        (path / "sealed.bin").write_bytes(held[:header] + blocks)
        forged(path)
        assert "the seal is damaged" in refused(path)


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("format", 2, "it has format 2; this version reads format 1"),
        ("format", 0, "it has format 0; this version reads format 1"),
        ("kind", "other", "not a header"),
        ("cipher", "rot13", "in a way that this version does not support"),
        ("kdf", {"name": "scrypt", "n": 1 << 50, "r": 8, "p": 1, "salt": "00" * 32}, "256 MiB"),
        ("kdf", {"name": "scrypt", "n": 2, "r": 1, "p": 1, "salt": "00"}, "salt"),
        ("kdf", {"name": "md5"}, "in a way that this version does not support"),
        ("key", "00", "its key has the wrong length"),
        ("nonce", 7, "its nonce has the wrong length"),
    ],
)
def test_headers_of_others_are_told(sealed: Path, part: str, value: Any, told: str) -> None:
    raw, _, rest = (sealed / "sealed.bin").read_bytes().partition(b"\n")
    (sealed / "sealed.bin").write_bytes(canonical_line({**json.loads(raw), part: value}) + b"\n" + rest)
    forged(sealed)
    assert told in refused(sealed)


def test_manifests_of_other_versions_are_told(sealed: Path) -> None:
    manifest = json.loads((sealed / "manifest.json").read_bytes())
    for change, told in (({"format": 0}, "it has format 0; this version reads format 1"),
                         ({"format": 7}, "it has format 7; this version reads format 1"),
                         ({"sealed": {"format": 2, "file": "sealed.bin"}}, "sealed by another version")):  # fmt: skip
        rest = {name: value for name, value in {**manifest, **change}.items() if name != "checksum"}
        (sealed / "manifest.json").write_bytes(manifest_bytes(with_checksum(rest)))
        assert told in refused(sealed)


def test_files_of_a_seal_cannot_lie_over_others(sealed: Path) -> None:
    key = b"k" * 32
    header = sealed_file.new_header(SECRET, key, open_bundle(sealed).questions_root)
    for names in (["questions.jsonl"], ["a", "a/b"], ["a/b", "a"], ["manifest.json", "x"]):
        members = [(name, 2, (b"{}",)) for name in names]
        (sealed / "sealed.bin").write_bytes(b"".join(sealed_file.sealed_bytes(header, key, members)))
        forged(sealed)
        assert re.search(
            "but another file has that path|not a valid bundle|does not contain a bundle", refused(sealed)
        ), names
    for index in ([{"path": "../x", "size": 1}], [{"path": "/x", "size": 1}], [{"path": "x", "size": -1}], {}, [[]],
                  [{"path": "x", "size": 1}] * 2, [{"path": "x", "size": 10**12}], [{"path": "x"}]):  # fmt: skip
        content = cipher.encrypt_blocks(
            cipher.derive_key(key, "dia seal 1: content"), header.encoded(), (canonical_line({"files": index}), b"\n")
        )
        (sealed / "sealed.bin").write_bytes(header.encoded() + b"".join(content))
        forged(sealed)
        assert re.search("no list of its files|ends in the middle of a file", refused(sealed)), index


def test_commitments_of_others_are_found(sealed: Path, whole: Path, tmp_path: Path) -> None:
    other = seal(whole, SECRET, tmp_path / "other").path
    shutil.copy(other / "commitments.jsonl", sealed)
    forged(sealed)
    assert verify(sealed) == [] and "does not match its commitment in the sealed bundle" in refused(sealed)
    error = "of `tiny/sum_0/0` does not match its commitment in the bundle\n  help: get a new copy"
    refusal("E724", error, lambda: prove(sealed, "sum_0/0", SECRET), 3)
    lines = (other / "commitments.jsonl").read_bytes().splitlines(keepends=True)
    for wrong in (lines[1:], lines + lines[:1], lines[::-1]):
        (sealed / "commitments.jsonl").write_bytes(b"".join(wrong))
        forged(sealed)
        assert [problem.kind for problem in verify(sealed)] == ["answers"]


def test_a_seed_that_can_be_guessed_is_refused(tiny: Make, tmp_path: Path) -> None:
    path = tiny(seed="spring-2026")
    error = (
        "only about 72 bits, so it can be guessed and the answers generated from it\n  help: use `dia compile --seed"
    )
    refusal("E722", error, lambda: seal(path, SECRET, tmp_path / "sealed"))
    assert not (tmp_path / "sealed").exists()
    seal(path, SECRET, tmp_path / "sealed", is_weak=True)
    assert unseal(tmp_path / "sealed", SECRET, tmp_path / "back").manifest["seed"] == "spring-2026"


@pytest.mark.parametrize(
    ("seed", "is_strong"),
    [("0", False), ("", False), ("7" * 60, False), ("a" * 500, False), (hashlib.md5(b"x").hexdigest(), True),
     (hashlib.md5(b"x").hexdigest()[:-1], False), ("The quick brown fox jumps over the lazy dog", False),
     (base64.b64encode(hashlib.sha256(b"x").digest()).decode(), True), (str(2**127 + 12345678901), True)],
)  # fmt: skip
def test_bits_of_seeds(seed: str, is_strong: bool) -> None:
    assert (seed_bits(seed) >= 128) is is_strong


def test_no_passphrase_is_needed_to_learn_that_a_bundle_is_not_sealed(
    whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DIA_PASSPHRASE")
    refused_call("E723", "is not sealed\n  help: `dia seal` seals", capsys, "prove", whole, "sum_0/0")
    refused_call("E723", "is not sealed\n  help: `dia seal` seals", capsys, "unseal", whole)


def test_what_cannot_be_sealed_or_unsealed_is_told(
    whole: Path, sealed: Path, tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused_call("E723", "is already sealed\n  help: name the bundle with its answers", capsys, "seal", sealed)
    bare = tiny("bare", sealed=True, seed=SEED)
    refused_call("E723", "has no answers to seal\n  help: name the bundle with its answers", capsys, "seal", bare)
    refused_call("E723", "is not sealed\n  help: `dia seal` seals", capsys, "unseal", whole, "-o", "x")
    refused_call("E723", "is not sealed\n  help: `dia seal` seals", capsys, "prove", whole, "sum_0/0")
    assert run(["seal", str(whole), "-o", str(sealed)]) == 2  # something lies there
    with (whole / "answers.jsonl").open("ab") as file:
        file.write(b"\n")
    assert run(["seal", str(whole), "-o", "x"]) == 3
    assert not (tmp_path / "x").exists()


def test_a_proof_shows_one_answer_and_fails_when_changed(
    sealed: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prove", str(sealed), "sum_1/2", "-o", "proof.json"]) == 0
    proof = json.loads((tmp_path / "proof.json").read_bytes())
    assert proof["answer"] == list(open_bundle(whole).answers())[5]
    assert len(bytes.fromhex(proof["salt"])) == 32
    assert run(["prove", str(sealed), "--check", "proof.json"]) == 0
    assert commitment(bytes.fromhex(proof["salt"]), proof["answer"]) == proof["commitment"]
    again = json.loads((tmp_path / "proof.json").read_bytes())["answer"]
    other = hashlib.sha256(b"dia-commitment-1\n" + bytes.fromhex(proof["salt"]) + canonical_line(again)).hexdigest()
    assert other == proof["commitment"]
    changes: list[dict[str, Any]] = [
        {"answer": {**proof["answer"], "text": "19"}},
        {"answer": {**proof["answer"], "answer": 2**60}},
        {"salt": "00" * 32}, {"salt": "zz"}, {"id": "tiny/sum_1/1"}, {"id": "tiny/sum_9/1"}, {"bundle_id": "0" * 64},
        {"questions_root": "0" * 64}, {"format": 2}, {"kind": "x"}, {"answer": []},
    ]  # fmt: skip
    for change in changes:
        (tmp_path / "wrong.json").write_text(json.dumps({**proof, **change}))
        refused_call("E724", "the proof is not valid: ", capsys, "prove", sealed, "--check", "wrong.json", exit_code=3)
    (tmp_path / "wrong.json").write_text("[" * 100_000)
    refused_call("E724", "check it against the", capsys, "prove", sealed, "--check", "wrong.json", exit_code=3)
    error = "the proof `none.json` cannot be read: No such file or directory\n  help: name a file that"
    refused_call("E724", error, capsys, "prove", sealed, "--check", "none.json")
    assert run(["prove", str(sealed), "sum_7/7"]) == 2
    assert run(["prove", str(sealed)]) == 2


def test_a_sealed_bundle_runs_exports_and_is_scored_later(
    sealed: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"question": asked["id"], "text": f"<xml>{answer['text']}</xml>"}
            for asked, answer in zip(open_bundle(whole).questions(), open_bundle(whole).answers(), strict=True)]  # fmt: skip
    Path("said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["run", str(sealed), "--model", "replay:said.jsonl", "-o", "a.run", "-q"]) == 0
    refused_call("E808", "`a.run` has no answers\n  help: name the bundle that has them", capsys, "score", "a.run")
    held = Path("a.run").read_bytes()
    assert b"comparison" not in held and SEED.encode() not in held
    unseal(sealed, SECRET, tmp_path / "back")
    (model,) = dia_runtime.score("a.run", bundle=tmp_path / "back")["models"]
    assert model["counts"]["correct"] == 6
    for target in ("jsonl", "dia-bench"):
        assert run(["export", str(sealed), "--to", target, "-o", target]) == 0
        assert all(b"Add them" not in held for held in tree(tmp_path / target).values())
    row = json.loads((tmp_path / "jsonl" / "tiny.jsonl").read_bytes().splitlines()[0])
    assert row["input"] and (row["ideal"], row["answer"]) == (None, None)
    capsys.readouterr()
    assert run(["show", str(sealed)]) == 0 and "sealed" in capsys.readouterr().out


# What nobody may find


def lettered(writer: Callable[..., Path], folder: Path, letters: str) -> Path:
    """A bundle of questions with five options, of which these are right."""
    questions = [
        {"id": f"quiz/q/{at}", "template": "q", "item": "q", "instance": at, "variant": None, "category": "c",
         "domain": "d", "level": "easy", "skills": [], "messages": [{"role": "user", "content": f"Which, in box {at}?"}],
         "assets": [], "format": LETTER, "points": {"correct": 1, "skipped": 0, "wrong": -1}}
        for at in range(len(letters))
    ]  # fmt: skip
    answers = [
        {"id": asked["id"], "template": "q", "answer": letter, "text": letter, "comparison": {"type": "choice", "of": ["A", "B", "C", "D"]},
         "accept": [], "mistakes": {}, "parameters": {}, "explanation": f"It is {OPTIONS[letter]}."}
        for asked, letter in zip(questions, letters, strict=True)
    ]  # fmt: skip
    return writer(folder, questions, answers, len(letters), seed=SEED, benchmark="quiz", answer_format=LETTER)


def test_nothing_public_tells_a_letter(bundle_writer: Callable[..., Path], tmp_path: Path) -> None:
    public = {}
    for letters in ("ABCD", "AAAA", "DDDC"):
        path = seal(lettered(bundle_writer, tmp_path / letters, letters), SECRET, tmp_path / f"{letters}-sealed").path
        held = tree(path)
        promised = [json.loads(raw) for raw in held.pop("commitments.jsonl").splitlines()]
        assert guessed(promised) == []
        assert len({entry["commitment"] for entry in promised}) == 4
        sealed_bin, manifest = held.pop("sealed.bin"), json.loads(held.pop("manifest.json"))
        manifest["files"] = sorted(manifest["files"])
        manifest.pop("checksum")
        public[letters] = held, manifest
        assert b"choice" not in sealed_bin and b"It is" not in sealed_bin
    # But for what is random, the files of other answers are the same to the byte.
    assert public["ABCD"] == public["AAAA"] == public["DDDC"]


def guessed(promised: list[dict[str, Any]]) -> list[str]:
    """The letters whose commitments can be made without the sealing key, by every salt that a guesser has."""
    found = []
    for entry in promised:
        for letter in "ABCDE":
            record = {"id": entry["id"], "template": "q", "answer": letter, "text": letter,
                      "comparison": {"type": "choice", "of": ["A", "B", "C", "D"]}, "accept": [], "mistakes": {}, "parameters": {},
                      "explanation": f"It is {OPTIONS[letter]}."}  # fmt: skip
            for salt in (b"", bytes(32), SEED.encode(), bytes.fromhex(SEED), hashlib.sha256(SEED.encode()).digest()):
                texts = (canonical_line(record), letter.encode(), entry["id"].encode() + letter.encode())
                digests = [hashlib.sha256(mark + salt + text).hexdigest() for text in texts for mark in (b"", b"dia-commitment-1\n")]  # fmt: skip
                if entry["commitment"] in digests:
                    found.append(letter)
    return found


def test_the_guesser_finds_a_letter_whose_salt_is_known() -> None:
    record = {"id": "quiz/q/0", "template": "q", "answer": "B", "text": "B", "comparison": {"type": "choice", "of": ["A", "B", "C", "D"]},
              "accept": [], "mistakes": {}, "parameters": {}, "explanation": "It is choice B."}  # fmt: skip
    assert guessed([{"id": "quiz/q/0", "commitment": commitment(bytes(32), record)}]) == ["B"]


@pytest.mark.parametrize("size", [1, 100, 65_535, 65_536, 65_537, 1_000_000, 3_000_000])
def test_the_size_of_a_seal_tells_hardly_anything(size: int) -> None:
    room = max(1 << 16, 1 << size.bit_length() >> 4)
    for more in (0, 1, 40):
        drawn = range(0, room, max(1, room // 4096))
        differ = sum(
            padded_size(size, lambda below, r=r: r) != padded_size(size + more, lambda below, r=r: r) for r in drawn
        )  # type: ignore[misc]
        assert differ <= more  # of thousands of draws
    assert all(padded_size(size, lambda below, r=r: r) % room == 0 for r in (0, 1, room - 1))  # type: ignore[misc]
    assert padded_size(size, lambda below: below - 1) < size + 2 * room


def test_answers_of_other_lengths_give_seals_of_the_same_sizes(bundle_writer: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(sealed_file.secrets, "randbelow", lambda below: below // 3)
    sizes = set()
    for letters in ("A", "B", "D"):
        path = lettered(bundle_writer, tmp_path / f"{len(sizes)}{letters}", letters)
        answers = path / "answers.jsonl"
        answers.write_bytes(
            answers.read_bytes().replace(b"It is choice", b"It is" + b" very" * ord(letters) + b" choice")
        )
        forged(path)
        made = seal(path, SECRET, path.parent / f"{path.name}-sealed").path
        sizes.add((made / "sealed.bin").stat().st_size - len((made / "sealed.bin").read_bytes().partition(b"\n")[0]))
    assert len(sizes) == 1


def test_no_fact_of_specs_seed_and_answers_stays_outside(tiny: Make, tmp_path: Path) -> None:
    path = tiny(seed=SEED, functions={"next_prime": 1}, builders={"png": 1})
    made = tree(seal(path, SECRET, tmp_path / "sealed").path)
    _, _, ciphertext = made["sealed.bin"].partition(b"\n")  # which may contain any short text by chance
    assert len(ciphertext) > 1000
    everything = b"".join(made.values()).replace(ciphertext, b"")
    original = json.loads((path / "manifest.json").read_bytes())
    secrets = [
        SEED,
        "Add them.",
        "1/3",
        "product",
        "benchmark: tiny",
        "next_prime",
        "3.11",
        "specs/",
        open_bundle(path).id,
    ]
    secrets += [entry["sha256"] for name, entry in original["files"].items() if name != "questions.jsonl"]
    for secret in secrets:
        assert secret.encode() not in everything, secret
    assert set(made) == {"manifest.json", "questions.jsonl", "templates.jsonl", "commitments.jsonl", "sealed.bin"}
    for record in map(json.loads, made["templates.jsonl"].splitlines()):
        assert [record[name] for name in ("answers", "positions", "source", "sha256")] == [None] * 4


@pytest.mark.parametrize(("name", "value"), [("points", {"correct": 5, "skipped": 0, "wrong": 0}), ("k", 7), ("title", "x"), ("canary", "y"), ("license", None)])  # fmt: skip
def test_public_facts_that_were_forged_are_found(sealed: Path, name: str, value: Any) -> None:
    manifest = json.loads((sealed / "manifest.json").read_bytes()) | {name: value}
    (sealed / "manifest.json").write_bytes(manifest_bytes(manifest))
    forged(sealed)
    assert verify(sealed) == []  # nobody can tell without the passphrase
    assert f"`{name}` of its manifest was changed" in refused(sealed)


def test_public_templates_that_were_forged_are_found(sealed: Path) -> None:
    held = (sealed / "templates.jsonl").read_bytes()
    (sealed / "templates.jsonl").write_bytes(held.replace(b'"level":"easy"', b'"level":"hard"', 1))
    forged(sealed)
    assert verify(sealed) == []
    assert "`level` of a template was changed" in refused(sealed)


def test_an_asset_that_no_question_names_is_sealed(
    tiny: Make, manifest_writer: Callable[..., Path], bundle_writer: Callable[..., Path], tmp_path: Path
) -> None:
    opened = open_bundle(tiny())
    questions, names = list(opened.questions()), {}
    for what in (b"shown", b"the solution"):
        names[what] = f"assets/{hashlib.sha256(what).hexdigest()}.txt"
    digest = hashlib.sha256(b"shown").hexdigest()
    questions[0]["assets"] = [{"name": "a", "path": names[b"shown"], "sha256": digest, "size": 5, "deliver": "attach", "media_type": "text/plain"}]  # fmt: skip
    path = bundle_writer(tmp_path / "drawn", questions, list(opened.answers()), 3)
    (path / "assets").mkdir()
    for what, name in names.items():
        (path / name).write_bytes(what)
    manifest_writer(path, {name: held for name, held in json.loads((path / "manifest.json").read_bytes()).items() if name != "files"})  # fmt: skip
    assert verify(path) == []
    made = seal(path, SECRET, tmp_path / "made", is_weak=True).path
    assert [file.read_bytes() for file in (made / "assets").iterdir()] == [b"shown"]
    assert verify(made) == []
    assert tree(unseal(made, SECRET, tmp_path / "back").path) == tree(path)


def test_facts_that_this_version_does_not_know_are_sealed(tiny: Make, tmp_path: Path) -> None:
    path = tiny(seed=SEED)
    lines = [json.loads(text) | {"solution": "hidden 4711"} for text in (path / "templates.jsonl").read_bytes().splitlines()]  # fmt: skip
    (path / "templates.jsonl").write_bytes(b"".join(canonical_line(record) + b"\n" for record in lines))
    forged(path)
    made = seal(path, SECRET, tmp_path / "sealed").path
    assert b"hidden 4711" not in (made / "templates.jsonl").read_bytes()
    assert tree(unseal(made, SECRET, tmp_path / "back").path) == tree(path)


def test_another_manifest_in_the_midst_of_sealing_is_noticed(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = sealing.commitment_record

    def changing(*given: Any) -> Any:
        manifest = json.loads((whole / "manifest.json").read_bytes()) | {"title": "Another"}
        manifest.pop("checksum")
        (whole / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))
        return held(*given)

    monkeypatch.setattr(sealing, "commitment_record", changing)
    with pytest.raises(DiaError, match="changed while it was being sealed"):
        seal(whole, SECRET, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def asked_twice(code: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The sessions of a question whose second turn reads a value, and the truth that reads it too."""
    template = {"template": "{{ 'yes' if first == code else 'no' }}", "replies": ["first"], "names": {"code": code}}
    turns = [{"user": "Guess."}, {"user": template}]
    truth = {"grade": {"correct": {"expression": "second == code", "names": {"code": code, "own": 1}}}}
    return [{"name": "ask", "role": "subject", "needs": [], "turns": turns}], truth


def test_values_that_sessions_hold_in_clear_are_named(
    tiny: Make, bundle_writer: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_bundle(tiny())
    questions, answers = list(opened.questions()), list(opened.answers())
    assert run(["seal", str(opened.path), "--weak", "-o", str(tmp_path / "a"), "-q"]) == 0
    assert "warning" not in capsys.readouterr().err
    questions[-1]["sessions"], answers[-1]["truth"] = asked_twice(464150)
    del questions[-1]["messages"]
    path = bundle_writer(tmp_path / "talks", questions, answers, 3)
    assert run(["seal", str(path), "--weak", "-o", str(tmp_path / "b"), "-q", "--json"]) == 0
    told = capsys.readouterr().err
    assert "the questions contain the values of `code` unencrypted" in told and "own" not in told
    assert b"464150" in (tmp_path / "b" / "questions.jsonl").read_bytes()


def test_two_seals_of_a_bundle_have_nothing_random_in_common(whole: Path, tmp_path: Path) -> None:
    one, two = (tree(seal(whole, SECRET, tmp_path / name).path) for name in ("one", "two"))
    promised = [
        [json.loads(raw)["commitment"] for raw in made["commitments.jsonl"].splitlines()] for made in (one, two)
    ]
    assert not set(promised[0]) & set(promised[1])
    headers = [json.loads(made["sealed.bin"].partition(b"\n")[0]) for made in (one, two)]
    assert all(headers[0][name] != headers[1][name] for name in ("nonce", "key"))
    assert headers[0]["kdf"]["salt"] != headers[1]["kdf"]["salt"]
    bodies = [made["sealed.bin"].partition(b"\n")[2] for made in (one, two)]
    assert len(set(bodies[0][:1000:8]) & set(bodies[1][:1000:8])) < 256 and bodies[0][:64] != bodies[1][:64]


def test_no_secret_is_printed_or_written(
    whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[bytes] = []
    token_bytes = sealing.secrets.token_bytes
    monkeypatch.setattr(sealing.secrets, "token_bytes", lambda size: drawn.append(token_bytes(size)) or drawn[-1])
    Path("wrong").write_text("not it\n")
    log = ["--log-file", "log", "--debug"]
    assert run(["keygen", "-o", "key", *log]) == 0
    private = signing.private_key(Path("key"), SECRET).private_bytes_raw()
    calls = [
        (["seal", str(whole), "-o", "sealed"], 0),
        (["seal", str(whole), "-o", "sealed", "--json"], 2),
        (["sign", "sealed", "--key", "key"], 0),
        (["sign", "sealed", "--key", "key", "--passphrase-file", "wrong"], 3),
        (["verify", "sealed", "--public-key", "key.pub", "--json"], 0),
        (["unseal", "sealed", "-o", "back", "--json"], 0),
        (["unseal", "sealed", "-o", "more", "--passphrase-file", "wrong"], 3),
        (["prove", "sealed", "sum_0/0", "-o", "proof.json"], 0),
        (["prove", "sealed", "--check", "proof.json", "--json"], 0),
        (["pack", "sealed"], 0),
        (["run", "sealed", "--model", "oracle", "-o", "a.run"], 2),
    ]
    for call, code in calls:
        assert run([*call, *log]) == code, call
    said = "".join(capfd.readouterr()).encode()
    keys = [made for made in drawn if len(made) == 32]  # the sealing key, and salts, of which one is public
    public = json.loads(Path("sealed/sealed.bin").read_bytes().partition(b"\n")[0])["kdf"]["salt"]
    hidden = [SECRET.encode(), b"not it", private, *(made for made in keys if made.hex() != public)]
    assert len(hidden) >= 4
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "wrong"]
    for secret in hidden:
        for form in (secret, secret.hex().encode(), base64.b64encode(secret), repr(secret).encode()):
            assert form not in said
            assert [path for path in files if form in path.read_bytes()] == []
