"""Parameter types: one literal table from name to type, one module a family."""

from __future__ import annotations

from dia_compiler.types.addresses import IpAddressType
from dia_compiler.types.base import ParameterType
from dia_compiler.types.host_names import DomainType, UrlType
from dia_compiler.types.identifiers import UserAgentType, UuidType
from dia_compiler.types.lists import ListType, MatrixType, PermutationType
from dia_compiler.types.names import EmailType, NameType, UsernameType
from dia_compiler.types.numbers import BooleanType, IntegerType, PrimeType, RealType
from dia_compiler.types.sentences import ParagraphType, SentenceType
from dia_compiler.types.structures import EntryType, OneOfType, RecordType
from dia_compiler.types.texts import ChoiceType, StringType
from dia_compiler.types.times import DateType, TimestampType
from dia_compiler.types.words import WordsType

TYPES: dict[str, ParameterType] = {
    # numbers
    "integer": IntegerType(),
    "real": RealType(),
    "boolean": BooleanType(),
    "prime": PrimeType(),
    # choices and texts
    "choice": ChoiceType(),
    "string": StringType(),
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
    "permutation": PermutationType(),
    "matrix": MatrixType(),
    # structures
    "record": RecordType(),
    "one_of": OneOfType(),
    "entry": EntryType(),
}
