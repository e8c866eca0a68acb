"""Parts: each instance lies in one of them, merged they are one compile, and what does not fit is refused."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.distribute.parts import NAME, PartNumber, instance_range, parse_part_number, read_part
from dia_compiler.freeze.spool import asset_frame
from dia_compiler.parse.model import Template
from dia_compiler.pipeline.merge import merge
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.manifest import with_checksum
from helpers.examples import examples
from helpers.files import content
from hypothesis import given, settings
from hypothesis import strategies as st

SPECS = {
    "benchmark.yaml": "language: 1\nbenchmark: demo\nversion: 1.0.0\n",
    "cubes.yaml": """\
template: cubes
title: Cubes
params: {n: {type: integer, min: 1, max: 1000000000}}
answer: {value: n**3, type: integer}
prompt: What is {{ n }}**3?
variants: {short: {prompt: "{{ n }}**3 ="}}
""",
    "signs.yaml": """\
template: signs
title: Each sign
params: {sign: {type: choice, of: [plus, minus]}, n: {type: integer, min: 1, max: 1000000}}
each: sign
answer: {value: "n + 1 if sign == 'plus' else n - 1", type: integer}
prompt: What is {{ n }} {{ sign }} 1?
""",
}
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A bundle that one compile made, and two parts of the same."""
    folder = tmp_path_factory.mktemp("parts")
    for name, text in SPECS.items():
        (folder / "specs").mkdir(exist_ok=True)
        (folder / "specs" / name).write_text(text, encoding="utf-8")
    whole = compile([folder / "specs"], k=211, out=folder / "out", jobs=1, use_cache=False).bundles[0].path
    held = [
        compile([folder / "specs"], k=211, out=folder / "all", jobs=1, part=f"{number}/2").parts for number in (1, 2)
    ]
    return whole, [parts[0].path for parts in held]


@pytest.fixture
def parts(made: tuple[Path, list[Path]], tmp_path: Path) -> list[Path]:
    """Copies of the two parts."""
    return [Path(shutil.copytree(path, tmp_path / "parts" / path.name)) for path in made[1]]


