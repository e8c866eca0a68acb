"""Files that are never replaced: devices, pipes and sockets."""

from __future__ import annotations

from pathlib import Path

from dia_language.diagnostics import DiaError, Diagnostic, visible

MOST_LINKS = 40  # links in a chain, the limit of the operating system


def refuse_special_file(target: Path) -> None:
    """Raise DiaError (exit 2) if the path is a device, a pipe or a socket, which are never replaced.

    The same holds for a link among the devices, such as /dev/stdout, which may point to a file.
    """
    is_special = target.exists() and not target.is_file() and not target.is_dir()
    if is_special or (target.is_symlink() and _is_among_devices(target)):
        message = visible(f"`{target}` is neither a file nor a folder, so it is not replaced")
        raise DiaError(Diagnostic("E601", message, None, "choose another location with -o"))


def _is_among_devices(link: Path) -> bool:
    """Return whether the link, or one that it points to, is a device."""
    devices = Path("/dev")
    for _ in range(MOST_LINKS):
        if link.parent.resolve() == devices:
            return True
        if not link.is_symlink():
            return False
        link = link.parent / link.readlink()
    return True
