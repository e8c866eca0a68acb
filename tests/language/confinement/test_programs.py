"""Programs in every language, and hostile ones in every sandbox that works here: each is stopped, told, and gone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest
from dia_language.confinement import interpreters, permission, programs, sandboxes
from dia_language.confinement.interpreters import interpreter, version_of
from dia_language.diagnostics import LanguageError
from dia_language.functions.program import LANGUAGES, program, run_elf
from dia_language.workers import heartbeat
from helpers.compilers import compiles
from helpers.sandboxes import working_sandboxes

pytestmark = pytest.mark.spawned

ECHOES = {
    "python": "print('got', input())",
    "c": '#include <stdio.h>\nint main(void) { int n; scanf("%d", &n); printf("got %d\\n", n); return 0; }',
    "javascript": "console.log('got', require('fs').readFileSync(0, 'utf8').trim())",
    "php": "<?php echo 'got ', trim(fgets(STDIN)), PHP_EOL;",
    "perl": "$n = <STDIN>; chomp $n; print \"got $n\\n\";",
    "ruby": "puts \"got #{gets.chomp}\"",
    "bash": "read -r n; echo \"got $n\"",
}  # fmt: skip
# What each language makes of a sum that binary fractions miss, or of a power: known to the languages alone
FACTS = {
    "python": ("print(0.1 + 0.2, 2**100)", "0.30000000000000004 1267650600228229401496703205376"),
    "c": ('#include <stdio.h>\nint main(void) { printf("%d %u", -7 / 2, 3000000000u * 2u); }', "-3 1705032704"),
    "javascript": ("console.log(0.1 + 0.2, [10, 9, 1].sort().join())", "0.30000000000000004 1,10,9"),
    "php": ("<?php var_dump('1e3' == '1000');", "bool(true)"),
    "perl": ("print '10 apples' + 5, ' ', 'a' x 3", "15 aaa"),
    "ruby": ("puts -7 / 2, 'äöü'.upcase", "-4\nÄÖÜ"),
    "bash": ("echo $((-7 / 2)) $((16#ff))", "-3 255"),
    "pari": ("print(znprimroot(101)); print(factor(2^64+1)[,1]~)", "Mod(2, 101)\n[274177, 67280421310721]"),
}


NAMES = [sandbox.name for sandbox in (*sandboxes.SANDBOXES, sandboxes.NO_SANDBOX)]


def in_sandboxes(languages: Iterable[str]) -> pytest.MarkDecorator:
    """Each language in each sandbox: Python in all of them every day, the others in one."""

    def marks(language: str, name: str) -> pytest.MarkDecorator | tuple[()]:
        if language == "python":
            return ()
        if name != "unshare":
            return pytest.mark.long
        return compiles if language == "c" else ()

    return pytest.mark.parametrize(
        ("language", "sandbox"),
        [pytest.param(language, name, marks=marks(language, name)) for language in languages for name in NAMES],
        indirect=["sandbox"],
    )


@pytest.fixture(params=NAMES)
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[sandboxes.Sandbox]:
    """Each sandbox in turn, permitted."""
    sandbox = {one.name: one for one in (*working_sandboxes(), sandboxes.NO_SANDBOX)}.get(request.param)
    if sandbox is None:
        pytest.skip(f"{request.param} does not work here")
    monkeypatch.setattr(programs, "chosen", lambda word: sandbox)
    with permitted("unconfined"):
        yield sandbox


@pytest.fixture
def locked(sandbox: sandboxes.Sandbox) -> sandboxes.Sandbox:
    """Each sandbox that locks in."""
    if sandbox is sandboxes.NO_SANDBOX:
        pytest.skip("nothing is locked in")
    return sandbox


@pytest.fixture
def allowed() -> Iterator[None]:
    """Permission, and a machine that can confine."""
    if sandboxes.confinement() is None:
        pytest.skip("no sandbox is available")
    with permitted("confined"):
        yield


@contextmanager
def permitted(word: str) -> Iterator[None]:
    """Permission as long as the test takes."""
    permission.permit(word)
    try:
        yield
    finally:
        permission.permit(permission.NO)
        permission.used()


def needs(language: str) -> None:
    """Skips where the language's interpreter is missing."""
    if interpreter(language) is None:
        pytest.skip(f"no interpreter of {language}")


