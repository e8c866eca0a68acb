"""What is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError


def failure(action: Callable[[], Any]) -> DiaError:
    """The error that an action raises."""
    with pytest.raises(DiaError) as caught:
        action()
    return caught.value


def require_error(error: DiaError, code: str, words: str, exit_code: int = 2) -> None:
    """Requires that the first diagnostic has this code, and these words in its message or help."""
    first = error.diagnostics[0]
    assert (first.code, error.exit_code) == (code, exit_code), first
    assert words in f"{first.message}\n  help: {first.help}", first


def refusal(code: str, words: str, action: Callable[[], Any], exit_code: int = 2) -> DiaError:
    """The error that an action raises: with this code and exit code, and with these words in its message or help."""
    error = failure(action)
    require_error(error, code, words, exit_code)
    return error


def refused_call(
    code: str, words: str, capsys: pytest.CaptureFixture[str], *arguments: object, exit_code: int = 2
) -> str:
    """What `dia ARGUMENTS` writes to standard error: this code and these words; it exits with this exit code."""
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == exit_code
    text = capsys.readouterr().err
    assert f"error[{code}]: " in text and words in text, text
    return text
