"""Sources that are hard to read, against the Python interpreter and its tokenizer."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tokenize

from dia_language.diagnostics import LanguageError
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

TEXTS = [
    "", "\x01", "a", "Hello, World!", "print('abc')", "it's \\ %c %% \"", "\n\t\r", "zażółć gęślą jaźń", "\U0001f600\U0010ffff",
    "".join(map(chr, range(1, 128))), "\ud7ff\ue000", "x" * 2000,
]  # fmt: skip
ASK = "import json, sys; print(json.dumps([eval(code) for code in json.load(sys.stdin)]))"
SOURCE = '''def total(n, seen=None):
    """Adds n."""
    n_2 = n * 2
    return {"n": n, 'total': n_2, "it's": "a \\" n"}
print(total(3), len('total'))
'''
NAMES = st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True), unique=True, max_size=4)


def test_python_reads_what_to_pyfuck_writes() -> None:
    written = [call("to_pyfuck", text) for text in TEXTS]
    assert set("".join(written)) == set("'%c(1+,)")
    asked = subprocess.run(
        [sys.executable, "-I", "-c", ASK], input=json.dumps(written), capture_output=True, text=True, check=True
    )
    assert json.loads(asked.stdout) == TEXTS
    assert [call("from_pyfuck", expression) for expression in written] == TEXTS


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_pyfuck_comes_back(text: str) -> None:
    written = call("to_pyfuck", text)
    assert eval(written, {"__builtins__": {}}) == text == call("from_pyfuck", written)


def test_what_is_no_pyfuck_is_refused() -> None:
    for wrong in [
        "",
        "1",
        "'%c'",
        "'%c'%()",
        "''%(1)",
        "'%c%c'%(1)",
        "'%c'%(1,1)",
        "'%c'%(1+)",
        "'%c'%(2)",
        "'%c'%(1,)",
    ]:
        assert code("from_pyfuck", wrong) == "E501"
    assert code("from_pyfuck", "'%c'%(1111111+1111111)") == code("from_pyfuck", f"'%c'%({'1' * 9999})") == "E501"
    assert code("from_pyfuck", f"'%c'%({'+'.join(['11111'] * 5)})") == "E501"
    assert code("to_pyfuck", "x" * 2001) == "E502"
    assert code("to_pyfuck", "\0") == "E501"


def tokens(source: str) -> list[str]:
    return [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)]


def test_names_are_replaced_where_the_tokenizer_sees_them() -> None:
    old, new = ["total", "n", "n_2", "seen"], ["l1", "lI", "seen", "Il"]
    changed = call("renamed", SOURCE, old, new)
    names = dict(zip(old, new, strict=True))
    assert tokens(changed) == [names.get(token, token) for token in tokens(SOURCE)]
    assert call("renamed", changed, new, old) == SOURCE


@given(st.text("ab_ '\"\\\n=1", max_size=40), NAMES, NAMES)
def test_renaming_goes_back(source: str, old: list[str], new: list[str]) -> None:
    old, new = old[: len(new)], new[: len(old)]
    try:
        changed = call("renamed", source, old, new)
    except LanguageError as error:
        assert error.code == "E501" and any(name in source for name in new)
    else:
        assert call("renamed", changed, new, old) == source


def test_names_that_cannot_be_are_refused() -> None:
    wrong = [(["a"], []), (["a", "a"], ["b", "c"]), (["a", "b"], ["c", "c"]), (["1"], ["b"]), (["a"], ["b c"])]
    assert {code("renamed", "a = b", old, new) for old, new in wrong} == {"E501"}
    assert code("renamed", "a = b", ["a"], ["b"]) == "E501"
    assert call("renamed", "a = b", ["a", "b"], ["b", "a"]) == "b = a"
    assert code("renamed", "a " * 400_000, ["a"], ["b" * 10]) == "E502"


def test_hostile_quotes_take_no_time() -> None:
    source = "'\\" * 300_000 + '"' * 300_001
    assert call("renamed", source, ["a"], ["b"]) == source
