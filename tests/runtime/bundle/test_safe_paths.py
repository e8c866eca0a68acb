"""A pipe or a device is never replaced by a result, even where that is forced: `-o /dev/null` must leave it there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from dia_compiler.explore.search import put
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.atomic_output import atomic_file, atomic_folder
from dia_runtime.bundle.safe_paths import refuse_special_file
from dia_runtime.integrations.importing.tables import publishing
from dia_runtime.report.page.write import replaced
from dia_runtime.store.store import open_store

Act = Callable[[Path], object]


def begun(manager: Callable[..., object], *more: object) -> Act:
    """What enters the manager that makes something at a place."""

    def enter(place: Path) -> None:
        with manager(place, *more):  # type: ignore[attr-defined]
            pass

    return enter


@pytest.mark.parametrize(
    "act",
    [
        begun(atomic_file, True),
        begun(atomic_folder, True),
        begun(publishing, True),
        begun(replaced),
        lambda place: put(place, "text"),
        lambda place: open_store(place, "0" * 64),
    ],
    ids=["file", "folder", "import", "report", "search", "run"],
)
def test_nothing_takes_the_place_of_a_pipe(act: Act, tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with pytest.raises(DiaError) as caught:
        act(place)
    assert caught.value.diagnostics[0].code == "E601" and caught.value.exit_code == 2
    assert stat.S_ISFIFO(place.stat().st_mode) and [entry.name for entry in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(
    "words",
    [
        "run {bundle} --model oracle -o {pipe}",
        "export {bundle} --to dia-bench --force -o {pipe}",
        "pack {bundle} --force -o {pipe}",
    ],
)
def test_commands_leave_a_pipe_where_it_is(words: str, tiny: Callable[[], Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    name, *arguments = words.format(bundle=tiny(), pipe=pipe).split()
    with pytest.raises(DiaError, match="neither a file nor a folder"):
        import_module(f"dia_runtime.commands.{name}").command.main(arguments, standalone_mode=False)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_among_the_devices_stays(tmp_path: Path) -> None:
    link = Path("/dev/stdout")
    if not link.is_symlink():
        pytest.skip("no /dev/stdout")
    with pytest.raises(DiaError, match="neither a file nor a folder"):
        refuse_special_file(link)
    refuse_special_file(tmp_path / "new")