def refusal(language: str, source: str | bytes, given: str = "") -> str:
    """The message that a program is refused or stopped with."""
    with pytest.raises(LanguageError) as caught:
        program(language, source, given)
    return caught.value.message


# What programs say


@in_sandboxes(ECHOES)
def test_a_program_reads_its_input_and_prints(language: str, sandbox: sandboxes.Sandbox) -> None:
    needs(language)
    assert program(language, ECHOES[language], "41\n") == "got 41"
    assert permission.used() == {language: version_of(language), "confinement": sandbox.name}


@pytest.mark.parametrize("language", [pytest.param(name, marks=compiles if name == "c" else ()) for name in FACTS])
@pytest.mark.usefixtures("allowed")
def test_a_program_says_what_its_language_holds(language: str) -> None:
    needs(language)
    source, said = FACTS[language]
    assert program(language, source) == said


@pytest.mark.usefixtures("allowed")
def test_one_last_newline_goes() -> None:
    assert program("python", "print('a\\n')") == "a\n"
    assert program("python", "print('a', end='')") == "a"
    assert program("python", "") == ""


@pytest.mark.usefixtures("allowed")
def test_text_goes_in_and_out_as_utf8() -> None:
    assert program("python", "print(input()[::-1])", "žluť🐎") == "🐎ťulž"
    assert program("python", "import sys; print(len(sys.stdin.read()))", "x" * 900_000) == "900000"


@compiles
def test_an_elf_program_runs(sandbox: sandboxes.Sandbox, tmp_path: Path) -> None:
    needs("c")
    source = tmp_path / "a.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts(getchar() == 53 ? "yes" : "no"); }', encoding="utf-8")
    compiler = interpreter("c")
    assert compiler is not None
    command = [compiler, *(programs.ZIG if compiler.name == "zig" else [])]
    subprocess.run([*command, "-o", tmp_path / "a", source], check=True, capture_output=True)
    binary = (tmp_path / "a").read_bytes()
    assert (run_elf(binary, "5"), program("elf", binary, "6")) == ("yes", "no")


# Failures

NO_C = "the C program cannot be compiled: main.c:1:"  # followed by the words of gcc, or those of zig


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    ("language", "source", "message"),
    [
        ("python", "import sys; sys.exit(3)", "the program ended with exit code 3"),
        ("python", "1 / 0", "the program ended with exit code 1: ZeroDivisionError: division by zero (line 1 of the program)"),
        ("python", "def f():\n    return 1 / 0\nf()", "the program ended with exit code 1: ZeroDivisionError: division by zero (line 2"),
        ("python", "\nif x\n    y", "the program ended with exit code 1: SyntaxError: expected ':' (line 2 of the program)"),
        ("python", "import os; os.kill(os.getpid(), 11)", "the program ended with signal SIGSEGV"),
        ("perl", "die 'no way'", "the program ended with exit code 255: no way at main.pl line 1."),
        ("php", "<?php nothing(", "the program ended with exit code 255: Parse error:"),
        ("ruby", "raise 'bad'", "the program ended with exit code 1: main.rb:1:in `<main>': bad (RuntimeError)"),
        ("javascript", "x.y", "the program ended with exit code 1: ReferenceError: x is not defined"),
        ("bash", "cat /etc/passwd", "the program ended with exit code 127: main.sh: line 1: cat: command not found"),
        ("pari", 'error("bad")', "the program ended with exit code 1: at top-level: error"),
        pytest.param("c", "int main(void) { return x; }", (NO_C + "25: error: 'x' undeclared", NO_C + "25: error: use of undeclared identifier 'x'"), marks=compiles),
        pytest.param("c", '#include "/etc/passwd"', (NO_C + "10: fatal error: /etc/passwd: No", NO_C + "10: fatal error: '/etc/passwd' file not found"), marks=compiles),
        pytest.param("c", "int main(void) { return *(int *)8; }", "the program ended with signal SIGSEGV", marks=compiles),
        ("python", "import os; os.write(1, b'\\xff')", "the program's output is not UTF-8"),
        ("elf", b"\x7fELF" + bytes(60), "the program ended with exit code"),
    ],
)  # fmt: skip
def test_a_failure_is_told(language: str, source: str | bytes, message: str | tuple[str, ...]) -> None:
    if language != "elf":
        needs(language)
    assert refusal(language, source).replace("‘", "'").replace("’", "'").startswith(message)


