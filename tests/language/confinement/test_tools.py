"""Programs of models in every sandbox that works here: they keep files, and hostile ones are contained and reported."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from dia_language.confinement import sandboxes, tools
from dia_language.confinement.tools import ToolFolder, remove_folder, tool_folder
from dia_language.diagnostics import LanguageError
from helpers.sandboxes import working_sandboxes

FILES = {"data/list.txt": b"3\n1\n2\n"}


@pytest.fixture(params=[sandbox.name for sandbox in sandboxes.SANDBOXES])
def folder(request: pytest.FixtureRequest) -> Iterator[ToolFolder]:
    sandbox = {sandbox.name: sandbox for sandbox in working_sandboxes()}.get(request.param)
    if sandbox is None:
        pytest.skip(f"{request.param} does not work here")
    with tool_folder(sandbox, FILES) as opened:
        yield opened
    assert not opened.place.exists()


def printed(run: tools.ToolRun) -> str:
    return (run.output + run.error_output).decode()


def test_programs_share_the_folder(folder: ToolFolder) -> None:
    assert printed(folder.bash("sort -n data/list.txt | tee sorted.txt; exit 3")) == "1\n2\n3\n"
    assert printed(folder.python("print(open('sorted.txt').read().split())")) == "['1', '2', '3']\n"
    assert printed(folder.python("open('module.py', 'w').write('x = 7')\nimport module\nprint(module.x)")) == "7\n"
    assert printed(folder.file("write", "new/note.txt", "größer")) == "wrote 8 bytes\n"
    assert printed(folder.file("list", "")).splitlines() == [
        "data/",
        "module.py (5 bytes)",
        "new/",
        "sorted.txt (6 bytes)",
    ]
    assert printed(folder.file("read", "new/note.txt")) == "größer"
    assert folder.bash("exit 3").code == 3 and "No such file" in printed(folder.file("read", "nothing"))


def test_the_world_outside_cannot_be_read_or_changed(folder: ToolFolder, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    home = Path.home()
    for text in (
        f"cat {secret} {home}/.bashrc {home}/.ssh/* /etc/passwd /etc/shadow",
        "ln -s /etc/passwd link; cat link; ls /proc /home /tmp",
        f"echo gotcha > {secret}; rm -rf {tmp_path}; touch /usr/x /x",
        "env",
    ):
        text = printed(folder.bash(text))
        assert "s3cret" not in text and "root:" not in text and "OPENAI" not in text
    assert secret.read_text() == "s3cret"
    for path in (str(secret), "/etc/passwd", "../../etc/passwd", "link"):
        assert folder.file("read", path).code == 1
    assert folder.file("write", "/usr/lib/x", "1").code == 1
    variables = printed(folder.python("import os; print(sorted(os.environ))"))
    assert set(eval(variables)) <= {"HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_"}


def test_the_network_cannot_be_reached(folder: ToolFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        assert "ConnectionRefusedError" in printed(folder.python(code))
    assert "unreachable" in printed(folder.bash("exec 3<>/dev/tcp/1.1.1.1/80"))


def test_the_parent_cannot_be_killed(folder: ToolFolder) -> None:
    code = f"import os, signal\nfor n in (os.getppid(), {os.getpid()}, 1):\n  try: os.kill(n, 9)\n  except OSError as e: print(e)"
    folder.python(code)
    assert folder.bash("kill -9 -1; echo alive").output == b"alive\n"


def test_endless_output_is_stopped_and_its_beginning_is_kept(folder: ToolFolder) -> None:
    done = folder.bash("yes abc")
    assert (
        done.code == 137
        and done.output.startswith(b"abc\nabc\n")
        and done.stopped == "the program wrote more than 1 MiB"
    )


def test_memory_is_limited(folder: ToolFolder) -> None:
    assert "MemoryError" in printed(folder.python("x = bytearray(10**9)"))


@pytest.mark.slow
def test_memory_of_processes_is_added_up(folder: ToolFolder) -> None:
    folder.seconds = 60.0
    done = folder.bash("for n in 1 2 3; do (x=$(head -c 300000000 /dev/urandom | tr '\\0' x); sleep 50) & done; wait")
    assert done.stopped == "the program took more than 512 MiB of memory"


@pytest.mark.slow
def test_a_fork_bomb_is_stopped(folder: ToolFolder) -> None:
    done = folder.bash("bomb() { bomb | bomb & }; bomb; sleep 9")
    assert done.stopped == "the program started more than 16 processes"
    assert printed(folder.bash("echo next")) == "next\n"


@pytest.mark.slow
def test_what_the_program_leaves_running_ends_with_it(folder: ToolFolder) -> None:
    folder.bash("(sleep 1; echo late > late.txt) > /dev/null 2>&1 < /dev/null & disown; echo done")
    assert printed(folder.bash("sleep 1.2; cat late.txt")).startswith("cat: ")


@pytest.mark.slow
def test_seconds_are_limited(folder: ToolFolder) -> None:
    folder.seconds, begin = 1.0, monotonic()
    done = folder.python("print('begun', flush=True)\nwhile True: pass")
    assert done.output == b"begun\n" and done.stopped == "the program ran longer than 1 s" and monotonic() - begin < 5


HOARDERS = {
    "large files": "for i in $(seq 9); do head -c 15000000 /dev/urandom > f$i; sleep 0.1; done",
    "many files": "for i in $(seq 20000); do : > f$i; done",
    "quick ones": "for i in 1 2 3 4 5; do head -c 15000000 /dev/urandom > f$i; done",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOARDERS)
def test_files_are_limited_and_those_of_the_question_come_back(folder: ToolFolder, name: str) -> None:
    folder.seconds = 60.0
    done = folder.bash(f"rm -r data; {HOARDERS[name]}")
    assert done.stopped is not None and done.stopped.endswith(
        "the folder was emptied, except for the files of the question"
    )
    assert printed(folder.bash("ls; cat data/list.txt")) == "data\n3\n1\n2\n"


def test_deleted_files_that_are_open_count_too(folder: ToolFolder) -> None:
    code = """
