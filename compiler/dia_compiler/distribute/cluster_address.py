"""The address of a Dask scheduler, which is checked without importing Dask."""

from __future__ import annotations

from urllib.parse import urlsplit

from dia_language.diagnostics import DiaError, Diagnostic, visible

LOCAL = "local"
SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")


def require_address(address: str) -> None:
    """Raise DiaError (exit 2) for a text that cannot be the address of a scheduler."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in SCHEMES and parts.hostname is not None and parts.port is not None
    except ValueError:
        is_valid = False
    if not is_valid and address != LOCAL:
        message = visible(f"`{address[:80]}` is not the address of a cluster")
        raise DiaError(
            Diagnostic("E600", message, None, "write `--cluster tcp://HOST:PORT`, tls://HOST:PORT or `local`")
        )
