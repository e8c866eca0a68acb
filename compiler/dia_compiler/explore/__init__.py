"""Boundary search: new items at which a model succeeds about half of the time."""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dia_compiler.explore.search import SearchOptions as SearchOptions
    from dia_compiler.explore.search import SearchResult as SearchResult
    from dia_compiler.explore.search import UnansweredQuestions as UnansweredQuestions
    from dia_compiler.explore.search import as_record as as_record
    from dia_compiler.explore.search import explore as explore

# Names that the module had in earlier versions.
OLD_NAMES = {
    "Explored": "SearchResult",
    "Wanted": "UnansweredQuestions",
    "Wishes": "SearchOptions",
}
PUBLIC = frozenset({"SearchOptions", "SearchResult", "UnansweredQuestions", "as_record", "explore", "put", *OLD_NAMES})


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from dia_compiler.explore import search

    return getattr(search, OLD_NAMES.get(name, name))
