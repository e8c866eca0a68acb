from __future__ import annotations

import importlib
import re
import subprocess
import sys

import dia_runtime
import pytest
from dia_runtime.data import data_folder
from helpers.places import ROOT

PROGRAM = """
import sys
before = set(sys.modules)
import dia_runtime
heavy = {"sqlite3", "click", "json", "jinja2", "sympy", "rich", "hashlib"} & set(sys.modules)
print(len(set(sys.modules) - before), *sorted(heavy))
"""


def test_the_import_is_light() -> None:
    command = [sys.executable, "-I", "-S", "-c"]
    path = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
    done = subprocess.run([*command, path + PROGRAM], capture_output=True, text=True, check=True)
    number, *heavy = done.stdout.split()
    assert int(number) < 30
    assert heavy == []


@pytest.mark.parametrize(
    "first",
    [
        "dia_runtime",
        "dia_runtime.scoring.score",
        pytest.param("dia_runtime.grading.grader", marks=pytest.mark.long),
        pytest.param("dia_runtime.running.run", marks=pytest.mark.long),
    ],
)
def test_a_public_name_is_the_function_whatever_was_imported_first(first: str) -> None:
    program = (
        f"import {first}, dia_runtime, importlib\n"
        "for name in dia_runtime.__all__:\n"
        "    assert callable(getattr(dia_runtime, name)), name\n"
        "    assert importlib.import_module(dia_runtime.PUBLIC[name]).__name__ == dia_runtime.PUBLIC[name]\n"
        "    assert callable(getattr(dia_runtime, name)), name\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_are_listed_and_others_refused() -> None:
    assert set(dia_runtime.__all__) <= set(dir(dia_runtime))
    with pytest.raises(AttributeError):
        dia_runtime.__getattr__("nothing")


def test_the_how_to_pages_import_only_names_that_are_documented_as_public() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "howto").glob("*.md")}
    public = set(re.findall(r"`(dia_[\w.]+)\.(\w+)[`(]", pages["use-from-python"]))
    for module, name in public:
        assert callable(getattr(importlib.import_module(module), name)), name
    assert {name for module, name in public if module == "dia_runtime"} == set(dia_runtime.__all__)
    imports = [found for text in pages.values() for found in re.findall(r"^from (dia_[\w.]+) import (.+)$", text, re.M)]
    assert len(imports) >= 4
    assert {(module, name) for module, names in imports for name in names.split(", ")} <= public


def test_the_data_folder_holds_schemas() -> None:
    assert (data_folder() / "schemas" / "manifest.schema.json").is_file()
