"""Variables of the product say what they hold: none is a mere participle."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import CodeType

PRODUCT = [path for top in ("runtime", "compiler") for path in (Path(__file__).parents[1] / top).rglob("*.py")]
EMPTY = frozenset(
    [
        "held",
        "found",
        "told",
        "said",
        "made",
        "given",
        "taken",
        "kept",
        "known",
        "seen",
        "got",
        "asked",
        "wanted",
        "meant",
        "shown",
        "sought",
        "spoken",
        "heard",
        "brought",
        "lent",
        "laid",
        "put",
        "come",
        "gone",
        "begun",
    ]
)
WORD = re.compile(rf"\b(?:{'|'.join(EMPTY)})\b")
IN_THE_LANGUAGE = {("aes_candidates", "known")}  # the name of an argument in specs


def empty_names(path: Path) -> list[str]:
    """The local variables and parameters of a file that say nothing; fields may be keys of JSON, and stay."""
    found_names: list[str] = []
    text = path.read_text(encoding="utf-8")
    if not WORD.search(text) or not EMPTY & locals_of(compile(text, path, "exec", dont_inherit=True)):
        return found_names  # mostly: the tree takes twice as long as the code
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                name = node.arg if isinstance(node, ast.arg) else ""
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    name = node.id
                if name in EMPTY and (function.name, name) not in IN_THE_LANGUAGE:
                    found_names.append(f"{path.name}:{node.lineno} {name}")
    return found_names


def locals_of(code: CodeType) -> set[str]:
    """All local names in it and in what stands in it, also those of functions and imports."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_varnames, *code.co_cellvars}.union(*map(locals_of, inner))


def test_no_variable_is_a_mere_participle() -> None:
    assert len(PRODUCT) > 500
    assert [name for path in PRODUCT for name in empty_names(path)] == []
