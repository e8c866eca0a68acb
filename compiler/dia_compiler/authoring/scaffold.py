"""The files that `dia new` writes: a template that compiles, or a benchmark with one template."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dia_compiler.authoring.editor_schemas import editor_schema_text
from dia_compiler.parse.spec_schema import FILES
from dia_language import yaml_nodes
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.bundle.atomic_output import write_error

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
SCHEMAS = ".schemas"

BENCHMARK = """\
# yaml-language-server: $schema={schemas}/benchmark.schema.json
language: 2
benchmark: {name}
title: {title}
version: 0.1.0
license: CC-BY-4.0
# Written into the records and YAML files of a bundle, so that copies in training data can be found.
canary: {canary}
prompt: |
  {{{{ challenge }}}}

  {{{{ format_instruction }}}}
  A correct answer scores {{{{ points.correct }}}}, a wrong one {{{{ points.wrong }}}}, a skipped one {{{{ points.skipped }}}}.
format: {{kind: xml}}
skip: I-DO-NOT-KNOW
points: {{correct: 1, skipped: 0, wrong: -1}}
"""  # noqa: E501 - a file as it is written

STARTS = Path(__file__).parent / "starts"  # each compiles as it is, but for its name and title
KINDS = {  # kind -> title of the first template of a benchmark
    "plain": "Pens in boxes",
    "choices": "Price in a sale",
    "sessions": "A correct answer under doubt",
    "assets": "Requests that failed",
    "catalog": "Steps with a number",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A template that is not yet named, with the files that it reads.

    `text` has the lines `template: NAME` and `title: TITLE`, like the files in `starts/`. `title` is that of the first
    template of a new benchmark. `files` maps paths in the benchmark's folder to their content; a file that exists with
    the same content is kept. `guesses` says what the author has to verify.
    """

    text: str
    title: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    guesses: tuple[str, ...] = ()

    def named(self, name: str, title: str) -> str:
        """Return the text with a name and a title."""
        text = self.text.replace("template: NAME\n", f"template: {name}\n", 1)
        return text.replace("title: TITLE\n", f"title: {title}\n", 1)


def start(kind: str = "plain") -> Draft:
    """Return the template that `dia new` offers for a kind of template, one of KINDS."""
    return Draft((STARTS / f"{kind}.yaml").read_text(encoding="utf-8"), KINDS[kind])


def new_benchmark(name: str, parent: Path, draft: Draft | None = None) -> list[Path]:
    """Write a benchmark with one template into a folder of its name, and return the files.

    Raises DiaError (exit code 2) if the folder exists and is not empty, or cannot be written.
    """
    folder = parent / _checked(name)
    if not (folder.is_dir() and not any(folder.iterdir())):
        _refuse_existing(folder)
    files = {path: text.encode() for path, text in _schemas().items()}
    draft = draft or start()
    benchmark = BENCHMARK.format(name=name, title=_title(name), canary=uuid.uuid4(), schemas=SCHEMAS)
    files |= {"benchmark.yaml": benchmark.encode(), **draft.files}
    files["first_template.yaml"] = draft.named("first_template", draft.title).encode()
    return [_written(folder / path, content) for path, content in files.items()]


def new_template(name: str, folder: Path, draft: Draft | None = None) -> list[Path]:
    """Write a template and the files that it reads into a benchmark's folder, and return the files written.

    Raises DiaError (exit code 2) if the folder has no benchmark, or a file exists or cannot be written.
    """
    path = folder / f"{_checked(name)}.yaml"
    if not (folder / "benchmark.yaml").is_file():
        message = f"{folder.as_posix()} has no benchmark.yaml"
        help = f"give the benchmark's folder with -o, or create a benchmark: dia new {name} --benchmark"
        raise DiaError(Diagnostic("E101", message, None, help))
    _refuse_existing(path)
    draft = draft or start()
    missing = [place for place, content in draft.files.items() if not _is_there(folder / place, content)]
    for place, schema in _schemas().items():
        if not (folder / place).exists():
            _written(folder / place, schema.encode())
    written = [_written(folder / place, draft.files[place]) for place in missing]
    return [_written(path, draft.named(name, _title(name)).encode()), *written]


def _is_there(path: Path, content: bytes) -> bool:
    """Return whether the file exists with this content. Raises DiaError if it exists with another one."""
    if not path.exists() and not path.is_symlink():
        return False
    if path.is_file() and path.read_bytes() == content:
        return True
    message = f"{path.as_posix()} already exists, with other content"
    raise DiaError(Diagnostic("E601", message, None, "rename one of the two files"))


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        help = "use lowercase letters, digits and _, starting with a letter"
        if "/" in name or "\\" in name:
            help += "; `-o` chooses the folder"
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
    root, _ = yaml_nodes.read(path, str(path))
    types = root.get("types") if isinstance(root, yaml_nodes.Mapping) else None
    named: list[str] = [key.text for key, _ in types.pairs] if isinstance(types, yaml_nodes.Mapping) else []
    return [_written(folder / path, text.encode()) for path, text in _schemas(named).items()]


def _schemas(named_types: Iterable[str] = ()) -> dict[str, str]:
    """Return the text of each schema file by its path in the benchmark's folder."""
    return {
        f"{SCHEMAS}/{file}.schema.json": editor_schema_text(file, installed=True, named_types=named_types)
        for file in FILES
    }


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise DiaError(Diagnostic("E601", f"{path.as_posix()} already exists", None, "choose another name"))


def _written(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise write_error(f"{path.as_posix()} cannot be written", error, "choose another folder") from None
    return path
