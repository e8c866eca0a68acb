"""The names that annotations of library functions use; `KINDS` says what each lets through."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from dia_language.numbers.values import Record
from dia_language.numbers.values import Value as Value

Rational: TypeAlias = int | Fraction
Number: TypeAlias = Any
Expression: TypeAlias = Any
Symbol: TypeAlias = Any
Endpoint: TypeAlias = Any
Matrix: TypeAlias = list[list[Any]]
Sized: TypeAlias = str | bytes | list[Any] | Record
Graph: TypeAlias = Record
Tree: TypeAlias = Any
Points: TypeAlias = list[list[Any]]
Timestamp: TypeAlias = str
Moment: TypeAlias = str
Noun: TypeAlias = str | Record
Phrase: TypeAlias = str | int | Record
Function: TypeAlias = Callable[..., Any]
Curve: TypeAlias = Record
Point: TypeAlias = Record | None
RsaKey: TypeAlias = Record
