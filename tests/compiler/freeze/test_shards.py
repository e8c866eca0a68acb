"""Large bundles: shards of exactly so many questions, and the same bytes whatever the number of workers."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.distribute.gather import Gatherer
from dia_compiler.distribute.task import TemplateJob
from dia_compiler.freeze.output import FrozenBundle
from dia_compiler.freeze.shards import Files, write_lines
from dia_compiler.freeze.spool import SpooledBytes
from dia_compiler.pipeline.phases import job_of
from dia_compiler.sampling.digests import groups
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.verify import verify
from helpers.examples import examples
from helpers.files import content
from hypothesis import given, settings
from hypothesis import strategies as st

BENCHMARK = "language: 1\nbenchmark: demo\n"
VAST = """\
template: vast
title: Cubes
params: {n: {type: integer, min: 1, max: 1000000000}}
answer: {value: n**3, type: integer}
prompt: What is {{ n }}**3?
"""
# Half of the positions are holes: the only choice is permuted, and odd numbers are refused.
HOLES = """\
template: holes
title: Halves
params: {n: {type: integer, min: 1, max: 5000}}
where: n % 2 == 0
answer: {value: n / 2, type: integer}
prompt: What is half of {{ n }}?
"""
# The first holes come late, in the middle of a stretch.
LATE = """\
template: late
title: Late holes
params: {n: {type: integer, min: 1, max: 3000}}
where: n % 1000 != 11
answer: {value: n + 1, type: integer}
prompt: What comes after {{ n }}?
"""
FAILING = """\
template: failing
title: A check that fails now and then
params: {n: {type: integer, min: 1, max: 1000000000}}
answer: {value: n + 1, type: integer}
checks: n % 997 != 5
prompt: What comes after {{ n }}?
"""
SPAN = 40


def specs(folder: Path, *templates: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(BENCHMARK)
    for number, text in enumerate(templates):
        (folder / f"t{number}.yaml").write_text(text)
    return folder


def divide(patch: pytest.MonkeyPatch) -> None:
    """Make stretches of 40 instances, so that little work is much divided."""

    def divided(*given: Any, **named: Any) -> TemplateJob:
        job = job_of(*given, **named)
        return TemplateJob(
            job.template, job.benchmark, job.lists, job.settings, job.k, job.canary, job.is_trial, span=SPAN
        )

    patch.setattr("dia_compiler.pipeline.phases.job_of", divided)


@pytest.fixture
def small_span(monkeypatch: pytest.MonkeyPatch) -> None:
    divide(monkeypatch)


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of three templates, each made in nine stretches by two workers."""
    folder = tmp_path_factory.mktemp("divided")
    with pytest.MonkeyPatch.context() as patch:
        divide(patch)
        return compile([specs(folder / "specs", VAST, HOLES, LATE)], k=333, out=folder / "out", jobs=2).bundles[0].path


def records(bundle: Path, kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(bundle.glob(f"{kind}*.jsonl")) for line in path.open()]


@pytest.mark.long
def test_stretches_and_workers_change_no_byte(tmp_path: Path, small_span: None) -> None:
    folder = specs(tmp_path / "specs", VAST, HOLES, LATE)
    made = [compile([folder], k=333, out=tmp_path / str(jobs), jobs=jobs).bundles[0].path for jobs in (1, 2, 3)]
    assert content(made[0]) == content(made[1]) == content(made[2])
    numbers = [question["instance"] for question in records(made[0], "questions")]
    assert numbers == [*range(333)] * 3


def test_stretches_give_what_one_walk_gives(tmp_path: Path, divided: Path) -> None:
    folder = specs(tmp_path / "specs", VAST, HOLES, LATE)
    whole = compile([folder], k=333, out=tmp_path / "whole", jobs=1).bundles[0].path
    assert content(divided) == content(whole)


def test_stretches_are_ordered_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_span: None, divided: Path
) -> None:
    folder = specs(tmp_path / "specs", VAST, HOLES, LATE)
    most, order = [0], Gatherer.order_chunks

    def noted(gathering: Gatherer, job: Any) -> None:
        order(gathering, job)
        most[0] = max(most[0], len(job.begins))

    monkeypatch.setattr(Gatherer, "order_chunks", noted)
    monkeypatch.setattr("dia_compiler.distribute.gather.ORDERED", 3)
    few = compile([folder], k=333, out=tmp_path / "few", jobs=2, use_cache=False).bundles[0].path
    assert content(few) == content(divided) and most == [3]


