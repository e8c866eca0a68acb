"""The interface of asset builders: options in, the bytes or text of one file out; equal options give equal results."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dia_compiler.types.base import OptionFault, OptionKind, option

__all__ = ["FILE_NAME", "Builder", "BuilderOption", "Entropy", "OptionFault", "Site", "data", "template"]

BuilderOption = OptionKind


class Entropy(Protocol):
    """The only source of randomness that a builder sees: bytes of the instance's own stream."""

    def __call__(self, count: int) -> bytes:
        """Return this many bytes; the same ones in the same order whenever the instance is made."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """What a builder gets in addition to its options: entropy, and a private folder for temporary files."""

    entropy: Entropy
    folder: Path


def data(words: str, required: bool = False) -> BuilderOption:
    """Return an option that is read as data: a YAML value, with texts that begin with `= ` as expressions."""
    return option("data", words, required)


def template(words: str, required: bool = False) -> BuilderOption:
    """Return an option that is a template; if it begins with `= `, it is an expression, as in data."""
    return option("template", words, required)


FILE_NAME = data("the name of the file, such as sales.csv (default: the name of the asset)")
SAFE_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}\.[A-Za-z0-9]{1,12}")


class Builder(ABC):
    """A kind of artefact: its options, what it needs, and how it is made.

    `extra` is the extra of the project that installs `modules`; `libraries` are the distributions on whose versions
    the bytes depend.
    """

    summary: ClassVar[str]
    options: ClassVar[Mapping[str, BuilderOption]]
    extension: ClassVar[str]
    media_type: ClassVar[str]
    is_text: ClassVar[bool] = False
    extra: ClassVar[str | None] = None
    modules: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ()
    revision: ClassVar[int] = 1

    def validate(self, options: Mapping[str, Any]) -> None:
        """Raise OptionFault for the first invalid option.

        Called before any work with the options that are the same in all instances, and before each building with all.
        """
        return None

    def file_name(self, asset_name: str, options: Mapping[str, Any]) -> str:
        """Return the name of the file. Raises OptionFault for a name that is unsafe on some system, such as a path."""
        chosen = options.get("file_name") if "file_name" in self.options else None
        if chosen is None:
            return f"{asset_name}.{self.extension}"
        if not isinstance(chosen, str) or not SAFE_FILE_NAME.fullmatch(chosen):
            help = "use letters, digits, `_`, `-` and `.`, and end with an extension: sales.csv"
            if isinstance(chosen, str) and "{{" in chosen:
                help = "`{{ }}` has no meaning here; write an expression, as in `file_name: '= f\"{city}.csv\"'`"
            raise OptionFault("file_name", "this cannot be the name of a file", help)
        return chosen

    @abstractmethod
    def build(self, options: Mapping[str, Any], site: Site) -> str | bytes:
        """Return the content for validated options: text if `is_text`, otherwise bytes. Raises OptionFault."""
