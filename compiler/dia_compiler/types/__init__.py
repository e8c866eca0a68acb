"""Parameter types: one literal table from name to type, one module a family."""

from __future__ import annotations

from dia_compiler.types.base import ParameterType
from dia_compiler.types.lists import ListType, MatrixType, PermutationType
from dia_compiler.types.numbers import BooleanType, IntegerType, PrimeType, RealType
from dia_compiler.types.structures import EntryType, OneOfType, RecordType
from dia_compiler.types.texts import ChoiceType, StringType

TYPES: dict[str, ParameterType] = {
    # numbers
    "integer": IntegerType(),
    "real": RealType(),
    "boolean": BooleanType(),
    "prime": PrimeType(),
    # choices and texts
    "choice": ChoiceType(),
    "string": StringType(),
    # lists
    "list": ListType(),
    "permutation": PermutationType(),
    "matrix": MatrixType(),
    # structures
    "record": RecordType(),
    "one_of": OneOfType(),
    "entry": EntryType(),
}
