"""Programs as expressions call them: the same program of ten lines in several languages gives what Python computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dia_language.confinement import permission
from dia_language.confinement.interpreters import interpreter
from dia_language.confinement.sandboxes import confinement
from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.expressions import compile_expression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import PlainSource, parse
from dia_language.functions import library
from helpers.compilers import compiles

COLLATZ = {
    "python": "n, k = int(input()), 0\nwhile n != 1:\n  n, k = (n // 2 if n % 2 == 0 else 3 * n + 1), k + 1\nprint(k)",
    "c": '#include <stdio.h>\nint main(void){long n;int k=0;scanf("%ld",&n);while(n!=1){n=n%2?3*n+1:n/2;k++;}printf("%d\\n",k);}',
    "javascript": "let n = +require('fs').readFileSync(0, 'utf8'), k = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++ } console.log(k)",
    "php": "<?php $n = (int) fgets(STDIN); $k = 0; while ($n != 1) { $n = $n % 2 ? 3 * $n + 1 : intdiv($n, 2); $k++; } echo $k;",
    "perl": "$n = <STDIN>; while ($n != 1) { $n = $n % 2 ? 3 * $n + 1 : $n / 2; $k++ } print $k + 0",
    "ruby": "n, k = gets.to_i, 0; (n = n.even? ? n / 2 : 3 * n + 1; k += 1) while n != 1; puts k",
    "bash": "read n; k=0; while ((n != 1)); do ((n % 2)) && n=$((3 * n + 1)) || n=$((n / 2)); k=$((k + 1)); done; echo $k",
}  # fmt: skip


@pytest.fixture
def allowed() -> Iterator[None]:
    if confinement() is None:
        pytest.skip("nothing here can confine a program")
    permission.permit(permission.CONFINED)
    yield
    permission.permit(permission.NO)
    permission.used()


def steps(n: int) -> int:
    """The steps of the Collatz walk from n to 1."""
    return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("language", [pytest.param(name, marks=compiles if name == "c" else ()) for name in COLLATZ])
def test_the_same_walk_in_every_language(language: str) -> None:
    if interpreter(language) is None:
        pytest.skip(f"no interpreter of {language}")
    run = library()["program"].call
    assert [run(language, COLLATZ[language], f"{n}\n") for n in (1, 27, 97)] == [str(steps(n)) for n in (1, 27, 97)]


@pytest.mark.usefixtures("allowed")
def test_an_expression_runs_a_program() -> None:
    code = compile_expression(parse(PlainSource("[program('python', f'print({n}**2)') for n in [3, 4]]")), Namespace())
    assert code({}) == ["9", "16"]
    with pytest.raises(DiaError, match="the program ended with exit code 7"):
        compile_expression(parse(PlainSource("program('python', 'import sys; sys.exit(7)')")), Namespace())({})


def test_arguments_are_checked() -> None:
    with pytest.raises(LanguageError, match="`program` needs text or bytes as `source`"):
        library()["program"].call("python", 42)
    with pytest.raises(LanguageError, match="the bytes are not an ELF program"):
        library()["run_elf"].call(b"MZ")
    with pytest.raises(LanguageError, match="programs are not allowed here"):
        library()["run_elf"].call(b"\x7fELF")
    with pytest.raises(LanguageError, match="the program is larger than 8 MiB"):
        library()["run_elf"].call(b"\x7fELF" + bytes(8 << 20))
