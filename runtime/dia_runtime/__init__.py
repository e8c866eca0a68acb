"""Frozen bundles to replies, verdicts, metrics and scales.

Six names are public: `open_bundle`, `run`, `Reply`, `grade`, `score` and `calibrate`. They are loaded when first used.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # as in typing, whose import would take longer than all the rest here
if TYPE_CHECKING:
    from dia_runtime.bundle.open import open_bundle as open_bundle
    from dia_runtime.grading.grader import grade as grade
    from dia_runtime.psychometrics.calibrate import calibrate as calibrate
    from dia_runtime.running.run import run as run
    from dia_runtime.scoring.score import score as score
    from dia_runtime.store.schema import Reply as Reply

PUBLIC = {
    "open_bundle": "dia_runtime.bundle.open",
    "run": "dia_runtime.running.run",
    "Reply": "dia_runtime.store.schema",
    "grade": "dia_runtime.grading.grader",
    "score": "dia_runtime.scoring.score",
    "calibrate": "dia_runtime.psychometrics.calibrate",
}
__all__ = ["Reply", "calibrate", "grade", "open_bundle", "run", "score"]


def __getattr__(name: str) -> object:
    if name not in PUBLIC:
        raise AttributeError(f"module `dia_runtime` has no attribute `{name}`")
    __import__(PUBLIC[name])
    return getattr(sys.modules[PUBLIC[name]], name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})


class _Package(ModuleType):
    """The package, in which a public function wins over the module that carries its name.

    Python binds a submodule in its package when it is first imported: without this `dia_runtime.run`
    would be the function at one time and the module at another.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and PUBLIC.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
