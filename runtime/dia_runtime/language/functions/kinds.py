"""The names that annotations of library functions use; `KINDS` says what each lets through."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from dia_runtime.language.values import Record
from dia_runtime.language.values import Value as Value

Rational: TypeAlias = int | Fraction
Number: TypeAlias = Any
Expression: TypeAlias = Any
Endpoint: TypeAlias = Any
Matrix: TypeAlias = list[list[Any]]
Sized: TypeAlias = str | bytes | list[Any] | Record
Function: TypeAlias = Callable[..., Any]