@pytest.mark.slow
def test_the_compiler_of_the_extra_serves_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, sandbox: sandboxes.Sandbox
) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setitem(interpreters.LANGUAGES, "c", replace(interpreters.LANGUAGES["c"], commands=("no-compiler",)))
    interpreters.interpreter.cache_clear()
    programs._compiled.cache_clear()
    try:
        assert program("c", '#include <stdio.h>\n#include <math.h>\nint main() { printf("%.3f", sqrt(2)); }') == "1.414"
        monkeypatch.setattr(heartbeat, "seconds_left", lambda: 1.0)
        assert refusal("c", "int main() { return 0; }").startswith("the C program cannot be compiled: the compiler ran")
    finally:
        interpreters.interpreter.cache_clear()
        programs._compiled.cache_clear()


def test_a_missing_interpreter_is_told_with_its_mend(
    monkeypatch: pytest.MonkeyPatch, sandbox: sandboxes.Sandbox
) -> None:
    monkeypatch.setattr(interpreters, "interpreter", lambda name: None)
    with pytest.raises(LanguageError, match="`php` is not installed, so php cannot run") as caught:
        program("php", "<?php")
    assert caught.value.help == "install the package `php-cli`"
    assert refusal("c", "int main;").startswith("no C compiler found: neither gcc, cc, clang nor the extra")


def test_arguments_are_looked_at() -> None:
    assert refusal("rubi", "") == "programs in `rubi` are not supported"
    assert refusal("elf", "text") == "the source of a program in elf must be the bytes of a file"
    assert refusal("php", b"<?php") == "the source of a program in php must be a text"


def test_every_language_of_the_function_is_known() -> None:
    assert tuple(interpreters.LANGUAGES) == LANGUAGES


# The process layout, which is the same in every sandbox

SIGNALS_TO_ITSELF = {
    "python": "import os, signal; os.kill(os.getpid(), signal.SIGTERM); print('alive')",
    "c": "#include <signal.h>\n#include <unistd.h>\nint main(void) { kill(getpid(), SIGTERM); return 0; }",
    "javascript": "process.kill(process.pid, 'SIGTERM'); setTimeout(() => console.log('alive'), 2000)",
    "perl": "kill 'TERM', $$; print 'alive'",
    "ruby": "Process.kill('TERM', Process.pid); sleep 1; puts 'alive'",
    "bash": "kill -TERM $$; echo alive",
}
ABORTS = {
    "python": "import os; os.abort()",
    "c": "#include <stdlib.h>\nint main(void) { abort(); }",
    "javascript": "process.abort()",
    "perl": "use POSIX; POSIX::abort()",
    "ruby": "Process.kill('ABRT', Process.pid); sleep 1",
    "bash": "kill -ABRT $$",
}
NUMBERS = {
    "python": "import os; print(os.getpid())",
    "c": '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%d", getpid()); }',
    "javascript": "console.log(process.pid)",
    "php": "<?php echo getmypid();",
    "perl": "print $$",
    "ruby": "puts Process.pid",
    "bash": "echo $$",
}
CODES = {
    "python": "import sys; sys.exit(77)",
    "c": "int main(void) { return 77; }",
    "javascript": "process.exit(77)",
    "php": "<?php exit(77);",
    "perl": "exit 77",
    "ruby": "exit 77",
    "bash": "exit 77",
}


@in_sandboxes(SIGNALS_TO_ITSELF)
def test_a_signal_to_itself_ends_a_program(language: str, sandbox: sandboxes.Sandbox) -> None:
    needs(language)
    assert refusal(language, SIGNALS_TO_ITSELF[language]) == "the program ended with signal SIGTERM"


@in_sandboxes(ABORTS)
def test_a_program_aborts_with_the_signal_for_it(language: str, sandbox: sandboxes.Sandbox) -> None:
    needs(language)
    assert refusal(language, ABORTS[language]).startswith("the program ended with signal SIGABRT")


