"""Whether this process may start programs, and how much they may still use of the seconds of an evaluation.

Programs are forbidden until a command that compiles permits them: a process that scores, shows or verifies never does.
"""

from __future__ import annotations

from typing import Final

from dia_language.diagnostics import LanguageError

NO: Final = "no"
CONFINED: Final = "confined"
UNCONFINED: Final = "unconfined"
WORDS: Final = (NO, CONFINED, UNCONFINED)
CODE: Final = "E314"
REFUSED: Final = "programs run only for the specs that come with dia, or with `--allow-programs`"

_HELD = [NO]
_USED: dict[str, str] = {}


def permit(word: str) -> None:
    """Set what this process may do from now on: `no`, `confined`, or `unconfined` if there is no sandbox.

    The list of used tools is cleared.
    """
    assert word in WORDS
    _HELD[0] = word
    _USED.clear()


def permitted() -> str:
    """Return what this process may do. Raises LanguageError if it may not start programs."""
    if _HELD[0] == NO:
        raise LanguageError("programs are not allowed here", REFUSED, CODE)
    return _HELD[0]


def note(tool: str, version: str) -> None:
    """Remember a tool that was used, for the provenance of its output."""
    _USED[tool] = version


def used() -> dict[str, str]:
    """Return the tools that were used since the last call, with their versions."""
    tools = dict(_USED)
    _USED.clear()
    return tools
