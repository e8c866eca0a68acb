"""The examples in the docstrings of library functions: their values, as the docs show them."""

from __future__ import annotations

import importlib.util
import json
import platform
import textwrap

import pytest
from dia_language.budgets import reset
from dia_language.confinement import permission
from dia_language.confinement.interpreters import interpreter
from dia_language.confinement.sandboxes import confinement
from dia_language.expressions.expressions import compile_expression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import PlainSource, parse
from dia_language.functions import library
from dia_language.numbers.values import Entry, Record, Value, plain

# The example of `name_of` uses a parameter that has drawn an entry
SCOPE = {"step": Entry("edit", "reverse", Record())}
PROGRAMS = {"program": ("python", "bash"), "run_elf": ()}
MODULES = {"pdf_text": "pypdf", "pdf_info": "pypdf", "read_text": "PIL"}
EXAMPLES = [(name, *example) for name, function in sorted(library().items()) for example in function.examples]


def shown(value: Value) -> str:
    """The value as the docs show it: printed as by the language, text in quotes."""
    if not isinstance(value, str):
        return plain(value)
    literal = json.dumps(value, ensure_ascii=False)
    return f"'{value}'" if literal.count("\\") == value.count('"') > 0 and "'" not in value else literal


def evaluated(text: str) -> Value:
    """The value of an expression, with a fresh budget."""
    reset()
    return compile_expression(parse(PlainSource(text)), Namespace())(SCOPE)


def needs(name: str) -> None:
    """Skip the test if this machine lacks what the function needs."""
    if name in MODULES and importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"`{name}` needs {MODULES[name]}")
    if name in PROGRAMS:
        if confinement() is None:
            pytest.skip("no sandbox on this machine")
        if not all(map(interpreter, PROGRAMS[name])) or (name == "run_elf" and platform.machine() != "x86_64"):
            pytest.skip(f"`{name}` cannot run its example on this machine")
        permission.permit(permission.CONFINED)


def spec(examples: list[tuple[str, str, str]]) -> str:
    """A template whose checks compare each example with its result."""
    checks = "".join(
        "  - |\n"
        + textwrap.indent(f"str(\n{call}\n) == {json.dumps(plain(evaluated(call)), ensure_ascii=False)}", "    ")
        + "\n"
        for _, call, _ in examples
    )
    return f"""\
template: examples
title: Examples of functions
catalogs:
  edit:
    faces: {{apply(s): expression}}
    entries:
      reverse: {{apply: reverse(s)}}
params:
  step: {{type: entry, of: edit}}
  n: {{type: integer, min: 1, max: 1000000}}
answer: {{value: n, type: integer}}
checks:
{checks}
prompt: "{{{{ n }}}}"
"""
