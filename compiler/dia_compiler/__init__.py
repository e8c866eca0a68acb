"""YAML specs to frozen bundles.

One name is public: `compile`. It is loaded when first used.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # as in typing, whose import would take longer than all the rest here
if TYPE_CHECKING:
    from dia_compiler.pipeline.api import compile as compile

__all__ = ["compile"]


def __getattr__(name: str) -> object:
    if name != "compile":
        raise AttributeError(f"module `dia_compiler` has no attribute `{name}`")
    __import__("dia_compiler.pipeline.api")
    return sys.modules["dia_compiler.pipeline.api"].compile


class _Package(ModuleType):
    """The package, in which the function `compile` wins over the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name == "compile":
            value = value.compile
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
