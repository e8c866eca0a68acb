"""The tour of the language: each construct has a use in a spec that ships or stands in the docs, end to end."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from dia_compiler import compile
from dia_compiler.assets import OWN
from dia_compiler.parse.spec_schema import structure
from dia_compiler.types import TYPES
from dia_compiler.types.word_lists import WORD_LISTS
from dia_language.answers import ANSWER_TYPES
from dia_language.expressions.syntax import CONSTANTS
from dia_runtime.formats import FORMATS
from helpers import answer_samples
from helpers.places import ROOT
from helpers.yaml_files import TEXT_LOADER

Dia = Callable[..., Any]

TOUR, SHIPPED = ROOT / "docs" / "examples" / "tour", ROOT / "specs" / "dia_bench"
SESSIONS = ROOT / "docs" / "examples" / "sessions"  # a benchmark of its own, for no baseline can answer it
DIGEST = "85729bd49bff6daa22762804c58d48cec78f9e766aac13be922825589f57511c"
TEMPLATES = sorted(
    path for path in TOUR.rglob("*.yaml") if path.name != "benchmark.yaml" and "catalogs" not in path.parts
)


@pytest.fixture(scope="module")
def manifests(tour: Path, shipped: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The manifests of the tours and of the shipped benchmark."""
    sessions = compile([SESSIONS], k=1, out=tmp_path_factory.mktemp("sessions"), jobs=1).bundles[0].path
    return [json.loads((bundle / "manifest.json").read_bytes()) for bundle in (tour, shipped, sessions)]


# End to end


@pytest.mark.long
def test_the_tour_makes_the_same_bytes_once_more_with_other_workers(tour: Path, tmp_path: Path, dia: Dia) -> None:
    again = dia(tmp_path, "verify", str(tour), "--recompile", "--allow-programs", "--jobs", "2", "--json")
    assert again.exit == 0, again.stderr
    assert json.loads(again.stdout)["recompiled"]["same"] is True


@pytest.mark.usefixtures("locked_builders")
def test_the_tour_makes_the_pinned_bytes_with_the_locked_versions_of_the_libraries_under_builders(tour: Path) -> None:
    digest = hashlib.sha256((tour / "manifest.json").read_bytes()).hexdigest()
    assert digest == DIGEST, f"if a template of the tour was added or changed, set DIGEST in {__file__} to {digest}"


@pytest.mark.parametrize(("model", "verdict"), [("oracle", "correct"), ("abstain", "skipped"), ("wrong", "wrong")])
def test_the_baselines_get_what_they_deserve(tour: Path, tmp_path: Path, dia: Dia, model: str, verdict: str) -> None:
    assert dia(tmp_path, "run", str(tour), "--model", model, "-o", "a.run").exit == 0
    for chain in ("strict", "lenient"):
        counts = json.loads(dia(tmp_path, "score", "a.run", "--chain", chain, "--json").stdout)["models"][0]["counts"]
        records = map(json.loads, (tour / "answers.jsonl").read_bytes().splitlines())
        unanswerable = sum(record["comparison"].get("unanswerable") is True for record in records)
        assert unanswerable > 0  # of these, to abstain is correct
        if model == "abstain":
            assert counts["correct"] == unanswerable
            counts["skipped"] += counts.pop("correct")
        assert counts[verdict] == sum(counts.values()) > 300, (chain, counts)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_a_model_to_copy(path: Path) -> None:
    spec = spec_of(path)
    assert {"title", "category", "domain", "level", "skills", "examples"} <= set(spec) and spec["template"] == path.stem
    assert {"mistakes", "checks"} & set(spec) or "choices" in spec


def test_the_guide_names_files_that_are_there() -> None:
    named = re.findall(r"`([a-z_/]+\.yaml)`", (TOUR / "README.md").read_text(encoding="utf-8"))
    assert len(named) > 40 and [name for name in named if not (TOUR / name).is_file()] == []


# Everything has a use


def test_every_function_type_and_word_list_is_used(manifests: list[dict[str, Any]]) -> None:
    shown = {"types": {part["type"] for part in documented_types()}}
    # every other function is called by its own examples, see tests/fuzzing/test_corpus.py
    for table, known in (
        ("functions", {"name_of", "program", "run_elf"}),
        ("types", TYPES.own),
        ("word_lists", shipped_lists()),
    ):
        used = {name for manifest in manifests for name in manifest[table]}
        require_used(known, used | shown.get(table, set()), table)


def test_every_key_is_used() -> None:
    properties = schema("template")["properties"]
    answers = all_answers()
    require_used(properties, keys(templates()), "key of a template")
    require_used(properties["answer"]["properties"], keys(answers), "key of an answer")
    require_used(
        schema("benchmark")["properties"],
        keys(spec for spec in specs() if "benchmark" in spec),
        "key of benchmark.yaml",
    )
    entries = [entry for spec in specs() for catalog in catalogs(spec) for entry in catalog["entries"].values()]
    require_used({"params", "group", "examples"}, keys(entries), "key of a catalog's entries")
    for key, inside in (("variants", "additionalProperties"), ("choices", None), ("limits", None)):
        known = properties[key][inside]["properties"] if inside else properties[key]["properties"]
        held = [part for spec in templates() for part in within(spec, key, is_named=inside is not None)]
        require_used(known, keys(held), f"key of {key}")


def test_every_key_of_an_example_is_used() -> None:
    known = schema("template")["properties"]["examples"]["items"]["properties"]
    examples = [example for spec in templates() for example in spec.get("examples", ())]
    require_used(known, keys(examples), "key of an example")
    require_used(
        known["replies"]["properties"], keys(example.get("replies", {}) for example in examples), "key of replies"
    )


