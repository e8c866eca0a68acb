"""What the annotations of library functions let through, and functions that check their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, repeat
from typing import Any

from dia_language.budgets import SIZE, too_large
from dia_language.diagnostics import LanguageError
from dia_language.functions import time
from dia_language.numbers.values import Entry, Record, is_symbolic, kind_of, normal


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is int or isinstance(value, Fraction) or (kind is not bool and is_symbolic(value))


def _is_rational(value: Any) -> bool:
    return type(value) is int or isinstance(value, Fraction)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(map(check, value))


def _all_of(kind: type, check: Callable[[Any], bool] | None = None) -> Callable[[Any], bool]:
    """Return a test for lists of one plain type, asked of all elements at once; otherwise each must pass `check`."""
    kinds = {kind}

    def test(value: Any) -> bool:
        if type(value) is not list:
            return False
        return kinds.issuperset(map(type, value)) or (check is not None and all(map(check, value)))

    return test


_are_integers, _are_numbers = _all_of(int), _all_of(int, _is_number)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_matrix(value: Any) -> bool:
    return type(value) is list and bool(value) and all(_are_numbers(row) and len(row) == len(value[0]) for row in value)


def _is_endpoint(value: Any) -> bool:
    return _is_number(value) or value in ("infinity", "-infinity")


def _is_graph(value: Any) -> bool:
    if type(value) is not Record or not {"nodes", "edges", "directed"} <= value.keys():
        return False
    pairs = value["edges"]
    return (
        type(value["nodes"]) is list
        and type(value["directed"]) is bool
        and type(pairs) is list
        and LISTS.issuperset(map(type, pairs))
        and PAIRS.issuperset(map(len, pairs))
    )


LISTS, PAIRS = frozenset({list}), frozenset({2})


def _is_tree(value: Any) -> bool:
    if type(value) is Record:
        return {"op", "args"} <= value.keys()
    return type(value) in (str, bool) or _is_number(value)


def _has(value: Any, names: str) -> bool:
    return type(value) is Record and all(_is_integer(value.get(name)) for name in names)


def _is_noun(value: Any) -> bool:
    forms = [value.get("one"), value.get("many")] if type(value) is Record else [value]
    return all(map(_is_text, forms))


# Annotation in a function's signature -> (words in messages and docs, test). `Value` accepts anything.
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("integer", _is_integer),
    "int | None": ("integer or none", lambda value: value is None or _is_integer(value)),
    "Number": ("number", _is_number),
    "Rational": ("rational number", _is_rational),
    "bool": ("boolean", lambda value: type(value) is bool),
    "str": ("text", _is_text),
    "bytes": ("bytes", lambda value: type(value) is bytes),
    "str | bytes": ("text or bytes", lambda value: type(value) in (str, bytes)),
    "str | list[Value]": ("text or list", lambda value: type(value) in (str, list)),
    "str | bytes | list[Value]": ("text, bytes or list", lambda value: type(value) in (str, bytes, list)),
    "int | list[Value]": ("integer or list", lambda value: type(value) in (int, list)),
    "list[Number] | None": (
        "list of numbers or none",
        lambda value: value is None or _are_numbers(value),
    ),
    "int | list[int]": (
        "integer or list of integers",
        lambda value: _is_integer(value) or _are_integers(value),
    ),
    "Sized": ("text, bytes, list or record", lambda value: type(value) in (str, bytes, list, Record)),
    "list[Value]": ("list", _is_list),
    "list[int]": ("list of integers", _are_integers),
    "list[Number]": ("list of numbers", _are_numbers),
    "list[Number | bool]": (
        "list of numbers or booleans",
        _all_of(int, lambda value: _is_number(value) or type(value) is bool),
    ),
    "list[Rational]": ("list of rational numbers", _all_of(int, _is_rational)),
    "list[str]": ("list of texts", _all_of(str)),
    "list[list[Value]]": ("list of lists", _all_of(list)),
    "list[int] | None": ("list of integers or none", lambda value: value is None or _are_integers(value)),
    "list[list[int]]": ("list of lists of integers", _list_of(_are_integers)),
    "Matrix | list[Number]": (
        "matrix or list of numbers",
        lambda value: _are_numbers(value) or _is_matrix(value),
    ),
    "Matrix": ("matrix (a list of rows of numbers)", _is_matrix),
    "Expression": ("number or symbolic expression", _is_number),
    "Symbol": ("symbol", lambda value: getattr(value, "is_Symbol", False)),
    "Endpoint": ("number, expression, or the text infinity or -infinity", _is_endpoint),
    "Iterable[Value]": ("list", lambda value: type(value) is list or isinstance(value, Iterator)),
    "Graph": ("graph", _is_graph),
    "Points": (
        "list of points (lists of two rational numbers)",
        lambda value: _list_of(_list_of(_is_rational))(value) and all(len(point) == 2 for point in value),
    ),
    "Moment": ("date or time (text such as 2026-01-31 or 2026-01-31T12:30:00Z)", time.is_moment),
    "Noun": ("text, or record of `one` and `many`", _is_noun),
    "Phrase": (
        "text, integer, or record of `one` and `many`",
        lambda value: _is_integer(value) or _is_noun(value),
    ),
    "Tree": ("tree (a record of `op` and `args`, a name, a number or a boolean)", _is_tree),
    "Record": ("record", lambda value: type(value) is Record),
    "Function": ("function", callable),
    "Entry": ("entry of a catalog", lambda value: type(value) is Entry),
    "Curve": (
        "curve (a record of the integers a, b and p)",
        lambda value: _has(value, "abp") and type(value.get("name", "")) is str,
    ),
    "Point": ("point (a record of the integers x and y, or none)", lambda value: value is None or _has(value, "xy")),
    "RsaKey": (
        "RSA key (a record of integers)",
        lambda value: _has(value, "ne") and all(map(_is_integer, value.values())),
    ),
    "Value": ("value", lambda value: True),
}


# Annotation -> a type whose values all pass the test, which saves calling it
USUAL: dict[str, type] = {
    "int": int,
    "int | None": int,
    "Number": int,
    "Rational": int,
    "Expression": int,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "str | bytes": str,
    "str | list[Value]": list,
    "str | bytes | list[Value]": list,
    "int | list[Value]": int,
    "int | list[int]": int,
    "Sized": list,
    "list[Value]": list,
    "Iterable[Value]": list,
    "Record": Record,
    "Noun": str,
    "Phrase": str,
}
NOTHING: frozenset[type | None] = frozenset()
PLAIN = frozenset({str, bool, bytes, list, Record, type(None)})


def _settled(result: Any) -> Any:
    """The result of a function in normal form. Raises LanguageError for an integer that is too large."""
    if type(result) is not int:
        return normal(result)
    if result.bit_length() > SIZE.bits:
        raise too_large()
    return result


def checked_function(
    name: str, raw: Callable[..., Any], kinds: tuple[tuple[str, str], ...], variadic: bool
) -> Callable[..., Any]:
    """Wrap the function so that its arguments are checked and its result is in normal form."""
    usual = [USUAL.get(kind) for _, kind in kinds]
    tests = [KINDS[kind][1] for _, kind in kinds]
    checked = max((place + 1 for place, (_, kind) in enumerate(kinds) if kind != "Value"), default=0)
    checked_usual, checked_tests = usual[:checked], tests[:checked]
    usual_of_all = frozenset(usual) if len(set(usual)) == 1 else NOTHING

    def mismatch(arguments: tuple[Any, ...]) -> LanguageError:
        """The error for the first argument of a wrong kind. Arguments after the last parameter must be of its kind."""
        places = (min(place, len(kinds) - 1) for place in range(len(arguments)))
        at, argument = next(pair for pair in zip(places, arguments, strict=True) if not tests[pair[0]](pair[1]))
        parameter, kind = kinds[at]
        return _mismatch(name, parameter, KINDS[kind][0], argument)

    def call(*arguments: Any) -> Any:
        for usual_kind, test, argument in zip(checked_usual, checked_tests, arguments, strict=False):
            if type(argument) is not usual_kind and not test(argument):
                raise mismatch(arguments)
        result = raw(*arguments)
        kind = type(result)
        is_settled = kind in PLAIN or (kind is int and result.bit_length() <= SIZE.bits)
        return result if is_settled else _settled(result)

    def call_variadic(*arguments: Any) -> Any:
        if not usual_of_all.issuperset(map(type, arguments)):
            for test, argument in zip(chain(tests, repeat(tests[-1])), arguments, strict=False):
                if not test(argument):
                    raise mismatch(arguments)
        result = raw(*arguments)
        return result if type(result) in PLAIN else _settled(result)

    def call_of_one(subject: Any) -> Any:
        """Like `call`, but without a loop, which saves a quarter of the compile time of lookalike_domain."""
        if type(subject) is not first_kind and not first_test(subject):
            raise mismatch((subject,))
        result = raw(subject)
        kind = type(result)
        is_settled = kind in PLAIN or (kind is int and result.bit_length() <= SIZE.bits)
        return result if is_settled else _settled(result)

    if variadic:
        call = call_variadic
    elif len(kinds) == 1:
        (first_kind,), (first_test,) = usual, tests
        call = call_of_one
    call.__name__ = call.__qualname__ = name
    return call


def _mismatch(name: str, parameter: str, word: str, argument: Any) -> LanguageError:
    help = None
    if word == "function":
        help = "write the name of a function, without quotes and parentheses"
    if word == "text" and isinstance(argument, int | Fraction):
        help = "for the text of a number, write `str(n)`"
    if word.startswith("list") and isinstance(argument, str):
        help = "for the characters of a text, write `[c for c in text]`"
    if word == "symbol":
        help = 'create one with `symbol("x")`'
    message = f"`{name}` needs {_article(word)}{word} as `{parameter}`; this is {_kind_with_article(argument)}"
    if word in ELEMENTS and isinstance(argument, list):
        is_one = KINDS[ELEMENTS[word]][1]
        at = next((at for at, element in enumerate(argument) if not is_one(element)), None)
        message += f", and its element {at} is {_kind_with_article(argument[at])}" if at is not None else ""
    return LanguageError(message, help)


# Words for lists of one kind -> the annotation of an element
ELEMENTS = {
    "list of numbers": "Number",
    "list of integers": "int",
    "list of rational numbers": "Rational",
    "list of texts": "str",
    "list of lists": "list[Value]",
    "list of lists of integers": "list[int]",
}


def _article(word: str) -> str:
    if word.startswith(("text", "bytes")):
        return ""
    return "an " if word[0] in "aeiou" or word.startswith("RSA") else "a "


def _kind_with_article(argument: Any) -> str:
    word = kind_of(argument)
    return word if word in ("text", "bytes", "none") else f"{_article(word)}{word}"
