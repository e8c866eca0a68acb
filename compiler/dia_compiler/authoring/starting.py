"""A shipped family as the start of a new template: its file under another name, with the files that it reads."""

from __future__ import annotations

import re
from pathlib import Path

from dia_compiler.authoring.scaffold import NAME
from dia_compiler.parse.discover import BENCHMARK_FILE
from dia_language.diagnostics import DiaError, Diagnostic
from dia_language.yaml_nodes import Mapping, Scalar, pairs, parse
from dia_runtime.bundle.atomic_output import write_error
from dia_runtime.data import data_folder

SHARED = ("types", "functions", "macros", "lists", "catalogs")  # keys of a benchmark that its templates use
LINE = re.compile(r"^(template|number):.*\n|^# yaml-language-server:.*\n", re.MULTILINE)
FROM = re.compile(r"\bfrom: *[\"']?([\w./-]+\.[a-z]+)")  # a list, a catalog or rows of data in a file


def shipped_benchmarks() -> list[Path]:
    """Return the folders of the benchmarks that come with dia."""
    return sorted(path.parent for path in (data_folder() / "specs").glob(f"*/{BENCHMARK_FILE}"))


def start_from(family: Path, name: str, folder: Path) -> list[Path]:
    """Write a family that comes with dia into a benchmark's folder as the template `name`; return the files written.

    The files that the family reads are copied to the same places. Raises DiaError (exit code 2) if the family does not
    come with dia, the name is malformed, the folder has no benchmark, a file exists with other content, or a file
    cannot be written; no file is left then.
    """
    home = next((home for home in shipped_benchmarks() if home in family.parents), None)
    if home is None or not family.is_file():
        raise _refused("E101", f"`{family}` is not a family that comes with dia", None)
    if not NAME.fullmatch(name):
        help = "use lowercase letters, digits and _, starting with a letter"
        raise _refused("E600", f"`{name[:80]}` is not a valid name for a template", help)
    if not (folder / BENCHMARK_FILE).is_file():
        raise _refused("E101", f"{folder.as_posix()} has no {BENCHMARK_FILE}", "choose the folder of a benchmark")
    text = with_shared_names(family.read_text(encoding="utf-8"), (home / BENCHMARK_FILE).read_text(encoding="utf-8"))
    target = folder / f"{name}.yaml"
    if target.exists() or target.is_symlink():
        raise _refused("E601", f"{target.as_posix()} already exists", "choose another name")
    contents = {target: f"template: {name}\n{LINE.sub('', text)}".encode()}
    for source in sorted({home / reference for reference in FROM.findall(text)}):
        if source.is_file() and source.resolve().is_relative_to(home.resolve()):
            copy = folder / source.relative_to(home)
            if not copy.resolve().is_relative_to(folder.resolve()):
                raise _refused("E101", f"{copy.as_posix()} is a link that leads outside the folder", "remove the link")
            content = source.read_bytes()
            if not copy.exists():
                contents[copy] = content
            elif copy.read_bytes() != content:
                raise _refused("E601", f"{copy.as_posix()} already exists, with other content", "rename that file")
    _write(contents)
    return list(contents)


def with_shared_names(text: str, benchmark: str) -> str:
    """Return the text of a template with what it takes from its benchmark: format, types, functions, lists and so on.

    They are written below its other keys, or below its own names of that kind.
    """
    root = parse(benchmark, BENCHMARK_FILE)
    own = {key.text: key for key, _ in pairs(parse(text, "template"))}
    if "format" not in own and "sessions" not in own:
        for (key, _), last in zip(
            pairs(root), _ends(root, benchmark) if isinstance(root, Mapping) else (), strict=True
        ):
            if key.text == "format":
                block = benchmark.split("\n")[key.position.line - 1 : last]
                text = "\n".join([text.rstrip("\n"), "", *block, ""])
    shared = {
        (part, key.text): (key.position.line, line_after)
        for part, node in pairs(root)
        if part.text in SHARED and isinstance(node, Mapping) and not node.is_flow
        for (key, _), line_after in zip(node.pairs, _ends(node, benchmark), strict=True)
    }
    lines, used, reached = benchmark.split("\n"), list[tuple[Scalar, str]](), text
    while added := [name for name in shared if name not in used and _names(name[1], reached)]:
        used += added
        reached += "".join("\n".join(lines[first - 1 : last]) for first, last in map(shared.__getitem__, added))
    for part in dict.fromkeys(part.text for part, _ in used):
        block = [line for name in used if name[0].text == part for line in lines[shared[name][0] - 1 : shared[name][1]]]
        if part in own:
            at = own[part].position.line
            text_lines = text.split("\n")
            text = "\n".join([*text_lines[:at], *block, *text_lines[at:]])
        else:
            text = "\n".join([text.rstrip("\n"), "", f"{part}:", *block, ""])
    return text


def _ends(node: Mapping, text: str) -> list[int]:
    """Return the last line of each pair of a block mapping, without comments that belong to the next one."""
    starts = [key.position.line for key, _ in node.pairs]
    lines = text.split("\n")
    end = starts[-1]
    while end < len(lines) and lines[end][:1] in (" ", "#") and lines[end].strip():
        end += 1
    ends = [start - 1 for start in starts[1:]] + [end]
    for place, last in enumerate(ends):
        while lines[last - 1].lstrip().startswith("#") or not lines[last - 1].strip():
            last -= 1
        ends[place] = last
    return ends


def _names(key: str, text: str) -> bool:
    """Return whether a text has the name of a key, which may be followed by its arguments."""
    return re.search(rf"\b{re.escape(key.partition('(')[0])}\b", text) is not None


def _write(contents: dict[Path, bytes]) -> None:
    """Write new files. Raises DiaError if one cannot be written; those that were are deleted then."""
    created: list[Path] = []
    for path, content in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                created.append(path)
                file.write(content)
        except OSError as error:
            for incomplete in created:
                incomplete.unlink(missing_ok=True)
            raise write_error(f"{path.as_posix()} cannot be written", error, "choose another folder") from None


def _refused(code: str, message: str, help: str | None) -> DiaError:
    return DiaError(Diagnostic(code, message, None, help))
