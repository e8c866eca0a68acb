"""The run file: every reply in one SQLite database, its schema, transcripts, and merging."""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dia_runtime.store.store import Store as Store
    from dia_runtime.store.store import open_store as open_store
    from dia_runtime.store.store import read_store as read_store
    from dia_runtime.store.store import require_root as require_root

PUBLIC = ("Store", "open_store", "read_store", "require_root")


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from dia_runtime.store import store

    return getattr(store, name)
