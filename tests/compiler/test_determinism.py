"""The same specs and seed give the same bytes: whatever the hash seed, folder, file order and number of workers."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dia_compiler import compile
from dia_compiler.freeze.output import FrozenBundle
from helpers.benchmarks import PINNED_K, bundle_of
from helpers.places import ROOT

SPECS = ROOT / "specs"

# A new digest here needs a new `version` in the benchmark and a line in the changelog.
DIGESTS_AT_FIVE = {
    "algebra": "aa5f4b70826d241a633375fe824ff57a15c0e269bc18722b00075f9c835d0c01",
    "boundary": "8e15c6690145191d01b260502f224adcfe88bd5c2795c6d01575c154e538d71a",
    "dia_bench": "018354af1ca4df6cebdf5dad3c82a478bd558e1e9d90cf64f4d0734a313db7ef",
    "know_thyself": "8a2463a831922fbe3118f3e3f4ec36cae8937e382c6ec133aaca2414cf9213cf",
    "puzzles": "aa8eb7899590b402c7c5087253c966a02df0605954605c1485b406cc7a3a39d1",
    "self_execution": "d5269b673757ac094686b315902e58e5d1f0eac9239127c8011199bfbf698c93",
    "school_math": "fa6810694935aa984a05ffd26b3a60272a58b43e1737f3d2ba1dd44dd65b18a3",
}

SMALL = ["next_prime", "median", "failed_logins", "edit_script", "circle_area"]


def small_specs(folder: Path) -> Path:
    """A copy of the benchmark with a few quick families."""
    specs = folder / "specs"
    specs.mkdir(parents=True)
    shutil.copy(SPECS / "dia_bench" / "benchmark.yaml", specs)
    for path in sorted((SPECS / "dia_bench").glob("d*.yaml"), reverse=True):
        if any(name in path.name for name in SMALL):
            shutil.copy(path, specs)
    return specs


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> FrozenBundle:
    """The bundle of k = 3 of the quick families, made by one worker."""
    folder = tmp_path_factory.mktemp("expected")
    return compile([small_specs(folder)], k=3, out=folder / "out", jobs=1).bundles[0]


@pytest.mark.long
def test_hash_seed_locale_zone_and_folder_change_nothing(tmp_path: Path, expected: FrozenBundle) -> None:
    specs = small_specs(tmp_path / "elsewhere")
    locale = {"LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}
    if sys.prefix.isascii():  # Python before 3.12.4 does not start with LC_ALL=C if a .pth file names another path
        locale["LC_ALL"] = "C"
    for number, extra in enumerate(({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "12345", **locale})):
        out = tmp_path / f"out{number}"
        command = [
            sys.executable,
            "-m",
            "dia_compiler.commands.cli",
            "compile",
            str(specs),
            "--k",
            "3",
            "-o",
            str(out),
            "-q",
        ]
        done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **extra}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert expected.digest in done.stdout


@pytest.mark.spawned
@pytest.mark.long
def test_workers_change_nothing(tmp_path: Path, expected: FrozenBundle) -> None:
    made = compile([small_specs(tmp_path)], k=3, out=tmp_path / "out", jobs=3).bundles[0]
    assert made.digest == expected.digest


def test_names_and_order_of_files_change_no_question(tmp_path: Path, expected: FrozenBundle) -> None:
    specs = small_specs(tmp_path)
    for number, path in enumerate(sorted(specs.glob("d*.yaml"), reverse=True)):
        path.rename(specs / f"{number}.yaml")
    after = compile([specs], k=3, out=tmp_path / "out", jobs=1).bundles[0]
    assert after.questions_root == expected.questions_root
    assert (after.path / "questions.jsonl").read_bytes() == (expected.path / "questions.jsonl").read_bytes()


def test_title_notes_version_and_comments_change_no_question(tmp_path: Path, expected: FrozenBundle) -> None:
    specs = small_specs(tmp_path)
    file = specs / "d022_median.yaml"
    text = file.read_text().replace("title: Median", "# a comment\ntitle: The median")
    file.write_text(text)
    benchmark = specs / "benchmark.yaml"
    benchmark.write_text(re.sub(r"(?m)^version: .*$", "version: 9.9.9", benchmark.read_text()))
    after = compile([specs], k=3, out=tmp_path / "out", jobs=1).bundles[0]
    assert after.digest != expected.digest and after.questions_root == expected.questions_root


def test_fewer_instances_are_a_prefix(tmp_path: Path, expected: FrozenBundle) -> None:
    many = compile([small_specs(tmp_path)], k=12, out=tmp_path / "out", jobs=2).bundles[0].path
    for name in ("questions.jsonl", "answers.jsonl"):
        short, long = ((path / name).read_bytes().splitlines() for path in (expected.path, many))
        assert short == [line for number, line in enumerate(long) if number % 12 < 3]


def test_another_seed_gives_other_questions(tmp_path: Path) -> None:
    median = small_specs(tmp_path) / "d022_median.yaml"
    seeds = (None, "1", "2", "secret words")
    made = [compile([median], k=3, out=tmp_path / str(seed), jobs=1, seed=seed).bundles[0] for seed in seeds]
    assert len({bundle.questions_root for bundle in made}) == len({bundle.digest for bundle in made}) == 4


def test_a_template_alone_has_the_instances_that_it_has_in_company(tmp_path: Path, expected: FrozenBundle) -> None:
    alone = compile([small_specs(tmp_path) / "d022_median.yaml"], k=3, out=tmp_path / "out", jobs=1).bundles[0].path
    assert alone.name == "dia_bench.median-1.0.0-k3"
    lines = (expected.path / "questions.jsonl").read_bytes().splitlines()
    assert (alone / "questions.jsonl").read_bytes().splitlines() == [line for line in lines if b'"median"' in line]


@pytest.mark.usefixtures("locked_builders")
def test_the_digest_of_the_shipped_benchmark_is_pinned(shipped: Path) -> None:
    require_pinned("dia_bench", shipped)


OTHERS = sorted({path.parent.name for path in SPECS.glob("*/benchmark.yaml")} - {"dia_bench"})


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.long
@pytest.mark.usefixtures("locked_builders")
def test_the_digests_of_the_other_shipped_benchmarks_are_pinned(
    name: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    require_pinned(name, bundle_of(name, PINNED_K, tmp_path_factory, request))


@pytest.mark.parametrize("name", [*OTHERS, "dia_bench"])
@pytest.mark.long
@pytest.mark.spawned
@pytest.mark.usefixtures("locked_builders")
def test_the_digests_are_the_same_without_gmpy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMPY_GROUND_TYPES", "python")  # the workers inherit it and import sympy under it
    require_pinned(name, compile([SPECS / name], k=5, out=tmp_path, jobs=2).bundles[0].path)


def require_pinned(name: str, bundle: Path) -> None:
    """Fails if the digest of the bundle is not the pinned one; skips if this machine lacks a tool of its templates."""
    manifest = (bundle / "manifest.json").read_bytes()
    left_out = [item["template"] for item in json.loads(manifest)["left_out"]]
    if left_out:
        pytest.skip(f"left out on this machine: {left_out}")
    assert hashlib.sha256(manifest).hexdigest() == DIGESTS_AT_FIVE[name]