def refused(paths: list[Path], tmp_path: Path) -> tuple[str, str, int]:
    with pytest.raises(DiaError) as found:
        merge(paths, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    (entry,) = found.value.diagnostics
    return entry.code, entry.message, found.value.exit_code


def change(part: Path, how: Change) -> None:
    """Changes the description of a part, and hides it."""
    facts = json.loads((part / NAME).read_bytes())
    del facts["checksum"]
    how(facts)
    (part / NAME).write_bytes(manifest_bytes(with_checksum(facts)))


@pytest.mark.long
def test_merged_parts_are_one_compile(made: tuple[Path, list[Path]], parts: list[Path], tmp_path: Path) -> None:
    found = merge([parts[1], parts[0]], tmp_path / "merged")
    assert content(tmp_path / "merged") == content(made[0])
    assert (found.frozen.questions, found.frozen.items, found.made_here) == (844, 3, 0)
    again = merge([tmp_path / "parts"], tmp_path / "merged")  # the folder that holds them, and the bundle is there
    assert again.frozen.digest == found.frozen.digest


def test_a_part_that_is_missing_or_double_is_told(parts: list[Path], tmp_path: Path) -> None:
    code, message, exit_code = refused([parts[0]], tmp_path)
    assert (code, message, exit_code) == ("E613", "part 2 of 2 is missing", 2)
    double = Path(shutil.copytree(parts[0], tmp_path / "double"))
    code, message, exit_code = refused([*parts, double], tmp_path)
    assert (code, exit_code) == ("E613", 2) and "part 1/2 is given twice" in message


@pytest.mark.spawned
def test_a_part_made_twice_is_the_same(made: tuple[Path, list[Path]], tmp_path: Path) -> None:
    specs = made[1][0].parent.parent / "specs"
    (again,) = compile([specs], k=211, out=tmp_path, jobs=1, part="2/2").parts
    assert content(again.path) == content(made[1][1])
    assert sum(read_part(path).facts["templates"][0]["rows"] for path in made[1]) == 422


@pytest.mark.parametrize("name", ["rows/0.questions", "rows/1.index", "specs/cubes.yaml", NAME])
def test_a_flipped_byte_is_found(parts: list[Path], tmp_path: Path, name: str) -> None:
    held = bytearray((parts[1] / name).read_bytes())
    held[len(held) // 2] ^= 1
    (parts[1] / name).write_bytes(held)
    code, message, exit_code = refused(parts, tmp_path)
    assert (code, exit_code) == ("E611", 3) and name in message


def test_a_missing_and_an_added_file_are_found(parts: list[Path], tmp_path: Path) -> None:
    (parts[0] / "rows" / "more").write_text("more")
    assert refused(parts, tmp_path)[::2] == ("E611", 3)
    (parts[0] / "rows" / "more").unlink()
    (parts[0] / "rows" / "0.answers").unlink()
    assert refused(parts, tmp_path)[::2] == ("E611", 3)


def set_order(name: str, value: Any) -> Change:
    return lambda facts: facts["order"].update({name: value})


@pytest.mark.parametrize(
    ("how", "word"),
    [
        (set_order("seed", "other"), "seed other"),
        (set_order("k", 212), "k 212"),
        (lambda facts: facts.update(of=3), "3 parts"),
        (lambda facts: facts.update(benchmark="else"), "`else`"),
        (lambda facts: facts["versions"].update(sympy="1.0"), "sympy 1.0 instead of"),
        (lambda facts: facts.update(left_out=[{"template": "x", "why": "y"}]), "leave out"),
    ],
    ids=["seed", "k", "of", "benchmark", "versions", "left out"],
)
def test_parts_of_something_else_are_refused(parts: list[Path], tmp_path: Path, how: Change, word: str) -> None:
    change(parts[1], how)
    code, message, exit_code = refused(parts, tmp_path)
    assert (code, exit_code) == ("E612", 2) and word in message


def outside(facts: dict[str, Any]) -> None:
    facts["order"]["chosen"] = ["../../specs/cubes.yaml"]


@pytest.mark.parametrize(
    "how",
    [
        outside,
        set_order("k", 0),
        set_order("shard_size", 0),
        set_order("seed", 1),
        set_order("chosen", [1]),
        lambda facts: facts.update(part=3),
        lambda facts: facts.update(left_out=["x"]),
        lambda facts: facts.update(templates=[]),
        lambda facts: facts["templates"][0].update(rows=1),
        lambda facts: facts["templates"][0].update(first=7),
        lambda facts: facts["templates"][0].update(summary={}),
        lambda facts: facts["templates"][0]["summary"].update(wanted="many"),
        lambda facts: facts["files"].update({"../x": {"size": 1, "sha256": "0"}}),
    ],
)
def test_a_forged_description_is_refused(parts: list[Path], tmp_path: Path, how: Change) -> None:
    change(parts[1], how)
    assert refused(parts, tmp_path)[::2] == ("E611", 3)


def test_a_forged_artefact_writes_nowhere(parts: list[Path], tmp_path: Path) -> None:
    content = b"a stranger's bytes"
    frame = asset_frame(sha256(content).hexdigest(), "/../../../x", content)
    (parts[1] / "rows" / "0.assets").write_bytes(frame)

    def how(facts: dict[str, Any]) -> None:
        facts["files"]["rows/0.assets"] = {"size": len(frame), "sha256": sha256(frame).hexdigest()}

    change(parts[1], how)
    code, message, exit_code = refused(parts, tmp_path)
    assert (code, exit_code) == ("E611", 3) and "artefact" in message


def test_parts_of_other_specs_are_refused(parts: list[Path], tmp_path: Path) -> None:
    text = SPECS["cubes.yaml"].replace("What is", "How much is").encode()
    (parts[1] / "specs" / "cubes.yaml").write_bytes(text)
    digest = sha256(text).hexdigest()

    def how(facts: dict[str, Any]) -> None:
        facts["specs"]["cubes.yaml"] = digest
        facts["files"]["specs/cubes.yaml"] = {"size": len(text), "sha256": digest}

    change(parts[1], how)
    code, message, exit_code = refused(parts, tmp_path)
    assert (code, exit_code) == ("E612", 2) and "`cubes.yaml` differs" in message


def test_a_folder_without_parts_is_told(tmp_path: Path) -> None:
    assert refused([tmp_path], tmp_path)[::2] == ("E610", 2)


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/2", "-1/4", "1/9999999"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(DiaError) as found:
        parse_part_number(text)
    assert found.value.exit_code == 2


@settings(max_examples=examples(60), deadline=None)
@given(k=st.integers(1, 5_000), of=st.integers(1, 40), place=st.integers(0, 200))
def test_every_instance_lies_in_one_part(made: tuple[Path, list[Path]], k: int, of: int, place: int) -> None:
    template = templates(made[1][0] / "specs")
    for one in template:
        bounds = [instance_range(one, k, place, PartNumber(number, of)) for number in range(1, of + 1)]
        held = [bound for bound in bounds if bound is not None]
        if held == [(0, None)]:
            continue
        covered = [number for first, last in held for number in range(first, last or 0)]
        assert covered == [*range(k)]


_TEMPLATES: list[Template] = []


def templates(folder: Path) -> list[Template]:
    """The templates of the specs, read once."""
    if not _TEMPLATES:
        from dia_compiler.analyze.check import check
        from dia_compiler.parse.discover import discover

        _TEMPLATES.extend(check(discover([folder]), defers=True).benchmarks[0].clean)
    return _TEMPLATES


def test_a_missing_package_is_one_clear_line(
    made: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    specs = made[1][0].parent.parent / "specs"
    with pytest.raises(DiaError) as found:
        compile([specs], out=tmp_path / "out", cluster="local", use_cache=False)
    (entry,) = found.value.diagnostics
    assert (entry.code, found.value.exit_code) == ("E206", 2)
    assert ".[cluster]" in str(entry.help) and not (tmp_path / "out").exists()
