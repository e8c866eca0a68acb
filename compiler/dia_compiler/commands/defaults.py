"""Defaults of options from `dia.toml`, or from `[tool.dia]` in pyproject.toml; the command line wins.

jobs = 2              # for every command that has the option

[compile]             # for one command
k = 10
out = "bundles"
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

if TYPE_CHECKING:
    import click

OWN, PROJECT = "dia.toml", "pyproject.toml"
# Options that decide where keys go, which files are sent, which replies are trusted and which programs run. They are
# only accepted on the command line, because the current folder may be someone else's.
NEVER = frozenset(
    {"base-url", "key-name", "model", "role", "role-base-url", "through", "parameter", "system", "cache"}
    | {"allow-programs"}
)
LARGEST = 200_000
DEEPEST = 300


def default_map(
    command: click.Command, name: str, commands: Iterable[str], others: Callable[[], Iterable[click.Command]]
) -> dict[str, Any]:
    """Return the defaults of a command's options by the names of its parameters.

    A key at the top may be an option of another command. To load all commands takes time, so `others` is only called
    for a key that looks like a misspelled option of this command.

    Raises DiaError (exit code 2) for a file that cannot be read, and for unknown options or commands.
    """
    source, table = _table()
    if not table:
        return {}
    options = options_of(command)
    command_names = set(commands)
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            if key not in command_names:
                raise _invalid(source, f"unknown command `{key}`", _nearest(key, command_names, "dia --help"))
        elif key in options:
            defaults[options[key]] = _converted(value, source, key, command)
        elif (near := did_you_mean(key, options)) and not any(key in options_of(other) for other in others()):
            raise _invalid(source, f"no command has an option `{key}`", near)
    own = table.get(name, {})
    for key, value in own.items() if isinstance(own, Mapping) else ():
        if key not in options:
            raise _invalid(source, f"`{name}` has no option `{key}`", _nearest(key, options, f"dia {name} --help"))
        defaults[options[key]] = _converted(value, source, key, command)
    return defaults


def options_of(command: click.Command) -> dict[str, str]:
    """Return the names of a command's parameters by the names of their options, without dashes."""
    return {flag.lstrip("-"): option.name for option in command.params for flag in option.opts if option.name}


def defaults_file() -> str:
    """Return the name of the file that defaults come from."""
    return _table()[0]


def _table() -> tuple[str, Mapping[str, Any]]:
    """Return the file with the defaults, and its content."""
    if os.path.isfile(OWN):  # noqa: PTH113 - pathlib costs start-up time
        return OWN, _read(OWN)
    if os.path.isfile(PROJECT):  # noqa: PTH113
        tool = _read(PROJECT).get("tool", {})
        table = tool.get("dia", {}) if isinstance(tool, Mapping) else {}
        return PROJECT, table if isinstance(table, Mapping) else {}
    return OWN, {}


def _read(name: str) -> Mapping[str, Any]:
    import re
    import tomllib

    try:
        with open(name, "rb") as file:  # noqa: PTH123
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"larger than {LARGEST:,} bytes")
        if any(part.count(b".") > DEEPEST for part in re.split(rb"[=\n]", text)):
            raise ValueError(f"a key with more than {DEEPEST:,} parts")  # tomllib needs cubic time for such a key
        return tomllib.loads(text.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        help = "write TOML, for example `jobs = 2`, or `[compile]` and below it `k = 10`"
        raise DiaError(Diagnostic("E605", f"{name} cannot be read: {why}", None, help)) from None


def _converted(value: Any, source: str, key: str, command: click.Command) -> Any:
    """Return a value as the command line would give it: text, a boolean for a flag, a list for a repeatable option."""
    if key in NEVER:
        raise _invalid(source, f"`{key}` can only be given on the command line", "remove it from the file")
    option = next(option for option in command.params if key in (flag.lstrip("-") for flag in option.opts))
    if getattr(option, "is_flag", False):
        if not isinstance(value, (bool, str)):
            raise _invalid(source, f"`{key}` must be true or false, not {value}", f"write {key} = true")
        return value
    if getattr(option, "count", False) and isinstance(value, bool):
        return int(value)  # such as `verbose = true`
    is_repeatable = option.nargs != 1 or getattr(option, "multiple", False)
    if isinstance(value, list) and not is_repeatable:
        raise _invalid(source, f"`{key}` must be a single value, not a list", "remove the brackets")
    texts = [_text(entry, source, key) for entry in (value if isinstance(value, list) else [value])]
    return texts if is_repeatable else texts[0]


def _text(value: Any, source: str, key: str) -> str:
    if not isinstance(value, (str, int)):
        kinds = "text, an integer, a list, true or false"
        raise _invalid(source, f"`{key}` must be {kinds}, not {value}", f'write it in quotes: {key} = "{value}"')
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nearest(name: str, names: Iterable[str], command: str) -> str:
    return did_you_mean(name, names) or f"`{command}` lists them"


def _invalid(source: str, message: str, help: str) -> DiaError:
    return DiaError(Diagnostic("E605", visible(f"{source}: {message}"), None, visible(help)))
