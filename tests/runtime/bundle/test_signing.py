from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle import key_file
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.signing import keygen, private_key, public_key, sign
from helpers.failures import refused_call

Make = Callable[..., Path]
SECRET = "correct horse battery staple"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_file, "ROUNDS", 2)
    monkeypatch.delenv("DIA_PASSPHRASE", raising=False)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return keygen(tmp_path / "my.key", SECRET).private


def signed(bundle: Path, key: Path) -> None:
    sign(open_bundle(bundle), private_key(key, SECRET))


def verified(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = run(["verify", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_pair_is_made_once_and_for_its_owner_alone(tmp_path: Path, key: Path) -> None:
    held = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    assert b"ENCRYPTED" in held and SECRET.encode() not in held
    assert run(["keygen", "-o", str(key)]) == 2  # no passphrase, and nobody to ask
    with pytest.raises(DiaError, match="already exists"):
        keygen(key, SECRET)
    (tmp_path / "other.pub").write_text("mine")
    with pytest.raises(DiaError, match="already exists"):
        keygen(tmp_path / "other", SECRET)
    assert key.read_bytes() == held and (tmp_path / "other.pub").read_text() == "mine"
    assert not (tmp_path / "other").exists() and not list(tmp_path.glob(".dia-*"))


def test_a_signature_is_no_foreign_file_and_counts_with_its_key(
    tiny: Make, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tiny()
    code, facts = verified(capsys, path, "--public-key", f"{key}.pub")
    assert (code, facts["valid"], facts["signature"]) == (3, False, None)
    before = open_bundle(path).id
    signed(path, key)
    signed(path, key)  # the same bytes again
    code, facts = verified(capsys, path, "--public-key", f"{key}.pub")
    assert (code, facts["valid"], facts["complete"], facts["digest"]) == (0, True, True, before)
    code, facts = verified(capsys, path)
    assert code == 0 and facts["signature"] == {"public_key": public_key(Path(f"{key}.pub")).public_bytes_raw().hex(), "valid": None}  # fmt: skip


def test_every_changed_byte_of_a_signature_is_found(tiny: Make, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny()
    signed(path, key)
    place = path / "signature.json"
    held = place.read_bytes()
    for at in range(0, len(held), 9):
        place.write_bytes(held[:at] + bytes([held[at] ^ 1]) + held[at + 1 :])
        assert run(["verify", str(path), "--public-key", f"{key}.pub"]) == 3, at
    for wrong in (b"", b"{}", b"[]", held[:-5], b"\xff", b"[" * 50_000):
        place.write_bytes(wrong)
        assert run(["verify", str(path), "--public-key", f"{key}.pub"]) == 3


def test_a_signature_that_is_none_of_this_bundle_is_found_without_a_key(
    tiny: Make, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tiny("a", k=1), tiny("b", k=2)
    signed(one, key)
    held = (one / "signature.json").read_bytes()
    facts = json.loads(held)
    foreign = {**facts, "public_key": "0" * 64}  # a key of others, and of the bundle that it does not sign
    moved = {**facts, "bundle_id": open_bundle(other).id}
    for wrong in (held, json.dumps(moved).encode(), b"{}", b""):
        (other / "signature.json").write_bytes(wrong)
        code, found = verified(capsys, other)
        assert (code, found["valid"], found["complete"]) == (3, False, True)
        assert found["signature"]["valid"] is False  # type: ignore[index]
    (one / "signature.json").write_text(json.dumps(foreign))
    assert run(["verify", str(one)]) == 3
    assert "`signature.json` does not match this bundle and key" in capsys.readouterr().out
    (one / "signature.json").write_bytes(held)
    assert verified(capsys, one)[0] == 0


def test_another_key_or_another_bundle_does_not_count(
    tiny: Make, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tiny("a", k=1), tiny("b", k=2)
    signed(one, key)
    keygen(tmp_path / "else", SECRET)
    assert run(["verify", str(one), "--public-key", str(tmp_path / "else.pub")]) == 3
    assert "is by the key" in capsys.readouterr().out
    shutil.copy(one / "signature.json", other)
    assert run(["verify", str(other), "--public-key", f"{key}.pub"]) == 3
    assert "signs the bundle" in capsys.readouterr().out
    with pytest.raises(DiaError, match="already exists"):
        signed(other, key)


def test_a_wrong_passphrase_and_wrong_files_are_told(
    tiny: Make, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tiny())
    (tmp_path / "wrong").write_text("no\n")
    (tmp_path / "empty").write_text("\n")
    call = ["sign", path, "--key", key, "--passphrase-file"]
    refused_call("E718", "the passphrase with which the key was", capsys, *call, tmp_path / "wrong", exit_code=3)
    refused_call("E718", "is empty\n  help: write the passphrase", capsys, *call, tmp_path / "empty")
    refused_call("E718", "none`: No such file", capsys, *call, tmp_path / "none")
    error = f"contain a private Ed25519 key in PEM format\n  help: the private key is `{key.name}`"
    refused_call("E717", error, capsys, "sign", path, "--key", f"{key}.pub")
    refused_call("E717", "create a pair of keys with `dia keygen`", capsys, "sign", path, "--key", tmp_path / "none")
    error = f"contain a public Ed25519 key in PEM format\n  help: the public key is `{key.name}.pub`"
    refused_call("E717", error, capsys, "verify", path, "--public-key", key)
    refused_call("E717", "none` cannot be read: No such", capsys, "verify", path, "--public-key", tmp_path / "none")
    assert not (Path(path) / "signature.json").exists()


def test_a_damaged_bundle_is_not_signed(tiny: Make, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tiny()
    with (path / "answers.jsonl").open("ab") as file:
        file.write(b"\n")
    monkeypatch.setenv("DIA_PASSPHRASE", SECRET)
    assert run(["sign", str(path), "--key", str(key)]) == 3
    assert not (path / "signature.json").exists()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_verifies_a_signature(tiny: Make, key: Path, tmp_path: Path) -> None:
    path = tiny()
    signed(path, key)
    signature = json.loads((path / "signature.json").read_bytes())
    (tmp_path / "message").write_bytes(signature["bundle_id"].encode())
    (tmp_path / "signature").write_bytes(bytes.fromhex(signature["signature"]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", f"{key}.pub", "-rawin", "-in",
               str(tmp_path / "message"), "-sigfile", str(tmp_path / "signature")]  # fmt: skip
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (tmp_path / "message").write_bytes(b"0" * 64)
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
