"""Hosted workflows call scripts of the project, so that what they do can be done on any machine."""

from __future__ import annotations

import os
import re
import tomllib
from contextlib import suppress
from importlib import metadata
from typing import Any

import pytest
import yaml
from helpers.places import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPT = re.compile(r"(?<!\S)(\.ci/\w+|tests/[\w/]+\.py|docs/\w+\.py)")


def steps(workflow: Any) -> list[str]:
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_script_that_a_workflow_calls_is_there(path: Any) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    scripts = [script for step in steps(workflow) for script in SCRIPT.findall(step)]
    assert scripts and workflow["permissions"] == {"contents": "read"}
    for script in scripts:
        assert (ROOT / script).is_file() and (script.endswith(".py") or os.access(ROOT / script, os.X_OK)), script


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_with_their_version_beside_it(path: Any) -> None:
    uses = re.findall(r"\buses: *(.+)", path.read_text(encoding="utf-8"))
    assert uses and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", use) for use in uses), uses


def test_every_python_that_the_project_supports_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    matrix = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["tests"][
        "strategy"
    ]
    least = project["requires-python"].removeprefix(">=")
    assert matrix["matrix"]["python"][0] == least
    assert {entry["dependencies"] for entry in matrix["matrix"]["include"]} == {"lowest", "newest", "locked"}


def test_all_that_an_extra_installs_is_locked() -> None:
    """As far as it is installed here: `pip install -c constraints.txt` gives the same versions on every day."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    locked = {canonicalize_name(line.partition("==")[0]) for line in lines}
    waiting, needed = (
        [("dia-spec", extra) for extra in ("", *metadata.metadata("dia-spec").get_all("Provides-Extra"))],
        set(),
    )
    while waiting:
        name, extra = waiting.pop()
        for requirement in map(Requirement, metadata.requires(name) or ()):
            key = (canonicalize_name(requirement.name), "")
            if key in needed or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
                continue
            with suppress(metadata.PackageNotFoundError):
                metadata.version(requirement.name)
                needed.add(key)
                waiting += [key, *((key[0], own) for own in requirement.extras)]
    assert len(needed) > 40
    assert {name for name, _ in needed} - locked - {"dia-spec"} == set()
    assert {"build", "twine", "uv", "atheris"} <= locked


def test_the_locked_versions_run_on_the_lowest_python() -> None:
    """As far as they are installed here: the first release of a Python may be what a distribution still ships."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lowest = project["requires-python"].removeprefix(">=") + ".0"
    asked = {}
    for name, version in (line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split()):
        with suppress(metadata.PackageNotFoundError):
            if metadata.version(name) == version:
                asked[name] = SpecifierSet(metadata.metadata(name).get("Requires-Python", ""))
    assert len(asked) > 40
    assert [name for name, pythons in asked.items() if lowest not in pythons] == []
