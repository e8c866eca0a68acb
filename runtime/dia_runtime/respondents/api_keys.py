"""API keys come only from the environment, or from the `.env` of the current folder."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.respondents.respondent import Reply

DEFAULT_KEY = "OPENAI_API_KEY"
NAME = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY", re.ASCII)
LINE = re.compile(rf"(?:export\s+)?({NAME.pattern})\s*=\s*(.*?)\s*", re.ASCII)
LARGEST = 1 << 16
# Files of bundles and specs, whose folders may come from others
FOREIGN = ("manifest.json", "benchmark.yaml")


def find_key(name: str, folder: Path | None = None) -> str | None:
    """Return the key of this name; None if there is none. The environment wins.

    Raises DiaError (exit 2) if it is not the name of a key, or if the value cannot be sent.
    """
    if not NAME.fullmatch(name):
        message = visible(f"`{name}` is not the name of an API key")
        raise DiaError(Diagnostic("E823", message, None, "the name must end in _API_KEY, such as MY_HOST_API_KEY"))
    key = (os.environ.get(name) or read_env_file(folder or Path()).get(name, "")).strip()
    if not (key.isascii() and key.isprintable()):
        message = f"the value of {name} contains characters that API keys cannot have"
        raise DiaError(Diagnostic("E823", message, None, f"set {name} to the key only"))
    return key or None


def read_env_file(folder: Path) -> dict[str, str]:
    """Return the keys in the folder's `.env`; other lines are ignored, so that nothing else can be set.

    A bundle or a folder of specs may come from someone else: its `.env` is not read.
    """
    path = folder / ".env"
    try:
        if any((folder / name).exists() for name in FOREIGN) or not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    matches = (LINE.fullmatch(line.strip()) for line in lines)
    return {match[1]: _unquoted(match[2]) for match in matches if match}


def all_keys(folder: Path) -> list[str]:
    """Return all available keys, including those of the environment."""
    here = [value.strip() for name, value in os.environ.items() if NAME.fullmatch(name)]
    return [*here, *read_env_file(folder).values()]


def _unquoted(value: str) -> str:
    """Return the value without quotes around it, or without the comment after it."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return re.sub(r"\s+#.*", "", value)


def redact(text: str, *secrets: str | None) -> str:
    """Return the text with every secret replaced, for outputs, logs and runs."""
    for secret in secrets:
        if secret and len(secret) >= 4:
            text = text.replace(secret, "***")
    return text


def redact_reply(reply: Reply, *secrets: str | None) -> Reply:
    """Return the reply with every secret replaced, because an endpoint may return what it was sent."""
    texts = {name: getattr(reply, name) for name in ("text", "finish_reason", "model_version")}
    changed: dict[str, Any] = {
        name: clean for name, text in texts.items() if text is not None and (clean := redact(text, *secrets)) != text
    }
    return replace(reply, **changed) if changed else reply
