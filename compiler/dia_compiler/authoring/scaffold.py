"""The files that `dia new` writes: a template that compiles, or a benchmark with one template."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from pathlib import Path

from dia_compiler.authoring.editor_schemas import editor_schema_text
from dia_compiler.parse.spec_schema import FILES
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.yaml_nodes import Mapping, read

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
SCHEMAS = ".schemas"

BENCHMARK = """\
# yaml-language-server: $schema={schemas}/benchmark.schema.json
language: 2
benchmark: {name}
title: {title}
version: 0.1.0
license: CC-BY-4.0
# Written into every public file of a bundle, so that copies in training data can be found.
canary: {canary}
prompt: |
  {{{{ challenge }}}}

  {{{{ format_instruction }}}}
  A correct answer scores {{{{ points.correct }}}}, a wrong one {{{{ points.wrong }}}}, a skipped one {{{{ points.skipped }}}}.
format: {{kind: xml}}
skip: I-DO-NOT-KNOW
points: {{correct: 1, skipped: 0, wrong: -1}}
"""  # noqa: E501 - a file as it is written

TEMPLATE = """\
# yaml-language-server: $schema={schemas}/template.schema.json
template: {name}
title: {title}
category: mathematics
level: easy
skills: [arithmetic]

params: # drawn again for each instance
  boxes: {{type: integer, min: 2, max: 60}}
  pens: {{type: integer, min: 2, max: 90}}
  lost: {{type: integer, min: 1, max: = boxes * pens - 1}}

answer:
  value: boxes * pens - lost
  type: integer

checks: # must be true for every instance; verify the answer independently of `value`
  - (answer + lost) / boxes == pens

mistakes: # typical wrong answers; reports count them
  forgot_the_lost: boxes * pens

prompt: |
  A shop receives {{{{ boxes }}}} boxes of {{{{ pens }}}} pens each, and loses {{{{ lost }}}} of the pens.
  How many pens are left?

explanation: "{{{{ boxes }}}} x {{{{ pens }}}} - {{{{ lost }}}} = {{{{ answer }}}}"

examples: # tests of this template, run by `dia check`
  - params: {{boxes: 3, pens: 10, lost: 4}}
    answer: 26
    replies: {{correct: ["<xml>26</xml>"], skipped: ["<xml>I-DO-NOT-KNOW</xml>"], unparsed: ["26 pens"]}}
"""


def new_benchmark(name: str, parent: Path) -> list[Path]:
    """Write a benchmark with one template into a folder of its name, and return the files.

    Raises DiaError (exit code 2) if the folder exists or cannot be written.
    """
    folder = parent / _checked(name)
    _refuse_existing(folder)
    files = _schemas()
    canary = str(uuid.uuid4())
    files["benchmark.yaml"] = BENCHMARK.format(name=name, title=_title(name), canary=canary, schemas=SCHEMAS)
    files["first_template.yaml"] = TEMPLATE.format(name="first_template", title="Pens in boxes", schemas=SCHEMAS)
    return [_written(folder / path, text) for path, text in files.items()]


def new_template(name: str, folder: Path) -> list[Path]:
    """Write a template into a benchmark's folder, and return the files written.

    Raises DiaError (exit code 2) if the folder has no benchmark, or the file exists or cannot be written.
    """
    path = folder / f"{_checked(name)}.yaml"
    if not (folder / "benchmark.yaml").is_file():
        message = f"{folder.as_posix()} has no benchmark.yaml"
        help = f"give the benchmark's folder with -o, or create a benchmark: dia new {name} --benchmark"
        raise DiaError(Diagnostic("E101", message, None, help))
    _refuse_existing(path)
    for place, schema in _schemas().items():
        if not (folder / place).exists():
            _written(folder / place, schema)
    return [_written(path, TEMPLATE.format(name=name, title=_title(name), schemas=SCHEMAS))]


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        help = "use lowercase letters, digits and _, starting with a letter"
        raise DiaError(Diagnostic("E600", f"`{name[:80]}` is not a valid name for a template or benchmark", None, help))
    return name


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON schemas with which an editor completes and checks the specs of a benchmark; return the files.

    They know the types, formats and builders of installed packages, and the types that benchmark.yaml declares.
    Raises DiaError (exit code 2) if benchmark.yaml is missing or not YAML, or a file cannot be written.
    """
    if not (folder / "benchmark.yaml").is_file():
        message = f"{folder.as_posix()} has no benchmark.yaml"
        raise DiaError(Diagnostic("E101", message, None, "give the folder of a benchmark"))
    path = folder / "benchmark.yaml"
    root, _ = read(path, str(path))
    types = root.get("types") if isinstance(root, Mapping) else None
    named: list[str] = [key.text for key, _ in types.pairs] if isinstance(types, Mapping) else []
    return [_written(folder / path, text) for path, text in _schemas(named).items()]


def _schemas(named_types: Iterable[str] = ()) -> dict[str, str]:
    """Return the text of each schema file by its path in the benchmark's folder."""
    return {
        f"{SCHEMAS}/{file}.schema.json": editor_schema_text(file, installed=True, named_types=named_types)
        for file in FILES
    }


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise DiaError(Diagnostic("E601", f"{path.as_posix()} already exists", None, "choose another name"))


def _written(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise DiaError(Diagnostic("E602", f"{path.as_posix()} cannot be written: {error.strerror}")) from None
    return path
