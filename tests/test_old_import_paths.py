"""Import paths of earlier versions give the very modules of today: exported tasks and plug-in packages use them."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from helpers.places import ROOT

# Old path -> today's. The modules of harnesses need packages that are not installed here: stand-ins take their place.
MODULES = {
    "dia_runtime.exports.base": "dia_runtime.integrations.exporting.base",
    "dia_runtime.language.diagnostics": "dia_language.diagnostics",
    "dia_runtime.harnesses.figures": "dia_runtime.integrations.exported_tasks.figures",
    "dia_runtime.harnesses.graded": "dia_runtime.integrations.exported_tasks.grading",
    "dia_runtime.harnesses.rows": "dia_runtime.integrations.exported_tasks.rows",
    "dia_runtime.harnesses.talks": "dia_runtime.integrations.exported_tasks.transcripts",
    "dia_runtime.harnesses.grade_lines": "dia_runtime.integrations.promptfoo.grader",
    "dia_runtime.harnesses.for_lm_eval": "dia_runtime.integrations.lm_eval.task",
    "dia_compiler.api": "dia_compiler.pipeline.api",
    "dia_compiler.entry": "dia_compiler.commands.entry",
}
HARNESS_MODULES = {
    "dia_runtime.harnesses.for_inspect": "dia_runtime.integrations.inspect.task",
    "dia_runtime.harnesses.inspect_parts": "dia_runtime.integrations.inspect.content",
    "dia_runtime.harnesses.inspect_registry": "dia_runtime.integrations.inspect.registry",
    "dia_runtime.harnesses.inspect_talks": "dia_runtime.integrations.inspect.sessions",
    "dia_runtime.harnesses.for_lighteval": "dia_runtime.integrations.lighteval.task",
}
# Old module that carries the name of a public function -> today's module, in which the function is.
FUNCTIONS = {
    "dia_runtime.calibrate": "dia_runtime.psychometrics.calibrate",
    "dia_runtime.grade": "dia_runtime.grading.grader",
    "dia_runtime.run": "dia_runtime.running.run",
    "dia_runtime.score": "dia_runtime.scoring.score",
    "dia_compiler.compile": "dia_compiler.pipeline.api",
}
UNMOVED = {
    "dia_compiler.assets.base": ("Builder", "Site", "data"),
    "dia_compiler.types.base": ("Choose", "Domain", "OptionFault", "ParameterType", "integer_option", "option"),
    "dia_runtime.bundle.open": ("Bundle", "open_bundle"),
    "dia_runtime.exports.base": ("Exporter", "Files", "pairs"),
    "dia_runtime.formats.base": ("Extraction", "Format", "FormatRecord", "skip_sentence"),
    "dia_runtime.language.diagnostics": ("DiaError", "Diagnostic", "LanguageError"),
}
# Packages that were modules, with the public names of these.
PACKAGES = {
    "dia_runtime.store": ("Store", "open_store", "read_store", "require_root"),
    "dia_compiler.freeze": ("BundlePlan", "Ready", "freeze", "plugins_of", "provenance", "seed_word"),
    "dia_compiler.explore": ("Explored", "Wanted", "Wishes", "as_record", "explore", "put"),
}
# What tasks exported by earlier versions import.
IN_EXPORTED_TASKS = {
    "dia_runtime.harnesses.for_inspect": ("task_beside",),
    "dia_runtime.harnesses.for_lighteval": ("task_beside",),
    "dia_runtime.harnesses.for_lm_eval": (
        "conf", "correct_clustered_stderr", "nms", "rs", "tsr", "dataset_beside", "process_results",
    ),
}  # fmt: skip


def python(program: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n{program}"]
    return subprocess.run([*command, *arguments], input=text, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("order", ["old, new", "new, old"])
def test_an_old_path_is_the_module_of_the_new_one(order: str) -> None:
    python(
        f"import importlib, types\n"
        f"for new in {list(HARNESS_MODULES.values())!r}:\n"
        f"    sys.modules[new] = types.ModuleType(new)\n"
        f"    sys.modules[new].task = print  # Inspect has a function of this name\n"
        f"for old, new in {MODULES | HARNESS_MODULES!r}.items():\n"
        f"    for name in ({order}):\n"
        f"        importlib.import_module(name)\n"
        f"    assert sys.modules[old] is sys.modules[new], old\n"
        f"    package, _, last = old.rpartition('.')\n"
        f"    assert getattr(sys.modules[package], last) is sys.modules[new], old\n"
    )


@pytest.mark.parametrize("order", ["old, new", "new, old", pytest.param("package, old", marks=pytest.mark.long)])
def test_a_public_function_wins_over_the_module_of_its_name(order: str) -> None:
    python(
        f"import importlib\n"
        f"for old, new in {FUNCTIONS!r}.items():\n"
        f"    package, _, name = old.partition('.')\n"
        f"    functions = []\n"
        f"    for module in ({order}):\n"
        f"        importlib.import_module(module)\n"
        f"        functions.append(getattr(sys.modules[package], name))\n"
        f"    scope = {{}}\n"
        f"    exec(f'from {{package}} import {{name}} as function; from {{old}} import {{name}} as of_module', scope)\n"
        f"    functions += [scope['function'], scope['of_module'], getattr(sys.modules[package], name)]\n"
        f"    assert callable(functions[0]) and all(each is functions[0] for each in functions), old\n"
        f"    assert sys.modules[old] is sys.modules[new] is importlib.import_module(old), old\n"
    )


@pytest.mark.parametrize("path", UNMOVED)
def test_plug_in_packages_find_what_they_import(path: str) -> None:
    module = importlib.import_module(path)
    assert [name for name in UNMOVED[path] if not hasattr(module, name)] == []


def test_the_worked_plug_in_imports_from_these_paths_alone() -> None:
    source = (ROOT / "docs" / "examples" / "dia-dice" / "src" / "dia_dice.py").read_text(encoding="utf-8")
    imported = [line.split()[1] for line in source.splitlines() if line.startswith("from dia_")]
    assert set(imported) <= set(UNMOVED)


@pytest.mark.parametrize("path", PACKAGES)
def test_a_package_that_was_a_module_has_its_public_names(path: str) -> None:
    package = importlib.import_module(path)
    for name in PACKAGES[path]:
        assert callable(getattr(package, name)), name
    with pytest.raises(AttributeError):
        _ = package.no_such_name


def test_a_package_that_was_a_module_stays_a_package_beside_the_function_of_its_name() -> None:
    from dia_compiler.explore import explore
    from dia_compiler.freeze import freeze

    assert callable(explore) and callable(freeze)
    assert importlib.import_module("dia_compiler.freeze").freeze is freeze
    assert importlib.import_module("dia_compiler.explore").explore is explore


@pytest.mark.parametrize("path", IN_EXPORTED_TASKS)
def test_exported_tasks_find_what_they_import(path: str) -> None:
    module = (MODULES | HARNESS_MODULES)[path]
    source = (ROOT / "runtime" / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8")
    for name in IN_EXPORTED_TASKS[path]:
        assert f"def {name}(" in source or f" {name}" in source.partition("__all__")[0], name


def test_the_command_runs_under_its_old_paths() -> None:
    program = "import runpy; sys.argv = ['dia', '--version']\nrunpy.run_module('dia_compiler', run_name='__main__')"
    assert "dia" in python(program).stdout
    python("from dia_compiler.entry import main\nfrom dia_compiler.commands import entry\nassert main is entry.main")


def test_replies_are_graded_by_line_under_the_old_path(tmp_path: Path) -> None:
    grading = {"answer": 7, "text": "7", "accept": [], "comparison": {"type": "integer"}}
    points = {"correct": 1, "skipped": 0, "wrong": -1}
    row = {"id": "a", "format": {"kind": "xml"}, "grading": grading, "points": points}
    encoded = {name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()}
    (tmp_path / "answers.jsonl").write_text(json.dumps(encoded) + "\n", encoding="utf-8")
    lines = "".join(json.dumps({"id": "a", "reply": f"<xml>{answer}</xml>"}) + "\n" for answer in (7, 8))
    program = (
        "import runpy; sys.argv = ['grade_lines', sys.argv[1]]\n"
        "runpy.run_module('dia_runtime.harnesses.grade_lines', run_name='__main__')"
    )
    graded = python(program, str(tmp_path / "answers.jsonl"), text=lines).stdout.splitlines()
    assert [json.loads(line)["verdict"] for line in graded] == ["correct", "wrong"]


def test_entry_points_name_what_there_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for target in project["scripts"].values():
        module, _, name = target.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), target
    for target in project["entry-points"]["inspect_ai"].values():
        assert (ROOT / "runtime" / Path(*target.split("."))).with_suffix(".py").is_file(), target