@in_sandboxes(CODES)
def test_the_exit_code_is_passed_on(language: str, sandbox: sandboxes.Sandbox) -> None:
    needs(language)
    assert refusal(language, CODES[language]).startswith("the program ended with exit code 77")


@in_sandboxes(NUMBERS)
def test_a_program_is_process_2_below_an_init_process(language: str, locked: sandboxes.Sandbox) -> None:
    needs(language)
    assert program(language, NUMBERS[language]) == "2"


def test_process_1_reaps_orphans_and_is_deaf_to_the_program(locked: sandboxes.Sandbox) -> None:
    source = (
        "import os, signal, time\nr, w = os.pipe()\nfor n in (1, 2, 9, 15, 17, 19): os.kill(1, n)\n"
        "child = os.fork()\nif child == 0:\n  if os.fork(): os._exit(0)\n"
        "  while os.getppid() != 1: time.sleep(.001)\n  os.write(w, b'adopted'); os._exit(0)\n"
        "os.waitpid(child, 0)\nprint(child, os.read(r, 9).decode(), os.getpgid(0), os.getsid(0))\n"
        "for _ in range(2000):\n  try: os.kill(child + 1, 0)\n  except ProcessLookupError: print('reaped'); break\n"
        "  time.sleep(.001)"
    )
    assert program("python", source) == "3 adopted 1 1\nreaped"


def test_what_a_program_sees_does_not_tell_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "import os, resource, signal, socket\nos.umask(0)\n"
        "print(sorted(os.environ.items()), os.getcwd(), os.umask(0), os.nice(0), os.uname().nodename, os.getuid(), os.getgid())\n"
        "print([resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith('RLIMIT_')])\n"
        "print(signal.pthread_sigmask(0, []), [n for n in range(1, 32) if signal.getsignal(n) != signal.SIG_DFL])\n"
        "print(os.listdir('/'), os.listdir('/dev'), os.stat('/').st_mode, os.stat('/program').st_uid, socket.if_nameindex())\n"
        "def is_open(n):\n  try: return bool(os.fstat(n))\n  except OSError: return False\n"
        "print([n for n in range(64) if is_open(n)])\n"
        "with socket.create_server(('127.0.0.1', 0)) as s: socket.create_connection(s.getsockname()); print('itself')"
    )
    seen = {}
    with permitted("confined"):
        for sandbox in working_sandboxes():
            monkeypatch.setattr(programs, "chosen", lambda word, sandbox=sandbox: sandbox)
            seen[sandbox.name] = program("python", source)
    if not seen:
        pytest.skip("no sandbox is available")
    assert len(set(seen.values())) == 1 and all(text.endswith("itself") for text in seen.values()), seen


@pytest.mark.parametrize(
    "source", [b"\x7fELF" + bytes(60), b"#!/no/interpreter\n"], ids=["no program", "no interpreter"]
)
def test_what_the_kernel_does_not_run_is_told_alike(source: bytes, sandbox: sandboxes.Sandbox) -> None:
    assert refusal("elf", source) == "the program ended with exit code 126: main cannot be executed"


# Permission


def test_nothing_runs_without_permission() -> None:
    with pytest.raises(LanguageError, match="programs are not allowed here") as caught:
        program("python", "print(1)")
    assert caught.value.code == "E314"


def test_where_nothing_confines_it_must_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "confinement", lambda: None)
    with pytest.raises(LanguageError, match="no sandbox is available") as caught:
        sandboxes.chosen(permission.CONFINED)
    assert "--allow-programs=unconfined" in (caught.value.help or "")
    assert sandboxes.chosen(permission.UNCONFINED) is sandboxes.NO_SANDBOX


# What sandboxes keep in


