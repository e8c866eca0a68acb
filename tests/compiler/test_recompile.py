"""A bundle proves itself: any byte that changes is found, and a lie that is consistent is found by compiling again."""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from dia_compiler import compile
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.recompile import recompile
from dia_runtime.bundle.canonical import canonical_line, manifest_bytes
from dia_runtime.bundle.manifest import with_checksum
from dia_runtime.bundle.verify import verify
from helpers.examples import examples
from helpers.places import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SPECS = ROOT / "specs" / "dia_bench"
CHOSEN = ["d001_next_prime.yaml", "d060_common_subsequence.yaml", "d109_edit_script.yaml"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    specs = folder / "specs"
    specs.mkdir()
    for name in ("benchmark.yaml", *CHOSEN):
        shutil.copy(SPECS / name, specs)
    return compile([specs], k=3, out=folder / "out", jobs=2).bundles[0].path


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / bundle.name))


def resealed(folder: Path, name: str, content: bytes) -> None:
    """Writes a file of a bundle and makes the manifest agree with it, as a forger would."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["files"][name] = {"size": len(content), "sha256": sha256(content).hexdigest()}
    del manifest["checksum"]
    (folder / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))


def test_the_digest_is_what_sha256sum_says_of_the_manifest(bundle: Path) -> None:
    found = compile([bundle / "specs"], k=3, out=bundle.parent / "again", jobs=1).bundles[0]
    assert found.digest == sha256((bundle / "manifest.json").read_bytes()).hexdigest()


def test_an_honest_bundle_is_made_again(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recompile(bundle, jobs=1) == {"same": True, "differences": [], "versions": {}}
    assert run(["verify", str(bundle), "--recompile", "--jobs", "1"]) == 0
    assert "recompiled      identical" in capsys.readouterr().out


def test_titles_with_ends_of_lines_of_unicode_are_read_back(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    shutil.copy(SPECS / "benchmark.yaml", specs)
    text = (SPECS / "d002_small_sum.yaml").read_text("utf-8")
    (specs / "d002.yaml").write_text(re.sub(r"(?m)^title: .*$", r'title: "one\\u2028two\\x85three"', text), "utf-8")
    made = compile([specs], k=3, out=tmp_path / "out", jobs=1).bundles[0].path
    assert "one\u2028two\x85three" in (made / "templates.jsonl").read_text("utf-8")
    assert recompile(made, jobs=1)["same"] is True


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bit_is_found(bundle: Path, data: st.DataObject) -> None:
    files = sorted(path for path in bundle.rglob("*") if path.is_file() and path.name != "provenance.json")
    path = data.draw(st.sampled_from(files))
    raw = path.read_bytes()
    place, bit = data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(raw)
    changed[place] ^= 1 << bit
    try:
        path.write_bytes(changed)
        assert path.relative_to(bundle).as_posix() in {problem.path for problem in verify(bundle)}
    finally:
        path.write_bytes(raw)
    assert verify(bundle) == []


def test_a_consistent_lie_about_an_answer_is_found_by_compiling_again(copy: Path) -> None:
    rows = (copy / "answers.jsonl").read_bytes().splitlines()
    first = json.loads(rows[0])
    first["text"] = str(int(first["text"]) + 2)
    resealed(copy, "answers.jsonl", b"\n".join([canonical_line(first), *rows[1:], b""]))
    assert verify(copy) == []
    found = recompile(copy, jobs=1)
    assert not found["same"] and found["differences"] == ["`answers.jsonl` differs"]
    assert run(["verify", str(copy), "--recompile", "--jobs", "1", "--json"]) == 3


def test_a_changed_spec_inside_a_bundle_is_found(copy: Path) -> None:
    name = f"specs/{CHOSEN[0]}"
    resealed(copy, name, (copy / name).read_bytes().replace(b"next_prime(n)", b"next_prime(n) + 2"))
    assert verify(copy) == []
    with pytest.raises(Exception, match=r"check is false|example"):
        recompile(copy, jobs=1)


def test_other_versions_are_named(copy: Path) -> None:
    facts = json.loads((copy / "provenance.json").read_bytes())
    facts["libraries"]["sympy"] = "0.1"
    (copy / "provenance.json").write_text(json.dumps(facts))
    found = recompile(copy, jobs=1)
    assert found["same"] and found["versions"]["sympy"][0] == "0.1"


def test_other_revisions_are_named(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["functions"] |= {"next_prime": 7, "gone": 1}
    del manifest["checksum"]
    (copy / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))
    found = " ".join(recompile(copy, jobs=1)["differences"])
    assert "`next_prime` was used in revision 7, but this version has revision 1" in found
    assert "`gone` was used in revision 1, but this version has none" in found
