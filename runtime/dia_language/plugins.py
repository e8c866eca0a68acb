"""Registries that installed packages can extend: a literal table of ours, followed by entry points.

A package adds a function, parameter type, asset builder, answer format or exporter by an entry point in one of the
groups below; the entry point's name is the name in specs. Our own names cannot be replaced. Plug-ins are code that a
person has installed; a spec alone can never load any. They are looked for only when a name is not one of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from dia_language.diagnostics import DiaError, Diagnostic

GROUPS: dict[str, str] = {
    "dia.functions": "functions of the library",
    "dia.types": "parameter types",
    "dia.assets": "asset builders",
    "dia.formats": "answer formats",
    "dia.exporters": "exporters",
}
T = TypeVar("T")


class Plugin(Generic[T]):
    """The object of an entry point, and its distribution with its version."""

    __slots__ = ("distribution", "value", "version")

    def __init__(self, value: T, distribution: str, version: str) -> None:
        self.value, self.distribution, self.version = value, distribution, version


class Registry(Mapping[str, T]):
    """A table from name to object: `own` ones, then those of entry points, which are loaded when first needed."""

    def __init__(self, group: str, own: Mapping[str, T], check: Callable[[Any], str | None] | None = None) -> None:
        """`check` returns the error of an object of an entry point, or None."""
        self.group, self.own, self.check = group, own, check

    @cached_property
    def plugins(self) -> dict[str, Plugin[T]]:
        """Return the objects of installed packages by name. Raises DiaError for an unusable one."""
        from importlib.metadata import entry_points

        plugins: dict[str, Plugin[T]] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            package = point.dist.metadata["Name"] if point.dist else "an unknown package"
            if point.name in self.own or point.name in plugins:
                raise _refused(point.name, package, self.group, "the name is already taken")
            try:
                value = point.load()
            except Exception as error:
                raise _refused(point.name, package, self.group, f"{type(error).__name__}: {error}") from None
            problem = self.check(value) if self.check is not None else None
            if problem is not None:
                raise _refused(point.name, package, self.group, problem)
            plugins[point.name] = Plugin(value, package, point.dist.version if point.dist else "")
        return plugins

    def __getitem__(self, name: str) -> T:
        return self.own[name] if name in self.own else self.plugins[name].value

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.plugins

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from self.plugins

    def __len__(self) -> int:
        return len(self.own) + len(self.plugins)


def instance_of(kind: type[Any], path: str) -> Callable[[Any], str | None]:
    """Return the check of a registry whose objects must be instances of a class, which packages import from `path`."""
    return lambda value: None if isinstance(value, kind) else f"it is not an instance of {path}"


def _refused(name: str, package: str, group: str, why: str) -> DiaError:
    message = f"the plug-in `{name}` of the package `{package}` ({GROUPS[group]}) cannot be used: {why}"
    return DiaError(Diagnostic("E207", message, None, f"uninstall or fix `{package}`"))