def test_positions_say_where_holes_were(divided: Path) -> None:
    holes, late, vast = records(divided, "templates")
    assert vast["positions"] is None
    for record in (holes, late):
        positions = record["positions"]
        assert len(positions) == 333 and sorted(set(positions)) == positions != [*range(333)]
    first = next(place for place, position in enumerate(late["positions"]) if place != position)
    assert first > SPAN  # behind the first stretch, which is why the later ones had to be made again


def test_the_first_fault_in_the_order_of_instances_is_told(tmp_path: Path, small_span: None) -> None:
    folder = specs(tmp_path / "specs", FAILING)
    told = set()
    for jobs in (1, 3):
        with pytest.raises(Exception, match="check is false") as found:
            compile([folder], k=20_000, out=tmp_path / "out", jobs=jobs)
        told.add(str(found.value))
    assert len(told) == 1 and not (tmp_path / "out").exists()


def test_statistics_of_answers_are_those_of_the_rows(tmp_path: Path, small_span: None) -> None:
    text = HOLES.replace("value: n / 2", "value: n // 2 % 7")
    bundle = compile([specs(tmp_path / "specs", text)], k=200, out=tmp_path / "out", jobs=2).bundles[0].path
    answers = Counter(record["text"] for record in records(bundle, "answers"))
    (record,) = records(bundle, "templates")
    top, bottom = map(int, record["answers"]["commonest_share"].split("/"))
    assert record["answers"]["distinct"] == len(answers) == 7
    assert top * 200 == max(answers.values()) * bottom


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> FrozenBundle:
    """A bundle of 400 questions in one file."""
    folder = tmp_path_factory.mktemp("plain")
    return compile([specs(folder / "specs", VAST, HOLES)], k=200, out=folder / "out", jobs=2).bundles[0]


@pytest.mark.parametrize(("size", "expected"), [(100, ["-00000", "-00001", "-00002", "-00003"]), (400, [""])])
def test_shards_hold_exactly_so_many_questions(
    size: int, expected: list[str], plain: FrozenBundle, tmp_path: Path
) -> None:
    folder = specs(tmp_path / "specs", VAST, HOLES)
    made = [compile([folder], k=200, out=tmp_path / f"o{j}", jobs=j, shard_size=size).bundles[0] for j in (1, 2)]
    assert content(made[0].path) == content(made[1].path)
    bundle = made[0].path
    for kind in ("questions", "answers"):
        files = [f"{kind}{number}.jsonl" for number in expected]
        assert sorted(path.name for path in bundle.glob(f"{kind}*")) == files
        assert {len((bundle / name).read_bytes().splitlines()) for name in files} == {min(size, 400)}
        joined = b"".join((bundle / name).read_bytes() for name in files)
        assert joined == (plain.path / f"{kind}.jsonl").read_bytes()
    assert made[0].questions_root == plain.questions_root and verify(bundle) == []
    assert [question["id"] for question in open_bundle(bundle).questions()] == [
        answer["id"] for answer in open_bundle(bundle).answers()
    ]


def test_a_shard_that_was_swapped_is_found(tmp_path: Path) -> None:
    bundle = compile([specs(tmp_path / "specs", VAST)], k=30, out=tmp_path / "out", jobs=1, shard_size=10).bundles[0]
    first, second = (bundle.path / f"questions-0000{number}.jsonl" for number in (0, 1))
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    assert {problem.path for problem in verify(bundle.path)} == {first.name, second.name}


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.lists(st.binary(max_size=5).filter(lambda line: b"\n" not in line), max_size=9)), st.integers(1, 7))
def test_lines_are_cut_where_they_should_be(tmp_path_factory: pytest.TempPathFactory, parts: Any, size: int) -> None:
    folder, files = tmp_path_factory.mktemp("shards"), Files()
    spooled = []
    for lines in parts:
        part = SpooledBytes(None)
        part.add(b"".join(line + b"\n" for line in lines))
        spooled.append((len(lines), part))
    write_lines(folder, "x", spooled, size, files)
    every = [line + b"\n" for lines in parts for line in lines]
    expected = [b"".join(every[at : at + size]) for at in range(0, len(every), size)]
    assert [(folder / name).read_bytes() for name in sorted(files)] == expected
    assert all(files[name]["sha256"] == sha256((folder / name).read_bytes()).hexdigest() for name in files)


@given(st.lists(st.integers(0, 30)), st.integers(1, 9))
def test_digests_are_grouped_as_a_counter_does(numbers: list[int], run: int) -> None:
    rows = [sha256(b"%d" % number).digest()[:16] for number in numbers]
    found = list(groups(rows, run))
    assert sorted(group.size for group in found) == sorted(Counter(rows).values())
    for group in found:
        first = rows[group.first]
        places = [place for place, row in enumerate(rows) if row == first]
        assert (group.first, group.second) == (places[0], places[min(1, len(places) - 1)])
