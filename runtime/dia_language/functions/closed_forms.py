"""What functions on symbolic expressions share: judging what the computer algebra gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import normal


def attempted(what: str, compute: Callable[[], Any]) -> Any:
    """The result of sympy; its failures are reported as "no closed form"."""
    try:
        return compute()
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
    ) as error:
        if "left hand limit" in str(error):
            raise LanguageError("the limits from the two sides differ", code="E504") from None
        raise no_closed_form(what) from None


def closed(what: str, result: Any) -> Any:
    """The result in normal form, if sympy evaluated it fully and it holds for all values of its symbols."""
    import sympy

    open_forms = (sympy.Integral, sympy.Derivative, sympy.Limit, sympy.Subs, sympy.Piecewise, sympy.RootOf)
    if result.has(*open_forms, sympy.re, sympy.im):
        raise no_closed_form(what)
    return normal(result)


def no_closed_form(what: str) -> LanguageError:
    """The error that no closed form was found."""
    return LanguageError(f"no closed form was found for the {what}", code="E504")
