"""What an editor underlines is what `dia check` prints, while a spec is typed from nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run
from helpers.editor import Editor
from helpers.studio import BENCHMARK, SUM

pytestmark = [
    pytest.mark.spawned,
    pytest.mark.skipif(find_spec("pygls") is None, reason="the package pygls is not installed"),
]

# Each edit: the text at whose last occurrence it happens, and what stands there afterwards. "" is the end of the file.
SESSION: list[tuple[str, str]] = [
    ("", "templ"),
    ("templ", "template: wheel\n"),
    ("", "titel: Two wheels\n"),
    ("titel", "title"),
    ("", "params:\n  front"),
    ("front", "front: integer\n"),
    ("front: integer", "front: {type: intger, min: 20"),
    ("min: 20", "min: 20, max: 60}"),
    ("intger", "integer"),
    ("", "  rear: {type: integer, min: 11, maxx: 30}\n"),
    ("maxx", "max"),
    ("", "let:\n  ratio: front /\n"),
    ("front /", "front / raer"),
    ("raer", "rear"),
    ("", "where: gcd(front, rear) == 1)\n"),
    ("== 1)", "== 1"),
    ("", "answer: {value: ratio, type: integr}\n"),
    ("integr", "rational"),
    ("", "checks:\n  - answer * rear == front\n  - answr > 0\n"),
    ("answr", "answer"),
    ("- answer > 0", "- answer: > 0"),
    ("- answer: > 0", "- numerator(answer) = front"),
    ("= front\n", "== rear\n"),
    ("== rear", "== front"),
    ("", "prompt: {{ front }} teeth\n"),
    (
        "prompt: {{ front }} teeth\n",
        "prompt: |\n  A chain runs over {{ front }} teeth in front and {{ rera }} behind.\n",
    ),
    ("rera", "rear"),
    ("behind.", "behind. {% if front > 40 %}It is long."),
    ("It is long.", "It is long.{% endif %}"),
    ("", "mistakes: {upside_down: rear / front, same: front / rear}\n"),
    (", same: front / rear", ""),
    ("", "examples:\n  - params: {front: 44, rear: 15}\n    answer: = 44/16\n"),
    ("44/16", "44/15"),
    ("", "    accepts: [= 44/15]\n    rejects: [2]\n    repleis: {correct: no}\n"),
    ("    repleis: {correct: no}\n", ""),
    ("answer: {value", "format: {kind: boxd}\nanswer: {value"),
    ("boxd", "boxed"),
    ("title: Two wheels", 'title: "Two wheels'),
    ('title: "Two wheels', "title: Two wheels 🚲"),
    ("max: 30", "max: 30, where: it % 2"),
    (", where: it % 2", ", where: it % 2 == 1"),
    ("", "explanation: '{{ front }} : {{ rear }} = {{ answer }}'\n"),
]
PAUSES = (8, 24)  # edits after which the author waits for the check


def edited(text: str, place: str, new: str) -> str:
    """Return the text after an edit."""
    if not place:
        return text + new
    assert place in text
    before, _, after = text.rpartition(place)
    return before + new + after


def printed(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What `dia check` prints about a file, in its order."""
    capsys.readouterr()
    run(["check", str(path), "--format", "json", "--jobs", "1"])
    entries = json.loads(capsys.readouterr().out)["diagnostics"]
    return [entry for entry in entries if entry["path"] in (None, str(path))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    return tmp_path


@pytest.fixture
def editor(folder: Path) -> Iterator[Editor]:
    editor = Editor(folder)
    yield editor
    assert editor.end() == 0


def type_session(
    editor: Editor, path: Path, capsys: pytest.CaptureFixture[str], pauses: range | tuple[int, ...]
) -> None:
    """Type the recorded session; after each pause the squiggles equal what `dia check` prints for the saved file."""
    text = ""
    editor.show(path, text)
    for number, (place, new) in enumerate(SESSION):
        text = edited(text, place, new)
        editor.show(path, text)
        if number in pauses or number == len(SESSION) - 1:
            diagnostics = [entry["data"] for entry in editor.wait(path)]
            path.write_text(text, encoding="utf-8")
            assert diagnostics == printed(path, capsys), text
    assert diagnostics == [], text


def test_a_typed_spec_shows_what_dia_check_prints(
    editor: Editor, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(SESSION) >= 40
    type_session(editor, folder / "wheel.yaml", capsys, PAUSES)


@pytest.mark.slow
def test_each_edit_shows_what_dia_check_prints(
    editor: Editor, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    type_session(editor, folder / "wheel.yaml", capsys, range(len(SESSION)))


@pytest.mark.long
def test_diagnostics_follow_other_files_and_vanish(editor: Editor, folder: Path) -> None:
    path, benchmark = folder / "sums.yaml", folder / "benchmark.yaml"
    editor.show(path, SUM.replace("{{ b }}", "🚲 {{ many(b) }}"))
    (unknown,) = editor.wait(path)
    assert unknown["code"] == "E304"
    line = editor.texts[path].split("\n")[unknown["range"]["start"]["line"]].encode("utf-16-le")
    start, end = (2 * unknown["range"][side]["character"] for side in ("start", "end"))
    assert line[start:end].decode("utf-16-le") == "many"
    editor.show(benchmark, BENCHMARK + "functions: {many(n): 3 * n}\n")  # in the editor alone
    editor.wait_until(lambda: editor.diagnostics[path] == [])
    editor.show(benchmark, BENCHMARK + "functions: {many(n): 3 *}\n")
    editor.wait_until(lambda: [entry["code"] for entry in editor.diagnostics.get(benchmark, ())] == ["E301"])
    editor.close(path)
    editor.wait_until(lambda: editor.diagnostics[path] == [])


@pytest.mark.long
def test_yaml_files_of_other_programs_are_left_alone(editor: Editor, folder: Path) -> None:
    outside = folder.parent / f"{folder.name}.yaml"  # in no folder with a benchmark.yaml
    editor.show(outside, "on: push\n")
    assert editor.ask("textDocument/hover", editor.at(outside, 1)) is None
    editor.show(outside, "template: lost\n")
    assert [entry["code"] for entry in editor.wait(outside, checks=1)] == ["E101"]
    editor.show(outside, "on: push\n")
    editor.wait_until(lambda: editor.diagnostics[outside] == [])


@pytest.mark.long
def test_a_slow_check_gives_way_to_the_next_change(editor: Editor, folder: Path) -> None:
    path = folder / "sums.yaml"
    slow = SUM.replace("value: a + b", "value: 'a + b + 0 * length([n for n in range(10**7)])'")
    editor.show(path, slow + "limits: {seconds: 300, steps: 100000000}\n")
    assert editor.wait(path, checks=1) == []
    editor.show(path, SUM + "limits: {seconds: 300, steps: 100000000}\n")
    assert editor.wait(path) == []


def test_without_pygls_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "dia_compiler.authoring.editor.server", raising=False)
    for name in ["pygls", *(name for name in sys.modules if name.startswith("pygls."))]:
        monkeypatch.setitem(sys.modules, name, None)  # imported by other tests, and now as if it were not installed
    assert run(["lsp"]) == 2
    printed = capsys.readouterr().err
    assert "E606" in printed and "[editor]" in printed