def test_no_socket_reaches_out(locked: sandboxes.Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        assert "Network is unreachable" in refusal("python", source) or "refused" in refusal("python", source)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_no_file_of_the_user_is_there(locked: sandboxes.Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret", encoding="utf-8")
    for path in (secret, Path.home() / ".bashrc", Path("/etc/passwd"), Path("/proc/self/environ"), Path(__file__)):
        assert "No such file" in refusal("python", f"open({str(path)!r}).read()"), path
    seen = program("python", "import os; print(os.listdir('/'))")
    assert not {"home", "root", "proc", "tmp", "work", "var", "sys"} & set(__import__("ast").literal_eval(seen)) - {
        part.parts[1] for part in [interpreter("python") or Path("/x/y")]
    }


def test_nothing_can_be_changed(locked: sandboxes.Sandbox) -> None:
    for path in ("/program/file", "/file", "/dev/shm/file", f"{Path(sys.executable).resolve().parent}/file"):
        assert "Error" in refusal("python", f"open({path!r}, 'w')"), path
    library = Path(os.__file__).resolve()
    before = library.stat().st_mtime_ns
    for act in ("os.unlink(p)", "os.chmod(p, 0)", "os.rename(p, p + 'x')", "os.truncate(p, 0)", "os.utime(p)"):
        assert "Error" in refusal("python", f"import os; p = {str(library)!r}; {act}")
    assert library.stat().st_mtime_ns == before


def test_environment_and_other_processes_are_hidden(locked: sandboxes.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "s3cret")
    source = "import os; print({n for n in os.environ if n not in ('PWD', 'SHLVL', '_', 'OLDPWD', 'LC_CTYPE')}, os.getpid() < 10)"
    assert program("python", source) == "set() True"
    assert "ProcessLookupError" in refusal("python", f"import os; os.kill({os.getpid()}, 0)")


@pytest.mark.long
def test_no_right_is_left(locked: sandboxes.Sandbox) -> None:
    if interpreter("c") is None:
        pytest.skip("no C compiler")
    source = (
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/mount.h>\n#include <unistd.h>\n#include <errno.h>\n"
        'int main(void) { int a = mount("none", "/program", "tmpfs", 0, ""), b = chroot("/program"), '
        'c = mount("", "/program", "", MS_REMOUNT | MS_BIND, ""), d = sethostname("x", 1); '
        'printf("%d %d %d %d", a, b, c, d); return 0; }'
    )
    assert program("c", source) == "-1 -1 -1 -1"


@pytest.mark.long
def test_no_memory_is_kept_that_belongs_to_no_process(locked: sandboxes.Sandbox) -> None:
    needs("c")
    source = (
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/shm.h>\n#include <sys/msg.h>\n#include <sys/mman.h>\n"
        '#include <unistd.h>\n#include <signal.h>\nint main(void) { signal(SIGXFSZ, SIG_IGN); int f = memfd_create("x", 0); '
        'printf("%d %d %d", shmget(IPC_PRIVATE, 1 << 20, 0600), msgget(IPC_PRIVATE, 0600), f < 0 ? -1 : ftruncate(f, 9)); }'
    )
    assert program("c", source) == "-1 -1 -1"


# What limits stop


def programs_of_this_test() -> set[int]:
    """The processes that run a program of this test, or confine one: they name its folder, or have it mounted."""
    own = "/".join(Path(tempfile.gettempdir()).parts[-3:]).encode() + b"/dia-program-"
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and any(own in (entry / name).read_bytes() for name in ("cmdline", "mountinfo")):
                found.add(int(entry.name))
    return found


def assert_gone() -> None:
    """Nothing of the program is left in a while, and no folder either."""
    deadline = monotonic() + 6
    while (left := programs_of_this_test()) and monotonic() < deadline:
        sleep(0.01)
    assert left == set()
    assert list(Path(tempfile.gettempdir()).glob("dia-program-*")) == []


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for temporary files that no other test writes to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


HOSTILE = {
    "forks without end": (
        "import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(30)", "started more than 16 processes",
    ),
    "forks and leaves": (
        "import os, time\nfor _ in range(40):\n  if os.fork() == 0:\n    os.setsid(); time.sleep(30); os._exit(0)\n"
        "time.sleep(30)", "started more than 16 processes",
    ),
    "starts threads": (
        "import threading, time\nthreading.stack_size(32768)\n"
        "for _ in range(400): threading.Thread(target=time.sleep, args=(20,)).start()", "started more than 256 threads",
    ),
    "writes without end": ("while True: print('x' * 10000)", "wrote more than 1 MiB"),
    "complains without end": ("import sys\nwhile True: print('x' * 10000, file=sys.stderr)", "wrote more than 1 MiB"),
    "eats memory": ("x = [bytes(1 << 20) for _ in range(1000)]", "took more than 256 MiB of memory"),
    "eats memory in parts": (
        "import os, time\nfor _ in range(8): os.fork() if os.getpid() else 0\n"
        "x = b'x' * (60 << 20); time.sleep(20)", "",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hungry_program_is_stopped_and_gone(name: str, sandbox: sandboxes.Sandbox) -> None:
    source, message = HOSTILE[name]
    begin = monotonic()
    assert message in refusal("python", source), name
    assert monotonic() - begin < 6
    assert_gone()


@pytest.mark.slow
def test_processes_that_multiply_are_stopped_and_gone(sandbox: sandboxes.Sandbox) -> None:
    if sandbox.name != "bubblewrap":  # on a busy machine thousands would be there before anybody looks
        pytest.skip("only where the sandbox ends them all at once")
    assert "started more than 16 processes" in refusal("python", "import os\nwhile True: os.fork()")
    assert_gone()


@pytest.mark.slow
def test_node_is_bounded_by_watching(sandbox: sandboxes.Sandbox) -> None:
    needs("javascript")
    outside_of_heap = "const held = []; while (true) held.push(Buffer.alloc(1 << 22, 1))"
    assert "took more than 256 MiB" in refusal("javascript", outside_of_heap)
    inside = "const held = []; while (true) held.push(new Array(1 << 20).fill(held.length))"
    assert "took more than 256 MiB" in refusal("javascript", inside)
    assert_gone()


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "while True: pass",
        "import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)",
        "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(60)\ntime.sleep(60)",
        "import os, time\nos.close(0), os.close(1), os.close(2)\ntime.sleep(60)",
    ],
    ids=["sleeps", "spins", "ignores signals", "hides", "closes everything"],
)
def test_a_slow_program_is_stopped_and_gone(source: str, sandbox: sandboxes.Sandbox) -> None:
    begin = monotonic()
    assert refusal("python", source) == "the program ran longer than 5 s"
    assert monotonic() - begin < 20  # of 60 s
    assert_gone()


def test_what_a_quiet_program_leaves_behind_is_gone(sandbox: sandboxes.Sandbox) -> None:
    source = (
        "import os, time\nif os.fork() == 0:\n  os.setsid()\n  os.close(0), os.close(1), os.close(2)\n  time.sleep(60)"
    )
    assert program("python", source) == ""
    assert_gone()


@pytest.mark.slow
def test_nothing_outlives_the_one_who_started_it(sandbox: sandboxes.Sandbox, tmp_path: Path) -> None:
    starter = (
        "import sys\nfrom dia_language.confinement import permission, programs, sandboxes\n"
        "permission.permit('unconfined')\n"
        f"programs.chosen = lambda word: next(w for w in (*sandboxes.SANDBOXES, sandboxes.NO_SANDBOX) if w.name == {sandbox.name!r})\n"
        "programs.output_of('python', b'import time; time.sleep(4)', b'')\n"
    )
    if sandbox is sandboxes.NO_SANDBOX and shutil.which("setpriv") is None:
        pytest.skip("nothing here ends a program with its parent")
    deadline = monotonic() + 10
    with subprocess.Popen([sys.executable, "-c", starter], env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        while not list(tmp_path.glob("dia-program-*/own/main.py")) and monotonic() < deadline:
            sleep(0.01)
        sleep(0.3)
        assert programs_of_this_test()
        process.kill()
    shutil.rmtree(next(tmp_path.glob("dia-program-*")))
    begin = monotonic()
    assert_gone()
    assert monotonic() - begin < 3  # of 4 s that it would have slept


def test_a_program_has_only_what_its_evaluation_has_left(
    monkeypatch: pytest.MonkeyPatch, sandbox: sandboxes.Sandbox
) -> None:
    monkeypatch.setattr(heartbeat, "seconds_left", lambda: 0.5)
    assert refusal("python", "import time; time.sleep(9)").startswith("the program ran longer than 0.4")


def test_two_programs_at_once(allowed: None) -> None:
    said: list[str] = []
    threads = [threading.Thread(target=lambda n=n: said.append(program("python", f"print({n})"))) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["0", "1", "2", "3"]
