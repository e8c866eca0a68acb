"""Settings of worker processes that no byte of a bundle depends on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dia_language.confinement.permission import CONFINED, NO
from dia_runtime.data import data_folder


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """The folder for temporary files of asset builders; if empty, a temporary folder is made.

    `programs` is what specs may do that ask for programs to be run: `no`, `confined` or `unconfined`.
    """

    scratch: str = ""
    programs: str = NO


NO_RESOURCES = WorkerResources()


def programs_of(folder: Path, permission: str) -> str:
    """Return which programs the specs of a folder may run.

    This is what was allowed; specs that are part of dia may always run programs in a sandbox.
    """
    shipped = (data_folder() / "specs").resolve()
    comes_with_dia = permission == NO and (shipped == folder.resolve() or shipped in folder.resolve().parents)
    return CONFINED if comes_with_dia else permission
