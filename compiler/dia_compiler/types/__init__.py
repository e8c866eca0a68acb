"""Parameter types: one literal table from name to type, one module per family."""

from __future__ import annotations

from dia_language.plugins import Registry, instance_of

from dia_compiler.types.addresses import IpAddressType
from dia_compiler.types.algebra import PolynomialType, TupleType, VectorType
from dia_compiler.types.base import ParameterType
from dia_compiler.types.bytes_ import BytesType
from dia_compiler.types.formulas import FormulaType
from dia_compiler.types.graphs import GraphType
from dia_compiler.types.host_names import DomainType, UrlType
from dia_compiler.types.identifiers import UserAgentType, UuidType
from dia_compiler.types.keys import CurvePointType, PrimitiveRootType, RsaKeyType
from dia_compiler.types.lists import ListType, MatrixType, PermutationType
from dia_compiler.types.names import EmailType, NameType, UsernameType
from dia_compiler.types.numbers import BooleanType, IntegerType, PrimeType, RealType
from dia_compiler.types.rationals import RationalType
from dia_compiler.types.rows import RowsType, RowType
from dia_compiler.types.sentences import ParagraphType, SentenceType
from dia_compiler.types.sets import SetType
from dia_compiler.types.structures import EntryType, OneOfType, RecordType
from dia_compiler.types.subsets import SubsetType
from dia_compiler.types.texts import ChoiceType, StringType
from dia_compiler.types.times import DateType, TimestampType
from dia_compiler.types.words import WordsType

OWN: dict[str, ParameterType] = {
    # numbers
    "integer": IntegerType(),
    "real": RealType(),
    "rational": RationalType(),
    "boolean": BooleanType(),
    "prime": PrimeType(),
    # cryptography
    "primitive_root": PrimitiveRootType(),
    "curve_point": CurvePointType(),
    "rsa_key": RsaKeyType(),
    # choices and texts
    "choice": ChoiceType(),
    "string": StringType(),
    "bytes": BytesType(),
    "words": WordsType(),
    "sentence": SentenceType(),
    "paragraph": ParagraphType(),
    # people, networks and times
    "name": NameType(),
    "username": UsernameType(),
    "email": EmailType(),
    "ip_address": IpAddressType(),
    "domain": DomainType(),
    "url": UrlType(),
    "user_agent": UserAgentType(),
    "uuid": UuidType(),
    "timestamp": TimestampType(),
    "date": DateType(),
    # lists
    "list": ListType(),
    "set": SetType(),
    "tuple": TupleType(),
    "subset": SubsetType(),
    "permutation": PermutationType(),
    "matrix": MatrixType(),
    "vector": VectorType(),
    # expressions and graphs
    "polynomial": PolynomialType(),
    "formula": FormulaType(),
    "graph": GraphType(),
    # structures
    "record": RecordType(),
    "one_of": OneOfType(),
    "entry": EntryType(),
    # data files
    "row": RowType(),
    "rows": RowsType(),
}
TYPES: Registry[ParameterType] = Registry(
    "dia.types", OWN, instance_of(ParameterType, "dia_compiler.types.base.ParameterType")
)