def test_every_answer_type_and_every_value_of_its_options_is_used() -> None:
    answers = all_answers()
    named = (held for part in answers for held in texts((part.get("type"), part.get("of"))))
    require_used(ANSWER_TYPES, named, "answer type")
    properties = schema("template")["properties"]["answer"]["properties"]
    tables = [(properties, answers), *(
        (properties[name]["properties"], [part[name] for part in answers if isinstance(part.get(name), dict)])
        for name in ("round", "tolerance")
    )]  # fmt: skip
    for known, held in tables:
        require_used(known, keys(held), "option of answers")
        for name, values in ((name, values["enum"]) for name, values in known.items() if "enum" in values):
            require_used(set(values) - {""}, (part.get(name) for part in held), f"value of {name}")


def test_every_answer_format_with_all_its_options_is_used() -> None:
    formats = [spec["format"] for spec in specs() if "format" in spec]
    require_used(FORMATS, (form["kind"] for form in formats), "answer format")
    require_used(schema("template")["$defs"]["format"]["properties"], keys(formats), "option of formats")


def test_every_option_of_every_parameter_type_is_used() -> None:
    used: dict[str, set[str]] = {name: set() for name in TYPES.own}
    for spec in specs():
        own = {**spec_of(TOUR / "benchmark.yaml").get("types", {}), **spec.get("types", {})}
        for part in mappings([spec.get(key) for key in ("params", "types", "catalogs", "entries", "variants")]):
            if isinstance(kind := part.get("type"), str):
                used.setdefault(own.get(kind, part)["type"], set()).update(part)
    for part in documented_types():
        used[part["type"]].update(part)
    for name, kind in TYPES.own.items():
        require_used(kind.options, used[name], f"option of {name}")


def test_every_builder_with_all_its_options_is_used() -> None:
    assets = [asset for spec in templates() for asset in spec.get("assets", {}).values()]
    require_used(OWN, (asset["build"] for asset in assets), "builder")
    used = {name: keys(asset for asset in assets if asset["build"] == name) for name in OWN}
    for name, builder in OWN.items():
        require_used(builder.options, used[name], f"option of {name}")


def test_every_way_to_deliver_is_used_for_all_artefacts_and_for_some() -> None:
    told = [spec["deliver"] for spec in templates() if "deliver" in spec]
    whole, single = schema("template")["properties"]["deliver"]["anyOf"]
    require_used(whole["enum"], (held for held in told if isinstance(held, str)), "way to deliver")
    some = {held for way in told if isinstance(way, dict) for held in way.values()}
    assert some and some <= set(single["additionalProperties"]["enum"])


def test_every_constant_is_used() -> None:
    held = "\n".join(text for spec in specs() for text in texts(spec))
    assert [name for name in sorted(CONSTANTS) if not re.search(rf"(?:= |\+ |\* |in |[*(]){name}\b", held)] == []


# Reading the specs


def require_used(known: Iterable[Any], used: Iterable[Any], what: str) -> None:
    """Fail with what to add if some of what is known is not used."""
    unused = sorted(set(known) - set(used))
    assert unused == [], f"use each {what} in a template of docs/examples/tour, or where this test looks too: {unused}"


def all_answers() -> list[dict[str, Any]]:
    """The answers of the templates, and of those that tests/compiler/test_answer_kinds.py takes from end to end."""
    samples = [yaml.safe_load(answer) for answer, _, _ in answer_samples.TEMPLATES.values() if answer]
    return [part for answer in [spec.get("answer") for spec in templates()] + samples for part in mappings(answer)]


def documented_types() -> list[dict[str, Any]]:
    """The types of the page on parameters, which tests/test_reference.py compiles with the values that they draw."""
    page = (ROOT / "docs" / "reference" / "parameters.md").read_text(encoding="utf-8")
    uses = re.findall(r"^- (\{type: .*\})  # ", page, re.MULTILINE)
    assert uses, "the page on parameters has no examples of types"
    return [yaml.safe_load(use) for use in uses]


@cache
def spec_of(path: Path) -> dict[str, Any]:
    """The file's mapping; its scalars are text."""
    found: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), TEXT_LOADER)
    return found


def specs() -> list[dict[str, Any]]:
    """All files of the benchmarks."""
    return [spec_of(path) for folder in (TOUR, SHIPPED, SESSIONS) for path in sorted(folder.rglob("*.yaml"))]


def templates() -> list[dict[str, Any]]:
    """All templates of the benchmarks."""
    return [spec for spec in specs() if "template" in spec]


def catalogs(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The catalogs that a file declares, or is."""
    return [held for held in (spec, *spec.get("catalogs", {}).values()) if "entries" in held]


def within(spec: dict[str, Any], key: str, is_named: bool) -> list[dict[str, Any]]:
    """What stands under the key, or under each name under it."""
    held = spec.get(key, {})
    return list(held.values()) if is_named else [held]


def mappings(node: Any) -> Iterator[dict[str, Any]]:
    """All mappings in a part of a spec."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from mappings(inner)


def texts(node: Any) -> Iterator[str]:
    """All texts in a part of a spec."""
    if isinstance(node, str):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, (list, tuple)) else ():
        yield from texts(inner)


def keys(parts: Iterable[Mapping[str, Any]]) -> set[str]:
    """The keys of all these mappings."""
    return {key for part in parts for key in part}


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema by which specs are checked."""
    return structure(name)


def shipped_lists() -> list[str]:
    """The word lists that have words of their own."""
    return [name for name, held in WORD_LISTS.items() if not held.parts]