import os, time
opened = []
for number in range(8):
    opened.append(open("x", "wb"))
    os.unlink("x")
    opened[-1].write(bytes(15_000_000))
    opened[-1].flush()
time.sleep(9)
"""
    assert folder.python(code).stopped == "the program wrote files of more than 64 MiB"


@pytest.mark.parametrize(
    "code",
    [
        "import os\nfor n in range(1100): os.mkdir('d'); os.chdir('d')",
        "import os\nos.makedirs('a/b')\nos.chmod('a/b', 0); os.chmod('a', 0)",
        "import os\nos.mkfifo('pipe'); os.symlink('/', 'root'); os.symlink('.', 'loop')",
    ],
)
def test_whatever_is_left_is_removed(folder: ToolFolder, code: str) -> None:
    folder.python(code)  # the fixture tests that nothing is left


def test_installed_packages_of_dia_are_hidden(folder: ToolFolder) -> None:
    shown = Path("/usr/share")
    if not any(shown.iterdir()):
        pytest.skip("nothing to hide")
    assert printed(folder.bash("ls /usr/share"))
    folder.hidden = (shown,)
    assert printed(folder.bash("ls /usr/share")) == "" and "Read-only" in printed(folder.bash("touch /usr/share/x"))


@pytest.mark.parametrize("source", ["x" * 100_001, "a\0b"])
def test_a_source_that_no_argument_can_be_is_refused(folder: ToolFolder, source: str) -> None:
    with pytest.raises(LanguageError):
        folder.python(source)
    with pytest.raises(LanguageError):
        folder.file("read", source)


def test_a_missing_bash_is_reported(folder: ToolFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "interpreter", lambda name: None)
    with pytest.raises(LanguageError, match="bash is not installed"):
        folder.bash("true")


def test_a_folder_is_removed_even_without_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(path: Path) -> None:
        raise RecursionError

    monkeypatch.setattr(shutil, "rmtree", too_deep)
    (tmp_path / "a" / "b").mkdir(parents=True)
    remove_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()
